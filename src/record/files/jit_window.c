// SPDX-License-Identifier: GPL-2.0-only
/* Collects rules of generated code and builds tables of them. */
#include "jit_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "frame.h"
#include "jit_source.h"
#include "seeded_hash.h"
#include "symbols/jit_symbols.h"
#include "unwind/builder.h"
#include "unwind/cfi.h"
#include "unwind/return_path.h"
#include "wire.h"

#define WINDOW (1ull << WIRE_JIT_BITS)
#define PAGE (1ull << UNW_PAGE_SHIFT)
#define MAX_PLACES (1u << 16)
#define MAX_RANGES (1u << 17) /* of a dump in one window: more would take too long */
#define MAX_CFI (64u << 20) /* bytes of .eh_frame that are read for a table of the window, */
#define MAX_CFI_PAGE (4u << 20) /* and for one of a page */
#define MAX_EARLIER 4096 /* functions that are searched for an earlier one */
#define NONE (UNW_ESCAPE | UNW_NONE)
#define UNSEEN (UNW_ESCAPE | UNW_UNSEEN)

/* An instruction that a stack passed, and the rule that was found for it. */
struct place {
	uint64_t addr; /* of a call: of its last byte */
	uint32_t rule;
	bool exact;
	uint16_t len; /* bytes of code that were read for it; 0: none */
	uint64_t hash; /* of these */
};

struct jit_window {
	struct jit_source *source;
	uint64_t start; /* first address */
	uint64_t high; /* address minus offset */
	struct place *places; /* by address */
	uint32_t nr, cap;
	struct unw_rules rules;
	struct unwind_table *at; /* of one page, returned last */
	size_t dumped; /* functions in the dump when the whole table was built */
	bool changed; /* since then */
	uint64_t seed;
};

int jit_window__new(uint64_t start, struct jit_source *source, struct jit_window **ret_window)
{
	struct jit_window *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->source = jit_source__share(source);
	w->start = start & ~(WINDOW - 1);
	w->high = start & ~((1ull << FRAME_OFFSET_BITS) - 1);
	w->seed = seeded_hash__seed();
	*ret_window = w;
	return 0;
}

void jit_window__free(struct jit_window *w)
{
	if (!w)
		return;
	jit_source__free(w->source);
	unw_rules__free(&w->rules);
	unwind__free(w->at);
	free(w->places);
	free(w);
}

/* ---- places ---------------------------------------------------------------------------------- */

static size_t first_place(const struct jit_window *w, uint64_t addr)
{
	return array__bisect(w->nr, i, w->places[i].addr < addr);
}

static int find_rule(struct jit_window *w, struct place *p)
{
	uint8_t code[RETURN_PATH_MAX];
	struct unw_state state;
	size_t len;
	ssize_t n;

	p->rule = NONE;
	/* what runs next in the frame */
	n = jit_source__code(w->source, p->addr + !p->exact, code, sizeof(code));
	if (n <= 0 || !return_path__find(code, (size_t)n, &state, &len))
		return 0;
	p->len = (uint16_t)len;
	p->hash = seeded_hash__bytes(w->seed, code, len);
	return unw_rules__encode(&w->rules, &state, &p->rule);
}

static int add_place(struct jit_window *w, uint64_t addr, bool exact)
{
	struct place p = { .addr = addr, .exact = exact };
	size_t i = first_place(w, addr);
	int err = find_rule(w, &p);

	if (err || w->nr == MAX_PLACES)
		return err;
	if (array__grow(&w->places, w->nr, &w->cap))
		return -ENOMEM;
	memmove(w->places + i + 1, w->places + i, (w->nr - i) * sizeof(*w->places));
	w->places[i] = p;
	w->nr++;
	w->changed = true;
	return 0;
}

/* Code that was read at once, for several places. */
struct chunk {
	uint64_t start;
	size_t len;
	uint8_t bytes[PAGE + RETURN_PATH_MAX];
};

