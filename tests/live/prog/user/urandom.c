// SPDX-License-Identifier: GPL-2.0-only
/*
 * urandom PROBES [SEED]: makes PROBES probes from random stacks: recursion through functions with
 * small, large, aligned and variable frames, and through the C library's qsort() and bsearch().
 * Makes one probe each from 100 to 139 functions deep before that.
 */
#include <alloca.h>
#include <string.h>

#include "../prog.h"
#include "probe.h"

#define MAX_HERES 74 /* at most twice as many frames: no deeper than the recorded depth */

static uint64_t state;
static unsigned long left;

static unsigned int random_below(unsigned int n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)((state >> 11) % n);
}

typedef unsigned long (*step_fn)(unsigned int depth, unsigned long a);

static unsigned long next(unsigned int depth, unsigned long a);

#define STEP static __attribute__((noinline)) unsigned long
#define KEEP(r) __asm__ volatile("" : "+r"(r) : : "memory")

STEP plain(unsigned int depth, unsigned long a)
{
	unsigned long r;

	HERE();
	r = next(depth, a + 1);
	GONE();
	return r + a;
}

STEP unknown_size(unsigned int depth, unsigned long a)
{
	char *room = alloca(1 + random_below(600));
	unsigned long r;

	HERE();
	KEEP(room);
	room[0] = (char)a;
	r = next(depth, a ^ 5);
	GONE();
	return r + (unsigned char)room[0];
}

STEP aligned(unsigned int depth, unsigned long a)
{
	char room[96] __attribute__((aligned(32)));
	char *p = room;
	unsigned long r;

	HERE();
	KEEP(p);
	p[7] = (char)a;
	r = next(depth, a * 3);
	GONE();
	return r + (unsigned char)p[7];
}

STEP large(unsigned int depth, unsigned long a)
{
	volatile char room[3000];
	unsigned long r;

	HERE();
	room[a % 3000] = 1;
	r = next(depth, a + 9);
	GONE();
	return r + room[a % 3000];
}

STEP many_registers(unsigned int depth, unsigned long a)
{
	unsigned long b = a * 3, c = a * 5, d = a * 7, e = a * 11, f = a * 13, r;

	HERE();
	__asm__ volatile("" : "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	r = next(depth, b);
	r += next(depth ? depth - 1 - random_below(depth) : 0, c);
	GONE();
	return r + b + c + d + e + f;
}

STEP stack_arguments(unsigned int depth, unsigned long a, unsigned long b, unsigned long c,
		     unsigned long d, unsigned long e, unsigned long f, unsigned long g)
{
	unsigned long r;

	HERE();
	r = next(depth, a + b + c);
	GONE();
	return r + d + e + f + g;
}

STEP with_arguments(unsigned int depth, unsigned long a)
{
	unsigned long r;

	HERE();
	r = stack_arguments(depth, a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6);
	GONE();
	return r + 1;
}

/* Two elements need one comparison, which continues the recursion. */
static __thread unsigned int through_depth;

static __attribute__((noinline)) int compare(const void *a, const void *b)
{
	unsigned long r = 0;

	HERE();
	if (through_depth != ~0u) {
		unsigned int depth = through_depth;

		through_depth = ~0u;
		r = next(depth, *(const unsigned long *)a);
	}
	GONE();
	KEEP(r);
	return *(const int *)a - *(const int *)b;
}

STEP by_qsort(unsigned int depth, unsigned long a)
{
	unsigned long pair[3] = { a & 7, a & 3, 1 };

	HERE();
	through_depth = depth;
	qsort(pair, 2 + random_below(2), sizeof(*pair), compare);
	GONE();
	return pair[0];
}

STEP by_bsearch(unsigned int depth, unsigned long a)
{
	unsigned long key = a & 3, row[2] = { 1, 2 };
	void *found;

	HERE();
	through_depth = depth;
	found = bsearch(&key, row, 2, sizeof(*row), compare);
	GONE();
	KEEP(found);
	return key;
}

static const step_fn steps[] = { plain,	   unknown_size,   aligned,  large,	 many_registers,
				 plain,	   with_arguments, by_qsort, by_bsearch, aligned,
				 by_qsort, unknown_size,   plain };

static __attribute__((noinline)) unsigned long next(unsigned int depth, unsigned long a)
{
	unsigned long r = a;

	HERE();
	if (left && (!depth || !random_below(40))) {
		left--;
		probe();
	}
	if (left && depth && probe__depth() < MAX_HERES)
		r = steps[random_below(sizeof(steps) / sizeof(*steps))](depth - 1, a);
	GONE();
	return r;
}

/* Exactly as deep as requested: around the maximum depth of a recorded stack. */
STEP straight(volatile unsigned int depth)
{
	unsigned long r = depth;

	HERE();
	if (depth)
		r += straight(depth - 1);
	if (!depth)
		probe();
	GONE();
	return r + 1;
}

int main(int argc, char **argv)
{
	unsigned long sum = 0;

	left = arg_number(argc, argv, 1, 1000, 100000000);
	state = arg_number(argc, argv, 2, 1, 1u << 30) * 0x9e3779b97f4a7c15ULL | 1;
	probe__open();
	HERE();
	for (unsigned int depth = 100; depth < 140; depth++)
		sum += straight(depth);
	while (left)
		sum += next(8 + random_below(29), left);
	GONE();
	return sum == 1;
}
