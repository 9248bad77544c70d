// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables that all threads of the profile share.  A stack is a node of a tree, which has a frame
 * and the node of the caller; a frame is an address, or what is inlined there, of a function.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "firefox_priv.h"
#include "seeded_hash.h"

#define WORK_FRAME 64 /* of a frame, for stk_reader__charge() */
#define TEXT_SIZE (1ull << 30) /* of a kernel, at most */

#define BYTES(array, nr) ((uint64_t)(nr) * sizeof(*(array)))

static uint64_t memory_of(const struct ff_frames *f)
{
	uint64_t tables = string_table__memory(&f->strings) + string_table__memory(&f->sources);
	uint64_t indexes = index__memory(&f->lib_index) + index__memory(&f->func_index) +
			   index__memory(&f->node_index) + index__memory(&f->stack_index);

	return tables + indexes + BYTES(f->source_names, f->nr_source_names) +
	       BYTES(f->rows, f->nr_rows) + BYTES(f->libs, f->max_libs) +
	       BYTES(f->funcs, f->max_funcs) + BYTES(f->frames, f->max_frames) +
	       BYTES(f->nodes, f->max_nodes) + BYTES(f->stacks, f->max_stacks);
}

static int charge(struct ff_frames *f, uint64_t work)
{
	uint64_t memory = memory_of(f);
	int err = stk_reader__charge(f->src->reader, (int64_t)(memory - f->charged), work);

	if (!err)
		f->charged = memory;
	return err;
}

static uint64_t hash_of(const struct ff_frames *f, uint64_t a, uint64_t b)
{
	return seeded_hash__u64(f->seed, seeded_hash__u64(f->seed, f->seed, a), b);
}

int ff_frames__start(struct ff_frames *f)
{
	f->seed = seeded_hash__seed();
	return export_frames__new(f->src->reader, f->src->names, &f->named);
}

int ff_frames__string(struct ff_frames *f, const char *s, size_t len, uint32_t *ret_number)
{
	int n = string_table__number(&f->strings, s, len, INDEX_NONE - 1, ret_number);

	return MIN(n, 0);
}

/* ---- code ------------------------------------------------------------------------------------ */

static int find_lib(struct ff_frames *f, const struct stk_frame *frame, uint32_t *ret_lib)
{
	bool is_kernel = frame->kind == STK_FRAME_KERNEL;
	struct ff_lib lib = { .file = is_kernel ? 0 : frame->file,
			      .kernel = is_kernel ? frame->kernel : 0,
			      .mod = is_kernel ? frame->mod : NULL };
	size_t len = lib.mod ? strlen(lib.mod) : 0;
	uint64_t hash;
	uint32_t i;

	*ret_lib = FF_NONE;
	if ((!is_kernel && !lib.file) || stack_fold__is_made(frame))
		return 0;
	hash = hash_of(f, (uint64_t)lib.file << 32 | lib.kernel,
		       seeded_hash__bytes(f->seed, lib.mod ?: "", len));
	index__for_each(&f->lib_index, hash, i) {
		const struct ff_lib *l = &f->libs[i];

		if (l->file == lib.file && l->kernel == lib.kernel &&
		    !strcmp(l->mod ?: "", lib.mod ?: "")) {
			*ret_lib = i;
			return 0;
		}
	}
	if (array__grow(&f->libs, f->nr_libs, &f->max_libs) ||
	    index__add(&f->lib_index, hash, f->nr_libs))
		return -ENOMEM;
	*ret_lib = f->nr_libs;
	f->libs[f->nr_libs++] = lib;
	return ff_frames__string(f, frame->mod ?: FF_KERNEL_NAME,
				 strlen(frame->mod ?: FF_KERNEL_NAME), &f->libs[*ret_lib].name);
}

static int find_func(struct ff_frames *f, const struct ff_func *func, uint32_t *ret_func)
{
	uint64_t hash = hash_of(f, (uint64_t)func->name << 32 | func->lib, func->source);
	uint32_t i;

	index__for_each(&f->func_index, hash, i) {
		if (!memcmp(&f->funcs[i], func, sizeof(*func))) {
			*ret_func = i;
			return 0;
		}
	}
	if (array__grow(&f->funcs, f->nr_funcs, &f->max_funcs) ||
	    index__add(&f->func_index, hash, f->nr_funcs))
		return -ENOMEM;
	*ret_func = f->nr_funcs;
	f->funcs[f->nr_funcs++] = *func;
	return 0;
}

