/* SPDX-License-Identifier: GPL-2.0-only */
/* The ring of a perf event, in which the kernel says that it throttled the event. */
#ifndef RECORD_SAMPLE_RING_H
#define RECORD_SAMPLE_RING_H

#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

/*
 * Takes all records out of the ring, whose data is one page after its control page, and returns how
 * often the kernel throttled the event.  Throttle and unthrottle records alternate, so half of the
 * records that found no room count as throttling.
 */
uint64_t sample_ring__throttled(struct perf_event_mmap_page *ring, size_t page);

#endif /* RECORD_SAMPLE_RING_H */
