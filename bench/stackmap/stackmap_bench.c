// SPDX-License-Identifier: GPL-2.0-only
/*
 * stackmap_bench [ROUNDS [CALLS [WORKLOAD]]]: the cost of the stack map per event, in situ.  Each
 * round measures the CPU time of the same loop in each mode; differences and ratios are taken
 * within a round, and their median is printed.  Rounds are short, so that the median ignores
 * disturbed ones.
 */
#include <errno.h>
#include <arpa/inet.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "stackmap.h"
#include "stackmap_bench.h"
#include "stackmap_bench.skel.h"

#define ROUNDS_MAX 2000
#define DEPTH_MAX 126
#define STACKS_MAX 1000

struct workload {
	const char *name;
	const char *tracepoint;
	unsigned int user_depth; /* 0: kernel stacks */
	unsigned int stacks; /* distinct stacks, in turn */
	int udp;
};

static const struct workload workloads[] = {
	{ "kernel stack, getppid", "sys_enter", 0, 1, 0 },
	{ "kernel stack, UDP send", "net_dev_queue", 0, 1, 1 },
	{ "user stack of 16", "sys_enter", 15, 1, 0 },
	{ "user stack of 64", "sys_enter", 63, 1, 0 },
	{ "user stack of 127", "sys_enter", 126, 1, 0 },
	{ "user stack of 16, 8 in turn", "sys_enter", 15, 8, 0 },
	{ "user stack of 16, 1000 in turn", "sys_enter", 15, 1000, 0 },
};

struct bench {
	struct stackmap_bench_bpf *skel;
	uint64_t (*chains)[DEPTH_MAX][2];
	int sock;
	struct sockaddr_in to;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void call_on_chain(void *chain)
{
	long number = SYS_getppid;

	__asm__ volatile("push %%rbp\n\tmov %1, %%rbp\n\tsyscall\n\tpop %%rbp"
			 : "+a"(number)
			 : "r"(chain)
			 : "rcx", "r11", "memory");
}

static void run(const struct bench *b, const struct workload *w, long calls)
{
	long i;

	for (i = 0; i < calls; i++) {
		if (w->udp)
			sendto(b->sock, "x", 1, MSG_DONTWAIT, (void *)&b->to, sizeof(b->to));
		else if (w->user_depth)
			call_on_chain(b->chains[i % w->stacks]);
		else
			syscall(SYS_getppid);
	}
}

static void craft(struct bench *b, const struct workload *w)
{
	unsigned int s, i;

	for (s = 0; s < w->stacks; s++) {
		for (i = 0; i < w->user_depth; i++) {
			b->chains[s][i][0] =
				i + 1 < w->user_depth ? (uint64_t)b->chains[s][i + 1] : 0;
			b->chains[s][i][1] = 0x400000 + (s * 131071UL + i) * 64;
		}
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* CPU time of one call in a mode, in ns. */
static double measure(const struct bench *b, const struct workload *w, enum bench_mode mode,
		      long calls)
{
	double start;

	b->skel->bss->bench_mode = mode;
	run(b, w, calls / 10 + 1);
	start = now();
	run(b, w, calls);
	start = now() - start;
	b->skel->bss->bench_mode = BENCH_NOTHING;
	return start / calls;
}

static double difference(double (*t)[BENCH_MODES], int rounds, enum bench_mode a, enum bench_mode b)
{
	double v[ROUNDS_MAX];
	int i;

	for (i = 0; i < rounds; i++)
		v[i] = t[i][a] - t[i][b];
	return median(v, rounds);
}

static double ratio(double (*t)[BENCH_MODES], int rounds, enum bench_mode a, enum bench_mode b)
{
	double v[ROUNDS_MAX];
	int i;

	for (i = 0; i < rounds; i++)
		v[i] = (t[i][a] - t[i][BENCH_NOTHING]) / (t[i][b] - t[i][BENCH_NOTHING]);
	return median(v, rounds);
}

static void bench_one(struct bench *b, const struct workload *w, int rounds, long calls)
{
	static double t[ROUNDS_MAX][BENCH_MODES];
	struct bpf_link *link;
	int round, i, mode;

	craft(b, w);
	b->skel->bss->bench_flags = w->user_depth ? BPF_F_USER_STACK : 0;
	b->skel->bss->bench_failed = 0;
	b->skel->bss->bench_frames = 0;
	link = bpf_program__attach_raw_tracepoint(b->skel->progs.bench_event, w->tracepoint);
	if (!link) {
		fprintf(stderr, "attach to %s: %s\n", w->tracepoint, strerror(errno));
		exit(1);
	}
	for (mode = 0; mode < BENCH_MODES; mode++)
		measure(b, w, mode, w->stacks + 1000);
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < BENCH_MODES; i++) {
			mode = (i + round) % BENCH_MODES;
			t[round][mode] = measure(b, w, mode, calls);
		}
	}
	bpf_link__destroy(link);
	printf("%-30s %4ld", w->name, b->skel->bss->bench_frames);
	for (mode = BENCH_STACK; mode < BENCH_MODES; mode++)
		printf(" %7.0f", difference(t, rounds, mode, BENCH_NOTHING));
	printf(" %7.1f %7.3f %7.3f %7.3f", difference(t, rounds, BENCH_MAP, BENCH_STACK),
	       ratio(t, rounds, BENCH_STACK, BENCH_STACKID),
	       ratio(t, rounds, BENCH_MAP, BENCH_STACKID),
	       ratio(t, rounds, BENCH_DROPIN, BENCH_STACKID));
	if (b->skel->bss->bench_failed)
		printf("  (%llu failed)", b->skel->bss->bench_failed);
	printf("\n");
}

/* ns of one pass through the loop of a program, less those of the empty loop. */
static double pass(const struct bench *b, struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	double start = now();

	if (bpf_prog_test_run_opts(bpf_program__fd(prog), &opts) ||
	    opts.retval != b->skel->bss->bench_loops) {
		fprintf(stderr, "test run: %s, %u passes\n", strerror(errno), opts.retval);
		exit(1);
	}
	return (now() - start) / b->skel->bss->bench_loops;
}

static void bench_parts(struct bench *b, int rounds)
{
	static const unsigned int words[] = { 8, 16, 32, 64, 127 };
	struct bpf_program *prog[] = {
		b->skel->progs.bench_loop_hash,
		b->skel->progs.bench_loop_hit,
		b->skel->progs.bench_loop_hit_call,
		b->skel->progs.bench_loop_claim,
	};
	double t[4][ROUNDS_MAX], empty;
	unsigned int i, p;
	int round;

	b->skel->bss->bench_loops = 100000;
	printf("\nns of the parts, warm, in a loop\n%5s %8s %8s %8s %8s\n", "words", "hash", "hit",
	       "by call", "claim");
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		b->skel->bss->bench_words = words[i];
		for (round = 0; round < rounds; round++) {
			empty = pass(b, b->skel->progs.bench_loop_nothing);
			for (p = 0; p < 4; p++)
				t[p][round] = pass(b, prog[p]) - empty;
		}
		printf("%5u %8.1f %8.1f %8.1f %8.1f\n", words[i], median(t[0], rounds),
		       median(t[1], rounds), median(t[2], rounds), median(t[3], rounds));
	}
}

