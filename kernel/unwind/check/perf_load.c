// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_load GROUP/EVENT CHAIN COMMAND...: runs a command with a perf event at this tracepoint that
 * takes the kernel's stack if CHAIN is 1.  There is no buffer: a sample is made, then dropped.
 */
#include <err.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long long id_of(const char *event)
{
	unsigned long long id;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", event);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu", &id) != 1)
		err(1, "read '%s'", path);
	fclose(f);
	return id;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
		.inherit = 1,
		.exclude_callchain_user = 1,
	};

	if (argc < 4)
		errx(1, "usage: perf_load GROUP/EVENT CHAIN COMMAND...");
	attr.config = id_of(argv[1]);
	if (atoi(argv[2]))
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0)
		err(1, "perf_event_open '%s'", argv[1]);
	execv(argv[3], argv + 3);
	err(1, "%s", argv[3]);
}
