// SPDX-License-Identifier: GPL-2.0-only
/* Strings and call stacks get ids; each is written once, ahead of the event that needs it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "names/user_names.h"
#include "perfetto_priv.h"
#include "text.h"

#define WORK_FRAME 32 /* of a frame of a call stack, for stk_reader__charge() */

static void put(struct pf_intern *in, Pf__InternedData *data)
{
	Pf__TracePacket p = pf_packet(NULL);

	p.interned_data = data;
	pf_out__packet(in->out, &p, 0);
}

/* ---- strings --------------------------------------------------------------------------------- */

static void put_string(struct pf_intern *in, enum pf_string kind, uint64_t id, const void *s,
		       size_t len)
{
	Pf__InternedData data = PF__INTERNED_DATA__INIT;
	Pf__InternedString string = PF__INTERNED_STRING__INIT, *list[] = { &string };
	const struct {
		Pf__InternedString ***list;
		size_t *nr;
	} to[] = {
		[PF_CATEGORY] = { &data.event_categories, &data.n_event_categories },
		[PF_EVENT] = { &data.event_names, &data.n_event_names },
		[PF_FIELD] = { &data.debug_annotation_names, &data.n_debug_annotation_names },
		[PF_FUNCTION] = { &data.function_names, &data.n_function_names },
		[PF_BUILD_ID] = { &data.build_ids, &data.n_build_ids },
		[PF_PATH] = { &data.mapping_paths, &data.n_mapping_paths },
	};

	PF_SET(&string, iid, id);
	string.has_str = true;
	string.str = (ProtobufCBinaryData){ .len = len, .data = (uint8_t *)s };
	*to[kind].list = list;
	*to[kind].nr = 1;
	put(in, &data);
}

static int string_id(struct pf_intern *in, enum pf_string kind, const void *s, size_t len,
		     uint64_t *ret_id)
{
	uint32_t number;
	int n = string_table__number(&in->strings[kind], s, len, UINT32_MAX, &number);

	if (n < 0)
		return n;
	*ret_id = number + 1ull;
	if (n)
		put_string(in, kind, *ret_id, s, len);
	return 0;
}

int pf_intern__text(struct pf_intern *in, enum pf_string kind, const char *s, uint64_t *ret_id)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	strbuf__text(&text, s);
	return strbuf__failed(&text) ? -ENOMEM :
				       string_id(in, kind, text.s ?: "", text.len, ret_id);
}

/* ---- mappings -------------------------------------------------------------------------------- */

static int kernel_build_id(struct pf_intern *in, uint64_t *ret_id)
{
	const char *hex = stk_reader__meta(in->src->reader, "kernel.build_id");
	uint8_t bytes[64];
	uint32_t n = hex ? text__hex_bytes(hex, bytes, sizeof(bytes)) : 0;

	return n ? string_id(in, PF_BUILD_ID, bytes, n, ret_id) : 0;
}

/* The ids of the path and the build id of a file; *ret_build_id is untouched if it has none. */
static int describe(struct pf_intern *in, uint32_t number, uint64_t *ret_path,
		    uint64_t *ret_build_id)
{
	struct stk_file file;
	int err = stk_reader__file(in->src->reader, number, &file);

	if (!err && file.id_kind == STK_ID_BUILD_ID)
		err = string_id(in, PF_BUILD_ID, file.id, file.id_len, ret_build_id);
	/* Perfetto puts a slash before each part of a path. */
	return err ?: pf_intern__text(in, PF_PATH, file.path + (*file.path == '/'), ret_path);
}

static int put_mapping(struct pf_intern *in, struct pf_mapping m, bool is_kernel, uint64_t id)
{
	Pf__InternedData data = PF__INTERNED_DATA__INIT;
	Pf__Mapping mapping = PF__MAPPING__INIT, *list[] = { &mapping };
	uint64_t build_id = 0;
	int err = m.file    ? describe(in, m.file, &m.path, &build_id) :
		  is_kernel ? kernel_build_id(in, &build_id) :
			      0;

	if (err)
		return err;
	PF_SET(&mapping, iid, id);
	if (build_id)
		PF_SET(&mapping, build_id, build_id);
	mapping.n_path_string_ids = 1;
	mapping.path_string_ids = &m.path;
	data.n_mappings = 1;
	data.mappings = list;
	put(in, &data);
	return 0;
}

static int mapping_id(struct pf_intern *in, const struct stk_frame *f, uint32_t *ret_id)
{
	bool is_kernel = f->kind == STK_FRAME_KERNEL;
	struct pf_mapping m = { .file = f->kind == STK_FRAME_USER ? f->file : 0,
				.kernel = f->kernel };
	uint32_t number = 0;
	int got = 0;

	if (!m.file)
		got = pf_intern__text(in, PF_PATH,
				      !is_kernel ? "[unknown]" :
				      f->mod	 ?:
						   "[kernel]",
				      &m.path);
	got = got ?: string_table__number(&in->mappings, &m, sizeof(m), INDEX_NONE, &number);
	*ret_id = number + 1;
	return got > 0 ? put_mapping(in, m, is_kernel && !f->mod, *ret_id) : got;
}

/* ---- frames and call stacks ------------------------------------------------------------------ */

static void put_frame(struct pf_intern *in, const struct pf_frame *f, uint64_t id)
{
	Pf__InternedData data = PF__INTERNED_DATA__INIT;
	Pf__Frame frame = PF__FRAME__INIT, *list[] = { &frame };

	PF_SET(&frame, iid, id);
	if (f->function)
		PF_SET(&frame, function_name_id, f->function);
	PF_SET(&frame, mapping_id, f->mapping);
	PF_SET(&frame, rel_pc, f->pc);
	data.n_frames = 1;
	data.frames = list;
	put(in, &data);
}

