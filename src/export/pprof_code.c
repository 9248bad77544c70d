// SPDX-License-Identifier: GPL-2.0-only
/* Makes locations, functions and mappings of frames. */
#include "pprof_code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "named_frames.h"
#include "pprof_file.h"
#include "stacks.h"
#include "string_table.h"

#define PAGE 4096
#define FIRST_ADDRESS 0x400000 /* of the address space for files */
#define MAX_LINES 64 /* of a location; user_names has fewer */

/* What code belongs to: a file, or a part of a kernel. */
struct mapping_key {
	uint32_t kind; /* enum stk_frame_kind */
	uint32_t owner; /* file or kernel */
	int64_t name; /* kernel: string number of the module */
};

struct mapping {
	struct mapping_key key;
	uint64_t low, high; /* offset or address of the first and the last frame */
	uint64_t shift; /* what is added to an offset */
	bool has_lines, has_inlined;
};

struct function {
	int64_t name, system_name, filename;
};

struct pprof_code {
	struct pprof_file *file;
	const struct export_stacks *stacks;
	struct export_frames *frames; /* location i + 1 is frame i */
	uint32_t *mapping_of; /* by frame; number + 1, 0: none */
	uint32_t nr_mapping_of;
	struct mapping *mappings;
	uint32_t nr_mappings, max_mappings;
	struct string_table mapping_keys, functions; /* by content: struct mapping_key, function */
	uint64_t charged; /* bytes */
};

int pprof_code__new(struct pprof_file *file, const struct export_stacks *stacks,
		    struct pprof_code **ret_code)
{
	struct pprof_code *c = calloc(1, sizeof(*c));
	int err = c ? export_frames__new(stacks->reader, stacks->names, &c->frames) : -ENOMEM;

	if (err) {
		free(c);
		return err;
	}
	c->file = file;
	c->stacks = stacks;
	*ret_code = c;
	return 0;
}

void pprof_code__free(struct pprof_code *c)
{
	if (!c)
		return;
	stk_reader__charge(c->stacks->reader, -(int64_t)c->charged, 0);
	export_frames__free(c->frames);
	free(c->mapping_of);
	free(c->mappings);
	string_table__clear(&c->mapping_keys);
	string_table__clear(&c->functions);
	free(c);
}

