// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attacks the kernel's own source of the stack map: threads insert the same stacks at the same
 * time, timer signals re-enter them anywhere, and nested inserts run between writing a record and
 * publishing it.  Every call is checked: the words are right, a stack keeps its id, refs are exact,
 * a stored stack is always found, and every word of the pool is accounted for.
 *
 * stackmap_stress [SEED [NS_BETWEEN_SIGNALS]].  Built several times: plain, under each sanitizer,
 * and from damaged copies of the header, which the same checks must detect.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../stress.h"

static __thread struct {
	unsigned int cpu;
	unsigned int nested;
	uint64_t rng;
} self;

static void pause_hook(void);

#define STACKMAP_HOST
#define STACKMAP_HOST_CPU() self.cpu
#define STACKMAP_PAUSE() pause_hook()
static uint64_t hash_mask = ~0ULL;
#define STACKMAP_HASH_MASK hash_mask
#include STACKMAP_HEADER

#define THREADS 8
#define STACKS_MAX 8192
#define NEST_MAX 3

struct scene {
	const char *name;
	unsigned int stacks; /* distinct ones */
	unsigned int depth; /* 1..depth words */
	unsigned int bits;
	unsigned int pages;
	uint64_t hash_mask;
	unsigned int rounds; /* of all stacks, per thread */
	int may_fail; /* the scene must reach the pool or probe limit */
	int waste_percent; /* upper bound, -1: none */
	int rivals; /* of 4 inserts, how many race with another CPU that inserts the same */
};

static const struct scene scenes[] = {
	{ "race, all depths", 4000, 128, 13, 60, ~0ULL, 3, 0, 5, 2 },
	{ "every insert raced", 4000, 128, 13, 60, ~0ULL, 3, 0, 5, 4 },
	{ "deep, raced", 2000, 0, 12, 48, ~0ULL, 3, 0, 5, 4 },
	{ "shallow, raced", 8000, 16, 13, 48, ~0ULL, 3, 0, 5, 4 },
	{ "nesting", 4000, 128, 13, 60, ~0ULL, 3, 0, -1, 0 },
	{ "same tags", 300, 128, 10, 8, 0x00000000ffffffffULL, 8, 0, -1, 0 },
	{ "same lines", 60, 128, 10, 8, 0xffffffff00000000ULL, 30, 0, -1, 0 },
	{ "all collide", 60, 40, 10, 8, 0, 60, 0, -1, 0 },
	{ "probe limit", 200, 40, 10, 8, 0x100000000ULL, 10, 1, -1, 0 },
	{ "pool full", 3000, 128, 12, 8, ~0ULL, 4, 1, -1, 0 },
	{ "slots full", 6000, 16, 10, 60, ~0ULL, 3, 1, -1, 0 },
};

static struct {
	const struct scene *scene;
	uint64_t seed;
	uint32_t id[STACKS_MAX]; /* the first id seen */
	uint32_t refs[STACKS_MAX];
	uint64_t failed, calls, signals, nested;
	uint64_t wrong_words, two_ids, shared_id, forgotten, bad_error, noref;
	pthread_barrier_t barrier;
} test;

static long signal_ns = 50000;

#define COUNT(what) __atomic_fetch_add(&test.what, 1, __ATOMIC_RELAXED)

static uint64_t roll(void)
{
	return stress_roll(&self.rng);
}

/* Stack number u.  Neighbours differ only in the last word, so that a short comparison fails. */
static uint32_t stack_make(uint32_t u, uint64_t *w)
{
	const struct scene *s = test.scene;
	uint32_t n = s->depth ? 1 + mix(test.seed + u / 2) % s->depth : 100 + mix(u / 2) % 29, i;

	for (i = 0; i < n; i++)
		w[i] = 0xffffffff81000000ULL + (mix(((uint64_t)u / 2 << 8) + i) & 0xffffff);
	w[n - 1] = ((uint64_t)u << 20) + n;
	for (; i < STACKMAP_WORDS + 4; i++)
		w[i] = roll(); /* only stackmap_get() pads */
	return n;
}

/* Compares the words of an id, as any reader sees them. */
static int words_right(uint32_t id, const uint64_t *w, uint32_t n)
{
	const struct stackmap_record *rec;
	__u64 *page = stackmap_page(id >> STACKMAP_PAGE_SHIFT);

	if (!page || id < STACKMAP_FIRST)
		return 0;
	rec = (const void *)(page + (id & (STACKMAP_PAGE_WORDS - 1)));
	return rec->n == n && !memcmp(rec->word, w, n * sizeof(*w));
}

