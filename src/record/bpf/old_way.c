// SPDX-License-Identifier: GPL-2.0-only
/* Loads and attaches perf's program for native events that take the way back. */
#include "old_way.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attach.h"
#include "cleanup.h"
#include "clock.h"
#include "log.h"
#include "programs_priv.h"
#include "record/select/rec_event.h"

#define TRIES 1000 /* of a CPU that has preemption disabled each time */
#define TRY_US 200

/* The recorder programs, of which each serves all events of a kind. */
enum recorder {
	RECORDER_TRACEPOINT,
	RECORDER_ENTER, /* of all system calls */
	RECORDER_EXIT,
	NR_RECORDERS,
};
static_assert(NR_RECORDERS == OLD_WAY_PROGRAMS, "each may be loaded");

struct old_way {
	struct record_bpf *skel[NR_RECORDERS]; /* opened and loaded for one program; or NULL */
	uint64_t *since; /* by event, see old_way__since() */
	bool stopped;
};

int old_way__new(struct programs *p)
{
	p->old_way = calloc(1, sizeof(*p->old_way));
	if (!p->old_way)
		return -ENOMEM;
	p->old_way->since = calloc(MAX(p->nr_events, 1u), sizeof(*p->old_way->since));
	return p->old_way->since ? 0 : -ENOMEM;
}

void old_way__free(struct programs *p)
{
	unsigned int i;

	for (i = 0; p->old_way && i < NR_RECORDERS; i++)
		record_bpf__destroy(p->old_way->skel[i]);
	if (p->old_way)
		free(p->old_way->since);
	free(p->old_way);
	p->old_way = NULL;
}

void old_way__stop(struct programs *p)
{
	if (p->old_way)
		__atomic_store_n(&p->old_way->stopped, true, __ATOMIC_RELEASE);
}

static bool stopped(const struct programs *p)
{
	return __atomic_load_n(&p->old_way->stopped, __ATOMIC_ACQUIRE);
}

uint64_t old_way__since(const struct programs *p, unsigned int event)
{
	return p->old_way ? __atomic_load_n(&p->old_way->since[event], __ATOMIC_ACQUIRE) : 0;
}

bool old_way__has_begun(const struct programs *p, unsigned int event)
{
	return __atomic_load_n(&p->descs[event].flags, __ATOMIC_RELAXED) & DESC_OLD_WAY;
}

static enum recorder recorder_of(const struct programs *p, unsigned int event)
{
	const struct rec_event *e = &p->opts->events->v[event];

	if (e->kind != STK_KIND_SYSCALL)
		return RECORDER_TRACEPOINT;
	return e->syscall_exit ? RECORDER_EXIT : RECORDER_ENTER;
}

/* ---- load ------------------------------------------------------------------------------------ */

/* The program with the filter, or without. */
static struct bpf_program *program(const struct record_bpf *s, enum recorder r, bool filtered)
{
	switch (r) {
	case RECORDER_ENTER:
		return filtered ? s->progs.record_sys_enter_filtered : s->progs.record_sys_enter;
	case RECORDER_EXIT:
		return filtered ? s->progs.record_sys_exit_filtered : s->progs.record_sys_exit;
	default:
		return filtered ? s->progs.record_filtered : s->progs.record;
	}
}

/* The loaded program that serves the event, or NULL. */
static struct bpf_program *loaded(const struct record_bpf *s, enum recorder r, bool filtered)
{
	struct bpf_program *plain = program(s, r, false), *full = program(s, r, true);

	if (bpf_program__fd(full) >= 0)
		return full;
	return !filtered && bpf_program__fd(plain) >= 0 ? plain : NULL;
}

/* Whether any event that the program will serve has a filter. */
static bool needs_filter(const struct programs *p, enum recorder r)
{
	unsigned int i;

	for (i = 0; i < p->nr_events; i++)
		if (programs__is_native(p, i) && recorder_of(p, i) == r &&
		    p->opts->events->v[i].prog)
			return true;
	return false;
}

/* The maps, variables among them, are those of the programs that are loaded already. */
static int share_maps(const struct programs *p, struct record_bpf *s)
{
	struct bpf_map *from = NULL, *to = NULL;
	int err = 0;

	while (!err) {
		from = bpf_object__next_map(p->skel->obj, from);
		to = bpf_object__next_map(s->obj, to);
		if (!from || !to)
			break;
		if (bpf_map__fd(from) >= 0)
			err = bpf_map__reuse_fd(to, bpf_map__fd(from));
		else
			err = bpf_map__set_autocreate(to, false);
	}
	return err;
}

static int load(struct programs *p, enum recorder r, struct record_bpf **ret_skel)
{
	struct record_bpf *s = record_bpf__open();
	struct bpf_program *prog;
	int err;

	if (!s)
		return -errno;
	bpf_object__for_each_program(prog, s->obj) bpf_program__set_autoload(prog, false);
	bpf_program__set_autoload(program(s, r, needs_filter(p, r)), true);
	err = share_maps(p, s);
	if (!err)
		err = record_bpf__load(s);
	if (err) {
		record_bpf__destroy(s);
		return err;
	}
	*ret_skel = s;
	return 0;
}

