// SPDX-License-Identifier: GPL-2.0-only
/* Counts stacks by group, in growing hash tables. */
#include "stack_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "index.h"
#include "seeded_hash.h"
#include "string_table.h"

/* The key of a group; fields that are not grouped by are 0. */
struct group_key {
	uint32_t type, comm, pid, tid, cpu;
};

struct group_entry {
	struct group_key key;
	struct stack_group group;
};

struct count_key {
	uint32_t group, kstack, ustack;
};

struct count {
	struct count_key key;
	uint64_t count;
};

struct stack_counts {
	unsigned int by, stacks;
	uint64_t seed; /* of the hashes */
	struct group_entry *groups;
	unsigned int nr_groups, max_groups;
	struct index group_index;
	struct string_table comms;
	const char *last_comm; /* the reader's pointer, and its number */
	uint32_t last_comm_nr;
	uint32_t last_group; /* + 1 */
	struct count *counts;
	uint32_t nr_counts, max_counts;
	struct index count_index;
	struct stack_group *result;
};

static void group_new(struct stack_counts *c, const struct group_key *key,
		      const struct stk_event *e)
{
	struct group_entry *g = &c->groups[c->nr_groups];

	memset(g, 0, sizeof(*g));
	g->key = *key;
	if (c->by & BY_EVENT)
		g->group.type = stk_event__type(e);
	g->group.pid = key->pid;
	g->group.tid = key->tid;
	g->group.cpu = key->cpu;
}

static int group_find(struct stack_counts *c, const struct group_key *key,
		      const struct stk_event *e, uint32_t *ret_group)
{
	uint64_t hash = seeded_hash__bytes(c->seed, key, sizeof(*key));
	uint32_t i;

	index__for_each(&c->group_index, hash, i) {
		if (!memcmp(&c->groups[i].key, key, sizeof(*key))) {
			*ret_group = i;
			return 0;
		}
	}
	if (array__grow(&c->groups, c->nr_groups, &c->max_groups) ||
	    index__add(&c->group_index, hash, c->nr_groups))
		return -ENOMEM;
	group_new(c, key, e);
	*ret_group = c->nr_groups++;
	return 0;
}

static int group_of(struct stack_counts *c, const struct stk_event *e, uint32_t *ret_group)
{
	struct group_key key = { 0 };
	const char *comm;
	int err;

	if (c->by & BY_EVENT)
		key.type = stk_event_type__index(stk_event__type(e));
	if (c->by & BY_COMM) {
		comm = stk_event__comm(e);
		if (comm != c->last_comm) {
			err = string_table__intern(&c->comms, comm, &c->last_comm_nr);
			if (err)
				return err;
			c->last_comm = comm;
		}
		key.comm = c->last_comm_nr;
	}
	if (c->by & BY_PID)
		key.pid = stk_event__pid(e);
	if (c->by & BY_TID)
		key.tid = stk_event__tid(e);
	if (c->by & BY_CPU)
		key.cpu = stk_event__cpu(e);
	if (c->last_group && !memcmp(&c->groups[c->last_group - 1].key, &key, sizeof(key))) {
		*ret_group = c->last_group - 1;
		return 0;
	}
	err = group_find(c, &key, e, ret_group);
	if (!err)
		c->last_group = *ret_group + 1;
	return err;
}

static uint64_t hash_count(const struct stack_counts *c, const struct count_key *k)
{
	uint64_t h = seeded_hash__u64(c->seed, c->seed, (uint64_t)k->group << 32 | k->kstack);

	return seeded_hash__u64(c->seed, h, k->ustack);
}

static bool same_count(const struct count_key *a, const struct count_key *b)
{
	return a->group == b->group && a->kstack == b->kstack && a->ustack == b->ustack;
}

static int count_stacks(struct stack_counts *c, const struct count_key *key, uint64_t count)
{
	uint64_t hash = hash_count(c, key);
	uint32_t i;

	index__for_each(&c->count_index, hash, i) {
		if (same_count(&c->counts[i].key, key)) {
			c->counts[i].count += count;
			return 0;
		}
	}
	if (array__grow(&c->counts, c->nr_counts, &c->max_counts) ||
	    index__add(&c->count_index, hash, c->nr_counts))
		return -ENOMEM;
	c->counts[c->nr_counts++] = (struct count){ .key = *key, .count = count };
	return 0;
}

int stack_counts__add(struct stack_counts *c, const struct stk_event *e, uint64_t count)
{
	struct count_key key = { 0 };
	int err;

	err = group_of(c, e, &key.group);
	if (err)
		return err;
	if (c->stacks & STACKS_KERNEL)
		key.kstack = stk_event__kstack(e);
	if (c->stacks & STACKS_USER)
		key.ustack = stk_event__ustack(e);
	err = count_stacks(c, &key, count);
	if (!err)
		c->groups[key.group].group.count += count;
	return err;
}

