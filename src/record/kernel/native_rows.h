/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which fields of tracepoints a program can fill itself, from the tracepoint's arguments: one row
 * per field and one per event.  native_code.h makes instructions of them.
 *
 * Source: TP_PROTO() and TP_fast_assign() of the events in include/trace/events.
 */
#ifndef RECORD_NATIVE_ROWS_H
#define RECORD_NATIVE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "native_layout.h"

enum fill_op {
	FILL_ARG, /* the argument itself, a number or an address */
	FILL_MEMBER, /* a number in what the argument points to */
	/* the string that a member is or points to; the field is char[N] or __data_loc char[] */
	FILL_STRING,
	FILL_STATE, /* prev_state of sched_switch(preempt, prev, next, prev_state) */
	FILL_PFN, /* the number of the page whose struct page the argument points to */
	FILL_ACCOUNTED, /* accounted of kmem_cache_alloc(call_site, ptr, s, gfp_flags, node) */
};

#define NATIVE_CURRENT (-1) /* in place of an argument: the running task, a struct task_struct */

struct native_field {
	const char *field; /* NULL: the last row */
	enum fill_op op;
	int arg; /* from 0 */
	/* in the struct that the argument points to, as in C: "thread_info.cpu", "dev->name" */
	const char *member;
};

#define NATIVE_MAX_TEXTS 3

/* An event that changed its prototype has several rows. */
struct native_event {
	const char *system, *event;
	const char *args; /* their types, without qualifiers and typedefs: "_Bool, void *" */
	const struct native_field *fields;
	/* The print fmts that the rows hold for, by native_rows__text_hash(); 0: no more */
	uint64_t texts[NATIVE_MAX_TEXTS];
	enum native_irqs irqs;
	/* It may interrupt the programs that record it, so that a second instance is worthwhile. */
	bool nests;
};

/* The i-th row; NULL after the last one.  Rows of one event follow each other. */
const struct native_event *native_rows__get(size_t i);

/* The rows of this event, ret_nr of them; NULL: it has none. */
const struct native_event *native_rows__find(const char *system, const char *event, size_t *ret_nr);

/*
 * The row of raw_syscalls:sys_enter or sys_exit, without fields: C code fills these, see
 * native_code__check_call().
 */
const struct native_event *native_rows__call(bool is_exit);

/* The row of a field; NULL: it has none. */
const struct native_field *native_event__field(const struct native_event *e, const char *field);

/*
 * A hash of the print fmt in the text of a format file.  What stands in braces, the tables of
 * __print_flags() and __print_symbolic(), is left out: it depends on the kernel's configuration.  A
 * print fmt does not say how fields are assigned, but where it changes their meaning may have
 * changed, too.  0: the text has no print fmt.
 */
uint64_t native_rows__text_hash(const char *text);

#endif /* RECORD_NATIVE_ROWS_H */
