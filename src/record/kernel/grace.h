/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RECORD_GRACE_H
#define RECORD_GRACE_H

/*
 * Waits for an RCU grace period.  BPF programs and ftrace events that were running on any CPU have
 * ended when it returns: they run with preemption disabled or in an RCU read-side critical section.
 * Waits 200 ms instead if membarrier(2) fails, as it does with nohz_full.
 */
void grace__wait(void);

#endif /* RECORD_GRACE_H */
