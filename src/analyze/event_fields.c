// SPDX-License-Identifier: GPL-2.0-only
/* Finds fields of events by role or name, with each format parsed once. */
#include "event_fields.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "losses.h"

struct event_fields {
	const struct event_role *roles;
	unsigned int nr_roles;
	struct event_known **v; /* by type index; NULL: not seen yet */
	unsigned int nr;
	const struct event_known **with_role; /* among the first nr_types_seen types */
	unsigned int nr_with_role, max_with_role, nr_types_seen;
	int error;
};

int event_fields__new(const struct event_role *roles, unsigned int nr,
		      struct event_fields **ret_fields)
{
	struct event_fields *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->roles = roles;
	f->nr_roles = nr;
	*ret_fields = f;
	return 0;
}

void event_fields__free(struct event_fields *f)
{
	unsigned int i;

	if (!f)
		return;
	for (i = 0; i < f->nr; i++) {
		if (f->v[i])
			ev_format__free(f->v[i]->format);
		free(f->v[i]);
	}
	free(f->v);
	free(f->with_role);
	free(f);
}

static const struct event_role *role_of(const struct event_fields *f,
					const struct stk_event_type *t)
{
	unsigned int i;

	for (i = 0; i < f->nr_roles; i++)
		if (!strcmp(f->roles[i].name, stk_event_type__name(t)) &&
		    !strcmp(f->roles[i].system, stk_event_type__system(t)))
			return &f->roles[i];
	return NULL;
}

static struct event_known *known_new(const struct event_fields *f, const struct stk_event_type *t)
{
	const struct event_role *role = role_of(f, t);
	const char *text = stk_event_type__format(t);
	struct event_known *k = calloc(1, sizeof(*k));
	unsigned int i;
	int err;

	if (!k)
		return NULL;
	k->type = t;
	if (f->nr_roles && !role)
		return k;
	k->role = role ? role->role : 0;
	err = ev_format__parse(text, strlen(text), &k->format);
	if (err == -ENOMEM) {
		free(k);
		return NULL;
	}
	if (err)
		k->format = NULL;
	for (i = 0; role && k->format && i < EVENT_FIELDS_MAX && role->fields[i]; i++)
		k->fields[i] = ev_format__find(k->format, role->fields[i]);
	return k;
}

const struct event_known *event_fields__of(struct event_fields *f, const struct stk_event_type *t)
{
	unsigned int index = stk_event_type__index(t);

	if (f->error || array__reach(&f->v, index, &f->nr))
		return NULL;
	if (!f->v[index])
		f->v[index] = known_new(f, t);
	return f->v[index];
}

int event_fields__error(const struct event_fields *f)
{
	return f->error;
}

/* False: out of memory. */
static bool update_types(struct event_fields *f, const struct stk_reader *r)
{
	for (; f->nr_types_seen < stk_reader__nr_types(r); f->nr_types_seen++) {
		const struct event_known *k =
			event_fields__of(f, stk_reader__type(r, f->nr_types_seen));

		if (!k ||
		    (k->role && array__grow(&f->with_role, f->nr_with_role, &f->max_with_role))) {
			f->error = -ENOMEM;
			return false;
		}
		if (k->role)
			f->with_role[f->nr_with_role++] = k;
	}
	return true;
}

bool event_fields__may_miss(struct event_fields *f, struct stk_reader *r,
			    const struct event_query *q)
{
	struct stk_span span = { .cpu = STK_ANY_CPU,
				 .tid = STK_ANY_TASK,
				 .fields = q->fields,
				 .from = q->from,
				 .to = q->to };
	unsigned int i;

	if (!update_types(f, r))
		return true;
	for (i = 0; i < f->nr_with_role; i++) {
		const struct event_known *k = f->with_role[i];

		span.type = k->type;
		if (k->role >= q->first && k->role <= q->last && stk_reader__may_miss(r, &span))
			return true;
	}
	return false;
}

uint64_t event_fields__lost(struct event_fields *f, const struct stk_reader *r, int first, int last)
{
	uint64_t lost = 0;
	unsigned int i;

	if (!update_types(f, r))
		return 0;
	for (i = 0; i < f->nr_with_role; i++) {
		const struct event_known *k = f->with_role[i];

		if (k->role >= first && k->role <= last)
			lost += losses__of(r, k->type, false);
	}
	return lost;
}

bool event_fields__u64(const struct ev_field *field, const struct stk_event *e, uint64_t *ret_value)
{
	const void *rec;
	size_t len;

	if (!field || field->kind != EV_FIELD_INT)
		return false;
	rec = stk_event__record(e, &len);
	if (!rec || field->offset > len || field->size > len - field->offset)
		return false;
	*ret_value = ev_field__value(field, rec, len);
	return true;
}

const char *event_fields__string(const struct ev_field *field, const struct stk_event *e,
				 size_t *ret_len)
{
	const void *rec;
	const char *s;
	size_t len;

	if (!field || field->kind == EV_FIELD_INT)
		return NULL;
	rec = stk_event__record(e, &len);
	s = rec ? ev_field__bytes(field, rec, len, &len) : NULL;
	if (s)
		*ret_len = strnlen(s, len);
	return s;
}
