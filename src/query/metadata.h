/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers and clocks among the metadata of a recording, which are untrusted text. */
#ifndef QUERY_METADATA_H
#define QUERY_METADATA_H

#include <stdbool.h>
#include <stdint.h>

struct stk_reader;

/* Whether the value is a number of 64 bits and nothing else; *ret_value is untouched if not. */
bool metadata__u64(const struct stk_reader *r, const char *key, uint64_t *ret_value);

/* One moment by two clocks. */
struct wall_clock {
	uint64_t ts; /* of the recording */
	uint64_t wall_ns; /* since 1970; at most INT64_MAX */
};

/*
 * Whether the recording says what its times are on the wall clock, which several recordings say of
 * the first one's.  Both members are 0 if the times are those of the wall clock.
 */
bool wall_clock__of(const struct stk_reader *r, struct wall_clock *ret_clock);

#endif /* QUERY_METADATA_H */
