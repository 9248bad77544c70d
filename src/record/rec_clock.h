/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clocks that time stamps of events can be taken from.
 *
 * CLOCK_TAI can be set, and then steps.  Events of all CPUs are put in order by their times, and
 * durations are differences of these, so the times of a recording must not step.  They come from a
 * base clock that cannot be set and advances as TAI does, plus the offset between the two at the
 * start.  If the clock is set meanwhile, the recording's times go on as before.
 */
#ifndef RECORD_REC_CLOCK_H
#define RECORD_REC_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "wire.h"

struct rec_clock_row {
	const char *name, *alias, *posix;
	clockid_t id;
};
extern const struct rec_clock_row
	rec_clocks[]; /* by enum rec_clock; ends with a row without a name */

/* The present time of the clock itself. */
uint64_t rec_clock__ns(enum rec_clock clock);
/* The clock that the kernel side reads: the boot clock for TAI, else the clock itself. */
enum rec_clock rec_clock__base(enum rec_clock clock);

/* How far a clock is ahead of its base, in ns; it cannot be read more precisely than `error`. */
struct rec_offset {
	uint64_t ns, error;
};
void rec_clock__offset(enum rec_clock clock, struct rec_offset *ret_offset);

/* The name that ftrace and the metadata of a recording use. */
const char *rec_clock__name(enum rec_clock clock);
/* Accepts that name, its alias and the name in clock_gettime(2); -EINVAL for others. */
int rec_clock__parse(const char *name, enum rec_clock *ret_clock);

#endif /* RECORD_REC_CLOCK_H */
