// SPDX-License-Identifier: GPL-2.0-only
/* Events as JSON, one object a line; the names are listed in stackonce-script(1). */
#include "script.h"

#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "ui/frames.h"

static void put_key_u64(struct strbuf *b, const char *key, uint64_t v)
{
	strbuf__puts(b, key);
	strbuf__u64(b, v);
}

static void put_key_string(struct strbuf *b, const char *key, const char *s)
{
	strbuf__puts(b, key);
	out__json(b, s, strlen(s));
}

static void put_key_stack(struct script *s, struct strbuf *b, const char *key, uint32_t number)
{
	strbuf__puts(b, key);
	stack__json_id(s->rd.reader, b, number);
}

static void put_all_fields(struct script *s, struct strbuf *b, const struct script_type *t,
			   const struct stk_event *e)
{
	const void *rec;
	size_t len;

	strbuf__puts(b, "\"fields\":");
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

static void put_marks(struct strbuf *b, const struct stk_event *e)
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
	bool any = false;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!(marks & names[i].mark))
			continue;
		strbuf__puts(b, any ? ",\"" : ",\"marks\":[\"");
		strbuf__puts(b, names[i].name);
		strbuf__putc(b, '"');
		any = true;
	}
	if (any)
		strbuf__putc(b, ']');
}

static void put_one_field(struct script *s, struct strbuf *b, unsigned int column,
			  const struct script_type *t, const struct stk_event *e)
{
	const struct ev_field *f = t->fields[column];
	const char *name = s->columns[column].name;
	const void *rec;
	size_t len;

	out__json(b, name, strlen(name));
	strbuf__putc(b, ':');
	if (!f || (stk_event__marks(e) & STK_MARK_NO_FIELDS)) {
		strbuf__puts(b, "null");
		return;
	}
	rec = stk_event__record(e, &len);
	if (f->kind == EV_FIELD_INT && !f->is_pointer) {
		uint64_t v = ev_field__value(f, rec, len);

		if (f->is_signed)
			strbuf__s64(b, (int64_t)v);
		else
			strbuf__u64(b, v);
		return;
	}
	strbuf__reset(&s->scratch);
	ev_format__print_field(t->format, f, rec, len, &s->scratch);
	out__json(b, s->scratch.s ?: "", s->scratch.len);
}

static void put_column(struct script *s, struct strbuf *b, unsigned int i,
		       const struct script_type *t, const struct stk_event *e)
{
	char flags[6] = "";

	switch (s->columns[i].kind) {
	case COL_COMM:
		put_key_string(b, "\"comm\":", stk_event__comm(e));
		break;
	case COL_PID:
		put_key_u64(b, "\"pid\":", stk_event__pid(e));
		break;
	case COL_TID:
		put_key_u64(b, "\"tid\":", stk_event__tid(e));
		break;
	case COL_CPU:
		put_key_u64(b, "\"cpu\":", stk_event__cpu(e));
		break;
	case COL_FLAGS:
		script__flags(e, flags);
		put_key_string(b, "\"flags\":", flags);
		break;
	case COL_TIME:
		put_key_u64(b, "\"ts\":", stk_event__ts(e));
		break;
	case COL_EVENT:
		strbuf__puts(b, "\"event\":");
		strbuf__add(b, t->json_name.s, t->json_name.len);
		break;
	case COL_FIELDS:
		put_all_fields(s, b, t, e);
		break;
	case COL_KSTACK:
		put_key_stack(s, b, "\"kstack\":", stk_event__kstack(e));
		break;
	case COL_USTACK:
		put_key_stack(s, b, "\"ustack\":", stk_event__ustack(e));
		break;
	case COL_FIELD:
		put_one_field(s, b, i, t, e);
		break;
	}
}

void script__json(struct script *s, const struct stk_event *e)
{
	const struct script_type *t = script__type(s, e);
	struct strbuf *b = &s->out.b;
	char flags[6] = "";
	unsigned int i;

	if (!t || !t->fields || !t->json_name.len) {
		b->failed = true;
		return;
	}
	if (s->stacks_too)
		script__tell_stacks(s, e);
	if (s->nr_columns) {
		for (i = 0; i < s->nr_columns; i++) {
			strbuf__putc(b, i ? ',' : '{');
			put_column(s, b, i, t, e);
		}
		strbuf__puts(b, "}\n");
		return;
	}
	script__flags(e, flags);
	put_key_u64(b, "{\"ts\":", stk_event__ts(e));
	put_key_u64(b, ",\"cpu\":", stk_event__cpu(e));
	put_key_u64(b, ",\"pid\":", stk_event__pid(e));
	put_key_u64(b, ",\"tid\":", stk_event__tid(e));
	put_key_string(b, ",\"comm\":", stk_event__comm(e));
	put_key_string(b, ",\"flags\":", flags);
	strbuf__puts(b, ",\"event\":");
	strbuf__add(b, t->json_name.s, t->json_name.len);
	strbuf__putc(b, ',');
	put_all_fields(s, b, t, e);
	put_key_stack(s, b, ",\"kstack\":", stk_event__kstack(e));
	put_key_stack(s, b, ",\"ustack\":", stk_event__ustack(e));
	put_marks(b, e);
	strbuf__puts(b, "}\n");
}
