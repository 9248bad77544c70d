// SPDX-License-Identifier: GPL-2.0-only
/*
 * fpchain [CALLS [WAIT]]: getppid system calls from the innermost of nine functions with frame
 * pointers.  With WAIT 1 it then waits for the end of its standard input.  Prints the file offset
 * of each function at the call, innermost first, one hexadecimal offset per line.
 */
#include <inttypes.h>

#include "prog.h"

#define DEPTH 9

static uintptr_t places[DEPTH + 1]; /* of the call in each function, innermost first */

__attribute__((noinline)) static long level0(unsigned long calls)
{
	long nr, sum = 0;

	places[1] = (uintptr_t)__builtin_return_address(0);
	while (calls--) {
		nr = SYS_getppid;
		__asm__ volatile("lea 1f(%%rip), %0\n"
				 "\tsyscall\n"
				 "1:"
				 : "=&r"(places[0]), "+a"(nr)
				 :
				 : "rcx", "r11", "memory");
		sum += nr;
	}
	return sum;
}

/* The addition after the call keeps it from becoming a jump. */
#define LEVEL(n, inner)                                                     \
	__attribute__((noinline)) static long level##n(unsigned long calls) \
	{                                                                   \
		places[(n) + 1] = (uintptr_t)__builtin_return_address(0);   \
		return inner(calls) + (n);                                  \
	}

LEVEL(1, level0)
LEVEL(2, level1)
LEVEL(3, level2)
LEVEL(4, level3)
LEVEL(5, level4)
LEVEL(6, level5)
LEVEL(7, level6)
LEVEL(8, level7)

/* The file offset of addr. */
static uint64_t file_offset(uintptr_t addr)
{
	FILE *f = fopen("/proc/self/maps", "re");
	uint64_t start, end, offset;
	char line[512];

	if (!f)
		err(1, "/proc/self/maps");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
			    3 &&
		    addr >= start && addr < end) {
			fclose(f);
			return addr - start + offset;
		}
	}
	errx(1, "no mapping contains 0x%" PRIxPTR, addr);
}

int main(int argc, char **argv)
{
	unsigned long calls = arg_number(argc, argv, 1, 1, 10000000);
	unsigned long wait = arg_number(argc, argv, 2, 0, 1);
	long sum = level8(calls);
	int i;

	for (i = 0; i < DEPTH; i++)
		printf("0x%" PRIx64 "\n", file_offset(places[i]));
	fflush(stdout);
	while (wait && getchar() != EOF)
		;
	return sum < 0;
}
