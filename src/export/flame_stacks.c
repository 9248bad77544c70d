// SPDX-License-Identifier: GPL-2.0-only
/* Makes frames of a flame graph from those of stacks, with inlined functions. */
#include "flame_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "named_frames.h"
#include "stacks.h"
#include "strbuf.h"

/* Frames of both stacks, innermost first. */
struct flame_stack {
	struct flame_frame *frames; /* name NULL: the next string in texts */
	unsigned int nr, max;
	struct strbuf texts; /* NUL-terminated names of frames without a symbol */
};

static void flame_stack__free(struct flame_stack *s)
{
	free(s->frames);
	strbuf__free(&s->texts);
}

static int push(struct flame_stack *s, struct flame_frame frame)
{
	if (array__grow(&s->frames, s->nr, &s->max))
		return -ENOMEM;
	s->frames[s->nr++] = frame;
	return 0;
}

/* "xz+0x560c", or the address alone. */
static int push_unnamed(struct flame_stack *s, const struct stk_frame *f, enum flame_kind kind)
{
	export_frame__put_unnamed(f, &s->texts);
	strbuf__putc(&s->texts, '\0');
	return strbuf__failed(&s->texts) ? -ENOMEM : push(s, (struct flame_frame){ .kind = kind });
}

static void set_missing_names(struct flame_stack *s)
{
	const char *text = s->texts.s;
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		if (s->frames[i].name)
			continue;
		s->frames[i].name = text;
		text += strlen(text) + 1;
	}
}

static int push_frame(struct flame_stack *s, struct user_names *n, const struct stk_frame *f)
{
	struct flame_frame frame = { .name = f->sym,
				     .where = f->mod,
				     .kind = f->kind == STK_FRAME_USER ? FLAME_USER :
									 FLAME_KERNEL };
	const struct name_line *lines;
	unsigned int nr = n ? user_names__lines(n, f, &lines) : 0, i;
	int err = 0;

	for (i = 0; i + 1 < nr && !err; i++)
		err = push(s, (struct flame_frame){ .name = lines[i].function ?: "?",
						    .where = f->mod,
						    .kind = FLAME_INLINED });
	if (err)
		return err;
	if (!f->sym)
		return push_unnamed(s, f, frame.kind);
	frame.name = user_names__of_frame(n, f);
	return push(s, frame);
}

int flame_stacks__add(struct flamegraph *f, struct stk_reader *r, struct user_names *n,
		      const char *group, const struct stk_frame *frames, unsigned int nr,
		      uint64_t weight, const struct flame_change *changes, unsigned int nr_changes)
{
	_cleanup_(flame_stack__free) struct flame_stack s = { 0 };
	struct flame_frame swap;
	uint64_t memory;
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		err = push_frame(&s, n, &frames[i]);
	if (!err && !s.nr)
		err = push(&s, (struct flame_frame){ .name = "[no stack]", .kind = FLAME_GROUP });
	if (!err && group)
		err = push(&s, (struct flame_frame){ .name = group, .kind = FLAME_GROUP });
	if (err)
		return err;
	set_missing_names(&s);
	for (i = 0; i < s.nr / 2; i++) {
		swap = s.frames[i];
		s.frames[i] = s.frames[s.nr - 1 - i];
		s.frames[s.nr - 1 - i] = swap;
	}
	for (i = 0; i < MIN(nr_changes, s.nr); i++)
		s.frames[i].change = changes[i];
	memory = flamegraph__memory(f);
	err = flamegraph__add(f, s.frames, s.nr, weight);
	return err ?: stk_reader__charge(r, (int64_t)(flamegraph__memory(f) - memory), s.nr);
}

static int add_group(struct flamegraph *f, const struct export_stacks *s,
		     const struct stack_group *g)
{
	_cleanup_(strbuf__free) struct strbuf label = { 0 };
	struct stk_frame frames[STACK_PAIR_FRAMES];
	unsigned int i, nr;
	int err;

	export_stacks__label(s, g, &label);
	err = strbuf__failed(&label) ? -ENOMEM : 0;
	for (i = 0; i < g->nr_stacks && !err; i++) {
		const struct stack_count *c = &g->stacks[i];

		nr = stack_fold__frames(s->fold, (struct stack_pair){ c->kstack, c->ustack },
					frames);
		err = flame_stacks__add(f, s->reader, s->names, label.s, frames, nr, c->amount,
					NULL, 0);
	}
	return err;
}

int flame_stacks__add_all(struct flamegraph *f, const struct export_stacks *s)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < s->nr_groups && !err; i++)
		err = add_group(f, s, &s->groups[i]);
	if (err == -EOVERFLOW) {
		log_err(0, "'%s': a sum exceeds 2^64: select fewer events", s->weight);
		return err;
	}
	return err ? log_err(err, "sum up the stacks") : 0;
}
