// SPDX-License-Identifier: GPL-2.0-only
/* Zombies whose reaping was not seen: what is known at least, and who did not reap them. */
#include "lifecycle_recording.h"

#include <sys/wait.h>

#define END_TS "5000000000" /* ns */

/* 20 is a child of 10, and 30 of 20; 30 is a zombie from 202 on. */
static struct recording *family(void)
{
	struct recording *r = begin(0);

	meta(r, "tasks.end", "1 1 0 1 0 S init\n10 10 1 10 0 S comm-10\n");
	meta(r, "tasks.end_ts", END_TS);
	born(r, 100, 10, 20, 20);
	born(r, 101, 20, 30, 30);
	ends(r, 200, 30, 0, Z);
	return r;
}

/* Its parent ends, and init reaps it unseen. */
static void test_parent_ends(void **state)
{
	struct recording *r = family();

	ends(r, 3000000, 20, 1, Z);
	waits(r, 3000100, 10, 20);
	read_back(r);
	assert_int_equal(process(30, 0)->state, LIFE_GONE);
	assert_exit(process(30, 0), 0);
	assert_true(process(30, 0)->orphan);
	assert_int_equal(process(30, 0)->left, 3000001000);
	assert_int_equal(process(30, 0)->parent.pid, 20);
	assert_between(process(30, 0)->reaped, 3000001, 5000000);
	assert_null(process(30, 0)->reaped_with);
	assert_us(life__left(process(30, 0)), 2999799, 2999799);
	assert_us(life__zombie(process(30, 0)), 2999799, 4999798);
	assert_int_equal(process(20, 0)->left, 0);
	assert_false(life__left(process(20, 0)).any);
	assert_int_equal(counts.ends_unseen, 1);
}

/* Its free was seen. */
static void test_freed(void **state)
{
	struct recording *r = family();

	ends(r, 3000000, 20, 1, Z);
	waits(r, 3000100, 10, 20);
	freed(r, 3010000, 30, NULL);
	read_back(r);
	assert_int_equal(process(30, 0)->state, LIFE_FREED);
	assert_between(process(30, 0)->reaped, 3000001, 3010000);
	assert_us(life__zombie(process(30, 0)), 2999799, 3009798);
	assert_us(life__unfreed(process(30, 0)), 0, 9999);
	assert_int_equal(counts.ends_unseen, 1);
}

/* The parent is alive and reaped it unseen: the free bounds when. */
static void test_only_freed(void **state)
{
	struct recording *r = family();

	freed(r, 4000000, 30, NULL);
	read_back(r);
	assert_between(process(30, 0)->reaped, 3000000, 4000000);
	assert_us(life__zombie(process(30, 0)), 2999798, 3999798);
	assert_int_equal(process(30, 0)->left, 0);
}

/* A child that reaped itself was never a zombie, however long RCU takes. */
static void test_slow_rcu(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	ends(r, 200, 20, 0, X);
	freed(r, 4000000, 20, NULL);
	read_back(r);
	assert_between(process(20, 0)->reaped, 201, 202);
	assert_us(life__zombie(process(20, 0)), 0, 0);
	assert_int_equal(counts.ends_unseen, 0);
}

/* The new parent reaps it later. */
static void test_subreaper(void **state)
{
	struct recording *r = family();

	ends(r, 3000000, 20, 1, Z);
	waits(r, 3000100, 10, 20);
	waits(r, 4000000, 10, 30);
	freed(r, 4000100, 30, NULL);
	read_back(r);
	assert_at(process(30, 0)->reaped, 4000001);
	assert_int_equal(process(30, 0)->reaper.pid, 10);
	assert_us(life__zombie(process(30, 0)), 3999799, 3999799);
	assert_us(life__left(process(30, 0)), 2999799, 2999799);
}

/* It is still a zombie at the end. */
static void test_still_zombie(void **state)
{
	struct recording *r = begin(0);

	meta(r, "tasks.end", "1 1 0 1 0 S init\n10 10 1 10 0 S comm-10\n30 30 1 30 0 Z comm-30\n");
	meta(r, "tasks.end_ts", END_TS);
	born(r, 100, 10, 20, 20);
	born(r, 101, 20, 30, 30);
	ends(r, 200, 30, 0, Z);
	ends(r, 3000000, 20, 1, Z);
	waits(r, 3000100, 10, 20);
	read_back(r);
	assert_int_equal(process(30, 0)->state, LIFE_ZOMBIE);
	assert_int_equal(process(30, 0)->new_parent.pid, 1);
	assert_us(life__left(process(30, 0)), 2999799, 2999799);
	assert_int_equal(counts.ends_unseen, 0);
}

