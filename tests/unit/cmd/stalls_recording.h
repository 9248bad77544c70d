/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One task that goes off the CPU: twice preempted by interrupts in the kernel and twice in user
 * code, blocked in a mutex and in a page fault, and in work on the way back to user code; then two
 * futex waits.  Interrupts wake it.
 */
#ifndef STALLS_RECORDING_H
#define STALLS_RECORDING_H

void make_stalls(const char *path);

#endif /* STALLS_RECORDING_H */
