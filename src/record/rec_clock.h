/* SPDX-License-Identifier: GPL-2.0-only */
/* The clocks that events can be timed with. */
#ifndef RECORD_REC_CLOCK_H
#define RECORD_REC_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "wire.h"

struct rec_clock_row {
	const char *name, *alias, *posix;
	clockid_t id;
};
extern const struct rec_clock_row rec_clocks[]; /* by enum rec_clock, to one without a name */

uint64_t rec_clock__ns(enum rec_clock clock);
/* As ftrace and the metadata of a recording call it. */
const char *rec_clock__name(enum rec_clock clock);
/* Takes that name and the one of clock_gettime(2).  -EINVAL. */
int rec_clock__parse(const char *name, enum rec_clock *ret_clock);

#endif /* RECORD_REC_CLOCK_H */
