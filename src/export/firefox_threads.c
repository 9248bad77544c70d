// SPDX-License-Identifier: GPL-2.0-only
/* Samples and markers of threads: rows while events are read, columns in the end. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "firefox_priv.h"
#include "seeded_hash.h"

static_assert(SPILL_PAYLOAD % sizeof(struct ff_sample) == 0, "pieces have whole samples");
static_assert(SPILL_PAYLOAD % sizeof(struct ff_marker) == 0, "pieces have whole markers");

#define DIRECT 8192 /* bytes that are worth a write of their own */

/* Interval markers have both times. */
enum { PHASE_INSTANT, PHASE_INTERVAL };

/* ---- rows ------------------------------------------------------------------------------------ */

static int charge(struct ff_threads *t)
{
	uint64_t memory = (uint64_t)t->nr * sizeof(*t->v) + spill__memory(&t->spill);
	int err = stk_reader__charge(t->src->reader, (int64_t)(memory - t->charged), 0);

	if (!err)
		t->charged = memory;
	return err;
}

static int find_thread(struct ff_threads *t, uint32_t number, struct ff_thread **ret_thread)
{
	struct ff_thread *thread;
	int err = 0;

	if (number & FF_EXTRA) {
		thread = &t->extra[number & ~FF_EXTRA];
	} else {
		if (number >= t->nr && array__reach(&t->v, number, &t->nr))
			return -ENOMEM;
		thread = &t->v[number];
	}
	if (!thread->is_used) {
		thread->is_used = true;
		err = spill__add(&t->spill, &thread->samples) ?:
			      spill__add(&t->spill, &thread->markers);
		err = err ?: spill__add(&t->spill, &thread->data) ?: charge(t);
	}
	*ret_thread = thread;
	return err;
}

int ff_threads__extra(struct ff_threads *t, unsigned int kind, const char *name,
		      uint32_t *ret_thread)
{
	if (array__reach(&t->extra, kind, &t->nr_extra))
		return -ENOMEM;
	t->extra[kind].name = name;
	*ret_thread = FF_EXTRA | kind;
	return 0;
}

static void note_time(struct ff_threads *t, uint64_t ts)
{
	t->first_ts = MIN(t->first_ts, ts);
	t->last_ts = MAX(t->last_ts, ts);
}

int ff_threads__add_sample(struct ff_threads *t, uint32_t number, uint64_t ts, uint64_t weight,
			   uint32_t stack)
{
	struct ff_sample sample = { .weight = weight, .stack = stack };
	struct ff_thread *thread;
	int err = find_thread(t, number, &thread);

	if (err)
		return err;
	note_time(t, ts);
	/* The profiler searches samples by time: a late event has that of the one before it. */
	thread->last_ts = MAX(thread->last_ts, ts);
	sample.ts = thread->last_ts;
	thread->nr_samples++;
	t->nr_samples++;
	return spill__write(&t->spill, thread->samples, &sample, sizeof(sample));
}

int ff_threads__add_marker(struct ff_threads *t, uint32_t number, const struct ff_marker *m,
			   const struct strbuf *data)
{
	struct ff_thread *thread;
	int err = find_thread(t, number, &thread);
	size_t comma;

	err = err ?: export_source__charge(t->src, data->len);
	if (err)
		return err;
	comma = thread->nr_markers ? 0 : 1;
	note_time(t, m->ts);
	if (m->end != FF_INSTANT)
		note_time(t, m->end);
	thread->nr_markers++;
	t->nr_markers++;
	return spill__write(&t->spill, thread->markers, m, sizeof(*m)) ?:
		       spill__write(&t->spill, thread->data, data->s + comma, data->len - comma);
}

/* ---- columns --------------------------------------------------------------------------------- */

struct column {
	const struct ff_threads *t;
	struct ff_out *out;
	bool weight_is_ns;
	size_t row;
	void (*put)(const struct column *c, const void *row);
};

