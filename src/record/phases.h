/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the parts of the start and of the end of a recording take: debug messages, for -v.  A
 * part lasts from the end of the part before it, so the parts add up to the whole.
 */
#ifndef RECORD_PHASES_H
#define RECORD_PHASES_H

#include <stdint.h>

struct phase_time {
	uint64_t wall, cpu; /* ns; cpu: of all threads of this process */
};

/* Of one phase after another.  NULL is fine for all functions: nothing is measured then. */
struct phases {
	const char *name; /* of the phase; NULL: it has ended */
	struct phase_time start, last; /* of the phase, and of its present part */
};

void phases__begin(struct phases *p, const char *name);
/* The present part, which this names, ends. */
void phases__part(struct phases *p, const char *part);
/* The same for the last part of the phase. */
void phases__end(struct phases *p, const char *part);

#endif /* RECORD_PHASES_H */
