// SPDX-License-Identifier: GPL-2.0-only
/* Latencies for tools: an object per group, slowest pair and open start, and the accounting. */
#include "latency.h"

#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "ui/frames.h"

#define EXACT_JSON (1ull << 53) /* larger numbers are not exact in every reader of JSON */

static void put_u128(struct strbuf *b, unsigned __int128 v)
{
	if (v >= 10)
		put_u128(b, v / 10);
	strbuf__putc(b, '0' + (int)(v % 10));
}

static void put_label(struct strbuf *b, const struct pairs_label *v)
{
	if (!v->is_number)
		out__json(b, v->text, strlen(v->text));
	else if (v->is_signed && -(int64_t)EXACT_JSON < (int64_t)v->number &&
		 (int64_t)v->number < (int64_t)EXACT_JSON)
		strbuf__s64(b, v->number);
	else if (v->number < EXACT_JSON)
		strbuf__u64(b, v->number);
	else
		strbuf__printf(b, "\"0x%" PRIx64 "\"", v->number);
}

/* "by":{"id":0},"group":"id=read", */
static void put_group_key(struct latency *l, const struct pairs_group *g)
{
	_cleanup_(strbuf__free) struct strbuf name = { 0 };
	struct strbuf *b = &l->out.b;
	unsigned int i, nr = g->others ? 0 : pairs__nr_by(l->pairs);

	strbuf__puts(b, "\"by\":{");
	for (i = 0; i < nr; i++) {
		const char *key = pairs__by_name(l->pairs, i);

		if (i)
			strbuf__putc(b, ',');
		out__json(b, key, strlen(key));
		strbuf__putc(b, ':');
		put_label(b, &g->by[i]);
	}
	strbuf__puts(b, "},\"group\":");
	latency__group_name(l, g, &name);
	out__json(b, name.s ?: "", name.len);
	strbuf__putc(b, ',');
}

static void put_group(struct latency *l, const struct pairs_group *g)
{
	static const struct {
		const char *key;
		unsigned int per_mille;
	} rows[] = { { "p50_ns", 500 }, { "p90_ns", 900 }, { "p99_ns", 990 }, { "p999_ns", 999 } };
	const struct durations *d = &g->durations;
	struct bin bins[HISTOGRAM_BINS];
	struct strbuf *b = &l->out.b;
	unsigned int nr, i;

	strbuf__puts(b, "{\"type\":\"group\",");
	put_group_key(l, g);
	strbuf__printf(b, "\"count\":%" PRIu64 ",\"sum_ns\":", d->count);
	put_u128(b, d->sum);
	strbuf__printf(b, ",\"min_ns\":%" PRIu64 ",\"mean_ns\":%" PRIu64, d->min, latency__mean(d));
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		strbuf__printf(b, ",\"%s\":%" PRIu64, rows[i].key,
			       durations__percentile(d, rows[i].per_mille));
	strbuf__printf(b, ",\"max_ns\":%" PRIu64 ",\"exact\":%s,\"histogram\":[", d->max,
		       durations__is_exact(d) ? "true" : "false");
	nr = latency__bins(l, d, bins);
	for (i = 0; i < nr; i++)
		strbuf__printf(b, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
			       bins[i].from, bins[i].to, bins[i].count);
	strbuf__puts(b, "]}\n");
}

/* The members of one end, each key behind prefix. */
static void put_end(struct latency *l, const char *prefix, const struct pairs_end *e)
{
	const char *comm = pairs__comm(l->pairs, e->comm);
	struct strbuf *b = &l->out.b;

	strbuf__printf(b, "\"%sts\":%" PRIu64 ",\"%spid\":%u,\"%stid\":%u,\"%scpu\":%u,\"%scomm\":",
		       prefix, e->ts, prefix, e->pid, prefix, e->tid, prefix, e->cpu, prefix);
	out__json(b, comm, strlen(comm));
	strbuf__printf(b, ",\"%sstack\":", prefix);
	stack__json_id(l->rd.reader, b, e->kstack);
	strbuf__printf(b, ",\"%sustack\":", prefix);
	stack__json_id(l->rd.reader, b, e->ustack);
	if (l->stacks) {
		strbuf__printf(b, ",\"%sframes\":", prefix);
		stack__json_frames(&l->rd.names, b, e->kstack, e->ustack);
	}
}

static void put_slowest(struct latency *l, const struct pairs_group *g)
{
	struct strbuf *b = &l->out.b;
	unsigned int i;

	for (i = 0; i < g->nr_slowest && !out__drain(&l->out); i++) {
		const struct pairs_pair *p = &g->slowest[i];

		strbuf__puts(b, "{\"type\":\"slowest\",");
		put_group_key(l, g);
		strbuf__printf(b, "\"ns\":%" PRIu64 ",", p->end.ts - p->start.ts);
		put_end(l, "", &p->start);
		strbuf__putc(b, ',');
		put_end(l, "end_", &p->end);
		strbuf__puts(b, "}\n");
	}
}

static void put_open(struct latency *l)
{
	struct stk_totals t;
	unsigned int i;

	stk_reader__totals(l->rd.reader, &t);
	for (i = 0; i < l->res.nr_open && !out__drain(&l->out); i++) {
		const struct pairs_end *e = &l->res.open[i];

		strbuf__printf(&l->out.b, "{\"type\":\"open\",\"age_ns\":%" PRIu64 ",",
			       t.last_ts > e->ts ? t.last_ts - e->ts : 0);
		put_end(l, "", e);
		strbuf__puts(&l->out.b, "}\n");
	}
}

static void put_accounting(struct latency *l)
{
	const struct pairs_counts *c = &l->res.counts;
	const struct {
		const char *key;
		uint64_t nr;
	} rows[] = {
		{ "starts", c->starts },
		{ "ends", c->ends },
		{ "paired", c->paired },
		{ "across_gap", c->gap },
		{ "open", c->open },
		{ "open_before_gap", c->open_gap },
		{ "thread_ended", c->gone },
		{ "replaced", c->replaced },
		{ "without_start", c->without_start },
		{ "late_starts", c->start_late },
		{ "late_ends", c->end_late },
		{ "starts_without_fields", c->start_unknown },
		{ "ends_without_fields", c->end_unknown },
		{ "idle_starts", c->start_idle },
		{ "idle_ends", c->end_idle },
		{ "starts_over_limit", c->start_over },
		{ "unselected_starts", c->start_unselected },
		{ "unselected_ends", c->end_unselected },
		{ "pairs_in_others", c->others },
		{ "lost_starts", c->lost_starts },
		{ "lost_ends", c->lost_ends },
		{ "filtered_starts", c->filtered_starts },
		{ "filtered_ends", c->filtered_ends },
	};
	struct strbuf *b = &l->out.b;
	size_t i;

	strbuf__puts(b, "{\"type\":\"accounting\"");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		strbuf__printf(b, ",\"%s\":%" PRIu64, rows[i].key, rows[i].nr);
	strbuf__puts(b, "}\n");
}

void latency__put_json(struct latency *l)
{
	unsigned int i;

	for (i = 0; i < l->res.nr_groups && !out__drain(&l->out); i++) {
		put_group(l, l->res.groups[i]);
		put_slowest(l, l->res.groups[i]);
	}
	put_open(l);
	put_accounting(l);
}
