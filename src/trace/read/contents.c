// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Answers what a recording, or several, hold besides events: types, metadata, counters, totals. */
#include "many.h"

#include "live.h"

unsigned int stk_reader__nr_types(const struct stk_reader *r)
{
	return r->nr_types;
}

const struct stk_event_type *stk_reader__type(const struct stk_reader *r, unsigned int index)
{
	return index < r->nr_types ? r->types[index] : NULL;
}

unsigned int stk_event_type__index(const struct stk_event_type *t)
{
	return t->index;
}

enum stk_event_kind stk_event_type__kind(const struct stk_event_type *t)
{
	return t->kind;
}

const char *stk_event_type__system(const struct stk_event_type *t)
{
	return t->system;
}

const char *stk_event_type__name(const struct stk_event_type *t)
{
	return t->name;
}

const char *stk_event_type__filter(const struct stk_event_type *t)
{
	return t->filter;
}

const char *stk_event_type__format(const struct stk_event_type *t)
{
	return t->format;
}

const char *stk_reader__meta(const struct stk_reader *r, const char *key)
{
	if (r->many)
		rd_many__refresh_meta(r);
	for (size_t i = 0; i < r->nr_meta; i++)
		if (!strcmp(r->meta[i].key, key))
			return r->meta[i].value;
	return NULL;
}

unsigned int stk_reader__nr_meta(const struct stk_reader *r)
{
	if (r->many)
		rd_many__refresh_meta(r);
	return r->many ? r->many->nr_meta : r->nr_meta;
}

void stk_reader__meta_at(const struct stk_reader *r, unsigned int i, const char **ret_key,
			 const char **ret_value)
{
	if (r->many)
		rd_many__refresh_meta(r);
	/* those without a value, on which the recordings disagree, are not counted */
	for (size_t k = 0; r->many && k <= i && k < r->nr_meta; k++)
		i += !r->meta[k].value;
	*ret_key = i < r->nr_meta ? r->meta[i].key : NULL;
	*ret_value = i < r->nr_meta ? r->meta[i].value : NULL;
}

uint64_t stk_reader__counter(const struct stk_reader *r, const struct stk_event_type *t,
			     enum stk_counter c)
{
	if (r->many)
		rd_many__refresh_counters(r);
	return (unsigned int)c < STK_NR_COUNTERS ? t->counters[c] : 0;
}

void stk_reader__totals(const struct stk_reader *r, struct stk_totals *ret_totals)
{
	*ret_totals = r->totals;
	ret_totals->bytes = r->in.pos;
	ret_totals->stacks = r->nr_stacks - 1;
	ret_totals->nodes = r->tree.nr - 1;
	if (r->many)
		rd_many__totals(r, ret_totals);
}

bool stk_reader__is_live(const struct stk_reader *r)
{
	for (uint32_t i = 0; r->many && i < r->many->nr; i++)
		if (stk_reader__is_live(r->many->members[i].r))
			return true;
	return r->in.fd >= 0 && live__is_locked(r->in.fd);
}

/* ---- one of several recordings --------------------------------------------------------------- */

unsigned int stk_reader__nr_members(const struct stk_reader *r)
{
	return r->many ? r->many->nr : 1;
}

const struct stk_reader *stk_reader__member(const struct stk_reader *r, unsigned int i)
{
	if (i >= stk_reader__nr_members(r))
		return NULL;
	return r->many ? r->many->members[i].r : r;
}

unsigned int stk_reader__nr_boots(const struct stk_reader *r)
{
	return r->many ? r->many->nr_boots : 1;
}

const char *stk_reader__path(const struct stk_reader *r)
{
	return r->path;
}

const char *stk_event__host(const struct stk_event *e)
{
	const char *name;

	if (e->r->host)
		return e->r->host;
	name = stk_reader__meta(e->r, "hostname");
	e->r->host = name && *name ? name : e->r->path ?: "";
	return e->r->host;
}
