// SPDX-License-Identifier: GPL-2.0-only
/* Lifecycles with threads, tracers, missing events and task lists. */
#include "lifecycle_recording.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"

static void thread_ends(struct recording *r, uint64_t ts, uint32_t pid, uint32_t tid, int dead,
			int state)
{
	ev(r, ts, pid, tid, EXIT, tid, dead, 0, NULL);
	ev(r, ts + 1, pid, tid, SWITCH, tid, state, 0, NULL);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void leader_first(uint32_t without)
{
	struct recording *r = begin(without);

	born(r, 100, 10, 20, 20);
	thread(r, 110, 20, 21);
	ev(r, 120, 20, 21, WAIT4_RET, -1, 0, 0, NULL); /* shows that it is a thread */
	ev(r, 200, 20, 20, EXIT_CALL, 4, 0, 0, NULL);
	thread_ends(r, 201, 20, 20, 0, Z);
	ev(r, 300, 20, 21, EXIT_CALL, 9, 0, 0, NULL);
	thread_ends(r, 301, 20, 21, 1, X);
	waits(r, 400, 10, 20);
	freed(r, 500, 21, "thread");
	freed(r, 501, 20, NULL);
	read_back(r);
	assert_exit(process(20, 0), 9);
	assert_int_equal(process(20, 0)->nr_threads, 2);
	assert_at(process(20, 0)->exit, 301);
	assert_at(process(20, 0)->zombie, 302);
	assert_at(process(20, 0)->reaped, 401);
	assert_us(life__zombie(process(20, 0)), 99, 99);
	assert_between(reported_thread(21)->reaped, 301, 302);
	assert_at(reported_thread(21)->freed, 500);
	assert_exit(reported_thread(21), 9);
	assert_int_equal(counts.processes, 1);
	assert_int_equal(counts.threads, 1);
}

/* 20 is a child of 10 and has a second thread, 21. */
static struct recording *two_threads(void)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	thread(r, 110, 20, 21);
	return r;
}

static void test_leader_first(void **state)
{
	leader_first(0);
	leader_first(NO_GROUP_DEAD);
	leader_first(1u << NEWTASK);
}

/* Two threads exit at once with different codes: the exit status is uncertain. */
static void test_last_of_two(void **state)
{
	struct recording *r = two_threads();

	ev(r, 200, 20, 20, EXIT_CALL, 4, 0, 0, NULL);
	ev(r, 201, 20, 21, EXIT_CALL, 9, 0, 0, NULL);
	thread_ends(r, 202, 20, 20, 0, Z);
	thread_ends(r, 204, 20, 21, 1, X);
	read_back(r);
	assert_true(process(20, 0)->uncertain);
}

/* With the last thread's final switch lost, the time at which the zombie begins is unknown. */
static void test_last_switch_lost(void **state)
{
	struct recording *r = two_threads();

	thread_ends(r, 201, 20, 20, 0, Z);
	ev(r, 301, 20, 21, EXIT, 21, 1, 0, NULL);
	lose(r, SWITCH, 150, 350);
	waits(r, 400, 10, 20);
	freed(r, 500, 21, "thread");
	freed(r, 501, 20, NULL);
	read_back(r);
	assert_at(process(20, 0)->exit, 301);
	assert_between(process(20, 0)->zombie, 301, 401);
	assert_us(life__teardown(process(20, 0)), 0, 100);
	assert_us(life__zombie(process(20, 0)), 0, 100);
}

/* Another task has the pid before the last switch of the first, which is late. */
static void test_late_switch(void **state)
{
	struct recording *r = two_threads();

	ev(r, 200, 20, 21, EXIT, 21, 0, 0, NULL);
	born(r, 210, 10, 21, 21);
	ev(r, 220, 20, 21, SWITCH, 21, X, 0, NULL);
	ends(r, 300, 20, 0, Z);
	waits(r, 400, 10, 20);
	read_back(r);
	assert_at(process(20, 0)->zombie, 302);
	assert_us(life__teardown(process(20, 0)), 1, 1);
}

