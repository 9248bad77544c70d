// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Decodes an EVENTS block: heads, order, records. */
#include "reader.h"

#include "cleanup.h"

#define TIMES_AT_ONCE 512u
#define SORT_EASY_MOVES 8 /* moves per event; beyond, insertion sort is too slow */

bool rd_get_tokens(struct bytes_cur *c, unsigned int width, uint32_t n, uint32_t bound,
		   uint32_t *out)
{
	const uint8_t *p = width <= 4 ? bytes_get(c, (uint64_t)width * n) : NULL;
	uint32_t max = 0;

	if (!p) {
		c->bad = true;
		return false;
	}
	if (width == 1) {
		for (uint32_t i = 0; i < n; i++) {
			out[i] = p[i];
			max = out[i] > max ? out[i] : max;
		}
	} else {
		memset(out, 0, n * sizeof(*out));
		for (unsigned int k = 0; k < width; k++)
			for (uint32_t i = 0; i < n; i++)
				out[i] |= (uint32_t)p[(size_t)k * n + i] << (8 * k);
		for (uint32_t i = 0; i < n; i++)
			max = out[i] > max ? out[i] : max;
	}
	c->bad = max >= bound;
	return !c->bad;
}

/* ---- heads ----------------------------------------------------------------------------------- */

static uint32_t own_number(const uint32_t *map, size_t nr, uint64_t file_number)
{
	return file_number < nr ? map[file_number] : 0;
}

static int get_tuples(struct stk_reader *r, struct rd_block *b, struct bytes_cur *c)
{
	struct rd_tuple *t;
	uint32_t n = bytes_get_max(c, b->h.count), marks = 0;

	if (c->bad || !n || n > bytes_left(c) / 7)
		return -EBADMSG;
	t = arena__zalloc(&b->mem, n * sizeof(*t));
	if (!t)
		return -ENOMEM;
	b->tuples = t;
	b->nr_tuples = n;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t event = bytes_get_varint(c);

		if (event >= r->nr_types)
			return -EBADMSG;
		t[i].type = r->types[event];
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t task = bytes_get_varint(c);

		t[i].task = task < r->nr_tasks ? task : 0;
	}
	for (uint32_t i = 0; i < n; i++)
		t[i].kstack = own_number(r->stack_map, r->nr_stack_map, bytes_get_varint(c));
	for (uint32_t i = 0; i < n; i++)
		t[i].ustack = own_number(r->stack_map, r->nr_stack_map, bytes_get_varint(c));
	for (uint32_t i = 0; i < n; i++)
		t[i].flags = bytes_get_max(c, UINT8_MAX);
	for (uint32_t i = 0; i < n; i++)
		t[i].preempt_count = bytes_get_max(c, UINT8_MAX);
	for (uint32_t i = 0; i < n; i++) {
		t[i].marks = bytes_get_max(c, UINT16_MAX);
		marks |= t[i].marks;
	}
	b->bare = marks & STK_MARK_NO_FIELDS;
	return c->bad ? -EBADMSG : 0;
}

/* Differences [at, at + n) of a plane table of `all`. */
static void get_deltas(const uint8_t *p, unsigned int width, uint32_t all, uint32_t at, uint32_t n,
		       uint64_t *out)
{
	memset(out, 0, n * sizeof(*out));
	for (unsigned int k = 0; k < width; k++) {
		const uint8_t *plane = p + (size_t)k * all + at;

		for (uint32_t i = 0; i < n; i++)
			out[i] |= (uint64_t)plane[i] << (8 * k);
	}
}

/* Stores the times in the events, if there are any, and compares them with the block's header. */
static int get_times(struct rd_block *b, struct bytes_cur *c, unsigned int width)
{
	uint32_t n = b->h.count, part;
	const uint8_t *p = width <= 8 ? bytes_get(c, (uint64_t)width * n) : NULL;
	uint64_t ts = b->h.first_ts, min = UINT64_MAX, max = 0, deltas[TIMES_AT_ONCE];

	if (!p)
		return -EBADMSG;
	for (uint32_t at = 0; at < n; at += part) {
		part = MIN(n - at, TIMES_AT_ONCE);
		get_deltas(p, width, n, at, part, deltas);
		for (uint32_t i = 0; i < part; i++) {
			ts += bytes_unzigzag(deltas[i]);
			if (b->events)
				b->events[at + i].ts = ts;
			min = ts < min ? ts : min;
			max = ts > max ? ts : max;
		}
	}
	return min == b->h.min_ts && max == b->h.max_ts ? 0 : -EBADMSG;
}

