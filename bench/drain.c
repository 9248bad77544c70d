// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder's own CPU time per event: prepared rings, drained into a writer as a recording does
 * it, with no event that happens.
 *
 *   drain [-r REPEATS] [-o FILE] LOAD [EVENTS]
 *
 * LOAD is a name in the table below, or the path of a recording, whose events are taken with stacks
 * of other frames.  Prints a line with the medians: CPU ns of an event for emptying the rings and
 * for ending rounds, without the first quarter of the events, and bytes of an event in the file.
 */
#undef NDEBUG /* assert() has side effects here */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "clock.h"
#include "events/format.h"
#include "record/bpf/bpf_drain.h"
#include "record/select/rec_event.h"
#include "strbuf.h"
#include "symbols/ksyms.h"
#include "trace/bytes.h"
#include "trace/write/writer.h"
#include "../tests/unit/common_fields.h"
#include "../tests/unit/record/drain_input.h"
#include "../tests/unit/trace/gen.h"

#define MAX_TYPES 64
#define RING_BYTES WIRE_RING_PART
#define POLL_NS 50000000ull /* of the events' time, as the recorder naps */
#define ROUND_NS 200000000ull

/* An event as the programs write it into the ring; bytes: a wire_event and what follows it. */
struct event {
	size_t at;
	uint32_t len, cpu;
};

static struct prepared {
	struct rec_event types[MAX_TYPES];
	unsigned int nr_types, nr_cpus;
	struct event *events;
	size_t nr, cap;
	struct bytes_buf bytes;
} in;

/* ---- loads ----------------------------------------------------------------------------------- */

#define HEAD(name, id) "name: " name "\nID: " #id "\n" COMMON

#define FORMAT_ENTER                                                      \
	HEAD("sys_enter", 375)                                            \
	"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"               \
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;" \
	"\n\nprint fmt: \"NR %ld\", REC->id\n"

#define FORMAT_KMALLOC                                                       \
	HEAD("kmalloc", 500)                                                 \
	"\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n"  \
	"\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n"        \
	"\tfield:size_t bytes_req;\toffset:24;\tsize:8;\tsigned:0;\n"        \
	"\tfield:size_t bytes_alloc;\toffset:32;\tsize:8;\tsigned:0;\n"      \
	"\tfield:unsigned long gfp_flags;\toffset:40;\tsize:8;\tsigned:0;\n" \
	"\tfield:int node;\toffset:48;\tsize:4;\tsigned:1;\n"                \
	"\nprint fmt: \"call_site=%pS ptr=%p\", (void *)REC->call_site, REC->ptr\n"

static void add_type(const char *system, const char *name, const char *format,
		     enum stk_event_kind kind)
{
	struct rec_event *t = &in.types[in.nr_types++];

	assert(in.nr_types <= MAX_TYPES);
	*t = (struct rec_event){ .kind = kind, .system = strdup(system), .name = strdup(name) };
	t->format = strdup(format);
	assert(!ev_format__parse(format, strlen(format), &t->fmt));
}

/* record: from the common fields on. */
static void add_event(uint32_t cpu, struct wire_event e, const void *record, size_t len)
{
	assert(!array__grow(&in.events, in.nr, &in.cap));
	in.events[in.nr++] = (struct event){ in.bytes.len, sizeof(e) + len - 8, cpu };
	bytes_put(&in.bytes, &e, sizeof(e));
	bytes_put(&in.bytes, (const char *)record + 8, len - 8);
	while (in.bytes.len % 8)
		bytes_put_u8(&in.bytes, 0);
	assert(!in.bytes.failed);
	in.nr_cpus = MAX(in.nr_cpus, cpu + 1);
}

struct source {
	uint64_t seed, ts;
	uint32_t cpu, tid;
};

static struct wire_event next_event(struct source *s, uint64_t ns, uint16_t type, uint32_t stack)
{
	uint64_t jitter = 0, x = gen_random(&s->seed);
	unsigned int i;

	for (i = 0; i < 4; i++)
		jitter += (x >> (8 * i) & 0xff) * ns / 2048;
	s->ts += ns + jitter + ((x >> 40) % 50 ? 0 : (x >> 48) % (4 * ns));
	return (struct wire_event){
		.ts = s->ts,
		.kstack = stack,
		.event = type,
		.common_type = 300 + type,
		.common_pid = s->tid,
	};
}

static void add_call(struct source *s, uint64_t ns, long id, uint64_t arg)
{
	uint64_t record[8] = { 0, id, arg, 0x7ffd12345670, 1 };

	add_event(s->cpu, next_event(s, ns, 1, 3), record, sizeof(record));
}

