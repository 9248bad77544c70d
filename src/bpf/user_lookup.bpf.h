/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks: lookups of a step of the walk, which are words of the stack, the mapping of an
 * address and the rule in its unwind table.
 */
#ifndef USER_LOOKUP_BPF_H
#define USER_LOOKUP_BPF_H

#include <bpf/bpf_tracing.h>

#include "user_file.bpf.h"

/* ---- reading the stack ----------------------------------------------------------------------- */

/* Moves the window to addr; 0: the word there was readable; else the window may be empty. */
__noinline int user_refill(struct user_walk *u, u64 addr)
{
	u64 len;

	if (!u || addr & 7)
		return 1;
	len = u->stack_hi - addr;
	if (len > USER_WINDOW * 8) /* outside of the stack, or the rest does not fit */
		len = USER_WINDOW * 8;
	if (u->hi != addr && u->extent && len > u->extent)
		len = u->extent;
	if (len < 8)
		return 1;
	asm volatile("" : "+r"(len));
	if (len > USER_WINDOW * 8)
		return 1;
	if (bpf_probe_read_user(u->window, len, (void *)addr)) {
		/* try the rest of this page */
		len = 4096 - (addr & 4095);
		asm volatile("" : "+r"(len));
		if (len > USER_WINDOW * 8 || bpf_probe_read_user(u->window, len, (void *)addr)) {
			u->lo = u->hi = 0; /* what was read before is overwritten */
			return 1;
		}
	}
	u->lo = addr;
	u->hi = addr + len;
	return 0;
}

static __always_inline int user_read(struct user_walk *u, u64 addr, u64 *ret)
{
	u64 at = addr - u->lo;

	if (at >= USER_WINDOW * 8 || at & 7 || addr + 8 > u->hi) {
		if (user_refill(u, addr))
			return bpf_probe_read_user(ret, 8, (void *)addr);
		at = 0;
	}
	at >>= 3;
	asm volatile("" : "+r"(at));
	*ret = u->window[at & (USER_WINDOW - 1)];
	if (addr > u->top)
		u->top = addr;
	return 0;
}

static __always_inline int unw_read(struct unw_walk *w, u64 addr, u64 *ret)
{
	return user_read((struct user_walk *)w, addr, ret);
}

static __always_inline int unw_read_regs(struct unw_walk *w, u64 addr)
{
	return bpf_probe_read_user(w->tmp, sizeof(w->tmp), (void *)addr);
}

#include "unwind/step.h"

/* ---- mappings -------------------------------------------------------------------------------- */

static __always_inline struct user_vma *thread_vma(struct user_thread *t, u32 i)
{
	asm volatile("" : "+r"(i));
	return &t->vma[i & (USER_VMAS - 1)];
}

/* Forgets the known stacks that need one of these mappings, which are replaced. */
static __always_inline void known_forget(struct user_thread *t, u32 vmas)
{
	u32 i;

#pragma clang loop unroll(full)
	for (i = 0; i < USER_KNOWN; i++)
		if (t->known[i].vmas & vmas)
			t->known[i].nr = 0;
}

/* Copies the current location of the file's table into the mapping. */
static __always_inline void vma_table(struct user_vma *v, u32 generation)
{
	u32 id = v->id;
	struct wire_file *f = bpf_map_lookup_elem(&files, &id);

	v->generation = generation;
	v->state = WIRE_FILE_NO_CFI;
	if (!id || !f)
		return;
	v->state = *(volatile u32 *)&f->state;
	barrier(); /* the recorder writes state last when it publishes a table */
	v->table = f->table;
	v->first_page = f->first_page;
	v->nr_pages = f->nr_pages;
	v->rules = f->rules;
	f->used = user_ctl.epoch;
}

/* Whether u->area is the mapping that is remembered, its file aside. */
static __always_inline bool vma_is_area(struct user_walk *u, const struct user_vma *v)
{
	if (v->key.kind == WIRE_KEY_JIT)
		area_window(&u->area, v->start);
	return u->area.start == v->start && u->area.end == v->end && u->area.flags & VM_EXEC &&
	       u->area.file == v->file &&
	       (!v->file || u->area.start - (u->area.pgoff << UNW_PAGE_SHIFT) == v->delta);
}