/* As in the kernel, each level of nesting has a buffer of its own, which keeps its hint. */
static __thread struct stackmap_buf buffers[NEST_MAX + 1];

static void stack_get(uint32_t u)
{
	struct stackmap_buf *b = &buffers[self.nested];
	uint32_t n = stack_make(u, (uint64_t *)b->w), known, none = 0;
	uint32_t flags = roll() % 16 ? 0 : STACKMAP_NOREF;
	long id;

	known = __atomic_load_n(&test.id[u], __ATOMIC_SEQ_CST);
	id = roll() % 4 ? stackmap_get(b, n, flags) : stackmap_get_call(b, n, flags);
	COUNT(calls);
	if (id <= 0) {
		COUNT(failed);
		if (known)
			COUNT(forgotten);
		if (id != -STACKMAP_EPOOL && id != -STACKMAP_EPROBE)
			COUNT(bad_error);
		return;
	}
	id &= ~STACKMAP_NEW;
	if (flags & STACKMAP_NOREF)
		COUNT(noref);
	else
		__atomic_fetch_add(&test.refs[u], 1, __ATOMIC_RELAXED);
	if (!words_right(id, (uint64_t *)b->w, n))
		COUNT(wrong_words);
	if (!__atomic_compare_exchange_n(&test.id[u], &none, (uint32_t)id, 0, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST) &&
	    none != (uint32_t)id)
		COUNT(two_ids);
}

/* Between write and publish: another context inserts, perhaps the very same stack. */
static __thread uint32_t current_stack;

/* The other CPU of a race: it wins, and the paused inserter loses. */
static void rival_insert(uint64_t r)
{
	unsigned int cpu = self.cpu;

	if (self.nested || r % 4 >= (unsigned int)test.scene->rivals)
		return;
	self.nested++;
	COUNT(nested);
	self.cpu = r / 4 % (THREADS / 2);
	stack_get(current_stack);
	self.cpu = cpu;
	self.nested--;
}

static void pause_hook(void)
{
	uint32_t keep = current_stack;
	uint64_t r = roll();

	if (r % 8 == 7)
		sched_yield();
	if (test.scene->rivals) {
		rival_insert(r >> 32);
		return;
	}
	if (r % 4 || self.nested >= NEST_MAX)
		return;
	self.nested++;
	COUNT(nested);
	current_stack = r & 16 ? keep : r / 64 % test.scene->stacks;
	stack_get(current_stack);
	current_stack = keep;
	self.nested--;
}

static void on_timer(int sig)
{
	uint32_t keep = current_stack, i;
	int saved = errno;

	stress_timer_expired();
	COUNT(signals);
	if (self.nested >= NEST_MAX)
		return;
	self.nested++;
	for (i = 0; i < 3; i++) {
		current_stack = i ? roll() % test.scene->stacks : keep;
		stack_get(current_stack);
	}
	current_stack = keep;
	self.nested--;
	errno = saved;
}

static void *thread_run(void *arg)
{
	unsigned int me = (uintptr_t)arg, round, i;

	self.cpu = me / 2; /* two threads preempt each other on one CPU */
	self.rng = mix(me + test.seed);
	stress_timer_create();
	for (round = 0; round < test.scene->rounds; round++) {
		for (i = 0; i < test.scene->stacks; i++) { /* all in the same order: most races */
			if (!round && i % 64 == 0)
				pthread_barrier_wait(&test.barrier);
			stress_timer_arm(signal_ns);
			current_stack = i;
			stack_get(i);
			if (i % 4 == 0)
				stack_get(i);
			current_stack = roll() % test.scene->stacks;
			if (round)
				stack_get(current_stack);
		}
	}
	stress_timer_delete();
	return NULL;
}

