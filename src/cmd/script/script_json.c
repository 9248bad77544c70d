// SPDX-License-Identifier: GPL-2.0-only
/* Events as JSON, one object a line; docs/json.md lists the members. */
#include "script.h"

#include "cleanup.h"
#include "ui/frames.h"

static void put_name(struct script *s, const struct script_type *t)
{
	strbuf__add(json__value(&s->out.json, "event"), t->json_name.s, t->json_name.len);
}

static void put_flags(struct script *s, const struct stk_event *e)
{
	char flags[5];

	script__flags(e, flags);
	json__bytes(&s->out.json, "flags", flags, sizeof(flags));
}

static void put_all_fields(struct script *s, const struct script_type *t, const struct stk_event *e)
{
	struct strbuf *b = json__value(&s->out.json, "fields");
	const void *rec;
	size_t len;

	if (stk_event__marks(e) & STK_MARK_NO_FIELDS) {
		strbuf__puts(b, "null");
		return;
	}
	rec = stk_event__record(e, &len);
	if (t->format)
		ev_format__json(t->format, rec, len, b);
	else
		strbuf__puts(b, "{}");
}

static void put_marks(struct json *j, const struct stk_event *e)
{
	static const struct {
		unsigned int mark;
		const char *name;
	} names[] = {
		{ STK_MARK_NO_FIELDS, "fields_missing" },
		{ STK_MARK_LATE, "late" },
		{ STK_MARK_CUT, "cut" },
	};
	unsigned int marks = stk_event__marks(e), i;

	if (!(marks & (STK_MARK_NO_FIELDS | STK_MARK_LATE | STK_MARK_CUT)))
		return;
	json__array(j, "marks");
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (marks & names[i].mark)
			json__string(j, NULL, names[i].name);
	json__end(j);
}

static void put_one_field(struct script *s, unsigned int column, const struct script_type *t,
			  const struct stk_event *e)
{
	const struct ev_field *f = t->fields[column];
	const char *name = s->columns[column].name;
	struct json *j = &s->out.json;
	const void *rec;
	size_t len;

	if (!f || (stk_event__marks(e) & STK_MARK_NO_FIELDS)) {
		json__null(j, name);
		return;
	}
	rec = stk_event__record(e, &len);
	if (f->kind == EV_FIELD_INT && !f->is_pointer) {
		uint64_t v = ev_field__value(f, rec, len);

		if (f->is_signed)
			json__s64(j, name, (int64_t)v);
		else
			json__u64(j, name, v);
		return;
	}
	strbuf__reset(&s->scratch);
	ev_format__print_field(t->format, f, rec, len, &s->scratch);
	json__bytes(j, name, s->scratch.s ?: "", s->scratch.len);
}

/* column: its number, for COL_FIELD */
static void put_column(struct script *s, enum script_column_kind kind, unsigned int column,
		       const struct script_type *t, const struct stk_event *e)
{
	struct json *j = &s->out.json;

	switch (kind) {
	case COL_COMM:
		return json__string(j, "comm", stk_event__comm(e));
	case COL_PID:
		return json__u64(j, "pid", stk_event__pid(e));
	case COL_TID:
		return json__u64(j, "tid", stk_event__tid(e));
	case COL_CPU:
		return json__u64(j, "cpu", stk_event__cpu(e));
	case COL_FLAGS:
		return put_flags(s, e);
	case COL_TIME:
		return json__u64(j, "ts", stk_event__ts(e));
	case COL_EVENT:
		return put_name(s, t);
	case COL_FIELDS:
		return put_all_fields(s, t, e);
	case COL_KSTACK:
		return stack__json_id(s->rd.reader, j, "kstack", stk_event__kstack(e));
	case COL_USTACK:
		return stack__json_id(s->rd.reader, j, "ustack", stk_event__ustack(e));
	case COL_FIELD:
		return put_one_field(s, column, t, e);
	}
}

void script__json(struct script *s, const struct stk_event *e)
{
	static const enum script_column_kind all[] = { COL_TIME,   COL_CPU,   COL_PID,	 COL_TID,
						       COL_COMM,   COL_FLAGS, COL_EVENT, COL_FIELDS,
						       COL_KSTACK, COL_USTACK };
	const struct script_type *t = script__type(s, e);
	struct json *j = &s->out.json;
	unsigned int i;

	if (!t || !t->fields || !t->json_name.len) {
		s->out.b.failed = true;
		return;
	}
	if (s->stacks_too)
		script__tell_stacks(s, e);
	json__record(j, "event");
	for (i = 0; i < s->nr_columns; i++)
		put_column(s, s->columns[i].kind, i, t, e);
	for (i = 0; i < ARRAY_SIZE(all) && !s->nr_columns; i++)
		put_column(s, all[i], 0, t, e);
	if (!s->nr_columns)
		put_marks(j, e);
	json__end(j);
}
