/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Compiles the kernel's event filter language to struct filter_prog.
 *
 * Source: Documentation/trace/events.rst, "Event filtering", and the behaviour of
 * kernel/trace/trace_events_filter.c: this accepts what the event's tracefs `filter` file accepts
 * and selects the same events, and refuses what that file refuses.  Where kernels differ, struct
 * filter_features selects the behaviour.
 */
#ifndef EVENTS_FILTER_H
#define EVENTS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter_prog.h"

#define FILTER_ERROR_SIZE 1280

struct ev_format;

/* What a name stands for that is not the name of a field. */
enum filter_value_type {
	FILTER_VALUE_NUMBER, /* unsigned, of size bytes at offset */
	FILTER_VALUE_CPU, /* the kernel's CPU */
	FILTER_VALUE_TEST, /* compared by add_test */
};

struct filter_value {
	enum filter_value_type type;
	uint32_t offset, size; /* in struct filter_input */
	/* FILTER_VALUE_TEST */
	unsigned int what; /* for add_test */
	bool is_text, is_number; /* it can be compared with a string, with a number */
};

/* A comparison that the caller evaluates before it runs the program. */
struct filter_test {
	unsigned int what; /* of the struct filter_value */
	size_t at; /* where the comparison is in the expression: no other test of it is there */
	const char *text; /* the comparison, len bytes */
	size_t len;
	bool invert; /* the program inverts the test: it is the opposite of the comparison */
	/*
	 * For .function, in place of `what`: whether the 8-byte field at this offset in the record
	 * is an address in the function of that name (name_len bytes) or, without a name, in the
	 * one that contains addr.
	 */
	bool is_function;
	/*
	 * The comparison is with the string of the dynamic field at this offset in the record,
	 * which is a copy of what another field points to.  Without a copy, which is empty then,
	 * the test is false.  The program does not invert it: the comparison is complete.
	 */
	bool is_copy;
	uint32_t offset;
	const char *name;
	size_t name_len;
	uint64_t addr;
};

/*
 * Names of values that are not in the record, for filters on the host: "task.comm", "event.cpu".
 * With them, "field.NAME" is the field of that name, .function is a test, for fields that the event
 * prints as functions, and so is .ustring, for strings that the recorder copied.  Other strings
 * behind pointers, which the host cannot read, are refused.
 */
struct filter_names {
	/* False: there is no such value.  Called for a name without a dot if no field has it. */
	bool (*find)(void *ctx, const char *name, struct filter_value *ret_value);
	/*
	 * Returns the number, below FILTER_MAX_TESTS, of the bit that the caller sets in the words
	 * at FILTER_INPUT_TESTS if the test is true, or a negative errno.  NULL: the value is at
	 * the value's offset, a string as a __data_loc field has it, a number in four bytes.
	 */
	int (*add_test)(void *ctx, const struct filter_test *test);
	void *ctx;
};

/* What the running kernel's filters support. */
struct filter_features {
	bool function; /* FIELD.function == NAME (since 6.3) */
	bool cpus; /* CPUS{LIST} and cpumask fields (since 6.6) */
	bool common_cpu; /* common_cpu is another name of CPU */
	bool stacktrace; /* stacktrace is a field, although it never matches */
	bool dangling_op; /* "a == 1 &&" is accepted as "a == 1" (before the fix of 2026) */
	uint32_t nr_cpus; /* CPU numbers are below this: highest possible CPU + 1 */

	/*
	 * For .function: finds the kernel function of that name or, if name is NULL, the one that
	 * contains addr.  Returns 0 with its first address and the address after its last, or
	 * -ENOENT.  If NULL, .function is refused as not found.
	 */
	int (*function_range)(void *ctx, const char *name, uint64_t addr, uint64_t *ret_start,
			      uint64_t *ret_end);
	void *function_ctx;
	const struct filter_names *names; /* NULL: only those of the kernel */
};

/*
 * Compiles expr for events of format fmt.  Returns 0; or -EINVAL (the kernel refuses it, too),
 * -E2BIG (a limit of struct filter_prog) or -ENOMEM with one line in errbuf, which should have
 * FILTER_ERROR_SIZE bytes: "column 12: unknown field 'foo', the fields are: prev_comm, ...".
 * Columns count bytes from 1.  *ret_prog is untouched on failure.
 */
int filter__compile(const struct ev_format *fmt, const char *expr,
		    const struct filter_features *features, struct filter_prog *ret_prog,
		    char *errbuf, size_t errlen);

/* Runs a program on the host, where strings behind pointers are unreadable. */
bool filter__match(const struct filter_prog *prog, struct filter_input *in);

#endif /* EVENTS_FILTER_H */
