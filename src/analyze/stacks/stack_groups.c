// SPDX-License-Identifier: GPL-2.0-only
/* Finds groups by vectors of values. */
#include "stack_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "index.h"
#include "seeded_hash.h"
#include "string_table.h"

/* The values of a group: numbers as they are, texts and bytes by their number in the table. */
struct group_key {
	uint64_t types; /* enum value_type, a byte for each value */
	uint64_t v[STACK_KEYS]; /* those beyond nr_keys are not used */
};

struct group_entry {
	struct group_key key;
	const struct stk_event_type *type; /* of the first event */
	bool other_types;
};

/* Numbers of comms by address, where the reader keeps one until it is freed. */
#define COMM_CACHE 64

struct known_comm {
	const char *comm;
	uint32_t number; /* + 1; 0: none */
};

/* Texts of the last events, found without a hash; a place may be shared by any number. */
#define RECENT_TEXTS 256

/* Groups of the last events, found without a hash; a place may be shared by any number. */
#define RECENT 256

struct stack_groups {
	struct stack_spec spec;
	enum value_name names[STACK_KEYS]; /* NR_VALUE_NAMES: a field */
	struct known_comm comms[COMM_CACHE];
	uint32_t recent_texts[RECENT_TEXTS]; /* number + 1; 0: none */
	uint64_t types; /* of the values that every event has; 0 for the others */
	bool check_types; /* events of one group may be of several types */
	uint64_t seed; /* of the hash */
	struct group_entry *v;
	unsigned int nr, max;
	uint32_t recent[RECENT]; /* group + 1; 0: none */
	struct index index;
	struct string_table texts;
};

/* Whether value_of() reads it itself. */
static bool is_direct(enum value_name name)
{
	return name == VALUE_EVENT || name == VALUE_COMM || name == VALUE_PID ||
	       name == VALUE_TID || name == VALUE_CPU;
}

int stack_groups__new(const struct stack_spec *spec, struct stack_groups **ret_groups)
{
	struct stack_groups *g = calloc(1, sizeof(*g));
	unsigned int i;

	if (!g)
		return -ENOMEM;
	g->spec = *spec;
	g->seed = seeded_hash__seed();
	g->check_types = true;
	for (i = 0; i < spec->nr_keys; i++) {
		g->names[i] = values__generic(spec->values, spec->keys[i]);
		g->check_types &= g->names[i] != VALUE_EVENT;
		if (is_direct(g->names[i]))
			g->types |= (uint64_t)value_names[g->names[i]].type << i * 8;
	}
	*ret_groups = g;
	return 0;
}

void stack_groups__free(struct stack_groups *g)
{
	if (!g)
		return;
	free(g->v);
	index__free(&g->index);
	string_table__clear(&g->texts);
	free(g);
}

uint64_t stack_groups__memory(const struct stack_groups *g)
{
	return (uint64_t)g->max * sizeof(*g->v) + index__memory(&g->index) +
	       string_table__memory(&g->texts);
}

static int comm_of(struct stack_groups *g, const char *comm, uint64_t *ret_number)
{
	struct known_comm *known = &g->comms[(uintptr_t)comm / 8 % COMM_CACHE];
	int err = 0;

	if (!known->number || known->comm != comm) {
		err = string_table__intern(&g->texts, comm, &known->number);
		known->number = err ? 0 : known->number + 1;
		known->comm = comm;
	}
	*ret_number = known->number;
	return err;
}

/* A mix of the first and the last bytes. */
static unsigned int place_of_text(const char *s, size_t len)
{
	uint64_t a = 0, b = 0;

	if (len >= sizeof(a)) {
		memcpy(&a, s, sizeof(a));
		memcpy(&b, s + len - sizeof(b), sizeof(b));
	} else if (len >= sizeof(a) / 2) {
		memcpy(&a, s, sizeof(a) / 2);
		memcpy(&b, s + len - sizeof(b) / 2, sizeof(b) / 2);
	} else if (len) {
		a = (uint8_t)s[0] << 16 | (uint8_t)s[len / 2] << 8 | (uint8_t)s[len - 1];
	}
	return ((a * 3 ^ b) + len) * 0x9e3779b97f4a7c15ull >> 32;
}

static int text_of(struct stack_groups *g, const struct event_value *v, uint64_t *ret_number)
{
	uint32_t *last = &g->recent_texts[place_of_text(v->text, v->len) % RECENT_TEXTS];
	const struct string_entry *s = *last ? &g->texts.v[*last - 1] : NULL;
	int n = 0;

	if (!s || s->len != v->len || memcmp(s->s, v->text, v->len)) {
		n = string_table__number(&g->texts, v->text, v->len, INDEX_NONE - 1, last);
		*last = n < 0 ? 0 : *last + 1;
	}
	*ret_number = *last;
	return MIN(n, 0);
}

