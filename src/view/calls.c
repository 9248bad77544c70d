// SPDX-License-Identifier: GPL-2.0-only
/* Makes a tree of the stacks of a recording. */
#include "calls.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "export/named_frames.h"

struct stacks_key {
	uint32_t kstack, ustack;
};

int view_calls__init(struct view_calls *c, struct stk_reader *r, struct user_names *names,
		     struct string_table *strings)
{
	c->r = r;
	c->strings = strings;
	key_table__init(&c->frames, sizeof(struct view_frame), 0);
	key_table__init(&c->nodes, sizeof(struct view_node), 0);
	key_table__init(&c->stacks, sizeof(struct stacks_key), sizeof(uint32_t));
	return export_frames__new(r, names, &c->named);
}

void view_calls__clear(struct view_calls *c)
{
	if (!c->r)
		return;
	export_frames__free(c->named);
	free(c->known);
	key_table__clear(&c->frames);
	key_table__clear(&c->nodes);
	key_table__clear(&c->stacks);
	strbuf__free(&c->text);
}

uint64_t view_calls__memory(const struct view_calls *c)
{
	return key_table__memory(&c->frames) + key_table__memory(&c->nodes) +
	       key_table__memory(&c->stacks) + (uint64_t)c->nr_known * sizeof(*c->known);
}

const struct view_frame *view_calls__frame(const struct view_calls *c, uint32_t frame)
{
	return key_table__key(&c->frames, frame);
}

const struct view_node *view_calls__node(const struct view_calls *c, uint32_t node)
{
	return key_table__key(&c->nodes, node);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static int add_frame(struct view_calls *c, uint32_t kind, const char *name, const char *file,
		     uint32_t *ret_frame)
{
	struct view_frame frame = { .kind = kind };
	int err;

	err = string_table__intern(c->strings, name, &frame.name)	  ?:
		      string_table__intern(c->strings, file, &frame.file) ?:
		      key_table__at(&c->frames, &frame, ret_frame);
	return MIN(err, 0);
}

/* The path of a user frame's file, which says more than the last component. */
static const char *file_of(const struct view_calls *c, const struct stk_frame *f,
			   enum view_frame_kind *ret_kind)
{
	struct stk_file file;

	*ret_kind = f->kind == STK_FRAME_USER ? VIEW_USER : VIEW_KERNEL;
	if (f->kind != STK_FRAME_USER || !f->file || stk_reader__file(c->r, f->file, &file))
		return f->mod ?: "";
	if (file.kind == STK_FILE_JIT)
		*ret_kind = VIEW_JIT;
	return file.path;
}

static int find_frame(struct view_calls *c, const struct stk_frame *f, uint32_t *ret_frame)
{
	const struct export_frame *named;
	enum view_frame_kind kind;
	const char *file;
	uint32_t number;
	int err;

	err = export_frames__number(c->named, f, &number);
	if (!err && number >= c->nr_known)
		err = array__reach(&c->known, number, &c->nr_known);
	if (err)
		return err;
	if (!c->known[number]) {
		named = export_frames__get(c->named, number);
		strbuf__reset(&c->text);
		export_frame__put_name(named, &c->text);
		file = file_of(c, &named->frame, &kind);
		err = strbuf__failed(&c->text) ?
			      -ENOMEM :
			      add_frame(c, kind, c->text.s ?: "", file, ret_frame);
		if (err)
			return err;
		c->known[number] = *ret_frame + 1;
	}
	*ret_frame = c->known[number] - 1;
	return 0;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static int descend(struct view_calls *c, uint32_t frame, uint32_t *node)
{
	struct view_node key = { .parent = *node, .frame = frame };
	uint32_t number;
	int err;

	err = key_table__at(&c->nodes, &key, &number);
	if (err < 0)
		return err;
	*node = number + 1;
	return 0;
}

/* Why frames are missing beyond the outermost one; NULL: none are. */
static const char *why_it_ends(enum stk_stack_end end)
{
	switch (end) {
	case STK_END_TRUNCATED:
		return "deeper than --max-depth";
	case STK_END_AT_LIMIT:
		return "deeper than kernel.perf_event_max_stack";
	case STK_END_FAILED:
		return "the walk failed";
	case STK_END_NO_TABLE:
		return "no unwind table";
	case STK_END_UNREADABLE:
		return "unreadable memory";
	case STK_END_NOT_RECORDED:
		return "not recorded";
	default:
		return NULL;
	}
}

static int add_marker(struct view_calls *c, uint32_t stack, const char *what, uint32_t *node)
{
	struct stk_stack info;
	const char *why;
	uint32_t frame;
	int err;

	if (stk_reader__stack(c->r, stack, &info))
		return 0;
	why = why_it_ends(info.end);
	if (!why)
		return 0;
	strbuf__reset(&c->text);
	strbuf__printf(&c->text, "%s stack ends: %s", what, why);
	err = strbuf__failed(&c->text) ? -ENOMEM : add_frame(c, VIEW_MARKER, c->text.s, "", &frame);
	return err ?: descend(c, frame, node);
}

static int add_stack(struct view_calls *c, uint32_t stack, const char *what, uint32_t *node)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	uint32_t frame;
	int nr, err;

	if (!stack)
		return 0;
	err = add_marker(c, stack, what, node);
	nr = stk_reader__frames(c->r, stack, frames, STK_MAX_DEPTH);
	if (nr == -ENOMEM || nr == -ENOBUFS)
		return nr;
	nr = MIN(nr, STK_MAX_DEPTH);
	c->work += MAX(nr, 0);
	while (!err && nr-- > 0)
		err = find_frame(c, &frames[nr], &frame) ?: descend(c, frame, node);
	return err;
}

int view_calls__find(struct view_calls *c, uint32_t kstack, uint32_t ustack, uint32_t *ret_node)
{
	struct stacks_key key = { kstack, ustack };
	uint32_t number, node = 0;
	int err;

	err = key_table__at(&c->stacks, &key, &number);
	if (err < 0)
		return err;
	if (err) {
		err = add_stack(c, ustack, "user", &node) ?: add_stack(c, kstack, "kernel", &node);
		if (err)
			return err;
		*(uint32_t *)key_table__value(&c->stacks, number) = node;
	}
	*ret_node = *(uint32_t *)key_table__value(&c->stacks, number);
	return 0;
}