/* exit_group() kills the other threads by SIGKILL, which is not how the process ends. */
static void test_exit_group(void **state)
{
	struct recording *r = two_threads();

	ev(r, 200, 20, 21, EXIT_GROUP, 8, 0, 0, NULL);
	ev(r, 201, 20, 20, SIGNAL, SIGKILL, 0, 0, NULL);
	thread_ends(r, 202, 20, 20, 0, Z);
	thread_ends(r, 204, 20, 21, 1, X);
	read_back(r);
	assert_exit(process(20, 0), 8);
	assert_int_equal(process(20, 0)->state, LIFE_ZOMBIE);
	assert_int_equal(process(20, 0)->live_threads, 0);
}

/* The old leader is freed before (0) or after (1) the exec, or its last switch is late (2). */
static void thread_execs(unsigned int when)
{
	struct recording *r = two_threads();

	ev(r, 200, 20, 20, SIGNAL, SIGKILL, 0, 0, NULL);
	ev(r, 201, 20, 20, EXIT, 20, 0, 0, NULL);
	if (when < 2)
		ev(r, 202, 20, 20, SWITCH, 20, Z, 0, NULL);
	else
		ev(r, 202, 20, 21, SWITCH, 21, X, 0, NULL); /* with the thread's tid */
	if (when == 0)
		freed(r, 210, 21, NULL);
	ev(r, 220, 20, 20, EXEC, 20, 21, 0, "/bin/x");
	if (when)
		freed(r, 230, 21, NULL);
	ends(r, 300, 20, 6, Z);
	waits(r, 310, 10, 20);
	freed(r, 400, 20, NULL);
	read_back(r);
	assert_exit(process(20, 0), 6);
	assert_at(process(20, 0)->born, 100);
	assert_at(process(20, 0)->exit, 301);
	assert_at(process(20, 0)->zombie, 302);
	assert_at(process(20, 0)->reaped, 311);
	assert_at(process(20, 0)->freed, 400);
	assert_int_equal(process(20, 0)->nr_threads, 2);
	assert_true(reported_thread(21)->replaced);
	assert_at(reported_thread(21)->freed, when ? 230 : 210);
	assert_int_equal(nr_reported(), 3);
	assert_int_equal(counts.exits_unseen, 0);
}

static void test_thread_execs(void **state)
{
	thread_execs(0);
	thread_execs(1);
	thread_execs(2);
}

static void test_traced(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	born(r, 101, 10, 30, 30);
	ends(r, 200, 20, 1, Z);
	waits(r, 300, 30, 20); /* a wait of the tracer, not of the parent */
	waits(r, 400, 10, 20);
	read_back(r);
	assert_int_equal(process(20, 0)->reaper.pid, 10);
	assert_at(process(20, 0)->reaped, 401);
	assert_int_equal(counts.tracer_waits, 1);
}

/* ---- missing events -------------------------------------------------------------------------- */

static void test_nothing_but_ends(void **state)
{
	struct recording *r = begin(~(1u << EXIT | 1u << FREE | NO_GROUP_DEAD));

	ev(r, 100, 20, 20, EXIT, 20, 1, 0, NULL);
	freed(r, 200, 20, NULL);
	freed(r, 210, 99, NULL);
	read_back(r);
	assert_int_equal(process(20, 0)->how, LIFE_HOW_UNKNOWN);
	assert_true(process(20, 0)->existed);
	assert_at(process(20, 0)->exit, 100);
	assert_between(process(20, 0)->reaped, 100, 200);
	assert_between(process(20, 0)->zombie, 100, 200);
	assert_int_equal(life__lifetime(process(20, 0)).max, LIFE_EVER);
	assert_int_equal(counts.frees_unmatched, 1);
	assert_true(nr_gaps > 8);
}

static void test_exit_lost(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	ev(r, 150, 20, 20, RENAME, 20, 0, 0, "x");
	freed(r, 200, 20, "x");
	born(r, 300, 10, 30, 30);
	ev(r, 310, 30, 30, RENAME, 30, 0, 0, "y");
	born(r, 400, 10, 30, 30); /* no exit, no free */
	count(r, EXIT, STK_C_LOST_RING, 2);
	count(r, FREE, STK_C_FILTERED_PID, 5);
	count(r, SWITCH, STK_C_FILTERED_EXPR, 7);
	count(r, EXIT, STK_C_FILTERED_EXPR, 9);
	count(r, WAIT4_RET, STK_C_LOST_EDGE, 1);
	read_back(r);
	assert_between(process(20, 0)->exit, 150, 200);
	assert_int_equal(process(20, 0)->state, LIFE_FREED);
	assert_between(process(30, 0)->exit, 310, 400);
	assert_int_equal(process(30, 0)->state, LIFE_GONE);
	assert_int_equal(process(30, 1)->state, LIFE_ALIVE);
	assert_int_equal(counts.exits_unseen, 2);
	assert_int_equal(nr_gaps, 3);
	assert_int_equal(gaps[0].kind, LIFE_GAP_LOST);
	assert_string_equal(gaps[0].name, "sched_process_exit");
	assert_int_equal(gaps[0].count, 2);
	assert_int_equal(gaps[1].kind, LIFE_GAP_FILTERED);
	assert_int_equal(gaps[1].count, 9);
	assert_int_equal(gaps[2].kind, LIFE_GAP_OTHERS);
	assert_int_equal(gaps[2].count, 5);
}

