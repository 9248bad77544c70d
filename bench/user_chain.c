// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_chain MODE CALLS [CPU [WAYS]]: futex calls that wake no waiter, at the end of a chain of
 * twenty functions. `loop`: all calls in one descent; `climb`: one descent per call, through up to
 * 39 more frames in one of WAYS ways; `switch`: two threads at the ends of such chains pass a byte
 * to and fro on one CPU, and a call is two context switches.
 *
 * Prints the number of events, the CPU time for them, and the frames of a call in `loop`, innermost
 * first: address, offset in the file, file.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>

#include "../tests/live/prog/prog.h"

#ifdef __clang__
#define ALONE static __attribute__((noinline))
#else
#define ALONE static __attribute__((noipa))
#endif
/* The call is not the last statement of a function, so that its frame stays. */
#define KEEP(r) __asm__ volatile("" : "+r"(r) : : "memory")

#define MAX_FRAMES 64

struct chain {
	unsigned long calls; /* in one descent */
	unsigned int more; /* frames */
	uint64_t random;
	int from, to; /* pipes; -1 for futex calls */
	bool starts;
};

static uint32_t word;
static void *frames[MAX_FRAMES];
static int nr_frames;
static uint64_t started_ns;

typedef long enter_fn(long nr, ...);

static enter_fn note_frames;
/* One place calls both functions, so that their return address is the same. */
static enter_fn *volatile enter_kernel = note_frames;

static long note_frames(long nr, ...)
{
	nr_frames = backtrace(frames, MAX_FRAMES);
	enter_kernel = syscall;
	started_ns = rusage_ns(RUSAGE_SELF);
	return 0;
}

static void pass_on(struct chain *c)
{
	char byte = 'x';

	for (unsigned long i = 0; i < c->calls; i++) {
		if (c->starts && write(c->to, &byte, 1) != 1)
			err(1, "write");
		if (read(c->from, &byte, 1) != 1)
			err(1, "read");
		if (!c->starts && write(c->to, &byte, 1) != 1)
			err(1, "write");
	}
}

ALONE unsigned long call_kernel(struct chain *c)
{
	unsigned long r = 0;

	if (c->from >= 0) {
		pass_on(c);
		return 1;
	}
	for (unsigned long i = 0; i < c->calls; i++)
		r += (unsigned long)enter_kernel(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL,
						 NULL, 0);
	KEEP(r);
	return r;
}

ALONE unsigned long more_small(struct chain *c);
ALONE unsigned long more_large(struct chain *c);

static inline __attribute__((always_inline)) unsigned long more(struct chain *c)
{
	if (!c->more)
		return call_kernel(c);
	c->more--;
	return c->random >> c->more & 1 ? more_small(c) : more_large(c);
}

ALONE unsigned long more_small(struct chain *c)
{
	unsigned long r = more(c);

	KEEP(r);
	return r + 1;
}

ALONE unsigned long more_large(struct chain *c)
{
	char room[200];
	char *p = room;
	unsigned long r;

	memset(room, (int)c->more, sizeof(room));
	KEEP(p);
	r = more(c);
	KEEP(r);
	return r + (unsigned char)p[3];
}

/* Three kinds of function frames. */
#define SMALL(n, next)                                \
	ALONE unsigned long call_##n(struct chain *c) \
	{                                             \
		unsigned long r = next(c);            \
                                                      \
		KEEP(r);                              \
		return r + 1;                         \
	}
#define SAVES(n, next)                                                                      \
	ALONE unsigned long call_##n(struct chain *c)                                       \
	{                                                                                   \
		unsigned long s = c->calls, t = s * 3, u = s * 5, v = s * 7, w = s * 11, r; \
                                                                                            \
		__asm__ volatile("" : "+r"(s), "+r"(t), "+r"(u), "+r"(v), "+r"(w));         \
		r = next(c);                                                                \
		KEEP(r);                                                                    \
		return r + (s ^ t) + (u ^ v) + w;                                           \
	}
