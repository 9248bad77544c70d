// SPDX-License-Identifier: GPL-2.0-only
/* Which stack belongs to which event, with interrupts in between and with missing stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/ftrace/ring/ftrace_match.h"

#define KERNEL FTRACE_MATCH_KERNEL
#define USER FTRACE_MATCH_USER
#define COOKIE FTRACE_MATCH_COOKIE

static const struct ftrace_context task = { .pid = 10, .flags = 0, .preempt = 0 };
static const struct ftrace_context task_off = { .pid = 10, .flags = 1, .preempt = 1 };
static const struct ftrace_context other = { .pid = 11, .flags = 0, .preempt = 0 };
static const struct ftrace_context soft = { .pid = 10, .flags = 0x10, .preempt = 1 };
static const struct ftrace_context hard = { .pid = 10, .flags = 0x09, .preempt = 1 };
static const struct ftrace_context hard_in_soft = { .pid = 10, .flags = 0x19, .preempt = 2 };
static const struct ftrace_context nmi = { .pid = 10, .flags = 0x49, .preempt = 2 };

static struct ftrace_match *m;

static int setup(void **state)
{
	return ftrace_match__new(&m);
}

static int teardown(void **state)
{
	ftrace_match__free(m);
	m = NULL;
	return 0;
}

/* The data of an event is its number, which is also its time. */
static void event(const struct ftrace_context *ctx, uint64_t n, unsigned int parts)
{
	assert_int_equal(ftrace_match__event(m, n, ctx, &n, sizeof(n), parts), 0);
}

static void stack(const struct ftrace_context *ctx, unsigned int parts, uint64_t value)
{
	assert_true(ftrace_match__stack(m, ctx, parts, value, value + 1000));
}

static void orphan(const struct ftrace_context *ctx, unsigned int parts)
{
	uint64_t before = ftrace_match__counts(m)->orphans;

	assert_false(ftrace_match__stack(m, ctx, parts, 1, 1));
	assert_int_equal(ftrace_match__counts(m)->orphans, before + 1);
}

static void done(uint64_t n, uint64_t kernel, uint64_t user)
{
	const struct ftrace_matched *e = ftrace_match__next(m);
	uint64_t data;

	assert_non_null(e);
	assert_int_equal(e->ts, n);
	assert_int_equal(e->len, sizeof(data));
	memcpy(&data, e->data, sizeof(data));
	assert_int_equal(data, n);
	assert_int_equal(e->kernel, kernel);
	assert_int_equal(e->user, user);
	assert_int_equal(!!(e->got & KERNEL), !!kernel);
	assert_int_equal(!!(e->got & USER), !!user);
}

static void none(void)
{
	assert_null(ftrace_match__next(m));
}

static void missed(uint64_t kernel, uint64_t user)
{
	assert_int_equal(ftrace_match__counts(m)->no_kernel, kernel);
	assert_int_equal(ftrace_match__counts(m)->no_user, user);
}

static void test_plain(void **state)
{
	none();
	event(&task, 1, KERNEL | USER);
	none();
	stack(&task, KERNEL, 5);
	none();
	stack(&task, USER, 6);
	done(1, 5, 6);
	none();
	event(&task, 2, 0); /* no stack follows */
	done(2, 0, 0);
	event(&task, 3, KERNEL);
	stack(&task, KERNEL, 7);
	done(3, 7, 0);
	none();
	missed(0, 0);
}

static void test_nested(void **state)
{
	event(&task, 1, KERNEL | USER);
	event(&soft, 2, KERNEL | USER);
	event(&hard_in_soft, 3, KERNEL | USER);
	event(&nmi, 4, KERNEL | USER); /* NMIs have no user stacks */
	stack(&nmi, KERNEL, 40);
	none(); /* in the ring's order */
	stack(&hard_in_soft, KERNEL, 30);
	stack(&hard_in_soft, USER, 31);
	stack(&soft, KERNEL, 20);
	event(&hard, 5, KERNEL | USER); /* after the softirq's event, which is therefore over */
	stack(&hard, KERNEL, 50);
	stack(&hard, USER, 51);
	none();
	stack(&task, KERNEL, 10);
	stack(&task, USER, 11);
	done(1, 10, 11);
	done(2, 20, 0);
	done(3, 30, 31);
	done(4, 40, 0);
	done(5, 50, 51);
	none();
	missed(0, 1);
}

