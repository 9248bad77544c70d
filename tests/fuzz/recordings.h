/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The input of most targets: recordings, one after the other, and after the last block of the last
 * one, text for what the target does with them.  Mutators change and move blocks, and the text;
 * they do not update checksums, which are corrected before a recording is read.
 */
#ifndef FUZZ_RECORDINGS_H
#define FUZZ_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "trace/stk.h"
#include "trace/bytes.h"

/* The first byte of the uuid, which no reader looks into, selects how the input is used. */
#define UUID_AT 16

/* The header of the block at `at`, if a whole block is there. */
static inline bool is_block(const uint8_t *data, size_t size, size_t at,
			    struct stk_block_header *ret_header)
{
	if (at > size || size - at < sizeof(*ret_header))
		return false;
	memcpy(ret_header, data + at, sizeof(*ret_header));
	return ret_header->magic == STK_BLOCK_MAGIC &&
	       ret_header->stored_len <= size - at - sizeof(*ret_header);
}

static inline bool is_recording(const uint8_t *data, size_t size)
{
	return size >= STK_HEADER_SIZE && !memcmp(data, STK_MAGIC, strlen(STK_MAGIC));
}

/* The length of the recording that data begins with, whatever its first bytes are. */
static inline size_t recording_size(const uint8_t *data, size_t size)
{
	size_t at = STK_HEADER_SIZE;
	struct stk_block_header h;

	while (is_block(data, size, at, &h))
		at += sizeof(h) + h.stored_len;
	return at < size ? at : size;
}

static inline void correct_checksums(uint8_t *data, size_t size)
{
	struct stk_block_header h;
	uint32_t crc, at;

	if (size < STK_HEADER_SIZE)
		return;
	crc = crc32c(0, data, 60);
	memcpy(data + 60, &crc, sizeof(crc));
	memcpy(&at, data + 12, sizeof(at)); /* size of the header */
	for (size_t pos = at; is_block(data, size, pos, &h); pos += sizeof(h) + h.stored_len) {
		h.payload_crc = crc32c(0, data + pos + sizeof(h), h.stored_len);
		if (h.events_crc && h.stored_len >= sizeof(struct stk_events_header))
			h.events_crc =
				crc32c(0, data + pos + sizeof(h), sizeof(struct stk_events_header));
		h.header_crc = crc32c(0, &h, offsetof(struct stk_block_header, header_crc));
		memcpy(data + pos, &h, sizeof(h));
	}
}

#endif /* FUZZ_RECORDINGS_H */
