// SPDX-License-Identifier: GPL-2.0-only
/* Says what a recording lacks because a table was full. */
#include "full_tables.h"

#include <assert.h>

#include "cleanup.h"
#include "log.h"
#include "text.h"

#define FIRST STK_C_FULL_FILES

/* After the number of times, which are counted in STK_COUNTERS_FULL. */
static const char *const lacks[] = {
	[STK_C_FULL_FILES - FIRST] =
		"times a file found no room in the file map: its frames are unknown; with -p or "
		"a COMMAND fewer files are in use",
	[STK_C_FULL_NAMES - FIRST] =
		"times a name of a file found no room: 'stackonce files' does not list it",
	[STK_C_FULL_THREADS - FIRST] =
		"user stacks were not taken, because too many threads needed one at the same time",
	[STK_C_FULL_COPIES - FIRST] =
		"user stacks end at a file whose unwind table was not loaded yet, because there "
		"was no room for a copy; --buffer-size makes room",
	[STK_C_FULL_CALLS - FIRST] =
		"calls were too many at a time: the events of their ends have no fields",
	[STK_C_FULL_WAITING - FIRST] =
		"events lack a stack that may have arrived later, because too many events were "
		"waiting for theirs",
};

#define ONE(c, number, name, listed) +1
static_assert(ARRAY_SIZE(lacks) == STK_COUNTERS_FULL(ONE), "each table has a text");

void full_tables__warn(const uint64_t (*counters)[STK_NR_COUNTERS], unsigned int nr_events)
{
	unsigned int i, e;

	for (i = 0; i < ARRAY_SIZE(lacks); i++) {
		uint64_t times = 0;

		for (e = 0; e < nr_events; e++)
			times += counters[e][FIRST + i];
		if (times)
			log_warn("%s %s", text__number(times).s, lacks[i]);
	}
}
