// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The body of an event block: the records, type by type.
 *
 * Most fields of most events take few values (names, pids, priorities, states), and fewer
 * combinations than there are events: such columns form the entries of a small table, and an event
 * is a token.  Columns that would blow up the table (pointers, counters, sizes) are coded apart.  A
 * sample of each block decides which is which, so nothing here needs to know the event types.
 */
#include "encode_priv.h"

#include "cleanup.h"

/* One event type's part of a batch. */
struct part {
	const struct enc_batch *b;
	const struct stk_layout *l;
	const uint32_t *order; /* its events */
	uint32_t nr;
	uint8_t coding[STK_MAX_COLUMNS + 1]; /* the last: the tail's */
	struct stk_column runs[STK_MAX_COLUMNS]; /* adjacent DICT columns, merged */
	uint32_t nr_runs;
};

static const uint8_t *record_of(const struct part *p, uint32_t i, uint32_t *ret_len)
{
	const struct enc_event *e = &p->b->events[p->order[i]];

	*ret_len = e->rec_len;
	return p->b->records + e->rec_off;
}

static uint8_t *tail_coding(struct part *p)
{
	return &p->coding[p->l->nr];
}

static void set_runs(struct part *p)
{
	p->nr_runs = 0;
	for (uint32_t c = 0; c < p->l->nr; c++) {
		struct stk_column *last = p->nr_runs ? &p->runs[p->nr_runs - 1] : NULL;

		if (p->coding[c] != STK_CODING_DICT)
			continue;
		if (last && last->offset + last->size == p->l->col[c].offset)
			last->size += p->l->col[c].size;
		else
			p->runs[p->nr_runs++] = p->l->col[c];
	}
}

/* Interns the entry of event i: its length and everything that is not coded apart. */
static int64_t intern_entry(struct encoder *enc, struct part *p, uint32_t i)
{
	struct bytes_buf *keys = &enc->entries.keys;
	size_t off = keys->len;
	uint32_t len;
	const uint8_t *rec = record_of(p, i, &len);

	bytes_put(keys, &len, sizeof(len));
	if (len >= p->l->fixed)
		for (uint32_t r = 0; r < p->nr_runs; r++)
			bytes_put(keys, rec + p->runs[r].offset, p->runs[r].size);
	if (*tail_coding(p) == STK_CODING_DICT) {
		uint32_t start = stk_layout__tail(p->l, len);

		bytes_put(keys, rec + start, len - start);
	}
	return dict__intern(&enc->entries, off);
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* Index in the part of the k-th of nr_sample events, which are spread evenly over it. */
static uint32_t sample_at(const struct part *p, uint32_t k, uint32_t nr_sample)
{
	return (uint64_t)k * p->nr / nr_sample;
}

static int64_t distinct_entries(struct encoder *enc, struct part *p, uint32_t nr_sample)
{
	int64_t err = dict__reset(&enc->entries, nr_sample);

	for (uint32_t k = 0; !err && k < nr_sample; k++) {
		err = intern_entry(enc, p, sample_at(p, k, nr_sample));
		err = err < 0 ? err : 0;
	}
	return err ?: enc->entries.nr;
}

/* Distinct values of one column (or the tail) in the sample. */
static int64_t distinct_values(struct encoder *enc, struct part *p, uint32_t column,
			       uint32_t nr_sample)
{
	int64_t err = dict__reset(&enc->entries, nr_sample);

	for (uint32_t k = 0; !err && k < nr_sample; k++) {
		size_t off = enc->entries.keys.len;
		uint32_t len, start, size;
		const uint8_t *rec = record_of(p, sample_at(p, k, nr_sample), &len);

		start = column < p->l->nr ? p->l->col[column].offset : stk_layout__tail(p->l, len);
		size = column < p->l->nr ? p->l->col[column].size : len - start;
		if (column < p->l->nr && len < p->l->fixed)
			continue;
		bytes_put(&enc->entries.keys, rec + start, size);
		err = dict__intern(&enc->entries, off);
		err = err < 0 ? err : 0;
	}
	return err ?: enc->entries.nr;
}

/* Removes columns from the entries until there are at most half as many entries as events. */
static int choose_dict(struct encoder *enc, struct part *p)
{
	uint32_t m = p->nr < ENC_SAMPLE ? p->nr : ENC_SAMPLE, columns = p->l->nr + 1;
	uint16_t distinct[STK_MAX_COLUMNS + 1];
	int64_t n;

	memset(p->coding, STK_CODING_DICT, columns);
	set_runs(p);
	if (p->nr <= 16)
		return 0;
	n = distinct_entries(enc, p, m);
	if (n <= m / 2)
		return n < 0 ? n : 0;
	for (uint32_t c = 0; c < columns; c++) {
		n = distinct_values(enc, p, c, m);
		if (n < 0)
			return n;
		distinct[c] = n;
		if (n > m / 2)
			p->coding[c] = STK_CODING_ROWS;
	}
	for (;;) {
		uint32_t worst = columns;

		set_runs(p);
		n = distinct_entries(enc, p, m);
		if (n <= m / 2)
			return n < 0 ? n : 0;
		for (uint32_t c = 0; c < columns; c++)
			if (p->coding[c] == STK_CODING_DICT && distinct[c] > 1 &&
			    (worst == columns || distinct[c] > distinct[worst]))
				worst = c;
		if (worst == columns)
			return 0; /* even the lengths alone differ that much */
		p->coding[worst] = STK_CODING_ROWS;
	}
}

/* ---- columns coded apart --------------------------------------------------------------------- */

static uint64_t load_le(const uint8_t *p, uint32_t size)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	return v;
}

