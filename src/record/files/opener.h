/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that open files as soon as their file events arrive, one for each CPU.  A short-lived
 * process would be gone before the rings are emptied and the unwind tables of other files loaded.
 */
#ifndef RECORD_OPENER_H
#define RECORD_OPENER_H

#include <stdbool.h>
#include <stdint.h>

#include "seen_file.h"
#include "wire.h"

struct jit_source;
struct opener;
struct snapshot;

/* The file of a file event, as it was observed. */
struct observed_file {
	struct observed_file *next;
	struct wire_file_event n;
	struct seen_file file; /* WIRE_KEY_FILE; fd -1: it could not be opened */
	struct jit_source *jit; /* WIRE_KEY_JIT; NULL: observed before, in the same context */
};

/* Opens the file in the calling thread; with_table: see seen_file__open().  -ENOMEM. */
int observed_file__open(struct seen_context *ctx, const struct wire_file_event *n, bool with_table,
			struct observed_file *ret_observed);
void observed_file__release(struct observed_file *s); /* the members, not s */

/* Borrows snapshot. */
int opener__new(unsigned int nr_cpus, struct snapshot *snapshot, bool with_tables,
		struct opener **ret_opener);
/*
 * Starts the thread of a CPU, unless it has one.  fd: the ring of its struct wire_file_event, which
 * may be closed afterwards.
 */
int opener__add(struct opener *o, unsigned int cpu, int fd);
/* false: a thread hangs in a file system; what it borrowed must stay valid. */
bool opener__free(struct opener *o);

/*
 * Takes the next observed file, in the order of a CPU's file events, and waits for it until the
 * deadline (CLOCK_MONOTONIC, ns; 0: does not wait).  Returns 1, or 0 if nothing is queued and
 * either nothing is pending, the deadline has passed, or the threads are stuck.  -ENOMEM.
 */
int opener__next(struct opener *o, uint64_t deadline, struct observed_file *ret_observed);

/* A thread hangs in a file system.  Until it continues, opener__next() does not wait for it. */
bool opener__is_stuck(const struct opener *o);

/* Readable while opener__next() has an observed file. */
int opener__fd(const struct opener *o);

#endif /* RECORD_OPENER_H */
