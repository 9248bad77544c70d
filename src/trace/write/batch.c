// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Interns the heads and the records of events as they come. */
#include "batch.h"

#include "array.h"
#include "cleanup.h"
#include "seeded_hash.h"

void batch__init(struct batch *b, uint64_t seed)
{
	*b = (struct batch){ .seed = seed };
}

void batch__free(struct batch *b)
{
	free(b->events);
	free(b->tuples);
	free(b->raw);
	index__free(&b->tuple_index);
	record_set__free(&b->records);
	*b = (struct batch){ 0 };
}

void batch__clear(struct batch *b)
{
	b->nr = b->nr_tuples = b->last_tuple = 0;
	b->record_bytes = 0;
	b->number++;
	records__clear_index(&b->tuple_index);
	record_set__clear(&b->records);
}

static inline bool same_tuple(const struct batch_tuple *a, const struct batch_tuple *b)
{
	return a->w[0] == b->w[0] && a->w[1] == b->w[1] && a->w[2] == b->w[2];
}

/* Finds a tuple that did not follow the last one before, or adds it. */
static __attribute__((noinline)) int64_t other_tuple(struct batch *b, const struct batch_tuple *t)
{
	uint64_t hash = seeded_hash__bytes(b->seed, t->w, sizeof(t->w));
	uint32_t i;

	index__for_each(&b->tuple_index, hash, i)
		if (same_tuple(&b->tuples[i], t))
			break;
	if (i == INDEX_NONE) {
		if (array__grow(&b->tuples, b->nr_tuples, &b->cap_tuples) ||
		    index__add(&b->tuple_index, hash, b->nr_tuples))
			return -ENOMEM;
		i = b->nr_tuples++;
		b->tuples[i] = *t;
	}
	b->tuples[b->last_tuple].next[1] = i;
	b->last_tuple = i;
	return i;
}

static inline int64_t intern_tuple(struct batch *b, const struct batch_tuple *t)
{
	struct batch_tuple *last = b->tuples + b->last_tuple;
	uint32_t first;

	if (!b->nr_tuples)
		return other_tuple(b, t);
	if (same_tuple(&b->tuples[last->next[0]], t))
		return b->last_tuple = last->next[0];
	if (!same_tuple(&b->tuples[last->next[1]], t))
		return other_tuple(b, t);
	first = last->next[0];
	last->next[0] = last->next[1];
	last->next[1] = first;
	return b->last_tuple = last->next[0];
}

static __attribute__((noinline)) int64_t
add_record(struct batch *b, const uint8_t *bytes, uint32_t len, uint32_t type, const uint64_t *hash)
{
	struct record r = { .off = b->records.bytes.len, .len = len, .type = type };
	uint8_t *to = bytes_buf__room(&b->records.bytes, len);

	if (!to)
		return -ENOMEM;
	memcpy(to, bytes, len);
	b->records.bytes.len += len;
	return hash ? record_set__add(&b->records, *hash, r) : record_set__append(&b->records, r);
}

static inline int64_t intern_record(struct batch *b, const struct batch_type *type,
				    const struct stk_writer_event *e)
{
	static const uint8_t zero[STK_RECORD_HEAD];
	const uint8_t *bytes = e->record;
	uint32_t len = e->record_len, i;
	uint64_t hash;

	if (len < sizeof(zero)) { /* a record has at least its head */
		bytes = zero;
		len = sizeof(zero);
	}
	if (b->raw[e->event])
		return add_record(b, bytes, len, e->event, NULL);
	i = record_set__find(&b->records, b->records.bytes.p, type->key, b->seed, bytes, len,
			     e->event, &hash);
	return i != INDEX_NONE ? i : add_record(b, bytes, len, e->event, &hash);
}

/*
 * Reads a member alone.  The caller has just written the members of an event, and the CPU can take
 * a value from a write under way only if the write had all of it: members that the compiler reads
 * at once wait until the cache has all of them.
 */
#define READ_ALONE(member) (*(const volatile __typeof__(member) *)&(member))

static inline struct batch_tuple tuple_of(const struct stk_writer_event *e)
{
	return (struct batch_tuple){
		.w = { READ_ALONE(e->event) | (uint64_t)READ_ALONE(e->task) << 32,
		       READ_ALONE(e->kstack) | (uint64_t)READ_ALONE(e->ustack) << 32,
		       READ_ALONE(e->flags) | READ_ALONE(e->preempt_count) << 8 |
			       (uint32_t)READ_ALONE(e->marks) << 16 },
	};
}

int batch__add(struct batch *b, const struct batch_type *types, uint32_t nr_types,
	       const struct stk_writer_event *e)
{
	const struct batch_tuple t = tuple_of(e);
	int64_t tuple, record = 0;

	if (array__grow(&b->events, b->nr, &b->cap) ||
	    (e->event >= b->nr_raw && array__reach(&b->raw, nr_types - 1, &b->nr_raw)))
		return -ENOMEM;
	tuple = intern_tuple(b, &t);
	if (tuple >= 0 && !(e->marks & STK_MARK_NO_FIELDS))
		record = intern_record(b, &types[e->event], e);
	if (tuple < 0 || record < 0)
		return -ENOMEM;
	b->tuples[tuple].nr++;
	b->events[b->nr++] = (struct batch_event){ e->ts, tuple, record };
	b->last_bytes = MAX(e->record_len, STK_RECORD_HEAD);
	b->record_bytes += b->last_bytes;
	return 0;
}

bool batch__last(const struct batch *b, struct stk_writer_again *ret_again)
{
	const struct batch_event *e = &b->events[b->nr - 1];

	*ret_again = (struct stk_writer_again){ b->number, e->tuple, e->record, b->last_bytes };
	return !b->raw[batch_tuple__value(&b->tuples[e->tuple], BATCH_EVENT)];
}