/* Without frees a process is reported once it is reaped and switched off. */
static void test_no_frees(void **state)
{
	struct recording *r = begin(1u << FREE);

	born(r, 100, 10, 20, 20);
	ends(r, 200, 20, 1, Z);
	waits(r, 300, 10, 20);
	born(r, 400, 10, 20, 20);
	read_back(r);
	assert_exit(process(20, 0), 1);
	assert_int_equal(process(20, 0)->freed.to, 0);
	assert_int_equal(process(20, 1)->state, LIFE_ALIVE);
	assert_int_equal(counts.pid_reuses, 0);
}

static void test_unfreed(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	born(r, 100, 10, 30, 30);
	ends(r, 200, 20, 1, Z);
	ends(r, 210, 30, 1, Z);
	waits(r, 300, 10, 20);
	no_fields(r, 400, 10, FREE);
	ev(r, 5000000, 10, 10, RENAME, 10, 0, 0, "later");
	read_back(r);
	assert_int_equal(process(20, 0)->state, LIFE_REAPED);
	assert_int_equal(process(20, 0)->freed.to, 0);
	assert_int_equal(process(30, 0)->state, LIFE_ZOMBIE);
	assert_non_null(process(30, 0)->parent_where.type);
	assert_int_equal(process(30, 0)->parent_where.ts, 5000000000);
	assert_int_equal(counts.frees_unnamed, 1);
}

/* ---- task lists ------------------------------------------------------------------------------ */

static void test_lists(void **state)
{
	struct recording *r = begin(0);

	meta(r, "tasks.start",
	     "1 1 0 1 0 S init\n"
	     "10 10 1 10 0 S a\\x20name\n"
	     "20 20 10 20 0 Z dead\n"
	     "30 30 10 30 0 S box\n" /* init of a namespace */
	     "31 31 30 1 0 S inner-init\n"
	     "32 32 31 7 0 S inner\n"
	     "40 40 10 40 0 S two\n"
	     "41 40 10 41 0 S second\n"
	     "50 50 10 50 0 S unseen\n"
	     "60 60 50 60 0 S child\n");
	meta(r, "tasks.start_ts", "90000");
	ends(r, 100, 32, 2, Z);
	waits(r, 110, 31, 7);
	ends(r, 120, 31, 3, Z);
	waits(r, 130, 30, 31);
	thread_ends(r, 150, 40, 41, 0, X);
	ends(r, 160, 40, 1, Z);
	meta(r, "tasks.end",
	     "1 1 0 1 0 S init\n"
	     "10 10 1 10 0 S a\\x20name\n"
	     "20 20 10 20 0 Z dead\n"
	     "60 60 1 60 0 Z child\n"
	     "30 30 10 30 0 S box\n"
	     "70 70 1 70 0 Z late\n");
	meta(r, "tasks.end_ts", "500000");
	read_back(r);
	assert_int_equal(process(20, 0)->state, LIFE_ZOMBIE);
	assert_between(process(20, 0)->zombie, 0, 90);
	assert_int_equal(process(20, 0)->parent.pid, 10);
	assert_int_equal(process(10, 0)->state, LIFE_ALIVE);
	assert_string_equal(process(10, 0)->self.comm, "a name");
	assert_at(process(32, 0)->reaped, 111);
	assert_int_equal(process(32, 0)->reaper.pid, 31);
	assert_at(process(31, 0)->reaped, 131);
	assert_int_equal(process(40, 0)->nr_threads, 2);
	assert_int_equal(process(40, 0)->state, LIFE_GONE); /* not in the list of the end */
	assert_between(process(40, 0)->reaped, 161, 500);
	assert_int_equal(process(50, 0)->state, LIFE_GONE);
	assert_int_equal(process(60, 0)->state, LIFE_ZOMBIE);
	assert_int_equal(process(60, 0)->new_parent.pid, 1);
	assert_int_equal(process(70, 0)->state, LIFE_ZOMBIE);
	assert_int_equal(counts.births_unseen, 0);
}

