/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints that this kernel lacks, made of function probes.  A row here says what the event looks like
 * and which functions it is made of; what fills its record is a small function in src/bpf/probe.bpf.h.
 */
#ifndef RECORD_SYNTHETIC_H
#define RECORD_SYNTHETIC_H

#include <stdbool.h>
#include <stddef.h>

#include "wire.h"

#define SYNTHETIC_FUNCTIONS 4

struct synthetic {
	const char *system, *name;
	const char *format; /* as the kernel's would be; ID 0 */
	enum wire_synthetic id;
	bool is_return; /* of the functions; else their entry */
	/*
	 * The variant is the index; those that the kernel does not have are left out.  instead: of
	 * this function, where the kernel lacks it.
	 */
	struct {
		const char *name, *instead;
	} functions[SYNTHETIC_FUNCTIONS];
};

extern const struct synthetic synthetics[];
extern const size_t nr_synthetics;

/* "system:name"; NULL: there is none. */
const struct synthetic *synthetic__find(const char *full);

#endif /* RECORD_SYNTHETIC_H */
