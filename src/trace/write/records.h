/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A set of records, numbered from 0 in the order of their first occurrence. */
#ifndef TRACE_RECORDS_H
#define TRACE_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "index.h"
#include "trace/bytes.h"
#include "trace/layout.h"

/* The parts by which records are compared, beside their lengths. */
struct record_key {
	uint32_t head; /* a record shorter than `fixed` has only a tail, from here on */
	uint32_t fixed;
	bool tail; /* compare what follows `fixed` */
	bool gapless; /* compare all from head on */
	uint32_t nr;
	struct stk_column run[STK_MAX_COLUMNS]; /* below `fixed` */
};

/* Makes runs of the columns for which `wanted` is the coding; NULL: of all columns. */
void record_key__set(struct record_key *key, const struct stk_layout *l, const uint8_t *coding,
		     uint8_t wanted);
/* The bytes of a record key without its unused runs. */
static inline size_t record_key__size(const struct record_key *key)
{
	return offsetof(struct record_key, run) + key->nr * sizeof(key->run[0]);
}

struct record {
	uint32_t off, len; /* in the bytes of the batch */
	uint32_t type; /* event type */
	uint32_t next[2]; /* as in struct batch_tuple */
};

struct record_set {
	struct bytes_buf bytes;
	struct record *v;
	uint32_t nr, cap, last;
	struct index index;
};

void record_set__free(struct record_set *s);
void record_set__clear(struct record_set *s);
/* Empties an index, and frees it if its entries did not need a small part of it. */
void records__clear_index(struct index *ix);

/* Whether record e, at `own`, has this length and type, and equals `rec` by a gapless key. */
static inline bool record__is(const struct record *e, const uint8_t *own,
			      const struct record_key *key, const uint8_t *rec, uint32_t len,
			      uint32_t type)
{
	return e->len == len && e->type == type && key->gapless &&
	       !memcmp(own + key->head, rec + key->head, len - key->head);
}

/* As record_set__find(), where the record is not the one that followed the last one before. */
uint32_t record_set__find_other(struct record_set *s, const uint8_t *base,
				const struct record_key *key, uint64_t seed, const uint8_t *rec,
				uint32_t len, uint32_t type, uint64_t *ret_hash);

/*
 * The number of a record, compared by its key; base: the bytes to which the offsets of the set's
 * records belong.  If there is no such record, INDEX_NONE and its hash.
 */
static inline uint32_t record_set__find(struct record_set *s, const uint8_t *base,
					const struct record_key *key, uint64_t seed,
					const uint8_t *rec, uint32_t len, uint32_t type,
					uint64_t *ret_hash)
{
	uint32_t guess = s->nr ? s->v[s->last].next[0] : 0;

	if (!s->nr || !record__is(&s->v[guess], base + s->v[guess].off, key, rec, len, type))
		return record_set__find_other(s, base, key, seed, rec, len, type, ret_hash);
	s->last = guess;
	return guess;
}

/* Adds a record that was not found.  Its number, or -ENOMEM. */
int64_t record_set__add(struct record_set *s, uint64_t hash, struct record r);
/* Adds a record that is not to be found. */
int64_t record_set__append(struct record_set *s, struct record r);

#endif /* TRACE_RECORDS_H */
