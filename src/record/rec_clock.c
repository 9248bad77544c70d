// SPDX-License-Identifier: GPL-2.0-only
/* The table of clocks: their ids and their names. */
#include "rec_clock.h"

#include <errno.h>
#include <string.h>

#include "clock.h"

#define OFFSET_TRIES 10 /* as the recorder may be interrupted between two readings */

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

enum rec_clock rec_clock__base(enum rec_clock clock)
{
	return clock == REC_CLOCK_TAI ? REC_CLOCK_BOOT : clock;
}

/* Reads the clock between two readings of its base, of which the closest two count. */
void rec_clock__offset(enum rec_clock clock, struct rec_offset *ret_offset)
{
	enum rec_clock base = rec_clock__base(clock);
	struct rec_offset best = { .error = UINT64_MAX };
	unsigned int i;

	for (i = 0; i < OFFSET_TRIES && base != clock; i++) {
		uint64_t before = rec_clock__ns(base), ns = rec_clock__ns(clock);
		uint64_t error = rec_clock__ns(base) - before;

		if (error < best.error)
			best = (struct rec_offset){ ns - (before + error / 2), error };
	}
	*ret_offset = base == clock ? (struct rec_offset){ 0 } : best;
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
