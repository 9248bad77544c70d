/* SPDX-License-Identifier: GPL-2.0-only */
/* The reader of a CPU's ring of events, see src/bpf/ring.bpf.h. */
#ifndef RECORD_EVENT_RING_H
#define RECORD_EVENT_RING_H

#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct event_ring {
	struct wire_ring_pos *pos;
	struct wire_rings layout;
	char **parts;
};

/* The memory of each part, with its slack. */
static inline size_t event_ring__part_bytes(const struct wire_rings *layout)
{
	return (size_t)layout->mask + sizeof(uint64_t) + WIRE_RING_SLACK;
}

/* The bytes of a record in the ring: all begin at words. */
static inline size_t event_ring__size(const struct wire_head *h)
{
	return ((size_t)h->len + 7) & ~(size_t)7;
}

/* The bytes that the programs have reserved and that have not been removed. */
uint64_t event_ring__used(const struct event_ring *r);

/*
 * Finds the oldest complete records that are in one piece, until they reach max bytes: their
 * bytes, 0 if there are none, or -EPROTO: what is there is not a record.
 */
int64_t event_ring__peek(const struct event_ring *r, size_t max, char **ret_records);

/* Removes what event_ring__peek() has found. */
void event_ring__remove(struct event_ring *r, char *records, size_t len);

#endif /* RECORD_EVENT_RING_H */
