// SPDX-License-Identifier: GPL-2.0-only
/*
 * The task lists of the start and the end of the recording: tasks.start and tasks.end of its
 * metadata, one line per task: pid tgid ppid nspid start_ns state comm.
 */
#include "lifecycle_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "query/metadata.h"
#include "text.h"

struct entry {
	uint32_t tid, pid, ppid, ns_pid;
	char state;
	char comm[LC_COMM + 1];
	unsigned int comm_len;
};

struct lc_list {
	uint64_t ts; /* 0: unknown */
	struct entry *v; /* by tid */
	unsigned int nr;
};

void lc_list__free(struct lc_list *list)
{
	if (list)
		free(list->v);
	free(list);
}

/* Parses a number that ends with a blank; false: no number, or too large. */
static bool number(const char **s, uint64_t max, uint64_t *ret_value)
{
	uint64_t v = 0;

	if (**s < '0' || **s > '9')
		return false;
	for (; **s >= '0' && **s <= '9'; (*s)++) {
		if (v > (max - (**s - '0')) / 10)
			return false;
		v = v * 10 + (**s - '0');
	}
	if (**s != ' ')
		return false;
	(*s)++;
	*ret_value = v;
	return true;
}

/* Bytes other than printable ASCII are written as \xNN. */
static void parse_comm(const char *s, const char *end, struct entry *e)
{
	while (s < end && e->comm_len < LC_COMM)
		s += text__byte(s, &e->comm[e->comm_len++]);
}

static bool parse_line(const char *s, const char *end, struct entry *ret_entry)
{
	uint64_t v[5];
	struct entry e = { 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(v); i++)
		if (!number(&s, i < 4 ? UINT32_MAX : UINT64_MAX, &v[i]))
			return false;
	if (!v[0] || !v[1] || s >= end)
		return false;
	e.tid = v[0];
	e.pid = v[1];
	e.ppid = v[2];
	e.ns_pid = v[3];
	e.state = *s++;
	if (s < end && *s == ' ')
		parse_comm(s + 1, end, &e);
	*ret_entry = e;
	return true;
}

static int by_tid(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return CMP(x->tid, y->tid);
}

static const struct entry *entry_of(const struct lc_list *list, uint32_t tid)
{
	const struct entry key = { .tid = tid };

	return bsearch(&key, list->v, list->nr, sizeof(key), by_tid);
}

/* *ret_list stays NULL if the recording has no such list. */
static int parse_list(struct lifecycle *l, const char *key, const char *ts_key,
		      struct lc_list **ret_list)
{
	const char *text = stk_reader__meta(l->r, key), *end;
	struct lc_list *list;
	unsigned int lines = 1;
	const char *s;

	if (!text)
		return 0;
	for (s = text; *s; s++)
		lines += *s == '\n';
	list = calloc(1, sizeof(*list));
	if (list)
		list->v = calloc(lines, sizeof(*list->v));
	if (!list || !list->v) {
		lc_list__free(list);
		return -ENOMEM;
	}
	for (s = text; *s; s = *end ? end + 1 : end) {
		end = strchrnul(s, '\n');
		list->nr += parse_line(s, end, &list->v[list->nr]);
	}
	qsort(list->v, list->nr, sizeof(*list->v), by_tid);
	metadata__u64(l->r, ts_key, &list->ts);
	*ret_list = list;
	return 0;
}

/* ---- the start ------------------------------------------------------------------------------- */

static int add_listed(struct lifecycle *l, const struct entry *e)
{
	struct lc_proc *p = lc_proc__find(l, e->pid);
	struct lc_task *t;

	if (e->tid == e->pid) {
		t = p ? NULL : lc_process__new(l, e->pid);
		if (!t && !p)
			return -ENOMEM;
	} else {
		/* The leader is listed as well, unless it ended while the list was read. */
		t = p ? lc_thread__new(l, p, e->tid) : NULL;
		if (p && !t)
			return -ENOMEM;
	}
	if (!t)
		return 0;
	t->existed = t->kind_sure = t->listed = true;
	t->born = (struct life_time){ 0, l->start->ts ?: l->ts };
	lc_comm__set(t, e->comm, e->comm_len);
	if (e->tid == e->pid) {
		l->counts.existed++;
		t->proc->in_root = e->ns_pid == e->pid;
		t->proc->in_namespace = e->ns_pid && e->ns_pid != e->pid;
	}
	if (e->state == 'Z' || e->state == 'X') {
		t->exit = t->off = t->born;
		t->off_state = e->state == 'Z' ? LC_ZOMBIE : LC_DEAD;
		t->proc->nr_live--;
		t->proc->nr_off++;
		t->proc->last_off = t->born.to;
	}
	return 0;
}

