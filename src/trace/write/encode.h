/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* One CPU's events to an EVENTS block. */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include <stdint.h>

#include "trace/bytes.h"

struct batch;
struct batch_type;

struct enc_batch {
	uint32_t cpu;
	uint64_t round;
	struct batch *events; /* 1 .. STK_MAX_BLOCK_EVENTS */
	const struct batch_type *types; /* by event index */
	uint32_t nr_types;
};

struct encoder;

int encoder__new(int level, struct encoder **ret_encoder);
void encoder__free(struct encoder *enc);

/* Append a whole EVENTS block to out.  Notes in the batch which types' records should be raw. */
int encoder__events(struct encoder *enc, const struct enc_batch *batch, struct bytes_buf *out);
/* Append a block with this payload, compressed when that is smaller. */
int encoder__block(struct encoder *enc, uint16_t type, uint32_t aux, const void *payload,
		   size_t len, struct bytes_buf *out);

#endif /* TRACE_ENCODE_H */
