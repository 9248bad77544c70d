// SPDX-License-Identifier: GPL-2.0-only
/* What the drain makes of the records in the rings: tasks, stacks, fields, and errors. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "../trace/gen.h"
#include "cleanup.h"
#include "drain_input.h"
#include "frame.h"
#include "record/backend.h"
#include "record/bpf/bpf_drain.h"
#include "record/select/rec_event.h"
#include "stackonce.h"
#include "symbols/ksyms.h"
#include "trace/write/writer.h"

#define RING 65536
#define NR_CPUS 2

static struct rec_event types[] = {
	{ .system = (char *)"sched", .name = (char *)"a", .format = (char *)GEN_FORMAT_SWITCH },
	{ .system = (char *)"sched", .name = (char *)"b", .format = (char *)"" },
};
static const struct rec_events events = { .v = types, .nr = ARRAY_SIZE(types) };

static struct test {
	struct gen_file f;
	struct stk_writer *w;
	struct ksyms *syms;
	struct bpf_drain *d;
	uint64_t ts;
} t;

static int setup(void **state)
{
	struct stk_writer_opts opts = { .nr_cpus = NR_CPUS };
	struct bpf_drain_opts d = { .events = &events };

	t = (struct test){ .ts = 1000 };
	drain_input__open(NR_CPUS, RING);
	t.w = gen_open(&t.f, &opts);
	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++)
		stk_writer__type(t.w, STK_KIND_TRACEPOINT, types[i].system, types[i].name, "",
				 types[i].format);
	assert_int_equal(ksyms__parse("ffffffff81000000 T _stext\n", &t.syms), 0);
	d.programs = drain_input__programs();
	d.syms = t.syms;
	d.w = t.w;
	return bpf_drain__new(&d, &t.d);
}

static int teardown(void **state)
{
	bpf_drain__free(t.d);
	stk_writer__free(t.w);
	ksyms__free(t.syms);
	drain_input__close();
	gen_close(&t.f);
	return 0;
}

/* An event of type 1 with as many words behind it. */
struct event {
	struct wire_event e;
	uint64_t words[12];
};

static bool put(unsigned int cpu, uint32_t tid, struct event e, unsigned int nr_words)
{
	e.e.ts = t.ts++;
	e.e.event = e.e.event ?: 1;
	e.e.common_pid = tid;
	return drain_input__put(cpu, &e, sizeof(e.e) + nr_words * sizeof(uint64_t));
}

static void drain(void)
{
	assert_int_equal(bpf_drain__run(t.d), 0);
}

static struct stk_reader *read_back(void)
{
	struct stk_reader *r;

	drain();
	assert_int_equal(stk_writer__finish(t.w, "done", 0), 0);
	gen_load(&t.f);
	assert_int_equal(stk_reader__open_mem(t.f.p, t.f.len, NULL, &r), 0);
	return r;
}

static const struct stk_event *next(struct stk_reader *r)
{
	const struct stk_event *e;

	assert_int_equal(stk_reader__next(r, &e), 1);
	return e;
}

static void expect_task(const struct stk_event *e, uint32_t tid, const char *comm)
{
	assert_int_equal(stk_event__tid(e), tid);
	assert_string_equal(stk_event__comm(e), comm);
}

/* A name holds until the next one, on the CPU where it was announced. */
static void test_tasks(void **state)
{
	struct stk_reader *r;

	drain_input__put_task(0, 5, 5, "one");
	put(0, 5, (struct event){ 0 }, 0);
	drain_input__put_task(0, 5, 5, "two");
	put(0, 5, (struct event){ 0 }, 0);
	drain();
	drain_input__put_task(1, 5, 5, "one");
	put(1, 5, (struct event){ 0 }, 0);
	put(0, 5, (struct event){ 0 }, 0);
	put(0, 6, (struct event){ 0 }, 0); /* was never announced */
	r = read_back();
	expect_task(next(r), 5, "one");
	expect_task(next(r), 5, "two");
	expect_task(next(r), 5, "one");
	expect_task(next(r), 5, "two");
	assert_int_equal(stk_event__tid(next(r)), 0);
	stk_reader__free(r);
}

/* An event may follow the name of another task that took the slot of its own. */
static void test_slot(void **state)
{
	uint32_t other = 0;
	struct stk_reader *r;

	for (other = 6; ((other ^ other >> 8) & 255) != 5; other++)
		;
	drain_input__put_task(0, 5, 5, "first");
	drain_input__put_task(0, other, other, "second");
	put(0, 5, (struct event){ 0 }, 0);
	put(0, other, (struct event){ 0 }, 0);
	drain_input__put_task(0, 5, 5, "first");
	drain_input__put_task(0, 5, 5, "third");
	put(0, other, (struct event){ 0 }, 0);
	put(0, 5, (struct event){ 0 }, 0);
	r = read_back();
	expect_task(next(r), 5, "first");
	expect_task(next(r), other, "second");
	expect_task(next(r), other, "second");
	expect_task(next(r), 5, "third");
	stk_reader__free(r);
}

