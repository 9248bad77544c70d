// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scheduling: the events from which Perfetto makes CPU slices, thread states and names of tasks are
 * written once more, as ftrace's events of that name.
 */
#include <errno.h>
#include <string.h>

#include "events/format.h"
#include "perfetto_priv.h"

#define PACKET_SIZE 160 /* most bytes of a packet without its texts */

struct sched_row {
	const char *system, *name;
	const char *fields[PF_SCHED_FIELDS]; /* in the order of the message */
	unsigned int needs; /* bits: without these it says nothing */
};

static const struct sched_row rows[] = {
	[PF_SWITCH] = { "sched",
			"sched_switch",
			{ "prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm",
			  "next_pid", "next_prio" },
			1 << 1 | 1 << 3 | 1 << 5 },
	[PF_WAKING] = { "sched", "sched_waking", { "comm", "pid", "prio", "target_cpu" }, 1 << 1 },
	[PF_NEWTASK] = { "task",
			 "task_newtask",
			 { "pid", "comm", "clone_flags", "oom_score_adj" },
			 1 << 0 | 1 << 1 | 1 << 2 },
	[PF_RENAME] = { "task",
			"task_rename",
			{ "pid", "oldcomm", "newcomm", "oom_score_adj" },
			1 << 1 | 1 << 2 },
	[PF_FREE] = { "sched", "sched_process_free", { "comm", "pid", "prio" }, 1 << 1 },
};

void pf_sched__find(struct pf_type *t, const struct stk_event_type *type)
{
	const struct sched_row *row;
	unsigned int i, sched;

	for (sched = PF_SWITCH; sched <= PF_FREE; sched++) {
		row = &rows[sched];
		if (!strcmp(stk_event_type__name(type), row->name) &&
		    !strcmp(stk_event_type__system(type), row->system))
			break;
	}
	if (sched > PF_FREE || stk_event_type__kind(type) != STK_KIND_TRACEPOINT)
		return;
	for (i = 0; i < PF_SCHED_FIELDS && row->fields[i]; i++) {
		t->sched_fields[i] = ev_format__find(t->format, row->fields[i]);
		if (!t->sched_fields[i] && row->needs & 1u << i)
			return;
	}
	t->sched = sched;
}

/* ---- values ---------------------------------------------------------------------------------- */

struct sched_record {
	struct pf_events *ev;
	const struct pf_type *t;
	const void *rec;
	size_t len;
};

/* 0: the event has no such field. */
static int64_t number(const struct sched_record *r, unsigned int field)
{
	const struct ev_field *f = r->t->sched_fields[field];

	return f ? (int64_t)ev_field__value(f, r->rec, r->len) : 0;
}

/* "" if the event has no such field. */
static const char *bytes(const struct sched_record *r, unsigned int field, size_t *ret_len)
{
	const struct ev_field *f = r->t->sched_fields[field];
	size_t n;
	const char *s = f ? ev_field__bytes(f, r->rec, r->len, &n) : NULL;

	*ret_len = s ? strnlen(s, n) : 0;
	return s ?: "";
}

static bool is_text(const struct sched_record *r, unsigned int field, const char *text)
{
	size_t len;
	const char *s = bytes(r, field, &len);

	return strlen(text) == len && !memcmp(s, text, len);
}

