// SPDX-License-Identifier: GPL-2.0-only
#include "diff_recording.h"

#include <math.h>
#include <stdio.h>

#include "../common_fields.h"
#include "../writing.h"
#include "cleanup.h"
#include "frame.h"

#define TEXT 0xffffffff81000000ULL
#define TICK_NS 10000000ULL
#define MIDDLES 8
#define WORK_RATE 50 /* per second */

enum { SAMPLE, DONE, EXTRA };

static const char sample_format[] = "name: cpu_clock\nID: 0\n" COMMON "\nprint fmt: \"\"\n";
static const char done_format[] = "name: done\nID: 1\n" COMMON "\nprint fmt: \"\"\n";
static const char begin_format[] = "name: begin\nID: 3\n" COMMON "\nprint fmt: \"\"\n";
static const char end_format[] = "name: end\nID: 4\n" COMMON "\nprint fmt: \"\"\n";
static const char extra_format[] = "name: extra\nID: 2\n" COMMON "\nprint fmt: \"\"\n";

struct maker {
	const struct diff_load *load;
	struct stk_writer *w;
	uint64_t random;
	uint32_t task, kstacks[DIFF_STACKS], ustacks[DIFF_STACKS];
	bool busy[DIFF_STACKS];
	uint32_t begin; /* index of the event type; the next one is the end */
	double all; /* factor that all stacks share */
};

/* xorshift64*, in (0, 1): the same numbers on every machine. */
static double random_part(struct maker *m)
{
	m->random ^= m->random >> 12;
	m->random ^= m->random << 25;
	m->random ^= m->random >> 27;
	return ((m->random * 0x2545f4914f6cdd1dULL >> 11) + 0.5) / (1ULL << 53);
}

/* Knuth's method, for small means. */
static unsigned int poisson(struct maker *m, double mean)
{
	double limit = exp(-mean), product = random_part(m);
	unsigned int n = 0;

	for (; product > limit; n++)
		product *= random_part(m);
	return n;
}

static void add_symbols(struct maker *m)
{
	struct stk_user_symbol symbols[DIFF_STACKS];
	char names[DIFF_STACKS][16];
	unsigned int i, step = 0x100 + m->load->version * 0x10;

	for (i = 0; i < DIFF_STACKS; i++) {
		snprintf(names[i], sizeof(names[i]), "leaf_%u", i);
		ok(stk_writer__symbol(m->w, TEXT + i * 0x1000, 0x800, names[i], ""));
		symbols[i] = (struct stk_user_symbol){ names[i], 0x1000 + i * step, step };
	}
	for (i = 0; i < MIDDLES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "middle_%u", i);
		ok(stk_writer__symbol(m->w, TEXT + 0x100000 + i * 0x1000, 0x800, name, ""));
	}
	ok(stk_writer__symbol(m->w, TEXT + 0x200000, 0x800, "root", ""));
	ok(stk_writer__user_symbols(m->w, 1, symbols, DIFF_STACKS));
}

static void add_stacks(struct maker *m)
{
	unsigned int i, at = 0x10 + m->load->version, step = 0x100 + m->load->version * 0x10;

	for (i = 0; i < DIFF_STACKS; i++) {
		const uint64_t frames[] = { TEXT + i * 0x1000 + at,
					    TEXT + 0x100000 + i % MIDDLES * 0x1000 + at,
					    TEXT + 0x200000 + at };
		const uint64_t user[] = { FRAME_USER(1, 0x1000 + i * step + at) };

		m->kstacks[i] = add_stack(m->w, frames, ARRAY_SIZE(frames));
		if (i % 2)
			m->ustacks[i] = add_stack(m->w, user, 1);
	}
}

static void add_tables(struct maker *m)
{
	uint8_t id[20] = { 0xab, m->load->version };
	struct stk_file app = { .path = "/usr/bin/app",
				.host_path = "",
				.id_kind = STK_ID_BUILD_ID,
				.id = id,
				.id_len = sizeof(id) };
	char kernel[16];

	snprintf(kernel, sizeof(kernel), "%02x", m->load->version);
	ok(stk_writer__meta(m->w, "kernel.build_id", kernel));
	ok(stk_writer__type(m->w, STK_KIND_SAMPLE, "sample", "cpu_clock", "", sample_format));
	ok(stk_writer__type(m->w, STK_KIND_TRACEPOINT, "work", "done", "", done_format));
	if (m->load->extra)
		ok(stk_writer__type(m->w, STK_KIND_TRACEPOINT, "work", "extra", "", extra_format));
	if (m->load->slow) {
		m->begin = ok(stk_writer__type(m->w, STK_KIND_TRACEPOINT, "work", "begin", "",
					       begin_format));
		ok(stk_writer__type(m->w, STK_KIND_TRACEPOINT, "work", "end", "", end_format));
	}
	add_file(m->w, app);
	m->task = add_task(m->w, 7, 7, "app");
	add_symbols(m);
	add_stacks(m);
}

