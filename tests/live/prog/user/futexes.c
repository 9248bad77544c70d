// SPDX-License-Identifier: GPL-2.0-only
/*
 * futexes WAITS: waits for futexes in every way, and prints the truth about each, one fact per line
 * as keys and values.  Word k of the arena belongs to call path k. futexes open: one thread waits
 * forever, another one 200 ms at a time.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "../prog.h"
#include "futex_tools.h"
#include "path.h"

#define PATHS 24
#define LEVELS 6
#define ARENA 0x210000000000ULL
#define SHARED_HERE 0x220000000000ULL
#define SHARED_THERE 0x230000000000ULL
#define ROUNDS 12

/* ---- paths: a wait at the end of six functions, each in one of three shapes ------------------ */

struct path_wait {
	uint32_t *word;
	unsigned int path;
	const struct timespec *timeout;
	uint64_t ns;
	int result;
};

#define NEXT(l)                                \
	switch (path_shape(w->path, l) % 3) {  \
	case 0:                                \
		r = path_##l##_0(w, a + 1, b); \
		break;                         \
	case 1:                                \
		r = path_##l##_1(w, a, b + 1); \
		break;                         \
	default:                               \
		r = path_##l##_2(w, a + b, b); \
		break;                         \
	}                                      \
	__asm__ volatile("" : "+r"(r) : : "memory")

#define SHAPES(l, go)                                                                        \
	static __attribute__((noipa)) long path_##l##_0(struct path_wait *w, long a, long b) \
	{                                                                                    \
		long r;                                                                      \
                                                                                             \
		go;                                                                          \
		return r + 1;                                                                \
	}                                                                                    \
	static __attribute__((noipa)) long path_##l##_1(struct path_wait *w, long a, long b) \
	{                                                                                    \
		char *room = __builtin_alloca(32 + (w->path & 63));                          \
		long r;                                                                      \
                                                                                             \
		memset(room, (int)a, 16);                                                    \
		__asm__ volatile("" : "+r"(room) : : "memory");                              \
		go;                                                                          \
		return r + room[1];                                                          \
	}                                                                                    \
	static __attribute__((noipa)) long path_##l##_2(struct path_wait *w, long a, long b) \
	{                                                                                    \
		volatile char room[300];                                                     \
		long r;                                                                      \
                                                                                             \
		room[a & 127] = (char)b;                                                     \
		go;                                                                          \
		return r + room[a & 127];                                                    \
	}

#define LEAF()                                                                              \
	do {                                                                                \
		w->ns = futex_wait(w->word, FUTEX_WAIT_PRIVATE, 0, w->timeout, &w->result); \
		r = w->result + a + b;                                                      \
		__asm__ volatile("" : "+r"(r) : : "memory");                                \
	} while (0)

SHAPES(6, LEAF())
SHAPES(5, NEXT(6))
SHAPES(4, NEXT(5))
SHAPES(3, NEXT(4))
SHAPES(2, NEXT(3))
SHAPES(1, NEXT(2))

static __attribute__((noipa)) long path_root(struct path_wait *w)
{
	long a = 1, b = 2, r;

	NEXT(1);
	return r;
}

struct path_total {
	uint64_t ns;
	unsigned int waits, timeouts;
};

struct waker {
	_Atomic(uint32_t *) word; /* to be woken */
	_Atomic(bool) end;
	_Atomic(pid_t) tid;
	pid_t sleeper;
	unsigned int ms;
};

/* Wakes the thread that sleeps at the word, some time after it fell asleep. */
static __attribute__((noipa)) void wake_sleeper(struct waker *k, uint32_t *word)
{
	until_in_futex(k->sleeper);
	sleep_ms(k->ms);
	futex_wake_one(word, FUTEX_WAKE_PRIVATE);
	__asm__ volatile("" : : : "memory");
}

