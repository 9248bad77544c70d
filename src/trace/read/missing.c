// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What may be missing: where and when events were lost.
 *
 * A loss is kept twice: as stored, for listing, and as a gap on lanes, for stk_reader__may_miss().
 * A lane belongs to an event type (or any) on a CPU (or any); further lanes hold the losses of all
 * types, or on all CPUs, so that a query about all of them looks at one lane.
 *
 * If the reader can look ahead, it reads all losses before it answers the first query.  From a pipe
 * it reads them in file order: since minor version 2 a loss precedes every event after its start.
 * Older recordings only have counters, so a loss lies between two accountings.
 */
#include "missing.h"

#include "array.h"
#include "cleanup.h"
#include "losses.h"
#include "many.h"
#include "trace/stk.h"
#include "trace_entry.h"

#define ANY 0u
#define ALL RD_LANE_ALL
#define LOOK_BACK 64 /* gaps of a lane that stay separate when a late one is inserted */
#define MAX_OPEN 256 /* each query looks at all of them */
#define BAD_ROUNDS 2 /* no event of a bad block is later than this many markers after it */

/* ---- lanes ----------------------------------------------------------------------------------- */

static uint64_t lane_key(uint32_t type, uint32_t cpu)
{
	return (uint64_t)type << 32 | cpu;
}

/* Index of the lane, or where it would be inserted. */
static size_t lane_index(const struct rd_losses *l, uint64_t key)
{
	return array__bisect(l->nr_lanes, i, l->lanes[i]->key < key);
}

static struct rd_lane *lane_find(const struct rd_losses *l, uint32_t type, uint32_t cpu)
{
	uint64_t key = lane_key(type, cpu);
	size_t i = lane_index(l, key);

	return i < l->nr_lanes && l->lanes[i]->key == key ? l->lanes[i] : NULL;
}

/* Beyond RD_MAX_LANES a loss counts as one of any type on any CPU. */
static struct rd_lane *lane_make(struct rd_losses *l, uint32_t type, uint32_t cpu)
{
	struct rd_lane *lane = lane_find(l, type, cpu);
	size_t i;

	if (lane)
		return lane;
	if (l->nr_lanes >= RD_MAX_LANES && lane_find(l, ANY, ANY))
		return lane_find(l, ANY, ANY);
	if (l->nr_lanes >= RD_MAX_LANES)
		type = cpu = ANY;
	if (rd_reserve(l->budget, &l->lanes, &l->cap_lanes, l->nr_lanes, sizeof(struct rd_lane *)))
		return NULL;
	lane = calloc(1, sizeof(*lane));
	if (!lane)
		return NULL;
	lane->key = lane_key(type, cpu);
	i = lane_index(l, lane->key);
	memmove(l->lanes + i + 1, l->lanes + i, (l->nr_lanes - i) * sizeof(struct rd_lane *));
	l->lanes[i] = lane;
	l->nr_lanes++;
	return lane;
}

/* Merges pairs of neighbours: halves the memory, but widens the gaps. */
static void lane_halve(struct rd_lane *lane)
{
	size_t i, half = (lane->nr + 1) / 2;

	for (i = 0; i < half; i++)
		lane->v[i] = (struct rd_gap){ lane->v[2 * i].first,
					      lane->v[MIN(2 * i + 1, lane->nr - 1)].last };
	lane->nr = half;
}

/*
 * The new gap replaces [low, high), which it overlaps.  A late gap also swallows the gaps after it
 * except the last LOOK_BACK, so that no order of insertion takes quadratic time.
 */
static int lane_add(struct rd_lane *lane, struct budget *budget, uint64_t first, uint64_t last)
{
	size_t low = lane->nr, high;

	while (low && lane->v[low - 1].last >= first)
		low--;
	for (high = low; high < lane->nr && lane->v[high].first <= last; high++)
		last = MAX(last, lane->v[high].last);
	if (lane->nr - high > LOOK_BACK) {
		high = lane->nr - LOOK_BACK;
		last = MAX(last, lane->v[high - 1].last);
	}
	if (low < high)
		first = MIN(first, lane->v[low].first);
	else if (rd_reserve(budget, &lane->v, &lane->cap, lane->nr, sizeof(*lane->v)))
		return -ENOMEM;
	memmove(lane->v + low + 1, lane->v + high, (lane->nr - high) * sizeof(*lane->v));
	lane->nr = lane->nr + 1 - (high - low);
	lane->v[low] = (struct rd_gap){ first, last };
	if (lane->nr >= RD_MAX_GAPS)
		lane_halve(lane);
	return 0;
}

