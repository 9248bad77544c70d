/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is a difference between two recordings more than noise?
 *
 * A recording is cut into bins of equal length.  What is compared is a ratio: the events of a stack
 * by the seconds, or by other events, of the same bins.  How much a ratio varies by itself follows
 * from the bins.  This is the circular block bootstrap (Politis and Romano, 1992): draw blocks of
 * neighbouring bins until there are as many bins as in the recording, and see how the ratio varies
 * from draw to draw.  Blocks, not single bins, since a burst lasts longer than a bin.  For a sum,
 * the variance over all possible draws can be computed without drawing, which ratio__measure()
 * does: the answer is exact, and the same each time.
 */
#ifndef ANALYZE_JUDGE_H
#define ANALYZE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#define JUDGE_MIN_BINS 20 /* with fewer, the variance of the bins is a guess itself */
#define JUDGE_MAX_BINS 256

/* A ratio, sum / by, and how far another recording of the same load may be from it. */
struct ratio {
	double sum, by;
	double variance; /* of the ratio */
	double freedom; /* degrees of freedom of the variance: how well it is known */
};

/* The probability of a larger |t| in Student's distribution. */
double student__p(double t, double freedom);
/* The |t| that is exceeded in 5 % of the cases, to four digits for freedom >= 10. */
double student__t95(double freedom);
/*
 * The probability that of n events, each of which is in the first of two groups with probability
 * share, a number as improbable as k is: twice the smaller tail, at most 1.
 */
double binomial__p(uint64_t k, uint64_t n, double share);

/* Bins that a block has, of nr bins: long enough for a burst, short enough for many blocks. */
unsigned int block__length(unsigned int nr);
/* The variance of the sum of the bins of v, whose mean is 0, by blocks of len bins. */
double block__variance(const double *v, unsigned int nr, unsigned int len);

/* Measures sum(x) / sum(y) over nr bins; nr >= JUDGE_MIN_BINS. */
void ratio__measure(const double *x, const double *y, unsigned int nr, struct ratio *ret_ratio);

enum ratio_kind {
	RATIO_RATE, /* events by seconds or by other events */
	RATIO_SHARE, /* events by events that they are part of */
	RATIO_MEAN, /* a sum by the number of its parts */
};

struct verdict {
	double change; /* b - a */
	double noise; /* half of the interval that holds the change with 95 % confidence */
	double p; /* probability of such a change if nothing has changed */
};
/*
 * Judges the change from a to b.  A change must exceed what the bins say and, unless it is one of a
 * mean, what counting alone explains: a count of n varies by sqrt(n) even if nothing else does.
 */
void ratio__judge(const struct ratio *a, const struct ratio *b, enum ratio_kind kind,
		  struct verdict *ret_verdict);
/* Whether no change of so few events could be judged: all of them in one recording is chance. */
bool ratio__is_rare(const struct ratio *a, const struct ratio *b, double level);

/*
 * Benjamini and Hochberg (1995): sets each q to the smallest level at which this p is among the
 * findings, so that of all with q <= 0.05 at most 5 % are wrong on average.  -ENOMEM.
 */
int false_discovery(const double *p, uint32_t nr, double *ret_q);

#endif /* ANALYZE_JUDGE_H */
