/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits for futexes, from the system calls and sched_waking: how often and how long, where from, and who
 * woke.  Memory grows with threads in a call, and with what the answer tells apart: groups,
 * addresses, pairs of stacks; not with the recording's length.
 *
 * The calls: futex(2) and the kernel's Documentation/userspace-api/futex2.rst.
 */
#ifndef ANALYZE_FUTEX_H
#define ANALYZE_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/durations.h"
#include "call_site.h"
#include "stackonce.h"
#include "wait_task.h"

enum futex_by { FUTEX_BY_SITE, FUTEX_BY_ADDRESS, FUTEX_BY_COMM, FUTEX_BY_PID };

/* Which calls count: those of a task that began at this time on this CPU. */
typedef bool (*futex_select_fn)(void *ctx, const struct wait_task *task, uint64_t ts,
				unsigned int cpu);

/* How a futex is used, as far as its calls tell. */
enum futex_kind {
	FUTEX_OTHER = 0,
	FUTEX_MUTEX, /* each wait is for "locked, with waiters", as libc's mutexes have it */
	FUTEX_PI, /* locked and unlocked by the kernel */
};

/* A futex: where it lies, in one process or several. */
struct futex_address {
	uint32_t pid; /* where it was seen first */
	uint64_t address; /* 0: not known, the call names it in memory (waitv) */
	bool shared; /* not marked private by the calls */
	enum futex_kind kind;
	uint32_t nr_places; /* (process, address) pairs that turned out to be this futex */
	uint64_t owner_changes; /* the one that unlocked was another one than last time */
};

/* Waits of one stack, woken from one stack. */
struct futex_stacks {
	uint32_t ustack, kstack; /* of the wait; 0: none */
	bool woken; /* a waker was seen: the rest is its */
	bool interrupt; /* by an interrupt: no task */
	bool by_call; /* by a task in a futex call; else by the end of a thread, or the like */
	struct wait_task waker;
	uint32_t waker_ustack, waker_kstack;
	uint64_t count;
	uint64_t sum; /* ns */
};

struct futex_group {
	/* what it is of, as by says; of the others nothing */
	struct call_site site;
	uint32_t site_stack; /* a user stack of that site, for the frame's names */
	struct futex_address address;
	const char *comm;
	uint32_t pid;

	struct durations waits; /* those below, but again and failed */
	uint64_t timeouts;
	uint64_t interrupted; /* by a signal */
	uint64_t requeued; /* moved to another futex while waiting */
	uint64_t no_waker; /* returned, but nobody was seen to wake it */
	uint64_t again; /* the value had changed: no wait */
	uint64_t failed; /* other errors: no wait */
	uint64_t wakes; /* calls to wake or requeue */
	uint64_t wasted; /* of these, found nobody */
	struct futex_stacks *stacks; /* longest first */
	uint32_t nr_stacks;
};

/* A wait without its end. */
struct futex_open {
	struct wait_task task;
	struct futex_address address;
	uint64_t since;
	uint32_t ustack, kstack;
};

struct futex_sums {
	uint64_t waits; /* all that are in groups */
	unsigned __int128 ns;
	uint64_t no_enter; /* calls without their beginning: recording began later */
	uint64_t no_exit; /* calls whose end is missing though the thread went on */
	uint64_t no_fields; /* calls recorded without their arguments or result */
	uint64_t no_whom; /* wakeups recorded without saying whom */
	uint64_t gaps; /* waits left out: events may be missing between their ends */
	uint64_t lost; /* events of futex calls */
	uint64_t maybe_requeued; /* waits on a futex some of whose waiters were moved */
	uint64_t addresses; /* futexes */
	uint64_t shared; /* of these, seen at more than one place */
	uint64_t first, last; /* ns: what was read */
};

struct futex_result {
	struct futex_group *groups; /* longest waiting first */
	uint32_t nr_groups;
	struct futex_open *open; /* oldest first */
	uint32_t nr_open;
	struct futex_sums sums;
};

struct futex_analysis;

/* r is borrowed; select may be NULL. */
int futex_analysis__new(struct stk_reader *r, enum futex_by by, futex_select_fn select, void *ctx,
			struct futex_analysis **ret_analysis);
void futex_analysis__free(struct futex_analysis *a);
static inline void futex_analysis__freep(struct futex_analysis **a)
{
	futex_analysis__free(*a);
}
/* Every event of the recording, in order.  -ENOMEM, after which the sums are incomplete. */
int futex_analysis__add(struct futex_analysis *a, const struct stk_event *e);
/* The answer, which belongs to a; nothing may be added afterwards. */
int futex_analysis__finish(struct futex_analysis *a, const struct futex_result **ret_result);

#endif /* ANALYZE_FUTEX_H */
