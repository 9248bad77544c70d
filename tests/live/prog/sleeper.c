// SPDX-License-Identifier: GPL-2.0-only
/* sleeper [COUNT]: sleeps 200 us COUNT times; each time the interrupt of a timer wakes it. */
#include <time.h>

#include "prog.h"

int main(int argc, char **argv)
{
	unsigned long n = arg_number(argc, argv, 1, 2000, 1000000), i;
	struct timespec pause = { 0, 200000 };

	for (i = 0; i < n; i++)
		nanosleep(&pause, NULL);
	return 0;
}
