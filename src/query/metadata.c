// SPDX-License-Identifier: GPL-2.0-only
/* Parses numbers and clocks of the metadata. */
#include "metadata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stackonce.h"

bool metadata__u64(const struct stk_reader *r, const char *key, uint64_t *ret_value)
{
	const char *text = stk_reader__meta(r, key);
	uint64_t value;
	char *end;

	/* strtoull() would skip blanks and negate */
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end)
		return false;
	*ret_value = value;
	return true;
}

bool wall_clock__of(const struct stk_reader *r, struct wall_clock *ret_clock)
{
	const char *name = stk_reader__meta(r, "clock");
	struct wall_clock clock = { 0 };

	if (!name || strcmp(name, "wall") != 0) {
		r = stk_reader__member(r, 0);
		if (!metadata__u64(r, "clock.ts", &clock.ts) ||
		    !metadata__u64(r, "clock.wall_ns", &clock.wall_ns) || clock.wall_ns > INT64_MAX)
			return false;
	}
	*ret_clock = clock;
	return true;
}
