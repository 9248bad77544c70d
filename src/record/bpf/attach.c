// SPDX-License-Identifier: GPL-2.0-only
/* Attaches the programs to events and reads the counters of the attachments. */
#include "attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attach_probes.h"
#include "cleanup.h"
#include "field_checks.h"
#include "log.h"
#include "programs_priv.h"
#include "record/select/rec_event.h"
#include "samples.h"
#include "symbols/ksyms.h"

#define MISSES_LOOKS 8
#define MISSES_NAP_US 1000

void attach__tracer_range(struct ksyms *syms, struct rec_event *e)
{
	static const char *const trampolines[] = { "arch_rethook_trampoline", "return_to_handler",
						   "__kretprobe_trampoline" };
	char name[256];
	struct ksym sym;
	size_t i;

	if (e->desc.flags & DESC_RETURN) {
		for (i = 0; i < ARRAY_SIZE(trampolines); i++) {
			if (ksyms__by_name(syms, trampolines[i], &sym))
				continue;
			e->desc.tracer_start = sym.start;
			e->desc.tracer_len = sym.size;
			return;
		}
	}
	if (e->kind != STK_KIND_TRACEPOINT && e->kind != STK_KIND_SYSCALL)
		return;
	if (e->kind == STK_KIND_SYSCALL)
		snprintf(name, sizeof(name), "__traceiter_sys_%s",
			 e->syscall_exit ? "exit" : "enter");
	else
		snprintf(name, sizeof(name), "__traceiter_%s", e->name);
	if (ksyms__by_name(syms, name, &sym))
		return;
	e->desc.tracer_start = sym.start;
	e->desc.tracer_len = sym.size;
}

int attach__set(struct bpf_insn *insns, size_t nr, int from, int to)
{
	size_t i, patched = 0;

	for (i = 0; i < nr; i++) {
		if (insns[i].imm == from &&
		    ((BPF_CLASS(insns[i].code) == BPF_ALU && BPF_OP(insns[i].code) == BPF_MOV) ||
		     insns[i].code == (BPF_ALU64 | BPF_MOV | BPF_K))) {
			insns[i].imm = to;
			patched++;
		}
	}
	return patched == 1 ? 0 : -EPROTO;
}

int attach__copy(const struct bpf_program *prog, unsigned int event, struct bpf_insn **ret_insns)
{
	size_t nr = bpf_program__insn_cnt(prog);
	_cleanup_free_ struct bpf_insn *insns = malloc(nr * sizeof(*insns));
	int err;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), nr * sizeof(*insns));
	err = attach__set(insns, nr, WIRE_COUNT_EVENT, event);
	if (!err)
		*ret_insns = take_ptr(insns);
	return err;
}

int attach__load_counter(const struct bpf_program *count, int type, unsigned int event,
			 const struct bpf_prog_load_opts *opts)
{
	_cleanup_free_ struct bpf_insn *insns = NULL;
	int err = attach__copy(count, event, &insns), fd;

	if (err)
		return err;
	fd = bpf_prog_load(type, "stk_count", "GPL", insns, bpf_program__insn_cnt(count), opts);
	return fd < 0 ? -errno : fd;
}

static int attach_counter(struct attached *a, const char *tracepoint, int prog)
{
	a->count_prog = prog;
	a->count_link = bpf_raw_tracepoint_open(tracepoint, prog);
	return a->count_link < 0 ? -errno : 0;
}

static int attach_recorder(struct attached *a, const struct bpf_program *prog, const char *system,
			   const char *name, unsigned int event)
{
	LIBBPF_OPTS(bpf_tracepoint_opts, opts, .bpf_cookie = event);

	a->link = bpf_program__attach_tracepoint_opts(prog, system, name, &opts);
	return a->link ? 0 : -errno;
}

static void detach(struct attached *a)
{
	closep(&a->second_link);
	closep(&a->second_prog);
	a->second_link = a->second_prog = -1;
	bpf_link__destroy(a->link);
	a->link = NULL;
	closep(&a->count_link);
	closep(&a->count_prog);
	a->count_link = a->count_prog = -1;
}

static int attach_front(struct programs *p, unsigned int i, enum wire_role role, int *ret_prog,
			int *ret_link)
{
	int prog = native__load_front(p, i, role);

	if (prog < 0)
		return prog;
	*ret_prog = prog;
	*ret_link = bpf_raw_tracepoint_open(p->opts->events->v[i].name, prog);
	return *ret_link < 0 ? -errno : 0;
}

