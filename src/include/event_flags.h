/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The context of an event, stk_event__flags(): common_flags of the kernel's struct trace_entry, enum
 * trace_flag_type of include/linux/trace_events.h.
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

/* What a thread does on behalf of others. */
#define EVENT_FLAG_INTERRUPT (EVENT_FLAG_HARDIRQ | EVENT_FLAG_SOFTIRQ | EVENT_FLAG_NMI)

#endif /* EVENT_FLAGS_H */
