// SPDX-License-Identifier: GPL-2.0-only
/* Compares the times between pairs of events: percentiles, and whether the mean has changed. */
#include "diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "string_table.h"

#define MARK '*'
#define NAME_COLUMN 7

/* A group of pairs that at least one recording has. */
struct row {
	uint32_t name; /* number in names */
	const struct pairs_group *group[2]; /* NULL: it has none */
	struct verdict verdict; /* of the mean, ns */
	bool judged, significant;
	double q;
};

struct comparison {
	struct diff_cmd *cmd;
	struct string_table names;
	struct row *rows; /* by name until they are sorted */
	uint32_t nr, max;
	bool judged;
};

static void comparison__free(struct comparison *c)
{
	string_table__clear(&c->names);
	free(c->rows);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int measured(void *ctx, const struct pairs_group *group, const struct pairs_pair *pair)
{
	struct diff_reading *r = ctx;

	return side__add_pair(&r->side, group, pair->start.ts, pair->end.ts - pair->start.ts);
}

static int read_side(struct diff_reading *r)
{
	const struct selection *sel = &r->l.rd.sel;
	int err;

	side__init(&r->side, r->l.rd.reader, 0, 0, UINT64_MAX, r->bin_ns);
	r->l.query.measured = measured;
	r->l.query.ctx = r;
	err = latency__read(&r->l);
	if (sel->nr_times)
		r->side.to = sel->times[0].to;
	side__finish(&r->side);
	/* Series of at most PAIRS_MAX_GROUPS groups. */
	return err ?: charge(&r->charge, r->l.rd.reader, side__memory(&r->side), 0);
}

static int add_groups(struct comparison *c, unsigned int side)
{
	struct latency *l = &c->cmd->r[side].l;
	uint32_t number;
	unsigned int i;

	for (i = 0; i < l->res.nr_groups; i++) {
		_cleanup_(strbuf__free) struct strbuf name = { 0 };

		pair_query__group_name(&l->query, l->res.groups[i], &name);
		if (strbuf__failed(&name) ||
		    string_table__intern(&c->names, name.s ?: "", &number) ||
		    array__reach(&c->rows, number, &c->max))
			return -ENOMEM;
		c->nr = MAX(c->nr, number + 1);
		c->rows[number].name = number;
		c->rows[number].group[side] = l->res.groups[i];
	}
	return 0;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Too few bins with pairs say nothing about how the mean varies. */
static bool measure(const struct side *s, const struct pairs_group *group, struct ratio *ret_ratio)
{
	const struct side_pairs *p = group ? side__pairs(s, group) : NULL;
	double ns[SERIES_BINS], nr[SERIES_BINS];

	if (!p || p->nr.nr < JUDGE_MIN_BINS)
		return false;
	series__expand(&p->ns, ns);
	series__expand(&p->nr, nr);
	ratio__measure(ns, nr, side__nr_bins(s), ret_ratio);
	return true;
}

static int judge(struct comparison *c)
{
	_cleanup_free_ double *p = calloc(c->nr + 1, sizeof(*p)),
			      *q = calloc(c->nr + 1, sizeof(*q));
	const struct diff_reading *r = c->cmd->r;
	uint32_t nr = 0, i;

	if (!p || !q)
		return -ENOMEM;
	for (i = 0; i < c->nr; i++) {
		struct row *row = &c->rows[i];
		struct ratio a, b;

		row->judged = measure(&r[0].side, row->group[0], &a) &&
			      measure(&r[1].side, row->group[1], &b);
		if (!row->judged)
			continue;
		ratio__judge(&a, &b, RATIO_MEAN, &row->verdict);
		p[nr++] = row->verdict.p;
	}
	if (false_discovery(p, nr, q))
		return -ENOMEM;
	for (i = nr = 0; i < c->nr; i++) {
		if (!c->rows[i].judged)
			continue;
		c->rows[i].q = q[nr++];
		c->rows[i].significant = c->rows[i].q <= DIFF_LEVEL;
	}
	return 0;
}

static double mean_change(const struct row *r)
{
	if (!r->group[0] || !r->group[1])
		return 0;
	return (double)latency__mean(&r->group[1]->durations) -
	       (double)latency__mean(&r->group[0]->durations);
}

static int by_change(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;
	double x = fabs(mean_change(a)), y = fabs(mean_change(b));

	return CMP(y, x) ?: CMP(a->name, b->name);
}

/* ---- output ---------------------------------------------------------------------------------- */

static const struct value {
	const char *name, *a, *b; /* heading, and members of JSON */
	unsigned int per_mille; /* 0: the mean, 1000: the largest */
} values[] = {
	{ "mean", "mean_a", "mean_b", 0 },   { "p50", "p50_a", "p50_b", 500 },
	{ "p90", "p90_a", "p90_b", 900 },    { "p99", "p99_a", "p99_b", 990 },
	{ "p999", "p999_a", "p999_b", 999 }, { "max", "max_a", "max_b", 1000 },
};

static uint64_t value_of(const struct pairs_group *g, const struct value *v)
{
	if (!g)
		return 0;
	return v->per_mille == 1000 ? g->durations.max :
	       v->per_mille	    ? durations__percentile(&g->durations, v->per_mille) :
				      latency__mean(&g->durations);
}

static uint64_t count_of(const struct pairs_group *g)
{
	return g ? g->durations.count : 0;
}

static void put_side(struct out *o, const char *name, const struct pairs_group *g)
{
	size_t i;

	strbuf__printf(&o->b, "  %-*s", NAME_COLUMN, name);
	column__number(o, "count", 9, count_of(g));
	for (i = 0; i < ARRAY_SIZE(values); i++)
		column__ns(o, values[i].name, 10, value_of(g, &values[i]));
	strbuf__putc(&o->b, '\n');
}

/* The shift of each value: absolute, and in percent of a. */
static void put_shift(struct out *o, const struct row *r)
{
	char text[64];
	size_t i;

	strbuf__printf(&o->b, "  %-*s%9s", NAME_COLUMN, "shift", "");
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		uint64_t a = value_of(r->group[0], &values[i]);
		uint64_t b = value_of(r->group[1], &values[i]);

		snprintf(text, sizeof(text), "%s%.40s", b < a ? "-" : "+",
			 text__ns(b < a ? a - b : b - a).s);
		strbuf__printf(&o->b, "%10s", text);
	}
	strbuf__printf(&o->b, "\n  %-*s%9s", NAME_COLUMN, "percent", "");
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		double a = value_of(r->group[0], &values[i]), b = value_of(r->group[1], &values[i]);

		snprintf(text, sizeof(text), "%+.2f%%", a > 0 ? 100 * (b - a) / a : 0.0);
		strbuf__printf(&o->b, "%10s", text);
	}
	strbuf__putc(&o->b, '\n');
}

