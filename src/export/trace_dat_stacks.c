// SPDX-License-Identifier: GPL-2.0-only
/* Stacks of a trace.dat file, and the functions that they name. */
#include "trace_dat_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "named_frames.h"
#include "seeded_hash.h"
#include "trace_entry.h"

#define WORK_FRAME 64 /* of a frame, for stk_reader__charge() */
#define MAX_ADDRESSES (1u << 20) /* of fields; functions of further ones may have no name */
#define UNKNOWN "[unknown]" /* what follows the last function, and gaps */

/* ---- memory ---------------------------------------------------------------------------------- */

static int charge(struct trace_dat_stacks *s, uint64_t work)
{
	uint64_t memory = ((uint64_t)s->nr[0] + s->nr[1]) * sizeof(**s->v) + s->entries.cap +
			  s->max_symbols * sizeof(*s->symbols) +
			  s->max_addresses * sizeof(*s->addresses) +
			  index__memory(&s->address_index) + string_table__memory(&s->names);
	int err = stk_reader__charge(s->src->reader, (int64_t)(memory - s->memory), work);

	if (!err)
		s->memory = memory;
	return err;
}

/* Other errors mean that the recording does not have what was asked for. */
static bool is_fatal(int err)
{
	return err == -ENOMEM || err == -ENOBUFS;
}

/* ---- functions of the kernel ----------------------------------------------------------------- */

/* A word of kallsyms: no blanks, nothing that terminals act on. */
static int intern(struct trace_dat_stacks *s, const char *name, uint32_t *ret_number)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	size_t i;

	strbuf__text(&b, name);
	for (i = 0; i < b.len; i++)
		if (b.s[i] == ' ')
			b.s[i] = '_';
	if (strbuf__failed(&b))
		return -ENOMEM;
	return string_table__intern(&s->names, b.s ?: "", ret_number);
}

/*
 * Without a size, the function ends behind the address: libtraceevent takes it to extend to the
 * next one otherwise.
 */
static int add_symbol(struct trace_dat_stacks *s, const struct stk_frame *f)
{
	struct trace_dat_symbol symbol = { .start = f->ip - f->off };
	int err;

	if (!f->sym || !*f->sym)
		return 0;
	symbol.end = symbol.start + MAX(f->size, f->off + 1);
	err = array__grow(&s->symbols, s->nr_symbols, &s->max_symbols);
	err = err ?: intern(s, f->sym, &symbol.name);
	err = err ?: intern(s, f->mod ?: "", &symbol.module);
	if (!err)
		s->symbols[s->nr_symbols++] = symbol;
	return err;
}

int trace_dat_stacks__add_address(struct trace_dat_stacks *s, uint64_t address)
{
	struct stk_frame f;
	uint64_t hash;
	uint32_t i;
	int err;

	s->seed = s->seed ?: seeded_hash__seed();
	hash = seeded_hash__u64(s->seed, s->seed, address);
	index__for_each(&s->address_index, hash, i)
		if (s->addresses[i] == address)
			return 0;
	if (s->nr_addresses == MAX_ADDRESSES)
		return 0;
	if (array__grow(&s->addresses, s->nr_addresses, &s->max_addresses) ||
	    index__add(&s->address_index, hash, s->nr_addresses))
		return -ENOMEM;
	s->addresses[s->nr_addresses++] = address;
	err = stk_reader__kernel_symbol(s->src->reader, address, &f);
	if (!err)
		err = add_symbol(s, &f);
	return is_fatal(err) ? err : charge(s, WORK_FRAME);
}

static int by_start(const void *a, const void *b)
{
	const struct trace_dat_symbol *x = a, *y = b;

	return CMP(x->start, y->start);
}

static void put_symbol(struct strbuf *b, uint64_t start, const char *name, const char *module)
{
	strbuf__hex(b, start, 16);
	strbuf__puts(b, " t ");
	strbuf__puts(b, name);
	if (*module)
		strbuf__printf(b, "\t[%s]", module);
	strbuf__putc(b, '\n');
}

/* A function that code replaced has several names: the first is as good as any. */
void trace_dat_stacks__kallsyms(struct trace_dat_stacks *s, struct strbuf *b)
{
	const struct trace_dat_symbol *v = s->symbols;
	uint64_t end = 0; /* of what is covered */
	uint32_t i;

	if (s->nr_symbols)
		qsort(s->symbols, s->nr_symbols, sizeof(*s->symbols), by_start);
	for (i = 0; i < s->nr_symbols; i++) {
		if (!i || v[i].start != v[i - 1].start)
			put_symbol(b, v[i].start, string_table__get(&s->names, v[i].name),
				   string_table__get(&s->names, v[i].module));
		end = MAX(end, v[i].end);
		if (i + 1 == s->nr_symbols || end < v[i + 1].start)
			put_symbol(b, end, UNKNOWN, "");
	}
}