uint64_t stack_counts__memory(const struct stack_counts *c)
{
	return (uint64_t)c->max_groups * sizeof(*c->groups) + index__memory(&c->group_index) +
	       (uint64_t)c->max_counts * sizeof(*c->counts) + index__memory(&c->count_index) +
	       string_table__memory(&c->comms);
}

static int by_key(const void *a, const void *b)
{
	const struct count_key *x = &((const struct count *)a)->key;
	const struct count_key *y = &((const struct count *)b)->key;

	return CMP(x->group, y->group) ?: CMP(x->kstack, y->kstack) ?: CMP(x->ustack, y->ustack);
}

static int by_count(const void *a, const void *b)
{
	const struct stack_count *x = a, *y = b;

	return CMP(y->count, x->count) ?: CMP(x->kstack, y->kstack) ?: CMP(x->ustack, y->ustack);
}

static int by_group_count(const void *a, const void *b)
{
	const struct group_entry *x = a, *y = b;

	return CMP(y->group.count, x->group.count) ?: memcmp(&x->key, &y->key, sizeof(x->key));
}

/* The lowest stack id of the same stack. */
static uint32_t first_id(const struct stk_reader *r, uint32_t number)
{
	struct stk_stack st;

	return number && !stk_reader__stack(r, number, &st) && st.alias_of ? st.alias_of : number;
}

/* Merges aliases into the first id of their stack and sorts; returns the number of entries left. */
static size_t pack_counts(struct stack_counts *c, const struct stk_reader *r)
{
	size_t i, out = 0;

	for (i = 0; i < c->nr_counts; i++) {
		c->counts[i].key.kstack = first_id(r, c->counts[i].key.kstack);
		c->counts[i].key.ustack = first_id(r, c->counts[i].key.ustack);
	}
	if (c->nr_counts)
		qsort(c->counts, c->nr_counts, sizeof(*c->counts), by_key);
	for (i = 0; i < c->nr_counts; i++) {
		if (out && same_count(&c->counts[out - 1].key, &c->counts[i].key))
			c->counts[out - 1].count += c->counts[i].count;
		else
			c->counts[out++] = c->counts[i];
	}
	return out;
}

int stack_counts__finish(struct stack_counts *c, const struct stk_reader *r,
			 const struct stack_group **ret_groups, unsigned int *ret_nr)
{
	size_t nr = pack_counts(c, r), i = 0, first;
	struct stack_group *result;
	unsigned int g;

	result = calloc(c->nr_groups ?: 1, sizeof(*result));
	if (!result)
		return -ENOMEM;
	free(c->result);
	c->result = result;
	for (g = 0; g < c->nr_groups; g++) {
		struct stack_group *group = &c->groups[g].group;

		if (c->by & BY_COMM)
			group->comm = string_table__get(&c->comms, c->groups[g].key.comm);
		for (first = i; i < nr && c->counts[i].key.group == g; i++)
			;
		group->nr_stacks = i - first;
		group->stacks = calloc(i - first ?: 1, sizeof(*group->stacks));
		if (!group->stacks)
			return -ENOMEM;
		for (; first < i; first++) {
			struct stack_count *s = &group->stacks[group->nr_stacks - (i - first)];

			s->kstack = c->counts[first].key.kstack;
			s->ustack = c->counts[first].key.ustack;
			s->count = c->counts[first].count;
		}
		qsort(group->stacks, group->nr_stacks, sizeof(*group->stacks), by_count);
	}
	if (c->nr_groups)
		qsort(c->groups, c->nr_groups, sizeof(*c->groups), by_group_count);
	for (g = 0; g < c->nr_groups; g++)
		result[g] = c->groups[g].group;
	*ret_groups = result;
	*ret_nr = c->nr_groups;
	return 0;
}

int stack_counts__new(unsigned int by, unsigned int stacks, struct stack_counts **ret_counts)
{
	struct stack_counts *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->seed = seeded_hash__seed();
	c->by = by;
	c->stacks = stacks;
	*ret_counts = c;
	return 0;
}

void stack_counts__free(struct stack_counts *c)
{
	unsigned int i;

	if (!c)
		return;
	for (i = 0; i < c->nr_groups; i++)
		free(c->groups[i].group.stacks);
	free(c->groups);
	index__free(&c->group_index);
	string_table__clear(&c->comms);
	free(c->counts);
	index__free(&c->count_index);
	free(c->result);
	free(c);
}