static bool is_same(const struct jit_window *w, const struct place *p, struct chunk *c)
{
	uint64_t start = p->addr + !p->exact;
	ssize_t n;

	if (!p->len)
		return true;
	if (start < c->start || start + p->len > c->start + c->len) {
		n = jit_source__code(w->source, start, c->bytes, sizeof(c->bytes));
		c->start = start;
		c->len = n < 0 ? 0 : (size_t)n;
	}
	/* after the process has exited, no stack passes here */
	if (!c->len)
		return true;
	return c->len - (start - c->start) >= p->len &&
	       seeded_hash__bytes(w->seed, c->bytes + (start - c->start), p->len) == p->hash;
}

void jit_window__check(struct jit_window *w)
{
	struct chunk c = { 0 };
	uint32_t i, nr = 0;

	for (i = 0; i < w->nr; i++)
		if (is_same(w, &w->places[i], &c))
			w->places[nr++] = w->places[i];
	w->changed |= nr != w->nr;
	w->nr = nr;
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct building {
	struct jit_window *w;
	struct unw_builder b;
	struct unw_cfi cfi; /* of one function */
	uint64_t start, end; /* of what it covers here */
	uint64_t addr, ts; /* this address is of interest, at that time */
	uint64_t cfi_left; /* bytes of .eh_frame that may still be read */
	uint64_t unknown;
};

/* Code that no dump describes. */
static void put_places(struct building *m, uint64_t start, uint64_t end)
{
	struct jit_window *w = m->w;
	uint32_t other = w->nr < MAX_PLACES ? UNSEEN : NONE;

	if (start >= end)
		return;
	unw_builder__range(&m->b, start - w->high, end - w->high);
	unw_builder__row(&m->b, start - w->high, other);
	for (size_t i = first_place(w, start); i < w->nr && w->places[i].addr < end; i++) {
		unw_builder__row(&m->b, w->places[i].addr - w->high, w->places[i].rule);
		unw_builder__row(&m->b, w->places[i].addr + 1 - w->high, other);
	}
}

#define MAX_BEFORE (1u << 20) /* bytes of a function before the part that is wanted */

/* The rule that applies where the part starts, in the middle of the function. */
static int put_first(struct building *m, const struct unw_fde *fde)
{
	uint64_t high = m->w->high;
	struct unwind_table t = { 0 };
	struct unw_builder b;
	int err;

	if (m->start == fde->start || m->start - fde->start > MAX_BEFORE || fde->start < high)
		return 0;
	err = unw_builder__init(&b, fde->start - high, m->start + 1 - high);
	if (!err) {
		unw_builder__range(&b, fde->start - high, m->start + 1 - high);
		err = unw_cfi__run(&m->cfi, fde, -high, &m->w->rules, &b, &m->unknown);
	}
	err = err ?: unw_builder__finish(&b, &m->w->rules, &t);
	if (!err)
		unw_builder__row(&m->b, m->start - high, unwind__find(&t, m->start - high));
	unw_builder__free(&b);
	free(t.words);
	return err;
}

static int put_fde(void *ctx, uint64_t pos, const struct unw_fde *fde)
{
	struct building *m = ctx;
	int err;

	(void)pos;
	if (fde->start > m->start || fde->end <= m->start)
		return 0;
	err = put_first(m, fde);
	if (!err)
		err = unw_cfi__run(&m->cfi, fde, -m->w->high, &m->w->rules, &m->b, &m->unknown);
	return err ?: 1;
}

/* The part [start, end) of a function that has .eh_frame. */
static int put_function(struct building *m, const struct jit_symbols *s,
			const struct jit_function *f, uint64_t start, uint64_t end)
{
	int err;

	m->cfi = (struct unw_cfi){
		.bytes = { .p = s->frames + f->frames.at, .len = f->frames.len },
		.vaddr = f->frames.vaddr,
		.base = f->frames.vaddr + f->frames.len, /* .eh_frame_hdr follows */
		.max_fdes = UINT64_MAX,
		.eh = true,
		.stop_at_zero = true,
	};
	m->start = start;
	m->end = end;
	unw_builder__range(&m->b, start - m->w->high, end - m->w->high);
	err = unw_cfi__each(&m->cfi, put_fde, m);
	return MIN(err, 0);
}

/* NULL: the code has no tables. */
static const struct jit_function *with_frames(const struct jit_function *f)
{
	return f->frames.len ? f : NULL;
}

/* The function that has a range; where it came later, the one at the address of interest before. */
static const struct jit_function *function_of(const struct building *m, const struct jit_symbols *s,
					      const struct jit_range *r)
{
	const struct jit_function *f = &s->v[r->function];

	if (f->ts <= m->ts)
		return with_frames(f);
	if (m->addr < r->start || m->addr >= r->end)
		return NULL;
	for (unsigned int i = 0; i < MAX_EARLIER && f-- != s->v; i++)
		if (f->ts <= m->ts && f->start <= m->addr && m->addr < f->end)
			return with_frames(f);
	return NULL;
}

/* False: too much was read for other functions, which may share bytes of which none are of use. */
static bool may_read(struct building *m, const struct jit_function *f)
{
	if (f->frames.len > m->cfi_left)
		return false;
	m->cfi_left -= f->frames.len;
	return true;
}

/* Adds the ranges of the dump between two addresses, and what is between these ranges. */
static int put_all(struct building *m, uint64_t from, uint64_t to)
{
	const struct jit_symbols *s = jit_source__dumped(m->w->source);
	size_t i = array__bisect(s->nr_ranges, k, s->ranges[k].end <= from);
	size_t end = array__bisect(s->nr_ranges, k, s->ranges[k].start < to);
	int err = 0;

	for (i = end - i > MAX_RANGES ? end : i; i < end && !err; i++) {
		const struct jit_range *r = &s->ranges[i];
		const struct jit_function *f = function_of(m, s, r);
		uint64_t first = MAX(r->start, from), last = MIN(r->end, to);

		if (!f || !may_read(m, f))
			continue;
		first = MAX(first, f->start);
		last = MIN(last, f->end);
		put_places(m, from, first);
		err = put_function(m, s, f, first, last);
		from = last;
	}
	if (!err)
		put_places(m, from, to);
	return err;
}

static int build(struct building *m, uint64_t from, uint64_t to, struct unwind_table **ret_table)
{
	struct unwind_table *t = calloc(1, sizeof(*t));
	uint64_t high = m->w->high;
	int err = t ? unw_builder__init(&m->b, from - high, to - high) : -ENOMEM;

	err = err ?: put_all(m, from, to);
	err = err ?: unw_builder__finish(&m->b, &m->w->rules, t);
	unw_builder__free(&m->b);
	if (err) {
		unwind__free(t);
		return err;
	}
	*ret_table = t;
	return 0;
}

static int build_page(struct jit_window *w, uint64_t addr, uint64_t ts)
{
	struct building m = { .w = w, .addr = addr, .ts = ts, .cfi_left = MAX_CFI_PAGE };
	uint64_t page = addr & ~(PAGE - 1);

	unwind__free(w->at);
	w->at = NULL;
	return build(&m, page, page + PAGE, &w->at);
}

const struct unwind_table *jit_window__at(struct jit_window *w, uint64_t offset, bool exact,
					  uint64_t ts)
{
	uint64_t addr = w->high | offset;
	int err = jit_source__poll(w->source);

	err = err ?: build_page(w, addr, ts);
	if (!err && unwind__find(w->at, offset) == UNSEEN) {
		err = add_place(w, addr, exact);
		err = err ?: build_page(w, addr, ts);
	}
	return err ? NULL : w->at;
}

int jit_window__table(struct jit_window *w, struct unwind_table **ret_table)
{
	size_t dumped = jit_source__nr_dumped(w->source);
	struct building m = { .w = w, .ts = UINT64_MAX, .cfi_left = MAX_CFI };
	int err;

	*ret_table = NULL;
	w->changed |= dumped != w->dumped;
	if (!w->changed)
		return 0;
	err = build(&m, w->start, w->start + WINDOW, ret_table);
	if (err)
		return err;
	w->dumped = dumped;
	w->changed = false;
	return 0;
}

void jit_window__forget(struct jit_window *w)
{
	w->changed = true;
}
