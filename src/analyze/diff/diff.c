// SPDX-License-Identifier: GPL-2.0-only
/* Merges the counts of both recordings into rows, measures and judges them. */
#include "diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/charge.h"
#include "array.h"
#include "cleanup.h"
#include "strbuf.h"
#include "string_table.h"

/* Work of some ns, for the budget. */
#define STEPS_PER_ROW 16
#define STEPS_TO_MEASURE (4 * SERIES_BINS)
#define BYTES_TO_JUDGE (2 * sizeof(double)) /* of a row, find_significant() */

struct row_key {
	uint32_t type; /* number in names */
	uint32_t what; /* of a stack or of a function, + 1 */
};

struct row_value {
	struct series series[2];
	struct diff_row row;
	uint64_t seen; /* the last stack that was added */
};

struct type {
	bool is_in[2]; /* both: else its events were not recorded in one of the recordings */
	struct series events[2];
};

struct diff {
	struct diff_opts opts;
	struct side *side[2];
	struct same_code *code;
	struct string_table names; /* of types, "system:name" */
	struct type *types; /* by number in names */
	uint32_t *type_numbers[2]; /* by index of the type in the recording */
	struct key_table table; /* struct row_key to struct row_value */
	struct diff_row *rows;
	uint32_t nr_rows, nr_significant;
	uint64_t nr_added; /* stacks */
	uint64_t series_bytes;
	/* Each recording pays for its own stacks, and for the rows that these are the first of. */
	struct charge charge[2];
	uint64_t steps[2];
	bool judged;
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* Numbers the types of a recording by their names; cap: of d->types. */
static int add_types(struct diff *d, unsigned int side, uint32_t *cap)
{
	struct stk_reader *r = d->side[side]->reader;
	unsigned int nr = stk_reader__nr_types(r), i;
	int err = 0;

	d->type_numbers[side] = calloc(nr + !nr, sizeof(*d->type_numbers[side]));
	if (!d->type_numbers[side])
		return -ENOMEM;
	for (i = 0; i < nr && !err; i++) {
		const struct stk_event_type *t = stk_reader__type(r, i);
		_cleanup_(strbuf__free) struct strbuf name = { 0 };
		uint32_t number;

		strbuf__printf(&name, "%s:%s", stk_event_type__system(t), stk_event_type__name(t));
		if (strbuf__failed(&name) || string_table__intern(&d->names, name.s, &number) ||
		    array__reach(&d->types, number, cap))
			return -ENOMEM;
		d->type_numbers[side][i] = number;
		d->types[number].is_in[side] = true;
		if (i < d->side[side]->nr_types)
			err = series__merge(&d->types[number].events[side],
					    &d->side[side]->types[i]);
	}
	return err;
}

/* A stack of one recording that is being added. */
struct added {
	unsigned int side;
	struct side_stack key;
	uint32_t type;
	const struct series *series;
};

static int add_to_row(struct diff *d, const struct added *a, uint32_t what,
		      const struct stk_frame *frame)
{
	struct row_key key = { .type = a->type, .what = what };
	struct row_value *v;
	uint32_t number;
	uint64_t was;
	int err;

	err = key_table__at(&d->table, &key, &number);
	if (err < 0)
		return err;
	v = key_table__value(&d->table, number);
	/* A function that calls itself is in the stack more than once. */
	if (v->seen == d->nr_added)
		return 0;
	v->seen = d->nr_added;
	d->steps[a->side] += err ? STEPS_TO_MEASURE : 0;
	if (err || a->side != v->row.side) {
		v->row.type = stk_reader__type(d->side[a->side]->reader, a->key.type);
		v->row.side = a->side;
		v->row.kstack = a->key.kstack;
		v->row.ustack = a->key.ustack;
		v->row.no_frame = !frame;
		if (frame)
			v->row.frame = *frame;
	}
	was = series__memory(&v->series[a->side]);
	err = series__merge(&v->series[a->side], a->series);
	d->steps[a->side] += STEPS_PER_ROW + v->series[a->side].nr;
	d->series_bytes += series__memory(&v->series[a->side]) - was;
	return err;
}

static unsigned int frames_of(struct stk_reader *r, uint32_t number, struct stk_frame *ret_frames)
{
	int n = number ? stk_reader__frames(r, number, ret_frames, STK_MAX_DEPTH) : 0;

	return MAX(MIN(n, STK_MAX_DEPTH), 0);
}

/* The frames of both stacks, innermost first. */
static unsigned int all_frames(const struct diff *d, unsigned int side,
			       const struct side_stack *stack,
			       struct stk_frame ret_frames[2 * STK_MAX_DEPTH])
{
	struct stk_reader *r = d->side[side]->reader;
	unsigned int nr = frames_of(r, stack->kstack, ret_frames);