/* The list is read after the first events, and contains the tasks that they create. */
static void test_list_is_late(void **state)
{
	struct recording *r = begin(0);

	meta(r, "tasks.start", "10 10 1 10 0 S parent\n20 20 10 20 0 S child\n");
	meta(r, "tasks.start_ts", "150000");
	born(r, 100, 10, 20, 20);
	ends(r, 200, 20, 1, Z);
	waits(r, 300, 10, 20);
	read_back(r);
	assert_false(process(20, 0)->existed);
	assert_at(process(20, 0)->born, 100);
	assert_at(process(20, 0)->reaped, 301);
	assert_int_equal(counts.existed, 1);
}

static void test_bad_lists(void **state)
{
	static const char *const lists[] = {
		"",
		"\n\n",
		"1 1\n99999999999999999999 1 1 1 1 S x\n-1 2 3 4 5 S x\n1 1 1 1 1\n0 0 0 0 0 S 0\n",
		"1 1 2 1 0 S a\n2 2 3 2 0 S b\n3 3 1 3 0 S c\n4 4 4 4 0 S self\n",
		"5 5 0 5 0 S twice\n5 5 0 5 0 Z twice\n6 5 0 6 0 S t\n6 5 0 6 0 S t\n",
		"7 8 0 7 0 S leaderless\n9 9 7 9 0 \\ \\x0",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		struct recording *r = begin(0);

		meta(r, "tasks.start", lists[i]);
		meta(r, "tasks.start_ts", "no number");
		born(r, 100, 1, 200, 200);
		ends(r, 110, 200, 1, Z);
		waits(r, 120, 2, 200);
		ends(r, 130, 1, 1, Z);
		ends(r, 140, 3, 1, Z);
		meta(r, "tasks.end", lists[ARRAY_SIZE(lists) - 1 - i]);
		read_back(r);
		assert_exit(process(200, 0), 1);
	}
}

/* A task is its own child, in a list and in an event. */
static void test_own_child(void **state)
{
	struct recording *r = begin(0);

	meta(r, "tasks.start", "10 10 1 10 0 S listed\n");
	ev(r, 100, 10, 10, FORK, 10, 0, 0, "self");
	ev(r, 110, 20, 20, NEWTASK, 20, 0, 0, "self");
	ev(r, 120, 20, 21, WAIT4_RET, -1, 0, 0, NULL);
	ev(r, 130, 20, 21, NEWTASK, 21, 0x10000, 0, "self");
	ends(r, 200, 20, 3, Z);
	waits(r, 210, 10, 20);
	read_back(r);
	assert_int_equal(counts.processes, 0);
	assert_exit(process(20, 0), 3);
}

/* More ancestors than MAX_GENERATIONS. */
static void test_long_line(void **state)
{
	struct recording *r = begin(0);
	static char text[200000];
	size_t len = 0;
	int i;

	for (i = 1; i < 5000; i++)
		len += sprintf(text + len, "%d %d %d %d 0 S c\n", i, i, i - 1, i);
	meta(r, "tasks.start", text);
	ends(r, 100, 4999, 1, Z);
	waits(r, 110, 1, 4999);
	read_back(r);
	assert_int_equal(counts.existed, 4999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leader_first),	 cmocka_unit_test(test_last_of_two),
		cmocka_unit_test(test_last_switch_lost), cmocka_unit_test(test_late_switch),
		cmocka_unit_test(test_exit_group),	 cmocka_unit_test(test_thread_execs),
		cmocka_unit_test(test_traced),		 cmocka_unit_test(test_nothing_but_ends),
		cmocka_unit_test(test_exit_lost),	 cmocka_unit_test(test_no_frees),
		cmocka_unit_test(test_unfreed),		 cmocka_unit_test(test_lists),
		cmocka_unit_test(test_list_is_late),	 cmocka_unit_test(test_bad_lists),
		cmocka_unit_test(test_own_child),	 cmocka_unit_test(test_long_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
