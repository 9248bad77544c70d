// SPDX-License-Identifier: GPL-2.0-only
/* Follows the names of tasks by events in a separate ftrace instance. */
#include "ftrace_tasks.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "events/format.h"
#include "ftrace_instance.h"
#include "ftrace_ring.h"
#include "idmap.h"
#include "log.h"
#include "record/kernel/task_list.h"
#include "record/kernel/tracefs.h"
#include "strbuf.h"

#define RING_KB "512"
#define POLL_BYTES (64u << 20)
#define WRITE_NS 100000000 /* an event is written in less */
#define SCAN_NS 1000000000 /* all of /proc is read in less */

/* The name and process of a thread from a time on. */
struct version {
	uint64_t ts;
	uint32_t tgid;
	char comm[16];
};

struct entry {
	uint32_t tid;
	bool exists; /* after a loss: it is in /proc */
	struct ftrace_program program; /* of a process */
	struct version *v; /* by time */
	unsigned int nr;
};

/* A change that an event reported; changes of all CPUs are collected and then applied in order. */
struct change {
	uint64_t ts;
	enum { CHANGE_NEW, CHANGE_NEW_THREAD, CHANGE_NAME, CHANGE_EXEC } what;
	uint32_t tid, parent;
	char comm[16];
	char from[16]; /* "": tid is the task; else if it has this name, and unknown otherwise */
};

struct task_event {
	struct ev_format *fmt;
	const struct ev_field *pid, *comm, *clone_flags; /* NULL: not used */
	const struct ev_field *oldcomm; /* NULL: pid says which task it is */
};

struct ftrace_tasks {
	const struct ftrace_page_format *format;
	struct ftrace_instance *instance;
	struct ftrace_ring *rings;
	struct cpu {
		bool watched; /* its ring is in the epoll instance */
		uint64_t until; /* its changes until then have been read */
	} * cpus;
	struct cpu *reading; /* whose pages are being read */
	uint64_t lost_since, lost_until; /* changes of tasks are missing; since UINT64_MAX: none */
	uint64_t scanned; /* when /proc was read the last time */
	bool any_lost;
	unsigned int nr_cpus;
	int epoll_fd;
	struct task_event newtask, rename, exec;
	struct idmap by_tid; /* tid + 1 -> index + 1 */
	struct entry *entries;
	size_t nr, cap;
	struct change *changes;
	size_t nr_changes, cap_changes;
};

/* ---- known tasks ----------------------------------------------------------------------------- */

static int entry_of(struct ftrace_tasks *t, uint32_t tid, struct entry **ret_entry)
{
	uint32_t *at = idmap__get(&t->by_tid, tid + 1ull);

	if (!at)
		return -ENOMEM;
	if (!*at) {
		if (array__grow(&t->entries, t->nr, &t->cap))
			return -ENOMEM;
		t->entries[t->nr++] = (struct entry){ .tid = tid };
		*at = t->nr;
	}
	*ret_entry = &t->entries[*at - 1];
	return 0;
}

static int add_version(struct entry *e, const struct version *v)
{
	size_t at = e->nr;

	if (array__append(&e->v, &e->nr, *v))
		return -ENOMEM;
	while (at && e->v[at - 1].ts > v->ts)
		at--;
	memmove(e->v + at + 1, e->v + at, (e->nr - 1 - at) * sizeof(*v));
	e->v[at] = *v;
	return 0;
}

