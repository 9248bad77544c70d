/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Futex waits, by the system calls and sched_waking: their number, time, call sites and wakers.
 * Memory grows with the threads in a call and with the groups, addresses and pairs of stacks of the
 * result, not with the length of the recording.
 *
 * For the calls see futex(2) and the kernel's Documentation/userspace-api/futex2.rst.
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

/* Selects calls by their task, and by time (ns) and CPU of their entry. */
typedef bool (*futex_select_fn)(void *ctx, const struct wait_task *task, uint64_t ts,
				unsigned int cpu);

/* How a futex is used, by its calls. */
enum futex_kind {
	FUTEX_OTHER = 0,
	FUTEX_MUTEX, /* each wait expects "locked, with waiters" of libc's mutexes */
	FUTEX_PI, /* locked and unlocked by the kernel */
};

/* A futex, at an address in one process or in several. */
struct futex_address {
	uint32_t pid; /* process of its first call */
	uint64_t address; /* 0: unknown, the call has it in user memory (waitv) */
	bool shared; /* its calls lack FUTEX_PRIVATE_FLAG */
	enum futex_kind kind;
	uint32_t nr_places; /* (process, address) pairs that are this futex */
	uint64_t owner_changes; /* unlocks by another thread than the last one */
};

/* Waits with one stack whose wakers have one stack. */
struct futex_stacks {
	uint32_t ustack, kstack; /* of the wait; 0: none */
	bool woken; /* a waker was seen; the fields below describe it */
	bool interrupt; /* woken by an interrupt: no waker task */
	bool by_call; /* woken by a futex call; else e.g. by the exit of a thread */
	struct wait_task waker;
	uint32_t waker_ustack, waker_kstack;
	uint64_t count;
	uint64_t sum; /* ns */
};

struct futex_group {
	/* the key: only what by asks for is set */
	uint32_t site_stack; /* a user stack of that site, to resolve its names */
	uint64_t calls, guesses; /* with FUTEX_BY_SITE; guesses: its frame is a guess */
	struct futex_address address;
	const char *comm;
	uint32_t pid;

	struct durations waits; /* including those below, except again and failed */
	uint64_t timeouts;
	uint64_t interrupted; /* by a signal */
	uint64_t requeued; /* moved to another futex while waiting */
	uint64_t no_waker; /* woken, but no waker was seen */
	uint64_t again; /* EAGAIN, the value had changed: no wait */
	uint64_t failed; /* other errors: no wait */
	uint64_t wakes; /* calls to wake or requeue */
	uint64_t wasted; /* of these, found no waiter */
	struct futex_stacks *stacks; /* longest first */
	uint32_t nr_stacks;
};

/* A wait that had not ended. */
struct futex_open {
	struct wait_task task;
	struct futex_address address;
	uint64_t since;
	uint32_t ustack, kstack;
};

struct futex_sums {
	uint64_t waits; /* in all groups */
	unsigned __int128 ns;
	uint64_t no_enter; /* calls whose entry was not recorded */
	uint64_t no_exit; /* calls whose exit is missing */
	uint64_t no_fields; /* calls recorded without arguments or result */
	uint64_t no_target; /* wakeups recorded without a target PID */
	uint64_t gaps; /* waits left out: an event may be missing meanwhile */
	uint64_t lost; /* lost events of futex calls */
	uint64_t maybe_requeued; /* waits at a futex some of whose waiters were moved */
	uint64_t addresses; /* futexes */
	uint64_t shared; /* of these, at several places */
	uint64_t first, last; /* ns: first and last event read */
};

struct futex_result {
	struct futex_group *groups; /* longest waiting first */
	uint32_t nr_groups;
	struct futex_open *open; /* oldest first */
	uint32_t nr_open;
	struct futex_sums sums;
};

struct futex_analysis;

struct futex_opts {
	enum futex_by by;
	bool full; /* keep stacks apart by all frames of kernel stacks (wait_stack.h) */
	futex_select_fn select; /* may be NULL */
	void *ctx;
};

int futex_analysis__new(struct stk_reader *r, const struct futex_opts *opts,
			struct futex_analysis **ret_analysis); /* r is borrowed */
void futex_analysis__free(struct futex_analysis *a);
static inline void futex_analysis__freep(struct futex_analysis **a)
{
	futex_analysis__free(*a);
}
/* Takes every event of the recording, in order.  After -ENOMEM the sums are incomplete. */
int futex_analysis__add(struct futex_analysis *a, const struct stk_event *e);
/* The result belongs to a.  Nothing may be added afterwards. */
int futex_analysis__finish(struct futex_analysis *a, const struct futex_result **ret_result);

#endif /* ANALYZE_FUTEX_H */