/* The pid in the parent's namespace; 0: unknown. */
static uint32_t number_for_parent(const struct entry *e, const struct entry *parent)
{
	if (!e->ns_pid || !parent || parent->ns_pid == parent->tid)
		return e->tid;
	return e->ns_pid == 1 ? 0 : e->ns_pid; /* init of its namespace */
}

static void link_family(struct lifecycle *l, const struct entry *e)
{
	struct lc_proc *p = lc_proc__find(l, e->pid), *parent;
	uint32_t ns_pid;

	if (!p || e->tid != e->pid)
		return;
	parent = e->ppid ? lc_proc__find(l, e->ppid) : NULL;
	lc_proc__set_parent(p, parent);
	p->born_to = lc_name(p->parent);
	ns_pid = number_for_parent(e, entry_of(l->start, e->ppid));
	if (ns_pid)
		lc_task__set_ns_pid(l, p->leader, ns_pid);
	if (!p->nr_live)
		p->exit = p->leader->exit;
}

int lc_list__start(struct lifecycle *l)
{
	unsigned int i, leaders;
	int err;

	err = parse_list(l, "tasks.start", "tasks.start_ts", &l->start);
	if (err || !l->start)
		return err;
	/* Processes first: threads need their leader. */
	for (leaders = 2; !err && leaders--;)
		for (i = 0; !err && i < l->start->nr; i++)
			if ((l->start->v[i].tid == l->start->v[i].pid) == leaders)
				err = add_listed(l, &l->start->v[i]);
	for (i = 0; !err && i < l->start->nr; i++)
		link_family(l, &l->start->v[i]);
	return err;
}

/* ---- the end --------------------------------------------------------------------------------- */

static int add_unseen(struct lifecycle *l, const struct entry *e)
{
	struct lc_task *t;

	if (e->tid != e->pid || lc_proc__find(l, e->pid))
		return 0;
	t = lc_process__new(l, e->pid);
	if (!t)
		return -ENOMEM;
	t->existed = t->kind_sure = true;
	t->born = (struct life_time){ 0, l->end_ts };
	l->counts.existed++;
	lc_comm__set(t, e->comm, e->comm_len);
	return 0;
}

static struct life_time ended_before(struct lifecycle *l, const struct lc_task *t)
{
	return (struct life_time){ t->seen, l->end_ts };
}

/* Corrects p by the list where events were missed. */
static void correct(struct lifecycle *l, const struct entry *e)
{
	struct lc_proc *p = e->tid == e->pid ? lc_proc__find(l, e->pid) : NULL, *parent;
	struct lc_task *t;

	if (!p)
		return;
	parent = e->ppid ? lc_proc__find(l, e->ppid) : NULL;
	p->new_parent = lc_name(parent);
	if (parent && parent != p->parent)
		lc_proc__set_parent(p, parent);
	t = p->leader;
	if (e->state != 'Z')
		return;
	p->reaped = (struct life_time){ 0 };
	if (!t->exit.to) {
		t->exit = ended_before(l, t);
		p->nr_live -= p->nr_live > 0;
		l->counts.exits_unseen++;
	}
}

int lc_list__end(struct lifecycle *l)
{
	unsigned int i;
	int err;

	err = parse_list(l, "tasks.end", "tasks.end_ts", &l->end);
	if (err || !l->end)
		return err;
	if (l->end->ts > l->end_ts)
		l->end_ts = l->end->ts;
	for (i = 0; !err && i < l->end->nr; i++)
		err = add_unseen(l, &l->end->v[i]);
	for (i = 0; !err && i < l->end->nr; i++)
		correct(l, &l->end->v[i]);
	return err;
}

char lc_list__state(const struct lifecycle *l, const struct lc_proc *p)
{
	const struct entry *e = entry_of(l->end, p->pid);

	return e ? e->state : 0;
}