	return nr + frames_of(r, stack->ustack, ret_frames + nr);
}

static int add_paths(struct diff *d, const struct added *a, const struct stk_frame *frames,
		     unsigned int nr)
{
	int err = add_to_row(d, a, 0, NULL);
	uint32_t path = 0;
	unsigned int i;

	for (i = nr; i && !err; i--) {
		err = same_code__path(d->code, a->side, path, &frames[i - 1], &path);
		if (!err)
			err = add_to_row(d, a, path, &frames[i - 1]);
	}
	return err;
}

static int add_stack(struct diff *d, const struct added *a)
{
	struct stk_frame frames[2 * STK_MAX_DEPTH];
	unsigned int nr = all_frames(d, a->side, &a->key, frames), i;
	uint32_t what;
	int err = 0;

	d->nr_added++;
	if (d->opts.by == DIFF_BY_PATH)
		return add_paths(d, a, frames, nr);
	if (d->opts.by == DIFF_BY_STACK) {
		err = same_code__stack(d->code, a->side, frames, nr, &what);
		return err ?: add_to_row(d, a, what, NULL);
	}
	if (!nr)
		return add_to_row(d, a, 0, NULL);
	for (i = 0; i < nr && !err && !(i && d->opts.by == DIFF_BY_SELF); i++) {
		err = same_code__function(d->code, a->side, &frames[i], &what);
		if (!err)
			err = add_to_row(d, a, what + 1, &frames[i]);
	}
	return err;
}

static uint64_t memory(const struct diff *d)
{
	return key_table__memory(&d->table) + string_table__memory(&d->names) + d->series_bytes +
	       (uint64_t)d->table.nr * (sizeof(*d->rows) + BYTES_TO_JUDGE);
}

/* was: the memory before, of which the other recording may have paid a part. */
static int charge_side(struct diff *d, unsigned int side, uint64_t was)
{
	struct charge *c = &d->charge[side];

	return charge(c, d->side[side]->reader, c->memory + memory(d) - was, d->steps[side]);
}

static int add_side(struct diff *d, unsigned int side)
{
	struct side *s = d->side[side];
	uint64_t was;
	uint32_t i;
	int err = 0;

	for (i = 0; i < s->stacks.nr && !err; i++) {
		struct added a = { .side = side, .series = key_table__value(&s->stacks, i) };

		memcpy(&a.key, key_table__key(&s->stacks, i), sizeof(a.key));
		a.type = d->type_numbers[side][a.key.type];
		if (!d->types[a.type].is_in[!side])
			continue;
		was = memory(d);
		err = add_stack(d, &a) ?: charge_side(d, side, was);
	}
	return err;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* What the events of a type are divided by, by bin. */
static void divisor_bins(const struct diff *d, unsigned int side, uint32_t type, double *ret_bins)
{
	switch (d->opts.per) {
	case DIFF_PER_EVENT:
		series__expand(&d->types[type].events[side], ret_bins);
		break;
	case DIFF_PER_OTHER:
		series__expand(&d->side[side]->by, ret_bins);
		break;
	default:
		side__bin_seconds(d->side[side], ret_bins);
	}
}

static void measure(struct diff *d, uint32_t type, struct row_value *v)
{
	double x[SERIES_BINS], y[SERIES_BINS];
	unsigned int i, k;

	for (i = 0; i < 2; i++) {
		struct ratio *r = &v->row.ratio[i];

		series__expand(&v->series[i], x);
		divisor_bins(d, i, type, y);
		*r = (struct ratio){ 0 };
		if (d->judged)
			ratio__measure(x, y, side__nr_bins(d->side[i]), r);
		for (k = 0; k < SERIES_BINS && !d->judged; k++) {
			r->sum += x[k];
			r->by += y[k];
		}
	}
	ratio__judge(&v->row.ratio[0], &v->row.ratio[1],
		     d->opts.per == DIFF_PER_EVENT ? RATIO_SHARE : RATIO_RATE, &v->row.verdict);
	v->row.rare = ratio__is_rare(&v->row.ratio[0], &v->row.ratio[1], DIFF_LEVEL);
	v->row.q = 1;
}

/* Rare rows cannot be findings, and would make it harder for others. */
static int find_significant(struct diff *d)
{
	_cleanup_free_ double *p = calloc(d->nr_rows + 1, sizeof(*p));
	_cleanup_free_ double *q = calloc(d->nr_rows + 1, sizeof(*q));
	uint32_t nr = 0, i;

	if (!p || !q)
		return -ENOMEM;
	for (i = 0; i < d->nr_rows; i++)
		if (!d->rows[i].rare)
			p[nr++] = d->rows[i].verdict.p;
	if (false_discovery(p, nr, q))
		return -ENOMEM;
	for (i = nr = 0; i < d->nr_rows; i++) {
		if (d->rows[i].rare)
			continue;
		d->rows[i].q = q[nr++];
		d->rows[i].significant = d->rows[i].q <= DIFF_LEVEL;
		d->nr_significant += d->rows[i].significant;
	}
	return 0;
}

static int by_change(const void *pa, const void *pb)
{
	const struct diff_row *a = pa, *b = pb;
	double x = fabs(a->verdict.change), y = fabs(b->verdict.change);
	double all_a = a->ratio[0].sum + a->ratio[1].sum, all_b = b->ratio[0].sum + b->ratio[1].sum;

	return CMP(y, x) ?: CMP(all_b, all_a);
}

static int finish(struct diff *d)
{
	uint32_t i;
	int err;

	d->judged = side__nr_bins(d->side[0]) >= JUDGE_MIN_BINS &&
		    side__nr_bins(d->side[1]) >= JUDGE_MIN_BINS;
	d->rows = calloc(d->table.nr + 1, sizeof(*d->rows));
	if (!d->rows)
		return -ENOMEM;
	for (i = 0; i < d->table.nr; i++) {
		struct row_value *v = key_table__value(&d->table, i);
		const struct row_key *key = key_table__key(&d->table, i);

		measure(d, key->type, v);
		d->rows[d->nr_rows++] = v->row;
	}
	err = d->judged ? find_significant(d) : 0;
	/* By path, a row is found by its number in the table. */
	if (d->opts.by != DIFF_BY_PATH)
		qsort(d->rows, d->nr_rows, sizeof(*d->rows), by_change);
	return err;
}

int diff__new(struct side *a, struct side *b, const struct diff_opts *opts, struct diff **ret_diff)
{
	_cleanup_(diff__freep) struct diff *d = calloc(1, sizeof(*d));
	uint32_t cap = 0;
	int err;

	if (!d)
		return -ENOMEM;
	d->opts = *opts;
	d->side[0] = a;
	d->side[1] = b;
	key_table__init(&d->table, sizeof(struct row_key), sizeof(struct row_value));
	err = same_code__new(a->reader, b->reader, &d->code);
	if (!err)
		err = add_types(d, 0, &cap) ?: add_types(d, 1, &cap);
	if (!err)
		err = add_side(d, 0) ?: add_side(d, 1);
	if (!err)
		err = finish(d);
	if (!err)
		*ret_diff = take_ptr(d);
	return err;
}

void diff__free(struct diff *d)
{
	uint32_t i;

	if (!d)
		return;
	for (i = 0; i < d->table.nr; i++) {
		struct row_value *v = key_table__value(&d->table, i);

		series__clear(&v->series[0]);
		series__clear(&v->series[1]);
	}
	key_table__clear(&d->table);
	for (i = 0; i < d->names.nr; i++) {
		series__clear(&d->types[i].events[0]);
		series__clear(&d->types[i].events[1]);
	}
	free(d->types);
	free(d->type_numbers[0]);
	free(d->type_numbers[1]);
	string_table__clear(&d->names);
	same_code__free(d->code);
	free(d->rows);
	free(d);
}

const struct diff_row *diff__rows(const struct diff *d, uint32_t *ret_nr)
{
	*ret_nr = d->nr_rows;
	return d->rows;
}

/* NULL: the type of the row is not compared. */
static const struct diff_row *row_at(struct diff *d, uint32_t type, uint32_t what)
{
	struct row_key key = { .type = type, .what = what };
	void *value = key_table__find(&d->table, &key);

	return value ? &d->rows[key_table__number(&d->table, value)] : NULL;
}

int diff__path_rows(struct diff *d, const struct side_stack *stack,
		    const struct diff_row *ret_rows[DIFF_MAX_PATHS])
{
	struct stk_frame frames[2 * STK_MAX_DEPTH];
	unsigned int nr = all_frames(d, 1, stack, frames), i;
	uint32_t type = d->type_numbers[1][stack->type], path = 0;
	int err = 0;

	ret_rows[0] = row_at(d, type, 0);
	for (i = 0; i < nr && ret_rows[0] && !err; i++) {
		err = same_code__path(d->code, 1, path, &frames[nr - 1 - i], &path);
		if (!err)
			ret_rows[i + 1] = row_at(d, type, path);
	}
	return err ?: ret_rows[0] ? (int)nr + 1 : 0;
}

bool diff__is_judged(const struct diff *d)
{
	return d->judged;
}

uint32_t diff__nr_significant(const struct diff *d)
{
	return d->nr_significant;
}

unsigned int diff__nr_types(const struct diff *d)
{
	unsigned int nr = 0;
	uint32_t i;

	for (i = 0; i < d->names.nr; i++)
		nr += d->types[i].is_in[0] && d->types[i].is_in[1] &&
		      (d->types[i].events[0].nr || d->types[i].events[1].nr);
	return nr;
}

const char *diff__one_sided(const struct diff *d, uint32_t *at, unsigned int *ret_side)
{
	while (*at < d->names.nr) {
		const struct type *t = &d->types[(*at)++];

		*ret_side = t->is_in[1];
		if ((t->is_in[0] && t->is_in[1]) || !t->events[*ret_side].nr)
			continue;
		return string_table__get(&d->names, *at - 1);
	}
	return NULL;
}

const struct same_code *diff__code(const struct diff *d)
{
	return d->code;
}
