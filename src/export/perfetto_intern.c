// SPDX-License-Identifier: GPL-2.0-only
/* Strings and call stacks get ids; each is written once, ahead of the event that needs it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "names/user_names.h"
#include "perfetto_priv.h"
#include "seeded_hash.h"
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

/* What is known of the file of a mapping: *ret_build_id is untouched if it has none. */
static int describe(struct pf_intern *in, const struct pf_mapping *m, uint64_t *ret_path,
		    uint64_t *ret_build_id)
{
	struct stk_file file;
	const char *path;
	int err = 0;

	if (!m->file) {
		if (!m->mod)
			err = kernel_build_id(in, ret_build_id);
		return err ?: pf_intern__text(in, PF_PATH, m->mod ?: "[kernel]", ret_path);
	}
	err = stk_reader__file(in->src->reader, m->file, &file);
	if (err)
		return err;
	if (file.id_kind == STK_ID_BUILD_ID)
		err = string_id(in, PF_BUILD_ID, file.id, file.id_len, ret_build_id);
	/* Perfetto puts a slash before each part of a path. */
	path = file.path + (*file.path == '/');
	return err ?: pf_intern__text(in, PF_PATH, path, ret_path);
}

static int put_mapping(struct pf_intern *in, const struct pf_mapping *m, uint64_t id)
{
	Pf__InternedData data = PF__INTERNED_DATA__INIT;
	Pf__Mapping mapping = PF__MAPPING__INIT, *list[] = { &mapping };
	uint64_t path, build_id = 0;
	int err = describe(in, m, &path, &build_id);

	if (err)
		return err;
	PF_SET(&mapping, iid, id);
	if (build_id)
		PF_SET(&mapping, build_id, build_id);
	mapping.n_path_string_ids = 1;
	mapping.path_string_ids = &path;
	data.n_mappings = 1;
	data.mappings = list;
	put(in, &data);
	return 0;
}

static bool mapping__is(const struct pf_mapping *a, const struct pf_mapping *b)
{
	return a->file == b->file && a->kernel == b->kernel &&
	       (a->mod == b->mod || (a->mod && b->mod && !strcmp(a->mod, b->mod)));
}

static int mapping_id(struct pf_intern *in, const struct stk_frame *f, uint32_t *ret_id)
{
	bool is_file = f->kind == STK_FRAME_USER && f->file;
	const struct pf_mapping m = { .file = is_file ? f->file : 0,
				      .kernel = f->kernel,
				      .mod = is_file			 ? NULL :
					     f->kind != STK_FRAME_KERNEL ? "[unknown]" :
									   f->mod };
	uint64_t hash = seeded_hash__u64(in->seed, in->seed, (uint64_t)m.file << 32 | m.kernel);
	uint32_t i;
	int err;

	if (m.mod)
		hash = seeded_hash__u64(in->seed, hash,
					seeded_hash__bytes(in->seed, m.mod, strlen(m.mod)));
	index__for_each(&in->mapping_index, hash, i)
		if (mapping__is(&in->mappings[i], &m))
			break;
	if (i == INDEX_NONE) {
		i = in->nr_mappings;
		err = array__grow(&in->mappings, i, &in->max_mappings) ?:
			      index__add(&in->mapping_index, hash, i);
		if (err)
			return err;
		in->mappings[in->nr_mappings++] = m;
		err = put_mapping(in, &m, i + 1ull);
		if (err)
			return err;
	}
	*ret_id = i + 1;
	return 0;
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
	uint64_t hash = seeded_hash__u64(in->seed, in->seed, f->pc);
	uint32_t i;
	int err;

	hash = seeded_hash__u64(in->seed, hash, (uint64_t)f->mapping << 32 | f->function);
	index__for_each(&in->frame_index, hash, i)
		if (in->frames[i].pc == f->pc && in->frames[i].mapping == f->mapping &&
		    in->frames[i].function == f->function)
			break;
	if (i == INDEX_NONE) {
		i = in->nr_frames;
		err = array__grow(&in->frames, i, &in->max_frames) ?:
			      index__add(&in->frame_index, hash, i);
		if (err)
			return err;
		in->frames[in->nr_frames++] = *f;
		put_frame(in, f, i + 1ull);
	}
	*ret_id = i + 1ull;
	return 0;
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
	uint64_t memory = in->max_mappings * sizeof(*in->mappings) +
			  in->max_frames * sizeof(*in->frames) + in->max_ids * sizeof(*in->ids) +
			  in->max_stacks * sizeof(*in->stacks) + index__memory(&in->mapping_index) +
			  index__memory(&in->frame_index) + index__memory(&in->stack_index);
	int i, err;

	for (i = 0; i < NR_PF_STRINGS; i++)
		memory += string_table__memory(&in->strings[i]);
	err = stk_reader__charge(in->src->reader, (int64_t)(memory - in->charged), 0);
	if (!err)
		in->charged = memory;
	return err;
}

static int new_stack(struct pf_intern *in, const struct pf_stack *s, uint64_t hash)
{
	uint32_t i = in->nr_stacks;
	int err;

	err = array__grow(&in->stacks, i, &in->max_stacks) ?: index__add(&in->stack_index, hash, i);
	if (err)
		return err;
	in->stacks[i] = *s;
	in->nr_stacks++;
	return put_stack(in, s, i + 1ull, &in->stacks[i].id) ?: charge_memory(in);
}

int pf_intern__stack(struct pf_intern *in, uint32_t kstack, uint32_t ustack, uint64_t *ret_id)
{
	const struct pf_stack s = { .kstack = kstack, .ustack = ustack };
	uint64_t key = (uint64_t)s.ustack << 32 | s.kstack, hash;
	uint32_t slot = index__hash(key) % PF_STACK_CACHE, i;
	int err = 0;

	*ret_id = 0;
	if (!key)
		return 0;
	if (in->cache[slot].kstack == s.kstack && in->cache[slot].ustack == s.ustack) {
		*ret_id = in->cache[slot].id;
		return 0;
	}
	in->seed = in->seed ?: seeded_hash__seed();
	hash = seeded_hash__u64(in->seed, in->seed, key);
	index__for_each(&in->stack_index, hash, i)
		if (in->stacks[i].kstack == s.kstack && in->stacks[i].ustack == s.ustack)
			break;
	if (i == INDEX_NONE) {
		i = in->nr_stacks;
		err = new_stack(in, &s, hash);
	}
	if (err)
		return err;
	in->cache[slot] = in->stacks[i];
	*ret_id = in->stacks[i].id;
	return 0;
}

void pf_intern__free(struct pf_intern *in)
{
	int i;

	for (i = 0; i < NR_PF_STRINGS; i++)
		string_table__clear(&in->strings[i]);
	free(in->mappings);
	free(in->frames);
	free(in->stacks);
	free(in->ids);
	index__free(&in->mapping_index);
	index__free(&in->frame_index);
	index__free(&in->stack_index);
}
