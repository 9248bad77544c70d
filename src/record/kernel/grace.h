/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RECORD_GRACE_H
#define RECORD_GRACE_H

/*
 * Waits for an RCU grace period.  BPF programs and ftrace events that were running on any CPU have
 * then ended: they run with preemption disabled or in an RCU read-side section.  Where
 * membarrier(2) fails, as with nohz_full, it waits 200 ms instead.
 */
void grace__wait(void);

#endif /* RECORD_GRACE_H */