static __always_inline bool vma_is_same(struct user_walk *u, const struct user_vma *v)
{
	return !area_find(u, v->start) && vma_is_area(u, v) &&
	       (!v->file || key_equal(&u->area.key, &v->key));
}

/* Whether the mapping did not change since it was last checked. */
static __always_inline bool vma_is_checked(struct user_walk *u, const struct user_vma *v)
{
	if (v->epoch != u->epoch) /* once a second the file, too: it may have been overwritten */
		return false;
	if (u->stable)
		return v->seq == u->seq;
	return area_linked(u, &v->link, v->start) && vma_is_area(u, v);
}

/*
 * Checks that a remembered mapping is still the same; 0: it is.  Otherwise the remembered stack
 * becomes invalid.
 */
__noinline int vma_check(struct user_walk *u, struct user_thread *t, u32 i)
{
	struct user_vma *v;

	if (!u || !t)
		return 1;
	v = thread_vma(t, i);
	if (v->generation != u->generation) {
		vma_table(v, u->generation);
		t->nr_frames = 0;
	}
	if (vma_is_checked(u, v))
		return 0;
	if (!vma_is_same(u, v)) {
		v->end = 0; /* contains no address */
		t->nr_frames = 0;
		return 1;
	}
	v->seq = u->seq;
	v->epoch = u->epoch;
	v->link = u->link;
	return 0;
}

/* The index of the executable mapping at pc, or USER_VMAS: pc is not in one. */
__noinline u32 vma_get(struct user_walk *u, struct user_thread *t, u64 pc)
{
	struct user_vma *v;
	u32 i;

	if (!u || !t)
		return USER_VMAS;
#pragma clang loop unroll(disable)
	for (i = 0; i < USER_VMAS; i++) {
		v = thread_vma(t, i);
		if (pc - v->start < v->end - v->start && v->end && !vma_check(u, t, i))
			return i;
	}
	if (area_find(u, pc) || !(u->area.flags & VM_EXEC))
		return USER_VMAS;
	i = t->nr_vmas;
	t->nr_vmas = i + 1;
	i &= USER_VMAS - 1;
	if (t->vmas >> i & 1)
		t->nr_frames = 0;
	known_forget(t, 1u << i);
	if (u->vmas >> i & 1) /* this stack needs more mappings than a thread remembers */
		u->forget = 1;
	v = thread_vma(t, i);
	v->end = 0;
	v->link = u->link;
	v->id = file_id(u, pc);
	if (u->area.key.kind == WIRE_KEY_JIT)
		area_window(&u->area, pc);
	v->start = u->area.start;
	v->file = u->area.file;
	v->key = u->area.key;
	v->delta = area_delta(&u->area, v->id);
	v->seq = u->seq;
	v->epoch = u->epoch;
	vma_table(v, u->generation);
	v->end = u->area.end;
	return i;
}

