// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The cost of writing and reading: CPU ns per event, bytes per event, peak memory.
 *
 *   trace_bench [EVENTS]       two tasks that wake each other, simulated
 *   trace_bench -r FILE        the events of a recording
 *   trace_bench -k [EVENTS]    events like kmem's: pointers, sizes
 *   trace_bench -c [EVENTS]    two such tasks on each of 64 CPUs
 */
#undef NDEBUG /* assert() has side effects here */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "gen.h"

#define FORMAT_KMALLOC                                                       \
	"name: kmalloc\nID: 500\nformat:\n"                                  \
	"\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n"  \
	"\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n"        \
	"\tfield:size_t bytes_req;\toffset:24;\tsize:8;\tsigned:0;\n"        \
	"\tfield:size_t bytes_alloc;\toffset:32;\tsize:8;\tsigned:0;\n"      \
	"\tfield:unsigned long gfp_flags;\toffset:40;\tsize:8;\tsigned:0;\n" \
	"\tfield:int node;\toffset:48;\tsize:4;\tsigned:1;\n"

struct sample {
	struct stk_writer_event e;
	uint8_t rec[64];
	void *own; /* instead of rec */
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void put_switch(struct sample *s, const char *prev, uint32_t prev_pid, uint32_t prev_prio,
		       uint64_t state, const char *next, uint32_t next_pid, uint32_t next_prio)
{
	memset(s->rec, 0, sizeof(s->rec));
	memcpy(s->rec + 8, prev, strnlen(prev, 15));
	memcpy(s->rec + 24, &prev_pid, 4);
	memcpy(s->rec + 28, &prev_prio, 4);
	memcpy(s->rec + 32, &state, 8);
	memcpy(s->rec + 40, next, strnlen(next, 15));
	memcpy(s->rec + 56, &next_pid, 4);
	memcpy(s->rec + 60, &next_prio, 4);
	s->e.record_len = 64;
}

/* A round trip of ~3 us: deltas vary by +-150 ns, one in 50 is disturbed, 1 % are other tasks. */
static void simulate(struct sample *s, uint32_t n)
{
	uint64_t seed = 7, ts = 1000000000;
	char other[16];

	for (uint32_t i = 0; i < n; i++) {
		uint64_t x = gen_random(&seed), jitter = 0;
		uint32_t side = i & 1;

		for (int k = 0; k < 4; k++)
			jitter += (x >> (8 * k) & 0xff) * 3 / 10;
		ts += 1300 + jitter + ((x >> 40) % 50 ? 0 : (x >> 48) % 4000);
		s[i].e.ts = ts;
		s[i].e.kstack = 1 + side * 2 + ((x >> 32) % 5 == 0);
		s[i].e.task = 1 + side;
		s[i].e.flags = 1;
		s[i].e.preempt_count = 2;
		if ((x >> 34) % 100 == 0) {
			snprintf(other, sizeof(other), "kworker/%u", (unsigned int)(x >> 50) % 9);
			put_switch(&s[i], "ping", 4000, 120, 0, other, 10 + (x >> 50) % 9, 120);
			continue;
		}
		put_switch(&s[i], side ? "pong" : "ping", 4000 + side, 120, 1,
			   side ? "ping" : "pong", 4001 - side, 120);
	}
}

static void simulate_kmem(struct sample *s, uint32_t n)
{
	uint64_t seed = 7, ts = 1000000000;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t x = gen_random(&seed), f[5];
		int32_t node = -1;

		f[0] = 0xffffffff81000000 + (x % 300) * 0x1234;
		f[1] = 0xffff888100000000 + ((x >> 10) % 100000) * 64;
		f[2] = 8 * ((x >> 30) % 20);
		f[3] = (f[2] + 63) & ~63ULL;
		f[4] = 0xcc0;
		ts += 300 + (x >> 40) % 1000;
		s[i].e.ts = ts;
		s[i].e.kstack = 1 + x % 300;
		s[i].e.task = 1 + (x >> 50) % 20;
		s[i].e.event = 1;
		memcpy(s[i].rec + 8, f, sizeof(f));
		memcpy(s[i].rec + 48, &node, 4);
		s[i].e.record_len = 52;
	}
}

/* Loads up to n events of a recording, and its types for the writer. */
static uint32_t load(struct stk_reader *r, struct sample *s, uint32_t n)
{
	const struct stk_event *e;
	uint32_t i;

	for (i = 0; i < n && stk_reader__next(r, &e) == 1; i++) {
		size_t len;
		const void *rec = stk_event__record(e, &len);

		s[i].e = (struct stk_writer_event){
			.ts = stk_event__ts(e),
			.cpu = stk_event__cpu(e),
			.event = stk_event_type__index(stk_event__type(e)),
			.task = stk_event__tid(e) % 1000,
			.kstack = stk_event__kstack(e),
			.ustack = stk_event__ustack(e),
			.flags = stk_event__flags(e),
			.preempt_count = stk_event__preempt_count(e),
			.marks = stk_event__marks(e) & ~STK_MARK_LATE,
			.record_len = len,
		};
		s[i].own = malloc(len);
		assert(s[i].own);
		memcpy(s[i].own, rec, len);
	}
	return i;
}

