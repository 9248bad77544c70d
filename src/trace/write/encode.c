// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Blocks, compression, and the heads of an event block.
 *
 * Heads repeat: the same task hits the same tracepoint from the same place.  So everything but the
 * time is one tuple in a small table per block (batch.h), and an event is a token and a time.
 */
#include "encode.h"

#include "array.h"
#include "cleanup.h"
#include "encode_priv.h"

int encoder__new(int level, struct encoder **ret_encoder)
{
	struct encoder *enc = calloc(1, sizeof(*enc));

	if (!enc)
		return -ENOMEM;
	enc->level = level;
	enc->zstd = ZSTD_createCCtx();
	if (!enc->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(enc->zstd, ZSTD_c_compressionLevel, level))) {
		encoder__free(enc);
		return -ENOMEM;
	}
	*ret_encoder = enc;
	return 0;
}

void encoder__free(struct encoder *enc)
{
	if (!enc)
		return;
	ZSTD_freeCCtx(enc->zstd);
	bytes_buf__free(&enc->heads.raw);
	bytes_buf__free(&enc->body.raw);
	free(enc->heads.cuts);
	free(enc->body.cuts);
	record_set__free(&enc->entries);
	free(enc->numbers);
	free(enc->tokens);
	free(enc->order);
	free(enc->values);
	free(enc->type_start);
	free(enc->touched);
	bytes_buf__free(&enc->rows);
	bytes_buf__free(&enc->planes);
	bytes_buf__free(&enc->trial);
	free(enc);
}

/* ---- sections -------------------------------------------------------------------------------- */

static void cut_at(struct enc_section *s, size_t pos)
{
	if (pos <= (s->nr_cuts ? s->cuts[s->nr_cuts - 1] : 0))
		return;
	if (!array__grow(&s->cuts, s->nr_cuts, &s->cap_cuts)) /* failing only costs compression */
		s->cuts[s->nr_cuts++] = pos;
}

void enc_section__cut(struct enc_section *s, size_t start)
{
	if (s->raw.len - start < ENC_CUT_MIN)
		return;
	cut_at(s, start);
	cut_at(s, s->raw.len);
}

unsigned int enc_width(uint64_t max)
{
	return max ? (71 - __builtin_clzll(max)) / 8 : 0;
}

void enc_put_planes32(struct enc_section *s, const uint32_t *values, uint32_t n, unsigned int width)
{
	for (unsigned int k = 0; k < width; k++) {
		size_t start = s->raw.len;
		uint8_t *p = bytes_buf__room(&s->raw, n);

		if (!p)
			return;
		for (uint32_t i = 0; i < n; i++)
			p[i] = values[i] >> (8 * k);
		s->raw.len += n;
		enc_section__cut(s, start);
	}
}

static void put_planes64(struct enc_section *s, const uint64_t *values, uint32_t n,
			 unsigned int width)
{
	for (unsigned int k = 0; k < width; k++) {
		size_t start = s->raw.len;
		uint8_t *p = bytes_buf__room(&s->raw, n);

		if (!p)
			return;
		for (uint32_t i = 0; i < n; i++)
			p[i] = values[i] >> (8 * k);
		s->raw.len += n;
		enc_section__cut(s, start);
	}
}

/* Compress in one frame that starts a new zstd block at every cut. */
static int compress_cut(struct encoder *enc, const uint8_t *raw, size_t len, const size_t *cuts,
			uint32_t nr_cuts, struct bytes_buf *out)
{
	size_t bound = ZSTD_compressBound(len) + 64 * (size_t)(nr_cuts + 1), pos = 0, left;
	ZSTD_outBuffer dst = { .dst = bytes_buf__room(out, bound), .size = bound };

	if (!dst.dst)
		return -ENOMEM;
	ZSTD_CCtx_reset(enc->zstd, ZSTD_reset_session_only);
	if (ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(enc->zstd, len)))
		return -EINVAL;
	for (uint32_t i = 0; i <= nr_cuts; i++) {
		size_t end = i < nr_cuts ? cuts[i] : len;
		ZSTD_inBuffer src = { .src = raw + pos, .size = end - pos };

		left = ZSTD_compressStream2(enc->zstd, &dst, &src,
					    i < nr_cuts ? ZSTD_e_flush : ZSTD_e_end);
		if (left || src.pos != src.size)
			return ZSTD_isError(left) ? -EINVAL : -ENOBUFS;
		pos = end;
	}
	out->len += dst.pos;
	return 0;
}

