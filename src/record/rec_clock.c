// SPDX-License-Identifier: GPL-2.0-only
/* The table of clocks: their ids and their names. */
#include "rec_clock.h"

#include <errno.h>
#include <string.h>

#include "clock.h"

const struct rec_clock_row rec_clocks[] = {
	[REC_CLOCK_MONO] = { "mono", "monotonic", "CLOCK_MONOTONIC", CLOCK_MONOTONIC },
	[REC_CLOCK_BOOT] = { "boot", "boottime", "CLOCK_BOOTTIME", CLOCK_BOOTTIME },
	[REC_CLOCK_TAI] = { "tai", "tai", "CLOCK_TAI", CLOCK_TAI },
	{ .name = NULL },
};

uint64_t rec_clock__ns(enum rec_clock clock)
{
	return clock_ns(rec_clocks[clock].id);
}

const char *rec_clock__name(enum rec_clock clock)
{
	return rec_clocks[clock].name;
}

int rec_clock__parse(const char *name, enum rec_clock *ret_clock)
{
	const struct rec_clock_row *c;

	for (c = rec_clocks; c->name; c++) {
		if (strcmp(name, c->name) && strcmp(name, c->alias) && strcmp(name, c->posix))
			continue;
		*ret_clock = (enum rec_clock)(c - rec_clocks);
		return 0;
	}
	return -EINVAL;
}
