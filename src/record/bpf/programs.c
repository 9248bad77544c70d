// SPDX-License-Identifier: GPL-2.0-only
/* Loads the BPF programs with their settings, map sizes and rings. */
#include "programs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attach.h"
#include "cleanup.h"
#include "clock.h"
#include "event_ring.h"
#include "field_checks.h"
#include "grace.h"
#include "kwalk/kwalk.h"
#include "log.h"
#include "parallel_load.h"
#include "programs_priv.h"
#include "record/kernel/map_in_map.h"
#include "record/kernel/percpu.h"
#include "record/phases.h"
#include "record/select/rec_event.h"
#include "samples.h"
#include "slurp.h"
#include "stackmap/stackmap.h"
#include "symbols/ksyms.h"
#include "text.h"

/* kernel.perf_event_max_stack, the limit of bpf_get_stack(). */
static uint32_t stack_limit(void)
{
	unsigned int limit = WIRE_MAX_FRAMES;

	slurp__number("/proc/sys/kernel/perf_event_max_stack", &limit);
	return MIN(limit, (unsigned int)WIRE_MAX_FRAMES);
}

static int set_entry_ranges(struct programs *p)
{
	struct ksym_range entry, holes[WIRE_ENTRY_HOLES];
	unsigned int i;
	int err;

	err = ksyms__interrupt_entries(p->opts->syms, &entry, holes, WIRE_ENTRY_HOLES);
	if (err == -ENOENT) {
		log_warn("the kernel's interrupt entries are unknown: stacks of interrupts are "
			 "stored in one part with what they interrupted");
		return 0;
	}
	if (err)
		return log_err(err, "find the interrupt entries of this kernel");
	p->skel->rodata->entry_start = entry.start;
	p->skel->rodata->entry_len = entry.len;
	for (i = 0; i < WIRE_ENTRY_HOLES; i++) {
		p->skel->rodata->entry_holes[i][0] = holes[i].start;
		p->skel->rodata->entry_holes[i][1] = holes[i].len;
	}
	return 0;
}

/* Sets of four threads each: enough for the runnable threads, more on machines with many CPUs. */
static uint32_t thread_sets(const struct programs *p)
{
	uint32_t sets = 128;

	while (sets < p->nr_cpus * 16)
		sets *= 2;
	return sets;
}

static int check_user_stacks(struct programs *p)
{
	if (!p->user_stacks || p->layout.maple_tree)
		return 0;
	if (p->opts->user_stacks_required)
		return log_why(-EOPNOTSUPP, "record user stacks: they need kernel 6.1 or newer");
	log_warn("user stacks are not recorded: they need kernel 6.1 or newer");
	p->user_stacks = false;
	return 0;
}

static void set_selection(struct programs *p)
{
	struct record_bpf__rodata *ro = p->skel->rodata;
	const struct recorder_opts *o = p->opts;

	ro->selections = (recorder_opts__selects_tasks(o) ? WIRE_SELECT_IDS : 0) |
			 (o->nr_cgroups ? WIRE_SELECT_CGROUPS : 0) |
			 (o->nr_uids ? WIRE_SELECT_UIDS : 0) | (o->cpus ? WIRE_SELECT_CPUS : 0);
	if (o->cpus)
		memcpy((void *)ro->selected_cpus, o->cpus, sizeof(ro->selected_cpus));
	ro->nr_cgroups = o->nr_cgroups;
	ro->nr_uids = o->nr_uids;
	if (o->nr_uids)
		memcpy((void *)ro->uids, o->uids, o->nr_uids * sizeof(ro->uids[0]));
}

