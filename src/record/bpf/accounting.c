// SPDX-License-Identifier: GPL-2.0-only
/* Computes the accounting of the recording from the counters of the programs. */
#include <errno.h>
#include <string.h>

#include "attach.h"
#include "balance.h"
#include "cleanup.h"
#include "kwalk/kwalk.h"
#include "log.h"
#include "programs_priv.h"
#include "record/select/rec_event.h"
#include "samples.h"

#define SUM_TRIES 16

/*
 * Reads the counters of one CPU, as a consistent set unless the CPU is too busy.  STK_C_HAPPENED is
 * read first, so it never exceeds the others by events counted meanwhile.
 */
static void read_cpu(const struct event_counts *e, uint64_t *c)
{
	uint64_t happened;
	unsigned int k, i;

	for (i = 0; i < SUM_TRIES; i++) {
		happened = __atomic_load_n(&e->c[STK_C_HAPPENED], __ATOMIC_ACQUIRE);
		for (k = 0; k < STK_NR_COUNTERS; k++)
			c[k] = __atomic_load_n(&e->c[k], __ATOMIC_ACQUIRE);
		c[STK_C_HAPPENED] = happened;
		if (__atomic_load_n(&e->c[STK_C_HAPPENED], __ATOMIC_ACQUIRE) == happened)
			break;
	}
}

static void sum_cpus(const struct programs *p, unsigned int event, uint64_t *c, struct balance *b)
{
	uint64_t of_cpu[STK_NR_COUNTERS];
	unsigned int cpu, k;

	for (cpu = 0; cpu < p->nr_cpus; cpu++) {
		read_cpu(&p->counts[event * p->nr_cpus + cpu], of_cpu);
		for (k = 0; k < STK_NR_COUNTERS; k++)
			c[k] += of_cpu[k];
		balance__add_cpu(b, of_cpu);
	}
	/* for a remembered stack the programs increment no other counter */
	c[STK_C_WALKED] += c[STK_C_WALK_REMEMBERED];
	c[STK_C_STACK_HIT] += c[STK_C_WALK_REMEMBERED];
}

static uint64_t swallowed(const struct programs *p)
{
	const struct wire_periods *periods = p->skel->bss->sample_periods;
	struct samples_count n;
	uint64_t sum = 0, last;
	unsigned int cpu;

	for (cpu = 0; cpu < p->nr_cpus; cpu++) {
		/* read first, so that samples taken meanwhile do not count as swallowed */
		samples__count(p->samples, cpu, &n);
		last = __atomic_load_n(&periods[cpu].last, __ATOMIC_RELAXED);
		n.value -= MIN(n.value, n.ended * last);
		sum += balance__swallowed(
			n.value, __atomic_load_n(&periods[cpu].sum, __ATOMIC_ACQUIRE), last);
	}
	return sum;
}

/* The time for which samples have been enabled, summed over all CPUs, in ns. */
static uint64_t samples_enabled(const struct programs *p)
{
	struct samples_count n;
	uint64_t sum = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < p->nr_cpus; cpu++) {
		samples__count(p->samples, cpu, &n);
		sum += n.enabled;
	}
	return sum;
}

/* enabled was read before c, so that samples taken meanwhile do not count as skipped. */
static void samples(struct programs *p, unsigned int event, uint64_t enabled, uint64_t *c)
{
	uint64_t taken = c[STK_C_HAPPENED] + c[STK_C_SAMPLE_IDLE];
	uint64_t throttled = samples__throttled(p->samples);

	c[STK_C_SAMPLE_EXPECTED] = enabled / (1000000000ull / p->opts->sample_hz);
	c[STK_C_SAMPLE_THROTTLED] = throttled;
	/* an idle CPU makes no cycles, so with cycles the expected number is only an upper bound */
	if (p->opts->sample_cycles)
		c[STK_C_SAMPLE_SKIPPED] = swallowed(p);
	else if (c[STK_C_SAMPLE_EXPECTED] > taken + throttled)
		c[STK_C_SAMPLE_SKIPPED] = c[STK_C_SAMPLE_EXPECTED] - taken - throttled;
	/* one sample of each CPU may be due just now */
	if (c[STK_C_SAMPLE_SKIPPED] > p->nr_cpus)
		p->unseen[event] = MAX(p->unseen[event], c[STK_C_SAMPLE_SKIPPED] - p->nr_cpus);
}

uint64_t programs__unseen(const struct programs *p, unsigned int event)
{
	return p->unseen[event];
}

int programs__counters(struct programs *p, uint64_t (*ret_counters)[STK_NR_COUNTERS])
{
	bool is_armed = __atomic_load_n(&p->skel->bss->ctl.armed, __ATOMIC_RELAXED);
	unsigned int i;
	int err;

	memset(ret_counters, 0, p->nr_events * sizeof(*ret_counters));
	if (kwalk__refresh(p->kwalk))
		log_warn("cannot read text and unwind rules of modules: the kernel walks stacks "
			 "with frames of modules");
	err = is_armed ? programs__refresh_cpus(p) : 0;
	if (!err)
		err = attach__misses(p);
	if (err)
		return err;
	for (i = 0; i < p->nr_events; i++) {
		const struct rec_event *e = &p->opts->events->v[i];
		struct balance b = {
			.misses = p->attached[i].misses,
			.nr_cpus = p->nr_cpus,
			.armed = is_armed,
			.returns = e->desc.flags & DESC_RETURN,
		};
		uint64_t enabled = e->kind == STK_KIND_SAMPLE ? samples_enabled(p) : 0;
		uint64_t *c = ret_counters[i];

		sum_cpus(p, i, c, &b);
		if (p->attached[i].no_counter) {
			c[STK_C_HAPPENED] = balance__accounted(c);
		} else {
			uint64_t unseen = balance__complete(&b, c);

			p->unseen[i] = MAX(p->unseen[i], unseen);
		}
		if (e->kind == STK_KIND_SAMPLE)
			samples(p, i, enabled, c);
		c[STK_C_WALK_UNVERIFIED] = programs__unverified(p, i).stacks;
	}
	return 0;
}