static int find_source(struct ff_frames *f, const char *source, uint32_t *ret_source)
{
	uint32_t nr;
	int err;

	*ret_source = FF_NONE;
	if (!source)
		return 0;
	err = string_table__intern(&f->sources, source, &nr);
	if (err || array__reach(&f->source_names, nr, &f->nr_source_names))
		return -ENOMEM;
	*ret_source = nr;
	return ff_frames__string(f, source, strlen(source), &f->source_names[nr]);
}

static bool is_generated(const struct ff_frames *f, const struct stk_frame *frame)
{
	struct stk_file file;

	return frame->file && !stk_reader__file(f->src->reader, frame->file, &file) &&
	       file.kind == STK_FILE_JIT;
}

static void set_category(const struct ff_frames *f, const struct stk_frame *frame,
			 struct ff_frame *ret)
{
	if (stack_fold__is_made(frame)) {
		ret->category = !strcmp(frame->sym, "[idle]") ? FF_IDLE : FF_OTHER;
	} else if (frame->kind == STK_FRAME_KERNEL) {
		ret->category = FF_KERNEL;
		ret->subcategory = !frame->mod ? 0 : strcmp(frame->mod, "bpf") ? FF_MODULE : FF_BPF;
	} else if (frame->kind == STK_FRAME_USER) {
		ret->category = is_generated(f, frame) ? FF_JIT : FF_USER;
	}
}

/* Of the first kernel; UINT64_MAX: unknown. */
static uint64_t text_base(struct ff_frames *f)
{
	const char *hex;

	if (!f->text_base) {
		hex = stk_reader__meta(stk_reader__member(f->src->reader, 0), "kernel.text");
		f->text_base = (hex ? strtoull(hex, NULL, 16) : 0) ?: UINT64_MAX;
	}
	return f->text_base;
}

/*
 * An offset in the file, or in the text of the kernel: of the interrupted instruction, or in that
 * of the call.  Modules have none, as it is unknown where they begin.
 */
static uint64_t address_of(struct ff_frames *f, const struct stk_frame *frame)
{
	uint64_t ip = frame->ip - (!frame->exact && frame->ip);

	if (stack_fold__is_made(frame))
		return FF_NO_ADDRESS;
	if (frame->kind == STK_FRAME_USER && frame->file)
		return ip;
	if (frame->kind == STK_FRAME_KERNEL && !frame->mod && !frame->kernel &&
	    ip - text_base(f) < TEXT_SIZE)
		return ip - f->text_base;
	return FF_NO_ADDRESS;
}

static int add_frame(struct ff_frames *f, const struct ff_frame *like, const char *name, size_t len,
		     const char *source)
{
	struct ff_frame *frame;
	struct ff_func func;
	int err;

	if (array__grow(&f->frames, f->nr_frames, &f->max_frames))
		return -ENOMEM;
	frame = &f->frames[f->nr_frames];
	*frame = *like;
	func.lib = like->func; /* until the function is known */
	err = ff_frames__string(f, name, len, &func.name);
	err = err ?: find_source(f, source, &func.source);
	err = err ?: find_func(f, &func, &frame->func);
	f->nr_frames += !err;
	return err;
}

/* The frames of an address: its function, and below it what is inlined there. */
static int add_frames(struct ff_frames *f, const struct export_frame *e)
{
	struct ff_frame frame = { .address = address_of(f, &e->frame), .line = e->line };
	int err = find_lib(f, &e->frame, &frame.func);
	unsigned int i;

	set_category(f, &e->frame, &frame);
	strbuf__reset(&f->text);
	export_frame__put_name(e, &f->text);
	if (strbuf__failed(&f->text))
		return -ENOMEM;
	err = err ?: add_frame(f, &frame, f->text.s, f->text.len, e->source);
	for (i = e->nr_inlined; i && !err; i--) {
		const struct name_line *line = &e->inlined[i - 1];
		const char *name = line->function ?: "?";

		frame.depth++;
		frame.line = line->line;
		err = add_frame(f, &frame, name, strlen(name), line->source);
	}
	return err;
}

