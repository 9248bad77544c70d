// SPDX-License-Identifier: GPL-2.0-only
/* Event types of a trace.dat file. */
#include "trace_dat_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "events/format.h"
#include "trace_entry.h"

#define NO_FIELDS "_no_fields" /* behind the name of events without their fields */

struct trace_dat_type {
	const struct stk_event_type *type;
	struct ev_format *format; /* NULL: no fields */
	const struct ev_field **dynamic; /* strings and arrays of varying length */
	uint32_t nr_dynamic;
	const struct ev_field **code; /* addresses that are printed as functions */
	uint32_t nr_code;
	uint32_t fixed_size; /* the end of the last field, at least that of the head */
	uint16_t ids[2]; /* without and with fields; 0: no event yet */
};

/* ---- types ----------------------------------------------------------------------------------- */

static bool is_dynamic(const struct ev_field *f)
{
	return f->kind == EV_FIELD_DATA_LOC || f->kind == EV_FIELD_REL_LOC;
}

static bool is_code(const struct ev_field *f)
{
	return f->kind == EV_FIELD_INT && (f->address == EV_FUNCTION || f->address == EV_CODE);
}

static int add_fields(struct trace_dat_type *t)
{
	unsigned int i, nr = ev_format__nr_fields(t->format);
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		const struct ev_field *f = ev_format__field(t->format, i);

		if (is_dynamic(f))
			err = array__append(&t->dynamic, &t->nr_dynamic, f);
		else if (is_code(f))
			err = array__append(&t->code, &t->nr_code, f);
	}
	t->fixed_size = MAX(t->fixed_size, ev_format__fixed_size(t->format));
	return err;
}

static void type__free(struct trace_dat_type *t)
{
	if (!t)
		return;
	ev_format__free(t->format);
	free(t->dynamic);
	free(t->code);
	free(t);
}

static void type__freep(struct trace_dat_type **t)
{
	type__free(*t);
}

/* A type without fields has no format; that another one cannot be parsed is logged. */
static struct trace_dat_type *new_type(const struct stk_event_type *t)
{
	_cleanup_(type__freep) struct trace_dat_type *n = calloc(1, sizeof(*n));
	const char *text = stk_event_type__format(t);
	int err;

	if (!n)
		return NULL;
	n->type = t;
	n->fixed_size = TRACE_ENTRY_SIZE;
	err = *text ? ev_format__parse(text, strlen(text), &n->format) : 0;
	if (err == -ENOMEM || (n->format && add_fields(n)))
		return NULL;
	return take_ptr(n);
}

struct trace_dat_type *trace_dat_types__of(struct trace_dat_types *ts,
					   const struct stk_event_type *t)
{
	uint32_t i = stk_event_type__index(t);

	if (!ts->ids) {
		ts->ids = calloc(TRACE_DAT_MAX_ID + 1, sizeof(*ts->ids));
		ts->next_id = TRACE_DAT_MAX_ID;
		if (!ts->ids)
			return NULL;
		memset(ts->ids, true, TRACE_DAT_FIRST_ID + 1);
	}
	if (i >= ts->nr && array__reach(&ts->v, i, &ts->nr))
		return NULL;
	if (!ts->v[i])
		ts->v[i] = new_type(t);
	return ts->v[i];
}

/* The kernel's id, unless another type has it: function probes, for example, have none. */
static uint16_t new_id(struct trace_dat_types *ts, uint32_t wanted)
{
	if (wanted <= TRACE_DAT_MAX_ID && !ts->ids[wanted]) {
		ts->ids[wanted] = true;
		return wanted;
	}
	while (ts->ids[ts->next_id] && ts->next_id > TRACE_DAT_FIRST_ID)
		ts->next_id--;
	if (ts->ids[ts->next_id])
		return 0;
	ts->ids[ts->next_id] = true;
	return ts->next_id;
}

uint16_t trace_dat_type__id(struct trace_dat_types *ts, struct trace_dat_type *t, bool has_fields)
{
	if (!t->ids[has_fields])
		t->ids[has_fields] =
			new_id(ts, t->format && has_fields ? ev_format__id(t->format) : 0);
	return t->ids[has_fields];
}

/* ---- records --------------------------------------------------------------------------------- */

