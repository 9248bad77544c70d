/* SPDX-License-Identifier: GPL-2.0-only */
/* Futex calls with their duration, and waiting for a thread to be in one. */
#ifndef STACKONCE_TEST_FUTEX_TOOLS_H
#define STACKONCE_TEST_FUTEX_TOOLS_H

#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../prog.h"

static inline void sleep_us(unsigned int us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static inline void sleep_ms(unsigned int ms)
{
	sleep_us(ms * 1000);
}

/* Returns the duration of the call; its result, 0 or a negative errno, in ret_result. */
static inline __attribute__((always_inline)) uint64_t
futex_wait(uint32_t *word, int op, uint32_t value, const struct timespec *timeout, int *ret_result)
{
	uint64_t from = now_ns(), to;
	long r = syscall(SYS_futex, word, op, value, timeout, NULL, 0);

	to = now_ns();
	*ret_result = r < 0 ? -errno : (int)r;
	return to - from;
}

static inline __attribute__((always_inline)) void futex_wake(uint32_t *word, int op, int nr)
{
	syscall(SYS_futex, word, op, nr, NULL, NULL, 0);
}

/*
 * Returns the number of calls that it took: a thread that sleeps in the call may not be waiting
 * yet, but for a page or a lock.
 */
static inline __attribute__((always_inline)) unsigned int futex_wake_one(uint32_t *word, int op)
{
	unsigned int calls = 1;

	for (; !syscall(SYS_futex, word, op, 1, NULL, NULL, 0); calls++)
		sleep_ms(1);
	return calls;
}

/* Waits until the thread sleeps in that system call. */
static inline void until_in(pid_t tid, long nr)
{
	char path[64], text[32] = "", want[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	snprintf(want, sizeof(want), "%ld ", nr);
	for (;;) {
		f = fopen(path, "r");
		if (!f)
			err(1, "%s", path);
		if (!fgets(text, sizeof(text), f))
			text[0] = '\0';
		fclose(f);
		if (!strncmp(text, want, strlen(want)))
			return;
		sleep_us(200);
	}
}

static inline void until_in_futex(pid_t tid)
{
	until_in(tid, SYS_futex);
}

/* Maps a page at the address; of that file unless fd is negative. */
static inline uint32_t *map_at(uint64_t address, int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *p = mmap((void *)address, 4096, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE,
		       fd, 0);

	if (p != (void *)address)
		err(1, "map a page at %#llx", (unsigned long long)address);
	return p;
}

static inline void start_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
	errno = pthread_create(thread, NULL, run, arg);
	if (errno)
		err(1, "pthread_create");
}

#endif /* STACKONCE_TEST_FUTEX_TOOLS_H */
