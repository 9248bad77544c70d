/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What reading a recording may cost: memory, and work, which is counted rather than timed.  Both
 * limits grow with the bytes read and exceed what the densest recordings of the writer need: its
 * block of most events (16384 in some 106 bytes) pays for its own events, and a stack that differs
 * from all others takes bytes of its own.  A recording that needs more is damaged or malicious.
 */
#ifndef TRACE_BUDGET_H
#define TRACE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUDGET_MEMORY (96ull << 20) /* bytes for any recording, */
#define BUDGET_MEMORY_FACTOR 512 /* and more per byte read */
#define BUDGET_FORMAT 8 /* bytes that an analysis needs per byte of a format, which it parses */
#define BUDGET_WORK (16ull << 20)
#define BUDGET_WORK_FACTOR 1536
#define BUDGET_WORK_EVENT 8 /* work per event; a byte of a table costs 1 */
#define BUDGET_WORK_SORT 8 /* work per entry of a table that is sorted */
#define BUDGET_WORK_BYTES 32 /* this many bytes of an event block cost 1 */

struct budget {
	uint64_t bytes; /* read */
	uint64_t memory, work; /* taken */
	bool exhausted; /* a request was refused; later failures are due to it */
};

/* True if this much more, on top of what was taken, is within the limits. */
static inline bool budget__has(const struct budget *b, uint64_t memory, uint64_t work)
{
	uint64_t max_memory = BUDGET_MEMORY + BUDGET_MEMORY_FACTOR * b->bytes;
	uint64_t max_work = BUDGET_WORK + BUDGET_WORK_FACTOR * b->bytes;

	return b->memory <= max_memory && memory <= max_memory - b->memory && b->work <= max_work &&
	       work <= max_work - b->work;
}

/* False if it exceeds the limit; nothing is taken then.  A NULL budget is unlimited. */
static inline bool budget__take(struct budget *b, uint64_t memory)
{
	if (!b)
		return true;
	if (!budget__has(b, memory, 0)) {
		b->exhausted = true;
		return false;
	}
	b->memory += memory;
	return true;
}

static inline void budget__give(struct budget *b, uint64_t memory)
{
	if (b)
		b->memory -= memory;
}

static inline bool budget__work(struct budget *b, uint64_t work)
{
	if (!budget__has(b, 0, work)) {
		b->exhausted = true;
		return false;
	}
	b->work += work;
	return true;
}

#endif /* TRACE_BUDGET_H */
