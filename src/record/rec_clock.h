/* SPDX-License-Identifier: GPL-2.0-only */
/* The clocks that time stamps of events can be taken from. */
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

uint64_t rec_clock__ns(enum rec_clock clock);
/* The name that ftrace and the metadata of a recording use. */
const char *rec_clock__name(enum rec_clock clock);
/* Accepts that name, its alias and the name in clock_gettime(2); -EINVAL for others. */
int rec_clock__parse(const char *name, enum rec_clock *ret_clock);

#endif /* RECORD_REC_CLOCK_H */
