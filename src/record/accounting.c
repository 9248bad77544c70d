// SPDX-License-Identifier: GPL-2.0-only
/* From the programs' counters to the accounting people see. */
#include <errno.h>
#include <string.h>

#include "attach.h"
#include "event.h"
#include "programs_internal.h"

static uint64_t accounted(const uint64_t *c)
{
	return c[STK_C_RECORDED] + c[STK_C_FILTERED_PID] + c[STK_C_FILTERED_SELF] +
	       c[STK_C_FILTERED_EXPR] + c[STK_C_LOST_RING] + c[STK_C_LOST_NESTED] +
	       c[STK_C_LOST_SCRATCH] + c[STK_C_LOST_RETURN];
}

/*
 * What the counter saw but the recorder did not.  Where the kernel skipped the counter because it
 * ran already, the recorder was out of reach too.  The edge: the two programs look at the arming
 * flag a moment apart, so that at most one event on each CPU and edge is seen by one only.  More
 * than that must not happen, and is said to be lost for an unknown reason.
 */
static void balance(const struct programs *p, unsigned int event, uint64_t *c, uint64_t misses,
		    bool is_armed)
{
	const struct rec_event *e = &p->opts.events->v[event];
	uint64_t seen = accounted(c), rest, nested, edge = 2ull * p->nr_cpus;

	c[STK_C_HAPPENED] += misses;
	if (seen >= c[STK_C_HAPPENED]) {
		/* while armed the counter was read first; else it missed the edge */
		if (is_armed || seen - c[STK_C_HAPPENED] <= edge)
			c[STK_C_HAPPENED] = seen;
		return;
	}
	rest = c[STK_C_HAPPENED] - seen;
	nested = rest < misses ? rest : misses;
	rest -= nested;
	c[STK_C_LOST_NESTED] += nested;
	c[STK_C_LOST_EDGE] += rest < edge ? rest : edge;
	rest -= rest < edge ? rest : edge;
	/* the kernel has places for a limited number of calls whose returns it follows */
	c[e->desc.flags & DESC_RETURN ? STK_C_LOST_RETURN : STK_C_LOST_UNKNOWN] += rest;
}

static void samples(struct programs *p, uint64_t *c)
{
	uint64_t taken, enabled = 0;
	unsigned int cpu;

	balance(p, p->opts.sample_event, c, 0, true);
	taken = c[STK_C_HAPPENED] + c[STK_C_SAMPLE_IDLE];
	for (cpu = 0; cpu < p->nr_cpus; cpu++)
		enabled += attach__samples_enabled(p, cpu);
	c[STK_C_SAMPLE_EXPECTED] = enabled / (1000000000ull / p->opts.sample_hz);
	c[STK_C_SAMPLE_THROTTLED] = p->throttled;
	/* a CPU at rest makes no cycles: what was to be expected is an upper bound then */
	if (p->opts.sample_cycles)
		return;
	if (c[STK_C_SAMPLE_EXPECTED] > taken + p->throttled)
		c[STK_C_SAMPLE_SKIPPED] = c[STK_C_SAMPLE_EXPECTED] - taken - p->throttled;
}

/* The counters of one event, what happened before what became of it. */
static void sum_cpus(const struct programs *p, unsigned int event, uint64_t *c)
{
	unsigned int cpu, k;

	for (k = 0; k < STK_NR_COUNTERS; k++)
		for (cpu = 0; cpu < p->nr_cpus; cpu++)
			c[k] += __atomic_load_n(&p->counts[event * p->nr_cpus + cpu].c[k],
						__ATOMIC_RELAXED);
}

int programs__counters(struct programs *p, uint64_t (*ret_counters)[STK_NR_COUNTERS])
{
	bool is_armed = __atomic_load_n(&p->skel->bss->ctl.armed, __ATOMIC_RELAXED);
	unsigned int i;
	int err;

	memset(ret_counters, 0, p->nr_events * sizeof(*ret_counters));
	attach__samples_poll(p);
	err = programs__refresh_cpus(p);
	if (!err)
		err = attach__misses(p);
	if (err)
		return err;
	for (i = 0; i < p->nr_events; i++) {
		uint64_t *c = ret_counters[i];

		sum_cpus(p, i, c);
		if (p->opts.events->v[i].kind == STK_KIND_SAMPLE)
			samples(p, c);
		else if (p->attached[i].counts_itself)
			c[STK_C_HAPPENED] = accounted(c);
		else
			balance(p, i, c, p->attached[i].misses, is_armed);
	}
	return 0;
}
