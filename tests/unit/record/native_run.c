// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the instructions that fill records, for every event of the table that this kernel has and
 * with both ways to read memory, on tasks and on objects that the test makes in the kernel's
 * memory.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "events/format.h"
#include "native_run.h"
#include "record/kernel/native_code.h"
#include "record/kernel/native_rows.h"
#include "record/kernel/native_types.h"
#include "record/kernel/tracefs.h"

#include "native_run.skel.h"

static struct native_run_bpf *skel;
static struct btf *types;
static struct run run;
static enum native_reader reader;

static void put(void)
{
	uint32_t zero = 0;

	assert_int_equal(bpf_map_update_elem(bpf_map__fd(skel->maps.runs), &zero, &run, 0), 0);
}

static void get(void)
{
	uint32_t zero = 0;

	assert_int_equal(bpf_map_lookup_elem(bpf_map__fd(skel->maps.runs), &zero, &run), 0);
}

static struct ev_format *format(const char *system, const char *event, char **ret_text)
{
	struct ev_format *fmt;

	if (tracefs__format(system, event, ret_text))
		return NULL;
	assert_int_equal(ev_format__parse(*ret_text, strlen(*ret_text), &fmt), 0);
	return fmt;
}

/* Loads the program with the code of the event in its hole. */
static int load(const struct native_code *code)
{
	size_t nr = bpf_program__insn_cnt(skel->progs.fill);
	_cleanup_free_ struct bpf_insn *insns = malloc(nr * sizeof(*insns));
	_cleanup_free_ char *log = malloc(1 << 20);
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = log, .log_size = 1 << 20);
	int fd;

	memcpy(insns, bpf_program__insns(skel->progs.fill), nr * sizeof(*insns));
	assert_int_equal(native_code__fill_hole(insns, nr, code), 0);
	log[0] = '\0';
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "native", "GPL", insns, nr, &opts);
	if (fd < 0)
		print_message("%s\n", log);
	assert_true(fd >= 0);
	return fd;
}

static void call(int prog, const uint64_t args[NATIVE_MAX_ARGS])
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args,
		    .ctx_size_in = NATIVE_MAX_ARGS * sizeof(*args));

	assert_int_equal(bpf_prog_test_run_opts(prog, &opts), 0);
}

/* Makes the record of an event in run; the format is the caller's. */
static struct ev_format *make(const char *system, const char *event, const uint64_t *args,
			      size_t nr)
{
	uint64_t all[NATIVE_MAX_ARGS] = { 0 };
	_cleanup_free_ char *text = NULL;
	struct ev_format *fmt = format(system, event, &text);
	struct native_code code;
	char why[NATIVE_WHY];
	size_t i;
	int prog;

	assert_non_null(fmt);
	if (native_code__make(system, event, fmt, text, types, reader, &code, why))
		fail_msg("%s: %s", event, why);
	prog = load(&code);
	memcpy(all, args, nr * sizeof(*args));
	memset(run.before, 0xa5, sizeof(run) - offsetof(struct run, before));
	put();
	call(prog, all);
	get();
	close(prog);
	for (i = 0; i < GUARD; i++) {
		assert_int_equal(run.before[i], 0xa5);
		assert_int_equal(run.after[i], 0xa5);
	}
	assert_in_range(run.size, 0, NATIVE_ROOM);
	return fmt;
}
#define MAKE(system, event, ...)                               \
	make(system, event, (const uint64_t[]){ __VA_ARGS__ }, \
	     sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static int64_t number(const struct ev_format *fmt, const char *field)
{
	return (int64_t)ev_field__value(ev_format__find(fmt, field), run.rec, run.size);
}

static void want_text(const struct ev_format *fmt, const char *field, const char *want)
{
	size_t len;
	const char *s = ev_field__bytes(ev_format__find(fmt, field), run.rec, run.size, &len);

	assert_non_null(s);
	assert_true(strnlen(s, len) < len);
	assert_string_equal(s, want);
}

static void want_state(uint64_t preempt, uint64_t state, int64_t want)
{
	struct ev_format *fmt = MAKE("sched", "sched_switch", preempt, run.task, run.task, state);

	if (want < 0) {
		assert_int_equal(run.size, 0);
	} else {
		assert_int_equal(run.size, ev_format__fixed_size(fmt));
		assert_int_equal(number(fmt, "prev_state"), want);
	}
	ev_format__free(fmt);
}

static void switches(void **state)
{
	struct ev_format *fmt = MAKE("sched", "sched_switch", 0, run.task, run.task, 1);

	want_text(fmt, "prev_comm", "native fields");
	want_text(fmt, "next_comm", "native fields");
	assert_int_equal(number(fmt, "prev_pid"), gettid());
	assert_int_equal(number(fmt, "next_pid"), gettid());
	assert_in_range(number(fmt, "prev_prio"), 100, 139);
	ev_format__free(fmt);
	want_state(0, 0, 0);
	want_state(0, 1, 1);
	want_state(0, 2, 2);
	want_state(0, 0x402, 0x80);
	want_state(0, 0x2001, 1);
	want_state(0, 0x48, 0x40);
	want_state(1, 1, 0x100);
	want_state(1, 0x8000, 0x100);
	want_state(0, 0x8000, -1);
	want_state(0, 0x1002, -1);
}

static void refused(void)
{
	print_message("bpf() is refused: %s\n", strerror(errno));
	exit(77);
}

static int setup(void **state)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	prctl(PR_SET_NAME, "native fields");
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	skel = native_run_bpf__open_and_load();
	if (!skel)
		refused();
	types = btf__load_vmlinux_btf();
	assert_non_null(types);
	call(bpf_program__fd(skel->progs.addresses), (uint64_t[NATIVE_MAX_ARGS]){ 0 });
	get();
	assert_true(run.task && run.objects);
	reader = native_code__reader(types);
	return 0;
}

static int teardown(void **state)
{
	btf__free(types);
	native_run_bpf__destroy(skel);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches),
	};
	int rc;

	reader = NATIVE_BY_HELPER;
	rc = cmocka_run_group_tests(tests, setup, teardown);
	return rc;
}