/* To the other task, waiting for what it writes. */
static void add_switch(struct source *s, uint32_t next)
{
	struct {
		uint64_t common;
		char prev[16];
		int32_t prev_pid, prev_prio;
		int64_t state;
		char next[16];
		int32_t next_pid, next_prio;
	} r = { .prev = "pingpong",
		.prev_pid = s->tid,
		.prev_prio = 120,
		.state = 1,
		.next = "pingpong",
		.next_pid = next,
		.next_prio = 120 };
	struct wire_event e = next_event(s, 700, 0, gen_random(&s->seed) % 2 ? 15 : 16);

	e.common_flags = 1;
	e.common_preempt_count = 2;
	if (gen_random(&s->seed) % 500 == 0) {
		strcpy(r.next, "kworker/1:2");
		r.next_pid = 77;
	}
	add_event(s->cpu, e, &r, sizeof(r));
	s->tid = next;
}

/* One CPU asks for its parent's id, and on another one two tasks wake each other. */
static void load_calls(size_t n)
{
	struct source parent = { 7, 1000000000, 0, 4000 }, pipe = { 8, 1000000000, 1, 4001 };
	struct source *s = &parent;

	add_type("sched", "sched_switch", GEN_FORMAT_SWITCH, STK_KIND_TRACEPOINT);
	add_type("raw_syscalls", "sys_enter", FORMAT_ENTER, STK_KIND_TRACEPOINT);
	while (in.nr < n) {
		s = pipe.ts < parent.ts ? &pipe : &parent;
		if (s == &parent) {
			add_call(s, 3800, 110, 0);
			continue;
		}
		add_call(s, 600, 1, s->tid % 2 + 4);
		add_call(s, 900, 0, s->tid % 2 + 3);
		add_switch(s, s->tid ^ 3);
	}
}

/* Values that differ, stacks and tasks that alternate, and symbols in the fields. */
static void load_kmem(size_t n)
{
	struct source cpus[2] = { { 7, 1000000000, 0, 10 }, { 8, 1000000000, 1, 20 } };

	add_type("kmem", "kmalloc", FORMAT_KMALLOC, STK_KIND_TRACEPOINT);
	while (in.nr < n) {
		struct source *s = &cpus[cpus[1].ts < cpus[0].ts];
		uint64_t x = gen_random(&s->seed), size = 8 * ((x >> 30) % 20);
		uint64_t record[7] = {
			0, 0xffffffff81000000 + x % 300 * 0x1234, 0, size, 0, 0xcc0, ~0ull
		};

		record[2] = 0xffff888100000000 + (x >> 10) % 100000 * 64;
		record[4] = (size + 63) & ~63ull;
		s->tid = (x >> 45) % 8 ? s->tid : 10 + (x >> 50) % 20;
		add_event(s->cpu, next_event(s, 400, 0, 1 + x % 300), record, 52);
	}
}

/* Takes events of a recording with the numbers of its stacks. */
static void load_recording(const char *path, size_t n)
{
	const struct stk_event *e;
	struct stk_reader *r;
	unsigned int i;

	assert(!stk_reader__open(path, NULL, &r));
	while (in.nr < n && stk_reader__next(r, &e) == 1) {
		const struct stk_event_type *type = stk_event__type(e);
		size_t len;
		const void *record = stk_event__record(e, &len);

		add_event(stk_event__cpu(e),
			  (struct wire_event){
				  .ts = stk_event__ts(e),
				  .kstack = stk_event__kstack(e) % DRAIN_INPUT_IDS,
				  .ustack = stk_event__ustack(e) % DRAIN_INPUT_IDS,
				  .event = stk_event_type__index(type),
				  .marks = stk_event__marks(e) & ~STK_MARK_LATE,
				  .common_type = 300 + stk_event_type__index(type),
				  .common_flags = stk_event__flags(e),
				  .common_preempt_count = stk_event__preempt_count(e),
				  .common_pid = stk_event__tid(e),
			  },
			  record, len);
	}
	for (i = 0; i < stk_reader__nr_types(r); i++) {
		const struct stk_event_type *t = stk_reader__type(r, i);

		add_type(stk_event_type__system(t), stk_event_type__name(t),
			 stk_event_type__format(t), stk_event_type__kind(t));
	}
	stk_reader__free(r);
}

static const struct load {
	const char *name;
	void (*fill)(size_t n);
} loads[] = {
	{ "calls", load_calls },
	{ "kmem", load_kmem },
};

static void prepare(const char *name, size_t n)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(loads); i++) {
		if (!strcmp(loads[i].name, name)) {
			loads[i].fill(n);
			return;
		}
	}
	load_recording(name, n);
}

/* ---- a recording ----------------------------------------------------------------------------- */

struct run {
	struct stk_writer *w;
	struct bpf_drain *d;
	uint64_t drain_ns, rounds_ns;
	size_t measured; /* events */
	double bytes;
	struct names {
		uint32_t tid[WIRE_TASK_SLOTS];
	} * names; /* announced, by CPU */
};