static void put_sample_stack(const struct column *c, const void *row)
{
	json__u64(&c->out->json, NULL, ((const struct ff_sample *)row)->stack);
}

static void put_sample_time(const struct column *c, const void *row)
{
	const struct ff_sample *s = row;

	ff_put_ms(json__value(&c->out->json, NULL), s->ts - c->t->first_ts);
}

static void put_sample_weight(const struct column *c, const void *row)
{
	const struct ff_sample *s = row;

	if (c->weight_is_ns)
		ff_put_ms(json__value(&c->out->json, NULL), s->weight);
	else
		json__u64(&c->out->json, NULL, s->weight);
}

static void put_marker_name(const struct column *c, const void *row)
{
	json__u64(&c->out->json, NULL, ((const struct ff_marker *)row)->name);
}

static void put_marker_start(const struct column *c, const void *row)
{
	const struct ff_marker *m = row;

	ff_put_ms(json__value(&c->out->json, NULL), m->ts - c->t->first_ts);
}

static void put_marker_end(const struct column *c, const void *row)
{
	const struct ff_marker *m = row;

	if (m->end == FF_INSTANT)
		json__null(&c->out->json, NULL);
	else
		ff_put_ms(json__value(&c->out->json, NULL), m->end - c->t->first_ts);
}

static void put_marker_phase(const struct column *c, const void *row)
{
	const struct ff_marker *m = row;

	json__u64(&c->out->json, NULL, m->end == FF_INSTANT ? PHASE_INSTANT : PHASE_INTERVAL);
}

static void put_marker_category(const struct column *c, const void *row)
{
	json__u64(&c->out->json, NULL, ((const struct ff_marker *)row)->category);
}

static int take_rows(void *ctx, const char *data, size_t len)
{
	const struct column *c = ctx;
	int err = 0;

	for (; len >= c->row && !err; data += c->row, len -= c->row) {
		c->put(c, data);
		err = ff_out__drain(c->out);
	}
	return err;
}

static int take_text(void *ctx, const char *data, size_t len)
{
	const struct column *c = ctx;
	int err;

	if (len < DIRECT) {
		strbuf__add(&c->out->text, data, len);
		return ff_out__drain(c->out);
	}
	err = ff_out__finish(c->out);
	return err ?: output__write(c->out->output, data, len);
}

static int put_column(struct ff_threads *t, struct column *c, uint32_t stream, const char *name,
		      void (*put)(const struct column *c, const void *row))
{
	int err;

	c->put = put;
	json__array(&c->out->json, name);
	err = spill__read(&t->spill, stream, put ? take_rows : take_text, c);
	json__end(&c->out->json);
	return err;
}

static int put_samples(struct ff_threads *t, const struct ff_thread *thread,
		       const struct export_stacks *stacks, struct ff_out *o)
{
	struct column c = { .t = t,
			    .out = o,
			    .weight_is_ns = stacks->weight_is_ns,
			    .row = sizeof(struct ff_sample) };
	const char *unit = stacks->weight ? export_stacks__unit(stacks) : NULL;
	struct json *j = &o->json;
	int err;

	json__object(j, "samples");
	err = put_column(t, &c, thread->samples, "stack", put_sample_stack);
	err = err ?: put_column(t, &c, thread->samples, "time", put_sample_time);
	if (!stacks->weight)
		json__null(j, "weight");
	else if (!err)
		err = put_column(t, &c, thread->samples, "weight", put_sample_weight);
	json__string(j, "weightType",
		     !unit		   ? "samples" :
		     strcmp(unit, "bytes") ? "tracing-ms" :
					     "bytes");
	json__u64(j, "length", thread->nr_samples);
	json__end(j);
	return err;
}

