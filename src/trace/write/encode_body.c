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
	const struct batch *b;
	const struct stk_layout *l;
	const uint32_t *records; /* of its events: numbers in the batch */
	uint32_t nr;
	bool interned; /* equal records have one number */
	uint8_t coding[STK_MAX_COLUMNS + 1]; /* the last: the tail's */
	struct record_key key; /* the columns in the entries */
};

static const uint8_t *record_of(const struct part *p, uint32_t i, uint32_t *ret_len)
{
	const struct record *r = &p->b->records.v[p->records[i]];

	*ret_len = r->len;
	return p->b->records.bytes.p + r->off;
}

static const uint8_t *entry_of(struct encoder *enc, const struct part *p, uint32_t i,
			       uint32_t *ret_len)
{
	const struct record *r = &enc->entries.v[i];

	*ret_len = r->len;
	return p->b->records.bytes.p + r->off;
}

static uint8_t *tail_coding(struct part *p)
{
	return &p->coding[p->l->nr];
}

static int64_t intern(struct encoder *enc, const struct part *p, const struct record_key *key,
		      struct record r)
{
	const uint8_t *base = p->b->records.bytes.p;
	uint64_t hash;
	uint32_t i = record_set__find(&enc->entries, base, key, p->b->seed, base + r.off, r.len,
				      r.type, &hash);

	return i != INDEX_NONE ? i : record_set__add(&enc->entries, hash, r);
}

