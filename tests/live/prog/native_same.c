// SPDX-License-Identifier: GPL-2.0-only
/*
 * native_same [--spoil EVENT] [--only EVENT,...] COMMAND...: while the command runs, fills the
 * record of every native event that this kernel has, or of these, from its arguments and compares
 * it with the kernel's.  Prints a line per event: its name, how many records agreed, differed,
 * changed meanwhile, were unavailable, and missed the other one.  Exits with 1 if records differed,
 * as those of a spoilt event must.  The programs are those of the recorder's own check.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "events/format.h"
#include "kwalk/kwalk.h"
#include "native_check.h"
#include "record/bpf/attach.h"
#include "record/bpf/programs_priv.h"
#include "record/kernel/native_code.h"
#include "record/kernel/native_masks.h"
#include "record/kernel/native_pages.h"
#include "record/kernel/native_rows.h"
#include "record/kernel/tracefs.h"
#include "stackmap/stackmap.h"

#define MAX_CHECKS 64 /* events */

struct event {
	const struct native_event *e;
	int front, link;
	struct bpf_link *check;
};

static struct record_bpf *skel;
static struct btf *types;
static struct native_check *checks; /* by event, in memory of the kernel */
static uint64_t pages;
static const char *spoilt; /* the event whose second argument is taken for its first */
static const char *only; /* names of events, separated by commas; NULL: all */

/* Loads the second program of the check of this event. */
static int load_front(const struct native_code *code, uint32_t event)
{
	const struct bpf_program *front = skel->progs.check_front;
	size_t nr = bpf_program__insn_cnt(front);
	_cleanup_free_ struct bpf_insn *insns = NULL;
	int fd;

	if (attach__copy(front, event, &insns) || native_code__fill_hole(insns, nr, code))
		errx(1, "%s: the front has no place for its code", code->event->event);
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "native", "GPL", insns, nr, NULL);
	if (fd < 0)
		err(1, "load the front of %s", code->event->event);
	return fd;
}

/* The kernel calls the programs in this order. */
static void attach(struct event *e, uint32_t event)
{
	LIBBPF_OPTS(bpf_tracepoint_opts, opts, .bpf_cookie = event);

	e->check = bpf_program__attach_tracepoint_opts(skel->progs.check_kernel, e->e->system,
						       e->e->event, &opts);
	if (!e->check)
		err(1, "attach to %s:%s", e->e->system, e->e->event);
	e->link = bpf_raw_tracepoint_open(e->e->event, e->front);
	if (e->link < 0)
		err(1, "attach to %s", e->e->event);
	checks[event].left = INT64_MAX;
}

static void spoil(struct native_code *code)
{
	for (unsigned int i = 0; i < code->nr; i++)
		if (code->insns[i].code == (BPF_LDX | BPF_MEM | BPF_DW) &&
		    code->insns[i].src_reg == BPF_REG_9 && code->insns[i].off == 8)
			code->insns[i].off = 0;
}

static bool is_wanted(const char *event)
{
	size_t len = strlen(event);
	const char *p = only;

	while (p && !(!strncmp(p, event, len) && (!p[len] || p[len] == ',')))
		p = (p = strchr(p, ',')) ? p + 1 : NULL;
	return !only || p;
}

/* Prepares an event; false: the kernel does not have it, or its records cannot be filled. */
static bool begin(struct event *e, uint32_t event)
{
	_cleanup_free_ char *text = NULL;
	struct native_code code;
	struct ev_format *fmt;
	char why[NATIVE_WHY];
	int error;

	if (tracefs__format(e->e->system, e->e->event, &text))
		return false;
	if (ev_format__parse(text, strlen(text), &fmt))
		errx(1, "parse the format of %s", e->e->event);
	error = native_code__make(e->e->system, e->e->event, fmt, text, types,
				  native_code__reader(types), &code, why);
	if (error) {
		printf("# %s: %s\n", e->e->event, why);
	} else {
		if (pages)
			native_code__set_pages(&code, pages);
		if (spoilt && !strcmp(spoilt, e->e->event))
			spoil(&code);
		native_masks__make(code.event, fmt, &checks[event]);
		e->front = load_front(&code, event);
	}
	ev_format__free(fmt);
	return !error;
}

static uint64_t report(const struct event *e, uint32_t event)
{
	const struct native_check *c = &checks[event];
	const struct native_pair *p = &c->pair[NATIVE_DIFFERED];

	printf("%s %llu %llu %llu %llu %llu\n", e->e->event,
	       (unsigned long long)c->compared[NATIVE_AGREED],
	       (unsigned long long)c->compared[NATIVE_DIFFERED],
	       (unsigned long long)c->compared[NATIVE_CHANGED],
	       (unsigned long long)c->compared[NATIVE_UNAVAILABLE],
	       (unsigned long long)c->compared[NATIVE_MISSED]);
	if (p->is_complete)
		printf("# %s: offset %llu: %#llx is the kernel's, %#llx was filled\n", e->e->event,
		       (unsigned long long)p->at, (unsigned long long)p->kernel[p->at / 8],
		       (unsigned long long)p->own[p->at / 8]);
	return c->compared[NATIVE_DIFFERED];
}

