/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the walk of kwalk_walk.h needs at one address: the words of the stack, and the rule that
 * leads from an instruction to its caller.  Only kwalk_walk.h includes this; it lists what must be
 * defined before.
 */
#ifndef KWALK_RULES_H
#define KWALK_RULES_H

#include "kwalk_layout.h"

/* One stack and the state of its walk, in memory that the caller does not share during the walk. */
struct kwalk_stack {
	__u64 ip, sp, bp;
	__u64 bp_at; /* where bp must be read before it is used; 0: it has been read */
	__u64 task; /* the task's stack: its lowest address */
	__u64 low, size; /* of the stack that the walk must not leave; both 0: unknown */
	__u64 modules; /* kwalk_modules.valid if the walk looked there, else 0 */
	__u32 nr; /* words */
	__u32 most; /* the maximum of nr */
	__u32 signal; /* ip is an interrupted instruction */
	__u32 stop; /* enum kwalk_stop; if not KWALK_DONE, the walk gave up at ip */
	__u32 copied; /* bytes of copy, which come from `from` */
	__u32 entered; /* low, size and copy are those of the walk's start */
	__u64 from;
	__u64 tag; /* of the memos for this walk; 0: not to be remembered, no steps are noted */
	__u64 base; /* what the steps are relative to */
	__u64 odd; /* not 0: the walk cannot be expressed as steps */
	__u32 nr_steps; /* noted; KWALK_STEPS and more: too many to remember */
	__u32 in_base; /* bp is base itself, else it was read as a step */
	__u32 pair; /* the first of the two memos for this walk */
	__u32 own; /* frames of the tracer at the innermost end of bpf_get_stack()'s words */
	__u32 at_limit; /* words are those of bpf_get_stack(), which may have been cut */
	struct {
		__u64 base, held; /* rbp, if it was read for a later step */
		__u64 low, last; /* the stack: its lowest word, and from there to the last */
	} replay;
	__u64 steps[KWALK_STEPS];
	__u64 copy[KWALK_COPY / 8];
	__u64 before; /* not written: room for a word of the caller in front of the frames */
	__u64 words[KWALK_MAX_FRAMES + 1]; /* innermost first */
};

/* ---- reading --------------------------------------------------------------------------------- */

KWALK_INLINE __u64 kwalk_read(const struct kwalk_stack *s, __u64 addr)
{
	__u64 at = addr - s->from;

	if (!kwalk_settings.text_size)
		return 0;
	if (kwalk_settings.reader == KWALK_BY_COPY && at < s->copied && !(at & 7))
		return s->copy[(at >> 3) & (KWALK_COPY / 8 - 1)];
	return kwalk_load(addr);
}

/* Copies the stack from sp on; if the bounds are unknown, only to the end of the page. */
KWALK_INLINE void kwalk_copy(struct kwalk_stack *s)
{
	__u64 n = s->size ? s->low + s->size - s->sp : 4096 - (s->sp & 4095);

	if (kwalk_settings.reader != KWALK_BY_COPY)
		return;
	if (n > KWALK_COPY)
		n = KWALK_COPY;
	s->from = s->sp;
	s->copied = kwalk_copy_from(s->copy, n, s->sp) ? 0 : n & ~7ull;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* A global function is verified once, not once for each path that leads to it. */
KWALK_GLOBAL __u32 kwalk_search(__u32 at)
{
	__u32 block = at >> KWALK_BLOCK_SHIFT, low = at & (KWALK_BLOCK - 1), first, more, half, mid,
	      i;
	struct kwalk_block *b = kwalk_get_block(block);
	struct kwalk_row *row;

	if (!b)
		return KWALK_RULE_NONE;
	first = b->first;
	more = b->more;
	KWALK_LOOP
	for (i = 0; i < 9 && more; i++) {
		half = (more + 1) >> 1;
		mid = first + half;
		row = kwalk_get_row(mid);
		if (!row)
			return KWALK_RULE_NONE;
		if (row->offset <= low) {
			first = mid;
			more -= half;
		} else {
			more = half - 1;
		}
	}
	row = kwalk_get_row(first);
	return row ? row->rule : KWALK_RULE_NONE;
}

/*
 * Where a tracer has replaced a return address, no rule applies.  pc is one byte before the return
 * address, where the call was, or the return address itself if an interrupt came there.
 */
KWALK_INLINE bool kwalk_is_hidden(__u32 pc)
{
	__u32 i;

	for (i = 0; i < KWALK_RETURNS; i++)
		if (kwalk_settings.returns[i] && pc + 1 - kwalk_settings.returns[i] < 2)
			return true;
	return false;
}

/* The rule for an address in the kernel's text, whose upper half is always ones. */
KWALK_INLINE __u32 kwalk_rule(__u64 addr)
{
	__u32 pc = addr, key = (pc ^ pc >> 13) & (KWALK_CACHE - 1), rule;
	__u64 *e = kwalk_get_cached(key), v;

	if (!e)
		return KWALK_RULE_NONE;
	v = kwalk_get64(e);
	if (v >> 32 == pc)
		return v;
	rule = kwalk_is_hidden(pc) ? KWALK_RULE_NONE :
				     kwalk_search(pc - (__u32)kwalk_settings.text);
	kwalk_set64(e, (__u64)pc << 32 | rule);
	return rule;
}

/* Whether the tables of modules are those of a walk that found this in kwalk_modules.valid. */
KWALK_INLINE bool kwalk_tables_hold(__u64 valid)
{
	struct kwalk_modules *m = kwalk_get_modules();

	return m && kwalk_get64(&m->valid) == valid && kwalk_get64(&m->changed) + 1 == valid;
}

KWALK_INLINE bool kwalk_modules_hold(const struct kwalk_stack *s)
{
	return kwalk_tables_hold(s->modules);
}

/*
 * The rule for an instruction outside the kernel's own text.  It is not cached, because it must not
 * outlive its module.  With frame pointers it is the same for all text of modules.
 */
KWALK_GLOBAL __u32 kwalk_module_rule(struct kwalk_stack *s, __u64 addr)
{
	struct kwalk_modules *m = kwalk_get_modules();
	__u32 low = 0, nr, i, mid;
	struct kwalk_module *e;

	if (!s || !m)
		return KWALK_RULE_NONE;
	if (!s->modules)
		s->modules = kwalk_get64(&m->valid);
	if (!s->modules)
		return KWALK_RULE_NONE;
	nr = m->nr;
	KWALK_LOOP
	for (i = 0; i < 11 && nr; i++) {
		mid = low + (nr >> 1);
		e = &m->module[mid & (KWALK_MAX_MODULES - 1)];
		if (addr - e->text < e->size)
			return kwalk_settings.unwinder == KWALK_FRAME_POINTERS ?
				       KWALK_RULE(KWALK_CALL_BP, 16, -2) :
				       kwalk_search((e->block << KWALK_BLOCK_SHIFT) +
						    (addr - e->text));
		if (addr < e->text) {
			nr >>= 1;
		} else {
			nr -= (nr >> 1) + 1;
			low = mid + 1;
		}
	}
	return KWALK_RULE_NONE;
}

#endif /* KWALK_RULES_H */
