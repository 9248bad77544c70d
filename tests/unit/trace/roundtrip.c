// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The reader returns what was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "frame.h"
#include "gen.h"

#define NR_EVENTS 60000u
#define NR_CPUS 3
#define BASE 0xffffffff81000000ULL

/* The event that must be read; the recording and the check use the same random numbers. */
struct want {
	struct stk_writer_event e;
	uint8_t record[128];
	uint32_t tid;
};

struct model {
	uint64_t seed, ts;
	uint32_t tasks[8], stacks[16], stack_frames[16];
	uint64_t c;
};

static void put(struct want *w, uint32_t off, const void *p, uint32_t n)
{
	memcpy(w->record + off, p, n);
}

/* Records for each coding: repeated, random, counting; truncated and dynamic ones, too. */
static void next_want(struct model *m, struct want *w)
{
	uint64_t x = gen_random(&m->seed), y = gen_random(&m->seed);
	uint32_t task = x % 8, a = x >> 8, e, dyn = (x >> 3) % 5;
	uint16_t d = y % 3, id;
	uint8_t b = y >> 60;
	char comm[16] = { 0 };

	memset(w, 0, sizeof(*w));
	m->ts += 100 + x % 5000;
	m->c += 0x40;
	w->tid = 1000 + task;
	w->e = (struct stk_writer_event){
		.ts = m->ts,
		.cpu = y % NR_CPUS,
		.event = (y >> 8) % 3,
		.task = m->tasks[task],
		.kstack = m->stacks[(y >> 16) % 16],
		.ustack = (y >> 20) & 1 ? m->stacks[0] : 0,
		.flags = (y >> 24) & 7,
		.preempt_count = (y >> 28) & 3,
		.record = w->record,
	};
	if (w->e.event == 2) { /* a sample: no format, no fields */
		w->e.record_len = 8;
	} else if ((y >> 32) % 50 == 0) {
		w->e.marks = STK_MARK_NO_FIELDS;
		w->e.record_len = 8;
	} else if (w->e.event == 1) {
		char text[40] = { 0 };

		memcpy(comm, "task", 4);
		comm[4] = '0' + task;
		e = 48 | (8 * dyn) << 16;
		memset(text, 'A' + dyn, 8 * dyn);
		put(w, 8, comm, 16);
		put(w, 24, &a, 4);
		put(w, 28, &b, 1);
		put(w, 32, &m->c, 8);
		put(w, 40, &d, 2);
		put(w, 44, &e, 4);
		put(w, 48, text, 8 * dyn);
		w->e.record_len = 48 + 8 * dyn;
		if ((y >> 40) % 40 == 0) {
			w->e.record_len = 8 + (y >> 48) % 40;
			w->e.marks = STK_MARK_CUT;
		}
	} else {
		put(w, 8, "prev", 5);
		put(w, 24, &w->tid, 4);
		put(w, 40, "next", 5);
		w->e.record_len = 64;
	}
	memset(w->record + w->e.record_len, 0, sizeof(w->record) - w->e.record_len);
	id = w->e.event == 0 ? 316 : w->e.event == 1 ? 311 : 0;
	put(w, 0, &id, 2);
	w->record[2] = w->e.flags;
	w->record[3] = w->e.preempt_count;
	put(w, 4, &w->tid, 4);
}

static void add_tables(struct stk_writer *w, struct model *m)
{
	char comm[8] = "comm0";

	assert_int_equal(stk_writer__meta(w, "clock", "mono"), 0);
	assert_int_equal(stk_writer__meta(w, "release", "6.1"), 0);
	assert_int_equal(stk_writer__meta(w, "release", "6.12"), 0);
	assert_int_equal(stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_switch", "",
					  GEN_FORMAT_SWITCH),
			 0);
	assert_int_equal(stk_writer__type(w, STK_KIND_SYSCALL, "syscalls", "all", "a > 1",
					  GEN_FORMAT_ALL),
			 1);
	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "sample", "timer", "", ""), 2);
	for (uint32_t i = 0; i < 8; i++) {
		comm[4] = '0' + i;
		assert_int_equal(stk_writer__task(w, 1000 + i, 500, comm, 8, &m->tasks[i]), 0);
	}
	for (uint32_t i = 0; i < 16; i++) {
		uint64_t frames[32];
		uint32_t again;

		m->stack_frames[i] = i + 1;
		for (uint32_t k = 0; k <= i; k++) /* outermost frames are shared */
			frames[k] = BASE + 0x1000 * (i - k) + 0x10;
		assert_int_equal(stk_writer__stack(w, frames, i + 1, &m->stacks[i]), 0);
		assert_int_equal(stk_writer__stack(w, frames, i + 1, &again), 0);
		assert_int_equal(again, m->stacks[i]);
		assert_int_equal(stk_writer__symbol(w, BASE + 0x1000 * i, 0x800, comm,
						    i % 4 ? "" : "mod"),
				 0);
	}
}

