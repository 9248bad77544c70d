// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program that user.sh uses: of its functions two are inlined into each other and one is not.
 * With FILE it maps that file without PROT_EXEC and waits to be killed.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int depth;

static inline __attribute__((always_inline)) void innermost(void)
{
	depth++; /* line innermost */
}

static inline __attribute__((always_inline)) void middle(void)
{
	depth += 2;
	innermost(); /* line middle */
}

void outer(void);

__attribute__((noinline)) void outer(void)
{
	depth += 3;
	middle(); /* line outer */
	depth += 4;
}

int main(int argc, char **argv)
{
	outer();
	if (argc > 1) {
		if (mmap(NULL, 1, PROT_READ, MAP_PRIVATE, open(argv[1], O_RDONLY), 0) == MAP_FAILED)
			return 1;
		pause();
	}
	return depth != 10;
}
