// SPDX-License-Identifier: GPL-2.0-only
/* Assigns functions to places and times. */
#include "jit_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "frame.h"
#include "stackonce.h"
#include "symbols/jit_symbols.h"
#include "trace/write/writer.h"

#define NO_FUNCTION UINT32_MAX
#define UNNAMED_LEVEL 255 /* so many functions at one place have a name, one after the other */

/* An offset for which a name is needed. */
struct place {
	uint64_t offset;
	uint32_t last; /* function, NO_FUNCTION: none yet */
	int level; /* highest one of the functions here that have one; -1: none */
	bool unclear;
};

/*
 * A function at a place, from its time on.  Each level is a file, in which a place is looked up by
 * its offset alone: functions of one level have no place in common, but for the last level, whose
 * file has no names.
 */
struct stay {
	int level;
	uint32_t function;
	uint64_t offset;
};

struct names {
	const struct jit_symbols *s;
	uint64_t base;
	struct place *places; /* by offset */
	size_t nr_places, cap_places;
	struct stay *stays;
	size_t nr_stays, cap_stays;
	uint64_t *work;
};

static void names_done(struct names *n)
{
	free(n->places);
	free(n->stays);
}

/* ---- places ---------------------------------------------------------------------------------- */

static int add_place(struct names *n, uint64_t offset)
{
	if (n->nr_places && n->places[n->nr_places - 1].offset >= offset)
		return 0;
	if (array__grow(&n->places, n->nr_places, &n->cap_places))
		return -ENOMEM;
	n->places[n->nr_places++] =
		(struct place){ .offset = offset, .last = NO_FUNCTION, .level = -1 };
	return 0;
}

/* Both kinds of frames: exact ones, and return addresses, whose call ends one byte before. */
static int add_places(struct names *n, const uint64_t *frames, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		uint64_t offset = FRAME_OFFSET(frames[i]);

		err = offset ? add_place(n, offset - 1) : 0;
		err = err ?: add_place(n, offset);
	}
	return err;
}

/* The places [*ret_first, return value) are in the function. */
static size_t places_of(const struct names *n, const struct jit_function *f, size_t *ret_first)
{
	uint64_t start = f->start > n->base ? f->start - n->base : 0;
	uint64_t end = f->end > n->base ? f->end - n->base : 0;

	*ret_first = array__bisect(n->nr_places, i, n->places[i].offset < start);
	return array__bisect(n->nr_places, i, n->places[i].offset < end);
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool same_name(const struct names *n, uint32_t a, uint32_t b)
{
	uint32_t x = n->s->v[a].name, y = n->s->v[b].name;

	return x == y ||
	       (x != JIT_NO_NAME && y != JIT_NO_NAME && !strcmp(n->s->names + x, n->s->names + y));
}

/* The same function, announced once more. */
static bool same_function(const struct names *n, uint32_t a, uint32_t b)
{
	return n->s->v[a].start == n->s->v[b].start && n->s->v[a].end == n->s->v[b].end &&
	       same_name(n, a, b);
}

static int add_stay(struct names *n, struct stay stay)
{
	if (array__grow(&n->stays, n->nr_stays, &n->cap_stays))
		return -ENOMEM;
	n->stays[n->nr_stays++] = stay;
	return 0;
}

/* The first level at which no function has one of these places; it is taken. */
static int take_level(struct names *n, size_t first, size_t end)
{
	int level = 0;

	for (size_t i = first; i < end; i++)
		level = MAX(level, n->places[i].level + 1);
	level = MIN(level, UNNAMED_LEVEL);
	for (size_t i = first; i < end; i++)
		n->places[i].level = level;
	return level;
}

/* A function of which no time is known replaces the names of its places. */
static int put_untimed(struct names *n, uint32_t function, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		struct place *p = &n->places[i];

		p->unclear |= p->last != NO_FUNCTION && !same_name(n, p->last, function);
		p->last = function;
	}
	return 0;
}

/* It has these places from the beginning on, unless it was replaced. */
static int keep_untimed(struct names *n, uint32_t function, size_t first, size_t end)
{
	int level = -1, err = 0;

	for (size_t i = first; i < end && !err; i++) {
		if (n->places[i].last != function)
			continue;
		if (level < 0)
			level = take_level(n, first, end);
		err = add_stay(n, (struct stay){ level, function, n->places[i].offset });
	}
	return err;
}

/* All these places have it already: none of them was another function's meanwhile. */
static bool has_all(const struct names *n, uint32_t function, size_t first, size_t end)
{
	uint32_t last = n->places[first].last;

	if (last == NO_FUNCTION || !same_function(n, last, function))
		return false;
	while (first < end && n->places[first].last == last)
		first++;
	return first == end;
}