static int set_rodata(struct programs *p)
{
	struct record_bpf__rodata *ro = p->skel->rodata;
	const struct btf *btf;
	int err;

	ro->nr_cpus = p->nr_cpus;
	ro->self_tgid = p->opts->include_self ? 0 : getpid();
	set_selection(p);
	ro->kernel_stacks = p->opts->kernel_stacks;
	ro->keep_idle = p->opts->keep_idle;
	ro->max_depth = p->opts->max_depth;
	ro->walk_limit = stack_limit();
	if (p->opts->kernel_stacks && ro->walk_limit < p->opts->max_depth)
		log_warn("stacks are cut at %s instead of %u: raise the sysctl "
			 "kernel.perf_event_max_stack",
			 text__count(ro->walk_limit, "frame").s, p->opts->max_depth);
	ro->clock = p->opts->clock;
	ro->clock_offset = p->opts->clock_offset.ns;
	ro->sample_event = p->opts->sample_hz ? p->opts->sample_event : UINT32_MAX;
	btf = rec_events__kernel_types(p->opts->events);
	err = btf ? percpu__layout(btf, &p->layout) : -errno;
	if (err)
		return log_err(err, "read the kernel's BTF (/sys/kernel/btf/vmlinux)");
	err = check_user_stacks(p);
	if (err)
		return err;
	ro->user_stacks = p->user_stacks;
	ro->waker_stacks = p->opts->waker_stacks;
	ro->user_fp_only = p->opts->user_fp_only;
	ro->user_max_depth = MIN(p->opts->max_depth, (uint32_t)WIRE_USER_FRAMES);
	ro->user_thread_mask = thread_sets(p) - 1;
	if (p->layout.runqueues != UINT32_MAX && p->layout.preempt_count != UINT32_MAX)
		ro->percpu_preempt_count = p->layout.preempt_count;
	if (p->layout.runqueues != UINT32_MAX && p->layout.prog_active != UINT32_MAX)
		ro->percpu_prog_active = p->layout.prog_active;
	if (p->layout.runqueues != UINT32_MAX && p->layout.perf_recursion != UINT32_MAX) {
		ro->percpu_perf_recursion = p->layout.perf_recursion;
		ro->perf_recursion_size = p->layout.perf_recursion_size;
	}
	return 0;
}

static void set_map_sizes(struct programs *p)
{
	struct record_bpf *s = p->skel;
	unsigned int filters = 0, i;

	for (i = 0; i < p->nr_events; i++)
		filters += p->opts->events->v[i].prog != NULL;
	bpf_map__set_max_entries(s->maps.counts, MAX(p->nr_events, 1u) * p->nr_cpus);
	bpf_map__set_max_entries(s->maps.descs, MAX(p->nr_events, 1u));
	bpf_map__set_max_entries(s->maps.filters, MAX(filters, 1u));
	bpf_map__set_max_entries(s->maps.pids,
				 recorder_opts__selects_tasks(p->opts) ? WIRE_PID_WORDS : 1);
	bpf_map__set_max_entries(s->maps.ended, programs__selects_owners(p) ? WIRE_PID_WORDS : 1);
	bpf_map__set_max_entries(s->maps.scratches, p->nr_cpus);
	bpf_map__set_max_entries(s->maps.handovers, p->nr_cpus);
	if (p->user_stacks) {
		bpf_map__set_max_entries(s->maps.files, WIRE_FILE_ENTRIES);
		bpf_map__set_max_entries(s->maps.file_slots, WIRE_FILE_SLOTS);
		bpf_map__set_max_entries(s->maps.file_rings, p->nr_cpus);
		bpf_map__set_max_entries(s->maps.threads, thread_sets(p));
		bpf_map__set_max_entries(s->maps.copies, p->nr_cpus);
	}
}

static void *map_memory(const struct bpf_map *map, size_t value_size, size_t nr, size_t *ret_len)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t len = (value_size * nr + page - 1) & ~(page - 1);
	void *m = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	*ret_len = len;
	return m == MAP_FAILED ? NULL : m;
}

