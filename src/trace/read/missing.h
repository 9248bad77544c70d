/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The reader's knowledge of what is missing; see missing.c. */
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

struct rd_stretch {
	uint64_t first, last;
};

/* Stretches of time, apart and in order. */
struct rd_lane {
	uint64_t key;
	struct rd_stretch *v;
	size_t nr, cap;
};

struct rd_loss {
	uint64_t first, last, count;
	uint32_t type, cpu; /* index + 1 and number + 1; 0: any */
};

/* A loss whose end is not known yet. */
struct rd_open_loss {
	struct rd_loss loss;
	unsigned int rounds; /* markers until it is */
};

/* Where the reader is in the rounds, for what is about time in the file. */
struct rd_rounds {
	bool any;
	uint64_t end, watermark; /* of the last marker, of the one before */
	uint64_t max_ts; /* of the event blocks so far */
};

struct rd_open_losses {
	struct rd_open_loss *v;
	size_t nr, cap;
};

/* In a lane's key, where else index + 1 and number + 1 are, or 0: those of all types, or of all CPUs; */
#define RD_LANE_ALL UINT32_MAX
#define RD_LANE_BARE (UINT32_MAX - 1) /* for a CPU: events without their fields */
#define RD_SEEN_SLOTS 4096

/* Zero is empty. */
struct rd_losses {
	struct rd_lane **lanes; /* by key */
	size_t nr_lanes, cap_lanes;
	struct rd_loss
		*v; /* those before `handed` were handed out, those before `sorted` are in order */
	size_t nr, cap, handed, sorted;
	struct rd_open_losses open; /* of bad blocks */
	struct rd_open_losses counted; /* of accountings, until the next marker */
	uint64_t *lost_before; /* by type, in the last accounting */
	size_t nr_lost_before;
	struct rd_rounds rounds; /* up to `scanned` */
	uint64_t scanned; /* blocks that begin before this byte are taken */
	uint64_t accounted_end; /* rounds.end at the last accounting */
	struct budget *budget; /* memory is taken from */
	bool looked_ahead, has_end; /* then, of the recording */
	bool failed; /* memory ran out: anything may be missing */
	struct rd_stretch
		quiet; /* free of all that lanes hold; empty (last < first): to be found */
	uint64_t *bare; /* by hash: time of the last event without fields on a CPU, of a task */
};

/* A block was read, whatever it is; payload is unpacked, but of event blocks.  -ENOMEM, -EBADMSG. */
int rd_losses__block(struct stk_reader *r, const struct stk_block_header *h, uint64_t pos,
		     struct bytes_cur c);
/* Whether rd_losses__block() wants its payload. */
bool rd_losses__wants(const struct stk_reader *r, const struct stk_block_header *h);
/* The block cannot be read; watermark: events before it had been written earlier. */
int rd_losses__bad(struct stk_reader *r, const struct stk_block_header *h, uint64_t watermark);
/* The end of what bad blocks held comes nearer. */
int rd_losses__round(struct stk_reader *r, uint64_t end_ts);
/* The events of this block cannot be decoded. */
void rd_losses__unread(struct stk_reader *r, uint32_t cpu, const struct stk_events_header *h);
/* An event without its fields is handed out. */
void rd_losses__bare(struct stk_reader *r, uint32_t type, uint32_t cpu, uint32_t tid, uint64_t ts);
/* Whether there may have been one that the question is about: on its CPU and of its task in its time or since. */
bool rd_losses__bare_within(const struct stk_reader *r, const struct stk_span *s);
void rd_losses__free(struct stk_reader *r);

/* One lane, for those who know its key.  -ENOMEM. */
int rd_lane__add(struct rd_losses *l, uint32_t type, uint32_t cpu, uint64_t first, uint64_t last);
bool rd_lane__touches(const struct rd_losses *l, uint32_t type, uint32_t cpu,
		      const struct stk_span *s);

#endif /* TRACE_MISSING_H */
