// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_pairs nested|crossed ROUNDS: threads mark starts and ends with two system calls that do
 * nothing, each with a unique number as its argument, and sleep in between.
 *
 * nested   each thread has pairs within pairs
 * crossed  each thread ends pairs of another thread, in the order of the starts
 *
 * Prints a line for each pair: its number, and the time (CLOCK_MONOTONIC, ns) before and after the
 * call of the start and of the end: "NUMBER B1 A1 B2 A2".  Then "stray STARTS ENDS": the numbers of
 * starts and ends without the other.
 */
#include <pthread.h>
#include <string.h>

#include "prog.h"

#define THREADS 4
#define DEPTH 3
#define STRAYS 5
#define STRAY_NUMBER 1000000

struct pair {
	uint64_t before_start, after_start, before_end, after_end;
};

static struct pair *pairs; /* by number - 1 */
static uint64_t *started; /* the same; for crossed */
static unsigned int rounds;

static void nap(unsigned int *seed)
{
	struct timespec ts = { .tv_nsec = 20000 + rand_r(seed) % 1000000 };

	nanosleep(&ts, NULL);
}

static void start(unsigned int i)
{
	pairs[i].before_start = now_ns();
	syscall(SYS_sched_get_priority_max, i + 1);
	pairs[i].after_start = now_ns();
	__atomic_store_n(&started[i], 1, __ATOMIC_RELEASE);
}

static void end(unsigned int i)
{
	pairs[i].before_end = now_ns();
	syscall(SYS_sched_get_priority_min, i + 1);
	pairs[i].after_end = now_ns();
}

static void *nested(void *arg)
{
	unsigned int thread = (uintptr_t)arg, seed = thread, r, d;

	for (d = 0; d < STRAYS; d++)
		syscall(SYS_sched_get_priority_min, STRAY_NUMBER + d);
	for (r = 0; r < rounds; r++) {
		unsigned int first = (r * THREADS + thread) * DEPTH;

		for (d = 0; d < DEPTH; d++) {
			start(first + d);
			nap(&seed);
		}
		while (d--) {
			end(first + d);
			nap(&seed);
		}
	}
	for (d = 0; d < STRAYS; d++)
		syscall(SYS_sched_get_priority_max, STRAY_NUMBER + d);
	return NULL;
}

static void *crossed(void *arg)
{
	unsigned int thread = (uintptr_t)arg, seed = thread, r, d;

	for (d = 0; d < STRAYS; d++)
		syscall(SYS_sched_get_priority_min, STRAY_NUMBER + 10 * thread + d);
	for (r = 0; r < rounds; r++) {
		unsigned int mine = (r * THREADS + thread) * DEPTH;
		unsigned int other = (r * THREADS + (thread + 1) % THREADS) * DEPTH;

		for (d = 0; d < DEPTH; d++)
			start(mine + d);
		for (d = 0; d < DEPTH; d++) {
			while (!__atomic_load_n(&started[other + d], __ATOMIC_ACQUIRE))
				nap(&seed);
			nap(&seed);
			end(other + d);
		}
	}
	for (d = 0; d < STRAYS; d++)
		syscall(SYS_sched_get_priority_max, 2 * STRAY_NUMBER + 10 * thread + d);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	unsigned int i, nr;
	uintptr_t t;

	if (argc != 3 || (strcmp(argv[1], "nested") && strcmp(argv[1], "crossed")))
		errx(2, "usage: latency_pairs nested|crossed ROUNDS");
	rounds = strtoul(argv[2], NULL, 10);
	nr = rounds * THREADS * DEPTH;
	pairs = calloc(nr + 1, sizeof(*pairs));
	started = calloc(nr + 1, sizeof(*started));
	if (!pairs || !started)
		err(1, "calloc");
	for (t = 0; t < THREADS; t++)
		if (pthread_create(&threads[t], NULL, argv[1][0] == 'n' ? nested : crossed,
				   (void *)t))
			errx(1, "pthread_create");
	for (t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (i = 0; i < nr; i++)
		printf("%u %llu %llu %llu %llu\n", i + 1, (unsigned long long)pairs[i].before_start,
		       (unsigned long long)pairs[i].after_start,
		       (unsigned long long)pairs[i].before_end,
		       (unsigned long long)pairs[i].after_end);
	printf("stray %u %u\n", THREADS * STRAYS, THREADS * STRAYS);
	return 0;
}
