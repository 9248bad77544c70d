// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the generated function at an address; later functions replace earlier ones where they
 * overlap.
 */
#include "jit_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"

#define MAX_NAMES (256u << 20)

int jit_symbols__new(struct jit_symbols **ret_symbols)
{
	struct jit_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*ret_symbols = s;
	return 0;
}

void jit_symbols__free(struct jit_symbols *s)
{
	if (!s)
		return;
	free(s->v);
	free(s->names);
	free(s->ranges);
	free(s->frames);
	free(s->loaded);
	index__free(&s->by_code_index);
	free(s);
}

uint64_t jit_symbols__bad(const struct jit_symbols *s)
{
	return s->bad;
}

int jit_symbols__put(struct jit_symbols *s, const struct jit_function *f)
{
	if (s->nr == JIT_MAX_FUNCTIONS)
		return -EFBIG;
	if (array__grow(&s->v, s->nr, &s->cap))
		return -ENOMEM;
	s->v[s->nr++] = *f;
	return 0;
}

int jit_symbols__put_name(struct jit_symbols *s, const char *name, size_t len, uint32_t *ret_name)
{
	len = MIN(len, (size_t)JIT_MAX_NAME);
	if (s->names_len + len >= MAX_NAMES)
		return -EFBIG;
	if (array__reserve(&s->names, s->names_len + len + 1, &s->names_cap))
		return -ENOMEM;
	memcpy(s->names + s->names_len, name, len);
	s->names[s->names_len + len] = '\0';
	*ret_name = s->names_len;
	s->names_len += len + 1;
	return 0;
}

size_t jit_symbols__trim(struct jit_symbols *s)
{
	size_t size = s->nr * sizeof(*s->v);
	void *p;

	free(s->ranges);
	free(s->frames);
	free(s->loaded);
	index__free(&s->by_code_index);
	s->ranges = NULL;
	s->frames = NULL;
	s->loaded = NULL;
	s->nr_ranges = s->frames_len = s->frames_cap = s->nr_loaded = s->cap_loaded = 0;
	p = size ? realloc(s->v, size) : NULL;
	s->v = p ?: s->v;
	p = s->names_len ? realloc(s->names, s->names_len) : NULL;
	s->names = p ?: s->names;
	s->cap = s->nr;
	s->names_cap = s->names_len;
	return size + s->names_len;
}

/* ---- address ranges -------------------------------------------------------------------------- */

/* A binary heap of the functions at the current address, the one added last on top. */
struct heap {
	uint32_t *v;
	size_t nr;
};

static void heap_push(struct heap *h, uint32_t value)
{
	size_t i = h->nr++;

	for (; i && h->v[(i - 1) / 2] < value; i = (i - 1) / 2)
		h->v[i] = h->v[(i - 1) / 2];
	h->v[i] = value;
}

static void heap_pop(struct heap *h)
{
	uint32_t last = h->v[--h->nr];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->nr) {
		if (child + 1 < h->nr && h->v[child + 1] > h->v[child])
			child++;
		if (h->v[child] <= last)
			break;
		h->v[i] = h->v[child];
		i = child;
	}
	h->v[i] = last;
}

static int by_start(const void *pa, const void *pb, void *ctx)
{
	const struct jit_function *v = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return CMP(v[a].start, v[b].start) ?: CMP(a, b);
}

static void put_range(struct jit_symbols *s, uint64_t start, uint64_t end, uint32_t function)
{
	struct jit_range *last = s->nr_ranges ? &s->ranges[s->nr_ranges - 1] : NULL;

	if (last && last->end == start && last->function == function)
		last->end = end;
	else
		s->ranges[s->nr_ranges++] = (struct jit_range){ start, end, function };
}

/* Goes from one start or end of a function to the next. */
static void sweep(struct jit_symbols *s, const uint32_t *order, struct heap *h)
{
	uint64_t at = 0;
	size_t next = 0;

	while (next < s->nr || h->nr) {
		uint64_t end;

		if (!h->nr)
			at = s->v[order[next]].start;
		while (next < s->nr && s->v[order[next]].start <= at)
			heap_push(h, order[next++]);
		end = s->v[h->v[0]].end;
		if (end <= at) {
			heap_pop(h);
			continue;
		}
		if (next < s->nr)
			end = MIN(end, s->v[order[next]].start);
		put_range(s, at, end, h->v[0]);
		at = end;
	}
}

int jit_symbols__settle(struct jit_symbols *s)
{
	_cleanup_free_ uint32_t *order = malloc((s->nr + 1) * sizeof(*order));
	_cleanup_free_ uint32_t *active = malloc((s->nr + 1) * sizeof(*active));
	struct heap h = { .v = active };
	struct jit_range *ranges;

	if (!order || !active)
		return -ENOMEM;
	ranges = realloc(s->ranges, (2 * s->nr + 1) * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	s->ranges = ranges;
	s->nr_ranges = 0;
	for (size_t i = 0; i < s->nr; i++)
		order[i] = i;
	qsort_r(order, s->nr, sizeof(*order), by_start, s->v);
	sweep(s, order, &h);
	return 0;
}

int jit_symbols__find(const struct jit_symbols *s, uint64_t addr, struct elf_symbol *ret_symbol)
{
	size_t low = array__bisect(s->nr_ranges, i, s->ranges[i].start <= addr);
	const struct jit_function *f;

	if (!low || addr >= s->ranges[low - 1].end)
		return -ENOENT;
	f = &s->v[s->ranges[low - 1].function];
	if (f->name == JIT_NO_NAME)
		return -ENOENT;
	ret_symbol->name = s->names + f->name;
	ret_symbol->start = f->start;
	ret_symbol->size = f->end - f->start;
	return 0;
}
