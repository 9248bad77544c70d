// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Bytes out and in, and CRC32C. */
#include "bytes.h"

#include "arch_crc.h"
#include "array.h"

int bytes_buf__grow(struct bytes_buf *b, size_t more)
{
	/* Room for no byte is room, too: callers take a NULL buffer for a failure. */
	if (!b->failed &&
	    (more > SIZE_MAX / 2 || array__reserve(&b->p, b->len + (more ?: 1), &b->cap)))
		b->failed = true;
	return b->failed ? -ENOMEM : 0;
}

uint64_t bytes_get_varint_slow(struct bytes_cur *c)
{
	uint64_t v = 0;
	unsigned int shift = 0;

	while (!c->bad && c->p < c->end) {
		uint8_t byte = *c->p++;

		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
		shift += 7;
	}
	c->bad = true;
	return 0;
}

uint32_t crc32c_portable(uint32_t crc, const void *data, size_t n)
{
	const uint8_t *p = data;

	crc = ~crc;
	while (n--) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = (crc >> 1) ^ (0x82f63b78 & (0 - (crc & 1)));
	}
	return ~crc;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t n)
{
	return arch_crc__available() ? ~arch_crc__add(~crc, data, n) :
				       crc32c_portable(crc, data, n);
}
