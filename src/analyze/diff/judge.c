// SPDX-License-Identifier: GPL-2.0-only
/* Variance of bins, Student's and the binomial distribution, and the false discovery rate. */
#include "judge.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "cleanup.h"

/* ---- distributions --------------------------------------------------------------------------- */

#define FRACTION_STEPS 1000
#define SMALLEST 1e-300 /* in place of 0 in a denominator */

static double nonzero(double v)
{
	return fabs(v) < SMALLEST ? SMALLEST : v;
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), f = d, step = 0, term;
	unsigned int m;

	for (m = 1; m <= FRACTION_STEPS && fabs(step - 1) > 4 * DBL_EPSILON; m++) {
		term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 / nonzero(1 + term * d);
		c = nonzero(1 + term / c);
		f *= c * d;
		term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / nonzero(1 + term * d);
		c = nonzero(1 + term / c);
		step = c * d;
		f *= step;
	}
	return f;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* The regularized incomplete beta function I_x(a, b). */
static double incomplete_beta(double x, double a, double b)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	/* The fraction converges fast on this side of the mean only. */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double student__p(double t, double freedom)
{
	if (isinf(t))
		return 0;
	return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/* Abramowitz and Stegun, 26.7.5, with the quantile of the normal distribution. */
double student__t95(double freedom)
{
	double z = 1.959963984540054, z2 = z * z, inverse = 1 / freedom;
	double g1 = z * (z2 + 1) / 4;
	double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
	double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;

	return z + inverse * (g1 + inverse * (g2 + inverse * g3));
}

#define NORMAL_FROM 100000 /* events: then the binomial distribution is a normal one */

double binomial__p(uint64_t k, uint64_t n, double share)
{
	double mean = n * share, below, above;

	if (!n || share <= 0 || share >= 1)
		return 1;
	if (n >= NORMAL_FROM)
		return erfc(fmax(fabs(k - mean) - 0.5, 0) / sqrt(2 * mean * (1 - share)));
	below = k < n ? incomplete_beta(1 - share, n - k, k + 1.0) : 1;
	above = k ? incomplete_beta(share, k, n - k + 1.0) : 1;
	return fmin(1, 2 * fmin(below, above));
}

/* ---- noise ----------------------------------------------------------------------------------- */

unsigned int block__length(unsigned int nr)
{
	return ceil(cbrt(nr));
}

double block__variance(const double *v, unsigned int nr, unsigned int len)
{
	double block = 0, squares = 0;
	unsigned int i;

	for (i = 0; i < len; i++)
		block += v[i];
	for (i = 0; i < nr; i++) {
		squares += block * block;
		block += v[(i + len) % nr] - v[i];
	}
	/*
	 * nr / len blocks are drawn, so the variance of their sum is squares / len.  It is too
	 * small by the variance of the mean that was subtracted.
	 */
	return squares / len * nr / (nr - len);
}

void ratio__measure(const double *x, const double *y, unsigned int nr, struct ratio *ret_ratio)
{
	double rest[JUDGE_MAX_BINS], ratio;
	unsigned int len = block__length(nr), i;
	struct ratio r = { 0 };

	for (i = 0; i < nr; i++) {
		r.sum += x[i];
		r.by += y[i];
	}
	if (r.by > 0) {
		ratio = r.sum / r.by;
		/* To first order, the ratio varies as the sum of what is left (delta method). */
		for (i = 0; i < nr; i++)
			rest[i] = x[i] - ratio * y[i];
		/* Bins that alternate would look quiet in blocks. */
		r.variance = fmax(block__variance(rest, nr, len), block__variance(rest, nr, 1)) /
			     (r.by * r.by);
	}
	/* That of a Bartlett window, which the mean over all blocks is (Priestley, 1981, 6.2.4). */
	r.freedom = fmin(nr - 1, 1.5 * nr / len);
	*ret_ratio = r;
}

static double ratio_of(const struct ratio *r)
{
	return r->by > 0 ? r->sum / r->by : 0;
}

static double welch_freedom(const struct ratio *a, const struct ratio *b, double va, double vb)
{
	double sum = va + vb, parts = va * va / a->freedom + vb * vb / b->freedom;

	return parts > 0 ? sum * sum / parts : fmin(a->freedom, b->freedom);
}

void ratio__judge(const struct ratio *a, const struct ratio *b, enum ratio_kind kind,
		  struct verdict *ret_verdict)
{
	double both = (a->sum + b->sum) / (a->by + b->by);
	double counting = kind == RATIO_MEAN  ? 0 :
			  kind == RATIO_SHARE ? both * fmax(1 - both, 0) :
						both;
	struct verdict v = { .change = ratio_of(b) - ratio_of(a), .p = 1 };
	double va, vb, error, freedom;

	if (!(a->by > 0) || !(b->by > 0)) {
		*ret_verdict = v;
		return;
	}
	va = fmax(a->variance, counting / a->by);
	vb = fmax(b->variance, counting / b->by);
	error = sqrt(va + vb);
	freedom = welch_freedom(a, b, va, vb);
	v.noise = error * student__t95(freedom);
	if (error > 0)
		v.p = student__p(v.change / error, freedom);
	if (error > 0 && kind != RATIO_MEAN)
		v.p = fmax(v.p, binomial__p(b->sum, a->sum + b->sum, b->by / (a->by + b->by)));
	*ret_verdict = v;
}

bool ratio__is_rare(const struct ratio *a, const struct ratio *b, double level)
{
	uint64_t n = a->sum + b->sum;
	double share = b->by / (a->by + b->by);

	return fmin(binomial__p(0, n, share), binomial__p(n, n, share)) > level;
}

/* ---- many answers ---------------------------------------------------------------------------- */

struct ranked {
	double p;
	uint32_t at;
};

static int by_p(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return CMP(a->p, b->p) ?: CMP(a->at, b->at);
}

int false_discovery(const double *p, uint32_t nr, double *ret_q)
{
	_cleanup_free_ struct ranked *order = calloc(nr + !nr, sizeof(*order));
	double least = 1;
	uint32_t i;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		order[i] = (struct ranked){ p[i], i };
	qsort(order, nr, sizeof(*order), by_p);
	for (i = nr; i; i--) {
		least = fmin(least, order[i - 1].p * nr / i);
		ret_q[order[i - 1].at] = least;
	}
	return 0;
}