/* After the tuples; uses: events by tuple. */
static int get_order(struct rd_block *b, struct bytes_cur *c, uint32_t *ret_uses)
{
	unsigned int token_width = bytes_get_u8(c), ts_width = bytes_get_u8(c);
	uint32_t n = b->h.count;
	_cleanup_free_ uint32_t *tokens = malloc(n * sizeof(*tokens));
	int err;

	if (!tokens)
		return -ENOMEM;
	if (!rd_get_tokens(c, token_width, n, b->nr_tuples, tokens))
		return -EBADMSG;
	memset(ret_uses, 0, b->nr_tuples * sizeof(*ret_uses));
	for (uint32_t i = 0; i < n; i++)
		ret_uses[tokens[i]]++;
	for (uint32_t i = 0; b->events && i < n; i++)
		b->events[i].tuple = tokens[i];
	err = get_times(b, c, ts_width);
	return err ?: bytes_left(c) ? -EBADMSG : 0;
}

/* ---- body ------------------------------------------------------------------------------------ */

static int by_index(const void *a, const void *b)
{
	const struct stk_event_type *x = *(const struct stk_event_type *const *)a;
	const struct stk_event_type *y = *(const struct stk_event_type *const *)b;

	return CMP(x->index, y->index);
}

static bool has_fields(const struct rd_tuple *t)
{
	return !(t->marks & STK_MARK_NO_FIELDS);
}

/* One part per event type that has records in this block, in the order of their indexes. */
static int make_parts(struct rd_block *b, const uint32_t *uses, struct rd_part **ret_parts,
		      uint32_t *ret_nr)
{
	_cleanup_free_ const struct stk_event_type **types = malloc(b->nr_tuples * sizeof(*types));
	struct rd_part *parts;
	uint32_t n = 0, nr = 0;

	if (!types)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nr_tuples; i++)
		if (uses[i] && has_fields(&b->tuples[i]))
			types[n++] = b->tuples[i].type;
	qsort(types, n, sizeof(*types), by_index);
	for (uint32_t i = 0; i < n; i++)
		if (!i || types[i] != types[nr - 1])
			types[nr++] = types[i];
	parts = arena__zalloc(&b->mem, (nr + 1) * sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		parts[i].type = types[i];
	for (uint32_t i = 0; i < b->nr_tuples; i++) {
		struct rd_tuple *t = &b->tuples[i];
		const struct stk_event_type **found;

		if (!uses[i] || !has_fields(t))
			continue;
		found = bsearch(&t->type, types, nr, sizeof(*types), by_index);
		t->part = &parts[found - types];
		t->part->nr += uses[i];
	}
	*ret_parts = parts;
	*ret_nr = nr;
	return 0;
}

static int decode_body(struct stk_reader *r, struct rd_block *b, const uint32_t *uses)
{
	struct bytes_cur c = bytes_cur(r->body.p, r->body.len);
	struct rd_part *parts;
	uint32_t nr, bare = 0;
	int err = make_parts(b, uses, &parts, &nr);

	if (err)
		return err;
	for (uint32_t i = 0; i < nr; i++) {
		parts[i].first = bare;
		bare += parts[i].nr;
	}
	for (uint32_t i = 0; i < b->h.count; i++) {
		struct rd_part *p = b->tuples[b->events[i].tuple].part;

		b->events[i].ordinal = p ? p->seen++ : bare++;
	}
	for (uint32_t i = 0; i < nr; i++) {
		err = rd_decode_part(&b->mem, &parts[i], &c);
		if (err)
			return err;
	}
	return c.bad || bytes_left(&c) ? -EBADMSG : 0;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Merge sort, bottom up. */
static int sort_any(struct rd_event *e, uint32_t n, struct arena *mem)
{
	struct rd_event *from = e, *to = arena__alloc(mem, n * sizeof(*to));

	if (!to)
		return -ENOMEM;
	for (uint64_t w = 1; w < n; w *= 2) {
		struct rd_event *swap = from;

		for (uint64_t lo = 0; lo < n; lo += 2 * w) {
			uint64_t mid = MIN(lo + w, n), hi = MIN(lo + 2 * w, n), i = lo, j = mid;

			for (uint64_t k = lo; k < hi; k++)
				to[k] = j >= hi || (i < mid && from[i].ts <= from[j].ts) ?
						from[i++] :
						from[j++];
		}
		from = to;
		to = swap;
	}
	if (from != e)
		memcpy(e, from, n * sizeof(*e));
	return 0;
}

/*
 * An interrupt that nests in the recording of an event leaves its events before that event: sort.
 */
static int sort_events(struct rd_block *b)
{
	struct rd_event *e = b->events;
	uint64_t moves = 0, max_moves = (uint64_t)SORT_EASY_MOVES * b->nr;

	for (uint32_t i = 1; i < b->nr; i++) {
		struct rd_event x = e[i];
		uint32_t j = i;

		if (x.ts >= e[i - 1].ts)
			continue;
		for (; j && x.ts < e[j - 1].ts; j--)
			e[j] = e[j - 1];
		e[j] = x;
		moves += i - j;
		if (moves > max_moves)
			return sort_any(e, b->nr, &b->mem);
	}
	return 0;
}

/* ---- selection ------------------------------------------------------------------------------- */

/* Events without fields count as missing even if they are not selected. */
static void note_bare(struct stk_reader *r, const struct rd_block *b, const struct rd_tuple *t,
		      uint64_t first, uint64_t last)
{
	if (t->marks & STK_MARK_NO_FIELDS)
		rd_losses__bare(r, t->type->index, b->cpu, r->tasks[t->task].tid, first, last);
}

/* Drops the events that are not selected. */
static void drop_events(struct stk_reader *r, struct rd_block *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->nr; i++) {
		const struct rd_event *e = &b->events[i];
		const struct rd_tuple *t = &b->tuples[e->tuple];

		if (!t->unwanted && rd_select__has_time(r, e->ts))
			b->events[kept++] = *e;
		else
			note_bare(r, b, t, e->ts, e->ts);
	}
	r->totals.events += b->nr - kept;
	b->nr = kept;
}

