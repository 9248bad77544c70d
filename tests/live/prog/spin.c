// SPDX-License-Identifier: GPL-2.0-only
/* spin [MILLISECONDS]: runs in user space for MILLISECONDS of CPU time. */
#include "prog.h"

int main(int argc, char **argv)
{
	uint64_t ns = arg_number(argc, argv, 1, 1000, 600000) * 1000000ull;
	volatile unsigned long x = 0;

	while (rusage_ns(RUSAGE_SELF) < ns)
		for (int i = 0; i < 100000; i++)
			x++;
	return 0;
}