/* Index of the first gap that ends at or after from. */
static size_t lane_from(const struct rd_lane *lane, uint64_t from)
{
	return array__bisect(lane->nr, i, lane->v[i].last < from);
}

static bool lane_touches(const struct rd_lane *lane, uint64_t from, uint64_t to)
{
	size_t i = lane ? lane_from(lane, from) : 0;

	return lane && i < lane->nr && lane->v[i].first <= to;
}

int rd_lane__add(struct rd_losses *l, uint32_t type, uint32_t cpu, uint64_t first, uint64_t last)
{
	struct rd_lane *lane = lane_make(l, type, cpu);

	l->quiet = (struct rd_gap){ .first = 1 };
	return lane ? lane_add(lane, l->budget, first, last) : -ENOMEM;
}

bool rd_lane__touches(const struct rd_losses *l, uint32_t type, uint32_t cpu,
		      const struct stk_span *s)
{
	return lane_touches(lane_find(l, type, cpu), s->from, s->to);
}

static int lanes_add(struct rd_losses *l, uint32_t type, uint32_t cpu, uint64_t first,
		     uint64_t last)
{
	const uint32_t types[] = { type, ALL }, cpus[] = { cpu, ALL };
	int err = 0;

	for (unsigned int i = 0; i < 4 && !err; i++)
		err = rd_lane__add(l, types[i / 2], cpus[i % 2], first, last);
	return err;
}

/* ---- losses ---------------------------------------------------------------------------------- */

static int add_loss(struct stk_reader *r, const struct rd_loss *loss)
{
	struct rd_losses *l = &r->losses;
	int err = lanes_add(l, loss->type, loss->cpu, loss->first, loss->last);

	if (!err)
		err = rd_reserve(l->budget, &l->v, &l->cap, l->nr, sizeof(*l->v));
	if (err)
		return err;
	if (l->nr < RD_MAX_LOSSES) {
		l->v[l->nr++] = *loss;
		return 0;
	}
	/* beyond RD_MAX_LOSSES the last entry covers all further losses */
	l->v[l->nr - 1] = (struct rd_loss){
		.first = MIN(l->v[l->nr - 1].first, loss->first),
		.last = MAX(l->v[l->nr - 1].last, loss->last),
	};
	return 0;
}

void rd_losses__unread(struct stk_reader *r, uint32_t cpu, const struct stk_events_header *h)
{
	struct rd_loss loss = {
		.cpu = cpu < STK_MAX_CPUS ? cpu + 1 : ANY,
		.first = h->min_ts,
		.last = h->max_ts,
		.count = h->count,
	};

	r->losses.failed |= add_loss(r, &loss) != 0;
}

static int take_losses(struct stk_reader *r, struct bytes_cur *c)
{
	uint64_t first = 0, length;
	int err = 0;

	while (!err && bytes_left(c)) {
		struct rd_loss loss = {
			.type = bytes_get_max(c, STK_MAX_TYPES),
			.cpu = bytes_get_max(c, STK_MAX_CPUS),
		};

		first += bytes_get_svarint(c);
		length = bytes_get_varint(c);
		loss.count = bytes_get_varint(c);
		if (c->bad || length > UINT64_MAX - first)
			return -EBADMSG;
		loss.first = first;
		loss.last = first + length;
		err = add_loss(r, &loss);
	}
	return err;
}

/* Adds a loss without an end; beyond MAX_OPEN the last entry covers all further losses. */
static int open_loss(struct budget *b, struct rd_open_losses *open, const struct rd_open_loss *o)
{
	struct rd_open_loss *last;

	if (open->nr < MAX_OPEN) {
		if (rd_reserve(b, &open->v, &open->cap, open->nr, sizeof(*o)))
			return -ENOMEM;
		open->v[open->nr++] = *o;
		return 0;
	}
	last = &open->v[open->nr - 1];
	last->loss = (struct rd_loss){ .first = MIN(last->loss.first, o->loss.first) };
	last->rounds = o->rounds;
	return 0;
}

/* ---- recordings without LOSSES blocks -------------------------------------------------------- */

static uint64_t *lost_before(struct rd_losses *l, uint64_t index)
{
	if (index >= STK_MAX_TYPES || array__reach(&l->lost_before, index, &l->nr_lost_before))
		return NULL;
	return &l->lost_before[index];
}

