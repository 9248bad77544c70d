/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The head of an event's record, the kernel's struct trace_entry, and the text that describes it in
 * the `format` files of tracefs.
 */
#ifndef TRACE_ENTRY_H
#define TRACE_ENTRY_H

#define TRACE_ENTRY_SIZE 8
#define TRACE_ENTRY_FIELDS(X)                             \
	X("unsigned short", common_type, 0, 2, 0)         \
	X("unsigned char", common_flags, 2, 1, 0)         \
	X("unsigned char", common_preempt_count, 3, 1, 0) \
	X("int", common_pid, 4, 4, 1)

/* The line of one field. */
#define FORMAT_FIELD(type, name, offset, size, is_signed)                                       \
	"\tfield:" type " " #name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed \
	";\n"

/* Follows the lines "name:" and "ID:". */
#define TRACE_ENTRY_FORMAT "format:\n" TRACE_ENTRY_FIELDS(FORMAT_FIELD) "\n"
/* The instruction pointer: the first field of event types that are not tracepoints. */
#define FORMAT_IP FORMAT_FIELD("unsigned long", ip, 8, 8, 0)

/* The event type of losses in a ring buffer, whose own event types are unknown. */
#define LOST_EVENTS_SYSTEM "ftrace"
#define LOST_EVENTS_NAME "lost_events"

#endif /* TRACE_ENTRY_H */
