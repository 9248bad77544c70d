// SPDX-License-Identifier: GPL-2.0-only
/* stackonce lifecycle for tools; the keys are listed in stackonce-lifecycle(1). */
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "lifecycle.h"
#include "ui/frames.h"

static void put_string(struct strbuf *b, const char *key, const char *s)
{
	strbuf__printf(b, ",\"%s\":", key);
	out__json(b, s, strlen(s));
}

static void put_u64(struct strbuf *b, const char *key, uint64_t v)
{
	strbuf__printf(b, ",\"%s\":%" PRIu64, key, v);
}

static void put_null(struct strbuf *b, const char *key)
{
	strbuf__printf(b, ",\"%s\":null", key);
}

static void put_bool(struct strbuf *b, const char *key, bool v)
{
	strbuf__printf(b, ",\"%s\":%s", key, v ? "true" : "false");
}

/* NAME, NAME_id, NAME_comm; null where unknown. */
static void put_person(struct strbuf *b, const char *key, const struct life_name *n)
{
	if (!n->pid) {
		put_null(b, key);
		return;
	}
	put_u64(b, key, n->pid);
	strbuf__printf(b, ",\"%s_id\":%" PRIu64 ",\"%s_comm\":", key, n->id, key);
	out__json(b, n->comm, strlen(n->comm));
}

/* KEY_ts where it was seen, else KEY_between: [from, to]. */
static void put_time(struct strbuf *b, const char *key, struct life_time t)
{
	if (t.to && t.from == t.to)
		strbuf__printf(b, ",\"%s_ts\":%" PRIu64, key, t.to);
	else
		strbuf__printf(b, ",\"%s_ts\":null", key);
	if (t.to && t.from != t.to)
		strbuf__printf(b, ",\"%s_between\":[%" PRIu64 ",%" PRIu64 "]", key, t.from, t.to);
}

static void put_span_json(struct strbuf *b, const char *key, struct life_span s)
{
	if (s.any && s.min == s.max)
		strbuf__printf(b, ",\"%s_ns\":%" PRIu64, key, s.min);
	else
		strbuf__printf(b, ",\"%s_ns\":null", key);
	if (s.any && s.min != s.max && s.max == LIFE_EVER)
		strbuf__printf(b, ",\"%s_between_ns\":[%" PRIu64 ",null]", key, s.min);
	else if (s.any && s.min != s.max)
		strbuf__printf(b, ",\"%s_between_ns\":[%" PRIu64 ",%" PRIu64 "]", key, s.min, s.max);
}

static void put_fate_json(struct strbuf *b, const struct life *l)
{
	static const char *const hows[] = { "unknown", "exit", "signal" };

	if (l->state == LIFE_ALIVE && !l->exit.to) {
		strbuf__puts(b, ",\"how\":null,\"code\":null,\"signal\":null");
		return;
	}
	put_string(b, "how", hows[l->how]);
	if (l->how == LIFE_HOW_EXIT)
		put_u64(b, "code", l->code);
	else
		put_null(b, "code");
	if (l->how == LIFE_HOW_SIGNAL && l->code > 0)
		put_u64(b, "signal", l->code);
	else
		put_null(b, "signal");
	if (l->uncertain)
		put_bool(b, "uncertain", true);
	if (l->sent)
		put_u64(b, "sent", l->sent);
}

static void put_stacks(struct lifecycle_cmd *c, uint32_t kstack, uint32_t ustack)
{
	struct strbuf *b = &c->out.b;

	strbuf__puts(b, ",\"kstack\":");
	stack__json_id(c->rd.reader, b, kstack);
	strbuf__puts(b, ",\"ustack\":");
	stack__json_id(c->rd.reader, b, ustack);
	if (!c->stacks)
		return;
	strbuf__puts(b, ",\"frames\":");
	stack__json_frames(&c->rd.names, b, kstack, ustack);
}

static void put_where_json(struct lifecycle_cmd *c, const char *key, const struct life_where *w)
{
	struct strbuf *b = &c->out.b;
	const char *name;

	if (!w->type) {
		put_null(b, key);
		return;
	}
	name = stk_event_type__name(w->type);
	strbuf__printf(b, ",\"%s\":{\"event\":", key);
	out__json(b, name, strlen(name));
	put_u64(b, "ts", w->ts);
	put_u64(b, "age_ns", lifecycle__end_ts(c->l) - w->ts);
	put_u64(b, "tid", w->tid);
	put_stacks(c, w->kstack, w->ustack);
	strbuf__putc(b, '}');
}