/* The kernel calls them in the order in which they were attached. */
static int attach_fronts(struct programs *p, unsigned int i)
{
	struct attached *a = &p->attached[i];
	bool two = programs__has_second(p, i);
	int err;

	err = attach_front(p, i, two ? WIRE_ROLE_FIRST : WIRE_ROLE_ONLY, &a->count_prog,
			   &a->count_link);
	if (!err && two)
		err = attach_front(p, i, WIRE_ROLE_SECOND, &a->second_prog, &a->second_link);
	if (err)
		detach(a);
	return err;
}

static int attach_event(struct programs *p, unsigned int i)
{
	struct rec_event *e = &p->opts->events->v[i];
	struct attached *a = &p->attached[i];
	const struct bpf_program *recorder = p->skel->progs.record;
	int err, prog;

	if (bpf_program__fd(recorder) < 0)
		recorder = p->skel->progs.record_filtered;
	prog = native__kind(p, i) ? native__load_front(p, i, WIRE_ROLE_ONLY) :
				    attach__load_counter(p->skel->progs.count,
							 BPF_PROG_TYPE_RAW_TRACEPOINT, i, NULL);
	if (prog < 0)
		return prog;
	err = attach_counter(a, e->name, prog);
	if (!err)
		err = attach_recorder(a, recorder, e->system, e->name, i);
	if (err)
		detach(a);
	return err;
}

/*
 * Attaches the native front, or the counter and the loaded recorder of the two, to sys_enter or
 * sys_exit.
 */
static int attach_syscall_end(struct attached *a, const char *tracepoint,
			      const struct bpf_program *native, const struct bpf_program *count,
			      const struct bpf_program *plain, const struct bpf_program *filtered)
{
	const struct bpf_program *prog = bpf_program__fd(filtered) >= 0 ? filtered : plain;
	int err;

	if (bpf_program__fd(native) >= 0)
		return attach_counter(a, tracepoint,
				      fcntl(bpf_program__fd(native), F_DUPFD_CLOEXEC, 0));
	if (bpf_program__fd(count) < 0)
		return 0;
	err = attach_counter(a, tracepoint, fcntl(bpf_program__fd(count), F_DUPFD_CLOEXEC, 0));
	return err ?: attach_recorder(a, prog, "raw_syscalls", tracepoint, 0);
}

static int attach_syscalls(struct programs *p)
{
	struct record_bpf *s = p->skel;
	int err;

	err = attach_syscall_end(&p->sys_enter, "sys_enter", s->progs.native_call_enter,
				 s->progs.count_sys_enter, s->progs.record_sys_enter,
				 s->progs.record_sys_enter_filtered);
	if (!err)
		err = attach_syscall_end(&p->sys_exit, "sys_exit", s->progs.native_call_exit,
					 s->progs.count_sys_exit, s->progs.record_sys_exit,
					 s->progs.record_sys_exit_filtered);
	return err ? log_err(err, "attach to raw_syscalls:sys_enter and sys_exit") : 0;
}

static int attach_samples(struct programs *p)
{
	struct samples_opts o = {
		.nr_cpus = p->nr_cpus,
		.hz = p->opts->sample_hz,
		.cycles = p->opts->sample_cycles,
		.cpus = p->opts->cpus,
		.program = p->skel->progs.sample,
	};
	int err = samples__new(&o, &p->samples);

	return err ?: samples__refresh(p->samples, p->online);
}

struct attached *attach__of(struct programs *p, unsigned int event)
{
	const struct rec_event *e = &p->opts->events->v[event];

	if (e->kind != STK_KIND_SYSCALL)
		return &p->attached[event];
	return e->syscall_exit ? &p->sys_exit : &p->sys_enter;
}