/* Drops the tuples that are not selected, and those without events. */
static void drop_tuples(struct stk_reader *r, struct rd_block *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->nr_tuples; i++) {
		if (!b->counts[i])
			continue;
		if (b->tuples[i].unwanted) {
			r->totals.events += b->counts[i];
			note_bare(r, b, &b->tuples[i], b->h.min_ts, b->h.max_ts);
			continue;
		}
		b->tuples[kept] = b->tuples[i];
		b->counts[kept++] = b->counts[i];
	}
	b->nr = kept;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static int unpack_heads(struct stk_reader *r, struct rd_block *b)
{
	const struct stk_events_header *h = &b->h;

	b->mem.budget = &r->budget;
	if (h->heads_raw > STK_MAX_RAW || h->body_raw > STK_MAX_RAW)
		return -EBADMSG;
	if (!budget__work(&r->budget,
			  BUDGET_WORK_EVENT * (uint64_t)h->count +
				  ((uint64_t)h->heads_raw + h->body_raw) / BUDGET_WORK_BYTES))
		return -ENOBUFS;
	return rd_unpack(r, h->heads_codec, b->stored, h->heads_stored, h->heads_raw, &r->heads);
}

static int get_fields(struct stk_reader *r, struct rd_block *b, const uint32_t *uses)
{
	const struct stk_events_header *h = &b->h;
	int err = rd_unpack(r, h->body_codec, b->stored + h->heads_stored, h->body_stored,
			    h->body_raw, &r->body);

	return err ?: decode_body(r, b, uses);
}

static int get_events(struct stk_reader *r, struct rd_block *b, struct bytes_cur *c)
{
	_cleanup_free_ uint32_t *uses = malloc(b->nr_tuples * sizeof(*uses));
	int err;

	b->events = arena__alloc(&b->mem, b->h.count * sizeof(*b->events));
	if (!uses || !b->events)
		return -ENOMEM;
	err = get_order(b, c, uses);
	if (!err && (r->opts.want & STK_WANT_FIELDS))
		err = get_fields(r, b, uses);
	if (err)
		return err;
	b->nr = b->h.count;
	if (r->selects)
		drop_events(r, b);
	return sort_events(b);
}

/* The tuples; *ret_c is at what follows them. */
static int read_tuples(struct stk_reader *r, struct rd_block *b, struct bytes_cur *ret_c)
{
	int err = unpack_heads(r, b);

	if (err)
		return err;
	*ret_c = bytes_cur(r->heads.p, r->heads.len);
	return get_tuples(r, b, ret_c);
}

int rd_decode(struct stk_reader *r, struct rd_block *b)
{
	struct bytes_cur c;
	int err = read_tuples(r, b, &c);

	if (err)
		return err;
	if (rd_select__tuples(r, b) || b->bare)
		return get_events(r, b, &c);
	r->totals.events += b->h.count;
	return 0;
}

int rd_decode_counts(struct stk_reader *r, struct rd_block *b)
{
	struct bytes_cur c;
	int err = read_tuples(r, b, &c);

	if (err)
		return err;
	b->counts = arena__alloc(&b->mem, b->nr_tuples * sizeof(*b->counts));
	if (!b->counts)
		return -ENOMEM;
	err = get_order(b, &c, b->counts);
	if (err)
		return err;
	rd_select__tuples(r, b);
	drop_tuples(r, b);
	return 0;
}