static void put_bonds(struct strbuf *b, const struct life *l)
{
	put_person(b, "parent", &l->parent);
	if (l->heir.pid && l->heir.id != l->parent.id)
		put_person(b, "heir", &l->heir);
	put_bool(b, "orphan", l->orphan);
	put_person(b, "reaper", &l->reaper);
	if (l->reaped_with)
		put_string(b, "reaped_with", l->reaped_with);
	else
		put_null(b, "reaped_with");
	if (*l->exec)
		put_string(b, "exec", l->exec);
	else
		put_null(b, "exec");
	put_u64(b, "execs", l->nr_execs);
	put_u64(b, "threads", l->nr_threads);
	put_u64(b, "live_threads", l->live_threads);
}

void lifecycle__json_life(struct lifecycle_cmd *c, const struct life *l, int depth)
{
	static const char *const states[] = { "alive",	 "exiting", "zombie",
					      "unfreed", "freed",   "gone" };
	static const char *const keys[] = { "lifetime", "teardown", "zombie", "unfreed" };
	struct strbuf *b = &c->out.b;
	unsigned int i;

	strbuf__printf(b, "{\"type\":\"%s\",\"id\":%" PRIu64 ",\"pid\":%u",
		       l->is_thread ? "thread" : "process", l->self.id, l->self.pid);
	if (depth >= 0)
		put_u64(b, "depth", depth);
	if (l->is_thread)
		put_u64(b, "tid", l->tid);
	if (l->ns_pid)
		put_u64(b, "ns_pid", l->ns_pid);
	else
		put_null(b, "ns_pid");
	put_string(b, "comm", l->self.comm);
	put_string(b, "state", states[l->state]);
	put_fate_json(b, l);
	put_bool(b, "existed", l->existed);
	if (l->replaced)
		put_bool(b, "replaced", true);
	if (!l->is_thread)
		put_bonds(b, l);
	put_time(b, "fork", l->born);
	put_time(b, "exit", l->exit);
	put_time(b, "zombie", l->early && !l->is_thread ? (struct life_time){ 0 } : l->zombie);
	put_time(b, "reap", l->reaped);
	put_time(b, "free", l->freed);
	for (i = 0; i < NR_SPANS; i++)
		put_span_json(b, keys[i], life_span(l, i));
	if (life_is_overdue(c, l))
		put_bool(b, "leak", life_is_leak(c, l));
	if (l->state == LIFE_ZOMBIE && !l->is_thread)
		put_where_json(c, "parent_at", &l->parent_where);
	if (l->state == LIFE_EXITING || l->state == LIFE_REAPED)
		put_where_json(c, "at", &l->where);
	strbuf__puts(b, "}\n");
}

/* ---- steps ---------------------------------------------------------------------------------- */

void lifecycle__json_step(struct lifecycle_cmd *c, const struct life_step *s)
{
	static const char *const kinds[] = {
		"born",	   "fork",   "thread", "runnable",     "exec",
		"renamed", "sent",   "signal", "exit_call",    "thread_exit",
		"exit",	   "orphan", "off",    "zombie",       "waits",
		"reaps",   "tracer", "reaped", "thread_freed", "freed",
	};
	struct strbuf *b = &c->out.b;

	strbuf__printf(b,
		       "{\"type\":\"step\",\"ts\":%" PRIu64 ",\"id\":%" PRIu64
		       ",\"pid\":%u,\"tid\":%u",
		       s->ts, s->self.id, s->self.pid, s->tid);
	put_string(b, "comm", s->self.comm);
	put_string(b, "step", kinds[s->kind]);
	strbuf__printf(b, ",\"number\":%" PRId64 ",\"detail\":%d", s->number, s->detail);
	if (s->other.pid)
		put_person(b, "other", &s->other);
	if (s->text) {
		strbuf__puts(b, ",\"text\":");
		out__json(b, s->text, s->text_len);
	}
	put_stacks(c, s->kstack, s->ustack);
	strbuf__puts(b, "}\n");
	out__drain(&c->out);
}

