// SPDX-License-Identifier: GPL-2.0-only
/*
 * For fuzz targets whose inputs are recordings (recordings.h): mutates the contents of blocks and
 * keeps blocks valid, the byte that selects what is done, and the text.
 */
#include <stdlib.h>

#include "recordings.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

struct block {
	size_t at, len; /* header included */
};
#define MAX_BLOCKS 64

/* The blocks of all recordings; *ret_text is where the text begins. */
static unsigned int find_blocks(const uint8_t *data, size_t size, struct block *blocks,
				size_t *ret_text)
{
	size_t pos = STK_HEADER_SIZE;
	struct stk_block_header h;
	unsigned int n = 0;

	while (pos < size) {
		if (is_block(data, size, pos, &h)) {
			blocks[n % MAX_BLOCKS] = (struct block){ pos, sizeof(h) + h.stored_len };
			pos += sizeof(h) + h.stored_len;
			n++;
		} else if (is_recording(data + pos, size - pos)) {
			pos += STK_HEADER_SIZE;
		} else {
			break;
		}
	}
	*ret_text = pos < size ? pos : size;
	return n < MAX_BLOCKS ? n : MAX_BLOCKS;
}

/* Replaces [at, at + old) by new bytes; returns the new size, or 0 if it does not fit. */
static size_t splice(uint8_t *data, size_t size, size_t max_size, size_t at, size_t old,
		     const uint8_t *bytes, size_t n)
{
	if (size - old + n > max_size)
		return 0;
	memmove(data + at + n, data + at + old, size - at - old);
	memcpy(data + at, bytes, n);
	return size - old + n;
}

/* Mutates [at, at + len) in place, perhaps to another length, which *ret_len gets. */
static size_t mutate_range(uint8_t *data, size_t size, size_t max_size, size_t at, size_t len,
			   size_t *ret_len)
{
	size_t room = len + 64, n, result;
	uint8_t *copy = malloc(room);

	memcpy(copy, data + at, len);
	n = LLVMFuzzerMutate(copy, len, room);
	result = splice(data, size, max_size, at, len, copy, n);
	free(copy);
	*ret_len = n;
	return result;
}

static size_t mutate_events(uint8_t *data, size_t size, size_t max_size, struct block b,
			    unsigned int seed)
{
	size_t start = b.at + sizeof(struct stk_block_header), heads = start, body, n, got;
	struct stk_block_header h;
	struct stk_events_header eh;

	memcpy(&h, data + b.at, sizeof(h));
	if (h.stored_len < sizeof(eh))
		return 0;
	memcpy(&eh, data + start, sizeof(eh));
	if (eh.heads_stored > h.stored_len - sizeof(eh))
		return 0;
	heads = start + sizeof(eh);
	body = heads + eh.heads_stored;
	if (seed % 8 == 0) /* the header itself; its length stays */
		return LLVMFuzzerMutate(data + start, sizeof(eh), sizeof(eh)) ? size : 0;
	if (seed % 8 < 4) {
		got = mutate_range(data, size, max_size, heads, eh.heads_stored, &n);
		eh.heads_stored = n;
		if (eh.heads_codec == STK_CODEC_NONE)
			eh.heads_raw = n;
	} else {
		got = mutate_range(data, size, max_size, body, b.at + b.len - body, &n);
		eh.body_stored = n;
		if (eh.body_codec == STK_CODEC_NONE)
			eh.body_raw = n;
	}
	if (!got)
		return 0;
	h.stored_len = h.raw_len = sizeof(eh) + eh.heads_stored + eh.body_stored;
	memcpy(data + b.at, &h, sizeof(h));
	memcpy(data + start, &eh, sizeof(eh));
	return got;
}

static size_t mutate_table(uint8_t *data, size_t size, size_t max_size, struct block b)
{
	size_t start = b.at + sizeof(struct stk_block_header), n, got;
	struct stk_block_header h;

	memcpy(&h, data + b.at, sizeof(h));
	got = mutate_range(data, size, max_size, start, h.stored_len, &n);
	if (!got)
		return 0;
	h.stored_len = n;
	if (h.codec == STK_CODEC_NONE)
		h.raw_len = n;
	memcpy(data + b.at, &h, sizeof(h));
	return got;
}

/* Copies a block to another place, or removes one. */
static size_t move_block(uint8_t *data, size_t size, size_t max_size, struct block from,
			 struct block to, bool remove)
{
	uint8_t *copy;
	size_t got;

	if (remove)
		return splice(data, size, max_size, from.at, from.len, data, 0);
	copy = malloc(from.len);
	memcpy(copy, data + from.at, from.len);
	got = splice(data, size, max_size, to.at, 0, copy, from.len);
	free(copy);
	return got;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct block blocks[MAX_BLOCKS], b, other;
	size_t text, got = 0, n_text;
	unsigned int n = find_blocks(data, size, blocks, &text);
	struct stk_block_header h;

	if (!n || seed % 16 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	if (seed % 16 == 2) {
		data[UUID_AT] = seed >> 8;
		return size;
	}
	b = blocks[(seed >> 8) % n];
	other = blocks[(seed >> 16) % n];
	memcpy(&h, data + b.at, sizeof(h));
	if (seed % 16 == 1)
		got = move_block(data, size, max_size, b, other, (seed >> 4) % 2);
	else if (seed % 16 < 9 && text < size)
		got = mutate_range(data, size, max_size, text, size - text, &n_text);
	else if (h.type == STK_BLOCK_EVENTS)
		got = mutate_events(data, size, max_size, b, seed >> 4);
	else
		got = mutate_table(data, size, max_size, b);
	return got ? got : LLVMFuzzerMutate(data, size, max_size);
}
