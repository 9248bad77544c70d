// SPDX-License-Identifier: GPL-2.0-only
/* Takes events in time order, matches ends with starts and adds up their latencies. */
#include "pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "pairs_priv.h"
#include "strbuf.h"

/* ---- groups ---------------------------------------------------------------------------------- */

static int describe(struct pairs *p, unsigned int i, struct event_view *v, const struct source *s,
		    const struct pairs_value *value)
{
	struct by_values *by = &p->by[i];
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	struct pairs_label *label;
	uint32_t nr = by->table.nr;

	if (array__grow(&by->labels, nr - 1, &by->max_labels))
		return -ENOMEM;
	label = &by->labels[nr - 1];
	*label = (struct pairs_label){
		.is_number = !value->string,
		.number = value->number,
		.is_signed = s->field && s->field->is_signed,
		.is_address = s->field && s->field->address,
	};
	if (p->opts.describe)
		p->opts.describe(p->opts.ctx, value, &text);
	if (!text.len && value->string)
		strbuf__add(&text, value->string, value->len);
	else if (!text.len && s->kind == SOURCE_EVENT)
		strbuf__printf(&text, "%s:%s", stk_event_type__system(v->type->type),
			       stk_event_type__name(v->type->type));
	else if (!text.len && label->is_signed)
		strbuf__s64(&text, value->number);
	else if (!text.len)
		strbuf__u64(&text, value->number);
	if (!text.s && !strbuf__failed(&text))
		strbuf__puts(&text, "");
	label->text = take_ptr(text.s);
	return strbuf__failed(&text) ? -ENOMEM : 0;
}

/* *ret_number: from 1; 0: too many values.  Returns 1 if the value is new. */
static int value_number(struct by_values *by, const void *bytes, size_t len, uint32_t *ret_number)
{
	uint32_t number;
	int err = string_table__number(&by->table, bytes, len, MAX_VALUES, &number);

	if (err < 0 && err != -E2BIG)
		return err;
	*ret_number = err < 0 ? 0 : number + 1;
	return MAX(err, 0);
}

/* The number of the event's value of --by i; *ret_number is untouched if it has none. */
static int by_number(struct pairs *p, unsigned int i, struct event_view *v, uint32_t *ret_number)
{
	const struct source *s = &v->type->by[i];
	struct pairs_value value = { .name = p->spec.by[i].names[0],
				     .event = v->e,
				     .format = v->type->format,
				     .field = s->field };
	struct by_values *by = &p->by[i];
	unsigned int at;
	int err;

	if (source__is_string(s)) {
		value.string = event_view__string(v, s, &value.len);
		if (!value.string)
			return 0;
		err = value_number(by, value.string, value.len, ret_number);
	} else {
		if (!event_view__number(v, s, &value.number))
			return 0;
		at = value.number % BY_CACHE;
		if (by->cache[at].number && by->cache[at].value == value.number) {
			*ret_number = by->cache[at].number;
			return 0;
		}
		err = value_number(by, &value.number, sizeof(value.number), ret_number);
		by->cache[at].value = value.number;
		by->cache[at].number = err < 0 ? 0 : *ret_number;
	}
	return err <= 0 ? err : describe(p, i, v, s, &value);
}

static int lacks_by(const struct pairs *p, unsigned int i)
{
	return p->opts.quiet ?
		       -ENOENT :
		       log_why(-ENOENT,
			       "--by: neither start nor end has a number or string field '%s'",
			       p->spec.by[i].names[0]);
}

static int group_of(struct pairs *p, const struct open_start *s, struct event_view *end,
		    uint32_t *ret_group)
{
	struct group_key key = { 0 };
	unsigned int i;
	int err;

	for (i = 0; i < p->spec.nr_by; i++) {
		key.by[i] = s->by[i];
		if (key.by[i])
			continue;
		if (s->no_by & 1u << i && end->type->by[i].kind == SOURCE_NONE)
			return lacks_by(p, i);
		err = by_number(p, i, end, &key.by[i]);
		if (err)
			return err;
	}
	return groups__find(p, &key, ret_group);
}

/* ---- starts and ends ------------------------------------------------------------------------- */

static void count_start(struct pairs *p, const struct open_start *s, uint64_t *counter)
{
	if (s->selected)
		(*counter)++;
	else
		p->counts.start_unselected++;
}

/* The thread of this start has ended; another thread may have its tid. */
static bool is_gone(const struct pairs *p, const struct open_start *s)
{
	const struct life *life = s->task ? key_table__find(&p->lives, &s->task) : NULL;

	return life && life->ts > s->at.ts;
}