static void *run_waker(void *arg)
{
	struct waker *k = arg;
	uint32_t *word;

	atomic_store(&k->tid, gettid());
	while (!atomic_load(&k->end)) {
		word = atomic_exchange(&k->word, NULL);
		if (word)
			wake_sleeper(k, word);
		else
			sleep_us(100);
	}
	return NULL;
}

static void print_path(unsigned int path, const uint32_t *word, const struct path_total *t)
{
	printf("path address 0x%llx waits %u timeouts %u ns %llu frames ",
	       (unsigned long long)(uintptr_t)word, t->waits, t->timeouts,
	       (unsigned long long)t->ns);
	for (int l = LEVELS; l > 0; l--)
		printf("path_%d_%u,", l, path_shape(path, (unsigned int)l) % 3);
	printf("path_root\n");
}

static void do_paths(unsigned int waits)
{
	uint32_t *arena = map_at(ARENA, -1);
	struct path_total totals[PATHS] = { 0 };
	struct waker k = { .sleeper = gettid() };
	pthread_t thread;

	start_thread(&thread, run_waker, &k);
	for (unsigned int i = 0; i < PATHS * waits; i++) {
		struct timespec timeout = { 0, 2000000 + (i % 7) * 1000000 };
		struct path_wait w = { .path = i % PATHS, .word = &arena[i % PATHS] };
		struct path_total *t = &totals[i % PATHS];

		if (i / PATHS % 3 == 2) {
			w.timeout = &timeout;
		} else {
			k.ms = 2 + i % 7;
			atomic_store(&k.word, w.word);
		}
		path_root(&w);
		if (w.result != (w.timeout ? -ETIMEDOUT : 0))
			errx(1, "a wait ended with %d", w.result);
		t->ns += w.ns;
		t->waits++;
		t->timeouts += w.timeout != NULL;
	}
	atomic_store(&k.end, true);
	pthread_join(thread, NULL);
	for (unsigned int i = 0; i < PATHS; i++)
		print_path(i, &arena[i], &totals[i]);
	printf("waker tid %d function wake_sleeper\n", k.tid);
}

/* ---- mutexes: each of two threads holds it until the other one waits ------------------------- */

struct lock_pair {
	pthread_mutex_t mutex;
	_Atomic(unsigned int) arrived;
	_Atomic(pid_t) tid[2];
	_Atomic(bool) locked;
	uint64_t ns[2];
};

struct lock_side {
	struct lock_pair *p;
	unsigned int side;
};

static __attribute__((noipa)) uint64_t lock_it(pthread_mutex_t *m)
{
	uint64_t from = now_ns(), to;

	pthread_mutex_lock(m);
	to = now_ns();
	__asm__ volatile("" : : : "memory");
	return to - from;
}

static __attribute__((noipa)) void unlock_it(pthread_mutex_t *m)
{
	pthread_mutex_unlock(m);
	__asm__ volatile("" : : : "memory");
}

/* Without a futex. */
static void meet(struct lock_pair *p, unsigned int round)
{
	atomic_fetch_add(&p->arrived, 1);
	while (atomic_load(&p->arrived) < 2 * (round + 1))
		sleep_us(50);
}

static void *run_lock(void *arg)
{
	struct lock_side *s = arg;
	struct lock_pair *p = s->p;

	atomic_store(&p->tid[s->side], gettid());
	for (unsigned int r = 0; r < ROUNDS; r++) {
		meet(p, r);
		if (r % 2 == s->side) {
			lock_it(&p->mutex);
			atomic_store(&p->locked, true);
			until_in_futex(p->tid[!s->side]);
			sleep_ms(6);
			atomic_store(&p->locked, false);
			unlock_it(&p->mutex);
		} else {
			while (!atomic_load(&p->locked))
				sleep_us(50);
			p->ns[s->side] += lock_it(&p->mutex);
			unlock_it(&p->mutex);
		}
	}
	return NULL;
}

