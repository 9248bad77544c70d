// SPDX-License-Identifier: GPL-2.0-only
/*
 * utagged COUNT [FILE [MS [NEXT...]]]: COUNT futex calls with its tag, and MS milliseconds of sleep
 * after each.  Before that, writes "TAG PID MAJOR:MINOR INODE PATH" from /proc/self/maps to FILE,
 * unless it is "-".  Then it executes the program NEXT, and so on.  COUNT 0: a call for each line
 * of standard input, answered by a line.
 */
#include <string.h>

#include "../prog.h"
#include "tag_code.h"

static void write_mapping(const char *path)
{
	FILE *out = fopen(path, "ae"), *maps = fopen("/proc/self/maps", "re");
	unsigned long here = (unsigned long)tag_a, start, end, inode;
	unsigned int major, minor;
	char line[4096 + 128], name[4096], perms[8];

	if (!out || !maps)
		err(1, "open '%s' or the maps", path);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s %*x %x:%x %lu %4095[^\n]", &start, &end, perms,
			   &major, &minor, &inode, name) == 7 &&
		    here >= start && here < end)
			fprintf(out, "%llu %d %u:%u %lu %s\n", (unsigned long long)tag_block.tag,
				getpid(), major, minor, inode, name);
	}
	fclose(maps);
	if (fclose(out))
		err(1, "write '%s'", path);
}

int main(int argc, char **argv)
{
	unsigned long count = arg_number(argc, argv, 1, 1, 1000000000), sum = 0;
	unsigned long ms = arg_number(argc, argv, 3, 0, 10000);
	char line[64];

	if (argc > 2 && strcmp(argv[2], "-"))
		write_mapping(argv[2]);
	if (!count) {
		while (fgets(line, sizeof(line), stdin)) {
			sum += tag_a(count++);
			TAG_KEEP(sum);
			printf("ok\n");
			fflush(stdout);
		}
		return sum == 1;
	}
	for (unsigned long i = 0; i < count; i++) {
		sum += tag_a(i);
		TAG_KEEP(sum);
		if (ms)
			usleep((useconds_t)ms * 1000);
	}
	if (argc > 4) {
		char *next = argv[4];

		memmove(argv + 2, argv + 1, 3 * sizeof(*argv));
		argv[1] = next;
		execv(next, argv + 1);
		err(1, "execute '%s'", next);
	}
	return sum == 1;
}
