// SPDX-License-Identifier: GPL-2.0-only
/* Reads the memory of a CPU's ring and clears it. */
#include "event_ring.h"

#include <errno.h>
#include <string.h>

#define CACHE_LINE 64
#define AHEAD_BYTES 2048 /* what is that far ahead is fetched */

uint64_t event_ring__used(const struct event_ring *r)
{
	return __atomic_load_n(&r->pos->head, __ATOMIC_ACQUIRE) - r->pos->tail;
}

/*
 * The size of the complete record at this place, of which at most `room` bytes have been reserved;
 * 0: it is not complete.
 */
static int64_t record_size(const char *at, uint64_t room)
{
	uint64_t word = __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
	struct wire_head h;
	size_t size;

	if (!word)
		return 0;
	memcpy(&h, &word, sizeof(h));
	size = event_ring__size(&h);
	if (h.len < sizeof(h) || size > WIRE_RING_SLACK || size > room)
		return -EPROTO;
	return size;
}

/*
 * Another CPU has written the records, and each one says where the next one begins: without this,
 * the processor would wait for one after the other.
 */
static void fetch(const char *at, size_t size)
{
	for (size_t i = 0; i < size; i += CACHE_LINE)
		__builtin_prefetch(at + i);
}

int64_t event_ring__peek(const struct event_ring *r, size_t max, char **ret_records)
{
	uint64_t tail = r->pos->tail, used = event_ring__used(r), part;
	size_t offset = tail & r->layout.mask, end = r->layout.mask + sizeof(uint64_t), len = 0;
	char *at;

	part = tail / WIRE_RING_PART & (r->layout.nr_parts - 1);
	if (used > r->layout.bytes)
		return -EPROTO;
	at = r->parts[part] + offset;
	while (len < used && len < max && offset + len < end) {
		int64_t size = record_size(at + len, used - len);

		if (size < 0)
			return size;
		if (!size)
			break;
		len += size;
		if (used - len > AHEAD_BYTES)
			fetch(at + len + AHEAD_BYTES, size);
	}
	*ret_records = at;
	return len;
}

void event_ring__remove(struct event_ring *r, char *records, size_t len)
{
	memset(records, 0, len);
	__atomic_store_n(&r->pos->tail, r->pos->tail + len, __ATOMIC_RELEASE);
}
