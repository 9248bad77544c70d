// SPDX-License-Identifier: GPL-2.0-only
/*
 * truth DIRECTORY WAKES WAITS BURNS WALKS: follows call paths of twenty functions and makes futex
 * calls at their ends, whose address names the path (path.h).  A function f_LEVEL_SHAPE calls those
 * of the next level directly, each at one place.  The frames outside of truth_root(), which this
 * source does not determine, are written to DIRECTORY/tail.COMM: for the first thread and for
 * another one.
 */
#include <alloca.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../prog.h"
#include "path.h"
#include "where.h"

#ifdef __clang__
#define ALONE static __attribute__((noinline))
#else
#define ALONE static __attribute__((noipa))
#endif

struct truth {
	uint32_t path;
	enum path_mode mode;
	struct timespec pause;
	const char *tail; /* file for the outer frames, written once */
};

#define PARAMS                                                                               \
	struct truth *t, unsigned long a, unsigned long b, unsigned long c, unsigned long d, \
		unsigned long e, unsigned long g, unsigned long h
#define ARGS t, a + 1, b + a, c + b, d + c, e + d, g + e, h + g

/* The call is not the last statement of a function, so that its frame stays. */
#define KEEP(r) __asm__ volatile("" : "+r"(r) : : "memory")

static inline __attribute__((always_inline)) unsigned long leaf(struct truth *t, unsigned long h)
{
	uint32_t *word = (uint32_t *)(PATH_ARENA + 4ull * t->path);
	struct timespec now;
	unsigned long r = h;

	switch (t->mode) {
	case PATH_WAKE:
		r += syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, PATH_WAKE, NULL, NULL, 0);
		break;
	case PATH_WAIT:
		r += syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, PATH_WAIT, &t->pause, NULL, 0);
		break;
	case PATH_BURN:
		r += syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, PATH_BURN, NULL, NULL, 0);
		for (volatile unsigned int i = 0; i < 2000000; i++)
			;
		r += syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, PATH_BURNT, NULL, NULL, 0);
		break;
	default:
		/* most of the time is spent in the vdso */
		for (unsigned int i = 0; i < 4; i++)
			r += clock_gettime(CLOCK_MONOTONIC, &now);
		break;
	}
	KEEP(r);
	return r;
}

/* One switch per function; the calls in it are direct. */
#define NEXT(n)                           \
	switch (path_shape(t->path, n)) { \
	case 0:                           \
		r = f_##n##_0(ARGS);      \
		break;                    \
	case 1:                           \
		r = f_##n##_1(ARGS);      \
		break;                    \
	case 2:                           \
		r = f_##n##_2(ARGS);      \
		break;                    \
	case 3:                           \
		r = f_##n##_3(ARGS);      \
		break;                    \
	case 4:                           \
		r = f_##n##_4(ARGS);      \
		break;                    \
	default:                          \
		r = f_##n##_5(ARGS);      \
		break;                    \
	}                                 \
	KEEP(r)
#define LEAF() r = leaf(t, h)

/* Six kinds of frames; go calls the next function. */
#define SHAPES(l, go)                                                                              \
	ALONE unsigned long f_##l##_0(PARAMS) /* minimal */                                        \
	{                                                                                          \
		unsigned long r;                                                                   \
                                                                                                   \
		go;                                                                                \
		return r + 1;                                                                      \
	}                                                                                          \
	ALONE unsigned long f_##l##_1(PARAMS) /* of variable size */                               \
	{                                                                                          \
		char *room = alloca(16 + (t->path & 255));                                         \
		unsigned long r;                                                                   \
                                                                                                   \
		memset(room, (int)a, 16);                                                          \
		KEEP(room);                                                                        \
		go;                                                                                \
		return r + (unsigned char)room[3];                                                 \
	}                                                                                          \
	ALONE unsigned long f_##l##_2(PARAMS) /* aligned beyond the ABI, with stack arguments */   \
	{                                                                                          \
		char room[128] __attribute__((aligned(64)));                                       \
		char *p = room;                                                                    \
		unsigned long r;                                                                   \
                                                                                                   \
		KEEP(p);                                                                           \
		p[5] = (char)b;                                                                    \
		go;                                                                                \
		return r + h + g + (unsigned char)p[5];                                            \
	}                                                                                          \
	ALONE unsigned long f_##l##_3(PARAMS) /* all saved registers are used */                   \
	{                                                                                          \
		unsigned long s = a * 3, u = b * 5, v = c * 7, w = d * 11, x = e * 13, y = g * 17; \
		unsigned long r;                                                                   \
                                                                                                   \
		__asm__ volatile("" : "+r"(s), "+r"(u), "+r"(v), "+r"(w), "+r"(x), "+r"(y));       \
		go;                                                                                \
		return r + (s ^ u) + (v ^ w) + (x ^ y);                                            \
	}                                                                                          \
	ALONE unsigned long f_##l##_4(PARAMS) /* a large frame */                                  \
	{                                                                                          \
		volatile char room[560];                                                           \
		unsigned long r;                                                                   \
                                                                                                   \
		room[a & 511] = (char)b;                                                           \
		go;                                                                                \
		return r + (unsigned char)room[a & 511];                                           \
	}                                                                                          \
	ALONE unsigned long f_##l##_5(PARAMS) /* aligned, and of variable size */                  \
	{                                                                                          \
		char room[64] __attribute__((aligned(128)));                                       \
		char *p = room, *more = alloca(8 + (t->path & 63));                                \
		unsigned long r;                                                                   \
                                                                                                   \
		KEEP(p);                                                                           \
		more[1] = p[1] = (char)c;                                                          \
		KEEP(more);                                                                        \
		go;                                                                                \
		return r + (unsigned char)more[1] + (unsigned char)p[1] + h;                       \
	}

