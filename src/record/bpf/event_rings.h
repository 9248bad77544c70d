/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rings of all CPUs, read in batches.  A CPU's batches are in the order of its ring.
 *
 * Between two batches the recorder may be busy for long: it parses a file, compresses, or waits for
 * a file system or for the reader of a pipe.  So a thread moves what is in the rings to memory
 * whenever they fill and the recorder has not looked for a while.  It does nothing but copy, and so
 * never waits.  It sleeps until the programs find that a quarter of a ring is in use.
 */
#ifndef RECORD_EVENT_RINGS_H
#define RECORD_EVENT_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event_ring.h"
#include "wire.h"

struct event_rings;

/*
 * How the programs wake the thread: the descriptor can be read until take() has taken all wakeups.
 * It returns their number, which may be 0 if a program is about to add one.
 */
struct event_wakeups {
	int fd;
	int (*take)(void *ctx);
	void *ctx;
};

/*
 * max_moved: bytes of each CPU that may be kept in memory, with the batch that is read, which is
 * larger only by a record; what follows stays in the ring.
 */
int event_rings__new(unsigned int nr_cpus, const struct wire_rings *layout, uint64_t max_moved,
		     const struct event_wakeups *wakeups, struct event_rings **ret_rings);
void event_rings__free(struct event_rings *r);

/* Adds the ring of a CPU.  pos is borrowed; fds: of its parts, which may be closed afterwards. */
int event_rings__add(struct event_rings *r, unsigned int cpu, struct wire_ring_pos *pos,
		     const int *fds);
bool event_rings__has(const struct event_rings *r, unsigned int cpu);

/* Records; valid until the next batch of that CPU, or event_rings__read(). */
struct event_batch {
	const char *at, *end;
};

/* The next records of a CPU: 1, 0 if there are none, -ENOMEM, or -EPROTO: the ring is damaged. */
int event_rings__next(struct event_rings *r, unsigned int cpu, struct event_batch *ret_batch);

/* The CPU's batch has been read: frees its memory before the next batch is asked for. */
void event_rings__read(struct event_rings *r, unsigned int cpu);

/* The next record of a batch, of at least the bytes of its head, aligned to 8; NULL: none. */
static inline const struct wire_head *event_batch__next(struct event_batch *b)
{
	const struct wire_head *record = (const void *)b->at;

	if (b->at >= b->end)
		return NULL;
	b->at += event_ring__size(record);
	return record;
}

#endif /* RECORD_EVENT_RINGS_H */
