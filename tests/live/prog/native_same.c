// SPDX-License-Identifier: GPL-2.0-only
/*
 * native_same [--spoil EVENT] COMMAND...: while the command runs, fills the record of every native
 * event that this kernel has from its arguments and compares it with the kernel's.  Prints a line
 * per event: its name, how many records agreed, differed, changed meanwhile, were unavailable, and
 * missed the other one.  Exits with 1 if records differed, as those of a spoilt event must.
 */
#include <err.h>
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
#include "native_check.h"
#include "native_same.h"
#include "record/kernel/native_code.h"
#include "record/kernel/native_masks.h"
#include "record/kernel/native_pages.h"
#include "record/kernel/native_rows.h"
#include "record/kernel/tracefs.h"

#include "native_same.skel.h"

struct event {
	const struct native_event *e;
	int front, link;
	struct bpf_link *check;
};

static struct native_same_bpf *skel;
static struct btf *types;
static uint64_t pages;
static const char *spoilt; /* the event whose second argument is taken for its first */

/* Loads the front of this event. */
static int load_front(const struct native_code *code, uint32_t event)
{
	size_t nr = bpf_program__insn_cnt(skel->progs.front), i, patched = 0;
	_cleanup_free_ struct bpf_insn *insns = malloc(nr * sizeof(*insns));
	int fd;

	if (!insns)
		err(1, "malloc");
	memcpy(insns, bpf_program__insns(skel->progs.front), nr * sizeof(*insns));
	for (i = 0; i < nr; i++) {
		if (insns[i].imm != WIRE_COUNT_EVENT || BPF_OP(insns[i].code) != BPF_MOV)
			continue;
		insns[i].imm = (int32_t)event;
		patched++;
	}
	if (patched != 1 || native_code__fill_hole(insns, nr, code))
		errx(1, "%s: the front has no place for its code", code->event->event);
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "native", "GPL", insns, nr, NULL);
	if (fd < 0)
		err(1, "load the front of %s", code->event->event);
	return fd;
}

static void attach(struct event *e, uint32_t event)
{
	LIBBPF_OPTS(bpf_tracepoint_opts, opts, .bpf_cookie = event);

	e->link = bpf_raw_tracepoint_open(e->e->event, e->front);
	if (e->link < 0)
		err(1, "attach to %s", e->e->event);
	e->check = bpf_program__attach_tracepoint_opts(skel->progs.check, e->e->system, e->e->event,
						       &opts);
	if (!e->check)
		err(1, "attach to %s:%s", e->e->system, e->e->event);
}

static void spoil(struct native_code *code)
{
	for (unsigned int i = 0; i < code->nr; i++)
		if (code->insns[i].code == (BPF_LDX | BPF_MEM | BPF_DW) &&
		    code->insns[i].src_reg == BPF_REG_9 && code->insns[i].off == 8)
			code->insns[i].off = 0;
}

/* Prepares an event; false: the kernel does not have it, or its records cannot be filled. */
static bool begin(struct event *e, uint32_t event)
{
	_cleanup_free_ char *text = NULL;
	struct native_code code;
	struct native_check check;
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
		if (native_masks__make(code.event, fmt, types, &check) ||
		    bpf_map_update_elem(bpf_map__fd(skel->maps.checks), &event, &check, 0))
			errx(1, "prepare the check of %s", e->e->event);
		e->front = load_front(&code, event);
	}
	ev_format__free(fmt);
	return !error;
}

static uint64_t report(const struct event *e, uint32_t event)
{
	struct native_check c;

	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.checks), &event, &c))
		err(1, "read the result of %s", e->e->event);
	printf("%s %llu %llu %llu %llu %llu\n", e->e->event, (unsigned long long)c.agreed,
	       (unsigned long long)c.differed, (unsigned long long)c.changed,
	       (unsigned long long)c.unavailable, (unsigned long long)c.missed);
	if (c.differed)
		printf("# %s: offset %u: %#llx is the kernel's, %#llx was filled\n", e->e->event,
		       c.at, (unsigned long long)c.kernel, (unsigned long long)c.own);
	return c.differed;
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

	if (argc > 3 && !strcmp(argv[1], "--spoil")) {
		spoilt = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc < 2)
		errx(2, "usage: native_same [--spoil EVENT] COMMAND...");
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	skel = native_same_bpf__open_and_load();
	types = btf__load_vmlinux_btf();
	if (!skel || !types)
		err(77, "load the programs");
	if (native_pages__find(types, &pages))
		printf("# the address of the first struct page is unknown\n");
	for (i = 0; (e = native_rows__get(i)); last = e, i++) {
		if (last && !strcmp(last->event, e->event))
			continue;
		events[nr].e = e;
		if (nr < MAX_CHECKS && begin(&events[nr], nr))
			nr++;
	}
	for (i = 0; i < nr; i++)
		attach(&events[i], i);
	run(argv + 1);
	for (i = 0; i < nr; i++)
		bpf_link__destroy(events[i].check);
	for (i = 0; i < nr; i++)
		close(events[i].link);
	for (i = 0; i < nr; i++)
		differed += report(&events[i], i);
	return differed != 0;
}