static void expect_frames(struct stk_reader *r, uint32_t stack, const uint64_t *frames,
			  unsigned int nr)
{
	struct stk_frame f[STK_MAX_DEPTH];
	int n = stk_reader__frames(r, stack, f, ARRAY_SIZE(f));

	assert_int_equal(n, nr);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(f[i].ip, frames[i]);
}

/* An id is a stack of the map whatever came before; the words of others come with their event. */
static void test_stacks(void **state)
{
	static const uint64_t words[] = { 0xffffffff81000111, 0xffffffff81000222 };
	struct event full = { .e.kstack = WIRE_STACK_FULL, .e.nr_words = 2 };
	uint64_t of_id[2][DRAIN_INPUT_DEPTH];
	struct backend_stats stats;
	struct stk_reader *r;
	uint32_t stacks[8];

	memcpy(full.words, words, sizeof(words));
	put(0, 5, (struct event){ .e.kstack = 7, .e.ustack = WIRE_STACK_NONE }, 0);
	put(0, 5, (struct event){ .e.kstack = 8 }, 0);
	put(0, 5, full, 2);
	put(1, 5, (struct event){ .e.kstack = 7, .e.ustack = 8 }, 0);
	drain();
	put(1, 5, (struct event){ .e.kstack = 8 }, 0);
	put(1, 5, (struct event){ .e.kstack = DRAIN_INPUT_IDS + 1 }, 0); /* unknown */
	put(1, 5, (struct event){ .e.kstack = WIRE_STACK_FAILED }, 0);
	put(1, 5, full, 2);
	r = read_back();
	for (unsigned int i = 0; i < 8; i++) {
		const struct stk_event *e = next(r);

		stacks[i] = stk_event__kstack(e);
		assert_int_equal(stk_event__ustack(e), i == 3 ? stacks[1] : 0);
	}
	assert_int_equal(stk_reader__nr_stacks(r), 4);
	assert_int_equal(stacks[3], stacks[0]);
	assert_int_equal(stacks[4], stacks[1]);
	assert_int_equal(stacks[6], stacks[5]);
	assert_int_equal(stacks[7], stacks[2]);
	for (unsigned int i = 0; i < DRAIN_INPUT_DEPTH; i++) {
		of_id[0][i] = drain_input__frame(7, i);
		of_id[1][i] = drain_input__frame(8, i);
	}
	expect_frames(r, stacks[0], of_id[0], DRAIN_INPUT_DEPTH);
	expect_frames(r, stacks[1], of_id[1], DRAIN_INPUT_DEPTH);
	expect_frames(r, stacks[2], words, 2);
	expect_frames(r, stacks[5], NULL, 0);
	bpf_drain__stats(t.d, &stats);
	assert_int_equal(stats.unresolved, 1);
	assert_int_equal(stats.events, 8);
	stk_reader__free(r);
}

/* Words of both stacks, and what remains of the record. */
static void test_full_user_stack(void **state)
{
	static const uint64_t user[] = { 0xffffffff81000333 };
	struct event e = {
		.e = { .event = 1,
		       .kstack = WIRE_STACK_FULL,
		       .ustack = WIRE_STACK_FULL,
		       .nr_words = 2,
		       .marks = 0 },
		.words = { 0x1122334455667788, 0xffffffff81000111, 0xffffffff81000222,
			   0xffffffff81000333, 1 },
	};
	const struct stk_event *got;
	struct stk_reader *r;
	size_t len;

	put(0, 5, e, 5);
	r = read_back();
	got = next(r);
	assert_memory_equal((const char *)stk_event__record(got, &len) + 8, e.words, 8);
	assert_int_equal(len, 16);
	expect_frames(r, stk_event__kstack(got), e.words + 1, 2);
	expect_frames(r, stk_event__ustack(got), user, 1);
	stk_reader__free(r);
}

/* Far more events than a ring has room for, in the order of each ring. */
static void test_order(void **state)
{
	const unsigned int nr = 50000;
	unsigned int i;
	struct stk_reader *r;

	for (i = 0; i < nr; i++) {
		struct event e = { .words = { i, 3 * i } };

		while (!put(i / 7 % NR_CPUS, 5, e, i % 3))
			drain();
	}
	r = read_back();
	for (i = 0; i < nr; i++) {
		const struct stk_event *e = next(r);
		uint64_t words[3] = { 0, i, 3 * i };
		size_t len;
		const void *record = stk_event__record(e, &len);

		assert_int_equal(len, 8 + 8 * (i % 3));
		assert_memory_equal((const char *)record + 8, words + 1, len - 8);
		assert_int_equal(stk_event__cpu(e), i / 7 % NR_CPUS);
	}
	stk_reader__free(r);
}

/* What an event that repeats must have, of 600, which are more than the drain remembers. */
#define KINDS 600
#define PIDS 7