/* The version at that time; the first one is assumed to be valid before its time, too. */
static const struct version *version_at(const struct entry *e, uint64_t ts)
{
	unsigned int i = e->nr;

	while (i > 1 && e->v[i - 1].ts > ts)
		i--;
	return i ? &e->v[i - 1] : NULL;
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Events of this CPU were lost before the first one of a page. */
static void note_loss(struct ftrace_tasks *t, uint64_t first)
{
	t->lost_since = MIN(t->lost_since, t->reading->until);
	t->lost_until = MAX(t->lost_until, first);
	if (!t->any_lost)
		log_warn("changes of tasks were lost: those that ended meanwhile are named <...>");
	t->any_lost = true;
}

static int forget_name(struct entry *e, uint64_t since)
{
	const struct version unknown = { .ts = since, .comm = "<...>" };

	return add_version(e, &unknown);
}

/* The changes of other CPUs meanwhile: a lost one may have followed.  Whether there are any. */
static bool forget_changes(const struct ftrace_tasks *t, struct entry *e)
{
	bool any = false;
	unsigned int i;

	for (i = e->nr; i-- && e->v[i].ts > t->lost_since;) {
		if (e->v[i].ts > t->lost_until)
			continue;
		snprintf(e->v[i].comm, sizeof(e->v[i].comm), "<...>");
		any = true;
	}
	return any;
}

/*
 * The name of a task in /proc: one that it had before is taken for valid all the time, as events
 * are lost when many short-lived tasks come and go.
 */
static int add_current(struct ftrace_tasks *t, struct entry *e, const struct version *v)
{
	bool changed = v->ts && forget_changes(t, e), same;
	const struct version *last = e->nr ? &e->v[e->nr - 1] : NULL;
	int err;

	e->exists = true;
	same = last && last->tgid == v->tgid && !strcmp(last->comm, v->comm);
	if (last && (!v->ts || (same && !changed)))
		return 0; /* also at the start: a version from an event is newer */
	err = v->ts ? forget_name(e, t->lost_since) : 0;
	return err || same ? err : add_version(e, v);
}

/* ---- /proc ----------------------------------------------------------------------------------- */

static void unescape(char *s)
{
	unsigned int byte;
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] == 'x' && sscanf(s + 2, "%2x", &byte) == 1) {
			*to++ = byte;
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/* A line of task_list__read(). */
static int add_line(struct ftrace_tasks *t, char *line, uint64_t now)
{
	struct version v = { .ts = now };
	unsigned int tid;
	struct entry *e;
	int at = 0, err;

	if (sscanf(line, "%u %u %*d %*d %*u %*c %n", &tid, &v.tgid, &at) != 2 || !at)
		return 0;
	unescape(line + at);
	snprintf(v.comm, sizeof(v.comm), "%.15s", line + at);
	err = entry_of(t, tid, &e);
	return err ?: add_current(t, e, &v);
}

/* At the start, with now 0, and after a loss. */
static int read_tasks(struct ftrace_tasks *t, uint64_t now)
{
	struct strbuf text = { 0 };
	char *line, *rest;
	int err;

	err = task_list__read("/proc", &text, NULL, NULL);
	for (rest = text.s; !err && (line = strsep(&rest, "\n"));)
		err = add_line(t, line, now);
	strbuf__free(&text);
	return err;
}

/* For a task that existed before the recording and has had no event: reads its current name. */
static void read_task(uint32_t tid, struct version *v)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "Name:\t", 6))
			snprintf(v->comm, sizeof(v->comm), "%.15s", line + 6);
		if (sscanf(line, "Tgid: %u", &v->tgid) == 1)
			return;
	}
}

/* ---- events ---------------------------------------------------------------------------------- */

static int keep_change(struct ftrace_tasks *t, const struct change *c)
{
	if (array__grow(&t->changes, t->nr_changes, &t->cap_changes))
		return -ENOMEM;
	t->changes[t->nr_changes++] = *c;
	return 0;
}

static int take_change(struct ftrace_tasks *t, const struct ftrace_page_event *pe)
{
	struct change c = { .ts = pe->ts, .what = CHANGE_EXEC };
	const struct task_event *ev = &t->exec;
	uint32_t head[2];

	if (pe->len < sizeof(head))
		return -EPROTO;
	memcpy(head, pe->data, sizeof(head));
	if ((head[0] & 0xffff) == ev_format__id(t->newtask.fmt)) {
		ev = &t->newtask;
		c.parent = head[1];
		c.what = ev_field__value(ev->clone_flags, pe->data, pe->len) & CLONE_THREAD ?
				 CHANGE_NEW_THREAD :
				 CHANGE_NEW;
	} else if ((head[0] & 0xffff) == ev_format__id(t->rename.fmt)) {
		ev = &t->rename;
		c.what = CHANGE_NAME;
	}
	if ((ev->comm && ev->comm->offset + sizeof(c.comm) > pe->len) ||
	    (ev->oldcomm && ev->oldcomm->offset + sizeof(c.from) > pe->len))
		return -EPROTO;
	c.tid = ev_field__value(ev->pid, pe->data, pe->len);
	if (ev->comm)
		memcpy(c.comm, (const char *)pe->data + ev->comm->offset, sizeof(c.comm) - 1);
	if (ev->oldcomm)
		memcpy(c.from, (const char *)pe->data + ev->oldcomm->offset, sizeof(c.from) - 1);
	return keep_change(t, &c);
}

