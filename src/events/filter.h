/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The kernel's event filter language, compiled for struct filter_prog.
 *
 * Source: Documentation/trace/events.rst, "Event filtering", and the behaviour of the kernel's
 * kernel/trace/trace_events_filter.c: what the tracefs `filter` file of the event accepts is
 * accepted and selects the same events, what it refuses is refused.  Where kernels differ,
 * struct filter_features says which one to follow.
 */
#ifndef EVENTS_FILTER_H
#define EVENTS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter_prog.h"

struct ev_format;

/* What the running kernel's filters know. */
struct filter_features {
	bool function; /* FIELD.function == NAME (since 6.3) */
	bool cpus; /* CPUS{LIST} and cpumask fields (since 6.6) */
	bool common_cpu; /* common_cpu as a name of CPU */
	bool stacktrace; /* stacktrace is a field, though nothing ever matches it */
	bool dangling_op; /* "a == 1 &&" is taken for "a == 1" (before the fix of 2026) */
	uint32_t nr_cpus; /* CPU numbers are below this: highest possible CPU + 1 */

	/*
	 * For .function: the kernel function called name, or the one holding addr when name is
	 * NULL.  0 and its first address and the one behind its last, or -ENOENT.  When NULL,
	 * .function is refused as not found.
	 */
	int (*function_range)(void *ctx, const char *name, uint64_t addr, uint64_t *ret_start,
			      uint64_t *ret_end);
	void *function_ctx;
};

/*
 * Compile expr for events of format fmt.  0, or -EINVAL (the kernel refuses it too), -E2BIG (a
 * limit of struct filter_prog) or -ENOMEM with one line in errbuf: "column 12: unknown field
 * 'foo'", columns counted in bytes from 1.  *ret_prog is untouched on failure.
 */
int filter__compile(const struct ev_format *fmt, const char *expr,
		    const struct filter_features *features, struct filter_prog *ret_prog,
		    char *errbuf, size_t errlen);

/* Run a program on the host; strings behind pointers count as unreadable. */
bool filter__match(const struct filter_prog *prog, struct filter_input *in);

#endif /* EVENTS_FILTER_H */
