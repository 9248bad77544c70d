// SPDX-License-Identifier: GPL-2.0-only
/* Makes stacks of addresses from stacks of names. */
#include "text_stacks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "frame.h"
#include "fsmb_map.h"
#include "kallsyms.h"
#include "string_table.h"
#include "trace/write/writer.h"
#include "trace_text.h"

#define FUNCTION_BITS 20 /* of an offset in a function without an address */
#define MAX_FUNCTIONS (1u << 20)
#define TRAMPOLINE "[FTRACE TRAMPOLINE]"

/* What a line of the text became. */
struct text_frame {
	uint64_t ip;
	bool exact; /* the name is that of ip itself, not of the call before it */
};

struct text_stacks {
	const struct fsmb_map *map;
	struct kallsyms *syms;
	struct stk_writer *writer;
	struct string_table lines; /* distinct lines */
	struct text_frame *frames; /* by number of the line */
	size_t nr_frames, cap_frames;
	struct string_table functions; /* those without an address: "name", or "name [mod]" */
	struct string_table stacks; /* distinct texts of stacks */
	uint32_t *numbers; /* by number of the text */
	size_t nr_numbers, cap_numbers;
	uint32_t next_id;
};

int text_stacks__new(const struct fsmb_map *map, struct kallsyms *syms, struct stk_writer *writer,
		     struct text_stacks **ret_stacks)
{
	struct text_stacks *t = calloc(1, sizeof(*t));
	uint32_t i;

	if (!t)
		return -ENOMEM;
	t->map = map;
	t->syms = syms;
	t->writer = writer;
	for (i = 0; i < fsmb_map__nr(map); i++)
		t->next_id = MAX(t->next_id, fsmb_map__entry(map, i)->id);
	t->next_id++;
	*ret_stacks = t;
	return 0;
}

void text_stacks__free(struct text_stacks *t)
{
	if (!t)
		return;
	string_table__clear(&t->lines);
	string_table__clear(&t->functions);
	string_table__clear(&t->stacks);
	free(t->frames);
	free(t->numbers);
	free(t);
}