/* Interrupted between its two stacks, and again in the interrupt. */
static void test_between(void **state)
{
	event(&task, 1, KERNEL | USER);
	stack(&task, KERNEL, 10);
	event(&hard, 2, KERNEL | USER);
	event(&nmi, 3, KERNEL);
	stack(&nmi, KERNEL, 30);
	stack(&hard, KERNEL, 20);
	event(&nmi, 4, KERNEL);
	stack(&nmi, KERNEL, 40);
	stack(&hard, USER, 21);
	stack(&task, USER, 11);
	done(1, 10, 11);
	done(2, 20, 21);
	done(3, 30, 0);
	done(4, 40, 0);
	missed(0, 0);
}

/* An event while the stack of another one is taken, in the same level and in the same context. */
static void test_recursion(void **state)
{
	event(&task, 1, KERNEL);
	event(&task_off, 2, KERNEL);
	event(&task, 3, KERNEL);
	stack(&task, KERNEL, 30);
	stack(&task_off, KERNEL, 20);
	stack(&task, KERNEL, 10);
	done(1, 10, 0);
	done(2, 20, 0);
	done(3, 30, 0);
	missed(0, 0);
}

/* Contexts that differ in any part are different. */
static void test_exact_context(void **state)
{
	const struct ftrace_context flags = { .pid = 10, .flags = 1, .preempt = 0 };
	const struct ftrace_context preempt = { .pid = 10, .flags = 0, .preempt = 1 };

	event(&task, 1, KERNEL | USER);
	event(&flags, 2, KERNEL);
	event(&preempt, 3, KERNEL);
	stack(&task, KERNEL, 10);
	stack(&flags, KERNEL, 20);
	orphan(&task, KERNEL); /* it has one already */
	stack(&preempt, KERNEL, 30);
	stack(&task, USER, 11);
	done(1, 10, 11);
	done(2, 20, 0);
	done(3, 30, 0);
	none();
	missed(0, 0);
}

/*
 * The place of a missing stack is not filled by another one, and the event does not wait forever.
 */
static void test_missing(void **state)
{
	event(&task, 1, KERNEL | USER);
	event(&task, 2, KERNEL | USER);
	stack(&task, KERNEL, 20);
	stack(&task, USER, 21);
	none();
	event(&other, 3, KERNEL); /* another task runs on the CPU */
	done(1, 0, 0);
	done(2, 20, 21);
	none();
	event(&hard, 4, KERNEL);
	event(&other, 5, KERNEL);
	stack(&other, KERNEL, 50);
	orphan(&hard, KERNEL); /* the interrupt has ended: not its stack */
	stack(&other, KERNEL, 30);
	done(3, 30, 0);
	done(4, 0, 0);
	done(5, 50, 0);
	missed(2, 1);
}

static void test_no_kernel(void **state)
{
	event(&task, 1, KERNEL | USER);
	stack(&task, USER, 11); /* the user stack comes last */
	done(1, 0, 11);
	none();
	missed(1, 0);
	orphan(&task, KERNEL);
}

static void test_same_level_ends(void **state)
{
	uint64_t n;

	event(&task, 0, KERNEL);
	for (n = 1; n <= FTRACE_MATCH_SAME; n++) {
		none();
		event(&task, n, KERNEL);
	}
	done(0, 0, 0);
	none();
	for (n = FTRACE_MATCH_SAME; n >= 1; n--)
		stack(&task, KERNEL, 100 + n);
	for (n = 1; n <= FTRACE_MATCH_SAME; n++)
		done(n, 100 + n, 0);
	none();
	missed(1, 0);
}