/* Converts rows of n values to a plane table of the values or of their zigzag differences. */
static void to_planes(const uint8_t *rows, uint32_t n, uint32_t size, bool delta, uint8_t *planes)
{
	uint64_t prev = 0;
	int shift = 64 - 8 * size;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = load_le(rows + (size_t)i * size, size), x = v;

		if (delta) {
			/* sign-extend the difference from the column's width */
			x = bytes_zigzag((int64_t)((v - prev) << shift) >> shift);
			prev = v;
		}
		for (uint32_t k = 0; k < size; k++)
			planes[(size_t)k * n + i] = x >> (8 * k);
	}
}

/* The coding that compresses the first values best. */
static int choose_coding(struct encoder *enc, const uint8_t *rows, uint32_t n, uint32_t size)
{
	int64_t best, len;
	int coding = STK_CODING_ROWS;

	if ((size != 2 && size != 4 && size != 8) || n < 64)
		return coding;
	n = n < 1024 ? n : 1024;
	best = encoder__trial(enc, rows, (size_t)n * size);
	enc->planes.len = 0;
	if (best < 0 || !bytes_buf__room(&enc->planes, (size_t)n * size))
		return best < 0 ? best : -ENOMEM;
	for (int c = STK_CODING_PLANES; c <= STK_CODING_DELTA; c++) {
		to_planes(rows, n, size, c == STK_CODING_DELTA, enc->planes.p);
		len = encoder__trial(enc, enc->planes.p, (size_t)n * size);
		if (len < 0)
			return len;
		if (len < best) {
			best = len;
			coding = c;
		}
	}
	return coding;
}

static void gather_rows(struct encoder *enc, const struct part *p, const struct stk_column *col)
{
	enc->rows.len = 0;
	for (uint32_t i = 0; i < p->nr; i++) {
		uint32_t len;
		const uint8_t *rec = record_of(p, i, &len);

		if (len >= p->l->fixed)
			bytes_put(&enc->rows, rec + col->offset, col->size);
	}
}

/* Chooses a coding for every column that is not in the dictionary. */
static int choose_codings(struct encoder *enc, struct part *p)
{
	for (uint32_t c = 0; c < p->l->nr; c++) {
		uint32_t size = p->l->col[c].size;
		int coding;

		if (p->coding[c] == STK_CODING_DICT)
			continue;
		gather_rows(enc, p, &p->l->col[c]);
		if (enc->rows.failed)
			return -ENOMEM;
		coding = choose_coding(enc, enc->rows.p, enc->rows.len / size, size);
		if (coding < 0)
			return coding;
		p->coding[c] = coding;
	}
	return 0;
}

static int put_column(struct encoder *enc, const struct part *p, uint32_t c)
{
	struct bytes_buf *raw = &enc->body.raw;
	uint32_t size = p->l->col[c].size, n;
	size_t start = raw->len;
	uint8_t *out;

	gather_rows(enc, p, &p->l->col[c]);
	if (enc->rows.failed || !(out = bytes_buf__room(raw, enc->rows.len)))
		return -ENOMEM;
	n = enc->rows.len / size;
	if (p->coding[c] == STK_CODING_ROWS) {
		bytes_put(raw, enc->rows.p, enc->rows.len);
		enc_section__cut(&enc->body, start);
		return 0;
	}
	to_planes(enc->rows.p, n, size, p->coding[c] == STK_CODING_DELTA, out);
	for (uint32_t k = 0; k < size; k++) {
		raw->len += n;
		enc_section__cut(&enc->body, raw->len - n);
	}
	return 0;
}

/* ---- a type's part of the body --------------------------------------------------------------- */

