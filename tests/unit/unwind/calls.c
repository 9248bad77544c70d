// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with stacks: calls [sleep].  Without an argument it does what programs do with stacks,
 * for the test "steps"; with one, its threads sleep in known places, for "chains".
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sum; /* changed after each call, so that none is in tail position */
static bool asleep;
static sem_t never;
static jmp_buf back;

NOINLINE static void leaf_sleep(void)
{
	struct timespec t = { .tv_sec = 1000 };

	nanosleep(&t, NULL);
	sum++;
}

NOINLINE static int compare(const void *a, const void *b)
{
	if (asleep)
		leaf_sleep();
	sum++;
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void sort_some(int n)
{
	int v[64];

	for (int i = 0; i < 64; i++)
		v[i] = i * 7919 % 101;
	qsort(v, n, sizeof(*v), compare);
	sum += v[0];
}

/* A stack frame whose size is known only from the frame pointer. */
NOINLINE static void sort_in_variable_frame(int n)
{
	char b[n + 16];

	memset(b, 0, sizeof(b));
	sort_some(n);
	sum += b[n];
}

/* A frame with a larger alignment than the stack. */
NOINLINE static void sort_in_aligned_frame(int n)
{
	_Alignas(64) char b[64];

	memset(b, n, sizeof(b));
	sort_in_variable_frame(n);
	sum += b[n & 63] + ((uintptr_t)b & 63 ? 1 : 0);
}

static void on_signal(int sig)
{
	struct timespec t = { .tv_nsec = 1 };

	nanosleep(&t, NULL);
	sum += sig;
}

NOINLINE static void jump_back(int n)
{
	if (n)
		jump_back(n - 1);
	else
		longjmp(back, 1);
	sum++;
}

NOINLINE static void *wait_for_never(void *arg)
{
	sem_wait(&never);
	sum++;
	return arg;
}

NOINLINE static void *sort_asleep(void *arg)
{
	sort_in_aligned_frame(48);
	sum++;
	return arg;
}

static void at_exit(void)
{
	sort_some(4);
	sum++;
}

NOINLINE static int sleep_everywhere(void)
{
	pthread_t t;

	asleep = true;
	sem_init(&never, 0, 0);
	pthread_create(&t, NULL, wait_for_never, NULL);
	pthread_create(&t, NULL, sort_asleep, NULL);
	leaf_sleep();
	return sum > 0;
}

NOINLINE static void print_some(void)
{
	char text[256], *p;
	struct tm tm;
	time_t zero = 0;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	gmtime_r(&zero, &tm);
	strftime(text, sizeof(text), "%c", &tm);
	printf("%s %d %g %.3Lf %s %p\n", text, sum, 1.5, 2.5L, "text", (void *)&sum);
	p = strdup(text);
	p = realloc(p, 300000);
	free(p);
	sum += (int)strtol("0x7b", NULL, 0) + atoi("12") + (int)strtod("1e3", NULL);
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1)
		return sleep_everywhere();
	atexit(at_exit);
	signal(SIGUSR1, on_signal);
	sort_in_aligned_frame(24);
	raise(SIGUSR1);
	print_some();
	if (!setjmp(back))
		jump_back(5);
	sem_init(&never, 0, 1);
	pthread_create(&t, NULL, wait_for_never, NULL);
	pthread_join(t, NULL);
	return sum == 0;
}