static int map_memories(struct programs *p)
{
	struct record_bpf *s = p->skel;

	p->counts = map_memory(s->maps.counts, sizeof(struct event_counts),
			       (size_t)MAX(p->nr_events, 1u) * p->nr_cpus, &p->counts_len);
	p->descs = map_memory(s->maps.descs, sizeof(struct event_desc), MAX(p->nr_events, 1u),
			      &p->descs_len);
	p->pids = map_memory(s->maps.pids, 8, bpf_map__max_entries(s->maps.pids), &p->pids_len);
	p->cpus = map_memory(s->maps.scratches, bpf_map__value_size(s->maps.scratches), p->nr_cpus,
			     &p->cpus_len);
	p->hits = map_memory(s->maps.native_hits, sizeof(struct native_hits),
			     bpf_map__max_entries(s->maps.native_hits), &p->hits_len);
	if (p->user_stacks)
		p->files = map_memory(s->maps.files, sizeof(struct wire_file), WIRE_FILE_ENTRIES,
				      &p->files_len);
	if (!p->counts || !p->descs || !p->pids || !p->cpus || !p->hits ||
	    (!p->files && p->user_stacks))
		return -errno;
	p->unseen = calloc(MAX(p->nr_events, 1u), sizeof(*p->unseen));
	return p->unseen ? 0 : -ENOMEM;
}

/* Until an event is set, system calls are of no recorded event. */
static int clear_syscalls(const struct programs *p)
{
	uint32_t keys[2 * WIRE_MAX_SYSCALLS], none[2 * WIRE_MAX_SYSCALLS], nr = ARRAY_SIZE(keys), i;
	LIBBPF_OPTS(bpf_map_batch_opts, opts);

	for (i = 0; i < nr; i++) {
		keys[i] = i;
		none[i] = UINT32_MAX;
	}
	return bpf_map_update_batch(bpf_map__fd(p->skel->maps.syscall_events), keys, none, &nr,
				    &opts);
}

static int describe(struct programs *p, uint32_t event)
{
	const struct event_desc *d = &p->opts->events->v[event].desc;
	unsigned int cpu;

	for (cpu = 0; cpu < p->nr_cpus; cpu++) {
		struct event_counts *c = &p->counts[event * p->nr_cpus + cpu];

		c->common_type = d->common_type;
		c->ask = !!(d->flags & DESC_ASK);
	}
	return bpf_map_update_elem(bpf_map__fd(p->skel->maps.descs), &event, d, 0);
}

static int fill_maps(struct programs *p)
{
	struct record_bpf *s = p->skel;
	uint32_t i, filter = 0;
	int err = clear_syscalls(p);

	for (i = 0; i < p->nr_events && !err; i++) {
		struct rec_event *e = &p->opts->events->v[i];

		if (e->prog) {
			err = bpf_map_update_elem(bpf_map__fd(s->maps.filters), &filter, e->prog,
						  0);
			e->desc.filter = filter++;
		}
		attach__tracer_range(p->opts->syms, e);
		e->desc.flags |= native__flags(p, i);
		err = err ?: describe(p, i);
		if (!err && e->kind == STK_KIND_SYSCALL) {
			uint32_t nr = e->syscall_nr + (e->syscall_exit ? WIRE_MAX_SYSCALLS : 0);

			err = bpf_map_update_elem(bpf_map__fd(s->maps.syscall_events), &nr, &i, 0);
		}
	}
	return err ? -errno : 0;
}

/* Programs that others call; to be called when all are loaded. */
static int set_tails(const struct programs *p)
{
	const struct record_bpf *s = p->skel;
	const struct bpf_program *const tails[WIRE_NR_TAILS] = {
		[WIRE_TAIL_NESTED] = s->progs.nested,
		[WIRE_TAIL_FILTER] = s->progs.native_filter,
		[WIRE_TAIL_END] = s->progs.native_end,
		[WIRE_TAIL_SLOW] = s->progs.native_slow,
		[WIRE_TAIL_USER] = s->progs.native_user,
		[WIRE_TAIL_CHECK] = s->progs.check_compare,
	};
	uint32_t i;

	for (i = 0; i < WIRE_NR_TAILS; i++) {
		int fd = bpf_program__fd(tails[i]);

		if (fd >= 0 && bpf_map_update_elem(bpf_map__fd(s->maps.tails), &i, &fd, 0))
			return log_err(-errno, "fill the BPF maps");
	}
	return 0;
}

