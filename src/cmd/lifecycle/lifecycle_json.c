// SPDX-License-Identifier: GPL-2.0-only
/* The JSON output of stackonce lifecycle; docs/json.md lists the members. */
#include <stdio.h>

#include "cleanup.h"
#include "lifecycle.h"
#include "ui/frames.h"

#define KEY_SIZE 48

/* NAME, NAME_id, NAME_comm; only NAME: null if unknown. */
static void put_process_name(struct json *j, const char *name, const struct life_name *n)
{
	char key[KEY_SIZE];

	json__maybe(j, name, n->pid, n->pid);
	if (!n->pid)
		return;
	snprintf(key, sizeof(key), "%s_id", name);
	json__u64(j, key, n->id);
	snprintf(key, sizeof(key), "%s_comm", name);
	json__string(j, key, n->comm);
}

/* NAME_UNIT; if it is null and an interval is known, also the array NAME_between. */
static void put_known(struct json *j, const char *name, const char *unit, const char *between,
		      bool any, uint64_t from, uint64_t to)
{
	char key[KEY_SIZE];

	snprintf(key, sizeof(key), "%s_%s", name, unit);
	json__maybe(j, key, any && from == to, to);
	if (!any || from == to)
		return;
	snprintf(key, sizeof(key), "%s_%s", name, between);
	json__array(j, key);
	json__u64(j, NULL, from);
	json__maybe(j, NULL, to != LIFE_EVER, to);
	json__end(j);
}

static void put_time(struct json *j, const char *name, struct life_time t)
{
	put_known(j, name, "ts", "between", t.to, t.from, t.to);
}

static void put_fate_json(struct json *j, const struct life *l)
{
	static const char *const hows[] = { "unknown", "exit", "signal" };
	bool alive = l->state == LIFE_ALIVE && !l->exit.to;

	json__string(j, "how", alive ? NULL : hows[l->how]);
	json__maybe(j, "code", !alive && l->how == LIFE_HOW_EXIT, l->code);
	json__maybe(j, "signal", !alive && l->how == LIFE_HOW_SIGNAL && l->code > 0, l->code);
	if (alive)
		return;
	if (l->uncertain)
		json__bool(j, "uncertain", true);
	if (l->sent)
		json__u64(j, "sent", l->sent);
}

static void put_where_json(struct lifecycle_cmd *c, const char *key, const struct life_where *w)
{
	struct json *j = &c->out.json;

	if (!w->type) {
		json__null(j, key);
		return;
	}
	json__object(j, key);
	json__string(j, "event", stk_event_type__name(w->type));
	json__u64(j, "ts", w->ts);
	json__u64(j, "age_ns", lifecycle__end_ts(c->l) - w->ts);
	json__u64(j, "tid", w->tid);
	stack__json(&c->rd.names, j, w->kstack, w->ustack, c->stacks);
	json__end(j);
}

static void put_relations(struct json *j, const struct life *l)
{
	put_process_name(j, "parent", &l->parent);
	if (l->new_parent.pid && l->new_parent.id != l->parent.id)
		put_process_name(j, "new_parent", &l->new_parent);
	json__bool(j, "orphan", l->orphan);
	put_process_name(j, "reaper", &l->reaper);
	json__string(j, "reaped_with", l->reaped_with);
	json__string(j, "exec", *l->exec ? l->exec : NULL);
	json__u64(j, "execs", l->nr_execs);
	json__u64(j, "threads", l->nr_threads);
	json__u64(j, "live_threads", l->live_threads);
}

