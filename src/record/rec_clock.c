// SPDX-License-Identifier: GPL-2.0-only
/* The clocks that events can be timed with, their numbers and their names. */
#include "rec_clock.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "clock.h"

static const struct {
	clockid_t id;
	const char *name, *alias, *posix;
} clocks[] = {
	[REC_CLOCK_MONO] = { CLOCK_MONOTONIC, "mono", "monotonic", "CLOCK_MONOTONIC" },
	[REC_CLOCK_BOOT] = { CLOCK_BOOTTIME, "boot", "boottime", "CLOCK_BOOTTIME" },
	[REC_CLOCK_TAI] = { CLOCK_TAI, "tai", "tai", "CLOCK_TAI" },
};

uint64_t rec_clock__ns(enum rec_clock clock)
{
	return clock_ns(clocks[clock].id);
}

const char *rec_clock__name(enum rec_clock clock)
{
	return clocks[clock].name;
}

int rec_clock__parse(const char *name, enum rec_clock *ret_clock)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(clocks); i++) {
		if (strcmp(name, clocks[i].name) && strcmp(name, clocks[i].alias) &&
		    strcmp(name, clocks[i].posix))
			continue;
		*ret_clock = (enum rec_clock)i;
		return 0;
	}
	return -EINVAL;
}
