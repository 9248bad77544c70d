// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Generated code that was replaced while it was recorded: the same frame is one of another function
 * after some time.  A stack with such frames is another stack for each set of functions that it
 * passed; events get the one of their time.
 */
#include "reader.h"

#include "array.h"
#include "cleanup.h"
#include "frame.h"

static int by_place(const void *a, const void *b)
{
	const struct rd_replaced *x = a, *y = b;
	int place = CMP(x->file, y->file) ?: CMP(x->offset, y->offset);

	return place ?: CMP(x->ts, y->ts) ?: CMP(x->by, y->by);
}

int rd_take_replaced(struct stk_reader *r, struct bytes_cur *c)
{
	struct rd_replaced one = { 0 };

	while (bytes_left(c)) {
		one.file += bytes_get_svarint(c);
		one.offset += bytes_get_svarint(c);
		one.ts += bytes_get_svarint(c);
		one.by = bytes_get_max(c, STK_MAX_FILES);
		if (c->bad)
			break;
		if (rd_reserve(&r->budget, &r->replaced, &r->cap_replaced, r->nr_replaced,
			       sizeof(*r->replaced)))
			return -ENOMEM;
		r->replaced[r->nr_replaced++] = one;
	}
	r->replaced_unsorted = true;
	return 0;
}

void rd_replaced__free(struct stk_reader *r)
{
	free(r->replaced);
	free(r->variants);
}

/* The frame at a time, and the time in which that holds. */
static uint64_t frame_at(const struct stk_reader *r, uint64_t frame, bool exact, uint64_t ts,
			 struct rd_variant *v)
{
	uint64_t file = FRAME_FILE(frame), at = FRAME_OFFSET(frame) - !exact;
	const struct rd_replaced *p = r->replaced;
	size_t i = array__bisect(r->nr_replaced, k,
				 p[k].file < file || (p[k].file == file && p[k].offset < at));

	for (; i < r->nr_replaced && p[i].file == file && p[i].offset == at; i++) {
		if (p[i].ts > ts) {
			v->to = MIN(v->to, p[i].ts);
			break;
		}
		v->from = MAX(v->from, p[i].ts);
		frame = FRAME_USER(p[i].by, FRAME_OFFSET(frame));
	}
	return frame;
}

/* Sets v to the stack that number is at the time. */
static int find_variant(struct stk_reader *r, uint32_t number, uint64_t ts, struct rd_variant *v)
{
	uint64_t frames[2 * STK_MAX_DEPTH];
	struct rd_stack s = r->stacks[number];
	bool exact = false, changed = false;
	unsigned int n = 0;
	int64_t node = 0;
	int err;

	*v = (struct rd_variant){ .to = UINT64_MAX, .number = number };
	for (uint32_t at = s.node; at && n < ARRAY_SIZE(frames); at = r->tree.nodes[at].parent) {
		uint64_t frame = r->tree.nodes[at].frame;

		frames[n] = frame;
		if (FRAME_IS_USER(frame))
			frames[n] = frame_at(r, frame, exact, ts, v);
		changed |= frames[n++] != frame;
		exact = FRAME_IS_MARKER(frame) &&
			(exact || FRAME_MARKER_KIND(frame) == FRAME_EXACT);
	}
	if (!budget__work(&r->budget, n))
		return -ENOBUFS;
	if (!changed) {
		r->stacks[number].is_seen = true;
		r->stacks[number].alias_of = r->info[s.node].first_stack;
		return 0;
	}
	while (n && node >= 0)
		node = rd_intern_node(r, (uint32_t)node, frames[--n]);
	if (node <= 0)
		return node < 0 ? (int)node : -EBADMSG;
	s.node = node;
	s.id = r->nr_stacks;
	v->number = r->info[node].first_stack;
	err = v->number ? 0 : rd_add_stack(r, s, &v->number);
	/* the functions of the stored stack were never seen together: it stands for these */
	if (!err && !r->stacks[number].is_seen && r->stacks[number].alias_of == number)
		r->stacks[number].alias_of = v->number;
	return err;
}

uint32_t rd_replaced__stack(struct stk_reader *r, uint32_t number, uint64_t ts)
{
	struct rd_variant *v;
	int err;

	if (r->replaced_unsorted) {
		if (!budget__work(&r->budget, BUDGET_WORK_SORT * r->nr_replaced))
			return number;
		qsort(r->replaced, r->nr_replaced, sizeof(*r->replaced), by_place);
		r->replaced_unsorted = false;
	}
	while (r->cap_variants <= number) {
		size_t was = r->cap_variants;

		err = rd_reserve(&r->budget, &r->variants, &r->cap_variants, was,
				 sizeof(*r->variants));
		if (err) {
			r->failed = err;
			return number;
		}
		memset(r->variants + was, 0, (r->cap_variants - was) * sizeof(*r->variants));
	}
	v = &r->variants[number];
	/* mostly the stack is one without such frames, whose variant holds for ever */
	if (ts < v->from || ts >= v->to) {
		err = find_variant(r, number, ts, v);
		if (err)
			*v = (struct rd_variant){ .to = UINT64_MAX, .number = number };
		if (err == -ENOMEM)
			r->failed = err;
	}
	return v->number;
}