/* ---- the recorder's programs ----------------------------------------------------------------- */

static void set_rodata(const struct percpu_layout *layout)
{
	struct record_bpf__rodata *ro = skel->rodata;

	if (layout->preempt_count == UINT32_MAX || layout->prog_active == UINT32_MAX ||
	    layout->runqueues == UINT32_MAX)
		errx(77, "the kernel's per-CPU variables are unknown");
	ro->percpu_preempt_count = layout->preempt_count;
	ro->percpu_prog_active = layout->prog_active;
	if (layout->perf_recursion != UINT32_MAX) {
		ro->percpu_perf_recursion = layout->perf_recursion;
		ro->perf_recursion_size = layout->perf_recursion_size;
	}
}

static void choose_programs(void)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, skel->obj) bpf_program__set_autoload(p, false);
	bpf_program__set_autoload(skel->progs.check_kernel, true);
	bpf_program__set_autoload(skel->progs.check_front, true);
	bpf_program__set_autoload(skel->progs.check_compare, true);
	bpf_program__set_autoload(skel->progs.locate, true);
	bpf_map__set_autocreate(skel->maps.__bpf_usdt_specs, false);
	bpf_map__set_autocreate(skel->maps.__bpf_usdt_ip_to_spec_id, false);
	bpf_map__set_autocreate(skel->maps.kwalk_counts, false);
	bpf_map__set_max_entries(skel->maps.native_checks, MAX_CHECKS);
	bpf_map__set_max_entries(skel->maps.native_check_cpus, (uint32_t)percpu__nr_cpus());
}

static void locate_cpus(const struct percpu_layout *layout)
{
	for (uint32_t cpu = 0; cpu < (uint32_t)percpu__nr_cpus(); cpu++) {
		LIBBPF_OPTS(bpf_test_run_opts, o, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

		if (!bpf_prog_test_run_opts(bpf_program__fd(skel->progs.locate), &o) &&
		    skel->bss->located_rq[cpu])
			skel->bss->percpu_base[cpu] =
				skel->bss->located_rq[cpu] - layout->runqueues;
	}
}

/* Only a policy that refuses bpf() is a reason to skip the comparison. */
static void __attribute__((noreturn)) fail(int error, const char *what)
{
	errno = -error;
	err(error == -EPERM ? 77 : 1, "%s", what);
}

static void load_programs(void)
{
	struct stackmap_opts so = { .bits = 10, .pool_bytes = 1 << 20 };
	uint32_t tail = WIRE_TAIL_CHECK;
	struct percpu_layout layout;
	int fd, error;

	skel = record_bpf__open();
	types = skel ? btf__load_vmlinux_btf() : NULL;
	if (!types)
		fail(-errno, "open the programs");
	error = percpu__layout(types, &layout);
	if (error)
		fail(error, "find the kernel's per-CPU variables");
	set_rodata(&layout);
	choose_programs();
	error = stackmap__configure(skel->obj, &so) ?: kwalk__prepare_reads(types, skel->obj);
	error = error ?: record_bpf__load(skel);
	if (error)
		fail(error, "load the programs");
	fd = bpf_program__fd(skel->progs.check_compare);
	if (bpf_map_update_elem(bpf_map__fd(skel->maps.tails), &tail, &fd, 0))
		err(1, "set the program that compares");
	checks = mmap(NULL, MAX_CHECKS * sizeof(*checks), PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(skel->maps.native_checks), 0);
	if (checks == MAP_FAILED)
		err(1, "mmap");
	locate_cpus(&layout);
	skel->bss->ctl.armed = 1;
}

static void run(char **command)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execvp(command[0], command);
		err(127, "%s", command[0]);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "%s failed", command[0]);
}

int main(int argc, char **argv)
{
	struct event events[MAX_CHECKS] = { 0 };
	const struct native_event *e, *last = NULL;
	uint32_t nr = 0, i;
	uint64_t differed = 0;

	for (; argc > 3 && !strncmp(argv[1], "--", 2); argv += 2, argc -= 2)
		*(strcmp(argv[1], "--spoil") ? &only : &spoilt) = argv[2];
	if (argc < 2)
		errx(2, "usage: native_same [--spoil EVENT] [--only EVENT,...] COMMAND...");
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	load_programs();
	if (native_pages__find(types, &pages))
		printf("# the address of the first struct page is unknown\n");
	for (i = 0; (e = native_rows__get(i)); last = e, i++) {
		if ((last && !strcmp(last->event, e->event)) || !is_wanted(e->event))
			continue;
		events[nr].e = e;
		if (nr < MAX_CHECKS && begin(&events[nr], nr))
			nr++;
	}
	for (i = 0; i < nr; i++)
		attach(&events[i], i);
	run(argv + 1);
	for (i = 0; i < nr; i++)
		checks[i].left = 0;
	for (i = 0; i < nr; i++)
		close(events[i].link);
	for (i = 0; i < nr; i++)
		bpf_link__destroy(events[i].check);
	for (i = 0; i < nr; i++)
		differed += report(&events[i], i);
	return differed != 0;
}
