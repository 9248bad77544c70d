// SPDX-License-Identifier: GPL-2.0-only
/*
 * maps_change MILLISECONDS: two threads call futex(2) in a loop while a third one maps, splits and
 * unmaps memory.  The mappings of code do not change.  Prints the number of calls.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "../prog.h"

#define CALLERS 2
#define PAGES 16

static atomic_bool stop;

static __attribute__((noipa)) void call(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *run_caller(void *arg)
{
	unsigned long *calls = arg;
	uint32_t word = 0;

	while (!atomic_load(&stop)) {
		call(&word);
		++*calls;
	}
	return NULL;
}

static void change_maps(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *m = mmap(NULL, PAGES * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED)
		err(1, "mmap");
	for (size_t i = 1; i < PAGES; i += 2)
		if (mprotect(m + i * page, page, PROT_READ | PROT_WRITE))
			err(1, "mprotect");
	if (munmap(m, PAGES * page))
		err(1, "munmap");
}

int main(int argc, char **argv)
{
	unsigned long ms = arg_number(argc, argv, 1, 1000, 600000), calls[CALLERS] = { 0 }, sum = 0;
	pthread_t threads[CALLERS];
	struct timespec from, t;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < CALLERS; i++)
		if (pthread_create(&threads[i], NULL, run_caller, &calls[i]))
			errx(1, "pthread_create");
	do {
		change_maps();
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while ((t.tv_sec - from.tv_sec) * 1000 + (t.tv_nsec - from.tv_nsec) / 1000000 < (long)ms);
	atomic_store(&stop, true);
	for (int i = 0; i < CALLERS; i++) {
		pthread_join(threads[i], NULL);
		sum += calls[i];
	}
	printf("%lu calls\n", sum);
	return 0;
}
