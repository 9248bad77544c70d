// SPDX-License-Identifier: GPL-2.0-only
/*
 * faults [FAULTS [CPU]]: reads FAULTS pages of memory that were never written; each read is a page
 * fault in user mode.  Prints the number of faults and the CPU time for them.
 */
#include <sys/mman.h>

#include "prog.h"

#define PAGES 512

int main(int argc, char **argv)
{
	unsigned long faults = arg_number(argc, argv, 1, 300000, 1000000000), i;
	volatile char *p;
	uint64_t before;

	if (argc > 2)
		pin_to_cpu((unsigned int)arg_number(argc, argv, 2, 0, CPU_SETSIZE - 1));
	p = mmap(NULL, PAGES * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || madvise((void *)p, PAGES * 4096, MADV_NOHUGEPAGE))
		err(1, "memory");
	before = rusage_ns(RUSAGE_SELF);
	for (i = 0; i < faults; i++) {
		if (i && !(i % PAGES) && madvise((void *)p, PAGES * 4096, MADV_DONTNEED))
			err(1, "madvise");
		(void)p[i % PAGES * 4096];
	}
	printf("events %lu\ncpu_ns %llu\n", faults,
	       (unsigned long long)(rusage_ns(RUSAGE_SELF) - before));
	return 0;
}