static bool has_empty(const struct trace_dat_type *t, const void *rec, size_t len)
{
	uint32_t i;
	size_t n;

	for (i = 0; i < t->nr_dynamic; i++) {
		ev_field__bytes(t->dynamic[i], rec, len, &n);
		if (!n)
			return true;
	}
	return false;
}

size_t trace_dat_type__size(const struct trace_dat_type *t, const void *rec, size_t len)
{
	return MAX(len, t->fixed_size) + (has_empty(t, rec, len) ? 1 : 0);
}

/*
 * Readers print an empty string as what is at its place.  So that is the NUL at the end of the
 * entry, also for what lies outside of the record.
 */
static void put_empty(const struct ev_field *f, char *to, size_t size)
{
	size_t at = size - 1 - (f->kind == EV_FIELD_REL_LOC ? f->offset + f->size : 0);
	uint32_t loc = at <= UINT16_MAX ? at : 0;

	memcpy(to + f->offset, &loc, sizeof(loc));
}

/* Of a record that is too short, fields that are not wholly in it are zero. */
static void clear_cut(const struct trace_dat_type *t, char *to, size_t len)
{
	unsigned int i, nr = t->format ? ev_format__nr_fields(t->format) : 0;

	for (i = 0; i < nr; i++) {
		const struct ev_field *f = ev_format__field(t->format, i);

		if (f->offset < len && len - f->offset < f->size)
			memset(to + f->offset, 0, f->size);
	}
}

void trace_dat_type__put(const struct trace_dat_type *t, char *to, size_t size, const void *rec,
			 size_t len)
{
	uint32_t i;
	size_t n;

	memcpy(to, rec, len);
	memset(to + len, 0, size - len);
	if (len < t->fixed_size)
		clear_cut(t, to, len);
	for (i = 0; i < t->nr_dynamic; i++) {
		ev_field__bytes(t->dynamic[i], rec, len, &n);
		if (!n)
			put_empty(t->dynamic[i], to, size);
	}
}

int trace_dat_type__code(const struct trace_dat_type *t, const void *rec, size_t len,
			 int (*fn)(void *ctx, uint64_t address), void *ctx)
{
	int err = 0;
	uint32_t i;

	for (i = 0; i < t->nr_code && !err; i++)
		err = fn(ctx, ev_field__value(t->code[i], rec, len));
	return err;
}

/* ---- formats --------------------------------------------------------------------------------- */

void trace_dat__put_u32(struct strbuf *b, uint32_t v)
{
	strbuf__add(b, (const char *)&v, sizeof(v));
}

void trace_dat__put_u64(struct strbuf *b, uint64_t v)
{
	strbuf__add(b, (const char *)&v, sizeof(v));
}

void trace_dat__put_sized(struct strbuf *b, const struct strbuf *text)
{
	b->failed |= strbuf__failed(text);
	trace_dat__put_u64(b, text->len);
	strbuf__add(b, text->s ?: "", text->len);
}

/* libtraceevent takes letters, digits and '_' as a name. */
static void put_name(struct strbuf *b, const char *name)
{
	if (!*name)
		strbuf__putc(b, '_');
	for (; *name; name++)
		strbuf__putc(b, (*name >= '0' && *name <= '9') || (*name >= 'a' && *name <= 'z') ||
						(*name >= 'A' && *name <= 'Z') ?
					*name :
					'_');
}

/* Readers print literal text of the print fmt, so it may have no byte that terminals act on. */
static void put_line(struct strbuf *b, const char *line, size_t len)
{
	bool is_safe;

	for (; len; line++, len--) {
		is_safe = *line == '\t' || *line == '\n' || (*line >= ' ' && *line <= '~');
		strbuf__putc(b, is_safe ? *line : '?');
	}
	strbuf__putc(b, '\n');
}

/*
 * Readers print names without their system, which for function probes says whether it is the entry
 * or the return.
 */
static void put_type_name(struct strbuf *b, const struct stk_event_type *t)
{
	enum stk_event_kind kind = stk_event_type__kind(t);

	if (kind == STK_KIND_FUNCTION || kind == STK_KIND_USER_FUNCTION || kind == STK_KIND_USDT) {
		put_name(b, stk_event_type__system(t));
		strbuf__putc(b, '_');
	}
	put_name(b, stk_event_type__name(t));
}