int attach__all(struct programs *p)
{
	static const struct attached none = {
		.count_prog = -1, .count_link = -1, .second_prog = -1, .second_link = -1
	};
	struct rec_events *l = p->opts->events;
	unsigned int i;
	int err;

	p->attached = malloc(MAX(p->nr_events, 1u) * sizeof(*p->attached));
	if (!p->attached)
		return -ENOMEM;
	for (i = 0; i < p->nr_events; i++)
		p->attached[i] = none;
	p->sys_enter = p->sys_exit = none;
	if (recorder_opts__selects_tasks(p->opts)) {
		p->follow = bpf_program__attach(p->skel->progs.follow);
		if (!p->follow)
			return log_err(-errno, "attach to task:task_newtask");
	}
	if (programs__selects_owners(p)) {
		p->remember = bpf_program__attach(p->skel->progs.remember);
		if (!p->remember)
			return log_err(-errno, "attach to sched:sched_process_exit");
	}
	if (p->opts->command) {
		p->command = bpf_program__attach(p->skel->progs.begin_command);
		if (!p->command)
			return log_err(-errno, "attach to task:task_rename");
	}
	if (p->user_stacks) {
		p->begin = bpf_program__attach(p->skel->progs.begin_program);
		if (!p->begin)
			return log_err(-errno, "attach to sched:sched_process_exec");
	}
	err = field_checks__new(p, &p->checks);
	if (err)
		return err;
	for (i = 0; i < p->nr_events; i++) {
		struct rec_event *e = &l->v[i];

		if (e->kind != STK_KIND_TRACEPOINT)
			continue;
		err = programs__is_native(p, i) ? attach_fronts(p, i) : attach_event(p, i);
		if (err && !e->globbed)
			return log_err(err, "attach to %s:%s", e->system, e->name);
		if (err)
			rec_events__leave_out(l, e->system, e->name, strerror(-err));
	}
	err = attach_syscalls(p);
	if (!err)
		err = attach_probes__all(p);
	if (!err && p->opts->sample_hz)
		err = attach_samples(p);
	return err;
}

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return CMP(x, y);
}

static unsigned int add_fds(const struct attached *a, int *fds, unsigned int nr)
{
	if (a->link)
		fds[nr++] = bpf_link__fd(a->link);
	if (a->count_link >= 0)
		fds[nr++] = a->count_link;
	if (a->second_link >= 0)
		fds[nr++] = a->second_link;
	return nr;
}

int attach__fds(const struct programs *p, int **ret_fds, unsigned int *ret_nr)
{
	int *fds = malloc((3 * p->nr_events + 2 * p->nr_cpus + 2 * p->nr_probes +
			   field_checks__max_fds(p->checks) + 9) *
			  sizeof(*fds));
	unsigned int nr = 0, i;

	if (!fds)
		return -ENOMEM;
	for (i = 0; p->attached && i < p->nr_events; i++)
		nr = add_fds(&p->attached[i], fds, nr);
	if (p->attached) {
		nr = add_fds(&p->sys_enter, fds, nr);
		nr = add_fds(&p->sys_exit, fds, nr);
	}
	for (i = 0; i < p->nr_probes; i++) {
		/* the link of a USDT stands for several and has descriptor 0 */
		if (p->probes[i].link && bpf_link__fd(p->probes[i].link) > 0)
			fds[nr++] = bpf_link__fd(p->probes[i].link);
		if (p->probes[i].count_link >= 0)
			fds[nr++] = p->probes[i].count_link;
	}
	if (p->samples)
		nr += samples__fds(p->samples, fds + nr);
	if (p->follow)
		fds[nr++] = bpf_link__fd(p->follow);
	if (p->remember)
		fds[nr++] = bpf_link__fd(p->remember);
	if (p->begin)
		fds[nr++] = bpf_link__fd(p->begin);
	if (p->command)
		fds[nr++] = bpf_link__fd(p->command);
	if (p->calibration)
		fds[nr++] = bpf_link__fd(p->calibration);
	nr += field_checks__fds(p->checks, fds + nr);
	qsort(fds, nr, sizeof(*fds), compare_ints);
	*ret_fds = fds;
	*ret_nr = nr;
	return 0;
}

void attach__release(struct programs *p)
{
	unsigned int i;

	field_checks__free(p->checks);
	p->checks = NULL;
	for (i = 0; p->attached && i < p->nr_events; i++)
		detach(&p->attached[i]);
	if (p->attached) {
		detach(&p->sys_enter);
		detach(&p->sys_exit);
	}
	for (i = 0; i < p->nr_probes; i++) {
		bpf_link__destroy(p->probes[i].link);
		closep(&p->probes[i].count_link);
		closep(&p->probes[i].count_prog);
	}
	samples__free(p->samples);
	bpf_link__destroy(p->follow);
	bpf_link__destroy(p->remember);
	bpf_link__destroy(p->begin);
	bpf_link__destroy(p->command);
	programs__end_calibration(p);
	free(p->attached);
	free(p->probes);
	p->probes = NULL;
	p->nr_probes = 0;
	p->samples = NULL;
	p->attached = NULL;
}

