/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The head of an event's record, the kernel's struct trace_entry, and the text that describes it: as in
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

/* One field's line, all of it known here. */
#define FORMAT_FIELD(type, name, offset, size, is_signed)                                       \
	"\tfield:" type " " #name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed \
	";\n"

/* Behind "name:" and "ID:". */
#define TRACE_ENTRY_FORMAT "format:\n" TRACE_ENTRY_FIELDS(FORMAT_FIELD) "\n"
/* Where something happened: the first field of what is no tracepoint. */
#define FORMAT_IP FORMAT_FIELD("unsigned long", ip, 8, 8, 0)

/* The event type that stands for what a ring had no room for: what it was, nobody knows. */
#define LOST_EVENTS_SYSTEM "ftrace"
#define LOST_EVENTS_NAME "lost_events"

#endif /* TRACE_ENTRY_H */