/* ---- summary -------------------------------------------------------------------------------- */

static void put_stats(struct strbuf *b, const char *key, const struct span_stats *s)
{
	strbuf__printf(b, ",\"%s\":{\"known\":%" PRIu64, key, s->known.count);
	put_u64(b, "intervals", s->between);
	if (s->known.count) {
		put_u64(b, "min_ns", s->known.min);
		put_u64(b, "p50_ns", durations__percentile(&s->known, 500));
		put_u64(b, "p90_ns", durations__percentile(&s->known, 900));
		put_u64(b, "p99_ns", durations__percentile(&s->known, 990));
		put_u64(b, "max_ns", s->known.max);
		put_bool(b, "exact", durations__is_exact(&s->known));
	}
	strbuf__putc(b, '}');
}

static void put_totals_json(struct strbuf *b, const struct lifecycle_totals *t)
{
	put_u64(b, "ended", t->ended);
	put_u64(b, "exit_0", t->status_0);
	put_u64(b, "exit_other", t->status_other);
	put_u64(b, "signaled", t->signals);
	put_u64(b, "unknown", t->unknown);
	put_u64(b, "uncertain", t->uncertain);
	put_u64(b, "reaped", t->reaped);
	put_u64(b, "reaped_unseen", t->reaped_unseen);
	put_u64(b, "freed", t->freed);
	put_u64(b, "gone", t->gone);
	put_u64(b, "exiting", t->exiting);
	put_u64(b, "zombies", t->zombies);
	put_u64(b, "unfreed", t->unfreed);
	put_u64(b, "overdue", t->overdue);
	put_stats(b, "lifetime", &t->spans[SPAN_LIFETIME]);
	put_stats(b, "teardown", &t->spans[SPAN_TEARDOWN]);
	put_stats(b, "zombie", &t->spans[SPAN_ZOMBIE]);
	put_stats(b, "reap_to_free", &t->spans[SPAN_UNFREED]);
}

static void put_gaps_json(struct lifecycle_cmd *c)
{
	static const char *const kinds[] = { "missing", "lost", "others", "filtered" };
	struct strbuf *b = &c->out.b;
	struct life_gap g;
	unsigned int i;

	strbuf__puts(b, ",\"gaps\":[");
	for (i = 0; lifecycle__gap(c->l, i, &g); i++)
		strbuf__printf(b,
			       "%s{\"kind\":\"%s\",\"event\":\"%s:%s\",\"count\":%" PRIu64
			       ",\"open\":\"%s\"}",
			       i ? "," : "", kinds[g.kind], g.system, g.name, g.count, g.means);
	strbuf__putc(b, ']');
}

void lifecycle__json_summary(struct lifecycle_cmd *c)
{
	struct strbuf *b = &c->out.b;
	struct lifecycle_counts n;

	lifecycle__counts(c->l, &n);
	strbuf__printf(b, "{\"type\":\"summary\",\"first_ts\":%" PRIu64, c->first_ts);
	put_u64(b, "end_ts", lifecycle__end_ts(c->l));
	put_u64(b, "processes", n.processes);
	put_u64(b, "threads", n.threads);
	put_u64(b, "existed", n.existed);
	put_u64(b, "execs", n.execs);
	put_u64(b, "orphans", n.orphans);
	put_totals_json(b, &c->processes);
	put_bool(b, "end_list", lifecycle__has_end_list(c->l));
	put_u64(b, "births_unseen", n.births_unseen);
	put_u64(b, "exits_unseen", n.exits_unseen);
	put_u64(b, "waits_unmatched", n.waits_unmatched);
	put_u64(b, "stop_reports", n.stop_reports);
	put_u64(b, "tracer_waits", n.tracer_waits);
	put_u64(b, "frees_unmatched", n.frees_unmatched);
	put_u64(b, "frees_unnamed", n.frees_unnamed);
	put_u64(b, "frees_ambiguous", n.frees_ambiguous);
	put_u64(b, "pid_reuses", n.pid_reuses);
	if (c->threads) {
		strbuf__puts(b, ",\"of_threads\":{\"type\":\"threads\"");
		put_totals_json(b, &c->thread_totals);
		strbuf__putc(b, '}');
	}
	put_gaps_json(c);
	strbuf__puts(b, "}\n");
}
