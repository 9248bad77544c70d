/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The writer of struct wire_loss, compiled for BPF and for the unit tests.  At each step an
 * interrupt or NMI may lose an event of the same type on the same CPU, and the recorder may take
 * the times.
 */
#ifndef LOSS_BPF_H
#define LOSS_BPF_H

#include "wire.h"

#define LOSS_TRIES 8 /* each failed attempt was interrupted by a loss or by the recorder */

static inline __attribute__((always_inline)) void loss_note(struct wire_loss *l, __wire_u64 ts)
{
	__wire_u64 old;
	int i;

	__sync_fetch_and_add(&l->begun, 1);
#ifdef __bpf__
#pragma clang loop unroll(disable)
#endif
	for (i = 0; i < LOSS_TRIES; i++) {
		old = *(volatile __wire_u64 *)&l->first;
		if ((old && old <= ts) || __sync_val_compare_and_swap(&l->first, old, ts) == old)
			break;
	}
	if (i == LOSS_TRIES)
		*(volatile __wire_u64 *)&l->first = WIRE_LOSS_ANY_FIRST;
#ifdef __bpf__
#pragma clang loop unroll(disable)
#endif
	for (i = 0; i < LOSS_TRIES; i++) {
		old = *(volatile __wire_u64 *)&l->last;
		if (old >= ts || __sync_val_compare_and_swap(&l->last, old, ts) == old)
			break;
	}
	if (i == LOSS_TRIES)
		*(volatile __wire_u64 *)&l->last = WIRE_LOSS_ANY_LAST;
	__sync_fetch_and_add(&l->done, 1);
}

#endif /* LOSS_BPF_H */