/* The end belongs to a thread with the same tid in another process. */
static bool is_other_process(const struct open_start *s, struct event_view *v)
{
	uint32_t pid;

	if (!s->task || s->task != s->at.tid || s->task != v->tid)
		return false;
	pid = stk_event__pid(v->e);
	return pid && s->at.pid && s->at.pid != pid;
}

static bool is_selected(const struct pairs *p, const struct stk_event *e)
{
	return !p->opts.selected || p->opts.selected(p->opts.ctx, e);
}

/* Takes the newest start of the key whose thread still exists. */
static struct open_start *pop(struct pairs *p, struct open_slot *slot, struct event_view *v)
{
	struct open_start *s;

	while ((s = open__top(&p->open, slot))) {
		bool exists = !is_gone(p, s) && !is_other_process(s, v);

		if (exists && s->over) { /* the end of a start that was not kept */
			s->over--;
			return NULL;
		}
		open__pop(&p->open, slot);
		if (exists)
			return s;
		count_start(p, s, &p->counts.gone);
	}
	return NULL;
}

/* True for an event that cannot be used, because it is late or its key is unknown; counts it. */
static bool is_unusable(struct pairs *p, struct event_view *v, int known, uint64_t *late,
			uint64_t *unknown, uint64_t *idle)
{
	if (stk_event__marks(v->e) & STK_MARK_LATE) {
		(*late)++;
		return true;
	}
	if (known == KEY_ALL)
		return false;
	if (known == KEY_IDLE) {
		(*idle)++;
		return true;
	}
	/* Events recorded without fields are accounted for by the reader. */
	if (!(stk_event__marks(v->e) & STK_MARK_NO_FIELDS))
		p->unreadable = stk_event__ts(v->e) + 1;
	(*unknown)++;
	return true;
}

enum { IF_NO = 0, IF_YES, IF_UNKNOWN };

/* Does the event start something by --start-if? */
static int passes(struct pairs *p, struct event_view *v)
{
	const struct source s = { SOURCE_NUMBER, v->type->start_if };
	uint64_t value;

	if (!s.field)
		return IF_YES;
	if (!event_view__number(v, &s, &value))
		return IF_UNKNOWN;
	return (value & p->spec.if_mask) == p->spec.if_value ? IF_YES : IF_NO;
}

/* Removes the open start that a start, or an event rejected by --start-if, replaces. */
static void replace(struct pairs *p, struct event_view *v, struct open_slot *slot)
{
	struct open_start *s = pop(p, slot, v);

	if (s)
		count_start(p, s, &p->counts.replaced);
}

static int add_start(struct pairs *p, struct event_view *v)
{
	struct pairs_counts *c = &p->counts;
	struct open_slot *slot;
	struct open_start *s;
	struct open_key key;
	unsigned int i;
	int known, pass = passes(p, v), err = 0;

	if (pass == IF_NO) {
		if (p->opts.single && event_view__key(p, v, v->type->start, &key) == KEY_ALL)
			replace(p, v, open__find(&p->open, &key));
		return 0;
	}
	c->starts++;
	known = event_view__key(p, v, v->type->start, &key);
	if (known < 0)
		return known;
	known = pass == IF_UNKNOWN ? KEY_PART : known;
	if (is_unusable(p, v, known, &c->start_late, &c->start_unknown, &c->start_idle))
		return 0;
	slot = open__place(&p->open, &key);
	if (!slot)
		return -ENOMEM;
	if (p->opts.single)
		replace(p, v, slot);
	if (p->open.nr >= PAIRS_MAX_OPEN) {
		s = open__top(&p->open, slot);
		if (s)
			s->over++;
		c->start_over++;
		return 0;
	}
	s = open__push(&p->open, slot);
	if (!s)
		return -ENOMEM;
	c->max_open = MAX(c->max_open, p->open.nr);
	s->task = open_key__task(p, v->type->start, &key);
	s->selected = is_selected(p, v->e);
	memset(s->by, 0, sizeof(s->by));
	s->no_by = 0;
	for (i = 0; i < p->spec.nr_by && !err; i++) {
		s->no_by |= (v->type->by[i].kind == SOURCE_NONE) << i;
		err = by_number(p, i, v, &s->by[i]);
	}
	return err ?: event_view__end(p, v, &s->at);
}

