// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many instructions the kernel follows to verify each program, about 1 us each: most of the
 * time that a recording takes to start.  A loop in which states do not converge multiplies what is
 * in it; a function of its own, or a value that is read from memory again, ends that.
 *
 * The programs are loaded with the settings of a recording, but not attached.  The numbers differ
 * by some per cent between kernels; the budgets are a quarter above those of Linux 6.18.
 *
 * Also, how much stack each program needs with all that it calls: up to Linux 6.3 a frame takes a
 * multiple of 32 bytes, so a program that this kernel accepts may be refused there.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "cleanup.h"
#include "kwalk/kwalk_copy.h"
#include "kwalk/kwalk_copy.skel.h"
#include "kwalk/kwalk_priv.h"
#include "record/bpf/parallel_load.h"
#include "record/bpf/programs_priv.h"
#include "stackmap/stackmap.h"

struct budget {
	const char *program;
	unsigned int by_load, by_copy; /* instructions, by how the kernel's memory is read */
};

static const struct budget with_user_stacks[] = {
	{ "record", 104000, 123000 },
	{ "record_filtered", 117000, 136000 },
	{ "nested", 2000, 2000 },
	{ "record_sys_enter", 101000, 120000 },
	{ "record_sys_exit", 99000, 119000 },
	{ "sample", 99000, 119000 },
	{ "begin_program", 5000, 5000 },
	{ "snapshot", 2000, 2000 },
	{ "count", 1000, 1000 },
	{ "native_end", 27000, 27000 },
	{ "native_slow", 48000, 67000 },
	{ "native_user", 65000, 65000 },
	{ "native_filter", 14000, 14000 },
	{ "native", 4700, 4700 },
	{ "check_kernel", 500, 500 },
	{ "check_front", 1200, 1200 },
	{ "check_sys_enter", 1400, 1400 },
	{ "check_sys_exit", 400, 400 },
	{ "check_compare", 4000, 4000 },
};

static const struct budget kernel_stacks_only[] = {
	{ "record", 54000, 73000 },
	{ "nested", 2000, 2000 },
};

static const struct budget no_stacks[] = {
	{ "record", 9000, 9000 },
	{ "nested", 2000, 2000 },
};

static void set_sizes(struct record_bpf *s)
{
	struct stackmap_opts so = { .bits = 12, .pool_bytes = 1 << 20 };

	bpf_map__set_max_entries(s->maps.files, WIRE_FILE_ENTRIES);
	bpf_map__set_max_entries(s->maps.file_slots, WIRE_FILE_SLOTS);
	bpf_map__set_autocreate(s->maps.__bpf_usdt_specs, false);
	bpf_map__set_autocreate(s->maps.__bpf_usdt_ip_to_spec_id, false);
	bpf_map__set_autocreate(s->maps.kwalk_counts, false);
	assert_int_equal(stackmap__configure(s->obj, &so), 0);
}

static void set_reader(struct record_bpf *s, enum kwalk_reader reader)
{
	struct kwalk_settings settings;
	const char *suffix = ".rodata.kwalk";
	struct bpf_map *m;

	bpf_object__for_each_map(m, s->obj)
	{
		const char *name = bpf_map__name(m);
		size_t size, len = strlen(name);

		if (len < strlen(suffix) || strcmp(name + len - strlen(suffix), suffix))
			continue;
		memcpy(&settings, bpf_map__initial_value(m, &size), sizeof(settings));
		if (settings.reader == KWALK_BY_LOAD)
			settings.reader = reader;
		assert_int_equal(bpf_map__set_initial_value(m, &settings, sizeof(settings)), 0);
	}
}

static void set_rodata(struct record_bpf *s, bool kernel_stacks, bool user_stacks)
{
	struct record_bpf__rodata *ro = s->rodata;

	ro->nr_cpus = 2;
	ro->self_tgid = getpid();
	ro->kernel_stacks = kernel_stacks;
	ro->user_stacks = user_stacks;
	ro->user_thread_mask = 127;
	ro->copy_limit = 4 << 20;
	ro->sample_event = UINT32_MAX;
	ro->entry_start = 0xffffffff82000000;
	ro->entry_len = 0x2000;
	ro->percpu_preempt_count = ro->percpu_prog_active = ro->percpu_perf_recursion = 8;
	ro->perf_recursion_size = 4;
	ro->ring_layout = (struct wire_rings){
		.bytes = WIRE_RING_PART,
		.nr_parts = 1,
		.mask = WIRE_RING_PART - 8,
	};
}