static int on_page(void *ctx, const void *data, size_t len)
{
	struct ftrace_tasks *t = ctx;
	struct ftrace_page_event pe;
	struct ftrace_page page;
	int n, err = 0;
	bool lost;

	ftrace_page__open(&page, t->format, data, len);
	lost = page.lost;
	while (!err && (n = ftrace_page__next(&page, &pe)) > 0) {
		if (lost)
			note_loss(t, pe.ts);
		lost = false;
		err = take_change(t, &pe);
		t->reading->until = MAX(t->reading->until, pe.ts);
	}
	if (lost)
		note_loss(t, UINT64_MAX);
	return err ?: MIN(n, 0);
}

/* The process of a task after the change. */
static int tgid_of(struct ftrace_tasks *t, const struct change *c, uint32_t *ret_tgid)
{
	uint32_t of = c->what == CHANGE_NEW_THREAD ? c->parent : c->tid;
	const struct version *before;
	struct entry *e;
	int err;

	*ret_tgid = c->tid;
	if (c->what == CHANGE_NEW)
		return 0;
	if (t->any_lost) /* the event that says which may be lost */
		*ret_tgid = 0;
	err = entry_of(t, of, &e);
	before = err ? NULL : version_at(e, c->ts);
	if (before)
		*ret_tgid = before->tgid;
	return err;
}

/* A name that /proc had had already when the task got it, as reading /proc takes a while. */
static void forget_early(const struct ftrace_tasks *t, struct entry *e, const struct version *v)
{
	struct version *last = e->nr ? &e->v[e->nr - 1] : NULL;

	if (last && t->scanned && last->ts == t->scanned && v->ts - last->ts < SCAN_NS &&
	    !strcmp(last->comm, v->comm))
		snprintf(last->comm, sizeof(last->comm), "<...>");
}

/* If it is another thread that was renamed, and had this name, too, that cannot be seen. */
static bool is_named(const struct entry *e, uint64_t ts, const char *name)
{
	const struct version *v = version_at(e, ts);

	return v && !strcmp(v->comm, name);
}

static int apply(struct ftrace_tasks *t, const struct change *c)
{
	struct version v = { .ts = c->ts };
	struct entry *e, *parent;
	uint32_t copy_of = 0;
	int err;

	memcpy(v.comm, c->comm, sizeof(v.comm));
	err = tgid_of(t, c, &v.tgid);
	if (!err && c->what == CHANGE_NEW) {
		err = entry_of(t, c->parent, &parent);
		if (!err && version_at(parent, c->ts))
			copy_of = version_at(parent, c->ts)->tgid;
	}
	if (!err)
		err = entry_of(t, c->tid, &e);
	if (err)
		return err;
	if (c->what == CHANGE_NEW || c->what == CHANGE_EXEC)
		e->program = (struct ftrace_program){ e->program.changes + 1, c->ts, copy_of };
	if (c->what == CHANGE_EXEC || (*c->from && !is_named(e, c->ts, c->from)))
		return 0;
	forget_early(t, e, &v);
	/* the event that says what it was before may be lost */
	if (!e->nr && t->any_lost)
		err = forget_name(e, 0);
	return err ?: add_version(e, &v);
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return CMP(x->ts, y->ts);
}

/* Reads a ring; the first time that it exists, from then on its events wake the recorder. */
static int read_ring(struct ftrace_tasks *t, unsigned int cpu, uint64_t now)
{
	struct epoll_event ev = { .events = EPOLLIN };
	uint64_t bytes;
	int err;

	t->reading = &t->cpus[cpu];
	err = ftrace_ring__read(&t->rings[cpu], POLL_BYTES, on_page, t, &bytes);
	if (err < 0)
		return err == -ENODEV ? 0 : err;
	if (!err && now > WRITE_NS) /* it was empty */
		t->reading->until = MAX(t->reading->until, now - WRITE_NS);
	if (t->reading->watched)
		return 0;
	t->reading->watched = true;
	return epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, t->rings[cpu].fd, &ev) ? -errno : 0;
}

