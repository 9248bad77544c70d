// SPDX-License-Identifier: GPL-2.0-only
/* Reads the losses that the BPF programs noted, by CPU and event type. */
#include "pending_losses.h"

#include <errno.h>
#include <stdlib.h>

#include "cleanup.h"
#include "trace/write/writer.h"
#include "wire.h"

struct pending_losses {
	struct event_counts *counts;
	uint32_t *loss_pending;
	unsigned int nr_events, nr_cpus;
	uint64_t start;
	/* indexed like counts */
	struct taken {
		uint64_t done; /* losses passed on */
		uint64_t first, last; /* times that may be those of unfinished losses; 0: none */
	} * taken;
};

int pending_losses__new(struct event_counts *counts, uint32_t *loss_pending, unsigned int nr_events,
			unsigned int nr_cpus, struct pending_losses **ret_losses)
{
	struct pending_losses *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	*l = (struct pending_losses){ counts, loss_pending, nr_events, nr_cpus, 0, NULL };
	l->taken = calloc((size_t)MAX(nr_events, 1u) * nr_cpus, sizeof(*l->taken));
	if (!l->taken) {
		free(l);
		return -ENOMEM;
	}
	*ret_losses = l;
	return 0;
}

void pending_losses__free(struct pending_losses *l)
{
	if (!l)
		return;
	free(l->taken);
	free(l);
}

void pending_losses__since(struct pending_losses *l, uint64_t start)
{
	l->start = start;
}

/*
 * The times of an unfinished loss may be taken before it is counted in `done`.  They are kept until
 * no loss is unfinished, so the range of a loss always contains its time.
 */
static uint64_t take(struct wire_loss *w, struct taken *t, struct stk_writer_loss *loss)
{
	uint64_t done = __atomic_load_n(&w->done, __ATOMIC_SEQ_CST);
	uint64_t last = __atomic_exchange_n(&w->last, 0, __ATOMIC_SEQ_CST);
	uint64_t first = __atomic_exchange_n(&w->first, 0, __ATOMIC_SEQ_CST);
	uint64_t begun = __atomic_load_n(&w->begun, __ATOMIC_SEQ_CST);
	uint64_t count = done - t->done;

	if (first)
		t->first = t->first ? MIN(t->first, first) : first;
	t->last = MAX(t->last, last);
	loss->first_ts = t->first;
	loss->last_ts = t->last;
	t->done = done;
	if (begun == done)
		t->first = t->last = 0;
	return count;
}

static int take_cpu(struct pending_losses *l, unsigned int cpu, pending_loss_fn fn, void *ctx)
{
	unsigned int event;
	int err = 0;

	for (event = 0; event < l->nr_events && !err; event++) {
		size_t i = (size_t)event * l->nr_cpus + cpu;
		struct stk_writer_loss loss = { .event = event, .cpu = cpu };
		struct wire_loss *w = &l->counts[i].loss;

		if (__atomic_load_n(&w->done, __ATOMIC_RELAXED) == l->taken[i].done)
			continue;
		loss.count = take(w, &l->taken[i], &loss);
		if (!loss.count)
			continue;
		loss.first_ts = MAX(loss.first_ts, l->start);
		loss.last_ts = MAX(loss.last_ts, loss.first_ts);
		err = fn(ctx, &loss);
	}
	return err;
}

int pending_losses__take(struct pending_losses *l, pending_loss_fn fn, void *ctx)
{
	unsigned int cpu;
	int err = 0;

	for (cpu = 0; cpu < l->nr_cpus && !err; cpu++)
		if (__atomic_exchange_n(&l->loss_pending[cpu], 0, __ATOMIC_SEQ_CST))
			err = take_cpu(l, cpu, fn, ctx);
	return err;
}
