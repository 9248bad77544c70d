// SPDX-License-Identifier: GPL-2.0-only
/* Counts stacks by group in hash tables that grow. */
#include "stack_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "seeded_hash.h"

/* What a group is looked up by; what does not tell groups apart stays 0. */
struct group_key {
	uint32_t type, comm, pid, tid, cpu;
};

struct group_entry {
	struct group_key key;
	struct stack_group group;
};

/* Open addressing: hash -> index + 1 into an array kept elsewhere. */
struct index {
	uint32_t *slots;
	unsigned int bits, nr;
};

struct count_key {
	uint32_t group; /* + 1; 0: an empty slot */
	uint32_t kstack, ustack;
};

struct count_slot {
	struct count_key key;
	uint64_t count;
};

struct stack_counts {
	unsigned int by, stacks;
	uint64_t seed; /* of the hashes */
	size_t comm_bytes;
	struct group_entry *groups;
	unsigned int nr_groups, max_groups;
	struct index group_index;
	char **comms;
	unsigned int nr_comms, max_comms;
	struct index comm_index;
	const char *last_comm; /* the reader's pointer, and its number */
	uint32_t last_comm_nr;
	uint32_t last_group; /* + 1 */
	struct count_slot *slots;
	unsigned int bits;
	size_t nr_slots;
	struct stack_group *result;
};

/* Makes room for one more; hash_of gives the hash of an element already in. */
static int index__reserve(struct index *ix, uint64_t (*hash_of)(struct stack_counts *, uint32_t),
			  struct stack_counts *c)
{
	unsigned int bits = ix->slots ? ix->bits + 1 : 6, i, at;
	uint32_t *slots;

