// SPDX-License-Identifier: GPL-2.0-only
/* Futex waits: what is measured, and what is counted as unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/futex.h>
#include <string.h>

#include "analyze/waits/futex.h"
#include "waits_recording.h"

#define A 0x1000
#define B 0x2000
#define PRIVATE FUTEX_PRIVATE_FLAG

struct result {
	struct stk_reader *r;
	struct futex_analysis *a;
	const struct futex_result *result;
};

static struct result analyze(struct recording *rec, enum futex_by by)
{
	struct result an = { .r = recording__open(rec, 1000000) };
	const struct futex_opts opts = { .by = by };
	const struct stk_event *e;

	assert_int_equal(futex_analysis__new(an.r, &opts, &an.a), 0);
	while (stk_reader__next(an.r, &e) == 1)
		assert_int_equal(futex_analysis__add(an.a, e), 0);
	assert_int_equal(futex_analysis__finish(an.a, &an.result), 0);
	return an;
}

static void done(struct result *an)
{
	futex_analysis__free(an->a);
	stk_reader__free(an->r);
}

static void enter(struct recording *rec, uint64_t ts, uint32_t tid, uint32_t pid, uint64_t op,
		  uint64_t address, uint64_t val)
{
	recording__put(rec, (struct ev){ .ts = ts,
					 .type = FUTEX_IN,
					 .tid = tid,
					 .pid = pid,
					 .f = { address, op, val, B },
					 .stack = tid });
}

static void leave(struct recording *rec, uint64_t ts, uint32_t tid, uint32_t pid, int64_t ret)
{
	recording__put(rec, (struct ev){ .ts = ts,
					 .type = FUTEX_OUT,
					 .tid = tid,
					 .pid = pid,
					 .f = { (uint64_t)ret } });
}

static void waking(struct recording *rec, uint64_t ts, uint32_t by, uint32_t pid, uint32_t target)
{
	recording__put(rec, (struct ev){ .ts = ts,
					 .type = WAKING,
					 .tid = by,
					 .pid = pid,
					 .f = { target },
					 .stack = by });
}

static const struct futex_group *at(const struct result *an, uint64_t address)
{
	uint32_t i;

	for (i = 0; i < an->result->nr_groups; i++)
		if (an->result->groups[i].address.address == address)
			return &an->result->groups[i];
	fail_msg("no group at %#llx", (unsigned long long)address);
	return NULL;
}

static void test_wait_and_waker(void **state)
{
	struct recording rec;
	struct result an;
	const struct futex_group *g;

	(void)state;
	recording__begin(&rec);
	enter(&rec, 100, 11, 10, FUTEX_WAIT | PRIVATE, A, 2);
	enter(&rec, 200, 12, 10, FUTEX_WAKE | PRIVATE, A, 1);
	waking(&rec, 210, 12, 10, 11);
	leave(&rec, 220, 12, 10, 1);
	leave(&rec, 300, 11, 10, 0);
	/* no wait, no waiter, and another process */
	enter(&rec, 400, 11, 10, FUTEX_WAIT | PRIVATE, A, 2);
	leave(&rec, 410, 11, 10, -EAGAIN);
	enter(&rec, 500, 11, 10, FUTEX_WAKE | PRIVATE, A, 1);
	leave(&rec, 510, 11, 10, 0);
	enter(&rec, 600, 21, 20, FUTEX_WAIT | PRIVATE, A, 2);
	leave(&rec, 650, 21, 20, -ETIMEDOUT);
	an = analyze(&rec, FUTEX_BY_ADDRESS);
	assert_int_equal(an.result->nr_groups, 2);
	g = &an.result->groups[0];
	assert_int_equal(g->waits.count, 1);
	assert_int_equal((uint64_t)g->waits.sum, 200);
	assert_int_equal(g->again, 1);
	assert_int_equal(g->wakes, 2);
	assert_int_equal(g->wasted, 1);
	assert_int_equal(g->address.kind, FUTEX_MUTEX);
	assert_int_equal(g->address.owner_changes, 1);
	assert_int_equal(g->nr_stacks, 1);
	assert_true(g->stacks[0].woken && g->stacks[0].by_call);
	assert_int_equal(g->stacks[0].waker.tid, 12);
	assert_string_equal(g->stacks[0].waker.comm, "task-12");
	g = &an.result->groups[1];
	assert_int_equal(g->address.pid, 20);
	assert_int_equal(g->timeouts, 1);
	assert_int_equal((uint64_t)g->waits.sum, 50);
	assert_int_equal(an.result->sums.waits, 2);
	assert_int_equal(an.result->sums.shared, 0);
	done(&an);
}

