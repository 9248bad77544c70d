// SPDX-License-Identifier: GPL-2.0-only
/* Finds values of events by name, with each format parsed once. */
#include "values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "events/format.h"
#include "stack_names.h"

const struct value_row value_names[NR_VALUE_NAMES] = {
	[VALUE_EVENT] = { "event", "event.name", "_event", VALUE_TEXT, "system:name" },
	[VALUE_TIME] = { "time", "event.time", "_ts", VALUE_U64, "ns of the recording's clock" },
	[VALUE_CPU] = { "cpu", "event.cpu", "_cpu", VALUE_U64, "CPU of the event" },
	[VALUE_PID] = { "pid", "task.pid", "_pid", VALUE_U64, "process of the event" },
	[VALUE_TID] = { "tid", "task.tid", "_tid", VALUE_U64, "thread of the event" },
	[VALUE_COMM] = { "comm", "task.comm", "_comm", VALUE_TEXT, "name of that thread" },
	[VALUE_KSTACK] = { "kstack", "event.kstack", "_kstack", VALUE_U64, "kernel stack id" },
	[VALUE_USTACK] = { "ustack", "event.ustack", "_ustack", VALUE_U64, "user stack id" },
	[VALUE_SYM] = { "sym", "event.sym", "_sym", VALUE_TEXT, "innermost function" },
	[VALUE_CALLER] = { "caller", "event.caller", "_caller", VALUE_TEXT, "its caller" },
	[VALUE_FILE] = { "file", "event.file", "_file", VALUE_TEXT, "its module or file" },
	[VALUE_HOST] = { "host", "event.host", "_host", VALUE_TEXT, "host of the recording" },
};

#define FIELD_PREFIX "field."

struct value_wanted {
	char *name; /* without a prefix */
	bool is_field; /* the name had FIELD_PREFIX */
	enum value_prefer prefer;
	enum value_name generic; /* NR_VALUE_NAMES: no generic value has this name */
	bool only_generic;
};

struct value_source {
	bool is_known; /* has been looked up */
	const struct ev_field *field;
	enum value_name generic; /* if there is no field; NR_VALUE_NAMES: none */
};

/* An event type of the recording. */
struct value_type_entry {
	char *full_name;
	const char *text; /* of the format; NULL: parsed */
	struct ev_format *format; /* NULL: not needed yet, or unparsable */
	struct value_source *sources; /* by number of the name */
	unsigned int nr_sources;
};

struct values {
	struct stk_reader *r;
	struct value_wanted *wanted;
	unsigned int nr, max;
	struct value_type_entry **types; /* by index; NULL: not seen yet */
	unsigned int nr_types;
	struct value_frames frames;
	struct stack_names *names; /* NULL until asked for */
	int error;
};

int values__new(struct stk_reader *r, struct values **ret_values)
{
	struct values *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v->r = r;
	*ret_values = v;
	return 0;
}

static void type_free(struct value_type_entry *t)
{
	if (!t)
		return;
	ev_format__free(t->format);
	free(t->full_name);
	free(t->sources);
	free(t);
}

void values__free(struct values *v)
{
	unsigned int i;

	if (!v)
		return;
	for (i = 0; i < v->nr; i++)
		free(v->wanted[i].name);
	for (i = 0; i < v->nr_types; i++)
		type_free(v->types[i]);
	free(v->wanted);
	free(v->types);
	stack_names__free(v->names);
	free(v);
}

enum value_name value_name__find(const char *name, bool *ret_is_full)
{
	unsigned int i;

	for (i = 0; i < NR_VALUE_NAMES; i++) {
		*ret_is_full = !strcmp(name, value_names[i].full_name);
		if (*ret_is_full || !strcmp(name, value_names[i].name))
			break;
	}
	return i;
}

bool value_name__is_generic(const char *name)
{
	bool is_full;

	return value_name__find(name, &is_full) != NR_VALUE_NAMES;
}

