// SPDX-License-Identifier: GPL-2.0-only
/* The statistics of diff against tables, closed forms and real resampling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff/judge.h"
#include "cleanup.h"

static uint64_t state = 88172645463325252ULL;

static double random_part(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((state >> 11) + 0.5) / (1ULL << 53);
}

static double random_normal(void)
{
	return sqrt(-2 * log(random_part())) * cos(2 * M_PI * random_part());
}

static void near_to(double got, double want, double relative)
{
	if (fabs(got - want) > fabs(want) * relative)
		fail_msg("%.9g is not %.9g", got, want);
}

/* Quantiles of any printed table of Student's distribution, two-sided. */
static void test_student(void **unused)
{
	near_to(student__p(12.706, 1), 0.05, 1e-4);
	near_to(student__p(2.228, 10), 0.05, 1e-3);
	near_to(student__p(3.169, 10), 0.01, 1e-3);
	near_to(student__p(4.587, 10), 0.001, 1e-3);
	near_to(student__p(2.042, 30), 0.05, 1e-3);
	near_to(student__p(1.96, 1e6), 0.05, 1e-3);
	near_to(student__p(-2.228, 10), 0.05, 1e-3);
	near_to(student__p(0, 10), 1, 1e-12);
	near_to(student__p(1, 1), 0.5, 1e-12);
	near_to(student__t95(10), 2.228139, 1e-4);
	near_to(student__t95(30), 2.042272, 1e-5);
	near_to(student__t95(100), 1.983972, 1e-6);
	assert_true(student__p(INFINITY, 10) == 0);
	/* The tail of one degree of freedom is an arc tangent. */
	near_to(student__p(1000, 1), 2 * atan(1 / 1000.0) / M_PI, 1e-9);
}

/* The sum of the smaller tail, term by term. */
static double binomial_by_sum(unsigned int k, unsigned int n, double p)
{
	double below = 0, above = 0, term;
	unsigned int i;

	for (i = 0; i <= n; i++) {
		term = exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) +
			   (n - i) * log1p(-p));
		below += i <= k ? term : 0;
		above += i >= k ? term : 0;
	}
	return fmin(1, 2 * fmin(below, above));
}

static void test_binomial(void **unused)
{
	static const double shares[] = { 0.5, 0.1, 0.9, 0.33 };
	unsigned int n, k, i;

	near_to(binomial__p(0, 10, 0.5), 2 / 1024.0, 1e-12);
	near_to(binomial__p(8, 10, 0.5), 2 * 56 / 1024.0, 1e-12);
	for (i = 0; i < ARRAY_SIZE(shares); i++)
		for (n = 1; n < 60; n += 7)
			for (k = 0; k <= n; k++)
				near_to(binomial__p(k, n, shares[i]),
					binomial_by_sum(k, n, shares[i]), 1e-8);
	/* Beyond 100,000 events it is a normal distribution, with hardly a step. */
	near_to(binomial__p(50500, 100001, 0.5), binomial__p(50499, 99999, 0.5), 0.001);
	assert_true(binomial__p(0, 0, 0.5) == 1);
	assert_true(binomial__p(3, 3, 1) == 1);
}

/* Benjamini and Hochberg, 1995, section 3.1: 15 hypotheses, of which four are rejected at 0.05. */
static void test_false_discovery(void **unused)
{
	static const double p[] = { 0.6528, 0.0001, 0.0004, 0.0278, 0.0019, 0.0095, 0.0201, 0.0298,
				    0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.7590, 1.0000 };
	double q[ARRAY_SIZE(p)];
	unsigned int i, found = 0;

	assert_int_equal(false_discovery(p, ARRAY_SIZE(p), q), 0);
	for (i = 0; i < ARRAY_SIZE(p); i++)
		found += q[i] <= 0.05;
	assert_int_equal(found, 4);
	near_to(q[1], 0.0001 * 15, 1e-9);
	near_to(q[2], 0.0004 * 15 / 2, 1e-9);
	near_to(q[4], 0.0019 * 15 / 3, 1e-9);
	near_to(q[5], 0.0095 * 15 / 4, 1e-9);
	assert_true(q[6] > 0.05);
	/* Never larger than that of a larger p. */
	near_to(q[3], 0.0298 * 15 / 7, 1e-9);
	near_to(q[7], 0.0298 * 15 / 7, 1e-9);
	near_to(q[14], 1, 1e-12);
	assert_int_equal(false_discovery(p, 0, q), 0);
}

static void subtract_mean(double *v, unsigned int nr)
{
	double mean = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		mean += v[i] / nr;
	for (i = 0; i < nr; i++)
		v[i] -= mean;
}