static int charge_memory(struct pprof_code *c)
{
	uint64_t memory = (uint64_t)c->nr_mapping_of * sizeof(*c->mapping_of) +
			  (uint64_t)c->max_mappings * sizeof(*c->mappings) +
			  string_table__memory(&c->mapping_keys) +
			  string_table__memory(&c->functions);
	int err = stk_reader__charge(c->stacks->reader, (int64_t)(memory - c->charged), 1);

	if (!err)
		c->charged = memory;
	return err;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* The number of the mapping that the code belongs to. */
static int find_mapping(struct pprof_code *c, const struct mapping *m, uint32_t *ret_number)
{
	int got = string_table__number(&c->mapping_keys, &m->key, sizeof(m->key), INDEX_NONE,
				       ret_number);

	if (got <= 0)
		return got;
	if (array__grow(&c->mappings, c->nr_mappings, &c->max_mappings))
		return -ENOMEM;
	c->mappings[c->nr_mappings++] = *m;
	return 0;
}

static int64_t module_name(struct pprof_code *c, const struct stk_frame *f)
{
	return !f->mod	      ? 0 :
	       *f->mod == '[' ? pprof_file__string(c->file, f->mod) :
				pprof_file__printf(c->file, "[%s]", f->mod);
}

/* Whether the frame is at an address, and not code without a file or what --fold made. */
static bool is_mapped(const struct stk_frame *f)
{
	if (stack_fold__is_made(f))
		return false;
	return f->kind == STK_FRAME_KERNEL || (f->kind == STK_FRAME_USER && f->file);
}

/* In the calling instruction, not after it, as pprof expects. */
static uint64_t address_of(const struct stk_frame *f)
{
	return f->exact || !f->ip ? f->ip : f->ip - 1;
}

static int add_to_mapping(struct pprof_code *c, const struct export_frame *f, uint32_t number)
{
	const struct stk_frame *frame = &f->frame;
	bool is_kernel = frame->kind == STK_FRAME_KERNEL;
	struct mapping m = { .key.kind = frame->kind,
			     .key.owner = is_kernel ? frame->kernel : frame->file,
			     .key.name = is_kernel ? module_name(c, frame) : 0,
			     .low = address_of(frame),
			     .high = address_of(frame) };
	uint32_t i = 0;
	int err;

	err = array__reach(&c->mapping_of, number, &c->nr_mapping_of);
	if (err || !is_mapped(frame))
		return err;
	err = find_mapping(c, &m, &i);
	if (err)
		return err;
	c->mapping_of[number] = i + 1;
	c->mappings[i].low = MIN(c->mappings[i].low, m.low);
	c->mappings[i].high = MAX(c->mappings[i].high, m.high);
	c->mappings[i].has_lines |= f->source != NULL;
	c->mappings[i].has_inlined |= f->nr_inlined > 0;
	return 0;
}

int pprof_code__location(struct pprof_code *c, const struct stk_frame *frame, uint64_t *ret_id)
{
	uint32_t known = export_frames__nr(c->frames), number = 0;
	int err = export_frames__number(c->frames, frame, &number);

	if (!err && number == known)
		err = add_to_mapping(c, export_frames__get(c->frames, number), number) ?:
			      charge_memory(c);
	*ret_id = number + 1ull;
	return err;
}

/* ---- mappings -------------------------------------------------------------------------------- */

static int64_t build_id(struct pprof_code *c, const uint8_t *id, unsigned int len)
{
	char hex[2 * 64 + 1] = "";
	unsigned int i;

	for (i = 0; i < len && i < 64; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return pprof_file__string(c->file, hex);
}

static void name_kernel(struct pprof_code *c, const struct mapping *m, Pprof__Mapping *out)
{
	const struct stk_reader *r = c->stacks->reader;

	out->filename = m->key.name ?: pprof_file__string(c->file, "[kernel.kallsyms]");
	/* Frames of the first recording have the kernel 0. */
	if (!m->key.name && !m->key.owner && stk_reader__nr_members(r))
		out->build_id = pprof_file__string(
			c->file, stk_reader__meta(stk_reader__member(r, 0), "kernel.build_id"));
}

/* Places a mapping at its addresses, or at *next, where the next file may begin. */
static void place(struct pprof_code *c, struct mapping *m, uint64_t *next, Pprof__Mapping *out)
{
	struct stk_file file = { 0 };
	bool in_file = false;

	if (m->key.kind == STK_FRAME_KERNEL) {
		name_kernel(c, m, out);
	} else if (!stk_reader__file(c->stacks->reader, m->key.owner, &file)) {
		in_file = file.kind != STK_FILE_JIT;
		/* perf's name for it, which pprof knows */
		out->filename = pprof_file__string(c->file, file.kind == STK_FILE_JIT ? "//anon" :
											file.path);
		if (file.id_kind == STK_ID_BUILD_ID)
			out->build_id = build_id(c, file.id, file.id_len);
		m->shift = in_file ? *next : file.base;
	}
	out->memory_start = in_file ? *next : (m->low + m->shift) & ~(uint64_t)(PAGE - 1);
	out->memory_limit = ((m->high + m->shift) & ~(uint64_t)(PAGE - 1)) + PAGE;
	if (in_file)
		*next = out->memory_limit;
}

static void put_mappings(struct pprof_code *c)
{
	uint64_t next = FIRST_ADDRESS;
	uint32_t i;

	for (i = 0; i < c->nr_mappings; i++) {
		struct mapping *m = &c->mappings[i];
		Pprof__Mapping out = PPROF__MAPPING__INIT, *list = &out;
		Pprof__Profile part = PPROF__PROFILE__INIT;

		out.id = i + 1ull;
		/* Names were looked up already, in the same files: pprof is not to do it again. */
		out.has_functions = true;
		out.has_filenames = out.has_line_numbers = m->has_lines;
		out.has_inline_frames = m->has_inlined;
		place(c, m, &next, &out);
		part.mapping = &list;
		part.n_mapping = 1;
		pprof_file__put(c->file, &part);
	}
}

/* ---- functions and locations ----------------------------------------------------------------- */

static void put_function(struct pprof_code *c, const struct function *f, uint64_t id)
{
	Pprof__Function out = PPROF__FUNCTION__INIT, *list = &out;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	out.id = id;
	out.name = f->name;
	out.system_name = f->system_name;
	out.filename = f->filename;
	part.function = &list;
	part.n_function = 1;
	pprof_file__put(c->file, &part);
}

/* The id of a function, which is written when it is new. */
static int function_id(struct pprof_code *c, const char *name, const char *system_name,
		       const char *source, uint64_t *ret_id)
{
	struct function f = {
		.name = pprof_file__string(c->file, name),
		.system_name = pprof_file__string(c->file, system_name),
		.filename = pprof_file__string(c->file, source),
	};
	uint32_t number = 0;
	int got = string_table__number(&c->functions, &f, sizeof(f), INDEX_NONE, &number);

	if (got < 0)
		return got;
	*ret_id = number + 1ull;
	if (got)
		put_function(c, &f, *ret_id);
	return 0;
}

/* The functions inlined at a frame, innermost first, and its own; none if it is unknown. */
static int lines_of(struct pprof_code *c, const struct export_frame *f, Pprof__Line *ret_lines,
		    size_t *ret_nr)
{
	unsigned int i, nr = 0;
	int err = 0;

	for (i = 0; i < f->nr_inlined && nr + 1 < MAX_LINES && !err; i++, nr++) {
		const struct name_line *l = &f->inlined[i];
		const char *name = l->function ?: "?";

		pprof__line__init(&ret_lines[nr]);
		ret_lines[nr].line = l->line;
		err = function_id(c, name, name, l->source, &ret_lines[nr].function_id);
	}
	if (!err && f->function) {
		pprof__line__init(&ret_lines[nr]);
		ret_lines[nr].line = f->line;
		err = function_id(c, f->function, f->frame.sym, f->source,
				  &ret_lines[nr].function_id);
		nr++;
	}
	*ret_nr = nr;
	return err;
}

static int put_location(struct pprof_code *c, uint32_t number)
{
	const struct export_frame *f = export_frames__get(c->frames, number);
	Pprof__Location out = PPROF__LOCATION__INIT, *list = &out;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Line lines[MAX_LINES], *line_list[MAX_LINES];
	int err = lines_of(c, f, lines, &out.n_line);
	size_t i;

	for (i = 0; i < out.n_line; i++)
		line_list[i] = &lines[i];
	out.line = line_list;
	out.id = number + 1ull;
	out.mapping_id = c->mapping_of[number];
	out.address = stack_fold__is_made(&f->frame) ? 0 : address_of(&f->frame);
	if (out.mapping_id)
		out.address += c->mappings[out.mapping_id - 1].shift;
	part.location = &list;
	part.n_location = 1;
	if (!err)
		pprof_file__put(c->file, &part);
	return err;
}

int pprof_code__put(struct pprof_code *c)
{
	uint32_t i;
	int err = 0;

	put_mappings(c);
	for (i = 0; i < export_frames__nr(c->frames) && !err; i++)
		err = put_location(c, i) ?: charge_memory(c);
	return err;
}