/* An idle CPU: the event of a task waits while interrupts come and go. */
static void test_forced(void **state)
{
	uint64_t n;

	event(&task, 0, KERNEL);
	for (n = 1; n < FTRACE_MATCH_OPEN; n++) {
		none();
		event(&hard, n, KERNEL);
		stack(&hard, KERNEL, n);
	}
	assert_int_equal(ftrace_match__counts(m)->forced, 1);
	done(0, 0, 0);
	for (n = 1; n < FTRACE_MATCH_OPEN; n++)
		done(n, n, 0);
	none();
	assert_int_equal(ftrace_match__counts(m)->events, FTRACE_MATCH_OPEN);
	missed(1, 0);
}

static void test_cut(void **state)
{
	event(&task, 1, KERNEL | USER);
	stack(&task, KERNEL, 10);
	event(&hard, 2, KERNEL);
	ftrace_match__cut(m, UINT64_MAX); /* events were lost */
	done(1, 10, 0);
	done(2, 0, 0);
	none();
	orphan(&hard, KERNEL);
	orphan(&task, USER);
	event(&task, 3, KERNEL);
	stack(&task, KERNEL, 30);
	done(3, 30, 0);
	missed(1, 1);
}

/* The first event's stack was dropped; the CPU was stopped before it wrote the second one's. */
static void test_cut_until(void **state)
{
	event(&task, 1, USER);
	event(&task, 2, USER);
	ftrace_match__cut(m, 1);
	done(1, 0, 0);
	none();
	stack(&task, USER, 20);
	done(2, 0, 20);
	missed(0, 1);
	assert_int_equal(ftrace_match__counts(m)->orphans, 0);
}

static void test_cookie(void **state)
{
	const struct ftrace_matched *e;

	event(&task, 1, KERNEL | COOKIE); /* both in one record */
	stack(&task, KERNEL | COOKIE, 5);
	e = ftrace_match__next(m);
	assert_true(e && e->kernel == 5 && e->cookie == 1005);
	event(&task, 2, KERNEL | COOKIE); /* the stack in full, then the cookie */
	stack(&task, KERNEL, 6);
	none();
	stack(&task, COOKIE, 7);
	e = ftrace_match__next(m);
	assert_true(e && e->kernel == 6 && e->cookie == 1007);
	event(&task, 3, COOKIE); /* no kernel stacks requested */
	stack(&task, COOKIE, 8);
	e = ftrace_match__next(m);
	assert_true(e && e->ts == 3 && !(e->got & KERNEL) && e->cookie == 1008);
	event(&task, 4, KERNEL | COOKIE); /* a kernel thread has no cookie */
	stack(&task, KERNEL, 9);
	event(&other, 5, 0);
	e = ftrace_match__next(m);
	assert_true(e && e->ts == 4 && e->kernel == 9 && !e->cookie);
	missed(0, 0);
}

static void test_sizes(void **state)
{
	static char big[60000];
	const struct ftrace_matched *e;

	memset(big, 'x', sizeof(big));
	assert_int_equal(ftrace_match__event(m, 1, &task, big, 0, 0), 0);
	e = ftrace_match__next(m);
	assert_true(e && !e->len);
	assert_int_equal(ftrace_match__event(m, 2, &task, big, sizeof(big), KERNEL), 0);
	memset(big, 'y', sizeof(big)); /* the event keeps a copy */
	stack(&task, KERNEL, 1);
	e = ftrace_match__next(m);
	assert_true(e && e->len == sizeof(big) && ((const char *)e->data)[59999] == 'x');
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain),     TEST(test_nested),	  TEST(test_between),
		TEST(test_recursion), TEST(test_exact_context),	  TEST(test_missing),
		TEST(test_no_kernel), TEST(test_same_level_ends), TEST(test_forced),
		TEST(test_cut),	      TEST(test_cut_until),	  TEST(test_cookie),
		TEST(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