static int add_end(struct pairs *p, struct stk_reader *r, struct event_view *v)
{
	struct pairs_counts *c = &p->counts;
	struct open_start *s;
	struct pairs_pair pair;
	struct open_key key;
	uint32_t group;
	int known, err;

	c->ends++;
	known = event_view__key(p, v, v->type->end, &key);
	if (known < 0)
		return known;
	if (is_unusable(p, v, known, &c->end_late, &c->end_unknown, &c->end_idle))
		return 0;
	s = pop(p, open__find(&p->open, &key), v);
	if (!s) {
		if (is_selected(p, v->e))
			c->without_start++;
		else
			c->end_unselected++;
		return 0;
	}
	if (!s->selected) {
		c->start_unselected++;
		c->end_unselected++;
		return 0;
	}
	pair.start = s->at;
	err = miss__update_types(p, r);
	if (err)
		return err;
	if (miss__between(p, r, &s->at, stk_event__ts(v->e))) {
		c->gap++;
		return 0;
	}
	err = group_of(p, s, v, &group);
	if (!err)
		err = event_view__end(p, v, &pair.end);
	if (err)
		return err;
	c->paired++;
	c->others += p->groups.others && group == p->groups.others - 1;
	return groups__add(p, group, &pair);
}

/* Notes begin and end of threads, if the recording has such events. */
static int add_life(struct pairs *p, struct event_view *v)
{
	const struct source pid = { SOURCE_NUMBER, v->type->pid };
	const struct source old = { SOURCE_NUMBER, v->type->old_pid };
	uint64_t tid = v->tid, old_tid;
	uint32_t task, at;

	if (v->type->life != LIFE_EXIT && (!pid.field || !event_view__number(v, &pid, &tid)))
		return 0;
	/* After an exec by a thread other than the leader, that thread has the leader's tid. */
	if (v->type->life == LIFE_EXEC &&
	    (!old.field || !event_view__number(v, &old, &old_tid) || old_tid == tid))
		return 0;
	task = tid;
	if (key_table__at(&p->lives, &task, &at) < 0)
		return -ENOMEM;
	*(struct life *)key_table__value(&p->lives, at) =
		(struct life){ stk_event__ts(v->e), v->type->life == LIFE_EXIT };
	return 0;
}

/* ---- interface ------------------------------------------------------------------------------- */

static int type_of(struct pairs *p, const struct stk_event_type *type, struct pairs_type **ret_type)
{
	unsigned int i = stk_event_type__index(type);

	if (array__reach(&p->types, i, &p->nr_types))
		return -ENOMEM;
	*ret_type = &p->types[i];
	return p->types[i].type ? 0 : pairs_type__init(&p->types[i], p, type);
}

int pairs__add(struct pairs *p, struct stk_reader *r, const struct stk_event *e)
{
	struct event_view v = { .e = e };
	struct pairs_type *t;
	int err;

	err = type_of(p, stk_event__type(e), &t);
	if (err || (!t->role && !t->life))
		return err;
	v.type = t;
	v.tid = stk_event__tid(e);
	v.cpu = stk_event__cpu(e);
	/* An end belongs to the thread before the event, a start to the one after it. */
	if (t->role & PAIRS_END)
		err = add_end(p, r, &v);
	if (!err && t->life)
		err = add_life(p, &v);
	if (!err && t->role & PAIRS_START)
		err = add_start(p, &v);
	return err;
}

uint64_t pairs__memory(const struct pairs *p)
{
	const struct groups *g = &p->groups;
	uint64_t sum = string_table__memory(&p->comms) + key_table__memory(&p->lives) +
		       (uint64_t)p->open.max_v * sizeof(*p->open.v) +
		       (uint64_t)p->open.max_slots * sizeof(*p->open.slots) +
		       index__memory(&p->open.index) + g->nr * sizeof(struct pairs_group) +
		       (uint64_t)g->max_keys * (sizeof(*g->keys) + sizeof(*g->v)) +
		       index__memory(&g->index) + (uint64_t)g->max_weights * sizeof(*g->weights) +
		       index__memory(&g->weight_index);
	unsigned int i;

	for (i = 0; i < p->spec.nr_by; i++)
		sum += 2 * string_table__memory(&p->by[i].table); /* and the labels */
	return sum;
}

static int by_age(const void *a, const void *b)
{
	const struct pairs_end *x = a, *y = b;

	return CMP(x->ts, y->ts);
}