/*
 * Once all changes are applied.  Tasks that have ended since, and what others were meanwhile, stay
 * unknown.
 */
static int read_again(struct ftrace_tasks *t, uint64_t now)
{
	size_t i;
	int err;

	for (i = 0; i < t->nr; i++)
		t->entries[i].exists = false;
	err = read_tasks(t, now);
	for (i = 0; i < t->nr && !err; i++) {
		struct entry *e = &t->entries[i];

		e->program = (struct ftrace_program){ e->program.changes + 1, now, 0 };
		if (e->exists || !e->nr)
			continue;
		forget_changes(t, e);
		err = forget_name(e, t->lost_since);
	}
	t->lost_since = UINT64_MAX;
	t->lost_until = 0;
	t->scanned = now;
	return err;
}

int ftrace_tasks__poll(struct ftrace_tasks *t, uint64_t now)
{
	unsigned int cpu;
	size_t i;
	int err = 0;

	t->nr_changes = 0;
	for (cpu = 0; cpu < t->nr_cpus && !err; cpu++)
		err = read_ring(t, cpu, now);
	if (err)
		return err;
	if (t->nr_changes)
		qsort(t->changes, t->nr_changes, sizeof(*t->changes), by_time);
	for (i = 0; i < t->nr_changes && !err; i++)
		err = apply(t, &t->changes[i]);
	if (!err && t->lost_since != UINT64_MAX)
		err = read_again(t, now);
	return err;
}

int ftrace_tasks__fd(const struct ftrace_tasks *t)
{
	return t->epoll_fd;
}

/* ---- queries --------------------------------------------------------------------------------- */

void ftrace_tasks__at(struct ftrace_tasks *t, uint32_t tid, uint64_t ts, unsigned int cpu,
		      struct ftrace_task *ret_task)
{
	struct ftrace_task task = { .tid = tid };
	struct version current = { .comm = "<...>" };
	const struct version *v = NULL;
	struct entry *e;

	if (!tid) {
		snprintf(task.comm, sizeof(task.comm), "swapper/%u", cpu);
		*ret_task = task;
		return;
	}
	if (!entry_of(t, tid, &e)) {
		if (!e->nr) {
			read_task(tid, &current);
			add_version(e, &current);
		}
		v = version_at(e, ts);
	}
	if (!v)
		v = &current;
	task.tgid = v->tgid;
	memcpy(task.comm, v->comm, sizeof(task.comm));
	*ret_task = task;
}

void ftrace_tasks__forget(struct ftrace_tasks *t, uint64_t ts)
{
	size_t i;

	for (i = 0; i < t->nr; i++) {
		struct entry *e = &t->entries[i];
		unsigned int old = 0;

		while (old + 1 < e->nr && e->v[old + 1].ts <= ts)
			old++;
		if (!old)
			continue;
		e->nr -= old;
		memmove(e->v, e->v + old, e->nr * sizeof(*e->v));
	}
}

void ftrace_tasks__program(struct ftrace_tasks *t, uint32_t tgid,
			   struct ftrace_program *ret_program)
{
	struct entry *e;

	*ret_program = (struct ftrace_program){ 0 };
	if (!entry_of(t, tgid, &e))
		*ret_program = e->program;
}

/* ---- start and end --------------------------------------------------------------------------- */

/*
 * Linux 6.14 to 6.18.20 does not say which task is renamed: mostly the current one, but a task may
 * rename another thread of its process.  Other events need the field.
 */
static int without_pid(struct task_event *ev)
{
	ev->pid = ev_format__find(ev->fmt, "common_pid");
	ev->oldcomm = ev_format__find(ev->fmt, "oldcomm");
	return ev->pid && ev->oldcomm && ev->oldcomm->size == 16 ? 0 : -EINVAL;
}

