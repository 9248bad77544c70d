// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as markers: the data of each is an object with the fields of the event, and a schema for
 * each event type says how they are shown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "events/format.h"
#include "firefox_priv.h"

#define FIELD_PREFIX "field." /* as for names of values: it is the field that is meant */

/* What the data of a marker has beside the fields of the event. */
static const char *const own_members[] = { "type", "cause", "cpu", "comm", "pid", "tid" };

/* ---- event types ----------------------------------------------------------------------------- */

static bool is_own(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(own_members); i++)
		if (!strcmp(name, own_members[i]))
			return true;
	return false;
}

/* *ret_format stays NULL if the type has none, or one that cannot be parsed.  -ENOMEM. */
static int parse_format(const struct stk_event_type *type, struct ev_format **ret_format)
{
	const char *text = stk_event_type__format(type);
	int err = text && *text ? ev_format__parse(text, strlen(text), ret_format) : 0;

	return err == -ENOMEM ? err : 0;
}

static int find_renamed(struct ff_type *t)
{
	unsigned int i, nr = ev_format__nr_fields(t->format);
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		const struct ev_field *f = ev_format__field(t->format, i);

		if (ev_format__is_shown(t->format, f) && is_own(f->name))
			err = array__append(&t->renamed, &t->nr_renamed, f->name);
	}
	return err;
}

/* "system:name", and a number if there is another type of that name, with other fields. */
static int find_schema(struct ff_types *types, const struct stk_event_type *type,
		       const char **ret_schema)
{
	_cleanup_(strbuf__free) struct strbuf name = { 0 };
	uint32_t number;
	int n;

	strbuf__printf(&name, "%s:%s", stk_event_type__system(type), stk_event_type__name(type));
	n = strbuf__failed(&name) ? -ENOMEM :
				    string_table__number(&types->schemas, name.s, name.len,
							 INDEX_NONE - 1, &number);
	if (n < 0)
		return n;
	if (!n) {
		strbuf__printf(&name, " #%u", stk_event_type__index(type));
		n = strbuf__failed(&name) ? -ENOMEM :
					    string_table__intern(&types->schemas, name.s, &number);
		if (n)
			return n;
	}
	*ret_schema = string_table__get(&types->schemas, number);
	return 0;
}

static int find_type(struct ff_types *types, const struct stk_event_type *type,
		     const struct ff_type **ret_type)
{
	const char *name = stk_event_type__name(type);
	unsigned int i = stk_event_type__index(type);
	struct ff_type *t;
	int err;

	if (i < types->nr && types->v[i].is_known) {
		*ret_type = &types->v[i];
		return 0;
	}
	if (array__reach(&types->v, i, &types->nr))
		return -ENOMEM;
	t = &types->v[i];
	t->is_known = true;
	err = ff_frames__string(types->frames, name, strlen(name), &t->name);
	err = err ?: find_schema(types, type, &t->schema);
	err = err ?: parse_format(type, &t->format);
	if (!err) {
		strbuf__puts(&t->head, ",{\"type\":");
		strbuf__json(&t->head, t->schema, strlen(t->schema));
		err = strbuf__failed(&t->head) ? -ENOMEM : 0;
	}
	if (!err && t->format)
		err = find_renamed(t);
	*ret_type = t;
	return err;
}

/* ---- the data of a marker -------------------------------------------------------------------- */

/*
 * Turns the member `name` of the object that begins at `from` into `field.name`.  Within a string,
 * a quote has a backslash before it, so what is found is the name of the member.
 */
static void rename_member(struct strbuf *b, size_t from, const char *name)
{
	_cleanup_(strbuf__free) struct strbuf key = { 0 };
	size_t more = strlen(FIELD_PREFIX);
	char *at;

	strbuf__printf(&key, "\"%s\":", name);
	strbuf__pad(b, ' ', more);
	if (strbuf__failed(&key) || strbuf__failed(b)) {
		b->failed = true;
		return;
	}
	at = memmem(b->s + from, b->len - more - from, key.s, key.len);
	if (!at) {
		b->len -= more;
		return;
	}
	memmove(at + 1 + more, at + 1, b->s + b->len - more - (at + 1));
	memcpy(at + 1, FIELD_PREFIX, more);
}

/* The fields become members of the open object, which has some already. */
static void put_fields(const struct ff_type *t, const struct stk_event *e, struct strbuf *b)
{
	size_t len, from = b->len;
	const void *rec = stk_event__record(e, &len);
	unsigned int i;

	if (!rec || stk_event__marks(e) & STK_MARK_NO_FIELDS)
		return;
	ev_format__json(t->format, rec, len, b);
	for (i = 0; i < t->nr_renamed; i++)
		rename_member(b, from, t->renamed[i]);
	if (strbuf__failed(b))
		return;
	if (b->len == from + 2) { /* there are none */
		b->len = from;
		return;
	}
	b->s[from] = ',';
	b->len--;
}