SHAPES(20, LEAF())
SHAPES(19, NEXT(20))
SHAPES(18, NEXT(19))
SHAPES(17, NEXT(18))
SHAPES(16, NEXT(17))
SHAPES(15, NEXT(16))
SHAPES(14, NEXT(15))
SHAPES(13, NEXT(14))
SHAPES(12, NEXT(13))
SHAPES(11, NEXT(12))
SHAPES(10, NEXT(11))
SHAPES(9, NEXT(10))
SHAPES(8, NEXT(9))
SHAPES(7, NEXT(8))
SHAPES(6, NEXT(7))
SHAPES(5, NEXT(6))
SHAPES(4, NEXT(5))
SHAPES(3, NEXT(4))
SHAPES(2, NEXT(3))
SHAPES(1, NEXT(2))

/* The outermost function of a path; where__am_i() writes the frames outside of it. */
ALONE unsigned long truth_root(struct truth *t)
{
	unsigned long a = t->path, b = 2, c = 3, d = 4, e = 5, g = 6, h = 7, r;

	if (t->tail) {
		where__am_i(t->tail);
		t->tail = NULL;
	}
	NEXT(1);
	return r;
}

struct plan {
	unsigned long count[4]; /* wakes, waits, burns, walks */
	struct truth t;
	unsigned long sum;
};

static void run(struct plan *p)
{
	static const enum path_mode modes[] = { PATH_WAKE, PATH_WAIT, PATH_BURN, PATH_WALK };

	/* volatile: keeps this one loop with one call in it */
	for (volatile unsigned int m = 0; m < 4; m++) {
		for (unsigned long i = 0; i < p->count[m]; i++) {
			p->t.mode = modes[m];
			p->t.path = (uint32_t)((i * 4 + m) % PATH_COUNT);
			p->sum += truth_root(&p->t);
		}
	}
}

static void *run_thread(void *arg)
{
	run(arg);
	return NULL;
}

int truth_main(int argc, char **argv);

int truth_main(int argc, char **argv)
{
	struct plan p = { .t.pause = { 0, 20000 } }, q;
	static char tail[PATH_MAX], tail2[PATH_MAX];
	pthread_t thread;

	if (argc < 2)
		errx(2, "usage: truth DIRECTORY WAKES WAITS BURNS WALKS");
	for (int i = 0; i < 4; i++)
		p.count[i] = arg_number(argc, argv, i + 2, 0, 1000000000);
	if (mmap((void *)PATH_ARENA, 4ull * PATH_COUNT, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
		 0) != (void *)PATH_ARENA)
		err(1, "mmap the arena");
	snprintf(tail, sizeof(tail), "%s/tail.%s.0", argv[1], program_invocation_short_name);
	snprintf(tail2, sizeof(tail2), "%s/tail.%s.1", argv[1], program_invocation_short_name);
	q = p;
	p.t.tail = tail;
	run(&p);
	q.t.tail = tail2;
	errno = pthread_create(&thread, NULL, run_thread, &q);
	if (errno)
		err(1, "pthread_create");
	pthread_join(thread, NULL);
	return p.sum + q.sum == 1;
}

#ifndef TRUTH_LIBRARY
int main(int argc, char **argv)
{
	int rc = truth_main(argc, argv);

	__asm__ volatile("" : "+r"(rc));
	return rc;
}
#endif
