// SPDX-License-Identifier: GPL-2.0-only
/*
 * uabsent ROUNDS: futex calls of a stack of 12 KiB while all of it can be read, at WHOLE, and while
 * a page of its outer half is absent, at ABSENT, in turns.  Prints the number of functions of its
 * own, and that of those whose callers are known when the page is absent, at least and at most.
 */
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>

#include "../prog.h"

#define WHOLE 0x700000000000ul
#define ABSENT 0x710000000000ul
#define LEVELS 12
#define AROUND 8 /* the page has a part of the frame of this level, from the innermost */
#define PAGE 4096ul
#define CALLS 5 /* one after another */

static unsigned long rounds;
static uintptr_t frames[LEVELS + 1]; /* where the locals of each level begin */

/* One place for all calls: their stacks are the same. */
static __attribute__((noinline)) void call(unsigned long address)
{
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static __attribute__((noinline)) int innermost(void)
{
	char *page = (char *)(frames[AROUND] & ~(PAGE - 1));
	unsigned int i, below = 0;

	for (i = 0; i < LEVELS; i++)
		below += frames[i] < (uintptr_t)page;
	printf("levels %d from %u to %u\n", LEVELS, below - 1, below + 1);
	fflush(stdout);
	for (i = 0; i < 2 * rounds; i++) {
		unsigned long address = i % 2 ? ABSENT : WHOLE;

		if (mprotect(page, PAGE, i % 2 ? PROT_NONE : PROT_READ | PROT_WRITE))
			return 1;
		call(address);
	}
	return mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0;
}

static __attribute__((noinline)) int level(unsigned int n)
{
	char room[1000];
	int failed;

	memset(room, n, sizeof(room));
	frames[n] = (uintptr_t)room;
	__asm__ volatile("" : : "r"(room) : "memory");
	failed = n ? level(n - 1) : innermost();
	__asm__ volatile("" : : "r"(room) : "memory");
	return failed;
}

int main(int argc, char **argv)
{
	rounds = arg_number(argc, argv, 1, 100, 1000000);
	if (level(LEVELS - 1))
		err(1, "mprotect");
	return 0;
}