/* Counts the starts without an end and keeps the oldest. */
static int finish_open(struct pairs *p, struct stk_reader *r, unsigned int *ret_nr)
{
	struct pairs_end *v = calloc(p->open.nr ?: 1, sizeof(*v));
	uint32_t i, nr = 0;

	if (!v)
		return -ENOMEM;
	for (i = 0; i < p->open.nr_v; i++) {
		const struct open_start *s = &p->open.v[i];
		const struct life *life = s->used ? key_table__find(&p->lives, &s->task) : NULL;

		if (!s->used)
			continue;
		/* Starts between the exit event of a thread and its end never end. */
		if (s->task && life && (life->ended || life->ts > s->at.ts)) {
			count_start(p, s, &p->counts.gone);
			continue;
		}
		count_start(p, s, &p->counts.open);
		if (!s->selected)
			continue;
		p->counts.open_gap += miss__between(p, r, &s->at, UINT64_MAX);
		v[nr++] = s->at;
	}
	if (nr)
		qsort(v, nr, sizeof(*v), by_age);
	free(p->oldest);
	p->oldest = v;
	*ret_nr = MIN(nr, p->opts.top);
	return 0;
}

int pairs__finish(struct pairs *p, struct stk_reader *r, struct pairs_result *ret_result)
{
	unsigned int nr_open;
	int err;

	err = miss__update_types(p, r);
	err = err ?: finish_open(p, r, &nr_open);
	err = err ?: groups__sort(p);
	if (err)
		return err;
	miss__count(p, r);
	*ret_result = (struct pairs_result){ .groups = p->groups.sorted,
					     .nr_groups = p->groups.nr_sorted,
					     .open = p->oldest,
					     .nr_open = nr_open,
					     .counts = p->counts };
	return 0;
}

const struct pairs_counts *pairs__counts(const struct pairs *p)
{
	return &p->counts;
}

const char *pairs__comm(const struct pairs *p, uint32_t comm)
{
	return string_table__get(&p->comms, comm);
}

unsigned int pairs__nr_by(const struct pairs *p)
{
	return p->spec.nr_by;
}

const char *pairs__by_name(const struct pairs *p, unsigned int i)
{
	return p->spec.by[i].names[0];
}

static bool ends_in_pid(const struct spec_side *side)
{
	unsigned int i;

	for (i = 0; i < side->nr; i++) {
		size_t len = strlen(side->names[i]);

		if (len < 3 || strcmp(side->names[i] + len - 3, "pid"))
			return false;
	}
	return true;
}

/* The part of the key that is a thread: tid of the header, or a field named ...pid. */
static int find_task_part(const struct spec *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_match; i++)
		if ((!strcmp(s->start[i].names[0], "tid") && !strcmp(s->end[i].names[0], "tid")) ||
		    (ends_in_pid(&s->start[i]) && ends_in_pid(&s->end[i])))
			return i;
	return -1;
}

/* Is name, a value of the header, part of the key on both sides? */
static bool is_part(const struct spec *s, const char *name)
{
	unsigned int i;

	for (i = 0; i < s->nr_match; i++)
		if (!strcmp(s->start[i].names[0], name) && !strcmp(s->end[i].names[0], name))
			return true;
	return false;
}

int pairs__new(const struct pairs_opts *opts, struct pairs **ret_pairs)
{
	struct pairs *p = calloc(1, sizeof(*p));
	const char *why;
	int err;

	if (!p)
		return -ENOMEM;
	p->opts = *opts;
	err = spec__parse(opts->match, opts->by, opts->start_if, &p->spec, &why);
	if (err) {
		free(p);
		return err;
	}
	p->task_part = find_task_part(&p->spec);
	p->of_cpu = is_part(&p->spec, "cpu");
	p->of_tid = is_part(&p->spec, "tid");
	p->open.parts = p->spec.nr_match;
	key_table__init(&p->lives, sizeof(uint32_t), sizeof(struct life));
	*ret_pairs = p;
	return 0;
}

void pairs__free(struct pairs *p)
{
	unsigned int i;
	uint32_t k;

	if (!p)
		return;
	for (i = 0; i < p->nr_types; i++)
		pairs_type__clear(&p->types[i]);
	for (i = 0; i < PAIRS_MAX_BY; i++) {
		for (k = 0; k < p->by[i].table.nr && k < p->by[i].max_labels; k++)
			free((char *)p->by[i].labels[k].text);
		free(p->by[i].labels);
		string_table__clear(&p->by[i].table);
	}
	string_table__clear(&p->comms);
	open__clear(&p->open);
	key_table__clear(&p->lives);
	groups__clear(p);
	free(p->roles);
	free(p->types);
	free(p->oldest);
	spec__free(&p->spec);
	free(p);
}
