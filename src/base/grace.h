/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Waits until what runs in the kernel now has ended.
 *
 * Whoever clears a flag that BPF programs read, or takes memory from them, has to know that no
 * program that saw the old state is running.  These programs run in RCU read-side critical sections
 * or with preemption disabled, so one RCU grace period is enough.  To have been on each CPU is not:
 * a program of a uprobe can be preempted.  Nor is time, however long: the CPU of a virtual machine
 * can be stopped in the middle of a program.
 */
#ifndef GRACE_H
#define GRACE_H

/*
 * Waits for an RCU grace period.  BPF programs, unless they are sleepable, and ftrace events that
 * were running on any CPU have ended when it returns 0.  On a machine with one CPU that refuses
 * bpf(2) this holds for what runs with preemption disabled, as ftrace events do.  A negative errno:
 * the kernel refuses every way to wait, and nothing is known.
 */
int grace__wait(void);

#endif /* GRACE_H */