uint32_t text_stacks__nr(const struct text_stacks *t)
{
	return t->stacks.nr;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static int write_symbol(struct text_stacks *t, uint64_t start, uint64_t size, const char *name,
			uint32_t name_len, const char *mod, uint32_t mod_len)
{
	char name_z[1025], mod_z[257];

	snprintf(name_z, sizeof(name_z), "%.*s", (int)MIN(name_len, 1024u), name);
	snprintf(mod_z, sizeof(mod_z), "%.*s", (int)MIN(mod_len, 256u), mod ?: "");
	return stk_writer__symbol(t->writer, start, size, name_z, mod_z);
}

static int write_kallsym(struct text_stacks *t, const struct kallsym *s)
{
	return s ? write_symbol(t, s->start, s->size, s->name, s->name_len, s->mod, s->mod_len) : 0;
}

/*
 * A symbol of unknown size reaches to the next symbol: one without a name behind it keeps it from
 * naming other addresses.
 */
static int write_unsized(struct text_stacks *t, uint64_t start, const struct trace_frame *f)
{
	return write_symbol(t, start, 0, f->name, f->name_len, f->mod, f->mod_len) ?:
		       stk_writer__symbol(t->writer, start + 1, 0, "", "");
}

static int with_address(struct text_stacks *t, const struct trace_frame *f,
			struct text_frame *ret_frame)
{
	const struct kallsym *before, *at;
	int err;

	*ret_frame = (struct text_frame){ .ip = f->address };
	if (!FRAME_IS_KERNEL(f->address)) {
		/* would mean something else in a recording */
		if (f->address >> FRAME_OFFSET_BITS)
			ret_frame->ip = 0;
		return 0;
	}
	before = t->syms ? kallsyms__find(t->syms, f->address - 1) : NULL;
	at = t->syms ? kallsyms__find(t->syms, f->address) : NULL;
	if (before || at) {
		err = write_kallsym(t, before);
		return err ?: write_kallsym(t, at);
	}
	if (!f->name_len)
		return 0;
	ret_frame->exact = !f->offset;
	if (f->has_offset && f->size)
		return write_symbol(t, f->address - f->offset, f->size, f->name, f->name_len,
				    f->mod, f->mod_len);
	return write_unsized(t, f->address, f);
}

/* Functions of one name differ by their size and module. */
static int function_number(struct text_stacks *t, const struct trace_frame *f, uint32_t *ret_number)
{
	char key[1400];
	int len =
		snprintf(key, sizeof(key), "%.*s/%llx[%.*s]", (int)MIN(f->name_len, 1024u), f->name,
			 (unsigned long long)f->size, (int)MIN(f->mod_len, 256u), f->mod ?: "");

	return string_table__number(&t->functions, key, (size_t)len, MAX_FUNCTIONS, ret_number);
}

/* A function whose address is neither in the text nor in kallsyms. */
static int without_address(struct text_stacks *t, const struct trace_frame *f,
			   struct text_frame *ret_frame)
{
	bool is_sized = f->size && f->size >= f->offset && !(f->size >> FUNCTION_BITS);
	uint64_t offset = is_sized ? f->offset : 0, start;
	uint32_t n;
	int is_new = function_number(t, f, &n);

	*ret_frame = (struct text_frame){ 0 };
	if (is_new < 0) /* no kernel has that many functions */
		return is_new == -E2BIG ? 0 : is_new;
	start = TEXT_STACKS_BASE + ((uint64_t)n << FUNCTION_BITS);
	*ret_frame = (struct text_frame){ .ip = start + offset, .exact = !offset };
	if (!is_new)
		return 0;
	if (is_sized)
		return write_symbol(t, start, f->size, f->name, f->name_len, f->mod, f->mod_len);
	return write_unsized(t, start, f);
}

/* Only names with an offset come with their module. */
static const struct kallsym *find_function(struct text_stacks *t, const struct trace_frame *f)
{
	const char *mod = f->has_offset ? f->mod ?: "" : NULL;
	const struct kallsym *s = NULL;

	if (t->syms && f->has_offset)
		s = kallsyms__named(t->syms, f->name, f->name_len, mod, f->mod_len, f->size);
	if (t->syms && !s)
		s = kallsyms__named(t->syms, f->name, f->name_len, mod, f->mod_len, 0);
	return s && FRAME_IS_KERNEL(s->start) && (!s->size || f->offset <= s->size) ? s : NULL;
}

static int resolve(struct text_stacks *t, const char *line, size_t len,
		   struct text_frame *ret_frame)
{
	const struct kallsym *s;
	struct trace_frame f;

	if (len == strlen(TRAMPOLINE) && !memcmp(line, TRAMPOLINE, len)) {
		*ret_frame = (struct text_frame){ .ip = FRAME_TRAMPOLINE };
		return 0;
	}
	trace_text__frame(line, len, &f);
	if (f.has_address)
		return with_address(t, &f, ret_frame);
	s = find_function(t, &f);
	if (!s)
		return without_address(t, &f, ret_frame);
	*ret_frame = (struct text_frame){ .ip = s->start + f.offset, .exact = !f.offset };
	return write_kallsym(t, s);
}

/* A line is resolved once. */
static int frame_of(struct text_stacks *t, const char *line, size_t len,
		    struct text_frame *ret_frame)
{
	int err;
	uint32_t n;

	err = string_table__number(&t->lines, line, len, UINT32_MAX, &n);
	if (err < 0)
		return err;
	if (err > 0) {
		if (array__grow(&t->frames, t->nr_frames, &t->cap_frames))
			return -ENOMEM;
		err = resolve(t, line, len, &t->frames[t->nr_frames]);
		if (err)
			return err;
		t->nr_frames++;
	}
	*ret_frame = t->frames[n];
	return 0;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* As many frames as a recording holds; then the stack is truncated. */
static int words_of(struct text_stacks *t, const char *p, size_t len,
		    uint64_t ret_words[2 * STK_MAX_DEPTH], unsigned int *ret_nr)
{
	const char *end = p + len, *line, *next;
	unsigned int depth = 0, nr = 0;
	struct text_frame f;
	int err;

	for (; p < end; p = next) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		next = nl ? nl + 1 : end;
		line = p + (nr && next - p >= 4 ? 4 : 0); /* " => " */
		if (depth == STK_MAX_DEPTH || nr + 3 > 2 * STK_MAX_DEPTH) {
			ret_words[nr++] = FRAME_MARKER(FRAME_END, STK_END_TRUNCATED);
			break;
		}
		err = frame_of(t, line, (size_t)((nl ?: end) - line), &f);
		if (err)
			return err;
		if (f.exact)
			ret_words[nr++] = FRAME_MARKER(FRAME_EXACT, 0);
		ret_words[nr++] = f.ip;
		depth++;
	}
	*ret_nr = nr;
	return 0;
}

static int write_stack(struct text_stacks *t, const char *frames, size_t len, uint32_t *ret_number)
{
	uint64_t words[2 * STK_MAX_DEPTH];
	unsigned int nr;
	uint32_t index;
	int err;

	err = words_of(t, frames, len, words, &nr);
	if (err)
		return err;
	while (!fsmb_map__find(t->map, t->next_id, &index))
		t->next_id++;
	return stk_writer__stack_imported(t->writer, words, nr, t->next_id++, 0, ret_number);
}

int text_stacks__number(struct text_stacks *t, const char *frames, size_t len, uint32_t *ret_number)
{
	uint32_t n;
	int err;

	err = string_table__number(&t->stacks, frames, len, UINT32_MAX, &n);
	if (err < 0)
		return err;
	if (err > 0) {
		if (array__grow(&t->numbers, t->nr_numbers, &t->cap_numbers))
			return -ENOMEM;
		err = write_stack(t, frames, len, &t->numbers[t->nr_numbers]);
		if (err)
			return err;
		t->nr_numbers++;
	}
	*ret_number = t->numbers[n];
	return 0;
}
