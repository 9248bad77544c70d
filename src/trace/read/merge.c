// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Events of all CPUs in time order, in bounded memory.
 *
 * Event blocks wait in a heap, keyed by the time of their next event, and stay packed until that
 * time is reached.  The marker of round r+1 says that nothing older than the end of round r
 * follows: events up to there may be delivered.
 */
#include "many.h"

#include "cleanup.h"

static bool before(const struct rd_block *a, const struct rd_block *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->cpu != b->cpu ? a->cpu < b->cpu : a->seq < b->seq;
}

static void block_free(struct rd_block *b)
{
	free(b->stored);
	arena__free(&b->mem);
	free(b);
}

static size_t stored_len(const struct rd_block *b)
{
	return (size_t)b->h.heads_stored + b->h.body_stored;
}

static void sift_up(struct stk_reader *r, size_t i)
{
	struct rd_block *b = r->heap[i];

	for (; i && before(b, r->heap[(i - 1) / 2]); i = (i - 1) / 2)
		r->heap[i] = r->heap[(i - 1) / 2];
	r->heap[i] = b;
}

static void sift_down(struct stk_reader *r, size_t i)
{
	struct rd_block *b = r->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= r->nr_heap)
			break;
		if (child + 1 < r->nr_heap && before(r->heap[child + 1], r->heap[child]))
			child++;
		if (!before(r->heap[child], b))
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = b;
}

static void pop(struct stk_reader *r)
{
	struct rd_block *b = r->heap[0];

	if (b->stored)
		r->pending -= stored_len(b);
	r->heap[0] = r->heap[--r->nr_heap];
	if (r->nr_heap)
		sift_down(r, 0);
	block_free(b);
}

int rd_merge__add(struct stk_reader *r, uint32_t cpu, const uint8_t *payload, size_t len)
{
	struct stk_events_header h;
	struct rd_block *b;
	size_t keep;
	int err;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, payload, sizeof(h));
	if (!h.count || h.count > STK_MAX_BLOCK_EVENTS || h.min_ts > h.max_ts ||
	    (uint64_t)h.heads_stored + h.body_stored != len - sizeof(h))
		return -EBADMSG;
	if (!(r->opts.want & STK_WANT_FIELDS)) {
		h.body_stored = 0;
		h.body_raw = 0;
	}
	keep = (size_t)h.heads_stored + h.body_stored;
	if (r->pending + keep > RD_MAX_PENDING)
		return -EBADMSG;
	err = rd_reserve(&r->budget, &r->heap, &r->cap_heap, r->nr_heap, sizeof(*r->heap));
	if (err)
		return err;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->stored = malloc(keep + 1);
	if (!b->stored) {
		free(b);
		return -ENOMEM;
	}
	memcpy(b->stored, payload + sizeof(h), keep);
	b->h = h;
	b->cpu = cpu;
	b->key = h.min_ts;
	b->seq = r->block_seq;
	b->late_before = r->watermark;
	r->pending += keep;
	r->limit = 0;
	r->heap[r->nr_heap++] = b;
	sift_up(r, r->nr_heap - 1);
	return 0;
}

void rd_merge__round(struct stk_reader *r, uint64_t end_ts)
{
	if (r->any_round && r->round_end > r->watermark)
		r->watermark = r->round_end;
	r->any_round = true;
	if (end_ts > r->round_end)
		r->round_end = end_ts;
	r->limit = 0;
}

/* Upper bound up to which the first block can be consumed without looking at the others. */
static uint64_t top_limit(const struct stk_reader *r)
{
	uint64_t limit = r->drain ? UINT64_MAX : r->watermark;

	for (size_t i = 1; i < 3 && i < r->nr_heap; i++)
		limit = MIN(limit, r->heap[i]->key);
	return limit;
}

/* Step over what was delivered last. */
static void advance(struct stk_reader *r)
{
	struct rd_block *b = r->heap[0];

	r->emitted = false;
	if (++b->pos == b->nr) {
		pop(r);
		r->limit = 0;
		return;
	}
	if (b->counts)
		return;
	b->key = b->events[b->pos].ts;
	if (b->key >= r->limit) {
		sift_down(r, 0);
		r->limit = 0;
	}
}

static __attribute__((noinline, cold)) void note_bare(struct stk_reader *r,
						      const struct stk_event *e, uint64_t last)
{
	if (e->tuple->marks & STK_MARK_NO_FIELDS)
		rd_losses__bare(r, e->tuple->type->index, e->block->cpu, stk_event__tid(e), e->ts,
				last);
}

static void fill_event(struct stk_reader *r, const struct rd_block *b)
{
	const struct rd_event *e = &b->events[b->pos];
	struct stk_event *out = &r->event;

	out->block = b;
	out->tuple = &b->tuples[e->tuple];
	out->ts = e->ts;
	out->ordinal = e->ordinal;
	out->late = e->ts < b->late_before;
	r->record = NULL;
	r->event_count = 1;
	r->totals.late += out->late;
	if (b->bare)
		note_bare(r, out, e->ts);
	r->emitted = true;
}

