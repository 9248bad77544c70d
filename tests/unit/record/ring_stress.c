// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attacks the source of the rings: threads are programs that preempt each other on one CPU, timer
 * signals are interrupts that nest in them, hooks let others run in the middle, and the recorder
 * reads at the same time.  Each record is checked: its place, its length, all its words, and that
 * it is the next one of its program.  At the end each record must have been read, and all memory
 * must be 0, the slack too, with no byte behind it written.
 *
 * ring_stress [SEED [NS_BETWEEN_SIGNALS]].  Built several times: plain, under each sanitizer, and
 * from damaged copies of the writer and the reader, which the same checks must detect.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../stress.h"
#include "record/bpf/event_ring.h"

static void pause_hook(void);
#define RING_PAUSE() pause_hook()
#define RING_TRIES 1000000 /* threads are no interrupts: they may always interfere */

#define CPUS 2
#define PROGRAMS 3 /* of a CPU: threads */
#define LEVELS 4 /* of a program: what interrupts it, and what interrupts that */
#define WRITERS (PROGRAMS * LEVELS)
#define MAX_PARTS 4
#define GUARD 65536u

#ifndef SLACK
#define SLACK WIRE_RING_SLACK
#endif

static struct wire_rings ring_layout;
static struct wire_ring_pos positions[CPUS];
static char *parts[CPUS * MAX_PARTS];

static char *ring_part(uint32_t part)
{
	return parts[part];
}

#include RING_HEADER

struct scene {
	const char *name;
	uint64_t bytes; /* of a ring */
	unsigned int longest; /* record, in bytes */
	unsigned int records; /* of each program at the lowest level */
	bool full; /* the ring overflows; otherwise nothing may be lost */
};

static const struct scene scenes[] = {
	{ "short", 65536, 200, 10000, false },
	{ "short, full", 4096, 200, 10000, true },
	{ "all lengths", WIRE_RING_PART, WIRE_RING_SLACK, 4000, false },
	{ "all lengths, full", 65536, WIRE_RING_SLACK, 4000, true },
	{ "longest", WIRE_RING_PART, 0, 400, false },
	{ "parts", 2 * WIRE_RING_PART, WIRE_RING_SLACK, 4000, false },
	{ "parts, full", 4 * WIRE_RING_PART, 0, 800, true },
};

static struct {
	const struct scene *scene;
	uint64_t made[CPUS][WRITERS], read[CPUS][WRITERS], lost;
	uint64_t unread, dirty, odd_used, signals, nested;
	unsigned int running;
} test;

static long signal_ns = 50000;

static __thread struct {
	unsigned int cpu, program;
	volatile unsigned int level; /* signals see each change */
	uint64_t rng;
} self;

#define COUNT(what) __atomic_fetch_add(&test.what, 1, __ATOMIC_RELAXED)

