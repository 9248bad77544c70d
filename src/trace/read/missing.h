/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the reader knows of missing events; see missing.c. */
#ifndef TRACE_MISSING_H
#define TRACE_MISSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stk_block_header;
struct stk_events_header;
struct stk_reader;
struct stk_span;
struct budget;
struct bytes_cur;

struct rd_gap {
	uint64_t first, last;
};

/* Gaps of one key, disjoint and in order. */
struct rd_lane {
	uint64_t key;
	struct rd_gap *v;
	size_t nr, cap;
};

struct rd_loss {
	uint64_t first, last, count;
	uint32_t type, cpu; /* index + 1 and number + 1; 0: any */
};

/* A loss whose end is still unknown. */
struct rd_open_loss {
	struct rd_loss loss;
	unsigned int rounds; /* markers until its end is known */
};

/* The reader's position in the rounds. */
struct rd_rounds {
	bool any;
	uint64_t end, watermark; /* of the last marker and of the one before */
	uint64_t max_ts; /* of the event blocks so far */
};

struct rd_open_losses {
	struct rd_open_loss *v;
	size_t nr, cap;
};

/* In place of index + 1 or number + 1 in a lane's key: the losses of all types, or on all CPUs. */
#define RD_LANE_ALL UINT32_MAX
#define RD_LANE_BARE (UINT32_MAX - 1) /* in place of a CPU: events without their fields */
#define RD_SEEN_SLOTS 4096

/* Zero is empty. */
struct rd_losses {
	struct rd_lane **lanes; /* by key */
	size_t nr_lanes, cap_lanes;
	struct rd_loss *v; /* [0, delivered) are delivered, [0, sorted) are in order */
	size_t nr, cap, delivered, sorted;
	struct rd_open_losses open; /* of bad blocks */
	struct rd_open_losses counted; /* of accountings, until the next marker */
	uint64_t *lost_before; /* by type, in the last accounting */
	size_t nr_lost_before;
	struct rd_rounds rounds; /* up to `scanned` */
	uint64_t scanned; /* blocks that begin before this byte have been read */
	uint64_t accounted_end; /* rounds.end at the last accounting */
	struct budget *budget; /* charged for memory */
	bool looked_ahead, has_end; /* in the input; END was found */
	bool failed; /* memory ran out: anything may be missing */
	struct rd_gap quiet; /* overlaps no gap of a lane; last < first: to be computed */
	uint64_t *bare; /* by hash of CPU or task: time of its last event without fields */
};

/*
 * To be called for every block; the payload is unpacked except that of event blocks.  -ENOMEM,
 * -EBADMSG.
 */
int rd_losses__block(struct stk_reader *r, const struct stk_block_header *h, uint64_t pos,
		     struct bytes_cur c);
/* True if rd_losses__block() needs the payload of this block. */
bool rd_losses__wants(const struct stk_reader *r, const struct stk_block_header *h);
/* The block is unreadable.  watermark: all events before it were in earlier blocks. */
int rd_losses__bad(struct stk_reader *r, const struct stk_block_header *h, uint64_t watermark);
/* To be called at each round marker: closes the losses of bad blocks. */
int rd_losses__round(struct stk_reader *r, uint64_t end_ts);
/* The events of this block are undecodable. */
void rd_losses__unread(struct stk_reader *r, uint32_t cpu, const struct stk_events_header *h);
/* An event without its fields is delivered, or some between these times. */
void rd_losses__bare(struct stk_reader *r, uint32_t type, uint32_t cpu, uint32_t tid,
		     uint64_t first, uint64_t last);
/*
 * Whether such an event may match the query: its type and time, and, there or later, its CPU and
 * task.
 */
bool rd_losses__bare_within(const struct stk_reader *r, const struct stk_span *s);
void rd_losses__free(struct stk_reader *r);

/* One lane by its key.  -ENOMEM. */
int rd_lane__add(struct rd_losses *l, uint32_t type, uint32_t cpu, uint64_t first, uint64_t last);
bool rd_lane__touches(const struct rd_losses *l, uint32_t type, uint32_t cpu,
		      const struct stk_span *s);

#endif /* TRACE_MISSING_H */
