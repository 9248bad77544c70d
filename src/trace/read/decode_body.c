// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Decodes the records of one event type in a block, and puts together one event's record. */
#include "reader.h"

#include "cleanup.h"

/* Reads the lengths of the entries and allocates their records, zeroed. */
static int get_lengths(struct arena *mem, struct rd_part *p, struct bytes_cur *c,
		       uint32_t *ret_full_entries)
{
	const struct stk_layout *l = p->type->layout;
	struct rd_entry *e = arena__alloc(mem, p->nr_entries * sizeof(*e));
	uint64_t total = 0;
	uint32_t full = 0;

	if (!e)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nr_entries; i++) {
		e[i].off = total;
		e[i].len = bytes_get_max(c, STK_MAX_RECORD);
		if (e[i].len < STK_RECORD_HEAD)
			return -EBADMSG;
		full += e[i].len >= l->fixed;
		total += (e[i].len + 7) & ~7u;
		if (total > STK_MAX_RAW)
			return -EBADMSG;
	}
	p->entries = e;
	p->records = arena__zalloc(mem, total);
	*ret_full_entries = full;
	return p->records ? 0 : -ENOMEM;
}

static int get_entries(struct rd_part *p, struct bytes_cur *c, const uint8_t *coding,
		       uint32_t full_entries)
{
	const struct stk_layout *l = p->type->layout;

	for (uint32_t col = 0; col < l->nr; col++) {
		uint32_t size = l->col[col].size;
		const uint8_t *v;

		if (coding[col] != STK_CODING_DICT)
			continue;
		v = bytes_get(c, (uint64_t)size * full_entries);
		if (!v)
			return -EBADMSG;
		for (uint32_t i = 0; i < p->nr_entries; i++) {
			if (p->entries[i].len < l->fixed)
				continue;
			memcpy(p->records + p->entries[i].off + l->col[col].offset, v, size);
			v += size;
		}
	}
	if (coding[l->nr] != STK_CODING_DICT)
		return 0;
	for (uint32_t i = 0; i < p->nr_entries; i++) {
		uint32_t start = stk_layout__tail(l, p->entries[i].len),
			 n = p->entries[i].len - start;
		const uint8_t *v = bytes_get(c, n);

		if (!v)
			return -EBADMSG;
		memcpy(p->records + p->entries[i].off + start, v, n);
	}
	return 0;
}

/* Maps events to rows of the columns coded apart: only full entries have a row. */
static int number_rows(struct arena *mem, struct rd_part *p, uint32_t full_entries,
		       uint32_t *ret_rows)
{
	uint32_t fixed = p->type->layout->fixed, rows = 0, *full;

	if (full_entries == p->nr_entries) {
		*ret_rows = p->nr;
		return 0;
	}
	full = arena__alloc(mem, p->nr * sizeof(*full));
	if (!full)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nr; i++) {
		full[i] = rows;
		rows += p->entries[p->tokens ? p->tokens[i] : 0].len >= fixed;
	}
	p->full = full;
	*ret_rows = rows;
	return 0;
}

static void from_planes(const uint8_t *planes, uint32_t n, uint32_t size, bool delta, uint8_t *rows)
{
	uint64_t prev = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = 0;

		for (uint32_t k = 0; k < size; k++)
			v |= (uint64_t)planes[(size_t)k * n + i] << (8 * k);
		if (delta)
			v = prev += bytes_unzigzag(v);
		memcpy(rows + (size_t)i * size, &v, size);
	}
}

static int get_wide(struct arena *mem, struct rd_part *p, struct bytes_cur *c,
		    const uint8_t *coding, uint32_t nr_rows)
{
	const struct stk_layout *l = p->type->layout;

	p->wide = arena__alloc(mem, (l->nr + 1) * sizeof(*p->wide));
	if (!p->wide)
		return -ENOMEM;
	for (uint32_t col = 0; col < l->nr; col++) {
		uint32_t size = l->col[col].size;
		const uint8_t *v;
		uint8_t *rows;

		if (coding[col] == STK_CODING_DICT)
			continue;
		if (coding[col] != STK_CODING_ROWS && size != 2 && size != 4 && size != 8)
			return -EBADMSG;
		v = bytes_get(c, (uint64_t)size * nr_rows);
		if (!v)
			return -EBADMSG;
		rows = arena__alloc(mem, (size_t)size * nr_rows);
		if (!rows)
			return -ENOMEM;
		if (coding[col] == STK_CODING_ROWS)
			memcpy(rows, v, (size_t)size * nr_rows);
		else
			from_planes(v, nr_rows, size, coding[col] == STK_CODING_DELTA, rows);
		p->wide[p->nr_wide++] = (struct rd_wide){ .offset = l->col[col].offset,
							  .size = size,
							  .rows = rows };
	}
	return 0;
}

