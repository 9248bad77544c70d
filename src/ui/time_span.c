// SPDX-License-Identifier: GPL-2.0-only
/* Parses spans of time and finds what they are in a recording. */
#include "time_span.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "query/metadata.h"
#include "stackonce.h"
#include "strbuf.h"
#include "text.h"
#include "ui.h"

#define NS_PER_S UINT64_C(1000000000)
#define HALF_DAY 43200 /* seconds */

/* "14:03", "14:03:20", "14:03:20.5" */
static int parse_day_time(const char *s, uint64_t *ret_ns)
{
	const char *minutes = strchr(s, ':') + 1, *seconds = strchr(minutes, ':');
	_cleanup_free_ char *h = strndup(s, minutes - 1 - s);
	_cleanup_free_ char *m = strndup(minutes, seconds ? (size_t)(seconds - minutes) : 2);
	uint64_t hour, minute, ns = 0;

	if (!h || !m)
		return -ENOMEM;
	if (!seconds && strlen(minutes) > 2)
		return -EINVAL;
	if (parse__u64(h, 0, 23, &hour) || parse__u64(m, 0, 59, &minute) ||
	    (seconds && parse__seconds(seconds + 1, &ns)) || ns >= 61 * NS_PER_S)
		return -EINVAL;
	*ret_ns = (hour * 3600 + minute * 60) * NS_PER_S + ns;
	return 0;
}

static int parse_percent(char *s, uint64_t *ret_value)
{
	s[strlen(s) - 1] = '\0';
	return parse__seconds(s, ret_value) ?: *ret_value > 100 * NS_PER_S ? -ERANGE : 0;
}

static int parse_end(char *s, struct time_end *ret_end)
{
	size_t len = strlen(s);

	if (!len) {
		ret_end->kind = TIME_OPEN;
		return 0;
	}
	if (s[0] == '+') {
		ret_end->kind = TIME_SINCE;
		return parse__seconds(s + 1, &ret_end->value);
	}
	if (s[len - 1] == '%') {
		ret_end->kind = TIME_PERCENT;
		return parse_percent(s, &ret_end->value);
	}
	ret_end->kind = strchr(s, ':') ? TIME_OF_DAY : TIME_CLOCK;
	return ret_end->kind == TIME_OF_DAY ? parse_day_time(s, &ret_end->value) :
					      parse__seconds(s, &ret_end->value);
}

/*
 * A time with up to six decimals means a time as printed, rounded to microseconds: every event that
 * prints as this time is selected.  More decimals are exact.
 */
static uint64_t rounded(const char *text, uint64_t ns, bool is_to)
{
	const char *dot = strchr(text, '.');

	if (dot && strlen(dot + 1) > 6)
		return ns;
	if (is_to)
		return ns > UINT64_MAX - 499 ? UINT64_MAX : ns + 499;
	return ns < 500 ? 0 : ns - 500;
}

int time_span__parse(const char *text, struct time_span *ret_span)
{
	struct time_span s = { .from = 0, .to = UINT64_MAX };
	_cleanup_free_ char *copy = strdup(text);
	char *comma = copy ? strchr(copy, ',') : NULL;
	int err;

	if (!copy)
		return -ENOMEM;
	if (!comma)
		return -EINVAL;
	*comma++ = '\0';
	err = parse_end(copy, &s.ends[0]) ?: parse_end(comma, &s.ends[1]);
	if (err)
		return err;
	if (s.ends[0].kind == TIME_CLOCK)
		s.from = rounded(copy, s.ends[0].value, false);
	if (s.ends[1].kind == TIME_CLOCK)
		s.to = rounded(comma, s.ends[1].value, true);
	if (s.from > s.to || (s.ends[0].kind == s.ends[1].kind && s.ends[0].kind != TIME_OF_DAY &&
			      s.ends[0].value > s.ends[1].value))
		return -EINVAL;
	if (s.ends[0].kind == TIME_OPEN && s.ends[1].kind == TIME_OPEN)
		return -EINVAL;
	*ret_span = s;
	return 0;
}

