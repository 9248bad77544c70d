/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a comparison needs of one recording: how often each call stack of each event type occurs,
 * by bin of time.  Memory grows with the distinct stacks, not with the events.
 */
#ifndef ANALYZE_SIDE_H
#define ANALYZE_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/key_table.h"
#include "series.h"
#include "stackonce.h"

struct side_stack { /* key of side.stacks */
	uint32_t type; /* index of the event type */
	uint32_t kstack, ustack; /* stack numbers; 0: none, or not counted */
};

struct side_pairs { /* of a group of pairs */
	struct series ns, nr; /* their sum and their number */
};

struct side {
	struct stk_reader *reader; /* borrowed */
	unsigned int which; /* STACKS_... */
	struct key_table stacks; /* struct side_stack to struct series */
	struct key_table pairs; /* address of a group to struct side_pairs */
	struct series *types; /* selected events by event type */
	uint32_t nr_types;
	struct series by; /* the events that the others are divided by */
	uint64_t series_bytes;
	uint64_t from, to; /* ns: the time that is compared, of which events were seen */
	uint64_t bin_ns;
	bool any; /* from is set */
};

/*
 * from, to: the selected time, 0 and UINT64_MAX for all.  bin_ns: the least width of a bin; it is
 * doubled until SERIES_BINS are enough.
 */
void side__init(struct side *s, struct stk_reader *r, unsigned int which, uint64_t from,
		uint64_t to, uint64_t bin_ns);
void side__clear(struct side *s);

/*
 * Takes every event of the recording, since the first one begins the time that is compared.
 * is_counted: it is selected; is_by: it is one of those that the others are divided by.
 */
int side__add(struct side *s, const struct stk_event *e, bool is_counted, bool is_by);
/* Takes a pair of a group that started at ts. */
int side__add_pair(struct side *s, const void *group, uint64_t ts, uint64_t ns);
/* NULL: no pairs. */
const struct side_pairs *side__pairs(const struct side *s, const void *group);
uint64_t side__memory(const struct side *s); /* bytes */
/* After the last event: the end of the time that is compared. */
void side__finish(struct side *s);

unsigned int side__nr_bins(const struct side *s);
double side__seconds(const struct side *s);
/* The seconds of each of SERIES_BINS bins; the last one of a recording is rarely a whole one. */
void side__bin_seconds(const struct side *s, double *ret_bins);

#endif /* ANALYZE_SIDE_H */