/* Reads which CPUs are online, a list like "0-3,8". */
static int read_online(bool *ret_online, unsigned int nr_cpus)
{
	_cleanup_fclose_ FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	unsigned int a, b;
	char sep;

	if (!f)
		return -errno;
	while (fscanf(f, "%u", &a) == 1) {
		b = a;
		if (fscanf(f, "%c", &sep) == 1 && sep == '-' && fscanf(f, "%u%c", &b, &sep) < 1)
			return -EINVAL;
		for (; a <= b && a < nr_cpus; a++)
			ret_online[a] = true;
	}
	return 0;
}

static int find_cpus(struct programs *p)
{
	int n = percpu__nr_cpus();

	if (n < 0)
		return n;
	p->nr_cpus = n;
	p->online = calloc(n, sizeof(*p->online));
	p->prepared = calloc(n, sizeof(*p->prepared));
	if (!p->online || !p->prepared)
		return -ENOMEM;
	return read_online(p->online, p->nr_cpus);
}

/* A CPU that came online, or that was offline when it was located at the start. */
static int prepare_cpu(struct programs *p, unsigned int cpu, bool *ret_needs_ring)
{
	int err = programs__locate_cpu(p, cpu);

	if (err == -ENXIO)
		return 0; /* it went offline again */
	if (err < 0)
		return err;
	p->prepared[cpu] = p->late_cpu = true;
	if (programs__ring_fds(p, cpu))
		return 0;
	log_warn("CPU %u came online; its events before this were lost", cpu);
	*ret_needs_ring = true;
	return 0;
}

int programs__refresh_cpus(struct programs *p)
{
	bool needs_rings = false;
	unsigned int cpu;
	int err;

	memset(p->online, 0, p->nr_cpus * sizeof(*p->online));
	err = read_online(p->online, p->nr_cpus);
	for (cpu = 0; cpu < p->nr_cpus && !err; cpu++)
		if (p->online[cpu] && !p->prepared[cpu])
			err = prepare_cpu(p, cpu, &needs_rings);
	if (!err && needs_rings)
		err = programs__add_rings(p);
	if (err)
		return log_err(err, "prepare a CPU that came online");
	return p->samples ? samples__refresh(p->samples, p->online) : 0;
}

static int load(struct programs *p)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int err;

	err = parallel_load__new(&p->parallel);
	if (err)
		return log_err(err, "prepare loading the BPF programs");
	p->skel = record_bpf__open();
	if (!p->skel)
		return log_err(-errno, "open the BPF object");
	err = set_rodata(p);
	if (err)
		return err;
	set_map_sizes(p);
	phases__part(p->opts->phases, "BPF object opened, types of the kernel");
	err = programs__prepare_walk(p);
	/* late, as it waits for the thread that reads the symbols */
	err = err ?: set_entry_ranges(p);
	if (err)
		return err;
	phases__part(p->opts->phases, "unwind rules of the kernel");
	err = native__choose(p);
	if (err)
		return err;
	programs__choose(p);
	err = programs__plan_memory(p);
	if (err)
		return err;
	parallel_load__fold(p->parallel, p->skel->obj);
	err = record_bpf__load(p->skel);
	if (err)
		return log_err(err, "load the BPF programs into the kernel");
	phases__part(p->opts->phases, "BPF programs loaded");
	err = programs__start_walk(p);
	if (err)
		return err;
	err = map_memories(p);
	if (!err)
		err = programs__create_rings(p);
	if (err)
		return log_err(err, "create rings of %llu bytes for each CPU",
			       (unsigned long long)p->memory.ring);
	phases__part(p->opts->phases, "rings");
	err = stackmap__open(p->skel->obj, &p->stackmap);
	if (err)
		return log_err(err, "open the stack map");
	err = programs__locate(p);
	if (err)
		return log_err(err, "run the BPF program that locates per-CPU variables");
	err = fill_maps(p);
	if (err)
		return log_err(err, "fill the BPF maps");
	err = programs__locate_cgroups(p);
	if (err)
		return err;
	phases__part(p->opts->phases, "maps");
	err = programs__calibrate(p);
	p->costs.load_ns = clock_ns(CLOCK_MONOTONIC) - start;
	phases__part(p->opts->phases, "calibration");
	return err;
}

