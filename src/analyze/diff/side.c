// SPDX-License-Identifier: GPL-2.0-only
/* Counts the stacks of a recording by bin of time. */
#include "side.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/stacks/stack_counts.h"
#include "array.h"
#include "cleanup.h"

void side__init(struct side *s, struct stk_reader *r, unsigned int which, uint64_t from,
		uint64_t to, uint64_t bin_ns)
{
	*s = (struct side){ .reader = r, .which = which, .from = from, .to = to, .bin_ns = bin_ns };
	key_table__init(&s->stacks, sizeof(struct side_stack), sizeof(struct series));
	key_table__init(&s->pairs, sizeof(void *), sizeof(struct side_pairs));
}

void side__clear(struct side *s)
{
	uint32_t i;

	for (i = 0; i < s->stacks.nr; i++)
		series__clear(key_table__value(&s->stacks, i));
	for (i = 0; i < s->pairs.nr; i++) {
		struct side_pairs *p = key_table__value(&s->pairs, i);

		series__clear(&p->ns);
		series__clear(&p->nr);
	}
	for (i = 0; i < s->nr_types; i++)
		series__clear(&s->types[i]);
	series__clear(&s->by);
	free(s->types);
	s->types = NULL;
	s->nr_types = 0;
	key_table__clear(&s->stacks);
	key_table__clear(&s->pairs);
}

static void halve(struct side *s)
{
	uint32_t i;

	for (i = 0; i < s->stacks.nr; i++)
		series__halve(key_table__value(&s->stacks, i));
	for (i = 0; i < s->pairs.nr; i++) {
		struct side_pairs *p = key_table__value(&s->pairs, i);

		series__halve(&p->ns);
		series__halve(&p->nr);
	}
	for (i = 0; i < s->nr_types; i++)
		series__halve(&s->types[i]);
	series__halve(&s->by);
}

/* Events that are out of order may precede the first one. */
static unsigned int bin_at(struct side *s, uint64_t ts)
{
	uint64_t since = ts > s->from ? ts - s->from : 0;

	while (since / s->bin_ns >= SERIES_BINS) {
		halve(s);
		s->bin_ns *= 2;
	}
	return since / s->bin_ns;
}

static int count(struct side *s, struct series *series, unsigned int bin, uint64_t nr)
{
	uint64_t was = series__memory(series);
	int err = series__add(series, bin, nr);

	s->series_bytes += series__memory(series) - was;
	return err;
}

static int count_stack(struct side *s, const struct stk_event *e, unsigned int bin)
{
	struct side_stack key = {
		.type = stk_event_type__index(stk_event__type(e)),
		.kstack = s->which & STACKS_KERNEL ? stk_event__kstack(e) : 0,
		.ustack = s->which & STACKS_USER ? stk_event__ustack(e) : 0,
	};
	uint32_t number;
	int err;

	err = key_table__at(&s->stacks, &key, &number);
	if (err >= 0)
		err = count(s, key_table__value(&s->stacks, number), bin, 1);
	if (!err)
		err = array__reach(&s->types, key.type, &s->nr_types);
	return err ?: count(s, &s->types[key.type], bin, 1);
}

int side__add(struct side *s, const struct stk_event *e, bool is_counted, bool is_by)
{
	uint64_t ts = stk_event__ts(e);
	unsigned int bin;
	int err = 0;

	if (!s->any) {
		s->from = MAX(s->from, ts);
		s->any = true;
	}
	if (!is_counted && !is_by)
		return 0;
	bin = bin_at(s, ts);
	if (is_counted)
		err = count_stack(s, e, bin);
	if (is_by && !err)
		err = count(s, &s->by, bin, 1);
	return err;
}

int side__add_pair(struct side *s, const void *group, uint64_t ts, uint64_t ns)
{
	struct side_pairs *p;
	unsigned int bin;
	uint32_t number;
	int err;

	if (!s->any) {
		s->from = MAX(s->from, ts);
		s->any = true;
	}
	bin = bin_at(s, ts);
	err = key_table__at(&s->pairs, &group, &number);
	if (err < 0)
		return err;
	p = key_table__value(&s->pairs, number);
	return count(s, &p->nr, bin, 1) ?: count(s, &p->ns, bin, ns);
}

const struct side_pairs *side__pairs(const struct side *s, const void *group)
{
	return key_table__find(&s->pairs, &group);
}

uint64_t side__memory(const struct side *s)
{
	return key_table__memory(&s->stacks) + key_table__memory(&s->pairs) +
	       s->nr_types * sizeof(*s->types) + s->series_bytes;
}

void side__finish(struct side *s)
{
	struct stk_totals t;

	stk_reader__totals(s->reader, &t);
	s->to = MAX(MIN(s->to, t.last_ts), s->from);
	bin_at(s, s->to);
}

unsigned int side__nr_bins(const struct side *s)
{
	return s->any ? (s->to - s->from) / s->bin_ns + 1 : 0;
}

double side__seconds(const struct side *s)
{
	return s->any ? (s->to - s->from + 1) / 1e9 : 0;
}

void side__bin_seconds(const struct side *s, double *ret_bins)
{
	unsigned int nr = side__nr_bins(s), i;

	memset(ret_bins, 0, SERIES_BINS * sizeof(*ret_bins));
	for (i = 0; i + 1 < nr; i++)
		ret_bins[i] = s->bin_ns / 1e9;
	if (nr)
		ret_bins[nr - 1] = (s->to - s->from - (nr - 1) * s->bin_ns + 1) / 1e9;
}