static bool is_same(const struct value_wanted *a, const struct value_wanted *b, const char *name)
{
	return a->is_field == b->is_field && a->prefer == b->prefer && !strcmp(a->name, name);
}

int values__add(struct values *v, const char *name, enum value_prefer prefer)
{
	struct value_wanted w = { .prefer = prefer, .generic = NR_VALUE_NAMES };
	unsigned int i;

	w.is_field = !strncmp(name, FIELD_PREFIX, strlen(FIELD_PREFIX));
	if (w.is_field)
		name += strlen(FIELD_PREFIX);
	else
		w.generic = value_name__find(name, &w.only_generic);
	if (!*name || (strchr(name, '.') && w.generic == NR_VALUE_NAMES))
		return -EINVAL;
	for (i = 0; i < v->nr; i++)
		if (is_same(&v->wanted[i], &w, name))
			return i;
	if (array__grow(&v->wanted, v->nr, &v->max))
		return -ENOMEM;
	w.name = strdup(name);
	if (!w.name)
		return -ENOMEM;
	v->wanted[v->nr] = w;
	return v->nr++;
}

void values__set_frames(struct values *v, const struct value_frames *frames)
{
	v->frames = *frames;
}

enum value_name values__generic(const struct values *v, unsigned int nr)
{
	const struct value_wanted *w = &v->wanted[nr];
	bool is_sure = w->only_generic || w->prefer == VALUE_PREFER_GENERIC;

	return is_sure ? w->generic : NR_VALUE_NAMES;
}

int values__error(const struct values *v)
{
	return v->error;
}

uint64_t values__memory(const struct values *v)
{
	return v->names ? stack_names__memory(v->names) : 0;
}

static struct value_type_entry *type_new(const struct stk_event_type *t)
{
	const char *system = stk_event_type__system(t), *name = stk_event_type__name(t);
	struct value_type_entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->full_name = malloc(strlen(system) + strlen(name) + 2);
	if (!entry->full_name) {
		free(entry);
		return NULL;
	}
	stpcpy(stpcpy(stpcpy(entry->full_name, system), ":"), name);
	entry->text = stk_event_type__format(t);
	return entry;
}

static int field_of(struct value_type_entry *t, const char *name, const struct ev_field **ret_field)
{
	int err = 0;

	/* an event type without fields has no format */
	if (t->text && *t->text)
		err = ev_format__parse(t->text, strlen(t->text), &t->format);
	if (err == -ENOMEM)
		return err;
	if (err)
		t->format = NULL;
	t->text = NULL;
	*ret_field = t->format ? ev_format__find(t->format, name) : NULL;
	return 0;
}

static int look_up(const struct value_wanted *w, struct value_type_entry *t, struct value_source *s)
{
	int err = 0;

	s->generic = w->generic;
	if (!w->only_generic && (w->generic == NR_VALUE_NAMES || w->prefer == VALUE_PREFER_FIELD))
		err = field_of(t, w->name, &s->field);
	s->is_known = !err;
	return err;
}

/* NULL: out of memory. */
static const struct value_source *source_of(struct values *v, unsigned int nr,
					    const struct stk_event_type *type)
{
	unsigned int index = stk_event_type__index(type);
	struct value_type_entry *t;

	if (array__reach(&v->types, index, &v->nr_types))
		return NULL;
	if (!v->types[index])
		v->types[index] = type_new(type);
	t = v->types[index];
	if (!t || array__reach(&t->sources, nr, &t->nr_sources))
		return NULL;
	if (!t->sources[nr].is_known && look_up(&v->wanted[nr], t, &t->sources[nr]))
		return NULL;
	return &t->sources[nr];
}

int values__source(struct values *v, unsigned int nr, const struct stk_event_type *t,
		   const struct ev_field **ret_field, enum value_name *ret_name)
{
	const struct value_source *s = source_of(v, nr, t);

	if (!s)
		return -ENOMEM;
	if (!s->field && s->generic == NR_VALUE_NAMES)
		return -ENOENT;
	*ret_field = s->field;
	*ret_name = s->generic;
	return 0;
}

