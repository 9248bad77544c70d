/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* One CPU's events to an EVENTS block. */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include <stdint.h>

#include "stackonce.h"
#include "trace/bytes.h"
#include "trace/layout.h"

struct enc_event {
	uint64_t ts;
	uint32_t event, task, kstack, ustack;
	uint32_t rec_off, rec_len; /* in the records handed in */
	uint8_t flags, preempt_count;
	uint16_t marks;
};

struct enc_batch {
	uint32_t cpu;
	uint64_t round;
	const struct enc_event *events;
	uint32_t nr; /* 1 .. STK_MAX_BLOCK_EVENTS */
	const uint8_t *records;
	struct stk_layout *const *layouts; /* by event index */
	uint32_t nr_layouts;
};

struct encoder;

int encoder__new(int level, struct encoder **ret_encoder);
void encoder__free(struct encoder *enc);

/* Append a whole EVENTS block to out. */
int encoder__events(struct encoder *enc, const struct enc_batch *batch, struct bytes_buf *out);
/* Append a block with this payload, compressed when that is smaller. */
int encoder__block(struct encoder *enc, uint16_t type, uint32_t aux, const void *payload,
		   size_t len, struct bytes_buf *out);

#endif /* TRACE_ENCODE_H */