/* Draws blocks for real: the variance is the one that is computed, up to the known factor. */
static void test_is_a_bootstrap(void **unused)
{
	enum { NR = 60, LEN = 4, DRAWS = 200000 };
	double v[NR], sum, squares = 0;
	unsigned int i, k, l, from;

	for (i = 0; i < NR; i++)
		v[i] = random_normal() + (i ? 0.6 * v[i - 1] : 0);
	subtract_mean(v, NR);
	for (i = 0; i < DRAWS; i++) {
		sum = 0;
		for (k = 0; k < NR / LEN; k++) {
			from = random_part() * NR;
			for (l = 0; l < LEN; l++)
				sum += v[(from + l) % NR];
		}
		squares += sum * sum;
	}
	near_to(block__variance(v, NR, LEN), squares / DRAWS * NR / (NR - LEN), 0.02);
}

/* On average it is the variance of the process that made the bins. */
static void test_variance(void **unused)
{
	enum { NR = 100, RUNS = 4000 };
	double v[NR], alone = 0, blocks = 0, dependent = 0;
	unsigned int run, i;

	for (run = 0; run < RUNS; run++) {
		for (i = 0; i < NR; i++)
			v[i] = 3 * random_normal();
		subtract_mean(v, NR);
		alone += block__variance(v, NR, 1) / RUNS;
		blocks += block__variance(v, NR, 5) / RUNS;
		/* Each value twice: the sum varies twice as much as single bins suggest. */
		for (i = 0; i < NR; i += 2)
			v[i] = v[i + 1] = 3 * random_normal();
		subtract_mean(v, NR);
		dependent += block__variance(v, NR, 10) / RUNS;
	}
	near_to(alone, 9 * NR, 0.02);
	near_to(blocks, 9 * NR, 0.03);
	/* Blocks of 10 see all but one in ten neighbours; see the Bartlett window. */
	near_to(dependent, 9 * NR * (2 - 1 / 10.0), 0.04);
}

static struct ratio measured(double mean, double deviation, unsigned int nr)
{
	double x[JUDGE_MAX_BINS], y[JUDGE_MAX_BINS];
	struct ratio r;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		x[i] = round(fmax(mean + deviation * random_normal(), 0));
		y[i] = 1;
	}
	ratio__measure(x, y, nr, &r);
	return r;
}

/* Of changes that are none, at most a share p is judged as this improbable. */
static void test_judge_level(void **unused)
{
	unsigned int run, runs = 4000, below = 0;
	struct ratio a, b;
	struct verdict v;

	for (run = 0; run < runs; run++) {
		a = measured(1000, 100, 40);
		b = measured(1000, 100, 60);
		ratio__judge(&a, &b, RATIO_RATE, &v);
		below += v.p < 0.05;
	}
	/* Blocks of 40 bins are few, so the level is met closely, not exactly. */
	assert_in_range(below, runs * 0.03, runs * 0.06);
}

static void test_judge(void **unused)
{
	struct ratio a = measured(1000, 30, 40), b = measured(1200, 30, 40), none = { .by = 40 };
	struct ratio few = { .sum = 3, .by = 40 }, nothing = { 0 };
	struct verdict v;

	none.freedom = few.freedom = 10;
	ratio__judge(&a, &b, RATIO_RATE, &v);
	assert_true(v.p < 1e-9);
	near_to(v.change, 200, 0.2);
	near_to(v.noise, 2.03 * sqrt(2.0 * 30 * 30 / 40), 1);
	/* Even if the bins do not differ at all, a count is not exact. */
	none.sum = 40 * 100;
	b = none;
	b.sum = 40 * 101;
	ratio__judge(&none, &b, RATIO_RATE, &v);
	assert_true(v.p > 0.1);
	/* A whole is no part that varies. */
	a = b = (struct ratio){ .sum = 500, .by = 500, .freedom = 20 };
	ratio__judge(&a, &b, RATIO_SHARE, &v);
	assert_true(v.p == 1 && v.change == 0);
	ratio__judge(&nothing, &b, RATIO_RATE, &v);
	assert_true(v.p == 1 && v.change == 1);
	ratio__judge(&nothing, &nothing, RATIO_RATE, &v);
	assert_true(v.p == 1 && v.change == 0);
	none.sum = 0;
	assert_true(ratio__is_rare(&none, &few, 0.05));
	few.sum = 6;
	assert_false(ratio__is_rare(&none, &few, 0.05));
	assert_true(ratio__is_rare(&nothing, &nothing, 0.05));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student),		cmocka_unit_test(test_binomial),
		cmocka_unit_test(test_false_discovery), cmocka_unit_test(test_is_a_bootstrap),
		cmocka_unit_test(test_variance),	cmocka_unit_test(test_judge_level),
		cmocka_unit_test(test_judge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
