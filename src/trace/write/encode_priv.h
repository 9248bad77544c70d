/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The encoder's state, shared by its heads part and its body part. */
#ifndef TRACE_ENCODE_PRIV_H
#define TRACE_ENCODE_PRIV_H

#include <zstd.h>

#include "batch.h"
#include "encode.h"

#define ENC_CUT_MIN 1024 /* columns of at least this size get their own compression tables */
#define ENC_SAMPLE 256 /* events looked at to choose the columns of a type's entries */
#define ENC_TRIAL 1024 /* values compressed to choose the coding of a column */

/*
 * Raw bytes of a section.  Cuts are positions where the compressor starts a new zstd block inside
 * the same frame: columns differ too much for one set of entropy tables to serve two of them.
 */
struct enc_section {
	struct bytes_buf raw;
	size_t *cuts;
	uint32_t nr_cuts, cap_cuts;
};

struct encoder {
	ZSTD_CCtx *zstd;
	int level;
	struct enc_section heads, body;
	struct record_set entries; /* of a type's part */
	uint32_t *tokens, *order; /* per event of the batch */
	uint64_t *values;
	uint32_t cap; /* of the three arrays above */
	uint32_t *numbers; /* entry + 1 by record of the batch; all zero between parts */
	uint32_t cap_numbers;
	uint32_t *type_start; /* per event index; all zero between batches */
	uint32_t cap_types;
	uint32_t *touched, nr_touched; /* event indexes of the batch, ascending */
	struct bytes_buf rows, planes, trial; /* scratch for a column */
};

int encoder__body(struct encoder *enc, const struct enc_batch *batch);

/* A column was appended at start: cut around it if it is large enough. */
void enc_section__cut(struct enc_section *s, size_t start);
/* Appends values as a plane table of the given width. */
void enc_put_planes32(struct enc_section *s, const uint32_t *values, uint32_t n,
		      unsigned int width);
unsigned int enc_width(uint64_t max);
/* Size of data compressed at the encoder's level, negative errno on failure. */
int64_t encoder__trial(struct encoder *enc, const void *data, size_t len);

#endif /* TRACE_ENCODE_PRIV_H */