static void fill_counted(struct stk_reader *r, const struct rd_block *b)
{
	struct stk_event *out = &r->event;

	*out = (struct stk_event){
		.r = r, .block = b, .tuple = &b->tuples[b->pos], .ts = b->h.min_ts
	};
	r->record = NULL;
	r->event_count = b->counts[b->pos];
	if (b->bare)
		note_bare(r, out, b->h.max_ts);
	r->emitted = true;
}

/*
 * Whether the events of the block are alike if their tuples are.  The time decides which of them
 * are selected, which are late, and which user stack those in replaced code have; from a pipe or a
 * growing file the reader learns of replaced code only later.
 */
static bool is_countable(const struct stk_reader *r, const struct rd_block *b)
{
	bool all_read = (r->in.fd < 0 || r->in.seekable) && !r->opts.follow;

	return r->counts && b->h.min_ts >= b->late_before && !r->nr_replaced &&
	       (!r->has_jit || all_read) &&
	       (!r->selects ||
		(rd_select__has_time(r, b->h.min_ts) && rd_select__has_time(r, b->h.max_ts)));
}

/* Decodes the top block. */
static int decode(struct stk_reader *r, struct rd_block *b)
{
	int err;

	r->pending -= stored_len(b);
	err = is_countable(r, b) ? rd_decode_counts(r, b) : rd_decode(r, b);
	freep(&b->stored);
	b->stored = NULL;
	if (err && r->budget.exhausted)
		return -ENOBUFS;
	if (err) {
		r->totals.bad_blocks++;
		rd_log(r, STK_LOG_WARN, "decode events of cpu %u: %s", b->cpu, strerror(-err));
		rd_losses__unread(r, b->cpu, &b->h);
		b->nr = 0;
	}
	return 0;
}

/* What was decoded may begin later than the block, or be nothing, as not all may be selected. */
static void start(struct stk_reader *r, struct rd_block *b)
{
	r->limit = 0;
	if (!b->nr) {
		pop(r);
	} else if (b->events) {
		b->key = b->events[0].ts;
		sift_down(r, 0);
	}
}

int rd_merge__next(struct stk_reader *r)
{
	int err;

	if (r->emitted)
		advance(r);
	while (r->nr_heap) {
		struct rd_block *b = r->heap[0];

		if (b->events && b->key < r->limit) {
			fill_event(r, b);
			return 1;
		}
		if (b->counts) {
			fill_counted(r, b);
			return 1;
		}
		if (!r->drain && b->key >= r->watermark)
			return 0;
		if (b->stored) {
			err = decode(r, b);
			if (err) {
				rd_merge__free(r);
				return err;
			}
			start(r, b);
			continue;
		}
		r->limit = top_limit(r);
		fill_event(r, b);
		return 1;
	}
	return 0;
}

void rd_merge__free(struct stk_reader *r)
{
	r->emitted = false;
	for (size_t i = 0; i < r->nr_heap; i++)
		block_free(r->heap[i]);
	free(r->heap);
	r->heap = NULL;
	r->nr_heap = r->cap_heap = 0;
}

/* ---- the delivered event --------------------------------------------------------------------- */

uint64_t stk_event__ts(const struct stk_event *e)
{
	return e->ts;
}

unsigned int stk_event__cpu(const struct stk_event *e)
{
	return e->block->cpu;
}

uint32_t stk_event__tid(const struct stk_event *e)
{
	return e->r->tasks[e->tuple->task].tid;
}

uint32_t stk_event__pid(const struct stk_event *e)
{
	return e->r->tasks[e->tuple->task].tgid;
}

const char *stk_event__comm(const struct stk_event *e)
{
	return e->r->tasks[e->tuple->task].comm;
}

const struct stk_event_type *stk_event__type(const struct stk_event *e)
{
	return e->tuple->type->shown;
}

uint32_t stk_event__kstack(const struct stk_event *e)
{
	return e->r->member ? rd_many__stack(e->r->member, e->tuple->kstack) : e->tuple->kstack;
}

uint32_t stk_event__ustack(const struct stk_event *e)
{
	uint32_t number = e->tuple->ustack;

	if (number && e->r->nr_replaced)
		number = rd_replaced__stack(e->r, number, e->ts - e->r->shift);
	return e->r->member ? rd_many__stack(e->r->member, number) : number;
}

unsigned int stk_event__marks(const struct stk_event *e)
{
	return e->tuple->marks | (e->late ? STK_MARK_LATE : 0);
}

unsigned int stk_event__flags(const struct stk_event *e)
{
	return e->tuple->flags;
}

unsigned int stk_event__preempt_count(const struct stk_event *e)
{
	return e->tuple->preempt_count;
}

uint64_t stk_event__block(const struct stk_event *e)
{
	return e->block->seq;
}

uint32_t stk_event__row(const struct stk_event *e)
{
	return e->ordinal + (e->tuple->part ? e->tuple->part->first : 0);
}