static int put_markers(struct ff_threads *t, const struct ff_thread *thread, struct ff_out *o)
{
	struct column c = { .t = t, .out = o, .row = sizeof(struct ff_marker) };
	struct json *j = &o->json;
	int err;

	json__object(j, "markers");
	err = put_column(t, &c, thread->data, "data", NULL);
	err = err ?: put_column(t, &c, thread->markers, "name", put_marker_name);
	err = err ?: put_column(t, &c, thread->markers, "startTime", put_marker_start);
	err = err ?: put_column(t, &c, thread->markers, "endTime", put_marker_end);
	err = err ?: put_column(t, &c, thread->markers, "phase", put_marker_phase);
	err = err ?: put_column(t, &c, thread->markers, "category", put_marker_category);
	json__u64(j, "length", thread->nr_markers);
	json__end(j);
	return err;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* What a group says of its thread; numbers are -1 if it does not say them. */
struct identity {
	int64_t pid, tid;
	const struct event_value *comm, *host; /* NULL */
};

struct processes {
	const struct export_stacks *stacks;
	struct identity *v; /* by place in stacks->groups */
	struct index mains; /* places of main threads */
	uint64_t seed;
};

static const struct event_value *value_of(const struct export_stacks *stacks,
					  const struct stack_group *g, const char *name)
{
	unsigned int i;

	for (i = 0; i < stacks->nr_keys; i++)
		if (!strcmp(stacks->keys[i].name, name))
			return &g->keys[i];
	return NULL;
}

static struct identity identity_of(const struct export_stacks *stacks, const struct stack_group *g)
{
	const struct event_value *pid = value_of(stacks, g, "pid");
	const struct event_value *tid = value_of(stacks, g, "tid");

	return (struct identity){
		.pid = pid ? (int64_t)pid->number : -1,
		.tid = tid ? (int64_t)tid->number : -1,
		.comm = value_of(stacks, g, "comm"),
		.host = value_of(stacks, g, "host"),
	};
}

static bool is_same_process(const struct identity *a, const struct identity *b)
{
	if (a->pid != b->pid)
		return false;
	return !a->host || (a->host->len == b->host->len &&
			    !memcmp(a->host->text, b->host->text, a->host->len));
}

static uint64_t hash_of(const struct processes *p, const struct identity *id)
{
	uint64_t host = id->host ? seeded_hash__bytes(p->seed, id->host->text, id->host->len) : 0;

	return seeded_hash__u64(p->seed, seeded_hash__u64(p->seed, p->seed, id->pid), host);
}

/*
 * The main thread of the process, of which the profiler shows one: the heaviest, where its name has
 * changed.  INDEX_NONE: unknown.
 */
static uint32_t main_of(const struct processes *p, const struct identity *id)
{
	uint64_t hash = hash_of(p, id);
	uint32_t i;

	index__for_each(&p->mains, hash, i)
		if (is_same_process(&p->v[i], id))
			break;
	return i;
}

static int find_mains(struct processes *p)
{
	unsigned int i;
	int err = 0;

	p->seed = seeded_hash__seed();
	p->v = calloc(p->stacks->nr_groups ?: 1, sizeof(*p->v));
	if (!p->v)
		return -ENOMEM;
	for (i = 0; i < p->stacks->nr_groups && !err; i++) {
		struct identity *id = &p->v[i];

		*id = identity_of(p->stacks, &p->stacks->groups[i]);
		if (id->pid >= 0 && id->pid == id->tid && main_of(p, id) == INDEX_NONE)
			err = index__add(&p->mains, hash_of(p, id), i);
	}
	return err;
}

static void processes__free(struct processes *p)
{
	free(p->v);
	index__free(&p->mains);
}

/* "comm,cpu": where groups are no threads, they are those of a process of that name. */
static void put_key_names(const struct export_stacks *stacks, struct strbuf *b)
{
	unsigned int i;

	for (i = 0; i < stacks->nr_keys; i++)
		strbuf__printf(b, "%s%s", i ? "," : "", stacks->keys[i].name);
}

static void put_thread_head(struct json *j, const char *pid, const struct strbuf *process,
			    const struct strbuf *name, bool is_main)
{
	json__string(j, "processType", "default");
	json__u64(j, "processStartupTime", 0);
	json__null(j, "processShutdownTime");
	json__u64(j, "registerTime", 0);
	json__null(j, "unregisterTime");
	json__array(j, "pausedRanges");
	json__end(j);
	json__bytes(j, "name", name->s ?: "", name->len);
	json__bool(j, "isMainThread", is_main);
	json__bytes(j, "processName", process->s ?: "", process->len);
	json__string(j, "pid", pid);
}

static void put_identity(const struct processes *p, unsigned int i, struct json *j)
{
	_cleanup_(strbuf__free) struct strbuf name = { 0 }, process = { 0 }, pid = { 0 };
	const struct export_stacks *stacks = p->stacks;
	const struct identity *id = &p->v[i];
	uint32_t main = main_of(p, id);
	const struct event_value *comm = main == INDEX_NONE ? id->comm : p->v[main].comm;

	if (id->tid >= 0 && id->comm)
		strbuf__add(&name, id->comm->text, id->comm->len);
	else
		export_stacks__label(stacks, &stacks->groups[i], &name);
	if (id->pid >= 0 && comm)
		strbuf__add(&process, comm->text, comm->len);
	else
		put_key_names(stacks, &process);
	strbuf__s64(&pid, MAX(id->pid, 0));
	if (id->host) {
		strbuf__putc(&pid, ' ');
		strbuf__add(&pid, id->host->text, id->host->len);
	}
	if (strbuf__failed(&name) || strbuf__failed(&process) || strbuf__failed(&pid))
		j->out->failed = true;
	put_thread_head(j, pid.s ?: "", &process, &name, main == i);
	if (id->tid >= 0)
		json__s64(j, "tid", id->tid);
	else
		json__bytes(j, "tid", name.s ?: "", name.len);
}

static int put_extra(struct ff_threads *t, const struct ff_thread *thread,
		     const struct export_stacks *stacks, struct ff_out *o)
{
	_cleanup_(strbuf__free) struct strbuf name = { 0 };
	struct json *j = &o->json;
	int err;

	strbuf__puts(&name, thread->name);
	if (strbuf__failed(&name))
		return -ENOMEM;
	json__object(j, NULL);
	put_thread_head(j, thread->name, &name, &name, true);
	json__string(j, "tid", thread->name);
	json__bool(j, "showMarkersInTimeline", true); /* it has no samples to be drawn there */
	err = put_samples(t, thread, stacks, o) ?: put_markers(t, thread, o);
	json__end(j);
	return err;
}

static int put_groups(struct ff_threads *t, const struct processes *p, struct ff_out *o)
{
	struct json *j = &o->json;
	unsigned int i;
	int err = 0;

	for (i = 0; i < p->stacks->nr_groups && !err; i++) {
		struct ff_thread *thread;

		err = find_thread(t, p->stacks->groups[i].number, &thread);
		if (err)
			return err;
		json__object(j, NULL);
		put_identity(p, i, j);
		err = put_samples(t, thread, p->stacks, o) ?: put_markers(t, thread, o);
		json__end(j);
	}
	return err;
}

int ff_threads__put(struct ff_threads *t, const struct export_stacks *stacks, struct ff_out *o)
{
	_cleanup_(processes__free) struct processes p = { .stacks = stacks };
	unsigned int i;
	int err = find_mains(&p);

	json__array(&o->json, "threads");
	err = err ?: put_groups(t, &p, o);
	for (i = 0; i < t->nr_extra && !err; i++)
		if (t->extra[i].is_used)
			err = put_extra(t, &t->extra[i], stacks, o);
	json__end(&o->json);
	return err;
}

void ff_threads__free(struct ff_threads *t)
{
	if (t->src)
		stk_reader__charge(t->src->reader, -(int64_t)t->charged, 0);
	spill__free(&t->spill);
	free(t->v);
	free(t->extra);
}
