/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that looks at files as soon as the kernel's side tells of them: a short-lived process is
 * gone before the rings are emptied and the tables of other files loaded.
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

/* What there was to see of what the news tell. */
struct sight {
	struct sight *next;
	struct wire_news n;
	struct seen_file file; /* WIRE_KEY_FILE; fd -1: gone */
	struct jit_source *jit; /* WIRE_KEY_JIT */
};

/* Looks now; with_table as in seen_file.h.  -ENOMEM. */
int sight__look(struct seen_context *ctx, const struct wire_news *n, bool with_table,
		struct sight *ret_sight);
void sight__release(struct sight *s); /* what it holds */

/* Takes the news from now on.  news_fd: a ring of struct wire_news; snapshot is borrowed. */
int opener__new(int news_fd, struct snapshot *snapshot, bool with_tables,
		struct opener **ret_opener);
/* false: a file system does not answer, the thread waits for it, and what it borrowed must stay. */
bool opener__free(struct opener *o);

/*
 * Takes the next sight, in the order of the notifications, and waits for it until the deadline
 * (CLOCK_MONOTONIC, ns; 0: does not wait).  Returns 1, or 0 if nothing is queued and either nothing
 * is pending, the deadline has passed, or the thread is stuck.  -ENOMEM.
 */
int opener__next(struct opener *o, uint64_t deadline, struct sight *ret_sight);

/* The thread hangs in a file system; opener__next() does not wait until another sight arrives. */
bool opener__is_stuck(const struct opener *o);

/* Readable while opener__next() has a sight. */
int opener__fd(const struct opener *o);

#endif /* RECORD_OPENER_H */