void attach__drop_counters(struct programs *p, unsigned int event)
{
	unsigned int i;

	for (i = 0; i < p->nr_probes; i++) {
		struct attached_probe *a = &p->probes[i];

		if (a->event != event)
			continue;
		closep(&a->count_link);
		closep(&a->count_prog);
		a->count_link = a->count_prog = -1;
	}
}

static int prog_misses(int fd, uint64_t *ret_misses)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	*ret_misses = info.recursion_misses;
	return 0;
}

/* Sums the misses over all functions of an event. */
static int function_misses(struct programs *p)
{
	uint64_t misses = 0;
	unsigned int i;
	int err;

	for (i = 0; i < p->nr_probes; i++)
		if (p->probes[i].count_prog >= 0)
			p->attached[p->probes[i].event].misses = 0;
	for (i = 0; i < p->nr_probes; i++) {
		struct attached_probe *a = &p->probes[i];

		if (a->count_prog < 0)
			continue;
		err = prog_misses(a->count_prog, &misses);
		if (err)
			return err;
		p->attached[a->event].misses += misses - a->misses_before;
	}
	return 0;
}

/*
 * Reads the misses of a first front, and how many of them the second has taken, which grow at any
 * time.  A hit is missed first, then taken; so while the recording is not armed, and nothing is
 * lost, the least difference of several looks is the true one.  While it is armed, a hit that the
 * second front was not skipped for, and has not taken yet, would be written as a loss, so this
 * looks again a little later; but not where a CPU's second front took nothing at first.
 */
static int front_misses(const struct programs *p, unsigned int event, struct attached *a)
{
	bool armed = __atomic_load_n(&p->skel->bss->ctl.armed, __ATOMIC_RELAXED);
	uint64_t misses = 0, second = 0, before, taken = 0, least = UINT64_MAX;
	unsigned int i, looks = armed && p->late_cpu ? 1 : MISSES_LOOKS;
	int err;

	for (i = 0; i < looks; i++) {
		if (armed && i)
			usleep(MISSES_NAP_US);
		before = native__taken(p, event);
		err = prog_misses(a->count_prog, &misses);
		err = err ?: prog_misses(a->second_prog, &second);
		if (err)
			return err;
		taken = native__taken(p, event);
		least = MIN(least, misses - before);
		if (armed && misses - a->misses_before <=
				     taken - a->taken_before + second - a->second_before)
			break;
	}
	a->taken = (armed ? taken : misses - least) - a->taken_before;
	a->misses = misses - a->misses_before;
	a->second_misses = second - a->second_before;
	return 0;
}

static int counter_misses(struct attached *a)
{
	uint64_t misses = 0;
	int err = a->count_prog < 0 ? 0 : prog_misses(a->count_prog, &misses);

	if (a->count_prog >= 0)
		a->misses = err ? 0 : misses - a->misses_before;
	return err;
}

int attach__misses(struct programs *p)
{
	unsigned int i;
	int err;

	if (p->misses_final)
		return 0;
	err = counter_misses(&p->sys_enter) ?: counter_misses(&p->sys_exit);
	for (i = 0; i < p->nr_events && !err; i++) {
		struct attached *a = &p->attached[i];

		err = a->second_prog >= 0 ? front_misses(p, i, a) : counter_misses(a);
	}
	return err ?: function_misses(p);
}

static void begin_misses(struct attached *a)
{
	a->misses_before = a->misses;
	a->misses = 0;
	a->taken_before = a->taken;
	a->taken = 0;
	a->second_before = a->second_misses;
	a->second_misses = 0;
}

int attach__misses_start(struct programs *p)
{
	unsigned int i;
	int err;

	err = attach__misses(p);
	begin_misses(&p->sys_enter);
	begin_misses(&p->sys_exit);
	for (i = 0; i < p->nr_events; i++)
		begin_misses(&p->attached[i]);
	for (i = 0; i < p->nr_probes && !err; i++)
		if (p->probes[i].count_prog >= 0)
			err = prog_misses(p->probes[i].count_prog, &p->probes[i].misses_before);
	return err;
}