/* After the threads have ended: checks refs, records and every word of the log. */
static uint64_t audit(uint64_t *ret_live)
{
	uint64_t errors = 0, live = 0, records = 0, v;
	uint32_t i, k, u;

	for (u = 0; u < test.scene->stacks; u++) {
		struct stackmap_record *rec;
		uint64_t w[STACKMAP_WORDS + 4];
		uint32_t n = stack_make(u, w), id = test.id[u];

		if (!id)
			continue;
		if (!words_right(id, w, n)) {
			errors++;
			continue;
		}
		rec = (void *)(stackmap_page(id >> STACKMAP_PAGE_SHIFT) +
			       (id & (STACKMAP_PAGE_WORDS - 1)));
		errors += rec->refs != test.refs[u];
		live += STACKMAP_ROOM(n);
		records++;
	}
	for (i = 0; i <= stackmap_settings.line_mask; i++) {
		for (k = 0; k < STACKMAP_LINE; k++) {
			v = stackmap_mem.line[i].slot[k];
			records -= !!v;
		}
	}
	if (records)
		errors++; /* a slot whose record no insert returned */
	*ret_live = live;
	return errors;
}

static int scene_judge(void)
{
	uint64_t count[STACKMAP_C_NR] = {}, spare = 0, live, errors, lost;
	const struct scene *s = test.scene;
	uint32_t i, k, used = stackmap_mem.cell[0].head.next;

	for (i = 1; i <= stackmap_settings.cell_mask + 1; i++) {
		for (k = 0; k < STACKMAP_C_NR; k++)
			count[k] += stackmap_mem.cell[i].cpu.count[k];
		for (k = 0; k < STACKMAP_SPARES; k++)
			spare += stackmap_mem.cell[i].cpu.spare[k] >> 32;
	}
	errors = audit(&live);
	errors += test.wrong_words + test.two_ids + test.forgotten + test.bad_error;
	errors += test.failed != count[STACKMAP_C_EPOOL] + count[STACKMAP_C_EPROBE];
	errors += test.failed && !s->may_fail;
	errors += !test.failed && s->may_fail; /* the scene did not reach its limit */
	lost = used - live - count[STACKMAP_C_WASTED] - spare;
	errors += lost != 0 && used <= stackmap_settings.pool_words - STACKMAP_FIRST;
	if (s->waste_percent >= 0 &&
	    (count[STACKMAP_C_WASTED] + spare) * 100 > (uint64_t)s->waste_percent * used)
		errors++;
	printf("%-18s calls %8lu signals %6lu nested %6lu new %5lu races %5lu | wrong %lu "
	       "two ids %lu forgotten %lu failed %lu (pool %lu probes %lu) | words used %u live %lu "
	       "spare %lu wasted %lu unaccounted %ld: %s\n",
	       s->name, test.calls, test.signals, test.nested, count[STACKMAP_C_NEW],
	       count[STACKMAP_C_RACE], test.wrong_words, test.two_ids, test.forgotten, test.failed,
	       count[STACKMAP_C_EPOOL], count[STACKMAP_C_EPROBE], used, live, spare,
	       count[STACKMAP_C_WASTED], (long)lost, errors ? "WRONG" : "ok");
	return errors != 0;
}

static int scene_run(const struct scene *s, uint64_t seed)
{
	pthread_t threads[THREADS];
	uintptr_t i;
	int bad;

	memset(&test, 0, sizeof(test));
	test.scene = s;
	test.seed = seed;
	hash_mask = s->hash_mask;
	stackmap_settings = (struct stackmap_cfg){
		.line_mask = (2u << s->bits) / STACKMAP_LINE - 1,
		.pool_words = s->pages * STACKMAP_PAGE_WORDS,
		.cell_mask = THREADS / 2 - 1,
		.seed = seed,
	};
	stackmap_mem.line = calloc(stackmap_settings.line_mask + 1, sizeof(*stackmap_mem.line));
	stackmap_mem.page = calloc(s->pages, sizeof(*stackmap_mem.page));
	stackmap_mem.cell = calloc(stackmap_settings.cell_mask + 2, sizeof(*stackmap_mem.cell));
	if (!stackmap_mem.line || !stackmap_mem.page || !stackmap_mem.cell)
		abort();
	pthread_barrier_init(&test.barrier, NULL, THREADS);
	for (i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, thread_run, (void *)i))
			abort();
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	bad = scene_judge();
	pthread_barrier_destroy(&test.barrier);
	free(stackmap_mem.line);
	free(stackmap_mem.page);
	free(stackmap_mem.cell);
	return bad;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	unsigned int i;
	int bad = 0;

	if (argc > 2)
		signal_ns = strtol(argv[2], NULL, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		bad |= scene_run(&scenes[i], seed + i);
	return bad;
}