/* Interns the entry of event i: its length and everything that is not coded apart. */
static int64_t intern_entry(struct encoder *enc, struct part *p, uint32_t i)
{
	return intern(enc, p, &p->key, p->b->records.v[p->records[i]]);
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* Index in the part of the k-th of nr_sample events, which are spread evenly over it. */
static uint32_t sample_at(const struct part *p, uint32_t k, uint32_t nr_sample)
{
	return (uint64_t)k * p->nr / nr_sample;
}

/* Distinct records in the sample; they are interned, and nothing is coded apart. */
static uint32_t distinct_records(struct encoder *enc, const struct part *p, uint32_t nr_sample)
{
	uint32_t nr = 0;

	for (uint32_t k = 0; k < nr_sample; k++)
		nr += !enc->numbers[p->records[sample_at(p, k, nr_sample)]]++;
	for (uint32_t k = 0; k < nr_sample; k++)
		enc->numbers[p->records[sample_at(p, k, nr_sample)]] = 0;
	return nr;
}

static int64_t distinct_entries(struct encoder *enc, struct part *p, uint32_t nr_sample)
{
	int64_t err = 0;

	record_set__clear(&enc->entries);
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
	static const struct record_key whole = { .fixed = UINT32_MAX, .tail = true };
	int64_t err = 0;

	record_set__clear(&enc->entries);
	for (uint32_t k = 0; !err && k < nr_sample; k++) {
		struct record r = p->b->records.v[p->records[sample_at(p, k, nr_sample)]];
		uint32_t start = stk_layout__tail(p->l, r.len), size = r.len - start;

		if (column < p->l->nr && r.len < p->l->fixed)
			continue;
		if (column < p->l->nr) {
			start = p->l->col[column].offset;
			size = p->l->col[column].size;
		}
		r.off += start;
		r.len = size;
		err = intern(enc, p, &whole, r);
		err = err < 0 ? err : 0;
	}
	return err ?: enc->entries.nr;
}

static void set_key(struct part *p)
{
	record_key__set(&p->key, p->l, p->coding, STK_CODING_DICT);
}

/* Removes columns from the entries until there are at most half as many entries as events. */
static int choose_dict(struct encoder *enc, struct part *p)
{
	uint32_t m = p->nr < ENC_SAMPLE ? p->nr : ENC_SAMPLE, columns = p->l->nr + 1;
	uint16_t distinct[STK_MAX_COLUMNS + 1];
	int64_t n;

	memset(p->coding, STK_CODING_DICT, columns);
	set_key(p);
	if (p->nr <= 16)
		return 0;
	n = p->interned ? distinct_records(enc, p, m) : distinct_entries(enc, p, m);
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

		set_key(p);
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

/* The coding that compresses the values best. */
static int choose_coding(struct encoder *enc, const uint8_t *rows, uint32_t n, uint32_t size)
{
	int64_t best, len;
	int coding = STK_CODING_ROWS;

	if ((size != 2 && size != 4 && size != 8) || n < 64)
		return coding;
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

/* Puts the values of a column into enc->rows, at most max of them. */
static int gather_rows(struct encoder *enc, const struct part *p, const struct stk_column *col,
		       uint32_t max)
{
	size_t size = col->size;
	uint8_t *to, *end;

	enc->rows.len = 0;
	to = bytes_buf__room(&enc->rows, MIN(max, p->nr) * size);
	if (!to)
		return -ENOMEM;
	end = to + MIN(max, p->nr) * size;
	for (uint32_t i = 0; i < p->nr && to < end; i++) {
		uint32_t len;
		const uint8_t *rec = record_of(p, i, &len);

		if (len < p->l->fixed)
			continue;
		if (size == 8)
			memcpy(to, rec + col->offset, 8);
		else
			memcpy(to, rec + col->offset, size);
		to += size;
	}
	enc->rows.len = to - enc->rows.p;
	return 0;
}

/* Chooses a coding for every column that is not in the dictionary. */
static int choose_codings(struct encoder *enc, struct part *p)
{
	for (uint32_t c = 0; c < p->l->nr; c++) {
		uint32_t size = p->l->col[c].size;
		int coding;

		if (p->coding[c] == STK_CODING_DICT)
			continue;
		if (gather_rows(enc, p, &p->l->col[c], ENC_TRIAL))
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

	if (gather_rows(enc, p, &p->l->col[c], p->nr) ||
	    !(out = bytes_buf__room(raw, enc->rows.len)))
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
	uint32_t nr = enc->entries.nr, len;
	size_t start = raw->len;
	const uint8_t *rec;

	for (uint32_t i = 0; i < nr; i++)
		bytes_put_varint(raw, enc->entries.v[i].len);
	enc_section__cut(&enc->body, start);
	for (uint32_t c = 0; c < p->l->nr; c++) {
		if (p->coding[c] != STK_CODING_DICT)
			continue;
		start = raw->len;
		for (uint32_t i = 0; i < nr; i++) {
			rec = entry_of(enc, p, i, &len);
			if (len >= p->l->fixed)
				bytes_put(raw, rec + p->l->col[c].offset, p->l->col[c].size);
		}
		enc_section__cut(&enc->body, start);
	}
	if (*tail_coding(p) != STK_CODING_DICT)
		return;
	start = raw->len;
	for (uint32_t i = 0; i < nr; i++) {
		rec = entry_of(enc, p, i, &len);
		bytes_put(raw, rec + stk_layout__tail(p->l, len),
			  len - stk_layout__tail(p->l, len));
	}
	enc_section__cut(&enc->body, start);
}

static bool is_whole(const struct part *p)
{
	for (uint32_t c = 0; c <= p->l->nr; c++)
		if (p->coding[c] != STK_CODING_DICT)
			return false;
	return true;
}

/* Makes the entries of records that are interned: all that is left to do is to number them. */
static int number_records(struct encoder *enc, const struct part *p)
{
	int64_t nr = 0;

	for (uint32_t i = 0; i < p->nr && nr >= 0; i++) {
		uint32_t *number = &enc->numbers[p->records[i]];

		if (!*number) {
			nr = record_set__append(&enc->entries, p->b->records.v[p->records[i]]);
			*number = nr + 1;
		}
		enc->tokens[i] = *number - 1;
	}
	if (p->b->records.nr < p->nr)
		memset(enc->numbers, 0, p->b->records.nr * sizeof(*enc->numbers));
	else
		for (uint32_t i = 0; i < p->nr; i++)
			enc->numbers[p->records[i]] = 0;
	return nr < 0 ? nr : 0;
}

static int make_entries(struct encoder *enc, struct part *p)
{
	int64_t token = 0;

	record_set__clear(&enc->entries);
	if (p->interned && is_whole(p))
		return number_records(enc, p);
	for (uint32_t i = 0; i < p->nr && token >= 0; i++) {
		token = intern_entry(enc, p, i);
		enc->tokens[i] = token;
	}
	return token < 0 ? token : 0;
}

static void put_tails(struct encoder *enc, const struct part *p)
{
	size_t start = enc->body.raw.len;

	for (uint32_t i = 0; i < p->nr; i++) {
		uint32_t len;
		const uint8_t *rec = record_of(p, i, &len);

		bytes_put(&enc->body.raw, rec + stk_layout__tail(p->l, len),
			  len - stk_layout__tail(p->l, len));
	}
	enc_section__cut(&enc->body, start);
}

static int encode_part(struct encoder *enc, struct part *p)
{
	struct enc_section *s = &enc->body;
	unsigned int width;
	int err;

	err = choose_dict(enc, p);
	err = err ?: choose_codings(enc, p);
	err = err ?: make_entries(enc, p);
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
	if (*tail_coding(p) == STK_CODING_ROWS)
		put_tails(enc, p);
	return s->raw.failed ? -ENOMEM : err;
}

static int by_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return CMP(x, y);
}

static bool has_fields(const struct batch_tuple *t)
{
	return !(batch_tuple__value(t, BATCH_MARKS) & STK_MARK_NO_FIELDS);
}

/* Counts the events with fields of each type. */
static void count_types(struct encoder *enc, const struct batch *b)
{
	for (const struct batch_tuple *t = b->tuples; t < b->tuples + b->nr_tuples; t++) {
		uint32_t type = batch_tuple__value(t, BATCH_EVENT);

		if (!has_fields(t))
			continue;
		if (!enc->type_start[type])
			enc->touched[enc->nr_touched++] = type;
		enc->type_start[type] += t->nr;
	}
}

/*
 * Puts the records of the events with fields into enc->order, stably sorted by type; type_start
 * then holds the ends.
 */
static void sort_by_type(struct encoder *enc, const struct batch *b)
{
	uint32_t total = 0;

	enc->nr_touched = 0;
	count_types(enc, b);
	qsort(enc->touched, enc->nr_touched, sizeof(*enc->touched), by_index);
	for (uint32_t t = 0; t < enc->nr_touched; t++) {
		uint32_t n = enc->type_start[enc->touched[t]];

		enc->type_start[enc->touched[t]] = total;
		total += n;
	}
	for (uint32_t i = 0; i < b->nr; i++) {
		const struct batch_tuple *t = &b->tuples[b->events[i].tuple];

		if (has_fields(t))
			enc->order[enc->type_start[batch_tuple__value(t, BATCH_EVENT)]++] =
				b->events[i].record;
	}
}

int encoder__body(struct encoder *enc, const struct enc_batch *b)
{
	struct part p = { .b = b->events };
	uint32_t start = 0;
	int err = 0;

	sort_by_type(enc, b->events);
	for (uint32_t t = 0; t < enc->nr_touched; t++) {
		uint32_t event = enc->touched[t];

		p.l = b->types[event].layout;
		p.records = enc->order + start;
		p.nr = enc->type_start[event] - start;
		p.interned = !b->events->raw[event];
		start = enc->type_start[event];
		enc->type_start[event] = 0;
		if (err)
			continue;
		err = encode_part(enc, &p);
		b->events->raw[event] = !is_whole(&p);
	}
	return err;
}
