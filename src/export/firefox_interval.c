// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pairs and losses are markers with two times.  A pair is drawn in the thread, or the CPU, in which
 * it began, if the profile has such; others are in a thread of their kind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "firefox_priv.h"
#include "losses.h"
#include "seeded_hash.h"

#define LOSS_NAME "Lost events"
#define SKIPPED_NAME "Skipped samples"
#define PAIR_PREFIX "pair "

enum { EXTRA_LOSSES, EXTRA_PAIRS }; /* and above: kinds of pairs */

/* ---- where pairs belong ---------------------------------------------------------------------- */

/* What groups do not have is 0.  All idle tasks have the number 0: the CPU identifies them. */
static struct ff_owner owner_of(const struct ff_intervals *iv, uint32_t tid, uint32_t pid,
				uint32_t cpu)
{
	return (struct ff_owner){
		.tid = iv->src->by_thread ? tid : 0,
		.pid = iv->src->by_thread ? pid : 0,
		.cpu = iv->src->by_cpu || !tid ? cpu : 0,
	};
}

static bool is_same(const struct ff_owner *a, const struct ff_owner *b)
{
	return a->tid == b->tid && a->pid == b->pid && a->cpu == b->cpu;
}

static uint32_t find_owner(const struct ff_intervals *iv, const struct ff_owner *owner,
			   uint64_t *ret_hash)
{
	uint32_t i;

	*ret_hash = seeded_hash__u64(iv->seed, iv->seed, (uint64_t)owner->pid << 32 | owner->tid);
	*ret_hash = seeded_hash__u64(iv->seed, *ret_hash, owner->cpu);
	index__for_each(&iv->index, *ret_hash, i)
		if (is_same(&iv->owners[i], owner))
			break;
	return i;
}

int ff_intervals__note(struct ff_intervals *iv, const struct stk_event *e, uint32_t group)
{
	struct ff_owner owner =
		owner_of(iv, stk_event__tid(e), stk_event__pid(e), stk_event__cpu(e));
	struct ff_owner *known = &iv->cache[(owner.tid + owner.cpu) % FF_OWNER_CACHE];
	uint64_t hash;
	uint32_t i;

	if (!iv->src->pairs)
		return 0;
	owner.group = group;
	if (known->is_used && is_same(known, &owner) && known->group == group)
		return 0;
	iv->seed = iv->seed ?: seeded_hash__seed();
	owner.is_used = true;
	*known = owner;
	i = find_owner(iv, &owner, &hash);
	if (i != INDEX_NONE) {
		iv->owners[i].group = group;
		return 0;
	}
	if (array__grow(&iv->owners, iv->nr_owners, &iv->max_owners) ||
	    index__add(&iv->index, hash, iv->nr_owners))
		return -ENOMEM;
	iv->owners[iv->nr_owners++] = owner;
	return stk_reader__charge(iv->src->reader, 2 * sizeof(owner), 0);
}

/* In recordings of several boots, a pair does not say which of them its thread or CPU is of. */
static bool has_owner(const struct ff_intervals *iv, const struct export_pair *pair)
{
	if (stk_reader__nr_boots(iv->src->reader) > 1)
		return false;
	return iv->src->by_thread ? pair->of == PAIR_OF_THREAD :
				    iv->src->by_cpu && pair->of != PAIR_OF_ANY;
}

