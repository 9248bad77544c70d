// SPDX-License-Identifier: GPL-2.0-only
/* Finds out what the page uses, so that it has nothing else. */
#include <errno.h>
#include <stdlib.h>

#include "cleanup.h"
#include "data_priv.h"

/* ---- what was lost --------------------------------------------------------------------------- */

/* What the counters say of a recording, all of which is shown. */
static uint64_t counted_losses(const struct stk_reader *r, const struct stk_event_type *t)
{
	uint64_t sum = 0;

#define ADD_LOST(c, number, name, listed) sum += stk_reader__counter(r, t, STK_C_##c);
	STK_COUNTERS_LOST(ADD_LOST)
#undef ADD_LOST
	return sum;
}

int view_data__lost_by_type(const struct view_data *d, bool is_selection, uint64_t **ret_lost,
			    uint64_t *ret_total)
{
	uint32_t i, nr = stk_reader__nr_types(d->r);
	uint64_t *lost = calloc(nr + 1ul, sizeof(*lost)), sum = 0;

	if (!lost)
		return -ENOMEM;
	for (i = 0; i < nr && !is_selection; i++)
		lost[i] = counted_losses(d->r, stk_reader__type(d->r, i));
	for (i = 0; i < d->losses.nr && is_selection; i++) {
		const struct view_loss *l = &d->losses.v[i];

		/* of any type: beyond the last one */
		if (!l->skipped)
			lost[l->type ? l->type - 1 : nr] += l->count;
	}
	for (i = 0; i <= nr; i++)
		sum += lost[i];
	*ret_lost = lost;
	*ret_total = sum;
	return 0;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int allocate(struct view_numbers *n, uint32_t nr)
{
	n->nr = nr;
	n->of = calloc(nr + 1ul, sizeof(*n->of));
	n->used = calloc(nr + 1ul, sizeof(*n->used));
	return n->of && n->used ? 0 : -ENOMEM;
}

static void mark(struct view_tables *t, enum view_number_of what, uint32_t number)
{
	t->numbers[what].of[number] = 1;
}

static void number_marked(struct view_numbers *n)
{
	uint32_t i;

	for (i = 0; i < n->nr; i++) {
		if (!n->of[i])
			continue;
		n->used[n->nr_used++] = i;
		n->of[i] = n->nr_used;
	}
}

static void mark_stack(struct view_tables *t, uint32_t stack)
{
	if (stack)
		mark(t, OF_NODES, stack - 1);
}

static void mark_places(struct view_tables *t, const struct view_data *d)
{
	uint32_t i;

	for (i = 0; i < d->places.nr; i++) {
		const struct view_place *place = key_table__key(&d->places, i);

		mark(t, OF_TYPES, place->type);
		mark(t, OF_CPUS, place->cpu);
		mark(t, OF_TASKS, place->task);
		mark_stack(t, place->stack);
	}
}

static void mark_slowest(struct view_tables *t, const struct view_data *d)
{
	uint32_t i, j;

	for (i = 0; i < d->slowest.nr_kinds * VIEW_RANGES; i++) {
		for (j = 0; j < d->slowest.ranges[i].nr; j++) {
			const struct view_slow *slow = &d->slowest.ranges[i].v[j];

			mark(t, OF_CPUS, slow->cpu);
			mark(t, OF_TASKS, slow->task);
			mark_stack(t, slow->start_stack);
			mark_stack(t, slow->end_stack);
			mark(t, OF_STRINGS, slow->value);
		}
	}
}

static void mark_losses(struct view_tables *t, const struct view_data *d)
{
	uint32_t i;

	for (i = 0; i < d->losses.nr; i++) {
		if (d->losses.v[i].cpu)
			mark(t, OF_CPUS, d->losses.v[i].cpu - 1);
		if (d->losses.v[i].type)
			mark(t, OF_TYPES, d->losses.v[i].type - 1);
	}
	for (i = 0; i < t->numbers[OF_TYPES].nr; i++)
		if (t->lost[i])
			mark(t, OF_TYPES, i);
	for (i = 0; i < d->nr_kind_pairs; i++)
		if (d->kind_pairs[i])
			mark(t, OF_KINDS, i);
}

/* What is referred to: callers, frames and names. */
static void mark_names(struct view_tables *t, const struct view_data *d)
{
	uint32_t i;

	for (i = 0; i < d->tasks.nr; i++) {
		const struct view_task *task = key_table__key(&d->tasks, i);

		if (!t->numbers[OF_TASKS].of[i])
			continue;
		mark(t, OF_STRINGS, task->comm);
		mark(t, OF_HOSTS, task->host);
	}
	for (i = 0; i < d->cpus.nr; i++) {
		const struct view_cpu *cpu = key_table__key(&d->cpus, i);

		if (t->numbers[OF_CPUS].of[i])
			mark(t, OF_HOSTS, cpu->host);
	}
	for (i = d->calls.nodes.nr; i--;) {
		const struct view_node *node = view_calls__node(&d->calls, i);

		if (!t->numbers[OF_NODES].of[i])
			continue;
		mark_stack(t, node->parent);
		mark(t, OF_FRAMES, node->frame);
	}
	for (i = 0; i < d->calls.frames.nr; i++) {
		const struct view_frame *frame = view_calls__frame(&d->calls, i);

		if (!t->numbers[OF_FRAMES].of[i])
			continue;
		mark(t, OF_STRINGS, frame->name);
		mark(t, OF_STRINGS, frame->file);
	}
}

static int by_number(const void *a, const void *b, void *ctx)
{
	const struct view_cpu *x = key_table__key(ctx, *(const uint32_t *)a);
	const struct view_cpu *y = key_table__key(ctx, *(const uint32_t *)b);

	return CMP(x->host, y->host) ?: CMP(x->number, y->number);
}

/* CPUs appear in any order. */
static void sort_cpus(struct view_tables *t, const struct view_data *d)
{
	struct view_numbers *n = &t->numbers[OF_CPUS];
	uint32_t i;

	qsort_r(n->used, n->nr_used, sizeof(*n->used), by_number, (void *)&d->cpus);
	for (i = 0; i < n->nr_used; i++)
		n->of[n->used[i]] = i + 1;
}

int view_tables__number(struct view_tables *t, const struct view_data *d)
{
	const uint32_t sizes[NR_VIEW_NUMBERS] = {
		[OF_KINDS] = d->nr_kind_pairs,	[OF_TYPES] = stk_reader__nr_types(d->r),
		[OF_CPUS] = d->cpus.nr,		[OF_TASKS] = d->tasks.nr,
		[OF_NODES] = d->calls.nodes.nr, [OF_FRAMES] = d->calls.frames.nr,
		[OF_HOSTS] = d->hosts.nr,	[OF_STRINGS] = d->strings.nr,
	};
	unsigned int i;

	for (i = 0; i < NR_VIEW_NUMBERS; i++)
		if (allocate(&t->numbers[i], sizes[i]))
			return -ENOMEM;
	mark_places(t, d);
	mark_slowest(t, d);
	mark_losses(t, d);
	mark_names(t, d);
	for (i = 0; i < NR_VIEW_NUMBERS; i++)
		number_marked(&t->numbers[i]);
	sort_cpus(t, d);
	return 0;
}
