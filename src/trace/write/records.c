// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Compares records by the parts that the file keeps of them. */
#include "records.h"

#include "array.h"
#include "seeded_hash.h"

void record_key__set(struct record_key *key, const struct stk_layout *l, const uint8_t *coding,
		     uint8_t wanted)
{
	key->head = STK_RECORD_HEAD;
	key->fixed = l->fixed;
	key->tail = !coding || coding[l->nr] == wanted;
	key->nr = 0;
	for (uint32_t c = 0; c < l->nr; c++) {
		struct stk_column *last = key->nr ? &key->run[key->nr - 1] : NULL;

		if (coding && coding[c] != wanted)
			continue;
		if (last && last->offset + last->size == l->col[c].offset)
			last->size += l->col[c].size;
		else
			key->run[key->nr++] = l->col[c];
	}
	key->gapless = key->tail &&
		       (!key->nr || (key->nr == 1 && key->run[0].offset == key->head)) &&
		       key->fixed == (key->nr ? key->head + key->run[0].size : key->head);
}

static bool same_parts(const struct record_key *k, const uint8_t *a, const uint8_t *b, uint32_t len)
{
	uint32_t tail = len >= k->fixed ? k->fixed : k->head;

	if (len >= k->fixed)
		for (uint32_t i = 0; i < k->nr; i++)
			if (memcmp(a + k->run[i].offset, b + k->run[i].offset, k->run[i].size))
				return false;
	return !k->tail || !memcmp(a + tail, b + tail, len - tail);
}

static uint64_t hash_of(const struct record_key *k, uint64_t seed, const uint8_t *rec, uint32_t len,
			uint32_t type)
{
	uint32_t tail = len >= k->fixed ? k->fixed : k->head;
	uint64_t h = seed ^ ((uint64_t)type << 32 | len);

	if (k->gapless)
		return seeded_hash__bytes(h, rec + k->head, len - k->head);
	if (len >= k->fixed)
		for (uint32_t i = 0; i < k->nr; i++)
			h = seeded_hash__bytes(h, rec + k->run[i].offset, k->run[i].size);
	return k->tail ? seeded_hash__bytes(h, rec + tail, len - tail) : h;
}

void records__clear_index(struct index *ix)
{
	if (index__memory(ix) > 4096 && ix->nr < index__room(ix) / 8)
		index__free(ix);
	else
		index__clear(ix);
}

void record_set__free(struct record_set *s)
{
	bytes_buf__free(&s->bytes);
	free(s->v);
	index__free(&s->index);
	*s = (struct record_set){ 0 };
}

void record_set__clear(struct record_set *s)
{
	s->bytes.len = 0;
	s->nr = s->last = 0;
	records__clear_index(&s->index);
}

static bool is(const struct record *e, const uint8_t *base, const struct record_key *key,
	       const uint8_t *rec, uint32_t len, uint32_t type)
{
	if (key->gapless)
		return record__is(e, base + e->off, key, rec, len, type);
	return e->len == len && e->type == type && same_parts(key, base + e->off, rec, len);
}

uint32_t record_set__find_other(struct record_set *s, const uint8_t *base,
				const struct record_key *key, uint64_t seed, const uint8_t *rec,
				uint32_t len, uint32_t type, uint64_t *ret_hash)
{
	struct record *last = s->v + s->last;
	uint32_t i, first;

	for (i = 0; s->nr && i < 2; i++) {
		if (!is(&s->v[last->next[i]], base, key, rec, len, type))
			continue;
		first = last->next[i];
		last->next[i] = last->next[0];
		last->next[0] = first;
		return s->last = first;
	}
	*ret_hash = hash_of(key, seed, rec, len, type);
	index__for_each(&s->index, *ret_hash, i)
		if (is(&s->v[i], base, key, rec, len, type))
			break;
	if (i != INDEX_NONE)
		s->last = last->next[1] = i;
	return i;
}

int64_t record_set__append(struct record_set *s, struct record r)
{
	if (s->nr >= INT32_MAX || array__grow(&s->v, s->nr, &s->cap))
		return -ENOMEM;
	s->v[s->nr] = r;
	s->v[s->nr].next[0] = s->v[s->nr].next[1] = 0; /* r may be of another set */
	return s->nr++;
}

int64_t record_set__add(struct record_set *s, uint64_t hash, struct record r)
{
	int64_t nr = index__add(&s->index, hash, s->nr) ?: record_set__append(s, r);

	if (nr < 0)
		return nr;
	s->v[s->last].next[1] = nr;
	s->last = nr;
	return nr;
}
