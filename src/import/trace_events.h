/* SPDX-License-Identifier: GPL-2.0-only */
/* The events of a `trace` text, each with the stack id or stack that follows it, in time order. */
#ifndef IMPORT_TRACE_EVENTS_H
#define IMPORT_TRACE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_events;

/* The event name for lines without one ("vfs_read <-ksys_read" of the function tracer). */
#define TRACE_EVENTS_UNNAMED "unnamed"

struct trace_event {
	uint64_t ts;
	const char *comm, *text; /* into the text; comm_len, text_len bytes */
	const char *frames; /* the lines of a stack in full, frames_len bytes; NULL: none */
	size_t frames_len;
	uint32_t comm_len, text_len;
	uint32_t tid, tgid; /* tgid 0: unknown */
	uint32_t cpu;
	uint32_t name; /* index, trace_events__name */
	uint32_t stack_id;
	uint32_t seq; /* place in the text */
	uint8_t flags, preempt_count;
	bool no_irqflag, has_stack;
};

/* A loss according to the text, of any event type. */
struct trace_loss {
	uint64_t first_ts, last_ts;
	uint64_t count; /* 0: unknown */
	uint32_t cpu;
};

struct trace_events_counts {
	uint64_t orphan_ids, lost, other_lines, bad_ids;
	uint32_t nr_cpus; /* highest CPU + 1 */
	bool sorted; /* the text was in time order */
	bool seconds; /* the times have a fraction: seconds, not a plain counter */
};

/* text (len bytes) is borrowed; name is for messages. */
int trace_events__parse(const char *name, const char *text, size_t len,
			struct trace_events **ret_events);
void trace_events__free(struct trace_events *t);

size_t trace_events__nr(const struct trace_events *t);
const struct trace_event *trace_events__get(const struct trace_events *t, size_t i);
/* In the order of first_ts. */
size_t trace_events__nr_losses(const struct trace_events *t);
const struct trace_loss *trace_events__loss(const struct trace_events *t, size_t i);
uint32_t trace_events__nr_names(const struct trace_events *t);
const char *trace_events__name(const struct trace_events *t, uint32_t i);
const struct trace_events_counts *trace_events__counts(const struct trace_events *t);

#endif /* IMPORT_TRACE_EVENTS_H */
