/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the kernel keeps the per-CPU variables our programs read; see src/bpf/compat.bpf.h. */
#ifndef RECORD_PERCPU_H
#define RECORD_PERCPU_H

#include <stdbool.h>
#include <stdint.h>

struct percpu_layout {
	/* Offsets in the per-CPU area; UINT32_MAX: this kernel has no such variable. */
	uint32_t runqueues, preempt_count, prog_active;
	uint32_t perf_recursion; /* of the array, UINT32_MAX: task_struct has it */
	uint32_t perf_recursion_size; /* of an element, bytes */
	bool maple_tree; /* mappings are kept in one (since 6.1): user stacks need it */
	bool lazy_resched; /* the scheduler knows lazy preemption (since 6.13) */
};

struct btf;

/* From the kernel's BTF. */
int percpu__layout(const struct btf *btf, struct percpu_layout *ret_layout);

/* CPUs that may ever be there, or a negative errno. */
int percpu__nr_cpus(void);

#endif /* RECORD_PERCPU_H */
