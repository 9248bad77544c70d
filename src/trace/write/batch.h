/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * One CPU's events since its last block.
 *
 * Events repeat: the same tasks pass the same places, in turn and with the same values.  So what an
 * event has is interned when it is added, and the event itself is a time and two numbers; a block
 * then fits a cache, and its end costs little.  The records of a type are kept as they are where
 * most of them differ, as those with pointers do.
 */
#ifndef TRACE_BATCH_H
#define TRACE_BATCH_H

#include <stdint.h>

#include "records.h"
#include "trace/bytes.h"
#include "trace/layout.h"
#include "writer.h"

/* What events have besides time and record, packed in words, as most of them are compared once. */
struct batch_tuple {
	uint64_t w[3];
	uint32_t next[2]; /* tuples that followed this one: the one that does so more often first */
	uint32_t nr; /* events */
};

#define BATCH_TUPLE_COLUMNS 7
enum {
	BATCH_EVENT,
	BATCH_TASK,
	BATCH_KSTACK,
	BATCH_USTACK,
	BATCH_FLAGS,
	BATCH_PREEMPT,
	BATCH_MARKS
};

/* A value of a tuple, by its number above: the order in which the file has them. */
static inline uint32_t batch_tuple__value(const struct batch_tuple *t, unsigned int column)
{
	static const struct {
		uint8_t word, shift, bits;
	} at[BATCH_TUPLE_COLUMNS] = { { 0, 0, 32 }, { 0, 32, 32 }, { 1, 0, 32 }, { 1, 32, 32 },
				      { 2, 0, 8 },  { 2, 8, 8 },   { 2, 16, 16 } };

	return t->w[at[column].word] >> at[column].shift & ((1ull << at[column].bits) - 1);
}

struct batch_type {
	struct stk_layout *layout;
	struct record_key *key; /* all of a record that the file keeps */
};

struct batch_event {
	uint64_t ts;
	uint32_t tuple;
	uint32_t record; /* undefined with STK_MARK_NO_FIELDS */
};

struct batch {
	struct batch_event *events;
	uint32_t nr, cap;
	size_t record_bytes; /* of the records of all events */
	uint32_t last_bytes; /* of the last one's */
	struct batch_tuple *tuples;
	uint32_t nr_tuples, cap_tuples, last_tuple;
	struct index tuple_index;
	struct record_set records;
	uint8_t *raw; /* by event type: records are not interned */
	uint32_t nr_raw;
	uint64_t seed; /* of the hashes */
	uint64_t number; /* of times that it was cleared */
};

void batch__init(struct batch *b, uint64_t seed);
void batch__free(struct batch *b);
/* Forgets the events, but not which types are raw. */
void batch__clear(struct batch *b);

/* types: of all event types of the writer, to which e->event belongs.  -ENOMEM. */
int batch__add(struct batch *b, const struct batch_type *types, uint32_t nr_types,
	       const struct stk_writer_event *e);

/* See stk_writer__last() and stk_writer__again(). */
bool batch__last(const struct batch *b, struct stk_writer_again *ret_again);
static inline bool batch__again(struct batch *b, const struct stk_writer_again *again, uint64_t ts)
{
	if (again->batch != b->number || b->nr == b->cap)
		return false;
	b->tuples[again->tuple].nr++;
	b->events[b->nr++] = (struct batch_event){ ts, again->tuple, again->record };
	b->record_bytes += again->record_bytes;
	return true;
}

#endif /* TRACE_BATCH_H */