static size_t make_kind(unsigned int kind, struct event *ret_event)
{
	unsigned int nr = kind % 16 < 12 ? kind % 4 : 12; /* the last ones are too long */

	*ret_event = (struct event){ .e = { .event = 1,
					    .marks = kind % 5 ? 0 : STK_MARK_CUT,
					    .kstack = 1 + kind % 9,
					    .ustack = kind % 2 ? 100 + kind % 7 : 0,
					    .common_pid = kind % PIDS,
					    .common_flags = kind % 3 } };
	for (unsigned int i = 0; i < nr; i++)
		ret_event->words[i] = (uint64_t)kind << (8 * (i % 5));
	return nr;
}

static void expect_kind(struct stk_reader *r, const struct stk_event *e, unsigned int kind,
			unsigned int name)
{
	struct event want;
	size_t nr = make_kind(kind, &want), len;
	const char *record = stk_event__record(e, &len);
	struct stk_frame f[DRAIN_INPUT_DEPTH];
	char comm[16];

	snprintf(comm, sizeof(comm), "%u", name);
	expect_task(e, kind % PIDS, comm);
	assert_int_equal(len, 8 * (nr + 1));
	assert_memory_equal(record + 8, want.words, 8 * nr);
	assert_int_equal(record[2], want.e.common_flags);
	assert_int_equal(stk_event__marks(e) & STK_MARK_CUT, want.e.marks);
	assert_int_equal(stk_reader__frames(r, stk_event__kstack(e), f, ARRAY_SIZE(f)),
			 DRAIN_INPUT_DEPTH);
	assert_int_equal(f[0].ip, drain_input__frame(want.e.kstack, 0));
	assert_int_equal(!stk_event__ustack(e), !want.e.ustack);
	if (!want.e.ustack)
		return;
	assert_int_equal(stk_reader__frames(r, stk_event__ustack(e), f, ARRAY_SIZE(f)),
			 DRAIN_INPUT_DEPTH);
	assert_int_equal(f[0].ip, drain_input__frame(want.e.ustack, 0));
}

/*
 * Events that repeat have all that the first one had, and the name that their task has by then,
 * across blocks and rounds.  Few kinds are frequent, and follow each other mostly in one order.
 */
static void test_repeated(void **state)
{
	const unsigned int nr = 200000;
	unsigned int names[NR_CPUS][PIDS] = { 0 }, i, kind = 0;
	struct {
		uint32_t kind, name;
	} *want = calloc(nr, sizeof(*want));
	struct stk_reader *r;
	uint64_t seed = 5;

	for (i = 0; i < nr; i++) {
		unsigned int cpu = gen_random(&seed) % NR_CPUS, pid;
		struct event e;
		size_t words;

		if (gen_random(&seed) % 8)
			kind = (kind + 1) % 10;
		else
			kind = gen_random(&seed) % KINDS;
		pid = kind % PIDS;
		if (!names[cpu][pid] || gen_random(&seed) % 64 == 0) {
			char comm[16];

			names[cpu][pid] = 1 + gen_random(&seed) % 3;
			snprintf(comm, sizeof(comm), "%u", names[cpu][pid]);
			while (!drain_input__put_task(cpu, pid, pid, comm))
				drain();
		}
		words = make_kind(kind, &e);
		want[i].kind = kind;
		want[i].name = names[cpu][pid];
		while (!put(cpu, pid, e, words))
			drain();
		if (gen_random(&seed) % 5000 == 0) {
			drain();
			assert_int_equal(stk_writer__end_round(t.w, t.ts, 0), 0);
			bpf_drain__end_round(t.d);
		}
	}
	r = read_back();
	for (i = 0; i < nr; i++)
		expect_kind(r, next(r), want[i].kind, want[i].name);
	stk_reader__free(r);
	free(want);
}

/* A record that cannot be is an error, not an event. */
static void test_wrong(void **state)
{
	const struct {
		struct event e;
		unsigned int words;
	} wrong[] = {
		{ { .e.event = 2 }, 0 }, /* no such type */
		{ { .e.nr_words = 2, .e.kstack = WIRE_STACK_FULL }, 1 },
		{ { .e.ustack = WIRE_STACK_FULL }, 0 },
		{ { .e.ustack = WIRE_STACK_FULL, .words = { 1, 2 } }, 2 },
		{ { .e.ustack = WIRE_STACK_DEFERRED }, 0 },
		{ { .e.event = WIRE_COPY }, 4 }, /* no user stacks are recorded */
	};
	uint64_t word = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		setup(NULL);
		put(0, 5, wrong[i].e, wrong[i].words);
		assert_int_equal(bpf_drain__run(t.d), -EPROTO);
		teardown(NULL);
	}
	setup(NULL);
	drain_input__put(0, &word, sizeof(word));
	assert_int_equal(bpf_drain__run(t.d), -EPROTO);
	teardown(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tasks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stacks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_user_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_repeated, setup, teardown),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
