/* SPDX-License-Identifier: GPL-2.0-only */
/* What the stress tests share. */
#ifndef TEST_STRESS_H
#define TEST_STRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The finalizer of MurmurHash3: every bit of x changes half of the result's. */
static inline uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ (x >> 33);
}

/* Random numbers: the next one of this state. */
static inline uint64_t stress_roll(uint64_t *rng)
{
	return mix(*rng += 0x9e3779b97f4a7c15ULL);
}

/*
 * Signals are interrupts: each thread has a timer that sends it SIGUSR1, once after it has been
 * armed.  The thread arms it between its steps, and a handler may do so once it has raised its
 * level.  With a periodic timer, on a machine that takes longer than its period to deliver a
 * signal, only handlers would run, or one would interrupt another until the stack is full.
 */
static __thread struct {
	timer_t id;
	volatile bool armed;
} stress_timer;

static inline void stress_timer_create(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &stress_timer.id))
		abort();
	stress_timer.armed = false;
}

/* Unless it is armed. */
static inline void stress_timer_arm(long ns)
{
	const struct itimerspec once = { .it_value.tv_nsec = ns };

	if (stress_timer.armed)
		return;
	stress_timer.armed = true;
	timer_settime(stress_timer.id, 0, &once, NULL); /* fails once it is deleted */
}

/* The first call of a handler. */
static inline void stress_timer_expired(void)
{
	stress_timer.armed = false;
}

static inline void stress_timer_delete(void)
{
	timer_delete(stress_timer.id);
}

#endif /* TEST_STRESS_H */
