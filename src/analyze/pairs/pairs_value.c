// SPDX-License-Identifier: GPL-2.0-only
/* Reads the values of an event for its key and its group. */
#include <errno.h>
#include <string.h>

#include "event_flags.h"
#include "pairs_priv.h"

static const void *record_of(struct event_view *v)
{
	if (!v->has_rec && !(stk_event__marks(v->e) & STK_MARK_NO_FIELDS))
		v->rec = stk_event__record(v->e, &v->len);
	v->has_rec = true;
	return v->rec;
}

static inline bool number_of(struct event_view *v, const struct source *s, uint64_t *ret_value)
{
	switch (s->kind) {
	case SOURCE_TID:
		*ret_value = v->tid ? v->tid : 1ull << 32 | v->cpu;
		return true;
	case SOURCE_CPU:
		*ret_value = v->cpu;
		return true;
	case SOURCE_CONTEXT:
		*ret_value = stk_event__flags(v->e) & EVENT_FLAG_INTERRUPT;
		return true;
	case SOURCE_EVENT:
		*ret_value = stk_event_type__index(v->type->type);
		return true;
	case SOURCE_PID:
		*ret_value = stk_event__pid(v->e);
		return true;
	case SOURCE_NUMBER:
	case SOURCE_TASK:
		if (!record_of(v) || s->field->offset > v->len ||
		    s->field->size > v->len - s->field->offset)
			return false;
		*ret_value = ev_field__value(s->field, v->rec, v->len);
		return true;
	default:
		return false;
	}
}

bool event_view__number(struct event_view *v, const struct source *s, uint64_t *ret_value)
{
	return number_of(v, s, ret_value);
}

const char *event_view__string(struct event_view *v, const struct source *s, size_t *ret_len)
{
	const char *text;
	size_t len;

	if (s->kind == SOURCE_COMM) {
		text = stk_event__comm(v->e);
		*ret_len = strlen(text);
		return text;
	}
	text = record_of(v) ? ev_field__bytes(s->field, v->rec, v->len, &len) : NULL;
	if (text)
		*ret_len = strnlen(text, len);
	return text;
}

static int comm_number(struct pairs *p, const char *comm, uint32_t *ret_number)
{
	unsigned int at = (uintptr_t)comm / 8 % COMM_CACHE;
	int err;

	/* The reader keeps a comm at one address until it is freed. */
	if (p->comm_cache[at].comm == comm) {
		*ret_number = p->comm_cache[at].number;
		return 0;
	}
	err = string_table__intern(&p->comms, comm, ret_number);
	if (err)
		return err;
	p->comm_cache[at].comm = comm;
	p->comm_cache[at].number = *ret_number;
	return 0;
}

int event_view__end(struct pairs *p, struct event_view *v, struct pairs_end *ret_end)
{
	const struct stk_event *e = v->e;

	ret_end->ts = stk_event__ts(e);
	ret_end->tid = v->tid;
	ret_end->pid = stk_event__pid(e);
	ret_end->cpu = v->cpu;
	ret_end->kstack = stk_event__kstack(e);
	ret_end->ustack = stk_event__ustack(e);
	ret_end->type = stk_event_type__index(stk_event__type(e));
	return comm_number(p, stk_event__comm(e), &ret_end->comm);
}

int event_view__key(struct pairs *p, struct event_view *v, const struct source *sources,
		    struct open_key *ret_key)
{
	unsigned int i;
	bool all = true, idle = false;

	memset(ret_key, 0, sizeof(*ret_key));
	for (i = 0; i < p->spec.nr_match; i++) {
		const char *text;
		uint32_t number;
		size_t len;

		if (!source__is_string(&sources[i])) {
			all = number_of(v, &sources[i], &ret_key->v[i]) && all;
			idle = idle || (sources[i].kind == SOURCE_TASK && !ret_key->v[i]);
			continue;
		}
		text = event_view__string(v, &sources[i], &len);
		if (text && string_table__number(&p->comms, text, len, INDEX_NONE, &number) < 0)
			return -ENOMEM;
		all = all && text;
		ret_key->v[i] = text ? number + 1ull : 0;
	}
	return !all ? KEY_PART : idle ? KEY_IDLE : KEY_ALL;
}

uint32_t open_key__task(const struct pairs *p, const struct source *sources,
			const struct open_key *key)
{
	int i = p->task_part;

	return i >= 0 && (sources[i].kind == SOURCE_TASK ||
			  (sources[i].kind == SOURCE_TID && key->v[i] <= UINT32_MAX)) ?
		       key->v[i] :
		       0;
}