void lifecycle__json_life(struct lifecycle_cmd *c, const struct life *l, int depth)
{
	static const char *const states[] = { "alive",	 "exiting", "zombie",
					      "unfreed", "freed",   "gone" };
	struct json *j = &c->out.json;
	unsigned int i;

	json__record(j, l->is_thread ? "thread" : "process");
	json__u64(j, "id", l->self.id);
	json__u64(j, "pid", l->self.pid);
	if (depth >= 0)
		json__u64(j, "depth", depth);
	if (l->is_thread)
		json__u64(j, "tid", l->tid);
	json__maybe(j, "ns_pid", l->ns_pid, l->ns_pid);
	json__string(j, "comm", l->self.comm);
	json__string(j, "state", states[l->state]);
	put_fate_json(j, l);
	json__bool(j, "existed", l->existed);
	if (l->replaced)
		json__bool(j, "replaced", true);
	if (!l->is_thread)
		put_relations(j, l);
	put_time(j, "fork", l->born);
	put_time(j, "exit", l->exit);
	put_time(j, "zombie", l->early && !l->is_thread ? (struct life_time){ 0 } : l->zombie);
	if (life__left(l).any)
		json__u64(j, "left_ts", l->left);
	put_time(j, "reap", l->reaped);
	put_time(j, "free", l->freed);
	for (i = 0; i < NR_SPANS; i++) {
		struct life_span s = life_span_so_far(c, l, i);

		put_known(j, span_names[i], "ns", "between_ns", s.any, s.min, s.max);
	}
	if (life_is_overdue(c, l))
		json__bool(j, "leak", life_is_leak(c, l));
	if (l->state == LIFE_ZOMBIE && !l->is_thread)
		put_where_json(c, "parent_at", &l->parent_where);
	if (l->state == LIFE_EXITING || l->state == LIFE_REAPED)
		put_where_json(c, "at", &l->where);
	json__end(j);
}

/* ---- steps ----------------------------------------------------------------------------------- */

void lifecycle__json_step(struct lifecycle_cmd *c, const struct life_step *s)
{
	static const char *const kinds[] = {
		"born",	   "fork",   "thread", "runnable",     "exec",
		"renamed", "sent",   "signal", "exit_call",    "thread_exit",
		"exit",	   "orphan", "off",    "zombie",       "waits",
		"reaps",   "tracer", "reaped", "thread_freed", "freed",
	};
	struct json *j = &c->out.json;

	json__record(j, "step");
	json__u64(j, "ts", s->ts);
	json__u64(j, "id", s->self.id);
	json__u64(j, "pid", s->self.pid);
	json__u64(j, "tid", s->tid);
	json__string(j, "comm", s->self.comm);
	json__string(j, "step", kinds[s->kind]);
	json__s64(j, "number", s->number);
	json__s64(j, "detail", s->detail);
	if (s->other.pid)
		put_process_name(j, "other", &s->other);
	if (s->text)
		json__bytes(j, "text", s->text, s->text_len);
	stack__json(&c->rd.names, j, s->kstack, s->ustack, c->stacks);
	json__end(j);
	out__drain(&c->out);
}

/* ---- summary --------------------------------------------------------------------------------- */

static void put_stats(struct lifecycle_cmd *c, const char *key, const struct span_stats *s)
{
	json__object(&c->out.json, key);
	column__number(&c->out, "known", 0, s->known.count);
	json__u64(&c->out.json, "intervals", s->between);
	if (s->known.count)
		lifecycle__put_durations(&c->out, &s->known);
	json__end(&c->out.json);
}

static void put_totals_json(struct lifecycle_cmd *c, const struct lifecycle_totals *t,
			    const struct lifecycle_counts *n)
{
	unsigned int i;

	lifecycle__put_totals(c, t, n);
	for (i = 0; i < NR_SPANS; i++)
		put_stats(c, span_names[i], &t->spans[i]);
}

static void put_gaps_json(struct lifecycle_cmd *c)
{
	static const char *const kinds[LIFE_GAP_NR] = { "missing", "lost", "fields_missing",
							"others", "filtered" };
	struct json *j = &c->out.json;
	struct life_gap g;
	unsigned int i;

	json__array(j, "gaps");
	for (i = 0; lifecycle__gap(c->l, i, &g); i++) {
		json__object(j, NULL);
		json__string(j, "kind", kinds[g.kind]);
		json__printf(j, "event", "%s:%s", g.system, g.name);
		json__u64(j, "count", g.count);
		json__string(j, "open", g.means);
		json__end(j);
	}
	json__end(j);
}

void lifecycle__json_summary(struct lifecycle_cmd *c)
{
	struct json *j = &c->out.json;
	struct lifecycle_counts n;

	lifecycle__counts(c->l, &n);
	json__record(j, "summary");
	json__u64(j, "first_ts", c->first_ts);
	json__u64(j, "end_ts", lifecycle__end_ts(c->l));
	put_totals_json(c, &c->processes, &n);
	json__bool(j, "end_list", lifecycle__has_end_list(c->l));
	lifecycle__put_unmatched(c, &n);
	if (c->threads) {
		json__object(j, "of_threads");
		put_totals_json(c, &c->thread_totals, NULL);
		json__end(j);
	}
	put_gaps_json(c);
	json__end(j);
}
