/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs that determine values of the running kernel that BTF does not describe: addresses of
 * per-CPU variables, counts in plain task context, flag bits.
 */
#ifndef CALIBRATE_BPF_H
#define CALIBRATE_BPF_H

#include "select.bpf.h"
#include "user_page.bpf.h"

struct fdtable {
	struct file **fd;
} __attribute__((preserve_access_index));

struct files_struct {
	struct fdtable *fdt;
} __attribute__((preserve_access_index));

/* Calibration on task:task_rename, which the recorder triggers itself in plain task context. */
u32 calibrate_tid = 0;
u32 calibrate_preempt = 0, calibrate_migrate = 0, calibrate_runs = 0;
int calibrate_irqs_off = 0;
/* A descriptor of the recorder, and the f_mode of its file. */
u32 calibrate_fd = 0, calibrate_fmode = 0;

static __always_inline struct file *file_of(const struct task_struct *task, u32 fd)
{
	struct file **fds = BPF_CORE_READ(task, files, fdt, fd), *file = NULL;

	bpf_core_read(&file, sizeof(file), fds + fd);
	return file;
}

SEC("tracepoint")
int calibrate(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	if ((u32)bpf_get_current_pid_tgid() != calibrate_tid)
		return 1;
	calibrate_preempt = compat_percpu_u32(percpu_preempt_count) & 0xff;
	calibrate_migrate = task->migration_disabled;
	calibrate_irqs_off = compat_irqs_off();
	calibrate_fmode = BPF_CORE_READ(file_of(task, calibrate_fd), f_mode);
	calibrate_runs++;
	return 1;
}

/* The same for programs of type raw_tp, which are called in another way. */
u32 calibrate_raw_preempt = 0, calibrate_raw_migrate = 0, calibrate_raw_runs = 0;

SEC("raw_tp/task_rename")
int calibrate_raw(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	if ((u32)bpf_get_current_pid_tgid() != calibrate_tid)
		return 0;
	calibrate_raw_preempt = compat_percpu_u32(percpu_preempt_count) & 0xff;
	calibrate_raw_migrate = task->migration_disabled;
	calibrate_raw_runs++;
	return 0;
}

/*
 * On signal:signal_generate, for a signal from the recorder to itself, which is pending then.  A
 * raw tracepoint, because it is detached without a grace period.
 */
u64 calibrate_tif = 0;

SEC("raw_tp/signal_generate")
int calibrate_signal(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	if ((u32)bpf_get_current_pid_tgid() == calibrate_tid)
		calibrate_tif = task->thread_info.flags;
	return 0;
}

/*
 * Run once on each CPU: the address of its run queue, from which its per-CPU base is computed, and
 * that of the initial PID namespace.
 */
u64 located_rq[WIRE_MAX_CPUS] = {};

SEC("raw_tp")
int locate(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 cpu = bpf_get_smp_processor_id();
	struct cfs_rq *cfs_rq;
	struct rq *rq = NULL;
	struct pid *pid = NULL;
	int rq_cpu = -1;
	u64 ns = 0;

	/* a task that has been released has none */
	bpf_core_read(&pid, sizeof(pid), &task->thread_pid);
	bpf_core_read(&ns, sizeof(ns), &pid->numbers[0].ns);
	if (ns)
		initial_pids = ns;
	if (!bpf_core_field_exists(task->se.cfs_rq) || cpu >= WIRE_MAX_CPUS)
		return 0;
	cfs_rq = BPF_CORE_READ(task, se.cfs_rq);
	bpf_core_read(&rq, sizeof(rq), &cfs_rq->rq);
	bpf_core_read(&rq_cpu, sizeof(rq_cpu), &rq->cpu);
	if (rq_cpu == cpu)
		located_rq[cpu] = (u64)rq;
	return 0;
}

/* A directory in cgroup v2 that the recorder has opened. */
u32 located_cgroup_fd = 0;
struct wire_cgroup located_cgroup = {};

SEC("raw_tp")
int locate_cgroup(void *ctx)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct file *file = file_of(task, located_cgroup_fd);
	struct kernfs_node *kn = BPF_CORE_READ(file, f_inode, i_private);
	struct cgroup *c = BPF_CORE_READ(kn, priv);

	located_cgroup.id = BPF_CORE_READ(kn, id);
	located_cgroup.level = bpf_core_field_exists(c->ancestors) ? BPF_CORE_READ(c, level) : -1;
	return 0;
}

/* Run by the recorder until user_pages.base is not 0. */
SEC("raw_tp")
int locate_pages(void *ctx)
{
	page_search_on((void *)bpf_get_current_task_btf());
	return 0;
}

#endif /* CALIBRATE_BPF_H */