static void do_mutex(const char *name, int protocol)
{
	static struct lock_pair pairs[2];
	struct lock_pair *p = &pairs[protocol != PTHREAD_PRIO_NONE];
	struct lock_side sides[2] = { { p, 0 }, { p, 1 } };
	pthread_mutexattr_t attr;
	pthread_t threads[2];

	pthread_mutexattr_init(&attr);
	if (pthread_mutexattr_setprotocol(&attr, protocol))
		errx(1, "no such mutexes");
	pthread_mutex_init(&p->mutex, &attr);
	for (int i = 0; i < 2; i++)
		start_thread(&threads[i], run_lock, &sides[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	/* In each round, one thread unlocks the mutex for the waiting one, which unlocks it. */
	printf("%s address %p waits %u ns %llu owner_changes %u tid0 %d tid1 %d\n", name,
	       (void *)&p->mutex, ROUNDS, (unsigned long long)(p->ns[0] + p->ns[1]), ROUNDS,
	       p->tid[0], p->tid[1]);
}

/* ---- two processes, one futex at two addresses ----------------------------------------------- */

static void run_other(int fd)
{
	uint32_t *word;
	uint64_t *ns;
	int result;

	munmap((void *)SHARED_HERE, 4096);
	word = map_at(SHARED_THERE, fd);
	ns = (uint64_t *)(word + 2);
	for (int i = 0; i < ROUNDS; i++)
		*ns += futex_wait(word, FUTEX_WAIT, 0, NULL, &result);
	_exit(0);
}

static void do_shared(void)
{
	int fd = memfd_create("futexes", 0);
	unsigned int wakes = 0;
	uint32_t *word;
	pid_t child;

	if (fd < 0 || ftruncate(fd, 4096))
		err(1, "shared memory");
	word = map_at(SHARED_HERE, fd);
	child = fork();
	if (!child)
		run_other(fd);
	for (int i = 0; i < ROUNDS; i++) {
		until_in_futex(child);
		sleep_ms(4);
		wakes += futex_wake_one(word, FUTEX_WAKE);
	}
	waitpid(child, NULL, 0);
	printf("shared address 0x%llx other 0x%llx waits %u wakes %u ns %llu waker %d waiter %d\n",
	       SHARED_HERE, SHARED_THERE, ROUNDS, wakes,
	       (unsigned long long)*(uint64_t *)(word + 2), getpid(), child);
}

/* ---- requeueing ------------------------------------------------------------------------------ */

#define MOVERS 3
struct mover {
	uint32_t *word;
	_Atomic(pid_t) tid;
	uint64_t ns;
};

static void *run_mover(void *arg)
{
	struct mover *m = arg;
	int result;

	atomic_store(&m->tid, gettid());
	m->ns = futex_wait(m->word, FUTEX_WAIT_PRIVATE, 0, NULL, &result);
	return NULL;
}

/*
 * Three threads wait at from; one is woken and `moved` are moved to to; then all are woken one by
 * one.
 */
static void do_requeue(const char *name, unsigned int moved)
{
	static uint32_t words[4];
	uint32_t *from = &words[moved == 1 ? 2 : 0], *to = from + 1;
	struct mover m[MOVERS] = { 0 };
	pthread_t threads[MOVERS];
	uint64_t ns = 0;
	long n;

	for (int i = 0; i < MOVERS; i++) {
		m[i].word = from;
		start_thread(&threads[i], run_mover, &m[i]);
		while (!atomic_load(&m[i].tid))
			sleep_us(100);
		until_in_futex(m[i].tid);
	}
	sleep_ms(3);
	n = syscall(SYS_futex, from, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)(uintptr_t)moved, to, 0);
	if (n != 1 + (long)moved)
		errx(1, "requeued %ld", n);
	for (unsigned int i = 0; i < MOVERS - 1; i++) {
		sleep_ms(3);
		futex_wake_one(i < moved ? to : from, FUTEX_WAKE_PRIVATE);
	}
	for (int i = 0; i < MOVERS; i++) {
		pthread_join(threads[i], NULL);
		ns += m[i].ns;
	}
	printf("%s address %p to %p waits %u moved %u ns %llu\n", name, (void *)from, (void *)to,
	       MOVERS, moved, (unsigned long long)ns);
}

/* ---- calls that do not wait, or not for long ------------------------------------------------- */

static void on_signal(int sig)
{
	(void)sig;
}

static void do_interrupted(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	static struct mover m;
	static uint32_t word;
	pthread_t thread;
	uint64_t ns = 0;

	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 5; i++) {
		m = (struct mover){ .word = &word };
		start_thread(&thread, run_mover, &m);
		while (!atomic_load(&m.tid))
			sleep_us(100);
		until_in_futex(m.tid);
		do {
			sleep_ms(3);
			pthread_kill(thread, SIGUSR1);
			sleep_ms(1);
		} while (pthread_tryjoin_np(thread, NULL));
		ns += m.ns;
	}
	printf("interrupted address %p waits 5 ns %llu\n", (void *)&word, (unsigned long long)ns);
}

