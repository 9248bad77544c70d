/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether the programs of uprobes keep their stack when they are preempted.
 *
 * Since Linux 6.13 (a76ab5731e32 "bpf: Find eligible subprogs for private stack support") the runs
 * of a program on a CPU share one stack outside the kernel's, because programs of its type do not
 * run twice at a time.  Those of uprobes do: they can be preempted, and then another run overwrites
 * what the first one has on the stack.  Since 6.15 (e2d8f560d176) our programs disable preemption,
 * see src/bpf/probe.bpf.h; the two releases in between offer nothing.
 */
#ifndef RECORD_PROGRAM_STACK_H
#define RECORD_PROGRAM_STACK_H

#include <stdbool.h>
#include <stddef.h>

struct btf;

/*
 * btf: the kernel's; preempt: how it preempts, as in /sys/kernel/debug/sched/preempt, or "" if that
 * cannot be read.  Then version decides, as of uname(2), which names PREEMPT, PREEMPT_DYNAMIC and
 * the like: a kernel whose mode is chosen at boot, and is unknown, counts as one that preempts.
 */
bool program_stack__is_kept(const struct btf *btf, const char *preempt, const char *version);

/* A probe of the feature table: 0, -EOPNOTSUPP if it is not kept, another errno if unknown. */
int program_stack__probe(char *ret_detail, size_t len);

#endif /* RECORD_PROGRAM_STACK_H */