static uint64_t roll(void)
{
	return stress_roll(&self.rng);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* The first word, the number of the record, and words that look like first words. */
struct record {
	struct wire_head head;
	uint64_t number;
	uint64_t words[WIRE_RING_SLACK / 8 - 2];
};

static uint64_t word_of(unsigned int writer, uint64_t number, size_t i)
{
	return 16 + 8 * (mix(number * WRITERS + writer) % 16) + ((uint64_t)(writer + i) << 32);
}

static __thread struct record own[LEVELS];

/* The length of a record follows from its number. */
static uint32_t length_of(unsigned int writer, uint64_t number)
{
	uint64_t r = mix(number ^ (uint64_t)writer << 40);

	if (!test.scene->longest)
		return WIRE_RING_SLACK - r % 9;
	return 16 + r % ((r >> 32) % 16 ? 180 : test.scene->longest - 15);
}

/*
 * Whether there is room for a record of every writer.  Where nothing may be lost, an event that
 * finds less does not happen.
 */
static bool has_room(void)
{
	uint64_t used = ring_used(&positions[self.cpu]);

	if (used > UINT64_MAX / 2)
		COUNT(odd_used);
	return test.scene->full || used <= test.scene->bytes / 4 * 3;
}

static void output(void)
{
	unsigned int writer = self.program * LEVELS + self.level;
	uint64_t number = test.made[self.cpu][writer];
	struct record *r = &own[self.level];
	uint32_t len = length_of(writer, number);
	size_t i;

	r->head = (struct wire_head){ .event = 1 + writer, .other = number };
	r->number = number;
	for (i = 0; i < (len - 16) / 8; i++)
		r->words[i] = word_of(writer, number, i);
	if (ring_output(&positions[self.cpu], self.cpu, &r->head, len)) {
		test.made[self.cpu][writer]++;
		return;
	}
	COUNT(lost);
	if (!(roll() % 8))
		sched_yield(); /* to the recorder */
}

static void interrupt(void)
{
	if (self.level == LEVELS - 1)
		return;
	self.level++;
	stress_timer_arm(signal_ns);
	if (has_room())
		output();
	self.level--;
}

static void pause_hook(void)
{
	uint64_t r = roll();

	if (!(r & 0x3ff0))
		sched_yield();
	if (r % 8 || self.level == LEVELS - 1)
		return;
	COUNT(nested);
	interrupt();
}

static void on_timer(int sig)
{
	int saved = errno;

	stress_timer_expired();
	COUNT(signals);
	interrupt();
	errno = saved;
}

static void *program_run(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	unsigned int i;

	self.cpu = me % CPUS;
	self.program = me / CPUS;
	self.rng = mix(me + 1);
	stress_timer_create();
	for (i = 0; i < test.scene->records; i++) {
		stress_timer_arm(signal_ns);
		while (!has_room())
			sched_yield();
		output();
	}
	stress_timer_delete();
	__atomic_fetch_sub(&test.running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- the recorder ---------------------------------------------------------------------------- */

/* Returns the size of a record that is the next one of its writer; 0: it is not. */
static size_t check_record(unsigned int cpu, const struct record *r)
{
	unsigned int writer = r->head.event - 1u;
	uint64_t number;
	size_t i;

	if (writer >= WRITERS)
		return 0;
	number = test.read[cpu][writer]++;
	if (r->number != number || r->head.other != (uint16_t)number ||
	    r->head.len != length_of(writer, number))
		return 0;
	for (i = 0; i < (r->head.len - 16) / 8; i++)
		if (r->words[i] != word_of(writer, number, i))
			return 0;
	return event_ring__size(&r->head);
}

/* Reads what is complete, up to max bytes; false: something is wrong. */
static bool read_ring(unsigned int cpu, size_t max)
{
	struct event_ring ring = { &positions[cpu], ring_layout,
				   parts + cpu * ring_layout.nr_parts };
	char *records = NULL;
	int64_t len = event_ring__peek(&ring, max, &records), at;

	for (at = 0; at < len;) {
		size_t size = check_record(cpu, (const struct record *)(records + at));

		if (!size)
			return false;
		at += size;
	}
	if (len > 0)
		event_ring__remove(&ring, records, len);
	return len >= 0;
}

static bool read_all(void)
{
	const struct timespec nap = { .tv_nsec = 2000000 };
	unsigned int cpu, running;

	do {
		running = __atomic_load_n(&test.running, __ATOMIC_ACQUIRE);
		if (test.scene->full && !(roll() % 64))
			nanosleep(&nap, NULL);
		for (cpu = 0; cpu < CPUS; cpu++)
			if (!read_ring(cpu, 1 + roll() % 65536))
				return false;
	} while (running);
	for (cpu = 0; cpu < CPUS; cpu++)
		while (positions[cpu].head != positions[cpu].tail) {
			uint64_t tail = positions[cpu].tail;

			if (!read_ring(cpu, SIZE_MAX) || positions[cpu].tail == tail)
				return false;
		}
	return true;
}

/* ---- a scene --------------------------------------------------------------------------------- */

static size_t part_bytes(void)
{
	return ring_layout.mask + sizeof(uint64_t) + SLACK;
}

static void make_rings(const struct scene *s)
{
	unsigned int i;

	ring_layout = (struct wire_rings){
		.bytes = s->bytes,
		.nr_parts = s->bytes > WIRE_RING_PART ? s->bytes / WIRE_RING_PART : 1,
		.mask = (s->bytes > WIRE_RING_PART ? WIRE_RING_PART : s->bytes) - 8,
	};
	memset(positions, 0, sizeof(positions));
	for (i = 0; i < CPUS; i++) /* the positions wrap during the test */
		positions[i].head = positions[i].tail = -(uint64_t)(8 * s->bytes);
	for (i = 0; i < CPUS * ring_layout.nr_parts; i++) {
		parts[i] = aligned_alloc(8, part_bytes() + GUARD);
		if (!parts[i])
			abort();
		memset(parts[i], 0, part_bytes());
		memset(parts[i] + part_bytes(), 0xaa, GUARD);
	}
}

/* Counts what was not read, and memory that is not as it was at the start. */
static void check_rings(void)
{
	unsigned int i, k;
	size_t at;

	for (i = 0; i < CPUS; i++)
		for (k = 0; k < WRITERS; k++)
			test.unread += test.made[i][k] - test.read[i][k];
	for (i = 0; i < CPUS * ring_layout.nr_parts; i++) {
		for (at = 0; at < part_bytes() + GUARD; at++)
			test.dirty += parts[i][at] != (at < part_bytes() ? 0 : (char)0xaa);
		free(parts[i]);
	}
}

static int scene_run(const struct scene *s)
{
	pthread_t threads[CPUS * PROGRAMS];
	uint64_t made = 0;
	uintptr_t i;
	int bad;

	memset(&test, 0, sizeof(test));
	test.scene = s;
	test.running = CPUS * PROGRAMS;
	make_rings(s);
	for (i = 0; i < CPUS * PROGRAMS; i++) {
		if (pthread_create(&threads[i], NULL, program_run, (void *)i))
			abort();
	}
	if (!read_all()) {
		printf("%-18s a wrong record: WRONG\n", s->name);
		exit(1); /* the programs may wait for room for ever */
	}
	for (i = 0; i < CPUS * PROGRAMS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < CPUS * WRITERS; i++)
		made += test.made[i / WRITERS][i % WRITERS];
	check_rings();
	bad = test.unread || test.dirty || test.odd_used || !test.lost == s->full;
	printf("%-18s records %8lu lost %7lu signals %6lu nested %8lu | unread %lu dirty %lu "
	       "odd %lu: %s\n",
	       s->name, made, test.lost, test.signals, test.nested, test.unread, test.dirty,
	       test.odd_used, bad ? "WRONG" : "ok");
	return bad;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART | SA_NODEFER };
	unsigned int i;
	int bad = 0;

	if (argc > 2)
		signal_ns = strtol(argv[2], NULL, 0);
	self.rng = mix(seed << 32);
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		bad |= scene_run(&scenes[i]);
	return bad;
}