static int get_tails(struct arena *mem, struct rd_part *p, struct bytes_cur *c)
{
	const struct stk_layout *l = p->type->layout;
	uint32_t *off = arena__alloc(mem, p->nr * sizeof(*off));
	uint64_t total = 0;
	const uint8_t *v;
	uint8_t *tails;

	if (!off)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nr; i++) {
		uint32_t len = p->entries[p->tokens ? p->tokens[i] : 0].len;

		off[i] = total;
		total += len - stk_layout__tail(l, len);
		if (total > STK_MAX_RAW)
			return -EBADMSG;
	}
	v = bytes_get(c, total);
	if (!v)
		return -EBADMSG;
	tails = arena__alloc(mem, total);
	if (!tails)
		return -ENOMEM;
	memcpy(tails, v, total);
	p->tail_off = off;
	p->tails = tails;
	return 0;
}

int rd_decode_part(struct arena *mem, struct rd_part *p, struct bytes_cur *c)
{
	const struct stk_layout *l = p->type->layout;
	uint32_t full_entries, nr_rows, *tokens;
	const uint8_t *coding;
	unsigned int width;
	int err;

	p->nr_entries = bytes_get_max(c, p->nr);
	width = bytes_get_u8(c);
	coding = bytes_get(c, l->nr + 1);
	if (!coding || !p->nr_entries || p->nr_entries > bytes_left(c))
		return -EBADMSG;
	for (uint32_t i = 0; i <= l->nr; i++)
		if (coding[i] > (i < l->nr ? STK_CODING_DELTA : STK_CODING_ROWS))
			return -EBADMSG;
	err = get_lengths(mem, p, c, &full_entries);
	if (!err)
		err = get_entries(p, c, coding, full_entries);
	if (err)
		return err;
	if (width) {
		tokens = arena__alloc(mem, p->nr * sizeof(*tokens));
		if (!tokens)
			return -ENOMEM;
		if (!rd_get_tokens(c, width, p->nr, p->nr_entries, tokens))
			return -EBADMSG;
		p->tokens = tokens;
	}
	err = number_rows(mem, p, full_entries, &nr_rows);
	if (!err)
		err = get_wide(mem, p, c, coding, nr_rows);
	if (!err && coding[l->nr] == STK_CODING_ROWS)
		err = get_tails(mem, p, c);
	return err;
}

/* ---- one record ------------------------------------------------------------------------------ */

static void put_common(const struct stk_event *e, uint8_t *rec)
{
	const struct rd_tuple *t = e->tuple;
	uint16_t id = t->type->shown->layout->id;
	uint32_t tid = e->r->tasks[t->task].tid;

	memcpy(rec, &id, sizeof(id));
	rec[2] = t->flags;
	rec[3] = t->preempt_count;
	memcpy(rec + 4, &tid, sizeof(tid));
}

/* Most columns are numbers, for which a call of memcpy() costs more than the copy. */
static inline void copy_number(void *to, const void *from, size_t size)
{
	if (size == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t));
	else if (size == sizeof(uint32_t))
		memcpy(to, from, sizeof(uint32_t));
	else
		memcpy(to, from, size);
}

/*
 * Built in place, in the record of the event's entry: an earlier event of the same entry used the
 * same bytes, and its record is no longer valid.
 */
static const void *build(const struct stk_event *e, size_t *ret_len)
{
	const struct rd_part *p = e->tuple->part;
	const struct rd_entry *entry;
	uint8_t *rec;

	if (!p) {
		if (!(e->r->opts.want & STK_WANT_FIELDS)) {
			*ret_len = 0;
			return NULL;
		}
		put_common(e, e->r->bare_record);
		*ret_len = STK_RECORD_HEAD;
		return e->r->bare_record;
	}
	entry = &p->entries[p->tokens ? p->tokens[e->ordinal] : 0];
	rec = p->records + entry->off;
	put_common(e, rec);
	if (p->nr_wide && entry->len >= p->type->layout->fixed) {
		size_t row = p->full ? p->full[e->ordinal] : e->ordinal;

		for (uint32_t i = 0; i < p->nr_wide; i++) {
			const struct rd_wide *w = &p->wide[i];

			copy_number(rec + w->offset, w->rows + row * w->size, w->size);
		}
	}
	if (p->tail_off) {
		uint32_t start = stk_layout__tail(p->type->layout, entry->len);

		memcpy(rec + start, p->tails + p->tail_off[e->ordinal], entry->len - start);
	}
	*ret_len = entry->len;
	return rec;
}

/* Those who want several fields ask once for each. */
const void *stk_event__record(const struct stk_event *e, size_t *ret_len)
{
	struct stk_reader *r = e->r;

	if (e != &r->event)
		return build(e, ret_len);
	if (!r->record)
		r->record = build(e, &r->record_len);
	*ret_len = r->record_len;
	return r->record;
}
