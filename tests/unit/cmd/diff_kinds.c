// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include <err.h>
#include <fcntl.h>
#include <string.h>

#include "../analyze/diff_recording.h"
#include "cleanup.h"

/*
 * leaf_2 is slower after the change; rebuilt has another kernel, program and event type, too.  Work
 * is done in 2 ms if it is quick and in 2.1 ms if it is slow.
 */
static const struct diff_kind {
	const char *name;
	struct diff_load load;
} diff_kinds[] = {
	{ "before", { .seed = 5, .seconds = 30, .rate = 300 } },
	{ "after",
	  { .seed = 6, .seconds = 30, .rate = 300, .changed = 2, .factor = 1.8, .more = 1.05 } },
	{ "rebuilt",
	  { .seed = 6,
	    .seconds = 30,
	    .rate = 300,
	    .changed = 2,
	    .factor = 1.8,
	    .more = 1.05,
	    .version = 1,
	    .extra = true } },
	{ "quick", { .seed = 7, .seconds = 30, .rate = 10, .slow = 1 } },
	{ "slow", { .seed = 8, .seconds = 30, .rate = 10, .slow = 1.05 } },
};

bool make_diff(const char *kind, const char *path)
{
	unsigned int i = 0;
	int fd;

	while (i < ARRAY_SIZE(diff_kinds) && strcmp(diff_kinds[i].name, kind))
		i++;
	if (i == ARRAY_SIZE(diff_kinds))
		return false;
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);
	if (fd < 0)
		err(1, "%s", path);
	diff_recording__write(fd, &diff_kinds[i].load);
	return true;
}
