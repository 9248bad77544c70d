/* SPDX-License-Identifier: GPL-2.0-only */
/* The per-CPU variables of the kernel that our programs read; see src/bpf/compat.bpf.h. */
#ifndef RECORD_PERCPU_H
#define RECORD_PERCPU_H

#include <stdbool.h>
#include <stdint.h>

struct percpu_layout {
	/* Offsets in the per-CPU area; UINT32_MAX: not in this kernel. */
	uint32_t runqueues, preempt_count, prog_active;
	uint32_t perf_recursion; /* the array; UINT32_MAX: it is in task_struct */
	uint32_t perf_recursion_size; /* bytes of an element */
	bool maple_tree; /* it has the mappings (since 6.1); required for user stacks */
	bool lazy_resched; /* the scheduler has lazy preemption (since 6.13) */
};

/* Whether programs can read the levels of interrupts, and whether the kernel drops a program. */
static inline bool percpu_layout__has_levels(const struct percpu_layout *l)
{
	return l->runqueues != UINT32_MAX && l->preempt_count != UINT32_MAX &&
	       l->prog_active != UINT32_MAX;
}

struct btf;

/* btf: the kernel's. */
int percpu__layout(const struct btf *btf, struct percpu_layout *ret_layout);

/* The number of possible CPUs, at most WIRE_MAX_CPUS, or a negative errno, logged. */
int percpu__nr_cpus(void);

#endif /* RECORD_PERCPU_H */
