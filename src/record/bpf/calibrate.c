// SPDX-License-Identifier: GPL-2.0-only
/* Runs the loaded programs to determine values of the running kernel, see calibrate.bpf.h. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "arch_bpf.h"
#include "cleanup.h"
#include "log.h"
#include "programs_priv.h"
#include "record/kernel/cgroup_dir.h"
#include "user_pages.h"

/* The per-CPU base is the address of the CPU's run queue minus the offset of that variable. */
int programs__locate_cpu(struct programs *p, unsigned int cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
	uint64_t rq;

	if (bpf_prog_test_run_opts(bpf_program__fd(p->skel->progs.locate), &run))
		return -errno;
	rq = p->skel->bss->located_rq[cpu];
	if (!rq || p->layout.runqueues == UINT32_MAX)
		return 1;
	p->skel->bss->percpu_base[cpu] = rq - p->layout.runqueues;
	return 0;
}

int programs__locate(struct programs *p)
{
	unsigned int cpu;
	bool all = true;
	int err;

	for (cpu = 0; cpu < p->nr_cpus; cpu++) {
		if (!p->online[cpu])
			continue;
		err = programs__locate_cpu(p, cpu);
		if (err == -ENXIO)
			continue; /* it went offline: programs__refresh_cpus() does this later */
		if (err < 0)
			return err;
		p->prepared[cpu] = true;
		all = all && !err;
	}
	if (all)
		return 0;
	p->skel->bss->ctl.counts_unknown = 1;
	log_warn("cannot locate the kernel's per-CPU variables: nested events are lost, and "
		 "preempt counts are unknown");
	return 0;
}

int programs__locate_cgroups(struct programs *p)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	unsigned int i;

	for (i = 0; i < p->opts->nr_cgroups; i++) {
		const struct cgroup_dir *d = &p->opts->cgroups[i];
		const struct wire_cgroup *found = &p->skel->bss->located_cgroup;

		p->skel->bss->located_cgroup_fd = d->fd;
		if (bpf_prog_test_run_opts(bpf_program__fd(p->skel->progs.locate_cgroup), &run))
			return log_err(-errno, "run the BPF program that finds cgroup '%s'",
				       d->path);
		if (found->id != d->id || found->level < 0)
			return log_why(-EOPNOTSUPP,
				       "find cgroup '%s' in the kernel: --cgroup needs Linux 6.1 "
				       "or newer",
				       d->path);
		p->skel->bss->cgroups[i] = *found;
	}
	return 0;
}

static void ignore_signal(int sig)
{
}

/* Finds the reschedule bits of thread_info.flags by sending a signal to this thread. */
static int find_resched_bits(struct programs *p)
{
	struct sigaction handler = { .sa_handler = ignore_signal }, before;
	struct bpf_link *link;
	unsigned int bit;

	link = bpf_program__attach(p->skel->progs.calibrate_signal);
	if (!link)
		return log_err(-errno, "attach to signal:signal_generate");
	sigaction(SIGURG, &handler, &before);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGURG);
	sigaction(SIGURG, &before, NULL);
	bpf_link__destroy(link);
	bit = arch_bpf__resched_bit(p->skel->bss->calibrate_tif);
	if (!bit)
		return 0;
	p->skel->bss->ctl.tif_resched = 1 << bit;
	if (p->layout.lazy_resched)
		p->skel->bss->ctl.tif_lazy = 1 << (bit + 1);
	return 0;
}

/*
 * FMODE_BACKING was bit 25 until 6.14, where bit 25 is FMODE_NONOTIFY, which a memfd has, and
 * FMODE_BACKING is bit 24.
 */
static uint32_t backing_bit(uint32_t fmode_of_memfd)
{
	return fmode_of_memfd & 1u << 25 ? 1u << 24 : 1u << 25;
}

/* Renames this thread to its name, for the programs on task:task_rename. */
static void rename_to_same(void)
{
	char name[17] = "";

	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, name);
}

static int calibrate_raw(struct programs *p)
{
	const struct bpf_program *prog = p->skel->progs.calibrate_raw;
	struct record_bpf__bss *bss = p->skel->bss;
	struct bpf_link *link;

	if (bpf_program__fd(prog) < 0)
		return 0;
	link = bpf_program__attach(prog);
	if (!link)
		return log_err(-errno, "attach a raw tracepoint program to task:task_rename");
	rename_to_same();
	bpf_link__destroy(link);
	if (!bss->calibrate_raw_runs)
		return log_why(-EIO, "calibrate: the raw tracepoint program on task:task_rename "
				     "did not run");
	bss->ctl.raw_preempt_base = bss->calibrate_raw_preempt;
	bss->ctl.raw_migrate_base = bss->calibrate_raw_migrate;
	return 0;
}

int programs__calibrate(struct programs *p)
{
	_cleanup_close_ int memfd = memfd_create("stackonce", MFD_CLOEXEC);
	int err;

	if (memfd < 0)
		return log_err(-errno, "create a memfd");
	p->skel->bss->calibrate_fd = memfd;

	p->skel->bss->calibrate_tid = syscall(SYS_gettid);
	p->calibration =
		bpf_program__attach_tracepoint(p->skel->progs.calibrate, "task", "task_rename");
	if (!p->calibration)
		return log_err(-errno, "attach to task:task_rename");
	rename_to_same();
	if (!p->skel->bss->calibrate_runs)
		return log_why(-EIO, "calibrate: the BPF program on task:task_rename did not run");
	p->skel->bss->fmode_backing = backing_bit(p->skel->bss->calibrate_fmode);
	p->skel->bss->ctl.preempt_base = p->skel->bss->calibrate_preempt;
	p->skel->bss->ctl.migrate_base = p->skel->bss->calibrate_migrate;
	if (p->user_stacks)
		user_pages__find(bpf_program__fd(p->skel->progs.locate_pages),
				 &p->skel->bss->page_search, &p->skel->bss->user_pages);
	err = calibrate_raw(p);
	return err ?: find_resched_bits(p);
}

void programs__end_calibration(struct programs *p)
{
	bpf_link__destroy(p->calibration);
	p->calibration = NULL;
}