/* The group of the last event of that thread, or of that CPU. */
static int thread_of(struct ff_intervals *iv, const struct export_pair *pair, uint32_t *ret_thread)
{
	const struct export_pair_end *at = &pair->start;
	struct ff_owner owner = owner_of(iv, at->tid, at->pid, at->cpu);
	uint64_t hash;
	uint32_t i = has_owner(iv, pair) ? find_owner(iv, &owner, &hash) : INDEX_NONE;

	if (i == INDEX_NONE)
		return ff_threads__extra(iv->threads, EXTRA_PAIRS + pair->kind, pair->kind_name,
					 ret_thread);
	*ret_thread = iv->owners[i].group;
	return 0;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void put_pair(struct ff_intervals *iv, const struct export_pair *pair, uint32_t stack)
{
	struct json j = { .out = &iv->data };

	strbuf__reset(&iv->data);
	strbuf__putc(&iv->data, ',');
	json__object(&j, NULL);
	ff_put_joined(&j, "type", PAIR_PREFIX, pair->kind_name);
	json__u64(&j, "tid", pair->start.tid);
	json__u64(&j, "cpu", pair->start.cpu);
	json__u64(&j, "end_tid", pair->end.tid);
	json__u64(&j, "end_cpu", pair->end.cpu);
	if (stack != FF_NONE) {
		json__object(&j, "cause");
		json__u64(&j, "stack", stack);
		json__end(&j);
	}
	strbuf__putc(&iv->data, '}');
}

int ff_intervals__add_pair(struct ff_intervals *iv, const struct export_pair *pair)
{
	const struct export_pair_end *start = &pair->start, *end = &pair->end;
	struct ff_marker marker = { .ts = start->ts,
				    .end = MAX(start->ts, end->ts),
				    .category = FF_PAIRS };
	uint32_t thread, stack = FF_NONE;
	int err;

	if (array__reach(&iv->kinds, pair->kind, &iv->nr_kinds))
		return -ENOMEM;
	iv->kinds[pair->kind] = pair->kind_name;
	err = thread_of(iv, pair, &thread);
	err = err ?: ff_frames__string(iv->frames, pair->name, strlen(pair->name), &marker.name);
	err = err ?: ff_frames__stack(iv->frames, start->kstack, start->ustack, &stack);
	if (!err && stack == FF_NONE)
		err = ff_frames__stack(iv->frames, end->kstack, end->ustack, &stack);
	if (err)
		return err;
	put_pair(iv, pair, stack);
	iv->nr_pairs++;
	return strbuf__failed(&iv->data) ?
		       -ENOMEM :
		       ff_threads__add_marker(iv->threads, thread, &marker, &iv->data);
}

/* ---- losses ---------------------------------------------------------------------------------- */

static void put_loss(struct ff_intervals *iv, const struct stk_loss *loss)
{
	struct json j = { .out = &iv->data };

	strbuf__reset(&iv->data);
	strbuf__putc(&iv->data, ',');
	json__object(&j, NULL);
	json__string(&j, "type", LOSS_NAME);
	if (loss->count)
		json__u64(&j, "count", loss->count);
	if (loss->type) {
		json__string(&j, "system", stk_event_type__system(loss->type));
		json__string(&j, "event", stk_event_type__name(loss->type));
	}
	if (loss->cpu != STK_ANY_CPU)
		json__u64(&j, "cpu", loss->cpu);
	strbuf__putc(&iv->data, '}');
}

static int add_loss(struct ff_intervals *iv, const struct stk_loss *loss)
{
	uint64_t last_ts = loss->last_ts == UINT64_MAX ? iv->threads->last_ts : loss->last_ts;
	struct ff_marker marker = { .ts = loss->first_ts,
				    .end = MAX(last_ts, loss->first_ts),
				    .category = FF_LOSSES };
	uint32_t thread;
	bool skipped = loss_is_skipped(loss);
	const char *name = skipped ? SKIPPED_NAME : LOSS_NAME;
	int err = ff_frames__string(iv->frames, name, strlen(name), &marker.name) ?:
			  ff_threads__extra(iv->threads, EXTRA_LOSSES, LOSS_NAME, &thread);

	if (err)
		return err;
	put_loss(iv, loss);
	iv->nr_lost += skipped ? 0 : loss->count;
	iv->nr_losses++;
	return strbuf__failed(&iv->data) ?
		       -ENOMEM :
		       ff_threads__add_marker(iv->threads, thread, &marker, &iv->data);
}

int ff_intervals__add_losses(struct ff_intervals *iv, uint64_t until)
{
	struct stk_loss loss;
	int n, err = 0;

	while (!err && (n = export_source__next_loss(iv->src, until, &loss)) == 1)
		err = add_loss(iv, &loss);
	return err ?: MIN(n, 0);
}

/* ---- schemas --------------------------------------------------------------------------------- */

struct schema_field {
	const char *key, *label, *format;
};

static const struct schema_field pair_fields[] = {
	{ "tid", "Thread", "tid" },
	{ "cpu", "CPU", "integer" },
	{ "end_tid", "Thread of the end", "tid" },
	{ "end_cpu", "CPU of the end", "integer" },
	{ 0 },
};

static const struct schema_field loss_fields[] = {
	{ "count", "Events", "integer" },
	{ "system", "System", "string" },
	{ "event", "Event", "string" },
	{ "cpu", "CPU", "integer" },
	{ 0 },
};

static void put_schema(struct json *j, const char *prefix, const char *name,
		       const struct schema_field *fields)
{
	json__object(j, NULL);
	ff_put_joined(j, "name", prefix, name);
	json__array(j, "display");
	json__string(j, NULL, "marker-chart");
	json__string(j, NULL, "marker-table");
	json__string(j, NULL, "timeline-overview");
	json__end(j);
	json__array(j, "fields");
	for (; fields->key; fields++) {
		json__object(j, NULL);
		json__string(j, "key", fields->key);
		json__string(j, "label", fields->label);
		json__string(j, "format", fields->format);
		json__end(j);
	}
	json__end(j);
	json__end(j);
}

void ff_intervals__put_schemas(const struct ff_intervals *iv, struct json *j)
{
	unsigned int i;

	for (i = 0; i < iv->nr_kinds; i++)
		if (iv->kinds[i])
			put_schema(j, PAIR_PREFIX, iv->kinds[i], pair_fields);
	if (iv->nr_losses)
		put_schema(j, "", LOSS_NAME, loss_fields);
}

void ff_intervals__free(struct ff_intervals *iv)
{
	free(iv->owners);
	free(iv->kinds);
	index__free(&iv->index);
	strbuf__free(&iv->data);
}