static void put_number(struct strbuf *b, const char *name, uint64_t number)
{
	strbuf__puts(b, name);
	strbuf__u64(b, number);
}

int ff_types__put_data(struct ff_types *types, const struct stk_event *e, uint32_t stack,
		       struct strbuf *data, uint32_t *ret_name)
{
	const struct ff_type *t;
	int err = find_type(types, stk_event__type(e), &t);

	if (err)
		return err;
	strbuf__reset(data);
	strbuf__add(data, t->head.s, t->head.len);
	if (!types->by_cpu)
		put_number(data, ",\"cpu\":", stk_event__cpu(e));
	if (!types->by_thread) {
		const char *comm = stk_event__comm(e);

		strbuf__puts(data, ",\"comm\":");
		strbuf__json(data, comm, strlen(comm));
		put_number(data, ",\"pid\":", stk_event__pid(e));
		put_number(data, ",\"tid\":", stk_event__tid(e));
	}
	if (t->format)
		put_fields(t, e, data);
	if (stack != FF_NONE) {
		put_number(data, ",\"cause\":{\"stack\":", stack);
		strbuf__putc(data, '}');
	}
	strbuf__putc(data, '}');
	*ret_name = t->name;
	return strbuf__failed(data) ? -ENOMEM : 0;
}

/* ---- schemas --------------------------------------------------------------------------------- */

static void put_schema_field(struct json *j, const char *prefix, const char *key, const char *label,
			     const char *format)
{
	json__object(j, NULL);
	ff_put_joined(j, "key", prefix, key);
	json__string(j, "label", label);
	json__string(j, "format", format);
	json__end(j);
}

/* How the values that ev_format__json() writes are shown. */
static const char *format_of(const struct ev_field *f)
{
	if (f->kind != EV_FIELD_INT)
		return f->is_char ? "string" : "list";
	if (f->address)
		return "string";
	return strcmp(f->type, "pid_t") ? "integer" : "tid";
}

static void put_schema_fields(const struct ff_types *types, const struct ff_type *t, struct json *j)
{
	unsigned int i, nr = t->format ? ev_format__nr_fields(t->format) : 0;

	for (i = 0; i < nr; i++) {
		const struct ev_field *f = ev_format__field(t->format, i);

		if (ev_format__is_shown(t->format, f))
			put_schema_field(j, is_own(f->name) ? FIELD_PREFIX : "", f->name, f->name,
					 format_of(f));
	}
	if (!types->by_cpu)
		put_schema_field(j, "", "cpu", "CPU", "integer");
	if (!types->by_thread) {
		put_schema_field(j, "", "comm", "Thread", "string");
		put_schema_field(j, "", "pid", "Process ID", "integer");
		put_schema_field(j, "", "tid", "Thread ID", "integer");
	}
}

/* Whether a label can refer to the field: names are parts of a path there. */
static bool is_plain(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

/* "prev_comm={marker.data.prev_comm} prev_pid=...": as script prints fields. */
static void put_label(const struct ff_type *t, struct json *j)
{
	unsigned int i, nr = t->format ? ev_format__nr_fields(t->format) : 0, listed = 0;
	_cleanup_(strbuf__free) struct strbuf label = { 0 };

	for (i = 0; i < nr; i++) {
		const struct ev_field *f = ev_format__field(t->format, i);

		if (ev_format__is_shown(t->format, f) && is_plain(f->name) && !is_own(f->name))
			strbuf__printf(&label, "%s%s={marker.data.%s}", listed++ ? " " : "",
				       f->name, f->name);
	}
	j->out->failed |= strbuf__failed(&label);
	if (listed && !strbuf__failed(&label))
		json__bytes(j, "tableLabel", label.s, label.len);
}

static void put_display(struct json *j)
{
	json__array(j, "display");
	json__string(j, NULL, "marker-chart");
	json__string(j, NULL, "marker-table");
	json__end(j);
}

int ff_types__put_schemas(struct ff_types *types, struct ff_out *o)
{
	struct json *j = &o->json;
	unsigned int i;
	int err = 0;

	for (i = 0; i < types->nr && !err; i++) {
		const struct ff_type *t = &types->v[i];

		if (!t->is_known)
			continue;
		json__object(j, NULL);
		json__string(j, "name", t->schema);
		put_label(t, j);
		put_display(j);
		json__array(j, "fields");
		put_schema_fields(types, t, j);
		json__end(j);
		json__end(j);
		err = ff_out__drain(o);
	}
	return err;
}

void ff_types__free(struct ff_types *types)
{
	unsigned int i;

	for (i = 0; i < types->nr; i++) {
		ev_format__free(types->v[i].format);
		free(types->v[i].renamed);
		strbuf__free(&types->v[i].head);
	}
	free(types->v);
	string_table__clear(&types->schemas);
}
