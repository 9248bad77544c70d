// SPDX-License-Identifier: GPL-2.0-only
/* Numbers the places of futexes, and unites places that are the same futex. */
#include "futex_priv.h"

#include <string.h>

struct place_key {
	uint64_t address;
	uint32_t pid, shared;
};

int futex_place__at(struct futex_analysis *a, uint32_t pid, bool shared, uint64_t address,
		    uint32_t *ret_place)
{
	struct place_key key = { .address = address, .pid = pid, .shared = shared };
	uint32_t number;
	int n;

	if (!address) {
		*ret_place = 0;
		return 0;
	}
	n = key_table__at(&a->places, &key, &number);
	if (n < 0)
		return n;
	*ret_place = number + 1;
	return 0;
}

struct futex_place *futex_place__get(const struct futex_analysis *a, uint32_t place)
{
	return key_table__value(&a->places, place - 1);
}

uint32_t futex_place__first(const struct futex_analysis *a, uint32_t place)
{
	struct futex_place *p;

	while (place && (p = futex_place__get(a, place))->same_as) {
		const struct futex_place *next = futex_place__get(a, p->same_as);

		if (next->same_as)
			p->same_as = next->same_as;
		place = p->same_as;
	}
	return place;
}

bool futex_place__is_shared(const struct futex_analysis *a, uint32_t place)
{
	return ((const struct place_key *)key_table__key(&a->places, place - 1))->shared;
}

void futex_place__unite(struct futex_analysis *a, uint32_t p, uint32_t q)
{
	struct futex_place *first, *other;

	p = futex_place__first(a, p);
	q = futex_place__first(a, q);
	if (p == q)
		return;
	first = futex_place__get(a, p < q ? p : q);
	other = futex_place__get(a, p < q ? q : p);
	other->same_as = p < q ? p : q;
	first->waits += other->waits;
	first->locked_waits += other->locked_waits;
	first->owner_changes += other->owner_changes;
	first->pi |= other->pi;
	first->others += 1 + other->others;
}

void futex_place__owned(struct futex_analysis *a, uint32_t place, uint32_t tid)
{
	struct futex_place *p = futex_place__get(a, futex_place__first(a, place));

	if (p->owner && p->owner != tid)
		p->owner_changes++;
	p->owner = tid;
}

void futex_place__describe(const struct futex_analysis *a, uint32_t place,
			   struct futex_address *ret_address)
{
	const struct futex_place *p;
	const struct place_key *key;

	memset(ret_address, 0, sizeof(*ret_address));
	place = futex_place__first(a, place);
	if (!place)
		return;
	key = key_table__key(&a->places, place - 1);
	p = futex_place__get(a, place);
	ret_address->pid = key->pid;
	ret_address->address = key->address;
	ret_address->shared = key->shared;
	ret_address->kind = p->pi				    ? FUTEX_PI :
			    p->waits && p->waits == p->locked_waits ? FUTEX_MUTEX :
								      FUTEX_OTHER;
	ret_address->owner_changes = p->owner_changes;
	ret_address->nr_places = 1 + p->others;
}

void futex_place__count(const struct futex_analysis *a, uint64_t *ret_nr, uint64_t *ret_shared)
{
	uint64_t nr = 0, shared = 0;
	uint32_t i;

	for (i = 1; i <= a->places.nr; i++) {
		const struct futex_place *p = futex_place__get(a, i);

		nr += !p->same_as;
		shared += !p->same_as && p->others;
	}
	*ret_nr = nr;
	*ret_shared = shared;
}
