/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A CPU's ring of file events, compiled for BPF and for a unit test.
 *
 * The thread that reads the ring is bound to the CPU.  So it runs before the task that has sent the
 * event returns to user space, and the file of a program that exits at once can still be opened.
 *
 * The kernel takes the ring's spinlock, and must not hit a tracepoint with the lock held: a program
 * there that wrote to the ring would wait for ever for a lock that its own CPU holds.  A contended
 * lock has such a tracepoint (lock:contention_end), and so has a release with lock debugging.  Only
 * a resilient spinlock detects that (a650d38915c1).  So each CPU has a flag around its use of the
 * ring: a program that nests there, in whatever context, does not touch the ring.
 */
#ifndef FILE_RING_BPF_H
#define FILE_RING_BPF_H

#include "wire.h"

/* Whether this CPU writes to the ring now. */
static inline __attribute__((always_inline)) int file_ring_busy(const __wire_u32 *busy)
{
	return *(volatile const __wire_u32 *)busy;
}

/*
 * Sends a file event; 0: the ring is full or busy.  busy: this CPU's flag.  A program that is
 * preempted here leaves it set, so an exchange is needed: another one may enter meanwhile.
 */
static inline __attribute__((always_inline)) int file_ring_send(__wire_u32 *busy, void *ring,
								struct wire_file_event *n)
{
	long err;

	if (__sync_lock_test_and_set(busy, 1))
		return 0;
	/* wake the recorder at once: the file and its process may be gone soon */
	err = bpf_ringbuf_output(ring, n, sizeof(*n), BPF_RB_FORCE_WAKEUP);
	*(volatile __wire_u32 *)busy = 0;
	return !err;
}

#endif /* FILE_RING_BPF_H */
