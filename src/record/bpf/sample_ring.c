// SPDX-License-Identifier: GPL-2.0-only
/* Reads the throttle records of perf events; see perf_event_open(2). */
#include "sample_ring.h"

#include <string.h>
#include <linux/perf_event.h>

/* A u64 of the data; records are multiples of 8 bytes, so none is split. */
static uint64_t word_at(const struct perf_event_mmap_page *ring, size_t page, uint64_t at)
{
	uint64_t word;

	memcpy(&word, (const char *)ring + page + at % page, sizeof(word));
	return word;
}

uint64_t sample_ring__throttled(struct perf_event_mmap_page *ring, size_t page)
{
	uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), tail, word, nr = 0;
	struct perf_event_header h;

	for (tail = ring->data_tail; tail < head; tail += h.size) {
		word = word_at(ring, page, tail);
		memcpy(&h, &word, sizeof(h));
		if (h.size < sizeof(h))
			break;
		nr += h.type == PERF_RECORD_THROTTLE;
		if (h.type == PERF_RECORD_LOST) /* header, id, number of lost records */
			nr += (word_at(ring, page, tail + 16) + 1) / 2;
	}
	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
	return nr;
}
