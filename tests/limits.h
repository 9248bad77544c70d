/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a command may need for hostile files: 300 MB, and 2 seconds of CPU time for each recording,
 * as each has a budget of its own.  Only time in user mode counts: system time includes BPF
 * programs of other recorders that run at the events of this process.  execve(2) keeps the limits.
 */
#ifndef TESTS_LIMITS_H
#define TESTS_LIMITS_H

#include <err.h>
#include <sys/resource.h>
#include <sys/time.h>

#define LIMIT_MEMORY (300ull << 20)
#define LIMIT_SECONDS 2
#define LIMIT_SYSTEM_SECONDS 10 /* for a hang */

static inline void limit(int resource, rlim_t value)
{
	const struct rlimit l = { value, value };

	if (setrlimit(resource, &l))
		err(2, "setrlimit");
}

static inline void limit_all(unsigned int recordings)
{
	const struct itimerval user_time = { .it_value.tv_sec = recordings * LIMIT_SECONDS };

	limit(RLIMIT_AS, LIMIT_MEMORY);
	limit(RLIMIT_CPU, recordings * LIMIT_SECONDS + LIMIT_SYSTEM_SECONDS);
	if (setitimer(ITIMER_VIRTUAL, &user_time, NULL))
		err(2, "setitimer");
}

#endif /* TESTS_LIMITS_H */
