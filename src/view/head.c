// SPDX-License-Identifier: GPL-2.0-only
/* Writes the head of the data: what the numbers of its tables mean. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "clock.h"
#include "data_priv.h"
#include "json.h"
#include "query/metadata.h"

#define VERSION 1

static void put_limited(struct json *j, const char *key, uint64_t v)
{
	json__u64(j, key, MIN(v, VIEW_MAX_NUMBER));
}

static void put_strings(struct json *j, const char *key, const struct string_table *strings,
			const struct view_numbers *n)
{
	uint32_t i;

	json__array(j, key);
	for (i = 0; i < n->nr_used; i++) {
		const struct string_entry *s = &strings->v[n->used[i]];

		json__bytes(j, NULL, s->s, s->len);
	}
	json__end(j);
}

/* ---- recordings ------------------------------------------------------------------------------ */

/* The wall clock at a time of the recording's clock: ns since 1970; 0: unknown. */
static uint64_t wall_of(const struct stk_reader *r, uint64_t at)
{
	struct wall_clock clock;

	return wall_clock__of(r, &clock) && at >= clock.ts ? clock.wall_ns + (at - clock.ts) : 0;
}

static void put_wall(struct json *j, const char *key, uint64_t ns)
{
	time_t t = ns / SECOND_NS;
	char text[40];
	struct tm tm;

	if (!ns || !gmtime_r(&t, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		json__null(j, key);
	else
		json__printf(j, key, "%s.%06uZ", text, (unsigned int)(ns % SECOND_NS / 1000));
}

static void put_recordings(struct json *j, const struct view_data *d, const struct view_head *head)
{
	struct stk_totals totals;
	unsigned int i;

	json__array(j, "recordings");
	for (i = 0; i < stk_reader__nr_members(d->r); i++) {
		const struct stk_reader *r = stk_reader__member(d->r, i);

		stk_reader__totals(r, &totals);
		json__object(j, NULL);
		json__string(j, "file", head->paths[i]);
		json__string(j, "host", stk_reader__meta(r, "hostname"));
		json__string(j, "kernel", stk_reader__meta(r, "kernel.release"));
		json__string(j, "command", stk_reader__meta(r, "cmdline"));
		put_wall(j, "begin", wall_of(r, totals.first_ts) ?: totals.start_wall_ns);
		put_limited(j, "duration_ns", totals.last_ts - totals.first_ts);
		json__end(j);
	}
	json__end(j);
}

/* ---- what was merged ------------------------------------------------------------------------- */

static void put_thinned(struct json *j, const struct view_data *d, const struct view_head *head)
{
	struct strbuf text = { 0 };
	unsigned int i;

	json__array(j, "thinned");
	for (i = 0; i < head->nr_notes; i++)
		json__string(j, NULL, head->notes[i]);
	if (d->task_limit == UINT32_MAX)
		json__string(j, NULL, "less busy tasks are one row");
	else if (d->task_limit)
		json__printf(j, NULL, "tasks beyond the %" PRIu32 " busiest are one row",
			     d->task_limit);
	if (d->has_few_bins)
		json__printf(j, NULL, "time has %" PRIu32 " parts only", d->nr_bins);
	if (d->rare) {
		strbuf__printf(&text,
			       "stacks with less than %.2g %% of the events and of the times of "
			       "pairs end at a caller that has more",
			       100 * d->rare);
		json__string(j, NULL, text.s);
		j->out->failed |= strbuf__failed(&text);
		strbuf__free(&text);
	}
	if (d->losses.lacks_types)
		json__string(j, NULL, "there are too many losses to show their event types");
	if (d->losses.lacks_cpus)
		json__string(j, NULL, "there are too many losses to show their CPUs");
	json__end(j);
}

/* ---- types, pairs, weights ------------------------------------------------------------------- */

static void put_types(struct json *j, const struct view_tables *t, const struct view_data *d)
{
	const struct view_numbers *types = &t->numbers[OF_TYPES];
	_cleanup_(strbuf__free) struct strbuf name = { 0 };
	uint32_t i;

	json__array(j, "types");
	for (i = 0; i < types->nr_used; i++) {
		uint32_t index = types->used[i];
		const struct stk_event_type *type = stk_reader__type(d->r, index);

		strbuf__reset(&name);
		strbuf__printf(&name, "%s:%s", stk_event_type__system(type),
			       stk_event_type__name(type));
		json__object(j, NULL);
		json__string(j, "name", name.s ?: "");
		put_limited(j, "events", index < d->nr_type_events ? d->type_events[index] : 0);
		put_limited(j, "lost", t->lost[index]);
		json__end(j);
	}
	json__end(j);
	j->out->failed |= strbuf__failed(&name);
}

static void put_pairs(struct json *j, const struct view_tables *t, const struct view_data *d,
		      const struct view_head *head)
{
	const struct view_numbers *kinds = &t->numbers[OF_KINDS];
	uint32_t i;

	json__array(j, "pairs");
	for (i = 0; i < kinds->nr_used; i++) {
		const struct view_pair_kind *kind = &head->pairs[kinds->used[i]];

		json__object(j, NULL);
		json__string(j, "name", kind->name);
		json__string(j, "description", kind->description);
		json__u64(j, "count", d->kind_pairs[kinds->used[i]]);
		json__string(j, "group", kind->group);
		json__end(j);
	}
	json__end(j);
}

static void put_weight(struct json *j, const char *name, const char *unit)
{
	json__object(j, NULL);
	json__string(j, "name", name);
	json__string(j, "unit", unit);
}

static void put_weights(struct json *j, const struct view_tables *t, const struct view_head *head)
{
	const struct view_numbers *kinds = &t->numbers[OF_KINDS];
	uint32_t i;

	json__array(j, "weights");
	put_weight(j, "events", "");
	json__end(j);
	for (i = 0; i < kinds->nr_used; i++) {
		put_weight(j, head->pairs[kinds->used[i]].name, "ns");
		json__u64(j, "pair", i);
		json__end(j);
	}
	if (t->sample_ns) {
		put_weight(j, "CPU time", "ns");
		json__end(j);
	}
	json__end(j);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_tables(struct json *j, const struct view_tables *t)
{
	unsigned int i, k;

	json__object(j, "tables");
	for (i = 0; i < NR_VIEW_TABLES; i++) {
		const struct view_table *table = &t->v[i];

		json__object(j, table->name);
		json__u64(j, "rows", table->rows);
		json__array(j, "columns");
		for (k = 0; k < table->nr_columns; k++) {
			const struct view_column *c = &table->columns[k];

			json__object(j, NULL);
			json__string(j, "name", c->name);
			json__string(j, "coding", c->is_delta ? "delta" : "uint");
			json__u64(j, "bytes", c->bytes.len);
			json__end(j);
		}
		json__end(j);
		json__end(j);
	}
	json__end(j);
}

/* The numbers of the CPUs and, of several boots, their hosts. */
static void put_cpus(struct json *j, const struct view_tables *t, const struct view_data *d)
{
	const struct view_numbers *cpus = &t->numbers[OF_CPUS];
	const struct view_cpu *cpu;
	uint32_t i;

	json__array(j, "cpus");
	for (i = 0; i < cpus->nr_used; i++) {
		cpu = key_table__key(&d->cpus, cpus->used[i]);
		json__u64(j, NULL, cpu->number);
	}
	json__end(j);
	if (!d->several_boots)
		return;
	put_strings(j, "hosts", &d->hosts, &t->numbers[OF_HOSTS]);
	json__array(j, "cpu_hosts");
	for (i = 0; i < cpus->nr_used; i++) {
		cpu = key_table__key(&d->cpus, cpus->used[i]);
		json__u64(j, NULL, view_tables__of(t, OF_HOSTS, cpu->host));
	}
	json__end(j);
}

void view_tables__put_head(const struct view_tables *t, const struct view_data *d,
			   const struct view_head *head, struct strbuf *out)
{
	struct json j = { .out = out };

	json__object(&j, NULL);
	json__u64(&j, "version", VERSION);
	json__string(&j, "tool", "stackonce " STACKONCE_VERSION);
	put_recordings(&j, d, head);
	json__printf(&j, "begin_ns", "%" PRIu64, d->begin);
	put_wall(&j, "begin_wall", d->has_begun ? wall_of(d->r, d->begin) : 0);
	put_limited(&j, "bin_ns", 1ull << MIN(d->shift, 63u));
	json__u64(&j, "bins", d->nr_bins);
	put_limited(&j, "events_total", d->events);
	put_limited(&j, "lost_total", t->lost_total);
	json__string(&j, "selection", head->selection);
	put_thinned(&j, d, head);
	put_weights(&j, t, head);
	put_cpus(&j, t, d);
	put_types(&j, t, d);
	put_pairs(&j, t, d, head);
	put_strings(&j, "strings", &d->strings, &t->numbers[OF_STRINGS]);
	json__string(&j, "command", head->command);
	json__string(&j, "command_all", head->command_all);
	put_tables(&j, t);
	json__end(&j);
}
