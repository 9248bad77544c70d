// SPDX-License-Identifier: GPL-2.0-only
/* From the programs' counters to the accounting people see. */
#include <errno.h>
#include <string.h>

#include "event.h"
#include "programs_internal.h"

static uint64_t accounted(const uint64_t *c)
{
	return c[STK_C_RECORDED] + c[STK_C_FILTERED_PID] + c[STK_C_FILTERED_SELF] +
	       c[STK_C_FILTERED_EXPR] + c[STK_C_LOST_RING] + c[STK_C_LOST_NESTED] +
	       c[STK_C_LOST_SCRATCH];
}

/*
 * What the counter saw but the recorder did not: where the kernel skipped the counter because it
 * ran already, the recorder was out of reach too; the rest is the edge: the two programs looked
 * at the arming flag a moment apart.  Where only the recorder saw an event it did happen.
 */
static void balance(uint64_t *c, uint64_t misses)
{
	uint64_t seen = accounted(c), nested;

	c[STK_C_HAPPENED] += misses;
	if (seen > c[STK_C_HAPPENED]) {
		c[STK_C_HAPPENED] = seen;
		return;
	}
	nested = c[STK_C_HAPPENED] - seen;
	if (nested > misses)
		nested = misses;
	c[STK_C_LOST_NESTED] += nested;
	c[STK_C_LOST_EDGE] += c[STK_C_HAPPENED] - seen - nested;
}

static void samples(struct programs *p, uint64_t *c)
{
	uint64_t taken = c[STK_C_HAPPENED] + c[STK_C_SAMPLE_IDLE], enabled = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < p->nr_cpus; cpu++)
		enabled += p->samples[cpu].enabled;
	c[STK_C_SAMPLE_EXPECTED] = enabled / (1000000000ull / p->opts.sample_hz);
	c[STK_C_SAMPLE_THROTTLED] = p->throttled;
	/* a CPU at rest makes no cycles: what was to be expected is an upper bound then */
	if (p->opts.sample_cycles)
		return;
	if (c[STK_C_SAMPLE_EXPECTED] > taken + p->throttled)
		c[STK_C_SAMPLE_SKIPPED] = c[STK_C_SAMPLE_EXPECTED] - taken - p->throttled;
}

int programs__counters(struct programs *p, uint64_t (*ret_counters)[STK_NR_COUNTERS])
{
	bool armed = __atomic_load_n(&p->skel->bss->ctl.armed, __ATOMIC_RELAXED);
	unsigned int i, cpu, k;

	memset(ret_counters, 0, p->nr_events * sizeof(*ret_counters));
	for (i = 0; i < p->nr_events; i++) {
		uint64_t *c = ret_counters[i];

		for (cpu = 0; cpu < p->nr_cpus; cpu++) {
			const struct event_counts *e = &p->counts[i * p->nr_cpus + cpu];

			for (k = 0; k < STK_NR_COUNTERS; k++)
				c[k] += __atomic_load_n(&e->c[k], __ATOMIC_RELAXED);
		}
		if (armed)
			continue;
		if (p->opts.events->v[i].kind == STK_KIND_SAMPLE)
			samples(p, c);
		else
			balance(c, p->attached[i].misses);
	}
	return 0;
}