/*
 * The fields and the print fmt as recorded.  Libtraceevent takes the lines up to the first blank
 * one for the common fields, and of all types these must be the same.
 */
static void put_fields(struct strbuf *b, const char *text)
{
	const char *end;

	strbuf__puts(b, TRACE_ENTRY_FORMAT);
	for (; *text; text = *end ? end + 1 : end) {
		text += strspn(text, " \t");
		end = text + strcspn(text, "\n");
		if (!strncmp(text, "field:", 6) && !memmem(text, end - text, " common_", 8)) {
			strbuf__putc(b, '\t');
			put_line(b, text, end - text);
		} else if (!strncmp(text, "print fmt:", 10)) {
			strbuf__putc(b, '\n');
			put_line(b, text, strlen(text) - (text[strlen(text) - 1] == '\n'));
			return;
		}
	}
	strbuf__puts(b, "\nprint fmt: \"\"\n");
}

static void put_format(struct strbuf *b, const struct trace_dat_type *t, bool has_fields)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	if (!t->ids[has_fields])
		return;
	strbuf__puts(&text, "name: ");
	put_type_name(&text, t->type);
	strbuf__printf(&text, "%s\nID: %u\n", has_fields ? "" : NO_FIELDS, t->ids[has_fields]);
	put_fields(&text, t->format && has_fields ? stk_event_type__format(t->type) : "");
	trace_dat__put_sized(b, &text);
}

static int by_system(const void *a, const void *b)
{
	const struct trace_dat_type *const *x = a, *const *y = b;

	return strcmp(stk_event_type__system((*x)->type), stk_event_type__system((*y)->type)) ?:
		       CMP(stk_event_type__index((*x)->type), stk_event_type__index((*y)->type));
}

static void put_system(struct strbuf *b, struct trace_dat_type *const *v, uint32_t nr)
{
	uint32_t i, formats = 0;

	for (i = 0; i < nr; i++)
		formats += !!v[i]->ids[0] + !!v[i]->ids[1];
	put_name(b, stk_event_type__system(v[0]->type));
	strbuf__putc(b, '\0');
	trace_dat__put_u32(b, formats);
	for (i = 0; i < nr; i++) {
		put_format(b, v[i], true);
		put_format(b, v[i], false);
	}
}

/* The stack of user code, as a text: see trace_dat_stacks.c. */
static void put_own_system(struct strbuf *b)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	strbuf__puts(b, "stackonce");
	strbuf__putc(b, '\0');
	trace_dat__put_u32(b, 1);
	strbuf__printf(&text,
		       "name: user_stack\nID: %u\n" TRACE_ENTRY_FORMAT
		       "\tfield:unsigned int stack;\toffset:8;\tsize:4;\tsigned:0;\n"
		       "\tfield:__data_loc char[] frames;\toffset:12;\tsize:4;\tsigned:0;\n"
		       "\nprint fmt: \"%%s\", __get_str(frames)\n",
		       TRACE_DAT_USER_STACK);
	trace_dat__put_sized(b, &text);
}

void trace_dat_types__put(const struct trace_dat_types *ts, struct strbuf *b)
{
	_cleanup_free_ struct trace_dat_type **v = calloc(ts->nr + 1ul, sizeof(*ts->v));
	uint32_t i, from, nr = 0, systems = 0;
	size_t at = b->len;

	b->failed |= !v;
	for (i = 0; i < ts->nr && v; i++)
		if (ts->v[i] && (ts->v[i]->ids[0] || ts->v[i]->ids[1]))
			v[nr++] = ts->v[i];
	if (nr)
		qsort(v, nr, sizeof(*ts->v), by_system);
	trace_dat__put_u32(b, 0);
	for (from = 0; from < nr; from = i, systems++) {
		for (i = from + 1; i < nr; i++)
			if (strcmp(stk_event_type__system(v[i]->type),
				   stk_event_type__system(v[from]->type)))
				break;
		put_system(b, v + from, i - from);
	}
	put_own_system(b);
	systems++;
	if (!strbuf__failed(b))
		memcpy(b->s + at, &systems, sizeof(systems));
}

void trace_dat_types__clear(struct trace_dat_types *ts)
{
	uint32_t i;

	for (i = 0; i < ts->nr; i++)
		type__free(ts->v[i]);
	free(ts->v);
	free(ts->ids);
}