/* One of the parent's waits may have reaped it. */
static void test_unsure(void **state)
{
	struct recording *r;

	r = family();
	ev(r, 1000, 20, 20, WAIT4_RET, 99, 0, 0, NULL); /* an unknown child */
	ends(r, 3000000, 20, 1, Z);
	read_back(r);
	assert_int_equal(process(30, 0)->left, 0);
	assert_us(life__zombie(process(30, 0)), 0, 4999798);

	r = begin(0);
	born(r, 100, 10, 20, 20);
	born(r, 101, 20, 30, 30);
	born(r, 102, 20, 40, 40);
	ends(r, 200, 30, 0, Z);
	ends(r, 300, 40, 0, Z);
	wait_id(r, 1000, 20, P_ALL, 0, WEXITED); /* one of two */
	ends(r, 3000000, 20, 1, Z);
	read_back(r);
	assert_int_equal(process(30, 0)->left, 0);
	assert_int_equal(process(40, 0)->left, 0);

	/* the parent is a 32-bit program: only the event inside of the call is recorded */
	r = begin(0);
	born(r, 100, 10, 20, 20);
	born(r, 101, 20, 30, 30);
	ev(r, 110, 20, 20, PROCESS_WAIT, 0, 0, 0, NULL);
	ends(r, 200, 30, 0, Z);
	ends(r, 3000000, 20, 1, Z);
	read_back(r);
	assert_int_equal(process(30, 0)->left, 0);

	/* before it was a zombie */
	r = begin(0);
	born(r, 100, 10, 20, 20);
	born(r, 101, 20, 30, 30);
	ev(r, 108, 20, 20, WAIT4, -1, 0, 0, NULL);
	ev(r, 109, 20, 20, PROCESS_WAIT, 0, 0, 0, NULL);
	ev(r, 110, 20, 20, WAIT4_RET, 99, 0, 0, NULL);
	ends(r, 200, 30, 0, Z);
	ends(r, 3000000, 20, 1, Z);
	read_back(r);
	assert_int_equal(process(30, 0)->left, 3000001000);
}

/* Waits of the parent were lost, or are not in the recording. */
static void test_lost_waits(void **state)
{
	static const enum ev kinds[] = { WAIT4_RET, WAITID_RET };
	struct recording *r;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		r = family();
		lose(r, kinds[i], 1000, 1000);
		ends(r, 3000000, 20, 1, Z);
		read_back(r);
		assert_false(life__left(process(30, 0)).any);
		assert_us(life__zombie(process(30, 0)), 0, 4999798);

		r = begin(1u << kinds[i]);
		born(r, 100, 10, 20, 20);
		born(r, 101, 20, 30, 30);
		ends(r, 200, 30, 0, Z);
		ends(r, 3000000, 20, 1, Z);
		read_back(r);
		assert_int_equal(process(30, 0)->left, 0);
	}
}

/* Its parent ended before it was a zombie: the new parent did not reap it. */
static void test_orphan_before(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	born(r, 101, 20, 30, 30);
	ends(r, 150, 20, 1, Z);
	waits(r, 160, 10, 20);
	ends(r, 200, 30, 0, Z);
	ends(r, 3000000, 10, 1, Z);
	read_back(r);
	assert_true(process(30, 0)->orphan);
	assert_int_equal(process(30, 0)->left, 0);
}

/* Fields missing are not losses. */
static void test_fields_missing(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	no_fields(r, 400, 10, FREE);
	count(r, FREE, STK_C_NO_FIELDS, 1);
	read_back(r);
	assert_int_equal(nr_gaps, 1);
	assert_int_equal(gaps[0].kind, LIFE_GAP_FIELDS);
	assert_string_equal(gaps[0].name, "sched_process_free");
	assert_int_equal(gaps[0].count, 1);
	assert_int_equal(counts.frees_unnamed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parent_ends),   cmocka_unit_test(test_freed),
		cmocka_unit_test(test_only_freed),    cmocka_unit_test(test_slow_rcu),
		cmocka_unit_test(test_subreaper),     cmocka_unit_test(test_still_zombie),
		cmocka_unit_test(test_unsure),	      cmocka_unit_test(test_lost_waits),
		cmocka_unit_test(test_orphan_before), cmocka_unit_test(test_fields_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