/* Puts an event into its ring, after the name of its task if need be; false: it is full. */
static bool put(struct run *run, const struct event *e)
{
	const struct wire_event *w = (const void *)(in.bytes.p + e->at);
	uint32_t tid = w->common_pid, slot = (tid ^ tid >> 8) & (WIRE_TASK_SLOTS - 1);
	char comm[16];

	if (run->names[e->cpu].tid[slot] != tid + 1) {
		snprintf(comm, sizeof(comm), "task-%u", tid);
		if (!drain_input__put_task(e->cpu, tid, tid, comm))
			return false;
		run->names[e->cpu].tid[slot] = tid + 1;
	}
	return drain_input__put(e->cpu, w, e->len);
}

static void drain(struct run *run)
{
	uint64_t start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	assert(!bpf_drain__run(run->d));
	run->drain_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static void end_round(struct run *run, uint64_t ts)
{
	uint64_t start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	assert(!stk_writer__end_round(run->w, ts, 0));
	bpf_drain__end_round(run->d);
	run->rounds_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static uint64_t ts_of(size_t i)
{
	return ((const struct wire_event *)(in.bytes.p + in.events[i].at))->ts;
}

static void record(struct run *run)
{
	uint64_t polled = ts_of(0), round = polled;
	size_t i;

	for (i = 0; i < in.nr; i++) {
		uint64_t ts = ts_of(i);

		if (i == in.nr / 4) { /* the rings are mapped, and the buffers have grown */
			drain(run);
			run->drain_ns = run->rounds_ns = 0;
			run->measured = in.nr - i;
		}
		if (ts - polled >= POLL_NS) {
			drain(run);
			polled = ts;
		}
		if (ts - round >= ROUND_NS) {
			end_round(run, ts);
			round = ts;
		}
		while (!put(run, &in.events[i]))
			drain(run);
	}
	drain(run);
	end_round(run, ts_of(in.nr - 1));
}

static void open_run(struct run *run, struct ksyms *syms, const char *path)
{
	struct rec_events events = { .v = in.types, .nr = in.nr_types };
	struct bpf_drain_opts opts = { .events = &events, .syms = syms };
	struct stk_writer_opts w = { .nr_cpus = in.nr_cpus };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	unsigned int i;

	drain_input__open(in.nr_cpus, RING_BYTES);
	assert(fd >= 0 && !stk_writer__new(fd, &w, &run->w));
	for (i = 0; i < in.nr_types; i++)
		assert(stk_writer__type(run->w, in.types[i].kind, in.types[i].system,
					in.types[i].name, "", in.types[i].format) == (int)i);
	opts.programs = drain_input__programs();
	opts.w = run->w;
	run->names = calloc(in.nr_cpus, sizeof(*run->names));
	assert(run->names && !bpf_drain__new(&opts, &run->d));
}

static void run_once(struct run *run, struct ksyms *syms, const char *path)
{
	struct stk_writer_stats stats;

	*run = (struct run){ 0 };
	open_run(run, syms, path);
	record(run);
	stk_writer__stats(run->w, &stats);
	run->bytes = (double)stats.bytes / in.nr;
	bpf_drain__free(run->d);
	stk_writer__free(run->w);
	drain_input__close();
	free(run->names);
}

/* Functions of the kernel for every frame. */
static struct ksyms *make_symbols(void)
{
	struct strbuf text = { 0 };
	struct ksyms *syms;
	unsigned int i;

	for (i = 0; i < 65536; i++)
		strbuf__printf(&text, "%llx T f%u\n", 0xffffffff81000000ull + 256 * i, i);
	assert(!strbuf__failed(&text) && !ksyms__parse(text.s, &syms));
	strbuf__free(&text);
	return syms;
}

static int by_ns(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return CMP(x->drain_ns + x->rounds_ns, y->drain_ns + y->rounds_ns);
}

int main(int argc, char **argv)
{
	unsigned int repeats = 5, i;
	const char *path = "/dev/null";
	struct ksyms *syms = make_symbols();
	struct run *runs, *median;
	int opt;

	while ((opt = getopt(argc, argv, "r:o:")) != -1) {
		if (opt == 'r')
			repeats = strtoul(optarg, NULL, 10);
		else if (opt == 'o')
			path = optarg;
	}
	if (!argv[optind] || !repeats) {
		fprintf(stderr, "usage: drain [-r REPEATS] [-o FILE] LOAD [EVENTS]\n");
		return 2;
	}
	prepare(argv[optind], argv[optind + 1] ? strtoul(argv[optind + 1], NULL, 10) : 1000000);
	runs = calloc(repeats, sizeof(*runs));
	assert(runs && in.nr);
	for (i = 0; i < repeats; i++)
		run_once(&runs[i], syms, path);
	qsort(runs, repeats, sizeof(*runs), by_ns);
	median = &runs[repeats / 2];
	printf("%-12s %16zu %6.1f %6.1f %6.1f %6.2f\n", argv[optind], in.nr,
	       (double)median->drain_ns / median->measured,
	       (double)median->rounds_ns / median->measured,
	       (double)(median->drain_ns + median->rounds_ns) / median->measured, median->bytes);
	return 0;
}