static int put_timed(struct names *n, uint32_t function, size_t first, size_t end)
{
	int level, err = 0;

	if (has_all(n, function, first, end))
		return 0;
	level = take_level(n, first, end);
	for (size_t i = first; i < end && !err; i++) {
		n->places[i].last = function;
		err = add_stay(n, (struct stay){ level, function, n->places[i].offset });
	}
	return err;
}

/* Calls fn for the functions with or without a time that have places. */
static int each_function(struct names *n, bool timed,
			 int (*fn)(struct names *n, uint32_t function, size_t first, size_t end))
{
	int err = 0;

	for (uint32_t i = 0; i < n->s->nr && !err && *n->work < JIT_NAMES_WORK; i++) {
		size_t first, end = places_of(n, &n->s->v[i], &first);

		if (first >= end || timed != (n->s->v[i].ts != 0))
			continue;
		*n->work += end - first;
		err = fn(n, i, first, end);
	}
	return err;
}

/* ---- the recording --------------------------------------------------------------------------- */

static int by_level(const void *a, const void *b)
{
	const struct stay *x = a, *y = b;

	return CMP(x->level, y->level) ?: CMP(x->offset, y->offset);
}

/* Stays of one level; number: of its file. */
static int write_symbols(const struct names *n, const struct stay *v, size_t nr, uint32_t number,
			 struct stk_writer *w)
{
	_cleanup_free_ struct stk_user_symbol *symbols = calloc(nr, sizeof(*symbols));
	size_t out = 0;

	if (!symbols)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct jit_function *f = &n->s->v[v[i].function];

		if (f->name == JIT_NO_NAME || f->start < n->base ||
		    (i && v[i - 1].function == v[i].function))
			continue;
		symbols[out++] = (struct stk_user_symbol){ n->s->names + f->name,
							   f->start - n->base, f->end - f->start };
	}
	/* without any symbols nothing is written, so that they can be added from another source */
	return out ? stk_writer__user_symbols(w, number, symbols, out) : 0;
}

static int write_level(const struct names *n, const struct stay *v, size_t nr,
		       const struct stk_file *file, int64_t to_clock, struct stk_writer *w)
{
	struct stk_file info = *file;
	struct stk_writer_replaced r = { .file = file->number };
	int err = 0;

	info.number = 0;
	if (v->level)
		err = stk_writer__file(w, &info, &info.number);
	r.by = info.number;
	for (size_t i = 0; i < nr && v->level && !err; i++) {
		r.offset = v[i].offset;
		r.ts = n->s->v[v[i].function].ts;
		r.ts += r.ts ? to_clock : 0; /* 0: at all times */
		err = stk_writer__replaced(w, &r);
	}
	if (err || v->level == UNNAMED_LEVEL)
		return err;
	return write_symbols(n, v, nr, v->level ? info.number : file->number, w);
}

/* A frame has two places, see add_places(). */
static unsigned int count_unclear(const struct names *n)
{
	unsigned int nr = 0;
	size_t i;

	for (i = 0; i < n->nr_places; i++) {
		nr += n->places[i].unclear;
		if (n->places[i].unclear && i + 1 < n->nr_places &&
		    n->places[i + 1].offset == n->places[i].offset + 1)
			i++;
	}
	return nr;
}

int jit_names__write(const struct jit_symbols *s, const struct stk_file *file,
		     const uint64_t *frames, size_t nr, int64_t to_clock, struct stk_writer *w,
		     uint64_t *work, unsigned int *unclear)
{
	_cleanup_(names_done) struct names n = { .s = s, .base = file->base, .work = work };
	int err = add_places(&n, frames, nr), too_long = 0;
	size_t i, end;

	err = err ?: each_function(&n, false, put_untimed);
	err = err ?: each_function(&n, false, keep_untimed);
	err = err ?: each_function(&n, true, put_timed);
	*unclear += count_unclear(&n);
	if (n.nr_stays)
		qsort(n.stays, n.nr_stays, sizeof(*n.stays), by_level);
	for (i = 0; i < n.nr_stays && !err; i = end) {
		for (end = i + 1; end < n.nr_stays && n.stays[end].level == n.stays[i].level; end++)
			;
		err = write_level(&n, n.stays + i, end - i, file, to_clock, w);
		if (err == -E2BIG) { /* the other levels still say when they apply */
			too_long = err;
			err = 0;
		}
	}
	return err ?: too_long;
}
