/* SPDX-License-Identifier: GPL-2.0-only */
/* Mutators do not update checksums: they are corrected before a recording is read. */
#ifndef FUZZ_SEAL_H
#define FUZZ_SEAL_H

#include <stddef.h>
#include <string.h>

#include "trace/stk.h"
#include "trace/bytes.h"

static inline void seal(uint8_t *data, size_t size)
{
	struct stk_block_header h;
	uint32_t crc, pos;

	if (size < STK_HEADER_SIZE)
		return;
	crc = crc32c(0, data, 60);
	memcpy(data + 60, &crc, sizeof(crc));
	memcpy(&pos, data + 12, sizeof(pos)); /* size of the header */
	for (size_t at = pos; at <= size && size - at >= sizeof(h);
	     at += sizeof(h) + h.stored_len) {
		memcpy(&h, data + at, sizeof(h));
		if (h.magic != STK_BLOCK_MAGIC || h.stored_len > size - at - sizeof(h))
			break;
		h.payload_crc = crc32c(0, data + at + sizeof(h), h.stored_len);
		if (h.events_crc && h.stored_len >= sizeof(struct stk_events_header))
			h.events_crc =
				crc32c(0, data + at + sizeof(h), sizeof(struct stk_events_header));
		h.header_crc = crc32c(0, &h, offsetof(struct stk_block_header, header_crc));
		memcpy(data + at, &h, sizeof(h));
	}
}

#endif /* FUZZ_SEAL_H */