/* The programs with their settings, none selected to be loaded.  k NULL: no kernel stacks. */
static struct record_bpf *prepare(const struct kwalk *k, bool user_stacks)
{
	struct record_bpf *s = record_bpf__open();
	struct bpf_program *p;

	assert_non_null(s);
	set_sizes(s);
	set_rodata(s, k, user_stacks);
	assert_int_equal(kwalk__prepare(k, s->obj), 0);
	bpf_object__for_each_program(p, s->obj) bpf_program__set_autoload(p, false);
	return s;
}

static struct bpf_program *program(struct record_bpf *s, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(s->obj, name);

	assert_non_null(p);
	return p;
}

static unsigned int verified(const struct bpf_program *p)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len), 0);
	return info.verified_insns;
}

static void check(const char *what, const struct kwalk *k, enum kwalk_reader reader,
		  bool user_stacks, const struct budget *v, size_t nr)
{
	struct parallel_load *load;
	struct record_bpf *s;
	bool over = false;
	size_t i;

	assert_int_equal(parallel_load__new(&load), 0);
	s = prepare(k, user_stacks);
	set_reader(s, reader);
	for (i = 0; i < nr; i++)
		bpf_program__set_autoload(program(s, v[i].program), true);
	assert_int_equal(record_bpf__load(s), 0);
	assert_int_equal(parallel_load__wait(load), 0);
	for (i = 0; i < nr; i++) {
		unsigned int most = reader == KWALK_BY_LOAD ? v[i].by_load : v[i].by_copy, is;

		is = verified(program(s, v[i].program));
		printf("%-28s %-18s %7u of %7u\n", what, v[i].program, is, most);
		over |= is > most;
	}
	parallel_load__free(load);
	record_bpf__destroy(s);
	assert_false(over);
}

/* ---- the stack ------------------------------------------------------------------------------- */

#define FRAME_POINTER 10
#define MOST_INSNS 65536

/* A program and the functions behind it. */
struct code {
	const struct bpf_insn *v;
	size_t nr;
	bool starts[MOST_INSNS]; /* of a function */
	unsigned int needs[MOST_INSNS]; /* its bytes, with all that it calls; 0: not known */
};

/* The function that an instruction calls or takes the address of; false: none. */
static bool called(const struct code *c, size_t at, size_t *ret_start)
{
	const struct bpf_insn *i = c->v + at;

	if (!(i->code == (BPF_JMP | BPF_CALL) && i->src_reg == BPF_PSEUDO_CALL) &&
	    !(i->code == (BPF_LD | BPF_IMM | BPF_DW) && i->src_reg == BPF_PSEUDO_FUNC))
		return false;
	*ret_start = at + 1 + i->imm;
	assert_true(*ret_start < c->nr);
	return true;
}

/* How far below the frame pointer an instruction accesses memory or points to it. */
static unsigned int frame_of(const struct code *c, size_t at)
{
	const struct bpf_insn *i = c->v + at;
	size_t next;
	int off = 0;

	if (BPF_CLASS(i->code) == BPF_LDX && i->src_reg == FRAME_POINTER)
		off = i->off;
	else if ((BPF_CLASS(i->code) == BPF_ST || BPF_CLASS(i->code) == BPF_STX) &&
		 i->dst_reg == FRAME_POINTER)
		off = i->off;
	else if (i->code == (BPF_ALU64 | BPF_MOV | BPF_X) && i->src_reg == FRAME_POINTER)
		for (next = at + 1; next < c->nr && next < at + 16 && !off; next++)
			if (c->v[next].code == (BPF_ALU64 | BPF_ADD | BPF_K) &&
			    c->v[next].dst_reg == i->dst_reg)
				off = c->v[next].imm;
	return off < 0 ? -off : 0;
}

/* Bytes of stack of the function and of the deepest chain of calls from it. */
static unsigned int stack_needed(struct code *c, size_t start)
{
	unsigned int frame = 1, deepest = 0;
	size_t i, callee;

	if (c->needs[start])
		return c->needs[start];
	for (i = start; i < c->nr && (i == start || !c->starts[i]); i++) {
		frame = MAX(frame, frame_of(c, i));
		if (called(c, i, &callee))
			deepest = MAX(deepest, stack_needed(c, callee));
	}
	return c->needs[start] = (frame + 31) / 32 * 32 + deepest;
}