static int find_frame(struct pf_intern *in, const struct pf_frame *f, uint64_t *ret_id)
{
	uint32_t number = 0;
	int got = string_table__number(&in->frames, f, sizeof(*f), INDEX_NONE, &number);

	*ret_id = number + 1ull;
	if (got > 0)
		put_frame(in, f, *ret_id);
	return MIN(got, 0);
}

/* name NULL: unknown. */
static int add_function(struct pf_intern *in, struct pf_frame frame, const char *name, size_t *nr)
{
	uint64_t function = 0;
	int err = array__grow(&in->ids, *nr, &in->max_ids);

	if (!err && name)
		err = pf_intern__text(in, PF_FUNCTION, name, &function);
	if (err)
		return err;
	frame.function = function;
	err = find_frame(in, &frame, &in->ids[*nr]);
	*nr += !err;
	return err;
}

/* The function of the frame, then those inlined there: each is a frame of its own. */
static int add_frame(struct pf_intern *in, const struct stk_frame *f, size_t *nr)
{
	/* As in Perfetto's own stacks, the address of a caller is within its call. */
	struct pf_frame frame = { .pc = f->ip - (f->ip && !f->exact) };
	const struct name_line *lines;
	unsigned int nr_lines = user_names__lines(in->src->names, f, &lines);
	int err = mapping_id(in, f, &frame.mapping) ?:
			  add_function(in, frame, export_source__function(in->src, f), nr);

	while (!err && nr_lines > 1) {
		const struct name_line *inlined = &lines[--nr_lines - 1];

		err = add_function(in, frame, inlined->function, nr);
	}
	return err;
}

/* Adds the frames of a stack to in->ids, outermost first, and counts them in *nr. */
static int add_frames(struct pf_intern *in, uint32_t number, size_t *nr)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	int i, err = 0, depth;

	if (!number)
		return 0;
	depth = stk_reader__frames(in->src->reader, number, frames, STK_MAX_DEPTH);
	if (depth < 0)
		return depth;
	for (i = MIN(depth, STK_MAX_DEPTH) - 1; i >= 0 && !err; i--)
		err = add_frame(in, &frames[i], nr);
	return err;
}

/* *ret_id is 0 if there is no frame: Perfetto takes an empty call stack for an error. */
static int put_stack(struct pf_intern *in, const struct pf_stack *s, uint64_t id, uint64_t *ret_id)
{
	Pf__InternedData data = PF__INTERNED_DATA__INIT;
	Pf__Callstack stack = PF__CALLSTACK__INIT, *list[] = { &stack };
	int err = add_frames(in, s->ustack, &stack.n_frame_ids) ?:
			  add_frames(in, s->kstack, &stack.n_frame_ids);

	/* Frames that the recording has once are in every pair of a kernel and a user stack. */
	err = err ?: stk_reader__charge(in->src->reader, 0, stack.n_frame_ids * WORK_FRAME);
	if (err)
		return err;
	*ret_id = stack.n_frame_ids ? id : 0;
	if (!*ret_id)
		return 0;
	PF_SET(&stack, iid, id);
	stack.frame_ids = in->ids;
	data.n_callstacks = 1;
	data.callstacks = list;
	put(in, &data);
	return 0;
}

static int charge_memory(struct pf_intern *in)
{
	uint64_t memory = in->max_ids * sizeof(*in->ids) + in->max_stacks * sizeof(*in->stacks) +
			  string_table__memory(&in->pairs) + string_table__memory(&in->mappings) +
			  string_table__memory(&in->frames);
	int i, err;

	for (i = 0; i < NR_PF_STRINGS; i++)
		memory += string_table__memory(&in->strings[i]);
	err = stk_reader__charge(in->src->reader, (int64_t)(memory - in->charged), 0);
	if (!err)
		in->charged = memory;
	return err;
}

static int new_stack(struct pf_intern *in, const struct pf_stack *s)
{
	uint32_t i = in->nr_stacks;
	int err = array__grow(&in->stacks, i, &in->max_stacks);

	if (err)
		return err;
	in->stacks[in->nr_stacks++] = *s;
	return put_stack(in, s, i + 1ull, &in->stacks[i].id) ?: charge_memory(in);
}

int pf_intern__stack(struct pf_intern *in, uint32_t kstack, uint32_t ustack, uint64_t *ret_id)
{
	const struct pf_stack s = { .kstack = kstack, .ustack = ustack };
	uint64_t key = (uint64_t)s.ustack << 32 | s.kstack;
	uint32_t slot = index__hash(key) % PF_STACK_CACHE, i;
	int got;

	*ret_id = 0;
	if (!key)
		return 0;
	if (in->cache[slot].kstack == s.kstack && in->cache[slot].ustack == s.ustack) {
		*ret_id = in->cache[slot].id;
		return 0;
	}
	got = string_table__number(&in->pairs, &key, sizeof(key), INDEX_NONE, &i);
	if (got > 0)
		got = new_stack(in, &s);
	if (got)
		return got;
	in->cache[slot] = in->stacks[i];
	*ret_id = in->stacks[i].id;
	return 0;
}

void pf_intern__free(struct pf_intern *in)
{
	int i;

	for (i = 0; i < NR_PF_STRINGS; i++)
		string_table__clear(&in->strings[i]);
	string_table__clear(&in->mappings);
	string_table__clear(&in->frames);
	free(in->stacks);
	free(in->ids);
	string_table__clear(&in->pairs);
}
