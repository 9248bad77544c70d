// SPDX-License-Identifier: GPL-2.0-only
/* Reads the recordings one after another, each as if it were the only one. */
#include <errno.h>
#include <string.h>

#include "clickhouse_priv.h"
#include "log.h"
#include "query/metadata.h"
#include "text.h"

static int read_event(struct ch_export *c, const struct stk_event **ret_event)
{
	int got = export_source__next(c->src, ret_event);

	/* what follows would fail, too */
	if (got < 0 && got != -EBADMSG)
		return -ECANCELED;
	if (got >= 0)
		return got;
	c->damage = got;
	return 0;
}

int ch_next(struct ch_export *c, const struct stk_event **ret_event)
{
	if (c->is_empty)
		return 0;
	if (!c->first)
		return read_event(c, ret_event);
	*ret_event = c->first;
	c->first = NULL;
	return 1;
}

static bool may_be_wanted(void *ctx, const struct stk_event *e)
{
	const struct ch_export *c = ctx;

	return ch_is_of_table(stk_event__type(e), c->table);
}

/* A selection by the user leaves out what it can. */
static void select_table(struct ch_export *c)
{
	struct stk_select select = {
		.size = sizeof(select), .to = UINT64_MAX, .event = may_be_wanted, .ctx = c
	};

	if (c->table && !c->src->is_selection)
		stk_reader__select(c->src->reader, &select);
}

static int64_t find_to_wall(struct stk_reader *r)
{
	struct wall_clock clock;
	struct stk_totals t;

	if (wall_clock__of(r, &clock))
		return clock.wall_ns - clock.ts;
	/* the first event is not far from where the file begins */
	stk_reader__totals(r, &t);
	return t.start_wall_ns - t.first_ts;
}

static int find_uuid(struct ch_export *c)
{
	static const uint8_t none[16];
	const char *text = stk_reader__meta(c->src->reader, "uuid");
	uint8_t uuid[16] = { 0 };

	if (text)
		text__hex_bytes(text, uuid, sizeof(uuid));
	if (!memcmp(uuid, none, sizeof(uuid)))
		return log_why(-EINVAL, "the recording '%s' has no uuid, which its rows need",
			       stk_reader__path(c->src->reader) ?: "");
	ch_uuid(uuid, c->recording);
	return 0;
}

int ch_begin_recording(struct ch_export *c)
{
	struct stk_reader *r = c->src->reader;
	int got;

	select_table(c);
	c->first = NULL;
	c->has_stacks = c->has_frames = false;
	got = read_event(c, &c->first);
	if (got < 0)
		return got;
	c->is_empty = !got;
	c->host = stk_reader__meta(r, "hostname") ?: "";
	c->to_wall = find_to_wall(r);
	stack_keys__init(&c->keys, r);
	return find_uuid(c);
}

int ch_charge_keys(const struct ch_export *c, uint32_t stack)
{
	struct stk_stack s;

	return stk_reader__stack(c->src->reader, stack, &s) ?:
		       stk_reader__charge(c->src->reader, 0, s.depth * (uint64_t)STACK_KEY_WORK);
}

uint64_t ch_wall_ns(const struct ch_export *c, uint64_t ts)
{
	uint64_t wall = ts + c->to_wall;

	return (int64_t)wall < 0 ? 0 : wall;
}