static void write_all(struct gen_file *f)
{
	struct stk_writer_opts opts = { .nr_cpus = NR_CPUS };
	struct stk_writer *w = gen_open(f, &opts);
	uint64_t counters[3][STK_NR_COUNTERS];
	struct model m = { .seed = 1, .ts = 1000000 };
	struct want want;

	add_tables(w, &m);
	for (uint32_t i = 1; i <= NR_EVENTS; i++) {
		next_want(&m, &want);
		assert_int_equal(stk_writer__event(w, &want.e), 0);
		if (i % 7000 == 0) {
			assert_true(stk_writer__pending(w) > 0);
			assert_int_equal(stk_writer__end_round(w, m.ts, 77), 0);
			assert_int_equal(stk_writer__pending(w), 0);
		}
	}
	for (int t = 0; t < 3; t++)
		for (int c = 0; c < STK_NR_COUNTERS; c++)
			counters[t][c] = 1000000ULL * t + c;
	assert_int_equal(stk_writer__accounting(w, counters, 3), 0);
	assert_int_equal(stk_writer__finish(w, "command exited", 3), 0);
	stk_writer__free(w);
	gen_load(f);
}

static void check_event(const struct stk_event *e, const struct want *w, const struct model *m)
{
	const struct stk_event_type *t = stk_event__type(e);
	const void *rec;
	size_t len;

	assert_int_equal(stk_event__ts(e), w->e.ts);
	assert_int_equal(stk_event__cpu(e), w->e.cpu);
	assert_int_equal(stk_event__tid(e), w->tid);
	assert_int_equal(stk_event__pid(e), 500);
	assert_int_equal(stk_event__comm(e)[4] - '0', w->tid - 1000);
	assert_int_equal(stk_event_type__index(t), w->e.event);
	assert_int_equal(stk_event__kstack(e), w->e.kstack);
	assert_int_equal(stk_event__ustack(e), w->e.ustack);
	assert_int_equal(stk_event__marks(e), w->e.marks);
	assert_int_equal(stk_event__flags(e), w->e.flags);
	assert_int_equal(stk_event__preempt_count(e), w->e.preempt_count);
	rec = stk_event__record(e, &len);
	assert_int_equal(len, w->e.record_len);
	assert_memory_equal(rec, w->record, len);
}

static void test_events(void **state)
{
	struct model m = { .seed = 1, .ts = 1000000 };
	const struct stk_event *e;
	struct stk_reader *r;
	struct stk_totals totals;
	struct gen_file f;
	struct want want;

	write_all(&f);
	for (uint32_t i = 0; i < 16; i++)
		m.stacks[i] = i + 1;
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		assert_int_equal(stk_reader__next(r, &e), 1);
		next_want(&m, &want);
		check_event(e, &want, &m);
	}
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.events, NR_EVENTS);
	assert_int_equal(totals.bytes, f.len);
	assert_int_equal(totals.stacks, 16);
	assert_int_equal(totals.bad_blocks, 0);
	assert_int_equal(totals.late, 0);
	assert_true(totals.clean_end);
	assert_true(totals.event_bytes > 0 && totals.event_bytes < totals.bytes);
	assert_int_equal(totals.last_ts, m.ts);
	stk_reader__free(r);
	gen_close(&f);
}

static void test_tables(void **state)
{
	const struct stk_event_type *t;
	const struct stk_event *e;
	struct stk_reader *r;
	struct gen_file f;
	const char *key, *value;

	write_all(&f);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	while (stk_reader__next(r, &e) == 1)
		;
	assert_int_equal(stk_reader__nr_types(r), 3);
	t = stk_reader__type(r, 1);
	assert_int_equal(stk_event_type__index(t), 1);
	assert_int_equal(stk_event_type__kind(t), STK_KIND_SYSCALL);
	assert_string_equal(stk_event_type__system(t), "syscalls");
	assert_string_equal(stk_event_type__name(t), "all");
	assert_string_equal(stk_event_type__filter(t), "a > 1");
	assert_string_equal(stk_event_type__format(t), GEN_FORMAT_ALL);
	assert_null(stk_reader__type(r, 3));
	for (int i = 0; i < 3; i++)
		for (int c = 0; c < STK_NR_COUNTERS; c++)
			assert_int_equal(stk_reader__counter(r, stk_reader__type(r, i), c),
					 1000000 * i + c);
	assert_int_equal(stk_reader__counter(r, t, STK_NR_COUNTERS), 0);
	assert_string_equal(stk_reader__meta(r, "clock"), "mono");
	assert_string_equal(stk_reader__meta(r, "release"), "6.12");
	assert_string_equal(stk_reader__meta(r, "reason"), "command exited");
	assert_string_equal(stk_reader__meta(r, "exit_status"), "3");
	assert_int_equal(strlen(stk_reader__meta(r, "uuid")), 32);
	assert_null(stk_reader__meta(r, "none"));
	for (unsigned int i = 0; i < stk_reader__nr_meta(r); i++) {
		stk_reader__meta_at(r, i, &key, &value);
		assert_string_equal(stk_reader__meta(r, key), value);
	}
	stk_reader__meta_at(r, stk_reader__nr_meta(r), &key, &value);
	assert_null(key);
	stk_reader__free(r);
	gen_close(&f);
}