/* Finds the end of the stack's mapping, beyond which nothing is read. */
static __always_inline void stack_area(struct user_walk *u, struct user_thread *t)
{
	u64 sp = u->w.sp;

	if (t->stack_lo <= sp && sp < t->stack_hi && u->stable && t->stack_seq == u->seq) {
		u->stack_hi = t->stack_hi;
		return;
	}
	u->stack_hi = 0;
	t->stack_hi = 0;
	if (u->stable || !area_linked(u, &t->stack_link, sp)) {
		if (area_find(u, sp))
			return;
		t->stack_link = u->link;
	}
	t->stack_lo = u->area.start;
	t->stack_hi = u->area.end;
	t->stack_seq = u->seq;
	u->stack_hi = u->area.end;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static __always_inline u32 *table_chunk(u32 address)
{
	u32 chunk = address / UNW_CHUNK_WORDS, i = chunk / WIRE_SLAB_CHUNKS;
	void *slab = bpf_map_lookup_elem(&slabs, &i);
	struct slab_chunk *c;

	if (!slab)
		return NULL;
	i = chunk & (WIRE_SLAB_CHUNKS - 1);
	c = bpf_map_lookup_elem(slab, &i);
	return c ? c->word : NULL;
}

static __always_inline u32 chunk_word(const u32 *chunk, u32 i)
{
	asm volatile("" : "+r"(i));
	return chunk[i & (UNW_CHUNK_WORDS - 1)];
}

static __always_inline u64 table_u64(u32 address)
{
	u32 *chunk = table_chunk(address), at = address & (UNW_CHUNK_WORDS - 1);

	if (!chunk)
		return 0;
	return chunk_word(chunk, at) | (u64)chunk_word(chunk, at | 1) << 32;
}

/*
 * lo += 1 << bit if the row there belongs to the page and is not above the offset.  Without
 * branches, because the verifier would follow both directions at each bit.
 */
#define ROW_HALVE(bit)                                                      \
	do {                                                                \
		u64 mid = lo + (1u << (bit)), row = chunk_word(chunk, mid); \
		lo += ((mid - end) & (row - above)) >> 63 << (bit);         \
	} while (0)

/* The rule for an offset in a page; page is its entry in the table. */
static __always_inline u32 row_find(u32 table, u64 page, u64 off)
{
	u32 *chunk = table_chunk(table + (u32)page), nr = page >> 32 & 0xffff;
	u64 above = (off + 1) << 20, lo, end;

	if (!chunk || !nr)
		return UNW_ESCAPE | UNW_NONE;
	lo = (table + (u32)page) & (UNW_CHUNK_WORDS - 1);
	end = lo + nr;
	if (nr > 256) {
		ROW_HALVE(11);
		ROW_HALVE(10);
		ROW_HALVE(9);
		ROW_HALVE(8);
	}
	ROW_HALVE(7);
	ROW_HALVE(6);
	ROW_HALVE(5);
	ROW_HALVE(4);
	ROW_HALVE(3);
	ROW_HALVE(2);
	ROW_HALVE(1);
	ROW_HALVE(0);
	return UNW_ROW_RULE(chunk_word(chunk, lo));
}

static __always_inline u32 rule_find(struct user_vma *v, u64 off)
{
	u64 page = (off >> UNW_PAGE_SHIFT) - v->first_page;

	if (page >= v->nr_pages)
		return UNW_ESCAPE | UNW_NONE;
	return row_find(v->table, table_u64(v->table + 2 * (u32)page),
			off & ((1 << UNW_PAGE_SHIFT) - 1));
}

/*
 * Rules are remembered in the memory that a walk has for itself, so nothing interferes.  Those that
 * stand for a rule of 64 bits are not: they are indexes into a table, and while it is replaced, two
 * threads may see different tables in one generation.
 */
static __always_inline bool rule_is_kept(u32 rule)
{
	return !(rule & UNW_ESCAPE) || (rule & ~UNW_ESCAPE) <= UNW_SIGNAL;
}

static __always_inline struct user_rule *rule_slot(struct user_walk *u, u64 place)
{
	u64 i = place * 0x9e3779b97f4a7c15ull >> 32;

	asm volatile("" : "+r"(i));
	return &u->rules[i & (USER_RULES - 1)];
}

/* The rule for the frame at pc, remembered or searched for. */
static __always_inline u32 rule_get(struct user_walk *u, struct user_vma *v, u64 pc)
{
	u64 place = FRAME_USER(v->id, pc + 1 - v->delta);
	struct user_rule *r = rule_slot(u, place);
	u32 rule;

	if (r->place == place && r->generation == u->generation)
		return r->rule;
	rule = rule_find(v, pc - v->delta);
	if (rule_is_kept(rule)) {
		r->place = place;
		r->generation = u->generation;
		r->rule = rule;
	}
	return rule;
}

#endif /* USER_LOOKUP_BPF_H */
