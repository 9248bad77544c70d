/* SPDX-License-Identifier: GPL-2.0-only */
/* Turns the losses that the BPF programs note (struct wire_loss) into losses of the recording. */
#ifndef RECORD_PENDING_LOSSES_H
#define RECORD_PENDING_LOSSES_H

#include <stdint.h>

struct event_counts;
struct pending_losses;

struct stk_writer_loss;
/* Takes one loss; returns 0, or a negative errno, which ends pending_losses__take(). */
typedef int (*pending_loss_fn)(void *ctx, const struct stk_writer_loss *loss);

/*
 * counts: by event, then CPU; loss_pending: by CPU.  Both are memory shared with the BPF programs
 * and borrowed.  -ENOMEM.
 */
int pending_losses__new(struct event_counts *counts, uint32_t *loss_pending, unsigned int nr_events,
			unsigned int nr_cpus, struct pending_losses **ret_losses);
void pending_losses__free(struct pending_losses *l);

/* Sets the earliest possible time of a loss, in ns of the recording's clock. */
void pending_losses__since(struct pending_losses *l, uint64_t start);

/*
 * Passes the losses since the last call to fn.  A loss that is being noted at that time is left to
 * the next call.
 */
int pending_losses__take(struct pending_losses *l, pending_loss_fn fn, void *ctx);

#endif /* RECORD_PENDING_LOSSES_H */