static void test_shared(void **state)
{
	struct recording rec;
	struct result an;

	(void)state;
	recording__begin(&rec);
	enter(&rec, 100, 11, 0, FUTEX_WAIT, A, 0);
	enter(&rec, 200, 21, 0, FUTEX_WAKE, B, 1);
	waking(&rec, 210, 21, 0, 11);
	leave(&rec, 220, 21, 0, 1);
	leave(&rec, 300, 11, 0, 0);
	an = analyze(&rec, FUTEX_BY_ADDRESS);
	assert_int_equal(an.result->nr_groups, 1);
	assert_int_equal(an.result->groups[0].address.nr_places, 2);
	assert_int_equal(an.result->groups[0].waits.count, 1);
	assert_int_equal(an.result->groups[0].wakes, 1);
	assert_int_equal(an.result->sums.shared, 1);
	done(&an);
}

/* Two threads wait and one is moved; its wake at the other futex shows which. */
static void requeue(struct recording *rec, int64_t ret, bool woken)
{
	recording__begin(rec);
	enter(rec, 100, 11, 10, FUTEX_WAIT | PRIVATE, A, 0);
	enter(rec, 110, 12, 10, FUTEX_WAIT | PRIVATE, A, 0);
	enter(rec, 200, 13, 10, FUTEX_CMP_REQUEUE | PRIVATE, A, 0);
	leave(rec, 210, 13, 10, ret);
	enter(rec, 300, 13, 10, FUTEX_WAKE | PRIVATE, B, 1);
	if (woken)
		waking(rec, 310, 13, 10, 11);
	leave(rec, 320, 13, 10, woken);
	leave(rec, 400, 11, 10, woken ? 0 : -ETIMEDOUT);
	leave(rec, 410, 12, 10, -ETIMEDOUT);
}

static void test_requeue(void **state)
{
	struct recording rec;
	struct result an;

	(void)state;
	/* all are moved */
	requeue(&rec, 2, true);
	an = analyze(&rec, FUTEX_BY_ADDRESS);
	assert_int_equal(at(&an, A)->requeued, 2);
	assert_int_equal((uint64_t)at(&an, A)->waits.sum, 100 + 90);
	assert_int_equal((uint64_t)at(&an, B)->waits.sum, 200 + 210);
	assert_int_equal(at(&an, B)->timeouts, 1);
	assert_int_equal(an.result->sums.waits, 2);
	assert_int_equal(an.result->sums.maybe_requeued, 0);
	done(&an);
	/* one of two is moved, and then woken */
	requeue(&rec, 1, true);
	an = analyze(&rec, FUTEX_BY_ADDRESS);
	assert_int_equal(at(&an, A)->requeued, 1);
	assert_int_equal(at(&an, B)->waits.count, 1);
	assert_int_equal((uint64_t)at(&an, B)->waits.sum, 200);
	assert_int_equal(an.result->sums.maybe_requeued, 1);
	done(&an);
	/* one of two is moved, and not woken */
	requeue(&rec, 1, false);
	an = analyze(&rec, FUTEX_BY_ADDRESS);
	assert_int_equal(at(&an, A)->requeued, 0);
	assert_int_equal(at(&an, A)->waits.count, 2);
	assert_int_equal(an.result->sums.maybe_requeued, 2);
	done(&an);
	/* none is moved */
	requeue(&rec, 0, false);
	an = analyze(&rec, FUTEX_BY_SITE);
	assert_int_equal(an.result->sums.maybe_requeued, 0);
	assert_int_equal(an.result->sums.waits, 2);
	done(&an);
}

