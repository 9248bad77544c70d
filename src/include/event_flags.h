/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The context of an event as stk_event__flags() returns it: common_flags of the kernel's struct
 * trace_entry, enum trace_flag_type in include/linux/trace_events.h.
 */
#ifndef EVENT_FLAGS_H
#define EVENT_FLAGS_H

#define EVENT_FLAG_IRQS_OFF 0x01
#define EVENT_FLAG_NEED_RESCHED_LAZY 0x02
#define EVENT_FLAG_NEED_RESCHED 0x04
#define EVENT_FLAG_HARDIRQ 0x08
#define EVENT_FLAG_SOFTIRQ 0x10
#define EVENT_FLAG_PREEMPT_RESCHED 0x20
#define EVENT_FLAG_NMI 0x40
#define EVENT_FLAG_BH_OFF 0x80

/* The event happened in an interrupt, not in the code of the running task. */
#define EVENT_FLAG_INTERRUPT (EVENT_FLAG_HARDIRQ | EVENT_FLAG_SOFTIRQ | EVENT_FLAG_NMI)

#endif /* EVENT_FLAGS_H */
