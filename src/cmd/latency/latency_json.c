// SPDX-License-Identifier: GPL-2.0-only
/* The JSON output: one object per group, slowest pair and open start, and the accounting. */
#include "latency.h"

#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "ui/frames.h"

#define EXACT_JSON (1ull << 53) /* some JSON parsers round larger numbers */

static void put_label(struct json *j, const struct pairs_label *v)
{
	bool is_exact = v->is_signed ? -(int64_t)EXACT_JSON < (int64_t)v->number &&
					       (int64_t)v->number < (int64_t)EXACT_JSON :
				       v->number < EXACT_JSON;

	if (!v->is_number)
		json__string(j, NULL, v->text);
	else if (v->is_address || !is_exact)
		json__printf(j, NULL, "0x%" PRIx64, v->number);
	else if (v->is_signed)
		json__s64(j, NULL, v->number);
	else
		json__u64(j, NULL, v->number);
}

/* "by":{"id":0},"group":"id=read" */
static void put_group_key(struct latency *l, const struct pairs_group *g)
{
	_cleanup_(strbuf__free) struct strbuf name = { 0 };
	unsigned int i, nr = g->others ? 0 : pairs__nr_by(l->query.pairs);
	struct json *j = &l->out.json;

	json__object(j, "by");
	for (i = 0; i < nr; i++) {
		json__name(j, pairs__by_name(l->query.pairs, i));
		put_label(j, &g->by[i]);
	}
	json__end(j);
	pair_query__group_name(&l->query, g, &name);
	json__bytes(j, "group", name.s ?: "", name.len);
}

static void put_group(struct latency *l, const struct pairs_group *g)
{
	struct json *j = &l->out.json;
	struct bin bins[HISTOGRAM_BINS];
	unsigned int nr, i;

	json__record(j, "group");
	put_group_key(l, g);
	latency__put_columns(&l->out, &g->durations);
	nr = latency__bins(l, &g->durations, bins);
	json__array(j, "histogram");
	for (i = 0; i < nr; i++) {
		json__array(j, NULL);
		json__u64(j, NULL, bins[i].from);
		json__u64(j, NULL, bins[i].to);
		json__u64(j, NULL, bins[i].count);
		json__end(j);
	}
	json__end(j);
	json__end(j);
}

/* Members of a start, or of an end, with the prefix "end_". */
static void put_end(struct latency *l, bool is_end, const struct pairs_end *e)
{
	size_t skip = is_end ? 0 : strlen("end_");
	struct json *j = &l->out.json;

	json__u64(j, &"end_ts"[skip], e -> ts);
	json__u64(j, &"end_pid"[skip], e -> pid);
	json__u64(j, &"end_tid"[skip], e -> tid);
	json__u64(j, &"end_cpu"[skip], e -> cpu);
	json__string(j, &"end_comm"[skip], pairs__comm(l->query.pairs, e->comm));
	stack__json_id(l->rd.reader, j, &"end_kstack"[skip], e -> kstack);
	stack__json_id(l->rd.reader, j, &"end_ustack"[skip], e -> ustack);
	if (l->stacks)
		stack__json_frames(&l->rd.names, j, &"end_frames"[skip], e -> kstack, e -> ustack);
}

static void put_slowest(struct latency *l, const struct pairs_group *g)
{
	struct json *j = &l->out.json;
	unsigned int i;

	for (i = 0; i < g->nr_slowest && !out__drain(&l->out); i++) {
		const struct pairs_pair *p = &g->slowest[i];

		json__record(j, "slowest");
		put_group_key(l, g);
		json__u64(j, "ns", p->end.ts - p->start.ts);
		put_end(l, false, &p->start);
		put_end(l, true, &p->end);
		json__end(j);
	}
}

static void put_open(struct latency *l)
{
	struct json *j = &l->out.json;
	struct stk_totals t;
	unsigned int i;

	stk_reader__totals(l->rd.reader, &t);
	for (i = 0; i < l->res.nr_open && !out__drain(&l->out); i++) {
		const struct pairs_end *e = &l->res.open[i];

		json__record(j, "open");
		json__u64(j, "age_ns", t.last_ts > e->ts ? t.last_ts - e->ts : 0);
		put_end(l, false, e);
		json__end(j);
	}
}

void latency__put_json(struct latency *l)
{
	unsigned int i;

	for (i = 0; i < l->res.nr_groups && !out__drain(&l->out); i++) {
		put_group(l, l->res.groups[i]);
		put_slowest(l, l->res.groups[i]);
	}
	put_open(l);
	json__record(&l->out.json, "accounting");
	latency__put_accounting(l);
	json__end(&l->out.json);
}
