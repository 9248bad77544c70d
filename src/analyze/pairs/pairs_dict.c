// SPDX-License-Identifier: GPL-2.0-only
/* Numbers the strings and bytes that keys are made of. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "pairs_priv.h"
#include "seeded_hash.h"

static int grow_slots(struct dict *d)
{
	unsigned int bits = d->slots ? d->bits + 1 : 6;
	uint32_t mask = (1u << bits) - 1, i, at;
	uint32_t *slots = calloc((size_t)mask + 1, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < d->nr; i++) {
		at = d->v[i].hash >> (64 - bits);
		while (slots[at])
			at = (at + 1) & mask;
		slots[at] = i + 1;
	}
	free(d->slots);
	d->slots = slots;
	d->bits = bits;
	return 0;
}

static int append(struct dict *d, const void *bytes, size_t len, uint64_t hash)
{
	if (array__grow(&d->v, d->nr, &d->max) || d->bytes.len + len > UINT32_MAX - 1)
		return -ENOMEM;
	d->v[d->nr] = (struct dict_entry){ .hash = hash, .at = d->bytes.len, .len = len };
	strbuf__add(&d->bytes, bytes, len);
	strbuf__putc(&d->bytes, '\0');
	if (strbuf__failed(&d->bytes))
		return -ENOMEM;
	d->nr++;
	return 0;
}

int dict__number(struct dict *d, const void *bytes, size_t len, uint32_t limit,
		 uint32_t *ret_number, bool *ret_new)
{
	uint64_t hash;
	uint32_t at, i;

	d->seed = d->seed ?: seeded_hash__seed();
	hash = seeded_hash__bytes(d->seed, bytes, len);
	if ((!d->slots || d->nr >= 1u << (d->bits - 1)) && grow_slots(d))
		return -ENOMEM;
	for (at = hash >> (64 - d->bits); (i = d->slots[at]); at = (at + 1) & ((1u << d->bits) - 1)) {
		const struct dict_entry *e = &d->v[i - 1];

		if (e->hash == hash && e->len == len && !memcmp(d->bytes.s + e->at, bytes, len)) {
			*ret_number = i;
			*ret_new = false;
			return 0;
		}
	}
	if (d->nr >= limit) {
		*ret_number = 0;
		*ret_new = false;
		return 0;
	}
	if (append(d, bytes, len, hash))
		return -ENOMEM;
	d->slots[at] = d->nr;
	*ret_number = d->nr;
	*ret_new = true;
	return 0;
}

uint64_t dict__memory(const struct dict *d)
{
	return (uint64_t)d->max * sizeof(*d->v) + (d->slots ? sizeof(*d->slots) << d->bits : 0) +
	       d->bytes.cap;
}

const char *dict__bytes(const struct dict *d, uint32_t number, size_t *ret_len)
{
	const struct dict_entry *e = &d->v[number - 1];

	*ret_len = e->len;
	return d->bytes.s + e->at;
}

void dict__clear(struct dict *d)
{
	free(d->v);
	free(d->slots);
	strbuf__free(&d->bytes);
	memset(d, 0, sizeof(*d));
}
