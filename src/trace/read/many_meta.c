// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Metadata, counters and totals of several recordings. */
#include "many.h"

#include "cleanup.h"

#define LOOKUPS_PER_WORK 8 /* comparisons of keys, most of which differ at once */

/* ---- metadata -------------------------------------------------------------------------------- */

static bool is_one_of(const char *key, const char *const *keys)
{
	while (*keys && strcmp(*keys, key))
		keys++;
	return *keys;
}

/* Values with times of the recording's clock, which are the last words of their lines. */
static const struct timed_key {
	const char *key;
	unsigned int nr_times;
	char end; /* of a line */
} timed_keys[] = {
	{ "tasks.start_ts", 1, '\n' },
	{ "tasks.end_ts", 1, '\n' },
	{ "kernel_unwind.unverified", 2, '\n' },
	{ "fields.kernel", 1, '\n' },
	{ "fields.unverified", 2, '\n' },
	{ "clock.steps", 1, ',' },
	{ "clock.ts", 1, '\n' }, /* of each, so of several none */
};

/* NULL: the value has no times. */
static const struct timed_key *timed_key(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(timed_keys); i++)
		if (!strcmp(timed_keys[i].key, key))
			return &timed_keys[i];
	return NULL;
}

static void put_time(struct bytes_buf *b, const struct rd_member *m, const char *word, size_t len)
{
	char text[24];

	if (len && len < sizeof(text) && strspn(word, "0123456789") >= len) {
		len = snprintf(text, sizeof(text), "%llu",
			       (unsigned long long)rd_many__time(m, strtoull(word, NULL, 10)));
		word = text;
	}
	bytes_put(b, word, len);
}

static void put_timed_line(struct bytes_buf *b, const struct rd_member *m, const char *line,
			   size_t len, unsigned int nr_times)
{
	size_t at = len;

	for (unsigned int i = 0; i < nr_times && at; i++) {
		at -= i > 0; /* the blank between two times */
		while (at && line[at - 1] != ' ')
			at--;
	}
	bytes_put(b, line, at);
	while (at < len) {
		size_t word = strcspn(line + at, " ");

		word = MIN(word, len - at);
		put_time(b, m, line + at, word);
		at += word;
		if (at < len)
			bytes_put(b, &line[at++], 1);
	}
}

/* A member's value, with times of the whole. */
static void put_value(struct bytes_buf *b, const struct rd_member *m, const char *key,
		      const char *value)
{
	const struct timed_key *timed = m->r->shift ? timed_key(key) : NULL;
	size_t len = strlen(value), line;

	for (; timed && len; value += line, len -= line) {
		const char *end = memchr(value, timed->end, len);

		line = end ? (size_t)(end - value) : len;
		put_timed_line(b, m, value, line, timed->nr_times);
		if (end)
			bytes_put(b, &value[line++], 1);
	}
	bytes_put(b, value, len);
}

/* The text as a string of the reader: `known` if it is the same; NULL: out of memory. */
static const char *keep(struct stk_reader *whole, struct bytes_buf *text, const char *known)
{
	const char *value = known;

	if (text->failed)
		value = NULL;
	else if (!known || strlen(known) != text->len || memcmp(known, text->p, text->len))
		value = arena__string(&whole->strings, text->p, text->len);
	bytes_buf__free(text);
	return value;
}

/* The recordings' own value if those that have one agree, else NULL. */
static const char *common_value(const struct rd_many *many, const char *key)
{
	const char *value = NULL;

	for (uint32_t i = 0; i < many->nr; i++) {
		const char *one = stk_reader__meta(many->members[i].r, key);

		if (one && value && strcmp(one, value) != 0)
			return NULL;
		value = one ?: value;
	}
	return value;
}

/* The value of the first recording of several segments, or of the last. */
static const char *value_at_end(struct stk_reader *whole, const char *key, bool last,
				const char *known)
{
	const struct rd_many *many = whole->many;
	const struct rd_member *best = NULL;
	struct bytes_buf text = { 0 };

	for (uint32_t i = 0; i < many->nr; i++) {
		const struct rd_member *m = &many->members[i];

		if (!stk_reader__meta(m->r, key))
			continue;
		if (!best || (last ? m->end > best->end : m->has_begun && m->begin < best->begin))
			best = m;
	}
	if (many->nr_boots != 1 || !best)
		return NULL;
	if (!best->r->shift || !timed_key(key))
		return stk_reader__meta(best->r, key);
	put_value(&text, best, key, stk_reader__meta(best->r, key));
	return keep(whole, &text, known);
}

/* The lines of all recordings; `known` is the value so far. */
static const char *joined_lines(struct stk_reader *whole, const char *key, const char *known)
{
	struct bytes_buf text = { 0 };
	const struct timed_key *timed = timed_key(key);
	const char *between = timed && timed->end == ',' ? ", " : "\n";

	for (uint32_t i = 0; i < whole->many->nr; i++) {
		const struct rd_member *m = &whole->many->members[i];
		const char *one = stk_reader__meta(m->r, key);

		/* without a place, its times are unknown so far */
		if (!one || (timed && !m->is_placed))
			continue;
		if (text.len)
			bytes_put(&text, between, strlen(between));
		put_value(&text, m, key, one);
	}
	if (!text.len) {
		bytes_buf__free(&text);
		return NULL;
	}
	return keep(whole, &text, known);
}