static int setup(struct bench *b)
{
	struct stackmap_opts opts = { .bits = 14 };
	socklen_t len = sizeof(b->to);
	cpu_set_t set;

	b->skel = stackmap_bench_bpf__open();
	if (!b->skel || stackmap__configure(b->skel->obj, &opts) ||
	    stackmap_bench_bpf__load(b->skel))
		return -1;
	b->skel->bss->bench_pid = getpid();
	b->chains = calloc(STACKS_MAX, sizeof(*b->chains));
	CPU_ZERO(&set);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	sched_setaffinity(0, sizeof(set), &set);
	b->sock = socket(AF_INET, SOCK_DGRAM, 0);
	b->to.sin_family = AF_INET;
	b->to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bind(b->sock, (void *)&b->to, len);
	getsockname(b->sock, (void *)&b->to, &len);
	return b->chains && b->sock >= 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 200;
	long calls = argc > 2 ? atol(argv[2]) : 1000;
	const char *only = argc > 3 ? argv[3] : NULL;
	struct bench b = {};
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (rounds < 1 || rounds > ROUNDS_MAX || calls < 1)
		return 2;
	if (geteuid()) {
		printf("stackmap: skipped, needs root\n");
		return 77;
	}
	if (setup(&b)) {
		printf("stackmap: skipped, the kernel refuses its programs\n");
		return 77;
	}
	printf("ns of CPU time added per event, medians of %d rounds of %ld events.\n"
	       "stack: bpf_get_stack(); "
	       "stack32: with room for 32 frames; dedup: map - stack; /sid: as part of bpf_get_stackid()\n"
	       "%-30s %4s %7s %7s %7s %7s %7s %7s %7s %7s %7s\n",
	       rounds, calls, "", "n", "stack", "stack32", "map", "drop-in", "stackid", "dedup",
	       "stk/sid", "map/sid", "drp/sid");
	for (i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
		if (!only || i == (unsigned int)atoi(only))
			bench_one(&b, &workloads[i], rounds, calls);
	bench_parts(&b, rounds < 21 ? rounds : 21);
	stackmap_bench_bpf__destroy(b.skel);
	free(b.chains);
	return 0;
}
