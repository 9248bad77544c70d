/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans of time as users give them: "A,B", "A," or ",B", where an end is
 *
 *   12.5       seconds of the recording's clock
 *   +1.5       seconds since its first event
 *   20%        of the time from its first event to its last one
 *   14:03:20   the time of day, in this machine's time zone
 */
#ifndef UI_TIME_SPAN_H
#define UI_TIME_SPAN_H

#include <stdbool.h>
#include <stdint.h>

struct stk_reader;
struct strbuf;

enum time_kind { TIME_OPEN, TIME_CLOCK, TIME_SINCE, TIME_PERCENT, TIME_OF_DAY };

struct time_end {
	enum time_kind kind;
	uint64_t value; /* ns; percent: 10^-9 of them */
};

struct time_span {
	struct time_end ends[2];
	uint64_t from, to; /* ns, both included; of ends of other kinds than the first two: later */
};

/* What the ends that are not of the recording's clock refer to. */
struct time_base {
	uint64_t first_ts, last_ts; /* ns; last_ts is needed for percentages only */
	bool has_wall; /* at ts the wall clock was wall_ns, since 1970 */
	uint64_t ts, wall_ns; /* at most INT64_MAX */
};

/* 0; -EINVAL: not a span, or B is before A; -ERANGE. */
int time_span__parse(const char *text, struct time_span *ret_span);
bool time_span__has(const struct time_span *s, enum time_kind kind);
/* Whether from and to are known without a base. */
bool time_span__is_absolute(const struct time_span *s);
/* The base of a recording whose first event has been read, without last_ts. */
struct time_base time_base__of(const struct stk_reader *r, uint64_t first_ts);
/* Sets from and to; -ENODATA: the wall clock is unknown; -EINVAL: B is before A. */
int time_span__resolve(struct time_span *s, const struct time_base *base);
/* "12.500000 to 13.000000", and the day and the time zone of a time of day. */
void time_span__put(const struct time_span *s, const struct time_base *base, struct strbuf *b);

#endif /* UI_TIME_SPAN_H */
