// SPDX-License-Identifier: GPL-2.0-only
/* renames FROM TO: for each number of these, takes the name r1234 and calls getresgid(1234). */
#include <sys/prctl.h>

#include "prog.h"

int main(int argc, char **argv)
{
	unsigned long i = arg_number(argc, argv, 1, 0, 1000000),
		      to = arg_number(argc, argv, 2, 0, 1000000);
	char name[16];

	pin_to_cpu(sched_getcpu());
	for (; i <= to; i++) {
		snprintf(name, sizeof(name), "r%lu", i);
		prctl(PR_SET_NAME, name);
		syscall(SYS_getresgid, i, 0, 0);
	}
	return 0;
}