/* Each event needs several descriptors. */
static void raise_limits(struct programs *p)
{
	struct rlimit files = { 1 << 20, 1 << 20 };

	getrlimit(RLIMIT_NOFILE, &p->files_before);
	files.rlim_max = MAX(files.rlim_max, p->files_before.rlim_max);
	files.rlim_cur = MAX(files.rlim_cur, p->files_before.rlim_cur);
	if (setrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max = p->files_before.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

void programs__restore_limits(const struct programs *p)
{
	setrlimit(RLIMIT_NOFILE, &p->files_before);
}

int programs__new(const struct recorder_opts *opts, struct programs **ret_programs)
{
	struct programs *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	raise_limits(p);
	p->opts = opts;
	p->user_stacks = opts->user_stacks;
	p->nr_events = opts->events->nr;
	err = find_cpus(p);
	if (!err)
		err = load(p);
	if (err) {
		programs__free(p);
		return err;
	}
	*ret_programs = p;
	return 0;
}

int programs__attach(struct programs *p)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), loaded;
	int err = parallel_load__wait(p->parallel) ?: set_tails(p);

	loaded = clock_ns(CLOCK_MONOTONIC);
	p->costs.load_ns += loaded - start;
	phases__part(p->opts->phases, "BPF programs verified");
	err = err ?: attach__all(p);
	phases__part(p->opts->phases, "programs attached");
	p->costs.attach_ns = clock_ns(CLOCK_MONOTONIC) - loaded;
	return err;
}

static void release_maps(struct programs *p)
{
	programs__free_rings(p);
	if (p->counts)
		munmap(p->counts, p->counts_len);
	if (p->descs)
		munmap(p->descs, p->descs_len);
	if (p->pids)
		munmap(p->pids, p->pids_len);
	if (p->hits)
		munmap(p->hits, p->hits_len);
	if (p->files)
		munmap(p->files, p->files_len);
	if (p->cpus)
		munmap(p->cpus, p->cpus_len);
	stackmap__free(p->stackmap);
	kwalk__free(p->kwalk);
	parallel_load__free(p->parallel);
	old_way__free(p);
	record_bpf__destroy(p->skel);
}

/* Returns once all write ends of the pipe are closed. */
static void wait_for_end_of_file(int fd)
{
	char end;

	while (read(fd, &end, 1) < 0 && errno == EINTR)
		;
	close(fd);
}

/*
 * A child process detaches the programs, which takes some grace periods for each tracepoint; they
 * have been disarmed before.  No other process may have to wait for the child, so it keeps no
 * descriptors but those of the attachments.  The kernel detaches a program when its last descriptor
 * is closed, and the process that closes it waits.  So the child closes nothing before the parent
 * has closed its descriptors of the attachments and then its end of this pipe.
 */
static void run_detacher(struct programs *p, int pipe_from_parent)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	int null = open("/dev/null", O_RDWR), last = STDERR_FILENO;
	_cleanup_free_ int *fds = NULL;
	unsigned int nr, i;

	setsid();
	prctl(PR_SET_NAME, "stackonce-end");
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_DFL);
	wait_for_end_of_file(pipe_from_parent);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	release_maps(p);
	if (attach__fds(p, &fds, &nr))
		return;
	for (i = 0; i < nr; i++) {
		if (fds[i] > last + 1)
			close_range(last + 1, fds[i] - 1, 0);
		last = MAX(last, fds[i]);
	}
	close_range(last + 1, ~0u, 0);
}