static void test_stack(void **state)
{
	static const char *const more[] = { "record_sys_enter_filtered", "record_sys_exit_filtered",
					    "probe" };
	struct record_bpf *s = prepare(*state, true);
	struct code *c = malloc(sizeof(*c));
	bool over = false, called_any = false;
	struct bpf_program *p;
	size_t i, start;

	assert_non_null(c);
	for (i = 0; i < ARRAY_SIZE(with_user_stacks); i++)
		bpf_program__set_autoload(program(s, with_user_stacks[i].program), true);
	for (i = 0; i < ARRAY_SIZE(more); i++)
		bpf_program__set_autoload(program(s, more[i]), true);
	assert_int_equal(record_bpf__load(s), 0);
	bpf_object__for_each_program(p, s->obj)
	{
		if (!bpf_program__autoload(p))
			continue;
		memset(c, 0, sizeof(*c));
		c->v = bpf_program__insns(p);
		c->nr = bpf_program__insn_cnt(p);
		assert_true(c->nr <= MOST_INSNS);
		for (i = 0; i < c->nr; i++)
			if (called(c, i, &start))
				c->starts[start] = called_any = true;
		printf("%-28s %-18s %7u of %7u\n", "stack", bpf_program__name(p),
		       stack_needed(c, 0), 512);
		over |= stack_needed(c, 0) > 512;
	}
	assert_true(called_any);
	free(c);
	record_bpf__destroy(s);
	assert_false(over);
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Until it is waited for, a large program does nothing. */
static void test_parallel(void **state)
{
	struct parallel_load *load;
	struct record_bpf *s;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(parallel_load__new(&load), 0);
		s = prepare(*state, true);
		bpf_program__set_autoload(s->progs.record, true);
		assert_int_equal(record_bpf__load(s), 0);
		assert_int_equal(verified(s->progs.record), 2);
		if (i == 1)
			assert_int_equal(parallel_load__wait(load), 0);
		if (i == 1)
			assert_true(verified(s->progs.record) > 10000);
		parallel_load__free(load); /* also while it is being verified */
		record_bpf__destroy(s);
	}
}

static void test_user_stacks(void **state)
{
	const struct kwalk *k = *state;

	check("user stacks, by load", k, KWALK_BY_LOAD, true, with_user_stacks,
	      ARRAY_SIZE(with_user_stacks));
	check("user stacks, by copy", k, KWALK_BY_COPY, true, with_user_stacks,
	      ARRAY_SIZE(with_user_stacks));
}

static void test_kernel_stacks(void **state)
{
	const struct kwalk *k = *state;

	check("kernel stacks, by load", k, KWALK_BY_LOAD, false, kernel_stacks_only,
	      ARRAY_SIZE(kernel_stacks_only));
	check("kernel stacks, by copy", k, KWALK_BY_COPY, false, kernel_stacks_only,
	      ARRAY_SIZE(kernel_stacks_only));
}

static void test_no_stacks(void **state)
{
	check("no stacks", NULL, KWALK_BY_LOAD, false, no_stacks, ARRAY_SIZE(no_stacks));
}

/* The programs that read the kernel's unwind rules. */
static void test_loader(void **state)
{
	const struct kwalk *k = *state;
	struct bpf_program *p;
	unsigned int sum = 0;

	bpf_object__for_each_program(p, k->skel->obj) sum += verified(p);
	printf("%-28s %-18s %7u of %7u\n", "loader of unwind rules", "all", sum, 2500);
	assert_true(sum <= 2500);
}

static int read_kernel(void **state)
{
	return kwalk__new((struct kwalk **)state);
}

static int forget_kernel(void **state)
{
	kwalk__free(*state);
	return 0;
}

static bool may_load(void)
{
	static const struct bpf_insn exit[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "may_load", "GPL", exit, 2, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_stacks), cmocka_unit_test(test_kernel_stacks),
		cmocka_unit_test(test_no_stacks),   cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_loader),	    cmocka_unit_test(test_stack),
	};

	if (!may_load()) {
		printf("skipped: BPF programs cannot be loaded: %s\n", strerror(errno));
		return 77;
	}
	return cmocka_run_group_tests(tests, read_kernel, forget_kernel);
}