#define LARGE(n, next)                                    \
	ALONE unsigned long call_##n(struct chain *c)     \
	{                                                 \
		char room[120];                           \
		char *p = room;                           \
		unsigned long r;                          \
                                                          \
		memset(room, (int)c->more, sizeof(room)); \
		KEEP(p);                                  \
		r = next(c);                              \
		KEEP(r);                                  \
		return r + (unsigned char)p[5];           \
	}

SMALL(18, more_small)
SAVES(17, call_18)
LARGE(16, call_17)
SMALL(15, call_16)
SAVES(14, call_15)
SMALL(13, call_14)
SAVES(12, call_13)
LARGE(11, call_12)
SMALL(10, call_11)
SAVES(9, call_10)
SMALL(8, call_9)
SAVES(7, call_8)
LARGE(6, call_7)
SMALL(5, call_6)
SAVES(4, call_5)
SMALL(3, call_4)
SAVES(2, call_3)
LARGE(1, call_2)

static void *run_thread(void *chain)
{
	call_1(chain);
	return NULL;
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* One descent per call, through further frames in one of @ways ways. */
static void climb(unsigned long calls, unsigned long ways)
{
	struct chain c = { .calls = 1, .from = -1 };
	uint64_t state = 0, way;

	for (unsigned long i = 0; i < calls; i++) {
		if (ways) {
			way = next_random(&state) % ways;
			c.random = next_random(&way);
			c.more = (c.random >> 40) % 40;
		}
		call_1(&c);
	}
}

static void switch_to_and_fro(unsigned long rounds)
{
	int ping[2], pong[2];
	struct chain a, b;
	pthread_t other;

	if (pipe(ping) || pipe(pong))
		err(1, "pipe");
	a = (struct chain){ .calls = rounds, .from = pong[0], .to = ping[1], .starts = true };
	b = (struct chain){ .calls = rounds, .from = ping[0], .to = pong[1] };
	errno = pthread_create(&other, NULL, run_thread, &b);
	if (errno)
		err(1, "pthread_create");
	call_1(&a);
	pthread_join(other, NULL);
}

/* The address after the system call in the C library's syscall(). */
static void *behind_syscall(void)
{
	const unsigned char *p = dlsym(RTLD_DEFAULT, "syscall");

	for (int i = 0; p && i < 64; i++)
		if (p[i] == 0x0f && p[i + 1] == 0x05)
			return (void *)(p + i + 2);
	errx(1, "no system call in syscall()");
}

static void print_frame(void *frame)
{
	uint64_t addr = (uintptr_t)frame, start, end, off;
	char line[PATH_MAX + 128], path[PATH_MAX];
	FILE *f = fopen("/proc/self/maps", "re");

	if (!f)
		err(1, "open '/proc/self/maps'");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095[^\n]",
			   &start, &end, &off, path) != 4 ||
		    addr < start || addr >= end)
			continue;
		printf("frame %" PRIx64 " 0x%" PRIx64 " %s\n", addr, addr - start + off, path);
		fclose(f);
		return;
	}
	errx(1, "no file is mapped at %p", frame);
}

int main(int argc, char **argv)
{
	unsigned long calls = arg_number(argc, argv, 2, 100000, 1000000000), events = calls;
	const char *mode = argc > 1 ? argv[1] : "";
	bool loop = !strcmp(mode, "loop");
	struct chain c = { .calls = loop ? calls + 1 : 1, .from = -1 };
	uint64_t spent_ns;

	if (argc > 3)
		pin_to_cpu((unsigned int)arg_number(argc, argv, 3, 0, CPU_SETSIZE - 1));
	call_1(&c); /* the first call notes the frames instead */
	if (!strcmp(mode, "climb")) {
		climb(calls, arg_number(argc, argv, 4, 0, ULONG_MAX));
	} else if (!strcmp(mode, "switch")) {
		switch_to_and_fro(calls);
		events = calls * 2;
	} else if (!loop) {
		errx(2, "usage: user_chain loop|climb|switch CALLS [CPU [WAYS]]");
	}
	spent_ns = rusage_ns(RUSAGE_SELF) - started_ns;
	printf("events %lu\ncpu_ns %" PRIu64 "\n", events, spent_ns);
	print_frame(behind_syscall());
	for (int i = 1; i < nr_frames; i++)
		print_frame(frames[i]);
	return 0;
}