/* Samples per second of stack i: few stacks have most of them. */
static double rate_of(const struct maker *m, unsigned int i)
{
	const struct diff_load *l = m->load;
	double sum = 0, rate = l->rate ?: 1000;
	unsigned int k;

	for (k = 0; k < DIFF_STACKS; k++)
		sum += 1.0 / (k + 2);
	rate *= 1.0 / (i + 2) / sum * (l->more ?: 1);
	return l->factor && i == l->changed ? rate * l->factor : rate;
}

static void put_events(struct maker *m, uint64_t ts, unsigned int nr, unsigned int type,
		       unsigned int stack)
{
	static const char record[8];
	unsigned int i;

	for (i = 0; i < nr; i++)
		add_event(m->w, (struct stk_writer_event){
					.ts = ts + (uint64_t)(random_part(m) * TICK_NS),
					.event = type,
					.task = m->task,
					.kstack = m->kstacks[stack],
					.ustack = m->ustacks[stack],
					.record = record,
					.record_len = sizeof(record) });
}

static void put_pair(struct maker *m, uint64_t ts)
{
	uint64_t ns = (1 + 2 * random_part(m)) * 1000000 * m->load->slow;
	static const char record[8];
	struct stk_writer_event e = { .ts = ts,
				      .event = m->begin,
				      .task = m->task,
				      .record = record,
				      .record_len = sizeof(record) };

	add_event(m->w, e);
	e.ts += ns;
	e.event++;
	add_event(m->w, e);
}

static void put_tick(struct maker *m, uint64_t ts, const double *rates)
{
	bool bursty = m->load->bursty;
	unsigned int i;

	/* What all stacks share drifts by 2 % a tick, and returns. */
	if (bursty)
		m->all += 0.02 * (random_part(m) - 0.5) * 3.46 - 0.02 * (m->all - 1);
	m->all = fmin(fmax(m->all, 0.2), 2);
	for (i = 0; i < DIFF_STACKS; i++) {
		/* 30 ticks busy or quiet on average */
		m->busy[i] ^= bursty && random_part(m) < 1 / 30.0;
		put_events(m, ts,
			   poisson(m, rates[i] * TICK_NS / 1e9 * m->all *
					      (!bursty	  ? 1 :
					       m->busy[i] ? 1.5 :
							    0.5)),
			   SAMPLE, i);
	}
	put_events(m, ts, poisson(m, WORK_RATE * TICK_NS / 1e9 * m->all * (m->load->more ?: 1)),
		   DONE, 0);
}

void diff_recording__write(int fd, const struct diff_load *load)
{
	struct maker m = { .load = load,
			   .random = load->seed * 0x9e3779b97f4a7c15ULL | 1,
			   .all = 1 };
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	double rates[DIFF_STACKS];
	uint64_t random, tick, nr = load->seconds * (1000000000ULL / TICK_NS);
	unsigned int i;

	ok(stk_writer__new(fd, &opts, &m.w));
	add_tables(&m);
	for (i = 0; i < DIFF_STACKS; i++) {
		rates[i] = rate_of(&m, i);
		m.busy[i] = random_part(&m) < 0.5;
	}
	for (tick = 0; tick < nr; tick++) {
		put_tick(&m, DIFF_START_NS + tick * TICK_NS, rates);
		if (load->slow)
			put_pair(&m, DIFF_START_NS + tick * TICK_NS);
		random = m.random;
		if (load->extra && tick % 10 == 0)
			put_events(&m, DIFF_START_NS + tick * TICK_NS, 1, EXTRA, 0);
		m.random = random; /* the other events are the same */
		if (tick % 100 == 99)
			ok(stk_writer__end_round(m.w, DIFF_START_NS + (tick + 1) * TICK_NS, tick));
	}
	ok(stk_writer__end_round(m.w, DIFF_START_NS + nr * TICK_NS, nr));
	ok(stk_writer__finish(m.w, "done", 0));
	stk_writer__free(m.w);
}