/* Append the section, compressed when that is smaller. */
static int put_section(struct encoder *enc, const uint8_t *raw, size_t len, const size_t *cuts,
		       uint32_t nr_cuts, struct bytes_buf *out, uint32_t *ret_stored,
		       uint32_t *ret_codec)
{
	size_t start = out->len;
	int err;

	if (len >= 48) {
		err = compress_cut(enc, raw, len, cuts, nr_cuts, out);
		if (err)
			return err;
		if (out->len - start < len) {
			*ret_stored = out->len - start;
			*ret_codec = STK_CODEC_ZSTD;
			return 0;
		}
		out->len = start;
	}
	bytes_put(out, raw, len);
	*ret_stored = len;
	*ret_codec = STK_CODEC_NONE;
	return out->failed ? -ENOMEM : 0;
}

int64_t encoder__trial(struct encoder *enc, const void *data, size_t len)
{
	int err;

	enc->trial.len = 0;
	err = compress_cut(enc, data, len, NULL, 0, &enc->trial);
	return err ?: (int64_t)enc->trial.len;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Fills in the header at start; the payload follows it up to the end of out. */
static int seal_block(struct bytes_buf *out, size_t start, struct stk_block_header h)
{
	size_t payload = start + sizeof(h);

	if (out->failed)
		return -ENOMEM;
	if (out->len - payload > UINT32_MAX || h.raw_len > STK_MAX_RAW)
		return -E2BIG;
	h.magic = STK_BLOCK_MAGIC;
	h.stored_len = out->len - payload;
	h.payload_crc = crc32c(0, out->p + payload, h.stored_len);
	h.header_crc = crc32c(0, &h, offsetof(struct stk_block_header, header_crc));
	memcpy(out->p + start, &h, sizeof(h));
	return 0;
}

int encoder__block(struct encoder *enc, uint16_t type, uint32_t aux, const void *payload,
		   size_t len, struct bytes_buf *out)
{
	struct stk_block_header h = { .type = type, .aux = aux, .raw_len = len };
	size_t start = out->len;
	uint32_t stored, codec;
	int err;

	if (len > STK_MAX_RAW)
		return -E2BIG;
	bytes_put(out, &h, sizeof(h));
	err = put_section(enc, payload, len, NULL, 0, out, &stored, &codec);
	h.codec = codec;
	if (!err)
		err = seal_block(out, start, h);
	if (err)
		out->len = start;
	return err;
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Sets the token and the time of each event, as the difference to the event before it. */
static void set_times(struct encoder *enc, const struct batch *b, struct stk_events_header *eh,
		      uint64_t *ret_seen)
{
	uint64_t prev = b->events[0].ts, min = prev, max = prev, seen = 0;

	eh->first_ts = prev;
	for (uint32_t i = 0; i < b->nr; i++) {
		uint64_t ts = b->events[i].ts, delta = bytes_zigzag(ts - prev);

		enc->tokens[i] = b->events[i].tuple;
		enc->values[i] = delta;
		seen |= delta;
		min = MIN(min, ts);
		max = MAX(max, ts);
		prev = ts;
	}
	eh->min_ts = min;
	eh->max_ts = max;
	*ret_seen = seen;
}

static int encode_heads(struct encoder *enc, const struct batch *b, struct stk_events_header *eh)
{
	struct enc_section *s = &enc->heads;
	uint64_t seen;
	size_t start;

	set_times(enc, b, eh, &seen);
	bytes_put_varint(&s->raw, b->nr_tuples);
	for (unsigned int c = 0; c < BATCH_TUPLE_COLUMNS; c++) {
		start = s->raw.len;
		for (uint32_t i = 0; i < b->nr_tuples; i++)
			bytes_put_varint(&s->raw, batch_tuple__value(&b->tuples[i], c));
		enc_section__cut(s, start);
	}
	bytes_put_u8(&s->raw, enc_width(b->nr_tuples - 1));
	bytes_put_u8(&s->raw, enc_width(seen));
	enc_put_planes32(s, enc->tokens, b->nr, enc_width(b->nr_tuples - 1));
	put_planes64(s, enc->values, b->nr, enc_width(seen));
	return s->raw.failed ? -ENOMEM : 0;
}

/* ---- event blocks ---------------------------------------------------------------------------- */

static int reserve(struct encoder *enc, const struct enc_batch *b)
{
	uint32_t n = b->events->nr;

	if (n > enc->cap) {
		freep(&enc->tokens);
		freep(&enc->order);
		freep(&enc->values);
		enc->tokens = malloc(n * sizeof(*enc->tokens));
		enc->order = malloc(n * sizeof(*enc->order));
		enc->values = malloc(n * sizeof(*enc->values));
		enc->cap = enc->tokens && enc->order && enc->values ? n : 0;
		if (!enc->cap)
			return -ENOMEM;
	}
	if (b->nr_types > enc->cap_types) {
		enc->cap_types = 0;
		freep(&enc->type_start);
		freep(&enc->touched);
		enc->type_start = calloc(2 * b->nr_types, sizeof(*enc->type_start));
		enc->touched = malloc(2 * b->nr_types * sizeof(*enc->touched));
		if (!enc->type_start || !enc->touched)
			return -ENOMEM;
		enc->cap_types = 2 * b->nr_types;
	}
	return array__reach(&enc->numbers, b->events->records.nr, &enc->cap_numbers);
}

int encoder__events(struct encoder *enc, const struct enc_batch *b, struct bytes_buf *out)
{
	struct stk_block_header h = { .type = STK_BLOCK_EVENTS, .aux = b->cpu };
	struct stk_events_header eh = { .count = b->events->nr, .round = b->round };
	struct enc_section *sections[2] = { &enc->heads, &enc->body };
	size_t start = out->len;
	int err;

	for (int i = 0; i < 2; i++) {
		sections[i]->raw.len = 0;
		sections[i]->nr_cuts = 0;
	}
	err = reserve(enc, b);
	err = err ?: encode_heads(enc, b->events, &eh);
	err = err ?: encoder__body(enc, b);
	if (err)
		return err;

	bytes_put(out, &h, sizeof(h));
	bytes_put(out, &eh, sizeof(eh));
	eh.heads_raw = enc->heads.raw.len;
	eh.body_raw = enc->body.raw.len;
	if (enc->heads.raw.len > STK_MAX_RAW || enc->body.raw.len > STK_MAX_RAW)
		err = -E2BIG;
	if (!err)
		err = put_section(enc, enc->heads.raw.p, eh.heads_raw, enc->heads.cuts,
				  enc->heads.nr_cuts, out, &eh.heads_stored, &eh.heads_codec);
	if (!err)
		err = put_section(enc, enc->body.raw.p, eh.body_raw, enc->body.cuts,
				  enc->body.nr_cuts, out, &eh.body_stored, &eh.body_codec);
	if (!err && !out->failed) {
		memcpy(out->p + start + sizeof(h), &eh, sizeof(eh));
		h.raw_len = out->len - start - sizeof(h);
		h.events_crc = crc32c(0, &eh, sizeof(eh));
		err = seal_block(out, start, h);
	}
	if (err)
		out->len = start;
	return err;
}
