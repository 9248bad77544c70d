// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's own functions packed for keeping: addresses relative to the first one. */
#include "ksyms_image.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Entries and the pool follow. */
struct head {
	uint64_t base;
	uint32_t nr, pool_len;
};

struct packed {
	uint32_t start, size, name;
};
static_assert(sizeof(struct head) == 16 && sizeof(struct packed) == 12, "no padding is kept");

void ksyms_table__free(struct ksyms_table *t)
{
	free(t->entries);
	free(t->pool);
	*t = (struct ksyms_table){ 0 };
}

/* Bytes of the names of the first nr entries without a module, which are all there are. */
static int measure(const struct ksyms_table *t, struct head *ret_head)
{
	uint64_t names = 0, base = 0;
	size_t i;

	*ret_head = (struct head){ 0 };
	for (i = 0; i < t->nr; i++) {
		const struct ksyms_entry *e = &t->entries[i];

		if (e->module)
			continue;
		if (!ret_head->nr++)
			base = e->start;
		names += strlen(t->pool + e->name) + 1;
		if (e->start - base > UINT32_MAX || e->size > UINT32_MAX || names > UINT32_MAX / 2)
			return -ERANGE;
	}
	ret_head->base = base;
	ret_head->pool_len = names;
	return ret_head->nr ? 0 : -ERANGE;
}

int ksyms_image__pack(const struct ksyms_table *t, void **ret_image, size_t *ret_len)
{
	struct packed *to;
	struct head h;
	size_t len, i, name = 0;
	char *image, *names;
	int err = measure(t, &h);

	if (err)
		return err;
	len = sizeof(h) + h.nr * sizeof(*to) + h.pool_len;
	image = malloc(len);
	if (!image)
		return -ENOMEM;
	memcpy(image, &h, sizeof(h));
	to = (struct packed *)(image + sizeof(h));
	names = (char *)(to + h.nr);
	for (i = 0; i < t->nr; i++) {
		const struct ksyms_entry *e = &t->entries[i];
		size_t size;

		if (e->module)
			continue;
		size = strlen(t->pool + e->name) + 1;
		*to++ = (struct packed){ e->start - h.base, e->size, name };
		memcpy(names + name, t->pool + e->name, size);
		name += size;
	}
	*ret_image = image;
	*ret_len = len;
	return 0;
}

static int unpack_entries(const struct head *h, const struct packed *from,
			  struct ksyms_entry *ret_entries)
{
	uint32_t last = 0, i;

	for (i = 0; i < h->nr; i++) {
		if (from[i].start < last || from[i].name >= h->pool_len ||
		    h->base + from[i].start < h->base)
			return -EBADMSG;
		last = from[i].start;
		ret_entries[i] = (struct ksyms_entry){
			.start = h->base + from[i].start,
			.size = from[i].size,
			.name = from[i].name,
		};
	}
	return 0;
}

int ksyms_image__unpack(const void *image, size_t len, struct ksyms_table *ret_table)
{
	const struct packed *from = (const void *)((const char *)image + sizeof(struct head));
	struct ksyms_table t = { 0 };
	const char *names;
	struct head h;
	int err;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, image, sizeof(h));
	if (!h.nr || !h.pool_len || len != sizeof(h) + h.nr * (uint64_t)sizeof(*from) + h.pool_len)
		return -EBADMSG;
	names = (const char *)(from + h.nr);
	if (names[h.pool_len - 1])
		return -EBADMSG;
	t.entries = malloc(h.nr * sizeof(*t.entries));
	t.pool = malloc(h.pool_len);
	if (!t.entries || !t.pool) {
		ksyms_table__free(&t);
		return -ENOMEM;
	}
	memcpy(t.pool, names, h.pool_len);
	t.nr = t.cap = h.nr;
	t.pool_len = t.pool_cap = h.pool_len;
	err = unpack_entries(&h, from, t.entries);
	if (err)
		ksyms_table__free(&t);
	else
		*ret_table = t;
	return err;
}
