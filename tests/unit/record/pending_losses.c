// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses noted by a thread, by signals that interrupt it and by signals that interrupt these, as
 * interrupts and NMIs do on a CPU, while another thread takes them: none is missing, none is
 * counted twice, and each lies within the times of its report.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "cleanup.h"
#include "bpf/loss.bpf.h"
#include "record/bpf/pending_losses.h"
#include "trace/write/writer.h"

#define NR_EVENTS 2
#define NR_CPUS 2
#define EVENT 1
#define CPU 1
#define MAX_LOSSES 4000000u
#define SPARE 100000u /* of these, reserved for signals */
#define SIGNALS 3000u
#define TAKES 1000u

static struct event_counts counts[NR_EVENTS * NR_CPUS];
static uint32_t losing[NR_CPUS];

/* The clock: each reading returns a new time. */
static _Atomic uint64_t ticks = 1000;
static uint64_t noted[MAX_LOSSES]; /* times, in order */
static _Atomic uint64_t nr_noted, nested;
static _Atomic bool over;

static struct report {
	uint64_t first, last, count;
} * reports;
static size_t nr_reports, max_reports;

static void note(void)
{
	uint64_t ts = ++ticks;

	if (nr_noted < MAX_LOSSES)
		noted[nr_noted++] = ts;
	loss_note(&counts[EVENT * NR_CPUS + CPU].loss, ts);
	__atomic_store_n(&losing[CPU], 1, __ATOMIC_RELAXED);
}

static void on_signal(int sig)
{
	nested++;
	note();
}

static void *writer(void *arg)
{
	sigset_t none;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	while (!over) {
		if (nr_noted < MAX_LOSSES - SPARE)
			note();
		else
			sched_yield();
		for (volatile int pause = 0; pause < 100; pause++)
			;
	}
	return NULL;
}

static int take_one(void *ctx, const struct stk_writer_loss *loss)
{
	assert_int_equal(loss->event, EVENT);
	assert_int_equal(loss->cpu, CPU);
	assert_true(loss->first_ts && loss->first_ts <= loss->last_ts);
	if (nr_reports == max_reports) {
		max_reports = max_reports ? 2 * max_reports : 1024;
		reports = realloc(reports, max_reports * sizeof(*reports));
		assert_non_null(reports);
	}
	reports[nr_reports++] = (struct report){ loss->first_ts, loss->last_ts, loss->count };
	return 0;
}

static int by_first(const void *a, const void *b)
{
	const struct report *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Each time lies within a report, and the reports count as many losses. */
static void check(void)
{
	uint64_t sum = 0, reach = 0;
	size_t i, next = 0;

	for (i = 0; i < nr_reports; i++)
		sum += reports[i].count;
	assert_int_equal(sum, nr_noted);
	qsort(reports, nr_reports, sizeof(*reports), by_first);
	qsort(noted, nr_noted, sizeof(*noted), by_value);
	for (i = 0; i < nr_noted; i++) {
		for (; next < nr_reports && reports[next].first <= noted[i]; next++)
			reach = MAX(reach, reports[next].last);
		assert_true(noted[i] <= reach);
	}
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	/* the second signal interrupts the handler of the first */
	sigemptyset(&sa.sa_mask);
	assert_int_equal(sigaction(SIGUSR1, &sa, NULL), 0);
	assert_int_equal(sigaction(SIGUSR2, &sa, NULL), 0);
}

static void test_nested(void **state)
{
	struct pending_losses *l;
	pthread_t t;
	unsigned int i = 0;

	catch_signals();
	assert_int_equal(pending_losses__new(counts, losing, NR_EVENTS, NR_CPUS, &l), 0);
	pending_losses__since(l, 1);
	assert_int_equal(pthread_create(&t, NULL, writer, NULL), 0);
	while ((nested < SIGNALS || nr_reports < TAKES) && nr_noted < MAX_LOSSES - SPARE) {
		pthread_kill(t, i++ % 3 ? SIGUSR1 : SIGUSR2);
		assert_int_equal(pending_losses__take(l, take_one, NULL), 0);
	}
	over = true;
	pthread_join(t, NULL);
	assert_int_equal(pending_losses__take(l, take_one, NULL), 0);
	print_message("%zu takes of %llu losses, %llu in signals\n", nr_reports,
		      (unsigned long long)nr_noted, (unsigned long long)nested);
	assert_true(nr_noted < MAX_LOSSES && nested && nr_reports > 1);
	check();
	pending_losses__free(l);
	free(reports);
}

/* States of a loss record between two looks, in order. */
static uint64_t taken_count;
static struct stk_writer_loss taken;

static int take_last(void *ctx, const struct stk_writer_loss *loss)
{
	taken = *loss;
	taken_count += loss->count;
	return 0;
}

static void look(struct pending_losses *l)
{
	losing[0] = 1;
	taken = (struct stk_writer_loss){ 0 };
	assert_int_equal(pending_losses__take(l, take_last, NULL), 0);
}

static void test_under_way(void **state)
{
	struct wire_loss *w = &counts[0].loss;
	struct pending_losses *l;

	memset(counts, 0, sizeof(counts));
	taken_count = 0;
	assert_int_equal(pending_losses__new(counts, losing, NR_EVENTS, NR_CPUS, &l), 0);
	pending_losses__since(l, 50);
	/* a loss is being noted while the previous one is taken, and ends after a third one */
	w->begun = 2;
	w->first = 100;
	w->last = 110;
	w->done = 1;
	look(l);
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.first_ts, 100);
	assert_int_equal(taken.last_ts, 110);
	w->begun = 3;
	w->first = w->last = 200;
	w->done = 3;
	look(l);
	assert_int_equal(taken.count, 2);
	assert_int_equal(taken.first_ts, 100);
	assert_int_equal(taken.last_ts, 200);
	/* no loss was being noted this time */
	w->begun = w->done = 4;
	w->first = w->last = 300;
	look(l);
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.first_ts, 300);
	assert_int_equal(taken.last_ts, 300);
	/* interrupted too often to know the times */
	w->first = WIRE_LOSS_ANY_FIRST;
	w->last = WIRE_LOSS_ANY_LAST;
	w->begun = w->done = 6;
	look(l);
	assert_int_equal(taken.first_ts, 50);
	assert_true(taken.last_ts == UINT64_MAX);
	look(l);
	assert_int_equal(taken.count, 0);
	assert_int_equal(taken_count, 6);
	pending_losses__free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_under_way),
	};

	return cmocka_run_group_tests_name("pending_losses", tests, NULL, NULL);
}
