// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Resolves stacks to frames and kernel addresses to symbols. */
#include "many.h"

#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "frame.h"

/* ---- symbols --------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct rd_symbol *x = a, *y = b;

	return CMP(x->start, y->start) ?: CMP(x->seq, y->seq);
}

/* Prepares s for index i: computes its reach and notes whether the array is still sorted. */
void rd_symbols_follow(struct stk_reader *r, size_t i, struct rd_symbol *s)
{
	const struct rd_symbol *before = i ? &r->symbols[i - 1] : NULL;
	uint64_t last = s->start + (s->size ? s->size - 1 : 0);

	s->reach = last < s->start ? UINT64_MAX : last;
	if (before && before->reach > s->reach)
		s->reach = before->reach;
	if (before && before->start > s->start)
		r->symbols_unsorted = true;
}

static int sort_symbols(struct stk_reader *r)
{
	if (!budget__work(&r->budget, BUDGET_WORK_SORT * r->nr_symbols))
		return -ENOBUFS;
	qsort(r->symbols, r->nr_symbols, sizeof(*r->symbols), by_start);
	for (size_t i = 0; i < r->nr_symbols; i++)
		rd_symbols_follow(r, i, &r->symbols[i]);
	r->symbols_unsorted = false;
	return 0;
}

/*
 * Whether s is the better symbol for a node that was read after `blocks` SYMBOLS blocks: prefer the
 * last block before the node, or else the first block after it; within a block the last symbol.
 */
static bool better(const struct rd_symbol *s, const struct rd_symbol *best, uint32_t blocks)
{
	if (!best || (s->block < blocks) != (best->block < blocks))
		return !best || s->block < blocks;
	if (s->block == best->block)
		return s->seq > best->seq;
	return (s->block > best->block) == (s->block < blocks);
}

/* NULL: no symbol, or one without a name, which says that no symbol covers the address. */
static const struct rd_symbol *find_symbol(struct stk_reader *r, uint64_t addr, uint32_t blocks)
{
	const struct rd_symbol *best = NULL, *nearest, *s;
	size_t lo;

	if (r->symbols_unsorted && sort_symbols(r))
		return NULL;
	lo = array__bisect(r->nr_symbols, i, r->symbols[i].start <= addr);
	nearest = lo ? &r->symbols[lo - 1] : NULL;
	for (int i = 0; lo && i < RD_MAX_OVERLAP; i++, lo--) {
		s = &r->symbols[lo - 1];
		if (s->reach < addr && s->start != nearest->start)
			break;
		/* a symbol of unknown size reaches to the next start */
		if (s->size ? addr - s->start < s->size : s->start == nearest->start)
			best = better(s, best, blocks) ? s : best;
	}
	return best && *best->name ? best : NULL;
}

/* Whether addr is right behind s, and s is the padding before a function. */
static bool is_behind_padding(const struct rd_symbol *s, uint64_t addr)
{
	return !strncmp(s->name, "__pfx_", strlen("__pfx_")) && addr == s->start + s->size;
}

/*
 * Symbol of a kernel frame; a return address belongs to the call before it.  Padding calls nothing,
 * so the address behind it is no return address: mostly a retpoline was interrupted, which has the
 * address on the stack to jump there.
 */
const struct rd_symbol *rd_resolve(struct stk_reader *r, struct stk_frame *f, uint32_t blocks)
{
	const struct rd_symbol *s = find_symbol(r, f->exact ? f->ip : f->ip - 1, blocks), *at;

	if (s && !f->exact && is_behind_padding(s, f->ip)) {
		at = find_symbol(r, f->ip, blocks);
		f->exact = at;
		s = at ?: s;
	}
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

	if (r->many)
		r = r->many->last ? r->many->last->r : r->many->members[0].r;
	rd_resolve(r, &f, r->symbol_blocks);
	*ret_frame = f;
	return 0;
}

int stk_event__place(const struct stk_event *e, uint64_t addr, uint64_t *ret_place)
{
	if (e->r->member)
		return rd_many__place(e->r->member, addr, ret_place);
	*ret_place = addr;
	return 0;
}

int stk_reader__place_symbol(struct stk_reader *r, uint64_t place, struct stk_frame *ret_frame)
{
	if (!r->many)
		return stk_reader__kernel_symbol(r, place, ret_frame);
	rd_many__place_symbol(r, place, ret_frame);
	return 0;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

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

/* Whether the frame of the node, or the next one if it is a marker, is in the kernel. */
static bool is_kernel(const struct stk_reader *r, uint32_t node)
{
	while (node && FRAME_IS_MARKER(r->tree.nodes[node].frame))
		node = r->tree.nodes[node].parent;
	return node && FRAME_IS_KERNEL(r->tree.nodes[node].frame);
}

int stk_reader__frames(struct stk_reader *r, uint32_t number, struct stk_frame *ret_frames,
		       unsigned int max)
{
	bool exact = false, guessed = false, kernel = false;
	unsigned int n = 0;

	if (!number || number >= r->nr_stacks)
		return -ENOENT;
	for (uint32_t node = r->stacks[number].node; node; node = r->tree.nodes[node].parent) {
		const struct rd_symbol *s = NULL;
		uint64_t ip = r->tree.nodes[node].frame;
		struct stk_frame f = { .node = node, .parent = r->tree.nodes[node].parent };

		if (FRAME_IS_MARKER(ip)) {
			exact |= FRAME_MARKER_KIND(ip) == FRAME_EXACT;
			guessed |= FRAME_MARKER_KIND(ip) == FRAME_GUESS;
			continue;
		}
		if (n >= max) {
			n++;
			continue;
		}
		f.ip = ip;
		f.exact = exact;
		kernel = kernel || FRAME_IS_KERNEL(ip);
		if (FRAME_IS_KERNEL(ip)) {
			s = r->many ? rd_many__resolve(r, node, &f) :
				      rd_resolve(r, &f, r->info[node].symbol_blocks);
		} else if (ip == FRAME_TRAMPOLINE && (kernel || is_kernel(r, f.parent))) {
			f.sym = "[FTRACE TRAMPOLINE]";
		} else if (FRAME_IS_USER(ip)) {
			f.guessed = guessed;
			if (r->many)
				rd_many__resolve_user(r, ip, &f);
			else
				rd_resolve_user(r, ip, &f);
		} else {
			f.kind = STK_FRAME_UNKNOWN;
		}
		ret_frames[n++] = f;
		exact = s && s->irq_entry;
	}
	return n;
}