/* ---- entries --------------------------------------------------------------------------------- */

static void put_u32(struct strbuf *b, uint32_t v)
{
	strbuf__add(b, (const char *)&v, sizeof(v));
}

/* ftrace's kernel_stack: the number of addresses, and these, aligned. */
static int put_kernel(struct trace_dat_stacks *s, const struct stk_frame *frames, unsigned int nr)
{
	unsigned int i;
	int err = 0;

	put_u32(&s->entries, nr);
	put_u32(&s->entries, 0);
	for (i = 0; i < nr && !err; i++) {
		strbuf__add(&s->entries, (const char *)&frames[i].ip, sizeof(frames[i].ip));
		err = add_symbol(s, &frames[i]);
	}
	return err;
}

static void put_user_frame(const struct trace_dat_stacks *s, struct strbuf *b,
			   const struct stk_frame *f)
{
	const char *function = export_source__function(s->src, f);
	_cleanup_(strbuf__free) struct strbuf name = { 0 };

	if (f->guessed)
		strbuf__puts(b, "? ");
	if (function) {
		strbuf__printf(&name, "%s+0x%" PRIx64, function, f->off);
		if (f->mod)
			strbuf__printf(&name, *f->mod == '[' ? " %s" : " [%s]", f->mod);
	} else {
		export_frame__put_unnamed(f, &name);
	}
	b->failed |= strbuf__failed(&name);
	strbuf__text(b, name.s ?: "");
}

/* Innermost first, as `script` prints them, and as many as there is room for. */
static void put_user_text(const struct trace_dat_stacks *s, struct strbuf *b,
			  const struct stk_frame *frames, unsigned int nr, enum stk_stack_end end)
{
	unsigned int i;
	size_t len = 0;

	for (i = 0; i < nr; i++) {
		if (i)
			strbuf__puts(b, " <- ");
		put_user_frame(s, b, &frames[i]);
		if (b->len > TRACE_DAT_USER_TEXT)
			break;
		len = b->len;
	}
	if (i < nr && !strbuf__failed(b)) {
		b->len = len;
		strbuf__printf(b, "%s... %u more", i ? " <- " : "", nr - i);
	}
	if (end != STK_END_COMPLETE)
		strbuf__printf(b, " (%s)", stk_stack_end_name(end));
}

/* The stack id, where the text lies, and the text with its NUL. */
static int put_user(struct trace_dat_stacks *s, const struct stk_stack *st,
		    const struct stk_frame *frames, unsigned int nr)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	put_user_text(s, &text, frames, nr, st->end);
	s->entries.failed |= strbuf__failed(&text);
	put_u32(&s->entries, st->id);
	put_u32(&s->entries, (uint32_t)(text.len + 1) << 16 | (TRACE_ENTRY_SIZE + 8));
	strbuf__add(&s->entries, text.s ?: "", text.len + 1);
	return 0;
}

static int add_stack(struct trace_dat_stacks *s, uint32_t number, bool is_user)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	struct trace_dat_stack *to;
	struct stk_stack st;
	uint64_t at = s->entries.len;
	int nr, err = 0;

	if (number >= s->nr[is_user] && array__reach(&s->v[is_user], number, &s->nr[is_user]))
		return -ENOMEM;
	to = &s->v[is_user][number];
	nr = stk_reader__stack(s->src->reader, number, &st) ?:
		     stk_reader__frames(s->src->reader, number, frames, STK_MAX_DEPTH);
	if (is_fatal(nr))
		return nr;
	nr = MIN(nr, STK_MAX_DEPTH);
	if (nr > 0) {
		err = is_user ? put_user(s, &st, frames, nr) : put_kernel(s, frames, nr);
		s->nr_written++;
	}
	if (err || strbuf__failed(&s->entries))
		return -ENOMEM;
	*to = (struct trace_dat_stack){ at, s->entries.len - at, true };
	return charge(s, nr > 0 ? (uint64_t)nr * WORK_FRAME : 1);
}

int trace_dat_stacks__get(struct trace_dat_stacks *s, uint32_t number, bool is_user,
			  const char **ret_entry, size_t *ret_len)
{
	const struct trace_dat_stack *st;
	int err;

	*ret_len = 0;
	if (!number)
		return 0;
	if (number >= s->nr[is_user] || !s->v[is_user][number].known) {
		err = add_stack(s, number, is_user);
		if (err)
			return err;
	}
	st = &s->v[is_user][number];
	*ret_entry = s->entries.s + st->at;
	*ret_len = st->len;
	return 0;
}

void trace_dat_stacks__clear(struct trace_dat_stacks *s)
{
	if (s->memory)
		stk_reader__charge(s->src->reader, -(int64_t)s->memory, 0);
	free(s->v[0]);
	free(s->v[1]);
	strbuf__free(&s->entries);
	free(s->symbols);
	string_table__clear(&s->names);
	free(s->addresses);
	index__free(&s->address_index);
}
