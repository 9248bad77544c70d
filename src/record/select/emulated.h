/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Emulated events: tracepoints that this kernel lacks, made from function probes.  A row gives the
 * event's format and its functions; a small function in src/bpf/probe.bpf.h fills its record.
 */
#ifndef RECORD_EMULATED_H
#define RECORD_EMULATED_H

#include <stdbool.h>
#include <stddef.h>

#include "wire.h"

#define EMULATED_FUNCTIONS 4

struct emulated {
	const char *system, *name;
	const char *format; /* as in a kernel that has the tracepoint; ID 0 */
	enum wire_emulated id;
	bool is_return; /* probes returns of the functions, else entries */
	/*
	 * The index is the variant.  Functions that the kernel lacks are left out.  A function with
	 * `instead` is probed only if the kernel lacks that one.
	 */
	struct {
		const char *name, *instead;
	} functions[EMULATED_FUNCTIONS];
};

extern const struct emulated emulated_events[];
extern const size_t nr_emulated_events;

/* full: "system:name"; NULL: no such event. */
const struct emulated *emulated__find(const char *full);

#endif /* RECORD_EMULATED_H */