int old_way__program(const struct programs *p, unsigned int i)
{
	const struct record_bpf *s = p->old_way ? p->old_way->skel[i] : NULL;
	struct bpf_program *prog = s ? loaded(s, i, false) : NULL;

	return prog ? bpf_program__fd(prog) : -1;
}

static int find_program(struct programs *p, unsigned int event, struct bpf_program **ret_program)
{
	bool filtered = p->opts->events->v[event].prog;
	enum recorder r = recorder_of(p, event);
	struct record_bpf **s = &p->old_way->skel[r];
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int err;

	*ret_program = loaded(p->skel, r, filtered);
	if (*ret_program)
		return 0;
	err = *s ? 0 : load(p, r, s);
	if (err)
		return err;
	log_debug("the program for the old way of events loaded in %llu ms",
		  (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - start) / 1000000);
	*ret_program = loaded(*s, r, filtered);
	return 0;
}

/* ---- attach, switch -------------------------------------------------------------------------- */

/* After the program that records calls: the kernel calls both in the order they were attached. */
static int attach_end_call(struct programs *p, unsigned int event)
{
	bool is_exit = native__is_exit(p, event);
	struct attached *a = is_exit ? &p->sys_exit : &p->sys_enter;

	if (!(p->descs[event].flags & DESC_CALL) || a->second_link >= 0)
		return 0;
	a->second_link = bpf_raw_tracepoint_open(is_exit ? "sys_exit" : "sys_enter",
						 bpf_program__fd(p->skel->progs.end_call));
	return a->second_link < 0 ? -errno : 0;
}

static int attach_recorder(struct programs *p, unsigned int event, const struct bpf_program *prog)
{
	const struct rec_event *e = &p->opts->events->v[event];
	enum recorder r = recorder_of(p, event);
	struct attached *a = attach__of(p, event);
	LIBBPF_OPTS(bpf_tracepoint_opts, opts, .bpf_cookie = event);

	if (a->link) /* for another system call */
		return 0;
	if (r == RECORDER_TRACEPOINT)
		a->link = bpf_program__attach_tracepoint_opts(prog, e->system, e->name, &opts);
	else
		a->link = bpf_program__attach_tracepoint(
			prog, "raw_syscalls", r == RECORDER_ENTER ? "sys_enter" : "sys_exit");
	return a->link ? 0 : -errno;
}

/*
 * A CPU that has preemption disabled at each of so many tries may be in the middle of a hit after
 * all, which is then lost or recorded twice.
 */
static void take_on_cpu(struct programs *p, unsigned int event, unsigned int cpu)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
	uint8_t *taken = &p->counts[event * p->nr_cpus + cpu].old_way;
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		if (bpf_prog_test_run_opts(bpf_program__fd(p->skel->progs.take_old_way), &run))
			break; /* the CPU is offline: nothing happens there */
		if (__atomic_load_n(taken, __ATOMIC_ACQUIRE))
			return;
		usleep(TRY_US);
	}
	__atomic_store_n(taken, 1, __ATOMIC_SEQ_CST);
}

static void take_on_all(struct programs *p, unsigned int event)
{
	unsigned int cpu;

	p->skel->bss->old_way_event = event;
	for (cpu = 0; cpu < p->nr_cpus; cpu++)
		take_on_cpu(p, event, cpu);
	__atomic_store_n(&p->old_way->since[event], recorder_opts__now(p->opts), __ATOMIC_RELEASE);
}

/* An event that cannot be attached to is left out if its name was a pattern, see attach__all(). */
static bool has_front(const struct programs *p, unsigned int event)
{
	return programs__is_native(p, event) &&
	       (native__kind(p, event) == NATIVE_CALL || p->attached[event].count_link >= 0);
}

int old_way__take(struct programs *p, unsigned int event)
{
	const struct rec_event *e;
	struct bpf_program *prog;
	unsigned int cpu;
	int err;

	if (event >= p->nr_events || !has_front(p, event))
		return -EINVAL;
	if (old_way__since(p, event))
		return -EALREADY;
	e = &p->opts->events->v[event];
	err = stopped(p) ? -ECANCELED : find_program(p, event, &prog);
	if (!err && stopped(p))
		err = -ECANCELED;
	err = err ?: attach_recorder(p, event, prog) ?: attach_end_call(p, event);
	if (err) {
		if (err != -ECANCELED)
			log_warn("cannot let the kernel fill the records of %s:%s: %s; they stay "
				 "those of the recorder's programs",
				 e->system, e->name, strerror(-err));
		return err;
	}
	for (cpu = 0; cpu < p->nr_cpus; cpu++)
		__atomic_store_n(&p->counts[event * p->nr_cpus + cpu].ask, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&p->descs[event].flags, DESC_OLD_WAY, __ATOMIC_SEQ_CST);
	take_on_all(p, event);
	return 0;
}
