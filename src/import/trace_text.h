/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of tracefs's `trace` file, line by line:
 *
 * 	            comm-PID     [CPU] FLAGS  SECONDS.FRACTION: event: text
 *
 * with the FLAGS column (irq-info) and the "(TGID)" column (record-tgid) optional, and blanks in
 * any number.  comm is any text: it may contain blanks, dashes, colons and brackets.
 *
 * Source: kernel/trace/trace_output.c, trace_print_context() and trace_print_lat_fmt().
 */
#ifndef IMPORT_TRACE_TEXT_H
#define IMPORT_TRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_TEXT_MAX_CPUS 8192
#define TRACE_TEXT_ANY_CPU (UINT32_MAX - 1)
#define TRACE_TEXT_OLDEST UINT32_MAX /* of any CPU: overwritten before the text begins */

enum trace_line_kind {
	TRACE_LINE_EVENT, /* everything below is set except stack_id and lost */
	TRACE_LINE_STACK_ID, /* "<stack_id N>" in place of an event: header and stack_id */
	TRACE_LINE_STACK, /* "<stack trace>" in place of an event: header; its frames follow */
	TRACE_LINE_FRAME, /* " => FRAME": text, as for an event */
	TRACE_LINE_LOST, /* lost: events that the kernel dropped before this line */
	TRACE_LINE_COMMENT, /* "# ...", empty, "##### CPU 1 buffer started ####" */
	TRACE_LINE_OTHER, /* anything else */
};

struct trace_line {
	enum trace_line_kind kind;
	size_t number; /* of the line, from 1 */
	const char *comm; /* comm_len bytes, without the blanks before it */
	uint32_t comm_len;
	uint32_t tid, tgid; /* tgid 0: not in the text */
	uint32_t cpu;
	uint64_t ts; /* ns; without a fraction the plain number */
	bool has_fraction;
	uint8_t flags, preempt_count; /* as in the kernel's struct trace_entry */
	bool no_irqflag; /* 'X': this kernel does not report whether irqs were off */
	const char *event; /* event_len bytes; event_len 0: the line has no event name */
	uint32_t event_len;
	const char *text; /* text_len bytes after "event: " */
	uint32_t text_len;
	uint64_t stack_id; /* UINT64_MAX: not a u32 */
	uint64_t lost;
	uint32_t lost_cpu; /* or TRACE_TEXT_ANY_CPU, TRACE_TEXT_OLDEST */
	bool lost_unknown; /* the count is unknown: lost is 1 */
};

struct trace_text {
	const char *p, *end;
	size_t line;
};

/* A frame of a stack in full, as the options sym-offset and sym-addr print it. */
struct trace_frame {
	const char *name; /* name_len bytes; name_len 0: only the address is known */
	const char *mod; /* mod_len bytes without the brackets; mod_len 0: not in the text */
	uint32_t name_len, mod_len;
	bool has_address, has_offset;
	uint64_t address, offset, size; /* offset and size of the function, if has_offset */
};

/* line (len bytes) is the text of a TRACE_LINE_FRAME; what cannot be parsed is a name. */
void trace_text__frame(const char *line, size_t len, struct trace_frame *ret_frame);

/* text (len bytes) is borrowed by every line that is returned. */
void trace_text__init(struct trace_text *t, const char *text, size_t len);
/* False at the end. */
bool trace_text__next(struct trace_text *t, struct trace_line *ret_line);

#endif /* IMPORT_TRACE_TEXT_H */