static void put_entries(struct encoder *enc, struct part *p)
{
	struct bytes_buf *raw = &enc->body.raw;
	struct dict *d = &enc->entries;
	size_t start = raw->len, run_off = sizeof(uint32_t);
	uint32_t len;

	for (uint32_t i = 0; i < d->nr; i++) {
		memcpy(&len, dict__key(d, i), sizeof(len));
		bytes_put_varint(raw, len);
	}
	enc_section__cut(&enc->body, start);
	/* runs are stored column by column: the columns of a run are adjacent in the key */
	for (uint32_t c = 0; c < p->l->nr; c++) {
		uint32_t size = p->l->col[c].size;

		if (p->coding[c] != STK_CODING_DICT)
			continue;
		start = raw->len;
		for (uint32_t i = 0; i < d->nr; i++) {
			memcpy(&len, dict__key(d, i), sizeof(len));
			if (len >= p->l->fixed)
				bytes_put(raw, dict__key(d, i) + run_off, size);
		}
		run_off += size;
		enc_section__cut(&enc->body, start);
	}
	if (*tail_coding(p) != STK_CODING_DICT)
		return;
	start = raw->len;
	for (uint32_t i = 0; i < d->nr; i++) {
		uint32_t tail;

		memcpy(&len, dict__key(d, i), sizeof(len));
		tail = len - stk_layout__tail(p->l, len);
		bytes_put(raw, dict__key(d, i) + d->entries[i].len - tail, tail);
	}
	enc_section__cut(&enc->body, start);
}

static int encode_part(struct encoder *enc, struct part *p)
{
	struct enc_section *s = &enc->body;
	unsigned int width;
	size_t start;
	int err;

	err = choose_dict(enc, p);
	err = err ?: choose_codings(enc, p);
	err = err ?: dict__reset(&enc->entries, p->nr);
	for (uint32_t i = 0; !err && i < p->nr; i++) {
		int64_t token = intern_entry(enc, p, i);

		enc->tokens[i] = token;
		err = token < 0 ? token : 0;
	}
	if (err)
		return err;

	width = enc_width(enc->entries.nr - 1);
	bytes_put_varint(&s->raw, enc->entries.nr);
	bytes_put_u8(&s->raw, width);
	bytes_put(&s->raw, p->coding, p->l->nr + 1);
	put_entries(enc, p);
	enc_put_planes32(s, enc->tokens, p->nr, width);
	for (uint32_t c = 0; !err && c < p->l->nr; c++)
		if (p->coding[c] != STK_CODING_DICT)
			err = put_column(enc, p, c);
	if (*tail_coding(p) == STK_CODING_ROWS) {
		start = s->raw.len;
		for (uint32_t i = 0; i < p->nr; i++) {
			uint32_t len;
			const uint8_t *rec = record_of(p, i, &len);

			bytes_put(&s->raw, rec + stk_layout__tail(p->l, len),
				  len - stk_layout__tail(p->l, len));
		}
		enc_section__cut(s, start);
	}
	return s->raw.failed ? -ENOMEM : err;
}

static int by_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return CMP(x, y);
}

/*
 * Puts the events with fields into enc->order, stably sorted by type; type_start then holds the
 * ends.
 */
static void sort_by_type(struct encoder *enc, const struct enc_batch *b)
{
	uint32_t total = 0;

	enc->nr_touched = 0;
	for (uint32_t i = 0; i < b->nr; i++) {
		const struct enc_event *e = &b->events[i];

		if (e->marks & STK_MARK_NO_FIELDS)
			continue;
		if (!enc->type_start[e->event]++)
			enc->touched[enc->nr_touched++] = e->event;
	}
	qsort(enc->touched, enc->nr_touched, sizeof(*enc->touched), by_index);
	for (uint32_t t = 0; t < enc->nr_touched; t++) {
		uint32_t n = enc->type_start[enc->touched[t]];

		enc->type_start[enc->touched[t]] = total;
		total += n;
	}
	for (uint32_t i = 0; i < b->nr; i++)
		if (!(b->events[i].marks & STK_MARK_NO_FIELDS))
			enc->order[enc->type_start[b->events[i].event]++] = i;
}

int encoder__body(struct encoder *enc, const struct enc_batch *b)
{
	struct part p;
	uint32_t start = 0;
	int err = 0;

	sort_by_type(enc, b);
	for (uint32_t t = 0; t < enc->nr_touched; t++) {
		uint32_t event = enc->touched[t];

		p.b = b;
		p.l = b->layouts[event];
		p.order = enc->order + start;
		p.nr = enc->type_start[event] - start;
		start = enc->type_start[event];
		enc->type_start[event] = 0;
		if (!err)
			err = encode_part(enc, &p);
	}
	return err;
}