/* The first of the frames of an address; there is one more for each function inlined there. */
static int find_frames(struct ff_frames *f, const struct stk_frame *frame, uint32_t *ret_first,
		       unsigned int *ret_nr)
{
	const struct export_frame *e;
	uint32_t number = 0, first;
	int err = export_frames__number(f->named, frame, &number);

	if (err)
		return err;
	e = export_frames__get(f->named, number);
	if (array__reach(&f->rows, number, &f->nr_rows))
		return -ENOMEM;
	if (!f->rows[number]) {
		first = f->nr_frames;
		err = add_frames(f, e);
		if (err)
			return err;
		f->rows[number] = first + 1;
	}
	*ret_first = f->rows[number] - 1;
	*ret_nr = e->nr_inlined + 1;
	return 0;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static int find_node(struct ff_frames *f, uint32_t frame, uint32_t *prefix)
{
	uint64_t hash = hash_of(f, frame, *prefix);
	uint32_t i;

	index__for_each(&f->node_index, hash, i) {
		if (f->nodes[i].frame == frame && f->nodes[i].prefix == *prefix) {
			*prefix = i;
			return 0;
		}
	}
	if (array__grow(&f->nodes, f->nr_nodes, &f->max_nodes) ||
	    index__add(&f->node_index, hash, f->nr_nodes))
		return -ENOMEM;
	f->nodes[f->nr_nodes] = (struct ff_node){ .frame = frame, .prefix = *prefix };
	*prefix = f->nr_nodes++;
	return 0;
}

static int add_stack(struct ff_frames *f, struct ff_stack *stack)
{
	const struct stack_pair pair = { stack->kstack, stack->ustack };
	struct stk_frame frames[STACK_PAIR_FRAMES];
	unsigned int i = stack_fold__frames(f->src->fold, pair, frames), nr = 0, at;
	uint32_t first = 0, node = FF_NONE;
	int err = charge(f, (uint64_t)i * WORK_FRAME);

	while (i && !err) {
		err = find_frames(f, &frames[--i], &first, &nr);
		for (at = 0; at < nr && !err; at++)
			err = find_node(f, first + at, &node);
	}
	stack->node = node;
	return err;
}

static int find_stack(struct ff_frames *f, struct ff_stack *stack)
{
	uint64_t hash = hash_of(f, stack->kstack, stack->ustack);
	uint32_t i;
	int err;

	index__for_each(&f->stack_index, hash, i) {
		if (f->stacks[i].kstack == stack->kstack && f->stacks[i].ustack == stack->ustack) {
			*stack = f->stacks[i];
			return 0;
		}
	}
	err = add_stack(f, stack);
	if (err)
		return err;
	if (array__grow(&f->stacks, f->nr_stacks, &f->max_stacks) ||
	    index__add(&f->stack_index, hash, f->nr_stacks))
		return -ENOMEM;
	f->stacks[f->nr_stacks++] = *stack;
	return 0;
}

int ff_frames__stack(struct ff_frames *f, uint32_t kstack, uint32_t ustack, uint32_t *ret_node)
{
	struct ff_stack *known = &f->cache[(kstack ^ ustack * 5) % FF_STACK_CACHE];
	struct ff_stack stack = { .kstack = kstack, .ustack = ustack, .node = FF_NONE };
	int err = 0;

	if (!kstack && !ustack) {
		*ret_node = FF_NONE;
		return 0;
	}
	if (known->kstack != kstack || known->ustack != ustack) {
		err = find_stack(f, &stack);
		if (err)
			return err;
		*known = stack;
	}
	*ret_node = known->node;
	return 0;
}

void ff_frames__free(struct ff_frames *f)
{
	if (f->src)
		stk_reader__charge(f->src->reader, -(int64_t)f->charged, 0);
	export_frames__free(f->named);
	string_table__clear(&f->strings);
	string_table__clear(&f->sources);
	free(f->source_names);
	free(f->rows);
	free(f->libs);
	free(f->funcs);
	free(f->frames);
	free(f->nodes);
	free(f->stacks);
	index__free(&f->lib_index);
	index__free(&f->func_index);
	index__free(&f->node_index);
	index__free(&f->stack_index);
	strbuf__free(&f->text);
}
