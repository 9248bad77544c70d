/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When events were lost.  Losses that begin in the same bin are merged once there are many.
 */
#ifndef VIEW_LOSS_LIST_H
#define VIEW_LOSS_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct view_data;

#define VIEW_MAX_LOSSES (1u << 15)

struct view_loss {
	uint64_t first, last; /* ns of the recording's clock; last UINT64_MAX: to the end */
	uint32_t cpu; /* + 1; 0: any */
	uint32_t type; /* index + 1; 0: any */
	uint64_t count; /* 0: unknown */
	bool skipped; /* samples that were not taken, see losses.h */
};

/* Zero is empty. */
struct view_losses {
	struct view_loss *v;
	uint32_t nr, max;
	bool lacks_types, lacks_cpus; /* what was merged has none */
};

/* d has the bins.  -ENOMEM. */
int view_losses__add(struct view_losses *l, const struct view_loss *loss,
		     const struct view_data *d);
uint64_t view_losses__memory(const struct view_losses *l); /* bytes */
void view_losses__clear(struct view_losses *l);

#endif /* VIEW_LOSS_LIST_H */
