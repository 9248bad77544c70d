/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between kernels.  They are detected by BTF and weak symbols, never by the version
 * number.
 */
#ifndef COMPAT_BPF_H
#define COMPAT_BPF_H

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <stdbool.h>
#include <stddef.h>

#include "arch_bpf.h"
#include "wire.h"

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define barrier() asm volatile("" ::: "memory")

struct thread_info {
	unsigned long flags;
	u32 status;
	u32 cpu;
} __attribute__((preserve_access_index));

struct rq {
	int cpu;
} __attribute__((preserve_access_index));

struct cfs_rq {
	struct rq *rq;
} __attribute__((preserve_access_index));

struct sched_entity {
	struct cfs_rq *cfs_rq;
} __attribute__((preserve_access_index));

struct mm_struct;
struct files_struct;
struct css_set;
struct cred;

struct hlist_node {
	struct hlist_node *next;
} __attribute__((preserve_access_index));

struct hlist_head {
	struct hlist_node *first;
} __attribute__((preserve_access_index));

struct pid_namespace;

struct upid {
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

struct pid {
	struct hlist_head tasks[1]; /* by enum pid_type, PIDTYPE_PID first */
	struct upid numbers[1];
} __attribute__((preserve_access_index));

/* A call whose return is probed (uretprobes): its return address on the stack is the trampoline. */
struct return_instance {
	unsigned long stack; /* address of that return address */
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
} __attribute__((preserve_access_index));

struct uprobe_task {
	struct return_instance *return_instances; /* innermost first */
	unsigned int depth; /* number of return_instances */
} __attribute__((preserve_access_index));

struct xol_area {
	unsigned long vaddr;
} __attribute__((preserve_access_index));

struct uprobes_state {
	struct xol_area *xol_area;
} __attribute__((preserve_access_index));

/*
 * All members that any program uses: libbpf searches the kernel's 130,000 types for each structure,
 * and for each variant of one (___NAME).
 */
struct task_struct {
	struct thread_info thread_info;
	int pid, tgid;
	int prio;
	int exit_state;
	void *stack;
	char comm[16];
	struct mm_struct *mm;
	struct files_struct *files;
	struct task_struct *group_leader;
	struct uprobe_task *utask;
	struct css_set *cgroups;
	const struct cred *real_cred;
	struct pid *thread_pid;
	struct hlist_node pid_links[1]; /* by enum pid_type */
	u64 start_boottime;
	u32 self_exec_id;
	unsigned int in_execve : 1;
	unsigned short migration_disabled;
	unsigned long nvcsw, nivcsw;
	struct sched_entity se;
	u8 perf_recursion[4]; /* since 6.11 (0d40a6d83e3e) */
} __attribute__((preserve_access_index));

#define NMI_MASK 0x00f00000
#define HARDIRQ_MASK 0x000f0000
#define SOFTIRQ_SERVING 0x00000100
#define SOFTIRQ_MASK 0x0000ff00
#define PREEMPT_NEED_RESCHED 0x80000000 /* inverted: clear means needed */

/*
 * Per-CPU variables are read by address: BTF provides their offsets, and the address of one known
 * per-CPU variable (the run queue, see `locate`) the base of each CPU.  An extern __ksym would be
 * the usual way, but the kernel resolves those by kallsyms, which has no variables without
 * CONFIG_KALLSYMS_ALL.
 *
 * preempt_count is __preempt_count, or in 6.2..6.14 a field of pcpu_hot (64701838bf05).
 * bpf_prog_active is not 0 while a TRACEPOINT, kprobe or perf_event program runs on this CPU, or
 * a system call changes a hash map: the kernel then drops other such programs.
 */
const volatile u32 percpu_preempt_count = 0; /* offset from percpu_base, 0: unknown */
const volatile u32 percpu_prog_active = 0;
/* swevent_htable.recursion[] if task_struct has no perf_recursion[], and the size of an element. */
const volatile u32 percpu_perf_recursion = 0, perf_recursion_size = 4;
u64 percpu_base[WIRE_MAX_CPUS] = {};

static __always_inline u32 compat_percpu_u32(u32 offset)
{
	u32 cpu = bpf_get_smp_processor_id(), value = 0;

	if (cpu < WIRE_MAX_CPUS && offset)
		bpf_probe_read_kernel(&value, sizeof(value), (void *)(percpu_base[cpu] + offset));
	return value;
}

/* As the kernel's interrupt_context_level(): 0 task, 1 softirq, 2 hardirq, 3 NMI. */
static __always_inline u32 compat_level_of(u32 count)
{
	return !!(count & NMI_MASK) + !!(count & (NMI_MASK | HARDIRQ_MASK)) +
	       !!(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_SERVING));
}

static __always_inline u32 compat_context_level(void)
{
	return compat_level_of(compat_percpu_u32(percpu_preempt_count));
}

/* Whether perf is busy in this context: it then drops a tracepoint before it calls any program. */
static __always_inline bool compat_perf_busy(void)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 count, level;

	if (bpf_core_field_exists(task->perf_recursion)) {
		if (!(task->perf_recursion[0] | task->perf_recursion[1] | task->perf_recursion[2] |
		      task->perf_recursion[3]))
			return false; /* the common case: busy in no context */
		level = compat_context_level();
		return level == 0 ? task->perf_recursion[0] :
		       level == 1 ? task->perf_recursion[1] :
		       level == 2 ? task->perf_recursion[2] :
				    task->perf_recursion[3];
	}
	if (!percpu_perf_recursion)
		return false;
	level = compat_context_level();
	count = compat_percpu_u32(percpu_perf_recursion + level * perf_recursion_size);
	return perf_recursion_size == 1 ? count & 0xff : count;
}

/*
 * Whether interrupts are off.  A program can learn this only from the flags that
 * bpf_local_irq_save() leaves behind (6.14, c8e2ee1f3df0); on older kernels the result is -1.
 */
extern void bpf_local_irq_save(unsigned long *flags) __ksym __weak;
extern void bpf_local_irq_restore(unsigned long *flags) __ksym __weak;

static __always_inline int compat_irqs_off(void)
{
	unsigned long flags;

	if (!bpf_local_irq_save || !bpf_local_irq_restore)
		return -1;
	bpf_local_irq_save(&flags);
	bpf_local_irq_restore(&flags);
	/* The slot is plain stack memory again and still holds the saved flags. */
	barrier();
	return !ARCH_FLAGS_IRQS_ON(*(volatile unsigned long *)&flags);
}

static __always_inline bool compat_syscall_is_32bit(const struct task_struct *task)
{
	return task->thread_info.status & ARCH_STATUS_CALL_32;
}

#endif /* COMPAT_BPF_H */