static void add_types(struct stk_writer *w, const struct stk_reader *r)
{
	for (unsigned int i = 0; r && i < stk_reader__nr_types(r); i++) {
		const struct stk_event_type *t = stk_reader__type(r, i);

		stk_writer__type(w, stk_event_type__kind(t), stk_event_type__system(t),
				 stk_event_type__name(t), "", stk_event_type__format(t));
	}
	if (r)
		return;
	stk_writer__type(w, STK_KIND_TRACEPOINT, "sched", "sched_switch", "", GEN_FORMAT_SWITCH);
	stk_writer__type(w, STK_KIND_TRACEPOINT, "kmem", "kmalloc", "", FORMAT_KMALLOC);
}

static void write_all(struct gen_file *f, const struct stk_reader *source, const struct sample *s,
		      uint32_t n, unsigned int nr_cpus)
{
	struct stk_writer_opts opts = { .nr_cpus = nr_cpus };
	struct stk_writer_stats stats;
	struct stk_writer *w;
	uint64_t t0 = cpu_ns(), round = s[0].e.ts;
	uint32_t nr;

	w = gen_open(f, &opts);
	add_types(w, source);
	for (uint32_t i = 0; i < 1000; i++)
		stk_writer__task(w, i, i, "comm", 4, &nr);
	for (uint32_t i = 0; i < 400; i++) {
		uint64_t frames[16];

		for (uint32_t k = 0; k < 16; k++)
			frames[k] = 0xffffffff81000000 + 0x1000 * k + (k < 3 ? i : 0);
		stk_writer__stack(w, frames, 16, &nr);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct stk_writer_event e = s[i].e;

		e.record = s[i].own ? s[i].own : s[i].rec;
		stk_writer__event(w, &e);
		if (e.ts - round > 1000000000) {
			stk_writer__end_round(w, e.ts, 0);
			round = e.ts;
		}
	}
	assert(!stk_writer__finish(w, "done", 0));
	t0 = cpu_ns() - t0;
	stk_writer__stats(w, &stats);
	stk_writer__free(w);
	gen_load(f);
	printf("write: %.1f ns, %.2f bytes (%.2f in event blocks) an event\n", (double)t0 / n,
	       (double)f->len / n, (double)stats.event_bytes / n);
}

static void read_all(const struct gen_file *f, unsigned int want, const char *what)
{
	struct stk_reader_opts opts = { .size = sizeof(opts), .want = want };
	const struct stk_event *e;
	struct stk_totals totals;
	struct stk_reader *r;
	uint64_t t0 = cpu_ns(), sum = 0, v;
	char path[32];
	size_t len;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	assert(!stk_reader__open(path, &opts, &r));
	while (stk_reader__next(r, &e) == 1) {
		sum += stk_event__ts(e) + stk_event__tid(e) + stk_event__kstack(e);
		if (want & STK_WANT_FIELDS) {
			const uint8_t *rec = stk_event__record(e, &len);

			memcpy(&v, rec + len - 8, 8);
			sum += v;
		}
	}
	stk_reader__totals(r, &totals);
	t0 = cpu_ns() - t0;
	stk_reader__free(r);
	printf("%s: %.1f ns an event (%.2f ms), checksum %" PRIx64 "\n", what,
	       (double)t0 / totals.events, t0 / 1e6, sum);
}

static void report_memory(const char *what)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	printf("peak memory %s: %ld MiB\n", what, ru.ru_maxrss >> 10);
}

int main(int argc, char **argv)
{
	bool cpus = argc > 1 && !strcmp(argv[1], "-c");
	bool kmem = argc > 1 && !strcmp(argv[1], "-k"), file = argc > 2 && !strcmp(argv[1], "-r");
	uint32_t n = file		    ? 1000000 :
		     argc > 1 + kmem + cpus ? strtoul(argv[1 + kmem + cpus], NULL, 10) :
					      1000000;
	struct sample *s = calloc(n, sizeof(*s));
	struct stk_reader *source = NULL;
	struct gen_file f;

	assert(s && n);
	if (file) {
		assert(!stk_reader__open(argv[2], NULL, &source));
		n = load(source, s, n);
	} else if (kmem) {
		simulate_kmem(s, n);
	} else {
		simulate(s, n);
	}
	for (uint32_t i = 0; cpus && i < n; i++)
		s[i].e.cpu = s[i].e.ts * 0x9e3779b97f4a7c15 >> 58;
	report_memory("with the events prepared");
	write_all(&f, source, s, n, cpus ? 64 : 4);
	report_memory("after writing");
	read_all(&f, STK_WANT_EVENTS | STK_WANT_FIELDS, "read with fields");
	read_all(&f, STK_WANT_EVENTS, "read without fields");
	read_all(&f, STK_WANT_FIELDS, "tables only");
	report_memory("after reading");
	gen_close(&f);
	stk_reader__free(source);
	for (uint32_t i = 0; i < n; i++)
		free(s[i].own);
	free(s);
	return 0;
}