static bool detach_in_child(struct programs *p)
{
	int fds[2];
	pid_t child;

	if (!p->attached || pipe2(fds, O_CLOEXEC))
		return false;
	child = fork();
	if (!child) {
		close(fds[1]);
		run_detacher(p, fds[0]);
		attach__release(p);
		_exit(0);
	}
	close(fds[0]);
	if (child > 0)
		attach__release(p);
	close(fds[1]);
	return child > 0;
}

void programs__free(struct programs *p)
{
	if (!p)
		return;
	field_checks__stop(p->checks);
	if (!detach_in_child(p))
		attach__release(p);
	release_maps(p);
	free(p->unseen);
	free(p->native);
	free(p->online);
	free(p->prepared);
	free(p);
}

int programs__arm(struct programs *p)
{
	int err;

	/* samples are stopped while the flag changes, so their time and number agree */
	if (p->samples)
		samples__stop(p->samples);
	err = attach__misses_start(p);
	if (err)
		return err;
	__atomic_store_n(&p->skel->bss->ctl.armed, 1, __ATOMIC_SEQ_CST);
	if (p->samples)
		samples__start(p->samples);
	return field_checks__start(p->checks, FIELD_CHECKS_FIRST_NS);
}

int programs__disarm(struct programs *p)
{
	int err, grace;

	field_checks__stop(p->checks);
	if (p->samples)
		samples__stop(p->samples);
	__atomic_store_n(&p->skel->bss->ctl.armed, 0, __ATOMIC_SEQ_CST);
	/* at once: the kernel counts what it skips after the end, too */
	err = attach__misses(p);
	p->misses_final = true;
	grace = grace__wait(); /* after this, no program that saw the flag is running */
	field_checks__finish(p->checks);
	if (grace)
		return log_err(grace, "wait for the BPF programs to end");
	return err;
}

void programs__select(struct programs *p, uint32_t tid)
{
	if (tid / 64 < WIRE_PID_WORDS)
		__atomic_fetch_or(&p->pids[tid / 64], 1ull << tid % 64, __ATOMIC_SEQ_CST);
}

void programs__hold(struct programs *p, uint32_t tid)
{
	__atomic_store_n(&p->skel->bss->ctl.held, tid, __ATOMIC_SEQ_CST);
}

void programs__losses(const struct programs *p, struct event_counts **ret_counts,
		      uint32_t **ret_loss_pending)
{
	*ret_counts = p->counts;
	*ret_loss_pending = p->skel->bss->loss_pending;
}

uint64_t *programs__pids(struct programs *p)
{
	return p->pids;
}

void programs__user(const struct programs *p, struct programs_user *ret_user)
{
	const struct record_bpf *s = p->skel;

	*ret_user = (struct programs_user){
		.files = p->files,
		.ctl = (struct wire_user_ctl *)&s->bss->user_ctl,
		.file_ring_fds = p->file_ring_fds,
		.slabs_fd = bpf_map__fd(s->maps.slabs),
		.snapshot_fd = bpf_program__fd(s->progs.snapshot),
	};
}

unsigned int programs__nr_cpus(const struct programs *p)
{
	return p->nr_cpus;
}

struct stackmap *programs__stackmap(const struct programs *p)
{
	return p->stackmap;
}

const struct memory_plan *programs__memory(const struct programs *p)
{
	return &p->memory;
}

uint64_t programs__recorded(const struct programs *p, unsigned int event)
{
	uint64_t sum = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < p->nr_cpus; cpu++)
		sum += __atomic_load_n(&p->counts[event * p->nr_cpus + cpu].c[STK_C_RECORDED],
				       __ATOMIC_ACQUIRE);
	return sum;
}
