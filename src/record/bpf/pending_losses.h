/* SPDX-License-Identifier: GPL-2.0-only */
/* From what the kernel's side notes of lost events (struct wire_loss) to the recording's losses. */
#ifndef RECORD_PENDING_LOSSES_H
#define RECORD_PENDING_LOSSES_H

#include <stdint.h>

struct event_counts;
struct pending_losses;

struct stk_writer_loss;
/* Takes one; 0 or a negative errno, which ends the taking. */
typedef int (*pending_loss_fn)(void *ctx, const struct stk_writer_loss *loss);

/*
 * counts: by event, then CPU; losing: by CPU.  Both are shared with the kernel's side and borrowed.
 * -ENOMEM.
 */
int pending_losses__new(struct event_counts *counts, uint32_t *losing, unsigned int nr_events,
			unsigned int nr_cpus, struct pending_losses **ret_losses);
void pending_losses__free(struct pending_losses *l);

/* No loss is older than this, ns of the recording's clock. */
void pending_losses__since(struct pending_losses *l, uint64_t start);

/*
 * Hands over what was lost since the last call.  A loss that is being written meanwhile comes with the
 * next call.
 */
int pending_losses__take(struct pending_losses *l, pending_loss_fn fn, void *ctx);

#endif /* RECORD_PENDING_LOSSES_H */