static int value_of(struct stack_groups *g, unsigned int i, const struct stk_event *e,
		    struct group_key *ret_key)
{
	struct event_value v;

	switch (g->names[i]) {
	case VALUE_EVENT:
		ret_key->v[i] = stk_event_type__index(stk_event__type(e));
		return 0;
	case VALUE_COMM:
		return comm_of(g, stk_event__comm(e), &ret_key->v[i]);
	case VALUE_PID:
		ret_key->v[i] = stk_event__pid(e);
		return 0;
	case VALUE_TID:
		ret_key->v[i] = stk_event__tid(e);
		return 0;
	case VALUE_CPU:
		ret_key->v[i] = stk_event__cpu(e);
		return 0;
	default:
		v = values__get(g->spec.values, g->spec.keys[i], e);
	}
	ret_key->types |= (uint64_t)v.type << i * 8;
	ret_key->v[i] = v.number;
	if (v.type == VALUE_ADDRESS)
		return stk_event__place(e, v.number, &ret_key->v[i]);
	if (v.type == VALUE_TEXT || v.type == VALUE_BYTES)
		return text_of(g, &v, &ret_key->v[i]);
	return v.type == VALUE_NONE ? values__error(g->spec.values) : 0;
}

static inline bool is_key(const struct stack_groups *g, const struct group_key *a,
			  const struct group_key *b)
{
	unsigned int i;

	if (a->types != b->types)
		return false;
	for (i = 0; i < g->spec.nr_keys; i++)
		if (a->v[i] != b->v[i])
			return false;
	return true;
}

static int find(struct stack_groups *g, const struct group_key *key, const struct stk_event *e,
		uint32_t *ret_group)
{
	uint64_t hash = seeded_hash__u64(g->seed, g->seed, key->types);
	uint32_t i;

	for (i = 0; i < g->spec.nr_keys; i++)
		hash = seeded_hash__u64(g->seed, hash, key->v[i]);
	index__for_each(&g->index, hash, i) {
		if (is_key(g, &g->v[i].key, key)) {
			*ret_group = i;
			return 0;
		}
	}
	if (array__grow(&g->v, g->nr, &g->max) || index__add(&g->index, hash, g->nr))
		return -ENOMEM;
	g->v[g->nr] = (struct group_entry){ .key = *key, .type = stk_event__type(e) };
	*ret_group = g->nr++;
	return 0;
}

static void check_type(struct group_entry *g, const struct stk_event_type *t)
{
	if (t != g->type && stk_event_type__kind(t) != stk_event_type__kind(g->type))
		g->other_types = true;
}

int stack_groups__of(struct stack_groups *g, const struct stk_event *e, uint32_t *ret_group)
{
	uint32_t place = 0, *recent;
	struct group_key key;
	unsigned int i;
	int err = 0;

	key.types = g->types;
	for (i = 0; i < g->spec.nr_keys && !err; i++) {
		err = value_of(g, i, e, &key);
		place = place * 5 ^ key.v[i];
	}
	recent = &g->recent[place % RECENT];
	if (!err && (!*recent || !is_key(g, &g->v[*recent - 1].key, &key))) {
		err = find(g, &key, e, recent);
		*recent = err ? 0 : *recent + 1;
	}
	if (err)
		return err;
	if (g->check_types)
		check_type(&g->v[*recent - 1], stk_event__type(e));
	*ret_group = *recent - 1;
	return 0;
}

unsigned int stack_groups__nr(const struct stack_groups *g)
{
	return g->nr;
}

void stack_groups__get(const struct stack_groups *g, uint32_t group, struct stack_group *ret_group)
{
	const struct group_entry *entry = &g->v[group];
	unsigned int i;

	ret_group->type = entry->type;
	ret_group->other_types = entry->other_types;
	for (i = 0; i < g->spec.nr_keys; i++) {
		struct event_value *v = &ret_group->keys[i];

		v->type = entry->key.types >> i * 8 & 0xff;
		v->number = entry->key.v[i];
		if (g->names[i] == VALUE_EVENT || (v->type != VALUE_TEXT && v->type != VALUE_BYTES))
			continue;
		v->text = g->texts.v[v->number - 1].s;
		v->len = g->texts.v[v->number - 1].len;
	}
}

int stack_groups__cmp(const struct stack_groups *g, const struct stack_group *a,
		      const struct stack_group *b)
{
	unsigned int i;
	int d = 0;

	for (i = 0; i < g->spec.nr_keys && !d; i++) {
		const struct event_value *x = &a->keys[i], *y = &b->keys[i];

		d = CMP(x->type, y->type);
		if (!d && x->text && y->text)
			d = memcmp(x->text, y->text, MIN(x->len, y->len)) ?: CMP(x->len, y->len);
		else if (!d)
			d = CMP(x->number, y->number);
	}
	return d;
}