static void do_nothing(void)
{
	static uint32_t no_waiter = 0, changed = 1;
	int result;

	for (int i = 0; i < 7; i++)
		futex_wake(&no_waiter, FUTEX_WAKE_PRIVATE, 1);
	for (int i = 0; i < 9; i++)
		futex_wait(&changed, FUTEX_WAIT_PRIVATE, 0, NULL, &result);
	printf("wasted address %p wakes 7\nagain address %p calls 9\n", (void *)&no_waiter,
	       (void *)&changed);
}

/* ---- several futexes at once ----------------------------------------------------------------- */

static uint32_t several[2];

static void *run_several(void *arg)
{
	struct futex_waitv w[2] = { 0 };
	struct mover *m = arg;
	uint64_t from;

	for (int i = 0; i < 2; i++) {
		w[i].uaddr = (uintptr_t)&several[i];
		w[i].flags = FUTEX_32 | FUTEX_PRIVATE_FLAG;
	}
	atomic_store(&m->tid, gettid());
	from = now_ns();
	syscall(SYS_futex_waitv, w, 2, 0, NULL, 0);
	m->ns = now_ns() - from;
	return NULL;
}

static void do_several(void)
{
	struct mover m = { 0 };
	pthread_t thread;

	start_thread(&thread, run_several, &m);
	while (!atomic_load(&m.tid))
		sleep_us(100);
	until_in(m.tid, SYS_futex_waitv);
	sleep_ms(5);
	futex_wake_one(&several[1], FUTEX_WAKE_PRIVATE);
	pthread_join(thread, NULL);
	printf("several address %p waits 1 ns %llu\n", (void *)&several[1],
	       (unsigned long long)m.ns);
}

/* ---- waits without an end -------------------------------------------------------------------- */

static void do_open(void)
{
	static uint32_t words[2];
	struct timespec timeout = { 0, 200000000 };
	struct mover m = { .word = &words[0] };
	pthread_t thread;
	int result;

	start_thread(&thread, run_mover, &m);
	printf("open address %p never %p\n", (void *)&words[1], (void *)&words[0]);
	fflush(stdout);
	alarm(600); /* the test ends it earlier */
	for (;;)
		futex_wait(&words[1], FUTEX_WAIT_PRIVATE, 0, &timeout, &result);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "open"))
		do_open();
	do_paths((unsigned int)arg_number(argc, argv, 1, 9, 1000));
	do_mutex("mutex", PTHREAD_PRIO_NONE);
	do_mutex("pi", PTHREAD_PRIO_INHERIT);
	do_shared();
	do_requeue("requeue", 2);
	do_requeue("part", 1);
	do_interrupted();
	do_nothing();
	do_several();
	return 0;
}
