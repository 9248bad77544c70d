/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF programs of one recording: loads, attaches, arms and disarms them and reads their
 * counters.
 */
#ifndef RECORD_PROGRAMS_H
#define RECORD_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "event_rings.h"
#include "stackonce.h"
#include "wire.h"

struct backend_costs;
struct event_counts;
struct memory_plan;
struct programs;
struct recorder_opts;
struct stackmap;
struct strbuf;

/*
 * Loads all programs.  On return the kernel may still be verifying large ones, in other threads;
 * programs__attach() waits for these.  Borrows the options.
 */
int programs__new(const struct recorder_opts *opts, struct programs **ret_programs);
/*
 * Attaches all programs, not yet armed.  Events that match a glob and cannot be attached are added
 * to the list of events left out; for other events that is an error.
 */
int programs__attach(struct programs *p);
/*
 * Detaches the programs.  The kernel waits for some grace periods for each tracepoint in turn; a
 * child process does it, and this returns at once.
 */
void programs__free(struct programs *p);

/* Restores the resource limits at the start of the recorder, in a child that will exec(3). */
void programs__restore_limits(const struct programs *p);

/* Starts recording events; on return all CPUs do. */
int programs__arm(struct programs *p);
/* Stops recording events; on return all of them are in their rings. */
int programs__disarm(struct programs *p);

/* Selects this thread and the tasks that it forks from now on. */
void programs__select(struct programs *p, uint32_t tid);
/*
 * Announces the child that will become the command.  It is selected from its execve(2) on; until
 * then its events count as those of the recorder.
 */
void programs__hold(struct programs *p, uint32_t tid);
/* The bit array of selected tasks: one bit per thread id, shared with children over fork(2). */
uint64_t *programs__pids(struct programs *p);

/* Why the kernel walks its stacks; NULL: the programs walk them. */
const char *programs__kernel_walk_reason(const struct programs *p);
/* How the programs walk stacks: "orc" or "frame_pointers". */
const char *programs__unwinder(const struct programs *p);
/*
 * Walked stacks of an event since the last one that agreed with the kernel's, up to the stack, of
 * any event, that differed.  0: no stack differed, or none was walked in between.  Times are on the
 * recording's clock.
 */
struct programs_unverified {
	uint64_t stacks, from, to;
};
struct programs_unverified programs__unverified(const struct programs *p, unsigned int event);

/*
 * The same for records of a native event that its programs filled, since the last comparison with
 * the kernel's that agreed, after one differed: `stacks` is a number of events.  To be called after
 * programs__disarm().
 */
struct programs_unverified programs__fields_unverified(const struct programs *p,
						       unsigned int event);
/* Appends in which field they differed, and both values. */
void programs__fields_difference(const struct programs *p, unsigned int event, struct strbuf *text);

/* Ids in the stack map, or WIRE_STACK_FULL: it was full, or 0: no stack differed. */
struct programs_difference {
	uint32_t walked, kernel;
};
/*
 * A stack of this event walked on this CPU that differed from the kernel's.  To be called after
 * programs__disarm().
 */
struct programs_difference programs__difference(const struct programs *p, unsigned int event,
						unsigned int cpu);

/* The BPF maps that the file map uses; files is NULL if no user stacks are recorded. */
struct programs_user {
	struct wire_file *files;
	struct wire_user_ctl *ctl;
	const int *file_ring_fds; /* by CPU; -1: no such CPU, so far */
	int slabs_fd, snapshot_fd;
};
void programs__user(const struct programs *p, struct programs_user *ret_user);

unsigned int programs__nr_cpus(const struct programs *p);
struct stackmap *programs__stackmap(const struct programs *p);

/* The rings of events, see src/bpf/ring.bpf.h: owned by p. */
const struct wire_rings *programs__rings(const struct programs *p);
struct wire_ring_pos *programs__ring_pos(const struct programs *p, unsigned int cpu);
/* What wakes the recorder when a ring fills. */
struct event_wakeups programs__wakeups(const struct programs *p);
/* The maps of the parts of a ring; NULL: no such CPU, so far. */
const int *programs__ring_fds(const struct programs *p, unsigned int cpu);

/*
 * Creates rings for CPUs that came online; to be called from time to time.  Events that happened on
 * them before are counted in STK_C_LOST_RING.
 */
int programs__refresh_cpus(struct programs *p);
const struct memory_plan *programs__memory(const struct programs *p);

/* Counters of all events, summed over the CPUs; one row of STK_NR_COUNTERS for each event. */
int programs__counters(struct programs *p, uint64_t (*ret_counters)[STK_NR_COUNTERS]);

/* The lost events of these that no program noticed.  The number never decreases. */
uint64_t programs__unseen(const struct programs *p, unsigned int event);
/* The memory in which the programs note losses, see pending_losses.h; owned by p. */
void programs__losses(const struct programs *p, struct event_counts **ret_counts,
		      uint32_t **ret_loss_pending);

/* Whether only the recorder program counts this event, as for some kernel functions. */
bool programs__lacks_counter(const struct programs *p, unsigned int event);
/* Whether one program fills, counts and records this event, see src/bpf/native.bpf.h. */
bool programs__is_native(const struct programs *p, unsigned int event);
/* Whether it may interrupt this program, so that a second one is behind it. */
bool programs__has_second(const struct programs *p, unsigned int event);
void programs__costs(const struct programs *p, struct backend_costs *ret_costs);

#endif /* RECORD_PROGRAMS_H */