/* Names are an interface: each counter has its own. */
static void test_names(void **state)
{
	for (int i = 0; i < STK_NR_COUNTERS; i++) {
		assert_string_not_equal(stk_counter_name(i), "unknown");
		for (int k = 0; k < i; k++)
			assert_string_not_equal(stk_counter_name(i), stk_counter_name(k));
	}
	assert_string_equal(stk_counter_name(STK_C_LOST_RING), "lost_ring");
	assert_string_equal(stk_counter_name(STK_NR_COUNTERS), "unknown");
	assert_string_equal(stk_stack_end_name(STK_END_FALLBACK), "fallback");
	assert_string_equal(stk_stack_end_name(STK_END_NOT_RECORDED), "not_recorded");
	assert_string_equal(stk_stack_end_name(STK_END_NOT_RECORDED + 1), "unknown");
}

/* Values of every width and every difference, so that every coding is used. */
static void test_columns(void **state)
{
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	static uint64_t recs[40][3000][8];
	const struct stk_event *e;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = gen_open(&f, &opts);
	uint64_t seed = 17;
	size_t len;

	assert_int_equal(
		stk_writer__type(w, STK_KIND_TRACEPOINT, "x", "y", "",
				 "ID: 9\nfield:a; offset:8; size:8;\n"
				 "field:b; offset:16; size:4;\nfield:c; offset:20; size:2;\n"
				 "field:d; offset:22; size:1;\nfield:e; offset:24; size:8;\n"
				 "field:f; offset:32; size:16;\n"),
		0);
	for (int run = 0; run < 40; run++) {
		for (int i = 0; i < 3000; i++) {
			uint64_t *rec = recs[run][i], x = gen_random(&seed);
			struct stk_writer_event ev = { .ts = run * 3000 + i,
						       .record = rec,
						       .record_len = 48 + (run % 3) * (x % 17) };

			rec[0] = 9;
			for (int k = 1; k < 8; k++) {
				rec[k] = gen_random(&seed) >> (run + 3 * k) % 64;
				if ((run + k) % 4 == 0) /* rising, falling, wrapping */
					rec[k] = (uint64_t)i << (run % 8) * 8;
				if ((run + k) % 5 == 0)
					rec[k] = 0 - (uint64_t)i * run;
			}
			rec[2] &= ~0xff00000000000000ULL; /* no column: byte 23 */
			assert_int_equal(stk_writer__event(w, &ev), 0);
			rec[7] = ev.record_len; /* the part beyond the stored bytes */
		}
		assert_int_equal(stk_writer__end_round(w, run * 3000 + 2999, 0), 0);
	}
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&f);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	for (int i = 0; i < 40 * 3000; i++) {
		const void *rec;

		assert_int_equal(stk_reader__next(r, &e), 1);
		rec = stk_event__record(e, &len);
		assert_int_equal(len, recs[i / 3000][i % 3000][7]);
		assert_memory_equal(rec, recs[i / 3000][i % 3000], len < 56 ? len : 56);
	}
	assert_int_equal(stk_reader__next(r, &e), 0);
	stk_reader__free(r);
	gen_close(&f);
}

/* More tasks than the writer remembers: some get a second number, none a wrong name. */
static void test_tasks(void **state)
{
	enum { NR = 300000 };
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	const struct stk_event *e;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = gen_open(&f, &opts);
	uint32_t first, again;
	char comm[16];

	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	assert_int_equal(stk_writer__task(w, 0, 0, "c0", 2, &first), 0);
	assert_int_equal(stk_writer__task(w, 0, 0, "c0\0x", 4, &again), 0);
	assert_int_equal(first, again);
	for (uint32_t i = 0; i < NR; i++) {
		struct stk_writer_event ev = { .ts = i };

		snprintf(comm, sizeof(comm), "c%u", i);
		assert_int_equal(stk_writer__task(w, i, i / 2, comm, 16, &ev.task), 0);
		assert_int_equal(stk_writer__event(w, &ev), 0);
	}
	assert_int_equal(stk_writer__task(w, 0, 0, "c0", 2, &again), 0);
	assert_int_not_equal(first, again);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&f);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	for (uint32_t i = 0; i < NR; i++) {
		snprintf(comm, sizeof(comm), "c%u", i);
		assert_int_equal(stk_reader__next(r, &e), 1);
		assert_int_equal(stk_event__tid(e), i);
		assert_int_equal(stk_event__pid(e), i / 2);
		assert_string_equal(stk_event__comm(e), comm);
	}
	assert_int_equal(stk_reader__next(r, &e), 0);
	stk_reader__free(r);
	gen_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events), cmocka_unit_test(test_tables),
		cmocka_unit_test(test_names),  cmocka_unit_test(test_columns),
		cmocka_unit_test(test_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