/* comm, flags: names of fields, NULL: not used. */
static int load_event(struct task_event *ev, const char *system, const char *name, const char *comm,
		      const char *flags)
{
	_cleanup_free_ char *text = NULL;
	int err;

	err = tracefs__format(system, name, &text);
	if (!err)
		err = ev_format__parse(text, strlen(text), &ev->fmt);
	if (err)
		return err;
	ev->pid = ev_format__find(ev->fmt, "pid");
	ev->comm = comm ? ev_format__find(ev->fmt, comm) : NULL;
	ev->clone_flags = flags ? ev_format__find(ev->fmt, flags) : NULL;
	if ((!ev->pid && without_pid(ev)) || !comm != !ev->comm || !flags != !ev->clone_flags)
		return -EINVAL;
	return ev->comm && ev->comm->size != 16 ? -EINVAL : 0;
}

static int open_rings(struct ftrace_tasks *t)
{
	size_t page_size = ftrace_instance__page_size(t->instance);
	unsigned int cpu;
	int err;

	t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll_fd < 0)
		return -errno;
	t->rings = calloc(t->nr_cpus, sizeof(*t->rings));
	t->cpus = calloc(t->nr_cpus, sizeof(*t->cpus));
	if (!t->rings || !t->cpus)
		return -ENOMEM;
	for (cpu = 0; cpu < t->nr_cpus; cpu++)
		t->rings[cpu] = (struct ftrace_ring){ .fd = -1, .pipe = { -1, -1 } };
	for (cpu = 0; cpu < t->nr_cpus; cpu++) {
		err = ftrace_ring__open(&t->rings[cpu], t->instance, cpu, page_size);
		if (err)
			return err;
	}
	return 0;
}

static int start(struct ftrace_tasks *t, const char *clock)
{
	const struct {
		const char *file, *text;
	} rows[] = {
		{ "trace_clock", clock },
		{ "buffer_size_kb", RING_KB },
		/* so that a page says that events before it were lost: those that a full ring
		 * drops are counted, but their place is unknown */
		{ "options/overwrite", "1" },
		{ "events/task/task_newtask/enable", "1" },
		{ "events/task/task_rename/enable", "1" },
		{ "events/sched/sched_process_exec/enable", "1" },
		{ "tracing_on", "1" },
	};
	size_t i;
	int err;

	err = load_event(&t->newtask, "task", "task_newtask", "comm", "clone_flags");
	err = err ?: load_event(&t->rename, "task", "task_rename", "newcomm", NULL);
	err = err ?: load_event(&t->exec, "sched", "sched_process_exec", NULL, NULL);
	err = err ?: ftrace_instance__new(".tasks", &t->instance);
	for (i = 0; i < ARRAY_SIZE(rows) && !err; i++)
		err = ftrace_instance__write(t->instance, rows[i].file, rows[i].text);
	if (!err) /* wakes the recorder at the first event; older kernels always do */
		ftrace_instance__write(t->instance, "buffer_percent", "0");
	if (!err)
		err = open_rings(t);
	return err ?: read_tasks(t, 0);
}

int ftrace_tasks__new(const struct ftrace_page_format *format, unsigned int nr_cpus,
		      const char *clock, struct ftrace_tasks **ret_tasks)
{
	struct ftrace_tasks *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->format = format;
	t->nr_cpus = nr_cpus;
	t->epoll_fd = -1;
	t->lost_since = UINT64_MAX;
	err = start(t, clock);
	if (err) {
		ftrace_tasks__free(t);
		return err;
	}
	*ret_tasks = t;
	return 0;
}

void ftrace_tasks__free(struct ftrace_tasks *t)
{
	unsigned int cpu;
	size_t i;

	if (!t)
		return;
	closep(&t->epoll_fd);
	for (cpu = 0; t->rings && cpu < t->nr_cpus; cpu++)
		ftrace_ring__close(&t->rings[cpu]);
	free(t->rings);
	free(t->cpus);
	ftrace_instance__free(t->instance);
	for (i = 0; i < t->nr; i++)
		free(t->entries[i].v);
	free(t->entries);
	free(t->changes);
	idmap__clear(&t->by_tid);
	ev_format__free(t->newtask.fmt);
	ev_format__free(t->rename.fmt);
	ev_format__free(t->exec.fmt);
	free(t);
}