/* Adds the text of a field and a NUL; returns its position. */
static size_t text(const struct sched_record *r, unsigned int field)
{
	struct strbuf *b = &r->ev->text;
	size_t len, at = b->len;
	const char *s = bytes(r, field, &len);

	strbuf__safe(b, s, len);
	strbuf__add(b, "", 1);
	return at;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put(struct pf_events *ev, const struct stk_event *e, uint64_t ts,
		Pf__FtraceEvent *event)
{
	struct pf_cpu *cpu = pf_events__cpu(ev, stk_event__cpu(e));
	Pf__TracePacket p = PF__TRACE_PACKET__INIT;
	Pf__FtraceEventBundle bundle = PF__FTRACE_EVENT_BUNDLE__INIT;

	PF_SET(event, timestamp, ts);
	PF_SET(event, pid, stk_event__tid(e));
	PF_SET(&bundle, cpu, stk_event__cpu(e));
	if (cpu->has_loss)
		PF_SET(&bundle, lost_events, true);
	cpu->has_loss = false;
	bundle.n_event = 1;
	bundle.event = &event;
	p.ftrace_events = &bundle;
	pf_out__packet(ev->out, &p, PACKET_SIZE + ev->text.len);
}

/*
 * A switch that the recording does not have, though it must have happened: such as those between
 * other tasks than the selected ones.
 */
static void put_unseen(const struct sched_record *r, const struct stk_event *e, uint64_t ts,
		       int32_t from, int32_t to)
{
	Pf__FtraceEvent event = PF__FTRACE_EVENT__INIT;
	Pf__SchedSwitch m = PF__SCHED_SWITCH__INIT;

	PF_SET(&m, prev_pid, from);
	PF_SET(&m, prev_prio, 120);
	PF_SET(&m, prev_state, 1); /* S: nothing is known of it, so it is not runnable */
	PF_SET(&m, next_pid, to);
	PF_SET(&m, next_prio, 120);
	event.sched_switch = &m;
	put(r->ev, e, ts, &event);
	r->ev->unseen++;
}

/*
 * Perfetto wants each switch to begin with the task of the last one.  What ran in between is
 * unknown: the CPU is shown idle, and not as if the last task had gone on.
 */
static void fill_gap(const struct sched_record *r, const struct stk_event *e, int32_t prev_pid)
{
	struct pf_cpu *cpu = pf_events__cpu(r->ev, stk_event__cpu(e));

	if (cpu->has_switch && cpu->next_pid != prev_pid) {
		if (cpu->next_pid)
			put_unseen(r, e, cpu->switched, cpu->next_pid, 0);
		if (prev_pid)
			put_unseen(r, e, stk_event__ts(e), 0, prev_pid);
	}
}

static void put_switch(const struct sched_record *r, const struct stk_event *e)
{
	struct pf_cpu *cpu = pf_events__cpu(r->ev, stk_event__cpu(e));
	int32_t prev_pid = number(r, 1), next_pid = number(r, 5);
	Pf__FtraceEvent event = PF__FTRACE_EVENT__INIT;
	Pf__SchedSwitch m = PF__SCHED_SWITCH__INIT;
	size_t prev = text(r, 0), next = text(r, 4);

	fill_gap(r, e, prev_pid);
	m.prev_comm = r->ev->text.s + prev;
	PF_SET(&m, prev_pid, prev_pid);
	PF_SET(&m, prev_prio, (int32_t)number(r, 2));
	PF_SET(&m, prev_state, number(r, 3));
	m.next_comm = r->ev->text.s + next;
	PF_SET(&m, next_pid, next_pid);
	PF_SET(&m, next_prio, (int32_t)number(r, 6));
	event.sched_switch = &m;
	put(r->ev, e, stk_event__ts(e), &event);
	cpu->has_switch = true;
	cpu->next_pid = next_pid;
	cpu->switched = stk_event__ts(e);
}

static void put_waking(const struct sched_record *r, const struct stk_event *e)
{
	Pf__FtraceEvent event = PF__FTRACE_EVENT__INIT;
	Pf__SchedWaking m = PF__SCHED_WAKING__INIT;
	size_t comm = text(r, 0);

	m.comm = r->ev->text.s + comm;
	PF_SET(&m, pid, (int32_t)number(r, 1));
	PF_SET(&m, prio, (int32_t)number(r, 2));
	PF_SET(&m, success, 1);
	PF_SET(&m, target_cpu, (int32_t)number(r, 3));
	event.sched_waking = &m;
	put(r->ev, e, stk_event__ts(e), &event);
}

static void put_newtask(const struct sched_record *r, const struct stk_event *e)
{
	Pf__FtraceEvent event = PF__FTRACE_EVENT__INIT;
	Pf__TaskNewtask m = PF__TASK_NEWTASK__INIT;
	size_t comm = text(r, 1);

	PF_SET(&m, pid, (int32_t)number(r, 0));
	m.comm = r->ev->text.s + comm;
	PF_SET(&m, clone_flags, (uint64_t)number(r, 2));
	PF_SET(&m, oom_score_adj, (int32_t)number(r, 3));
	event.task_newtask = &m;
	put(r->ev, e, stk_event__ts(e), &event);
}

/*
 * Whether it is known which task is renamed.  Linux 6.14 to 6.18.20 does not say it: the current
 * one, if it has either name.
 */
static bool knows_renamed(const struct sched_record *r, const struct stk_event *e)
{
	return r->t->sched_fields[0] || is_text(r, 1, stk_event__comm(e)) ||
	       is_text(r, 2, stk_event__comm(e));
}

static void put_rename(const struct sched_record *r, const struct stk_event *e)
{
	Pf__FtraceEvent event = PF__FTRACE_EVENT__INIT;
	Pf__TaskRename m = PF__TASK_RENAME__INIT;
	size_t from = text(r, 1), to = text(r, 2);
	bool has_pid = r->t->sched_fields[0];

	PF_SET(&m, pid, has_pid ? (int32_t)number(r, 0) : (int32_t)stk_event__tid(e));
	m.oldcomm = r->ev->text.s + from;
	m.newcomm = r->ev->text.s + to;
	PF_SET(&m, oom_score_adj, (int32_t)number(r, 3));
	event.task_rename = &m;
	put(r->ev, e, stk_event__ts(e), &event);
}

static void put_free(const struct sched_record *r, const struct stk_event *e)
{
	Pf__FtraceEvent event = PF__FTRACE_EVENT__INIT;
	Pf__SchedProcessFree m = PF__SCHED_PROCESS_FREE__INIT;
	size_t comm = text(r, 0);

	m.comm = r->ev->text.s + comm;
	PF_SET(&m, pid, (int32_t)number(r, 1));
	PF_SET(&m, prio, (int32_t)number(r, 2));
	event.sched_process_free = &m;
	put(r->ev, e, stk_event__ts(e), &event);
}

bool pf_sched__add(struct pf_events *ev, const struct pf_type *t, const struct stk_event *e)
{
	static void (*const puts[])(const struct sched_record *r, const struct stk_event *e) = {
		[PF_SWITCH] = put_switch, [PF_WAKING] = put_waking, [PF_NEWTASK] = put_newtask,
		[PF_RENAME] = put_rename, [PF_FREE] = put_free,
	};
	struct sched_record r = { .ev = ev, .t = t };

	r.rec = stk_event__record(e, &r.len);
	/*
	 * An event without its fields would say that task 0 runs, and Perfetto takes switches for
	 * mismatched that are not in the order in which they happened.
	 */
	if (!r.rec || r.len < ev_format__fixed_size(t->format) ||
	    stk_event__marks(e) & STK_MARK_LATE || stk_event__cpu(e) >= PF_MAX_CPUS ||
	    (t->sched == PF_RENAME && !knows_renamed(&r, e)))
		return false;
	strbuf__reset(&ev->text);
	if (strbuf__grow(&ev->text, 512)) /* so that texts stay where they are */
		pf_out__fail(ev->out, -ENOMEM);
	else
		puts[t->sched](&r, e);
	return true;
}