	if (ix->slots && ix->nr < (1u << ix->bits) / 2)
		return 0;
	slots = calloc(1u << bits, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (i = 0; i < ix->nr; i++) {
		at = hash_of(c, i) >> (64 - bits);
		while (slots[at])
			at = (at + 1) & ((1u << bits) - 1);
		slots[at] = i + 1;
	}
	free(ix->slots);
	ix->slots = slots;
	ix->bits = bits;
	return 0;
}

static uint64_t comm_hash(struct stack_counts *c, uint32_t i)
{
	return seeded_hash__bytes(c->seed, c->comms[i], strlen(c->comms[i]));
}

static uint64_t group_hash(struct stack_counts *c, uint32_t i)
{
	return seeded_hash__bytes(c->seed, &c->groups[i].key, sizeof(struct group_key));
}

/* Room for one more element of an array that doubles. */
static int grow_array(void *parray, unsigned int nr, unsigned int *max, size_t size)
{
	void **array = parray, *more;

	if (nr < *max)
		return 0;
	more = reallocarray(*array, *max ? *max * 2 : 16, size);
	if (!more)
		return -ENOMEM;
	*array = more;
	*max = *max ? *max * 2 : 16;
	return 0;
}

static int comm_number(struct stack_counts *c, const char *comm, uint32_t *ret_nr)
{
	uint64_t hash = seeded_hash__bytes(c->seed, comm, strlen(comm));
	unsigned int at;
	uint32_t i;

	if (index__reserve(&c->comm_index, comm_hash, c) ||
	    grow_array(&c->comms, c->nr_comms, &c->max_comms, sizeof(*c->comms)))
		return -ENOMEM;
	for (at = hash >> (64 - c->comm_index.bits); (i = c->comm_index.slots[at]);
	     at = (at + 1) & ((1u << c->comm_index.bits) - 1)) {
		if (!strcmp(c->comms[i - 1], comm)) {
			*ret_nr = i - 1;
			return 0;
		}
	}
	c->comms[c->nr_comms] = strdup(comm);
	if (!c->comms[c->nr_comms])
		return -ENOMEM;
	c->comm_bytes += strlen(comm);
	*ret_nr = c->nr_comms++;
	c->comm_index.nr = c->nr_comms;
	c->comm_index.slots[at] = c->nr_comms;
	return 0;
}

static void group_new(struct stack_counts *c, const struct group_key *key, const struct stk_event *e)
{
	struct group_entry *g = &c->groups[c->nr_groups];

	memset(g, 0, sizeof(*g));
	g->key = *key;
	if (c->by & BY_EVENT)
		g->group.type = stk_event__type(e);
	g->group.pid = key->pid;
	g->group.tid = key->tid;
	g->group.cpu = key->cpu;
	c->group_index.nr = ++c->nr_groups;
}

static int group_find(struct stack_counts *c, const struct group_key *key,
		      const struct stk_event *e, uint32_t *ret_group)
{
	unsigned int at;
	uint32_t i;

	if (index__reserve(&c->group_index, group_hash, c) ||
	    grow_array(&c->groups, c->nr_groups, &c->max_groups, sizeof(*c->groups)))
		return -ENOMEM;
	for (at = seeded_hash__bytes(c->seed, key, sizeof(*key)) >> (64 - c->group_index.bits);
	     (i = c->group_index.slots[at]); at = (at + 1) & ((1u << c->group_index.bits) - 1)) {
		if (!memcmp(&c->groups[i - 1].key, key, sizeof(*key))) {
			*ret_group = i - 1;
			return 0;
		}
	}
	group_new(c, key, e);
	c->group_index.slots[at] = c->nr_groups;
	*ret_group = c->nr_groups - 1;
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
			err = comm_number(c, comm, &c->last_comm_nr);
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

static int grow_slots(struct stack_counts *c)
{
	unsigned int bits = c->slots ? c->bits + 1 : 10;
	size_t mask = ((size_t)1 << bits) - 1, i, at;
	struct count_slot *slots;

	slots = calloc(mask + 1, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (i = 0; c->slots && i < (size_t)1 << c->bits; i++) {
		if (!c->slots[i].key.group)
			continue;
		at = hash_count(c, &c->slots[i].key) >> (64 - bits);
		while (slots[at].key.group)
			at = (at + 1) & mask;
		slots[at] = c->slots[i];
	}
	free(c->slots);
	c->slots = slots;
	c->bits = bits;
	return 0;
}

static int count_stacks(struct stack_counts *c, const struct count_key *key)
{
	size_t mask, at;

	if ((!c->slots || c->nr_slots >= ((size_t)1 << c->bits) / 2) && grow_slots(c))
		return -ENOMEM;
	mask = ((size_t)1 << c->bits) - 1;
	at = hash_count(c, key) >> (64 - c->bits);
	while (c->slots[at].key.group && !same_count(&c->slots[at].key, key))
		at = (at + 1) & mask;
	if (!c->slots[at].key.group) {
		c->slots[at].key = *key;
		c->nr_slots++;
	}
	c->slots[at].count++;
	return 0;
}

int stack_counts__add(struct stack_counts *c, const struct stk_event *e)
{
	struct count_key key = { 0 };
	uint32_t group = 0;
	int err;

	err = group_of(c, e, &group);
	if (err)
		return err;
	key.group = group + 1;
	if (c->stacks & STACKS_KERNEL)
		key.kstack = stk_event__kstack(e);
	if (c->stacks & STACKS_USER)
		key.ustack = stk_event__ustack(e);
	err = count_stacks(c, &key);
	if (!err)
		c->groups[group].group.count++;
	return err;
}

uint64_t stack_counts__memory(const struct stack_counts *c)
{
	return (uint64_t)c->max_groups * sizeof(*c->groups) + c->max_comms * sizeof(*c->comms) +
	       c->comm_bytes + (c->slots ? sizeof(*c->slots) << c->bits : 0);
}

static int by_number(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int by_key(const void *a, const void *b)
{
	const struct count_key *x = &((const struct count_slot *)a)->key;
	const struct count_key *y = &((const struct count_slot *)b)->key;

	return by_number(x->group, y->group)	       ?:
		       by_number(x->kstack, y->kstack) ?:
							 by_number(x->ustack, y->ustack);
}

static int by_count(const void *a, const void *b)
{
	const struct stack_count *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return by_number(x->kstack, y->kstack) ?: by_number(x->ustack, y->ustack);
}

static int by_group_count(const void *a, const void *b)
{
	const struct group_entry *x = a, *y = b;

	if (x->group.count != y->group.count)
		return x->group.count > y->group.count ? -1 : 1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

/* The first number of the same stack. */
static uint32_t first_number(const struct stk_reader *r, uint32_t number)
{
	struct stk_stack st;

	return number && !stk_reader__stack(r, number, &st) && st.alias_of ? st.alias_of : number;
}

/* Packs the hash table to its front, aliases under the first number of their stack. */
static size_t pack_slots(struct stack_counts *c, const struct stk_reader *r)
{
	size_t i, nr = 0, out = 0;

	for (i = 0; c->slots && i < (size_t)1 << c->bits; i++) {
		struct count_slot s = c->slots[i];

		if (!s.key.group)
			continue;
		s.key.kstack = first_number(r, s.key.kstack);
		s.key.ustack = first_number(r, s.key.ustack);
		c->slots[nr++] = s;
	}
	if (nr)
		qsort(c->slots, nr, sizeof(*c->slots), by_key);
	for (i = 0; i < nr; i++) {
		if (out && same_count(&c->slots[out - 1].key, &c->slots[i].key))
			c->slots[out - 1].count += c->slots[i].count;
		else
			c->slots[out++] = c->slots[i];
	}
	return out;
}

int stack_counts__finish(struct stack_counts *c, const struct stk_reader *r,
			 const struct stack_group **ret_groups, unsigned int *ret_nr)
{
	size_t nr = pack_slots(c, r), i = 0, first;
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
			group->comm = c->comms[c->groups[g].key.comm];
		for (first = i; i < nr && c->slots[i].key.group == g + 1; i++)
			;
		group->nr_stacks = i - first;
		group->stacks = calloc(i - first ?: 1, sizeof(*group->stacks));
		if (!group->stacks)
			return -ENOMEM;
		for (; first < i; first++) {
			struct stack_count *s = &group->stacks[group->nr_stacks - (i - first)];

			s->kstack = c->slots[first].key.kstack;
			s->ustack = c->slots[first].key.ustack;
			s->count = c->slots[first].count;
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
	for (i = 0; i < c->nr_comms; i++)
		free(c->comms[i]);
	free(c->groups);
	free(c->group_index.slots);
	free(c->comms);
	free(c->comm_index.slots);
	free(c->slots);
	free(c->result);
	free(c);
}