static struct event_value number(enum value_type type, uint64_t n)
{
	return (struct event_value){ .type = type, .number = n };
}

static struct event_value text(const char *s)
{
	return (struct event_value){ .type = VALUE_TEXT, .text = s, .len = strlen(s) };
}

/* VALUE_NONE: no such frame, or an error. */
static struct event_value frame_value(struct values *v, enum stack_name which,
				      const struct stk_event *e)
{
	uint32_t name = 0;
	int err = v->names ? 0 : stack_names__new(v->r, &v->frames, &v->names);

	err = err   ?:
		      stack_names__find(v->names, stk_event__kstack(e), stk_event__ustack(e), which,
					&name);
	v->error = v->error ?: err;
	return name ? text(stack_names__text(v->names, name)) :
		      (struct event_value){ .type = VALUE_NONE };
}

static struct event_value generic_value(struct values *v, enum value_name name,
					const struct stk_event *e)
{
	switch (name) {
	case VALUE_EVENT:
		return text(v->types[stk_event_type__index(stk_event__type(e))]->full_name);
	case VALUE_TIME:
		return number(VALUE_U64, stk_event__ts(e));
	case VALUE_CPU:
		return number(VALUE_U64, stk_event__cpu(e));
	case VALUE_PID:
		return number(VALUE_U64, stk_event__pid(e));
	case VALUE_TID:
		return number(VALUE_U64, stk_event__tid(e));
	case VALUE_COMM:
		return text(stk_event__comm(e));
	case VALUE_KSTACK:
		return number(VALUE_U64, stk_event__kstack(e));
	case VALUE_USTACK:
		return number(VALUE_U64, stk_event__ustack(e));
	case VALUE_SYM:
		return frame_value(v, STACK_NAME_SYM, e);
	case VALUE_CALLER:
		return frame_value(v, STACK_NAME_CALLER, e);
	case VALUE_FILE:
		return frame_value(v, STACK_NAME_FILE, e);
	case VALUE_HOST:
		return text(stk_event__host(e));
	case NR_VALUE_NAMES:
		break;
	}
	return (struct event_value){ .type = VALUE_NONE };
}

static bool is_text(const struct ev_field *f)
{
	return f->kind == EV_FIELD_STRING || f->is_char;
}

/* Each value is made where it is returned: a copy of what was just stored in parts stalls. */
struct event_value event_value__of_field(const struct ev_field *field, const struct stk_event *e)
{
	const char *s;
	const void *rec;
	size_t len, n;

	if (stk_event__marks(e) & STK_MARK_NO_FIELDS)
		return (struct event_value){ .type = VALUE_NONE };
	rec = stk_event__record(e, &len);
	if (!rec || field->offset > len || field->size > len - field->offset)
		return (struct event_value){ .type = VALUE_NONE };
	if (field->kind == EV_FIELD_INT)
		return number(field->address   ? VALUE_ADDRESS :
			      field->is_signed ? VALUE_S64 :
						 VALUE_U64,
			      ev_field__value(field, rec, len));
	s = ev_field__bytes(field, rec, len, &n);
	if (!s)
		return (struct event_value){ .type = VALUE_NONE };
	if (!is_text(field))
		return (struct event_value){ .type = VALUE_BYTES, .text = s, .len = n };
	return (struct event_value){ .type = VALUE_TEXT, .text = s, .len = strnlen(s, n) };
}

struct event_value values__get(struct values *v, unsigned int nr, const struct stk_event *e)
{
	const struct value_source *s = source_of(v, nr, stk_event__type(e));

	if (!s) {
		v->error = v->error ?: -ENOMEM;
		return (struct event_value){ .type = VALUE_NONE };
	}
	return s->field ? event_value__of_field(s->field, e) : generic_value(v, s->generic, e);
}
