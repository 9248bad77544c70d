// SPDX-License-Identifier: GPL-2.0-only
/* Prints events by column: the text of --fields, and JSON; docs/json.md lists the members. */
#include "script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "ui/frames.h"

const char *const script_column_names[] = {
	[COL_COMM] = "comm",	 [COL_PID] = "pid",	  [COL_TID] = "tid",
	[COL_CPU] = "cpu",	 [COL_FLAGS] = "flags",	  [COL_TIME] = "ts",
	[COL_EVENT] = "event",	 [COL_FIELDS] = "fields", [COL_KSTACK] = "kstack",
	[COL_USTACK] = "ustack", [COL_HOST] = "host",	  [COL_FIELD] = NULL,
};

int script__take_fields(void *into, const struct opt *o, const char *list)
{
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *name;
	struct script *s = into;
	struct script_column *more;
	unsigned int kind;

	if (!copy)
		return -ENOMEM;
	while ((name = strsep(&rest, ","))) {
		if (!*name)
			return -EINVAL;
		more = reallocarray(s->columns, s->nr_columns + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->columns = more;
		name = strcmp(name, "time") ? name : "ts"; /* its name before 0.2 */
		kind = COL_FIELD;
		opt__word(o, name, &kind);
		more[s->nr_columns].kind = kind;
		more[s->nr_columns].name = strdup(name);
		if (!more[s->nr_columns++].name)
			return -ENOMEM;
	}
	return CMD_OK;
}

static __always_inline void put_u64(struct script *s, const char *name, uint64_t v)
{
	if (s->rd.json)
		json__u64(&s->out.json, name, v);
	else
		strbuf__u64(&s->out.b, v);
}

static __always_inline void put_text(struct script *s, const char *name, const char *text,
				     size_t len)
{
	if (s->rd.json)
		json__bytes(&s->out.json, name, text, len);
	else
		strbuf__safe(&s->out.b, text, len);
}

static __always_inline void put_stack(struct script *s, const char *name, uint32_t number)
{
	if (s->rd.json)
		stack__json_id(s->rd.reader, &s->out.json, name, number);
	else
		strbuf__u64(&s->out.b, stack__id(s->rd.reader, number));
}

static void put_fields(struct script *s, const char *name, struct script_type *t,
		       const struct stk_event *e)
{
	struct strbuf *b;
	const void *rec;
	size_t len;

	if (!s->rd.json) {
		script__fields(s, &s->out.b, t, e);
		return;
	}
	b = json__value(&s->out.json, name);
	rec = stk_event__record(e, &len);
	if (stk_event__marks(e) & STK_MARK_NO_FIELDS)
		strbuf__puts(b, "null");
	else if (t->format)
		ev_format__json(t->format, rec, len, b);
	else
		strbuf__puts(b, "{}");
}

static void put_field(struct script *s, const char *name, const struct script_type *t,
		      const struct ev_field *f, const struct stk_event *e)
{
	struct json *j = &s->out.json;
	const void *rec;
	size_t len;

	if (s->rd.json)
		json__name(j,
			   strcmp(name, "type") ? name : "fields.type"); /* a record has a type */
	if (!f || (stk_event__marks(e) & STK_MARK_NO_FIELDS)) {
		strbuf__puts(s->rd.json ? json__value(j, NULL) : &s->out.b,
			     s->rd.json ? "null" : "-");
		return;
	}
	rec = stk_event__record(e, &len);
	if (s->rd.json && f->kind == EV_FIELD_INT && !f->address) {
		if (f->is_signed)
			json__s64(j, NULL, ev_field__value(f, rec, len));
		else
			json__u64(j, NULL, ev_field__value(f, rec, len));
		return;
	}
	strbuf__reset(&s->scratch);
	/* JSON has the addresses: names are for people, and stacks have theirs. */
	ev_format__print_field(t->format, f, s->rd.json ? NULL : &s->print, rec, len, &s->scratch);
	s->out.b.failed |= s->scratch.failed;
	put_text(s, NULL, s->scratch.s ?: "", s->scratch.len);
}

/*
 * column: index in s->columns, for COL_FIELD.  Inlined: where the kind is a constant, so are the
 * name of the column and its length.
 */
static __always_inline void put_column(struct script *s, enum script_column_kind kind,
				       unsigned int column, struct script_type *t,
				       const struct stk_event *e)
{
	const char *comm = s->rd.json ? stk_event__comm(e) : event_comm(e), *name;
	char flags[5];

	name = script_column_names[kind];
	switch (kind) {
	case COL_COMM:
		return put_text(s, name, comm, strlen(comm));
	case COL_PID:
		return put_u64(s, name, stk_event__pid(e));
	case COL_TID:
		return put_u64(s, name, stk_event__tid(e));
	case COL_CPU:
		return put_u64(s, name, stk_event__cpu(e));
	case COL_FLAGS:
		script__flags(e, flags);
		return put_text(s, name, flags, sizeof(flags));
	case COL_TIME:
		if (s->rd.json)
			return put_u64(s, name, stk_event__ts(e));
		return script__time(s, &s->out.b, stk_event__ts(e), 0);
	case COL_EVENT:
		if (!t->full_name)
			s->out.b.failed = true;
		return put_text(s, name, t->full_name ?: "", strlen(t->full_name ?: ""));
	case COL_FIELDS:
		return put_fields(s, name, t, e);
	case COL_KSTACK:
		return put_stack(s, name, stk_event__kstack(e));
	case COL_USTACK:
		return put_stack(s, name, stk_event__ustack(e));
	case COL_HOST:
		return put_text(s, name, stk_event__host(e), strlen(stk_event__host(e)));
	case COL_FIELD:
		return put_field(s, s->columns[column].name, t, t->fields[column], e);
	}
}

void script__columns(struct script *s, const struct stk_event *e)
{
	struct script_type *t = script__type(s, e);
	struct strbuf *b = &s->out.b;
	unsigned int i;

	if (!t || !t->fields)
		return;
	for (i = 0; i < s->nr_columns && s->ids && !s->no_stacks; i++)
		if (s->columns[i].kind == COL_USTACK)
			script__put_files(s, e);
	for (i = 0; i < s->nr_columns; i++) {
		if (i)
			strbuf__putc(b, ' ');
		put_column(s, s->columns[i].kind, i, t, e);
	}
	strbuf__putc(b, '\n');
	for (i = 0; i < s->nr_columns && !s->no_stacks; i++) {
		if (s->columns[i].kind == COL_KSTACK)
			script__kernel_stack(s, e);
		else if (s->columns[i].kind == COL_USTACK)
			script__user_stack(s, e);
	}
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_marks(struct json *j, const struct stk_event *e)
{
	static const struct {
		unsigned int mark;
		const char *name;
	} known[] = {
		{ STK_MARK_NO_FIELDS, "fields_missing" },
		{ STK_MARK_LATE, "late" },
		{ STK_MARK_CUT, "cut" },
		{ STK_MARK_NOT_SELECTED, "not_selected" },
	};
	unsigned int marks = stk_event__marks(e), i;

	if (!(marks & (STK_MARK_NO_FIELDS | STK_MARK_LATE | STK_MARK_CUT | STK_MARK_NOT_SELECTED)))
		return;
	json__array(j, "marks");
	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (marks & known[i].mark)
			json__string(j, NULL, known[i].name);
	json__end(j);
}

void script__json(struct script *s, const struct stk_event *e)
{
	struct script_type *t = script__type(s, e);
	struct json *j = &s->out.json;
	unsigned int i;

	if (!t || !t->fields || !t->full_name) {
		s->out.b.failed = true;
		return;
	}
	if (s->stacks_too)
		script__put_new_stacks(s, e);
	json__record(j, "event");
	for (i = 0; i < s->nr_columns; i++)
		put_column(s, s->columns[i].kind, i, t, e);
	if (!s->nr_columns) {
		if (stk_reader__nr_boots(s->rd.reader) > 1)
			put_column(s, COL_HOST, 0, t, e);
		put_column(s, COL_TIME, 0, t, e);
		put_column(s, COL_CPU, 0, t, e);
		put_column(s, COL_PID, 0, t, e);
		put_column(s, COL_TID, 0, t, e);
		put_column(s, COL_COMM, 0, t, e);
		put_column(s, COL_FLAGS, 0, t, e);
		put_column(s, COL_EVENT, 0, t, e);
		put_column(s, COL_FIELDS, 0, t, e);
		put_column(s, COL_KSTACK, 0, t, e);
		put_column(s, COL_USTACK, 0, t, e);
		put_marks(j, e);
	}
	json__end(j);
}
