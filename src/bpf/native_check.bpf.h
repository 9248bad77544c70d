/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares a record that a program filled from a tracepoint's arguments with the one that the
 * kernel fills for the same hit.  The first program, of type raw_tp, leaves its record in a set of
 * the CPU; a program of type tracepoint, which is attached later and so called after it, takes it
 * from there.
 *
 * A hit is known by three things: the event, the thread, and the place on the stack.  Both programs
 * are called from the same function, and what lies between the context of the first one and the
 * stack pointer in the registers of the second depends on that function and on the event's handlers
 * only.  So the difference of both addresses is the same for all hits of an event, and is learnt
 * with the first two records that agree.
 */
#ifndef NATIVE_CHECK_BPF_H
#define NATIVE_CHECK_BPF_H

#include "native_check.h"
#include "native_hole.bpf.h"

#define NATIVE_CHECK_ENTRIES 4 /* hits of interrupts that come between the two programs of one */

struct native_check_entry {
	u64 ctx; /* of the first program; 0: no record, odd: it is being written */
	u64 serial; /* grows with each entry of the CPU */
	u32 event, tid;
	u64 size;
	u64 rec[NATIVE_ROOM / 8];
};

struct native_check_cpu {
	u64 serial;
	u32 is_comparing, pad; /* meanwhile the kernel calls no second program on this CPU */
	u8 is_filling[WIRE_MAX_EVENTS]; /* meanwhile the kernel skips the event's first program */
	struct native_check_entry entry[NATIVE_CHECK_ENTRIES];
	u64 kernel[NATIVE_ROOM / 8 + 1];
};

/*
 * Fills the record of an event and leaves it for the second program.  The entry is marked with the
 * number of this hit until it is complete: interrupts with many hits may have taken it meanwhile,
 * and then their mark or record stays.
 */
#define native_check_leave(c, counts, id, ctx_)                                                    \
	({                                                                                         \
		u64 serial_ = __sync_fetch_and_add(&(c)->serial, 1);                               \
		struct native_check_entry *e_ = &(c)->entry[serial_ & (NATIVE_CHECK_ENTRIES - 1)]; \
		u32 id_ = (id) & (WIRE_MAX_EVENTS - 1);                                            \
		u64 own_, mark_ = serial_ << 1 | 1;                                                \
                                                                                                   \
		*(volatile u8 *)&(c)->is_filling[id_] = 1;                                         \
		*(volatile u64 *)&e_->ctx = mark_;                                                 \
		barrier();                                                                         \
		e_->size = native_fill(e_->rec, ctx_);                                             \
		e_->event = id_;                                                                   \
		e_->tid = (u32)bpf_get_current_pid_tgid();                                         \
		e_->serial = serial_;                                                              \
		asm volatile("%0 = %1" : "=r"(own_) : "r"(ctx_));                                  \
		barrier();                                                                         \
		if (e_->size)                                                                      \
			__sync_val_compare_and_swap(&e_->ctx, mark_, own_);                        \
		else if (*(volatile u64 *)&e_->ctx == mark_) /* the record is our own */           \
			__sync_fetch_and_add(&(counts)->unavailable, 1);                           \
		*(volatile u8 *)&(c)->is_filling[id_] = 0;                                         \
	})

/* The latest entry of this hit; sp: in the registers of the second program. */
static __always_inline struct native_check_entry *
native_check_find(struct native_check_cpu *c, const struct native_check *n, u32 event, u64 sp)
{
	struct native_check_entry *found = NULL;
	u32 tid = bpf_get_current_pid_tgid(), i;

	for (i = 0; i < NATIVE_CHECK_ENTRIES; i++) {
		struct native_check_entry *e = &c->entry[i];

		if (!e->ctx || e->ctx & 1 || e->event != event || e->tid != tid ||
		    (n->distance && sp - e->ctx != n->distance))
			continue;
		if (!found || found->serial < e->serial)
			found = e;
	}
	return found;
}

/* What two records differ in: in fields that may change between the two programs, and in others. */
struct native_difference {
	const struct native_check *n;
	const u64 *kernel, *own;
	u64 all, steady;
	u64 size; /* of both records */
	u64 at; /* the first word that differs in fields that may not; 0: none */
	u64 words[2]; /* the kernel's and our own there */
};

/* Compares a word.  The loop is the kernel's, so that the verifier looks at it once. */
static long native_check_word(u64 i, struct native_difference *d)
{
	u64 rest, x, is_field = ~0ull, is_steady = d->n->steady_strings;

	if (!i)
		return 0; /* the common fields */
	if (i >= NATIVE_ROOM / 8)
		return 1;
	if (i < NATIVE_MAX_FIXED / 8) {
		is_field = d->n->fields[i];
		is_steady = d->n->steady[i];
	}
	rest = d->size - i * 8;
	if (rest < 8)
		is_field &= (1ull << rest * 8) - 1;
	x = (d->kernel[i] ^ d->own[i]) & is_field;
	d->all |= x;
	d->steady |= x & is_steady;
	if (!d->at && x & is_steady) {
		d->at = i;
		d->words[0] = d->kernel[i];
		d->words[1] = d->own[i];
	}
	return 0;
}

/* ctx: the kernel's record. */
static __always_inline void native_check_compare(struct native_check_cpu *c, struct native_check *n,
						 struct native_check_entry *e, void *ctx, u64 sp)
{
	u64 serial = e->serial, own_ctx = e->ctx, size = e->size;
	struct native_difference d = { .n = n, .kernel = c->kernel, .own = e->rec, .size = size };

	if (size < 8 || size > NATIVE_ROOM)
		return;
	bpf_probe_read_kernel(c->kernel, size, ctx);
	bpf_loop((u32)(size + 7) / 8, native_check_word, &d, 0);
	/* an interrupt may have taken the entry */
	barrier();
	if (e->serial != serial || e->ctx != own_ctx) {
		__sync_fetch_and_add(&n->missed, 1);
		return;
	}
	*(volatile u64 *)&e->ctx = 0;
	if (!d.all) {
		n->distance = sp - own_ctx;
		__sync_fetch_and_add(&n->agreed, 1);
	} else if (!d.steady) {
		__sync_fetch_and_add(&n->changed, 1);
	} else if (!__sync_fetch_and_add(&n->differed, 1)) {
		n->at = d.at * 8;
		n->kernel = d.words[0];
		n->own = d.words[1];
	}
}

/* The second program. */
static __always_inline void native_check_hit(struct native_check_cpu *c, struct native_check *n,
					     u32 event, void *ctx)
{
	struct native_check_entry *e;
	u64 regs = 0, sp = 0;

	*(volatile u32 *)&c->is_comparing = 1;
	/* the kernel puts the address of the registers before the record's fields */
	bpf_probe_read_kernel(&regs, sizeof(regs), ctx);
	bpf_probe_read_kernel(&sp, sizeof(sp), (void *)(regs + n->sp_at));
	e = c->is_filling[event & (WIRE_MAX_EVENTS - 1)] ? NULL :
							   native_check_find(c, n, event, sp);
	if (e)
		native_check_compare(c, n, e, ctx, sp);
	else
		__sync_fetch_and_add(&n->missed, 1);
	*(volatile u32 *)&c->is_comparing = 0;
}

#endif /* NATIVE_CHECK_BPF_H */