/* Losses of ftrace that could be of any of several event types had a row of their own. */
static uint32_t counted_type(const struct stk_reader *r, uint64_t index)
{
	const struct stk_event_type *t = stk_reader__type(r, index);

	if (!t || (!strcmp(t->system, LOST_EVENTS_SYSTEM) && !strcmp(t->name, LOST_EVENTS_NAME)))
		return ANY;
	return index + 1;
}

static int count_loss(struct stk_reader *r, uint64_t index, uint64_t lost)
{
	struct rd_losses *l = &r->losses;
	uint64_t *before = lost_before(l, index);
	struct rd_open_loss o = {
		.loss = { .type = counted_type(r, index),
			  .first = l->accounted_end,
			  .count = lost },
	};

	if (!before)
		return -ENOMEM;
	if (lost <= *before)
		return 0;
	o.loss.count -= *before;
	*before = lost;
	return open_loss(l->budget, &l->counted, &o);
}

static int take_counters(struct stk_reader *r, struct bytes_cur *c)
{
	uint64_t nr = bytes_get_varint(c), i, v, lost;
	struct rd_losses *l = &r->losses;
	int err = 0;

	if (c->bad || !nr || nr > bytes_left(c) + 1)
		return -EBADMSG;
	while (!err && bytes_left(c)) {
		uint64_t index = bytes_get_max(c, STK_MAX_TYPES - 1);

		for (i = lost = 0; i < nr && !c->bad; i++) {
			v = bytes_get_varint(c);
			if (i < STK_NR_COUNTERS && counter_is_gap(i))
				lost += v;
		}
		if (c->bad)
			return -EBADMSG;
		err = count_loss(r, index, lost);
	}
	l->accounted_end = l->rounds.end;
	return err;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* What was counted by now was lost before end. */
static int close_counted(struct stk_reader *r, uint64_t end)
{
	struct rd_losses *l = &r->losses;
	size_t i;
	int err = 0;

	for (i = 0; i < l->counted.nr && !err; i++) {
		struct rd_loss *loss = &l->counted.v[i].loss;

		loss->last = MAX(end, loss->first);
		err = add_loss(r, loss);
	}
	l->counted.nr = 0;
	return err;
}

static int take_marker(struct stk_reader *r, struct bytes_cur *c)
{
	struct rd_rounds *rounds = &r->losses.rounds;
	uint64_t v[4]; /* round, end_ts, events, wall_ns */
	const uint8_t *p = bytes_get(c, sizeof(v));

	if (!p)
		return -EBADMSG;
	memcpy(v, p, sizeof(v));
	if (rounds->any && rounds->end > rounds->watermark)
		rounds->watermark = rounds->end;
	rounds->any = true;
	rounds->end = MAX(rounds->end, v[1]);
	return close_counted(r, MAX(rounds->end, rounds->max_ts));
}

/* Late events were missing when other events of their time were delivered. */
static int take_times(struct stk_reader *r, uint32_t cpu, struct bytes_cur *c)
{
	struct rd_rounds *rounds = &r->losses.rounds;
	struct stk_events_header h;
	const uint8_t *p = bytes_get(c, sizeof(h));

	if (!p)
		return -EBADMSG;
	memcpy(&h, p, sizeof(h));
	rounds->max_ts = MAX(rounds->max_ts, h.max_ts);
	if (h.min_ts >= rounds->watermark || cpu >= STK_MAX_CPUS)
		return 0;
	return lanes_add(&r->losses, ANY, cpu + 1, h.min_ts, rounds->watermark);
}

bool rd_losses__wants(const struct stk_reader *r, const struct stk_block_header *h)
{
	return h->type == STK_BLOCK_LOSSES || h->type == STK_BLOCK_ROUND ||
	       h->type == STK_BLOCK_EVENTS ||
	       (h->type == STK_BLOCK_ACCOUNTING && r->minor < STK_MINOR_LOSSES);
}

int rd_losses__block(struct stk_reader *r, const struct stk_block_header *h, uint64_t pos,
		     struct bytes_cur c)
{
	if (pos < r->losses.scanned || !rd_losses__wants(r, h))
		return 0;
	r->losses.scanned = pos + 1;
	switch (h->type) {
	case STK_BLOCK_LOSSES:
		return take_losses(r, &c);
	case STK_BLOCK_ROUND:
		return take_marker(r, &c);
	case STK_BLOCK_EVENTS:
		return take_times(r, h->aux, &c);
	default:
		return take_counters(r, &c);
	}
}

int rd_losses__bad(struct stk_reader *r, const struct stk_block_header *h, uint64_t watermark)
{
	struct rd_losses *l = &r->losses;
	struct rd_open_loss o = {
		.loss = { .first = watermark },
		.rounds = BAD_ROUNDS,
	};

	if (h->type != STK_BLOCK_EVENTS && h->type != STK_BLOCK_LOSSES)
		return 0;
	if (h->type == STK_BLOCK_EVENTS && h->aux < STK_MAX_CPUS)
		o.loss.cpu = h->aux + 1;
	return open_loss(l->budget, &l->open, &o);
}

int rd_losses__round(struct stk_reader *r, uint64_t end_ts)
{
	struct rd_losses *l = &r->losses;
	size_t i, kept = 0;
	int err = 0;

	for (i = 0; i < l->open.nr && !err; i++) {
		struct rd_open_loss *o = &l->open.v[i];

		if (--o->rounds) {
			l->open.v[kept++] = *o;
			continue;
		}
		o->loss.last = MAX(MAX(end_ts, r->totals.last_ts), o->loss.first);
		err = add_loss(r, &o->loss);
	}
	l->open.nr = kept;
	return err;
}

void rd_losses__free(struct stk_reader *r)
{
	struct rd_losses *l = &r->losses;
	size_t i;

	for (i = 0; i < l->nr_lanes; i++) {
		free(l->lanes[i]->v);
		free(l->lanes[i]);
	}
	free(l->lanes);
	free(l->v);
	free(l->open.v);
	free(l->counted.v);
	free(l->lost_before);
	free(l->bare);
}

/* ---- looking ahead --------------------------------------------------------------------------- */

/* Of event blocks the payload is only the events header, whose checksum is not verified. */
static int take_ahead(struct stk_reader *r, const struct stk_block_header *h, uint64_t pos,
		      const struct bytes_buf *payload)
{
	int err;

	if (h->type == STK_BLOCK_EVENTS)
		return rd_losses__block(r, h, pos, bytes_cur(payload->p, payload->len));
	r->budget.bytes += sizeof(*h) + h->stored_len;
	/* a bad block is counted when the reader gets there */
	if (!rd_crc_matches(h->payload_crc, payload->p, payload->len) || h->raw_len > STK_MAX_RAW)
		return 0;
	if (!budget__work(&r->budget, h->raw_len))
		return -ENOBUFS;
	err = rd_unpack(r, h->codec, payload->p, payload->len, h->raw_len, &r->raw);
	return err ?: rd_losses__block(r, h, pos, bytes_cur(r->raw.p, r->raw.len));
}

static int peek_payload(struct stk_reader *r, const struct stk_block_header *h, uint64_t at,
			struct bytes_buf *payload)
{
	size_t n = h->stored_len;

	if (h->type == STK_BLOCK_EVENTS)
		n = MIN(n, sizeof(struct stk_events_header));
	payload->len = 0;
	if (!bytes_buf__room(payload, n))
		return -ENOMEM;
	payload->len = n;
	return input__peek(&r->in, at + sizeof(*h), payload->p, n);
}

/*
 * Reads all losses up to the end or an error, which the reader meets again later.  So it meets what
 * is appended to a recording that grows.
 */
static void look_ahead(struct stk_reader *r)
{
	struct bytes_buf payload = { 0 };
	struct stk_block_header h;
	uint64_t at = 0;

	if (r->losses.looked_ahead)
		return;
	r->losses.looked_ahead = true;
	while (!r->end && !r->losses.has_end && rd_peek_header(r, at, &h)) {
		r->losses.has_end = h.type == STK_BLOCK_END;
		if (rd_losses__wants(r, &h) && (peek_payload(r, &h, at, &payload) <= 0 ||
						take_ahead(r, &h, r->in.pos + at, &payload))) {
			r->losses.scanned = MIN(r->losses.scanned, r->in.pos + at);
			break;
		}
		at += sizeof(h) + h.stored_len;
	}
	bytes_buf__free(&payload);
}

/* ---- queries --------------------------------------------------------------------------------- */

static bool touches(const struct rd_loss *loss, const struct stk_span *s)
{
	return loss->first <= s->to &&
	       (!loss->type || !s->type || loss->type == s->type->index + 1) &&
	       (!loss->cpu || s->cpu == STK_ANY_CPU || loss->cpu == s->cpu + 1);
}

static bool any_touches(const struct rd_open_losses *open, const struct stk_span *s)
{
	for (size_t i = 0; i < open->nr; i++)
		if (touches(&open->v[i].loss, s))
			return true;
	return false;
}

static bool type_touches(const struct rd_losses *l, uint32_t type, const struct stk_span *s)
{
	uint32_t cpu = s->cpu < STK_MAX_CPUS ? s->cpu + 1 : ALL;

	return rd_lane__touches(l, type, cpu, s) || rd_lane__touches(l, type, ANY, s);
}

/*
 * A recording without END lacks the losses since the round before the last one; one without LOSSES
 * blocks lacks those since the last accounting, and a pipe may deliver further accountings.
 */
static bool is_truncated(const struct stk_reader *r, const struct stk_span *s)
{
	const struct rd_losses *l = &r->losses;

	if (l->has_end || r->totals.clean_end)
		return false;
	return (r->drain && s->to >= r->watermark) ||
	       (r->minor < STK_MINOR_LOSSES && s->to > l->accounted_end);
}

/* The time around `at` without any loss; cached, as it answers most of the next queries. */
static struct rd_gap quiet_around(const struct rd_losses *l, uint64_t at)
{
	const struct rd_lane *all = lane_find(l, ALL, ALL);
	struct rd_gap quiet = { 0, UINT64_MAX };
	size_t i = all ? lane_from(all, at) : 0;

	/* beyond RD_MAX_LANES losses are missing on some of their lanes */
	if (l->nr_lanes >= RD_MAX_LANES || (all && i < all->nr && all->v[i].first <= at))
		return (struct rd_gap){ .first = 1 };
	if (all && i < all->nr)
		quiet.last = all->v[i].first - 1;
	if (all && i)
		quiet.first = all->v[i - 1].last + 1;
	return quiet;
}

static bool is_quiet(struct rd_losses *l, const struct stk_span *s)
{
	if (s->from < l->quiet.first || s->from > l->quiet.last)
		l->quiet = quiet_around(l, s->from);
	return s->from >= l->quiet.first && s->to <= l->quiet.last;
}

static bool lost_within(struct rd_losses *l, const struct stk_span *s)
{
	if (is_quiet(l, s))
		return false;
	return type_touches(l, ANY, s) || type_touches(l, s->type ? s->type->index + 1 : ALL, s);
}

bool stk_reader__may_miss(struct stk_reader *r, const struct stk_span *s)
{
	struct rd_losses *l = &r->losses;

	if (r->many)
		return rd_many__may_miss(r, s);
	if (!l->looked_ahead)
		look_ahead(r);
	return l->failed || is_truncated(r, s) || lost_within(l, s) || any_touches(&l->open, s) ||
	       any_touches(&l->counted, s) ||
	       (l->bare && s->fields && rd_losses__bare_within(r, s));
}

/* Closes the losses that have no end within the recording. */
static void close_all(struct stk_reader *r)
{
	struct rd_losses *l = &r->losses;
	size_t i;

	l->failed |= close_counted(r, UINT64_MAX) != 0;
	for (i = 0; i < l->open.nr; i++) {
		l->open.v[i].loss.last = UINT64_MAX;
		l->failed |= add_loss(r, &l->open.v[i].loss) != 0;
	}
	l->open.nr = 0;
}

static int by_time(const void *a, const void *b)
{
	const struct rd_loss *x = a, *y = b;
	int order = CMP(x->first, y->first) ?: CMP(x->last, y->last);

	return order ?: CMP(x->cpu, y->cpu) ?: CMP(x->type, y->type);
}

int stk_reader__next_loss(struct stk_reader *r, uint64_t until, struct stk_loss *ret_loss)
{
	struct rd_losses *l = &r->losses;
	const struct rd_loss *loss;

	if (r->many)
		return rd_many__next_loss(r, until, ret_loss);
	if (l->looked_ahead && !r->end && l->delivered == l->nr)
		return 0;
	look_ahead(r);
	if (r->end)
		close_all(r);
	if (l->sorted < l->nr) {
		if (!budget__work(&r->budget, BUDGET_WORK_SORT * (l->nr - l->delivered)))
			return -ENOBUFS;
		qsort(l->v + l->delivered, l->nr - l->delivered, sizeof(*l->v), by_time);
	}
	l->sorted = l->nr;
	if (l->delivered == l->nr || l->v[l->delivered].first > until)
		return 0;
	loss = &l->v[l->delivered++];
	*ret_loss = (struct stk_loss){
		.type = loss->type && loss->type <= r->nr_types ? r->types[loss->type - 1] : NULL,
		.cpu = loss->cpu ? loss->cpu - 1 : STK_ANY_CPU,
		.first_ts = loss->first,
		.last_ts = loss->last,
		.count = loss->count,
	};
	return 1;
}
