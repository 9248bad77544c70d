// SPDX-License-Identifier: GPL-2.0-only
/* Computes the accounting of the recording from the counters of the programs. */
#include <errno.h>
#include <string.h>

#include "attach.h"
#include "balance.h"
#include "cleanup.h"
#include "field_checks.h"
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
		c[STK_C_WALK_REMEMBERED] = __atomic_load_n(&e->remembered, __ATOMIC_ACQUIRE);
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
		b->late_cpu = b->late_cpu || (of_cpu[STK_C_HAPPENED] && !p->prepared[cpu]);
	}
	/* for a remembered stack the programs increment no other counter */
	c[STK_C_WALKED] += c[STK_C_WALK_REMEMBERED];
	c[STK_C_STACK_HIT] += c[STK_C_WALK_REMEMBERED];
}

/* Read before the counters of the programs, so samples taken meanwhile do not count as skipped. */
static struct sample_sums read_samples(struct programs *p)
{
	const struct wire_periods *periods = p->skel->bss->sample_periods;
	struct sample_sums sums = { 0 };
	struct samples_count n;
	uint64_t last;
	unsigned int cpu;

	for (cpu = 0; cpu < p->nr_cpus; cpu++) {
		samples__count(p->samples, cpu, &n);
		last = __atomic_load_n(&periods[cpu].last, __ATOMIC_RELAXED);
		sums.reading.counted += n.reading.counted;
		sums.reading.enabled += n.reading.enabled;
		sums.reading.running += n.reading.running;
		n.reading.counted -= MIN(n.reading.counted, n.ended * last);
		sums.swallowed +=
			balance__swallowed(n.reading.counted,
					   __atomic_load_n(&periods[cpu].sum, __ATOMIC_ACQUIRE),
					   last);
	}
	return sums;
}

static void samples(struct programs *p, unsigned int event, const struct sample_sums *sums,
		    uint64_t *c)
{
	uint64_t missing;

	c[STK_C_SAMPLE_THROTTLED] = samples__throttled(p->samples);
	balance__samples(sums, p->opts->sample_hz, p->opts->sample_cycles, c);
	missing = c[STK_C_SAMPLE_SKIPPED] + c[STK_C_SAMPLE_MULTIPLEXED];
	/* one sample of each CPU may be due just now */
	if (missing > p->nr_cpus)
		p->unseen[event] = MAX(p->unseen[event], missing - p->nr_cpus);
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
		const struct attached *a = attach__of(p, i);
		struct balance b = {
			.misses = a->misses,
			.any_call = e->kind == STK_KIND_SYSCALL,
			.nr_cpus = p->nr_cpus,
			.armed = is_armed,
			.two_instances = programs__has_second(p, i),
			.late_cpu = p->late_cpu,
			.taken = a->taken,
			.second_misses = a->second_misses,
			.one_program = programs__is_native(p, i) && !old_way__has_begun(p, i),
			.returns = e->desc.flags & DESC_RETURN,
		};
		struct sample_sums sums = { 0 };
		uint64_t *c = ret_counters[i];

		if (e->kind == STK_KIND_SAMPLE)
			sums = read_samples(p);
		sum_cpus(p, i, c, &b);
		if (a->no_counter) {
			c[STK_C_HAPPENED] = balance__accounted(c);
		} else {
			uint64_t unseen = balance__complete(&b, c);

			p->unseen[i] = MAX(p->unseen[i], unseen);
		}
		if (e->kind == STK_KIND_SAMPLE)
			samples(p, i, &sums, c);
		c[STK_C_WALK_UNVERIFIED] = programs__unverified(p, i).stacks;
		field_checks__counters(p->checks, i, c);
	}
	return 0;
}