static void put_row(struct comparison *c, const struct row *r)
{
	struct out *o = &c->cmd->out;

	strbuf__printf(&o->b, "%c ", r->significant ? MARK : ' ');
	out__paint(o, OUT_HEAD);
	strbuf__puts(&o->b, string_table__get(&c->names, r->name));
	out__paint(o, OUT_PLAIN);
	if (r->judged)
		strbuf__printf(&o->b, ": noise of the mean %s",
			       text__ns(fmin(r->verdict.noise, 1e18)).s);
	else if (!r->group[0] || !r->group[1])
		strbuf__puts(&o->b, r->group[1] ? ": new" : ": gone");
	else if (c->judged)
		strbuf__puts(&o->b, ": pairs in too few bins to judge");
	strbuf__putc(&o->b, '\n');
	put_side(o, "a", r->group[0]);
	put_side(o, "b", r->group[1]);
	if (r->group[0] && r->group[1])
		put_shift(o, r);
}

static void put_json(struct comparison *c, const struct row *r)
{
	struct out *o = &c->cmd->out;
	struct json *j = &o->json;
	size_t i;

	json__record(j, "latency");
	json__string(j, "group", string_table__get(&c->names, r->name));
	json__u64(j, "count_a", count_of(r->group[0]));
	json__u64(j, "count_b", count_of(r->group[1]));
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		column__ns(o, values[i].a, 0, value_of(r->group[0], &values[i]));
		column__ns(o, values[i].b, 0, value_of(r->group[1], &values[i]));
	}
	json__bool(j, "judged", r->judged);
	if (r->judged) {
		column__ns(o, "noise", 0, fmin(r->verdict.noise, 1e18));
		json__real(j, "p", r->verdict.p, 9);
		json__real(j, "q", r->q, 9);
	}
	json__bool(j, "significant", r->significant);
	json__end(j);
}

static void put_rows(struct comparison *c)
{
	const struct diff_reading *r = c->cmd->r;
	struct out *o = &c->cmd->out;
	uint32_t i, nr = r->top ? MIN(c->nr, r->top) : c->nr;

	diff__put_recordings(c->cmd, c->judged);
	if (!r->l.rd.json && nr) {
		out__paint(o, OUT_HEAD);
		strbuf__putc(&o->b, '\n');
		o->heads = true;
		put_side(o, "", NULL);
		o->heads = false;
		out__paint(o, OUT_PLAIN);
	}
	for (i = 0; i < nr && !out__drain(o); i++) {
		if (r->l.rd.json)
			put_json(c, &c->rows[i]);
		else
			put_row(c, &c->rows[i]);
	}
	if (!r->l.rd.json && nr < c->nr)
		strbuf__printf(&o->b, "%u more: --top 0 prints all\n", c->nr - nr);
	if (!r->l.rd.json && !nr)
		strbuf__puts(&o->b, "There are no pairs.\n");
}

int diff__latency(struct diff_cmd *cmd)
{
	_cleanup_(comparison__free) struct comparison c = { .cmd = cmd };
	struct diff_reading *a = &cmd->r[0], *b = &cmd->r[1];
	int err;

	if (read_side(a) || read_side(b))
		return CMD_FAILURE;
	c.judged = side__nr_bins(&a->side) >= JUDGE_MIN_BINS &&
		   side__nr_bins(&b->side) >= JUDGE_MIN_BINS;
	err = add_groups(&c, 0) ?: add_groups(&c, 1);
	if (!err && c.judged)
		err = judge(&c);
	if (err) {
		log_err(err, "compare the pairs");
		return CMD_FAILURE;
	}
	if (c.nr)
		qsort(c.rows, c.nr, sizeof(*c.rows), by_change);
	put_rows(&c);
	return CMD_OK;
}