bool time_span__has(const struct time_span *s, enum time_kind kind)
{
	return s->ends[0].kind == kind || s->ends[1].kind == kind;
}

bool time_span__is_absolute(const struct time_span *s)
{
	return s->ends[0].kind <= TIME_CLOCK && s->ends[1].kind <= TIME_CLOCK;
}

struct time_base time_base__of(const struct stk_reader *r, uint64_t first_ts)
{
	struct time_base base = { .first_ts = first_ts };
	struct wall_clock clock;

	base.has_wall = wall_clock__of(r, &clock);
	if (base.has_wall) {
		base.ts = clock.ts;
		base.wall_ns = clock.wall_ns;
	}
	return base;
}

/* ---- resolving ------------------------------------------------------------------------------- */

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ns since 1970 at a time of the recording's clock. */
static uint64_t wall_of(const struct time_base *base, uint64_t ts)
{
	__int128 ns = (__int128)base->wall_ns + ts - base->ts;

	return ns < 0 ? 0 : ns > INT64_MAX ? INT64_MAX : ns;
}

/* That time on the day of the first event, or on the next day if it is long before that event. */
static uint64_t resolve_day_time(const struct time_base *base, uint64_t value)
{
	time_t first = wall_of(base, base->first_ts) / NS_PER_S, at;
	struct tm day;
	__int128 ns;

	localtime_r(&first, &day);
	day.tm_hour = value / NS_PER_S / 3600;
	day.tm_min = value / NS_PER_S / 60 % 60;
	day.tm_sec = value / NS_PER_S % 60;
	day.tm_isdst = -1;
	at = mktime(&day);
	if (at < first - HALF_DAY) {
		day.tm_mday++;
		day.tm_isdst = -1;
		at = mktime(&day);
	}
	ns = (__int128)at * NS_PER_S + value % NS_PER_S - base->wall_ns + base->ts;
	return ns < 0 ? 0 : ns > UINT64_MAX ? UINT64_MAX : ns;
}

static uint64_t resolve_end(const struct time_base *base, const struct time_end *end,
			    uint64_t otherwise)
{
	uint64_t length = MAX(base->last_ts, base->first_ts) - base->first_ts;

	switch (end->kind) {
	case TIME_SINCE:
		return add(base->first_ts, end->value);
	case TIME_PERCENT:
		return base->first_ts +
		       (uint64_t)((unsigned __int128)length * end->value / (100 * NS_PER_S));
	case TIME_OF_DAY:
		return resolve_day_time(base, end->value);
	default:
		return otherwise;
	}
}

int time_span__resolve(struct time_span *s, const struct time_base *base)
{
	uint64_t from, to;

	if (time_span__has(s, TIME_OF_DAY) && !base->has_wall)
		return -ENODATA;
	from = resolve_end(base, &s->ends[0], s->from);
	to = resolve_end(base, &s->ends[1], s->to);
	if (from > to)
		return -EINVAL;
	s->from = from;
	s->to = to;
	return 0;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void put_end(struct strbuf *b, const struct time_base *base, const struct time_end *end,
		    uint64_t ts)
{
	uint64_t wall = wall_of(base, ts) + 500; /* ns: is rounded to us */
	time_t t = wall / NS_PER_S;
	char text[64], zone[16];
	struct tm day;

	strbuf__puts(b, text__time(ts).s);
	if (end->kind != TIME_OF_DAY)
		return;
	localtime_r(&t, &day);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &day);
	strftime(zone, sizeof(zone), "%z", &day);
	strbuf__printf(b, " (%s.%06" PRIu64 " %s)", text, wall % NS_PER_S / 1000, zone);
}

void time_span__put(const struct time_span *s, const struct time_base *base, struct strbuf *b)
{
	if (s->ends[0].kind == TIME_OPEN)
		strbuf__puts(b, "the start");
	else
		put_end(b, base, &s->ends[0], s->from);
	strbuf__puts(b, " to ");
	if (s->ends[1].kind == TIME_OPEN)
		strbuf__puts(b, "the end");
	else
		put_end(b, base, &s->ends[1], s->to);
}