static const char *value_of(struct stk_reader *whole, const char *key, const char *known)
{
	static const char *const at_start[] = { "tasks.start", "tasks.start_ts", NULL };
	static const char *const at_end[] = { "tasks.end", "tasks.end_ts", NULL };
	static const char *const lists[] = { "probe.paths",
					     "kernel_unwind.unverified",
					     "kernel_unwind.differed",
					     "fields.unverified",
					     "fields.kernel",
					     "fields.differed",
					     "selected.cpus",
					     "metadata.left_out",
					     "events.left_out",
					     "events.uncounted",
					     "events.native",
					     "events.second",
					     "clock.steps",
					     NULL };
	const struct rd_many *many = whole->many;
	const char *value;

	if (many->by_wall_clock && !strcmp(key, "clock"))
		return "wall";
	value = common_value(many, key);
	if (value && !(many->by_wall_clock && timed_key(key)))
		return value;
	if (is_one_of(key, at_start) || is_one_of(key, at_end))
		return value_at_end(whole, key, is_one_of(key, at_end), known);
	return is_one_of(key, lists) ? joined_lines(whole, key, known) : NULL;
}

/* Keys whose recordings disagree are left out. */
static void refresh_meta(struct stk_reader *whole)
{
	const struct rd_many *many = whole->many;
	size_t kept = 0;

	for (uint32_t i = 0; i < many->nr; i++) {
		const struct stk_reader *r = many->members[i].r;

		for (size_t k = 0; k < r->nr_meta; k++) {
			const char *key = r->meta[k].key;
			const char **value =
				rd_meta_value(whole, (const uint8_t *)key, strlen(key));

			if (value)
				*value = value_of(whole, key, *value);
		}
	}
	for (size_t i = 0; i < whole->nr_meta; i++)
		kept += whole->meta[i].value != NULL;
	whole->many->nr_meta = kept;
}

/* ---- counters -------------------------------------------------------------------------------- */

static void refresh_counters(struct stk_reader *whole)
{
	const struct rd_many *many = whole->many;

	for (size_t i = 0; i < whole->nr_types; i++)
		memset(whole->types[i]->counters, 0, sizeof(whole->types[i]->counters));
	for (uint32_t i = 0; i < many->nr; i++) {
		const struct rd_member *m = &many->members[i];

		for (size_t k = 0; k < m->nr_types; k++) {
			const struct stk_event_type *t = m->r->types[k];
			struct stk_event_type *sum = whole->types[t->shown->index];

			for (unsigned int c = 0; c < STK_NR_COUNTERS; c++)
				sum->counters[c] += t->counters[c];
		}
	}
}

struct rd_changes rd_many__changes(const struct rd_many *many)
{
	struct rd_changes sum = { 0, 0, 0 };

	for (uint32_t i = 0; i < many->nr; i++) {
		const struct rd_member *m = &many->members[i];

		/* which one is the first and which the last matters for some keys */
		sum.meta += m->r->changes.meta + m->has_begun + m->has_ended;
		sum.files += m->r->changes.files;
		sum.counters += m->r->changes.counters;
	}
	return sum;
}

void rd_many__refresh_counters(const struct stk_reader *r)
{
	struct stk_reader *whole = r->many->members[0].whole; /* r, not const */
	uint64_t changes = rd_many__changes(r->many).counters + whole->nr_types;

	if (r->many->refreshed.counters == changes)
		return;
	r->many->refreshed.counters = changes;
	refresh_counters(whole);
}

/* Each key is looked up among those of each member. */
static uint64_t lookups(const struct rd_many *many)
{
	uint64_t keys = 0;

	for (uint32_t i = 0; i < many->nr; i++)
		keys += many->members[i].r->nr_meta;
	return keys * keys;
}

void rd_many__refresh_meta(const struct stk_reader *r)
{
	struct stk_reader *whole = r->many->members[0].whole;
	uint64_t changes = rd_many__changes(r->many).meta;

	if (r->many->refreshed.meta == changes)
		return;
	r->many->refreshed.meta = changes;
	rd_many__update_budget(whole);
	if (budget__work(&whole->budget, lookups(r->many) / LOOKUPS_PER_WORK))
		refresh_meta(whole);
}

/* ---- totals ---------------------------------------------------------------------------------- */

static void add_totals(struct stk_totals *sum, const struct rd_member *m)
{
	struct stk_totals t;

	stk_reader__totals(m->r, &t);
	sum->events += t.events;
	sum->bytes += t.bytes;
	sum->event_bytes += t.event_bytes;
	sum->late += t.late;
	sum->bad_blocks += t.bad_blocks;
	sum->clean_end &= t.clean_end;
	if (!sum->start_wall_ns || t.start_wall_ns < sum->start_wall_ns)
		sum->start_wall_ns = t.start_wall_ns;
	sum->last_wall_ns = MAX(sum->last_wall_ns, t.last_wall_ns);
	if (!t.last_ts || !m->is_placed)
		return;
	t.first_ts = rd_many__time(m, t.first_ts);
	if (!sum->last_ts || t.first_ts < sum->first_ts)
		sum->first_ts = t.first_ts;
	sum->last_ts = MAX(sum->last_ts, rd_many__time(m, t.last_ts));
}

/* Stacks and nodes are those of the whole. */
void rd_many__totals(const struct stk_reader *whole, struct stk_totals *ret_totals)
{
	const struct rd_many *many = whole->many;
	struct stk_totals sum = {
		.stacks = ret_totals->stacks,
		.nodes = ret_totals->nodes,
		.duplicates = ret_totals->duplicates,
		.clean_end = true,
	};

	for (uint32_t i = 0; i < many->nr; i++) {
		add_totals(&sum, &many->members[i]);
		/* an event that waits for its turn has not been returned */
		if (many->members[i].has_event && &many->members[i] != many->last) {
			sum.events--;
			sum.late -= many->members[i].r->event.late;
		}
	}
	sum.late -= many->late_unselected;
	*ret_totals = sum;
}
