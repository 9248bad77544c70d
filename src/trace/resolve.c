// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Stacks as frames, and kernel addresses as symbols. */
#include "trace/reader.h"

#include "frame.h"

/* ---- symbols -------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct rd_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* In order; of several with one start the last that was read stays. */
static void sort_symbols(struct stk_reader *r)
{
	size_t nr = 0;

	qsort(r->symbols, r->nr_symbols, sizeof(*r->symbols), by_start);
	for (size_t i = 0; i < r->nr_symbols; i++) {
		if (nr && r->symbols[nr - 1].start == r->symbols[i].start)
			nr--;
		r->symbols[nr++] = r->symbols[i];
	}
	r->nr_symbols = nr;
	r->symbols_unsorted = false;
}

static const struct rd_symbol *find_symbol(struct stk_reader *r, uint64_t addr)
{
	const struct rd_symbol *s;
	size_t lo = 0, hi;

	if (r->symbols_unsorted)
		sort_symbols(r);
	hi = r->nr_symbols;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->symbols[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	s = &r->symbols[lo - 1];
	return s->size && addr - s->start >= s->size ? NULL : s;
}

/* Symbol of a kernel frame; a return address belongs to the call before it. */
static const struct rd_symbol *resolve(struct stk_reader *r, struct stk_frame *f)
{
	const struct rd_symbol *s = find_symbol(r, f->exact ? f->ip : f->ip - 1);

	if (!s)
		return NULL;
	f->sym = s->name;
	f->mod = s->module;
	f->off = f->ip - s->start;
	f->size = s->size;
	return s;
}

int stk_reader__kernel_symbol(struct stk_reader *r, uint64_t addr, struct stk_frame *ret_frame)
{
	struct stk_frame f = { .kind = STK_FRAME_KERNEL, .ip = addr, .exact = true };

	resolve(r, &f);
	*ret_frame = f;
	return 0;
}

/* ---- stacks --------------------------------------------------------------------------------- */

uint32_t stk_reader__nr_stacks(const struct stk_reader *r)
{
	return r->nr_stacks - 1;
}

int stk_reader__stack(const struct stk_reader *r, uint32_t number, struct stk_stack *ret_stack)
{
	const struct rd_stack *s;

	if (!number || number >= r->nr_stacks)
		return -ENOENT;
	s = &r->stacks[number];
	*ret_stack = (struct stk_stack){
		.number = number,
		.id = s->id,
		.alias_of = s->alias_of,
		.depth = r->info[s->node].depth,
		.end = r->info[s->node].end,
		.generation = s->generation,
		.refs = s->refs,
	};
	return 0;
}

int stk_reader__frames(struct stk_reader *r, uint32_t number, struct stk_frame *ret_frames,
		       unsigned int max)
{
	unsigned int n = 0;
	bool exact = false;

	if (!number || number >= r->nr_stacks)
		return -ENOENT;
	for (uint32_t node = r->stacks[number].node; node; node = r->tree.nodes[node].parent) {
		const struct rd_symbol *s = NULL;
		uint64_t ip = r->tree.nodes[node].frame;
		struct stk_frame f = { .node = node, .parent = r->tree.nodes[node].parent };

		if (FRAME_IS_MARKER(ip)) {
			exact |= FRAME_MARKER_KIND(ip) == FRAME_EXACT;
			continue;
		}
		if (n >= max) {
			n++;
			continue;
		}
		f.ip = ip;
		f.exact = exact;
		f.kind = ip >> 63 ? STK_FRAME_KERNEL : STK_FRAME_USER;
		if (FRAME_IS_KERNEL(ip))
			s = resolve(r, &f);
		else if (f.kind == STK_FRAME_USER)
			f.ip &= (1ULL << 40) - 1;
		else
			f.kind = STK_FRAME_UNKNOWN;
		ret_frames[n++] = f;
		exact = s && s->irq_entry;
	}
	return n;
}
