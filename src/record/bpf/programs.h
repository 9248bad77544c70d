/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF programs of one recording: loaded, attached, armed, disarmed, their counters.
 */
#ifndef RECORD_PROGRAMS_H
#define RECORD_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"
#include "wire.h"

struct backend_costs;
struct event_counts;
struct programs;
struct recorder_opts;
struct stackmap;

/*
 * Load everything and attach it, not yet armed.  Events named by a glob that cannot be attached
 * go to the list of those left out; for others that is an error.  The options are borrowed.
 */
int programs__new(const struct recorder_opts *opts, struct programs **ret_programs);
/*
 * Detaches.  The kernel waits for a grace period at each tracepoint, one after the other, which is
 * seconds for many events: a child process sees to that then, and this returns at once.
 */
void programs__free(struct programs *p);

/* For a child that becomes another program: the resource limits we were started with. */
void programs__restore_limits(const struct programs *p);

/* From now on events are recorded; returns when every CPU sees it. */
int programs__arm(struct programs *p);
/* No event is recorded any more, and those under way are in their rings. */
int programs__disarm(struct programs *p);

/* This thread is selected, and with it what it forks from now on. */
void programs__select(struct programs *p, uint32_t tid);
/*
 * This child of ours will become the command: from its execve(2) on it is selected like these, and
 * until then its events are our own.
 */
void programs__hold(struct programs *p, uint32_t tid);
/* The bit array behind it: one bit per thread id, shared with children over fork(2). */
uint64_t *programs__pids(struct programs *p);

/* Why the kernel walks its stacks; NULL: we do. */
const char *programs__not_walked(const struct programs *p);
/* If we do: "orc" or "frame_pointers". */
const char *programs__walked_by(const struct programs *p);
/*
 * Walked stacks of an event from the last that agreed with the kernel's to the one, of any event,
 * that differed; 0: none differed, or no event in between.  Times are of the recording's clock.
 */
struct programs_unverified {
	uint64_t stacks, from, to;
};
struct programs_unverified programs__unverified(const struct programs *p, unsigned int event);

/* What the file map needs of the maps; files is NULL where there are no user stacks. */
struct programs_user {
	struct wire_file *files;
	struct wire_user_ctl *ctl;
	int news_fd, slabs_fd, snapshot_fd;
};
void programs__user(const struct programs *p, struct programs_user *ret_user);

unsigned int programs__nr_cpus(const struct programs *p);
struct stackmap *programs__stackmap(const struct programs *p);
int programs__ring_fd(const struct programs *p, unsigned int cpu); /* -1: none */

/*
 * Serve CPUs that came online meanwhile; to be called now and then.  What happened on them before
 * is counted as lost for want of a ring.
 */
int programs__refresh_cpus(struct programs *p);
uint64_t programs__ring_size(const struct programs *p);

/* Counters of all events, summed over the CPUs; rows of STK_NR_COUNTERS. */
int programs__counters(struct programs *p, uint64_t (*ret_counters)[STK_NR_COUNTERS]);

/* Of these: lost without a program that noticed.  Never less than before. */
uint64_t programs__unseen(const struct programs *p, unsigned int event);
/* What the kernel's side notes of events that it loses, see pending_losses.h; borrowed. */
void programs__losses(const struct programs *p, struct event_counts **ret_counts,
		      uint32_t **ret_losing);

/* A function of the kernel that nobody counts but its recorder. */
bool programs__counts_itself(const struct programs *p, unsigned int event);
void programs__costs(const struct programs *p, struct backend_costs *ret_costs);

#endif /* RECORD_PROGRAMS_H */
