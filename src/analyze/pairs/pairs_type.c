// SPDX-License-Identifier: GPL-2.0-only
/* Looks up, once per event type, the fields of the key and of the group. */
#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "pairs_priv.h"

static struct source source_of(const struct pairs_type *t, const char *name)
{
	static const struct {
		const char *name;
		enum source_kind kind;
	} header[] = { { "tid", SOURCE_TID },
		       { "cpu", SOURCE_CPU },
		       { "context", SOURCE_CONTEXT },
		       { "event", SOURCE_EVENT } };
	const struct ev_field *f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(header); i++)
		if (!strcmp(header[i].name, name))
			return (struct source){ .kind = header[i].kind };
	f = t->format ? ev_format__find(t->format, name) : NULL;
	if (f && f->kind == EV_FIELD_INT)
		return (struct source){ strcmp(f->type, "pid_t") ? SOURCE_NUMBER : SOURCE_TASK, f };
	if (f && (f->kind == EV_FIELD_STRING || f->is_char))
		return (struct source){ SOURCE_STRING, f };
	if (!strcmp(name, "pid"))
		return (struct source){ .kind = SOURCE_PID };
	if (!strcmp(name, "comm"))
		return (struct source){ .kind = SOURCE_COMM };
	return (struct source){ .kind = SOURCE_NONE };
}

/* The first of these that the event has. */
static struct source first_source(const struct pairs_type *t, const struct spec_side *names)
{
	struct source s = { .kind = SOURCE_NONE };
	unsigned int i;

	for (i = 0; i < names->nr && s.kind == SOURCE_NONE; i++)
		s = source_of(t, names->names[i]);
	return s;
}

static int take_side(const struct pairs *p, const struct pairs_type *t,
		     const struct spec_side *side, struct source *ret_source)
{
	unsigned int i;

	/* The header's pid and comm are used only if the event has none of the fields. */
	for (i = 0; i < 2 * side->nr; i++) {
		*ret_source = source_of(t, side->names[i % side->nr]);
		if (ret_source->kind == SOURCE_NONE ||
		    (i < side->nr &&
		     (ret_source->kind == SOURCE_PID || ret_source->kind == SOURCE_COMM)))
			continue;
		return 0;
	}
	return p->opts.quiet ? -ENOENT :
			       log_why(-ENOENT, "--match: %s:%s has no number or string field '%s'",
				       stk_event_type__system(t->type),
				       stk_event_type__name(t->type), side->names[0]);
}

static void take_life(struct pairs_type *t)
{
	static const struct {
		const char *system, *name;
		enum type_life life;
		const char *pid, *old_pid;
	} rows[] = {
		{ "sched", "sched_process_fork", LIFE_FORK, "child_pid", NULL },
		{ "task", "task_newtask", LIFE_NEWTASK, "pid", NULL },
		{ "sched", "sched_process_exit", LIFE_EXIT, NULL, NULL },
		{ "sched", "sched_process_exec", LIFE_EXEC, "pid", "old_pid" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(rows[i].name, stk_event_type__name(t->type)) ||
		    strcmp(rows[i].system, stk_event_type__system(t->type)))
			continue;
		t->life = rows[i].life;
		if (t->format && rows[i].pid)
			t->pid = ev_format__find(t->format, rows[i].pid);
		if (t->format && rows[i].old_pid)
			t->old_pid = ev_format__find(t->format, rows[i].old_pid);
	}
}

static bool is_field(const struct source *s)
{
	return s->kind == SOURCE_NUMBER || s->kind == SOURCE_TASK || s->kind == SOURCE_STRING;
}

static bool needs_fields(const struct pairs_type *t, unsigned int nr_match)
{
	bool needs = (t->role & PAIRS_START) && t->start_if;
	unsigned int i;

	for (i = 0; i < nr_match; i++)
		needs |= ((t->role & PAIRS_START) && is_field(&t->start[i])) ||
			 ((t->role & PAIRS_END) && is_field(&t->end[i]));
	return needs;
}

int pairs_type__init(struct pairs_type *t, const struct pairs *p, const struct stk_event_type *type)
{
	const char *text = stk_event_type__format(type);
	const struct spec *s = &p->spec;
	unsigned int i;
	int err = 0;

	t->type = type;
	t->role = p->opts.role(p->opts.ctx, type) & (PAIRS_START | PAIRS_END);
	/* events of a format that cannot be parsed have no fields */
	if (*text && ev_format__parse(text, strlen(text), &t->format) == -ENOMEM)
		return -ENOMEM;
	take_life(t);
	for (i = 0; i < s->nr_match && !err; i++) {
		if (t->role & PAIRS_START)
			err = take_side(p, t, &s->start[i], &t->start[i]);
		if (!err && t->role & PAIRS_END)
			err = take_side(p, t, &s->end[i], &t->end[i]);
	}
	for (i = 0; i < s->nr_by && t->role; i++)
		t->by[i] = first_source(t, &s->by[i]);
	if (s->if_field && t->format)
		t->start_if = ev_format__find(t->format, s->if_field);
	if (t->start_if && t->start_if->kind != EV_FIELD_INT)
		t->start_if = NULL;
	t->needs_fields = needs_fields(t, s->nr_match);
	return err;
}

void pairs_type__clear(struct pairs_type *t)
{
	ev_format__free(t->format);
	t->format = NULL;
}