static void test_unmatched(void **state)
{
	struct recording rec;
	struct result an;

	(void)state;
	recording__begin(&rec);
	leave(&rec, 100, 11, 10, 0);
	enter(&rec, 200, 12, 10, FUTEX_WAIT | PRIVATE, A, 0);
	enter(&rec, 300, 12, 10, FUTEX_WAIT | PRIVATE, B, 0);
	recording__put(&rec, (struct ev){ .ts = 400,
					  .type = FUTEX_IN,
					  .tid = 13,
					  .pid = 10,
					  .marks = STK_MARK_NO_FIELDS });
	enter(&rec, 500, 14, 10, FUTEX_WAIT | PRIVATE, A, 0);
	/* an interrupt during a futex call of another thread wakes it */
	enter(&rec, 510, 15, 10, FUTEX_WAKE | PRIVATE, B, 1);
	recording__put(&rec, (struct ev){ .ts = 520,
					  .type = WAKING,
					  .tid = 15,
					  .pid = 10,
					  .flags = HARDIRQ,
					  .f = { 14 } });
	leave(&rec, 530, 15, 10, 0);
	leave(&rec, 600, 14, 10, 0);
	an = analyze(&rec, FUTEX_BY_SITE);
	assert_int_equal(an.result->sums.no_enter, 1);
	assert_int_equal(an.result->sums.no_exit, 1);
	assert_int_equal(an.result->sums.no_fields, 1);
	assert_int_equal(an.result->sums.waits, 1);
	assert_int_equal(an.result->nr_open, 1);
	assert_int_equal(an.result->open[0].task.tid, 12);
	assert_int_equal(an.result->open[0].address.address, B);
	assert_int_equal(an.result->open[0].since, 300);
	assert_true(an.result->groups[0].stacks[0].interrupt);
	assert_false(an.result->groups[0].stacks[0].by_call);
	assert_int_equal(an.result->groups[0].stacks[0].waker.tid, 0);
	done(&an);
}

/* An exit and the next entry are lost: two waits must not become a long one. */
static void test_lost(void **state)
{
	struct recording rec;
	struct result an;

	(void)state;
	recording__begin(&rec);
	enter(&rec, 100, 11, 0, FUTEX_WAIT | PRIVATE, A, 0);
	leave(&rec, 150, 11, 0, 0);
	enter(&rec, 200, 11, 0, FUTEX_WAIT | PRIVATE, A, 0);
	assert_int_equal(stk_writer__end_round(rec.w, 250, 0), 0);
	leave(&rec, 310, 12, 0, 0);
	recording__lose(&rec, FUTEX_OUT, 1, 1000);
	recording__lose(&rec, FUTEX_IN, 1, 2000);
	enter(&rec, 2100, 13, 0, FUTEX_WAIT | PRIVATE, A, 0);
	leave(&rec, 2500, 11, 0, 0);
	assert_int_equal(stk_writer__end_round(rec.w, 3000, 0), 0);
	assert_int_equal(stk_writer__end_round(rec.w, 4000, 0), 0);
	assert_int_equal(stk_writer__end_round(rec.w, 5000, 0), 0);
	enter(&rec, 6000, 11, 0, FUTEX_WAIT | PRIVATE, A, 0);
	leave(&rec, 6100, 11, 0, 0);
	an = analyze(&rec, FUTEX_BY_SITE);
	assert_int_equal(an.result->sums.lost, 2);
	assert_true(an.result->sums.gaps >= 1);
	assert_true((uint64_t)an.result->sums.ns <= 150);
	assert_true((uint64_t)an.result->sums.ns >= 100);
	done(&an);
}

/* One site, which is a guess in one of four calls: the group says so, not the first stack alone. */
static void test_guessed_site(void **state)
{
	struct recording rec;
	struct result an;
	uint64_t ts;

	(void)state;
	recording__begin(&rec);
	for (ts = 100; ts <= 400; ts += 100) {
		recording__put(&rec, (struct ev){ .ts = ts,
						  .type = FUTEX_IN,
						  .tid = 11,
						  .f = { A, FUTEX_WAIT | PRIVATE, 2 },
						  .stack = 11,
						  .guessed = ts == 100 });
		leave(&rec, ts + 50, 11, 0, -ETIMEDOUT);
	}
	an = analyze(&rec, FUTEX_BY_SITE);
	assert_int_equal(an.result->nr_groups, 1);
	assert_int_equal(an.result->groups[0].waits.count, 4);
	assert_int_equal(an.result->groups[0].calls, 4);
	assert_int_equal(an.result->groups[0].guesses, 1);
	done(&an);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait_and_waker), cmocka_unit_test(test_shared),
		cmocka_unit_test(test_requeue),	       cmocka_unit_test(test_unmatched),
		cmocka_unit_test(test_lost),	       cmocka_unit_test(test_guessed_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
