// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: a hostile query on a hostile recording.  The text of the input is the query.
 * Whatever they are, the query must end by itself, without any effect on files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleanup.h"
#include "recordings.h"
#include "ui/ui.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static int fd;
static char path[32];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	fd = memfd_create("fuzz", 0);
	if (fd < 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ui__set_log_level(STK_LOG_WARN);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = recording_size(data, size);
	_cleanup_free_ uint8_t *copy = malloc(len + !len);
	_cleanup_free_ char *query = malloc(size - len + 2);
	static const char *const formats[] = { "--json", "--csv", "--partial" };
	uint8_t how = size > UUID_AT ? data[UUID_AT] : 0;
	char *argv[] = { "sql",
			 (char *)formats[how % ARRAY_SIZE(formats)],
			 "--timeout",
			 "0.5",
			 "--temp-size",
			 "1M",
			 "--no-symbols",
			 "-i",
			 path,
			 query,
			 NULL };

	if (!copy || !query)
		abort();
	query[0] = ';'; /* it is not an option */
	memcpy(query + 1, data + len, size - len);
	query[1 + size - len] = '\0';
	memcpy(copy, data, len);
	correct_checksums(copy, len);
	if (ftruncate(fd, 0) || pwrite(fd, copy, len, 0) != (ssize_t)len)
		abort();
	if (cmd_sql.run(ARRAY_SIZE(argv) - 1, argv) == CMD_USAGE)
		abort();
	return 0;
}
