// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two CPUs insert the same crafted stacks of every depth at the same time.  Every event is checked:
 * the words of its id, one id per stack, each stack new exactly once, exact references, and the
 * cost of the races.  Then the same with timer interrupts that look up the very stacks that they
 * interrupt.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "stackmap_live.h"
#include "stackmap_live.skel.h"

#define STACKS (LIVE_DEPTH * 24)
#define NEW_BIT (1LL << 32)
#define POOL_WORDS (1 << 20)
#define TICK_NS 50000

static struct {
	unsigned int again; /* calls per thread after the race */
	volatile unsigned int at[2];
	uint64_t ip;
	int deep;
	unsigned int events;
	unsigned int ticks, ticks_crafted, others;
	uint32_t id[STACKS], refs[STACKS], new[STACKS];
	uint32_t owner[POOL_WORDS]; /* by id: 1 + the crafted stack, or NO_OWNER */
	const struct stackmap *map;
} race;
static uint64_t races; /* of all parts */

#define NO_OWNER 0xffffffffu

/* Every depth equally often; or only deep ones, which waste most when they are lost. */
static unsigned int depth_of(uint32_t stack)
{
	return race.deep ? LIVE_DEPTH - stack % 24 : 1 + stack % LIVE_DEPTH;
}

static void *run(void *arg)
{
	unsigned int me = (uintptr_t)arg, i, stack;
	struct chain *chain = live__chain();

	live__pin(me);
	for (i = 0; i < STACKS + race.again; i++) {
		stack = i < STACKS ? i : live__mix(i * 2 + me) % STACKS;
		if (i < STACKS) { /* in step with the other CPU, otherwise there are few races */
			unsigned int tries = 100000;

			race.at[me] = i + 1;
			while (race.at[!me] < i + 1 && --tries)
				__builtin_ia32_pause();
		}
		/* after the wait: measured, there are three times as many races */
		live__craft(chain, stack, depth_of(stack));
		live__call(chain, stack, &race.ip);
	}
	return NULL;
}

/* The crafted stack that an interrupt has found, by its words; NO_OWNER: another one. */
static uint32_t owner_of(uint32_t id)
{
	struct stackmap_stack s;
	uint32_t i;

	if (id >= POOL_WORDS || stackmap__lookup(race.map, id, &s)) {
		live__wrong("id %u of an interrupt does not exist", id);
		return NO_OWNER;
	}
	if (race.owner[id])
		return race.owner[id] == NO_OWNER ? NO_OWNER : race.owner[id] - 1;
	for (i = 0; i < STACKS; i++) {
		if (!live__compare(&s, race.ip, i, depth_of(i))) {
			race.owner[id] = i + 1;
			return i;
		}
	}
	race.owner[id] = NO_OWNER;
	return NO_OWNER;
}

static void check_lookup(uint32_t stack, int64_t result)
{
	struct stackmap_stack s;
	uint32_t id = result;

	race.refs[stack]++;
	race.new[stack] += !!(result & NEW_BIT);
	if (race.id[stack] && race.id[stack] != id)
		live__wrong("stack %u: ids %u and %u", stack, race.id[stack], id);
	race.id[stack] = id;
	if (stackmap__lookup(race.map, id, &s) ||
	    live__compare(&s, race.ip, stack, depth_of(stack)))
		live__wrong("stack %u: id %u has other words", stack, id);
}

static void check_tick(int64_t result)
{
	uint32_t stack;

	race.ticks++;
	if (result == -LIVE_NO_STACK)
		return; /* no user stack could be read there */
	if (result <= 0) {
		live__wrong("interrupt: error %ld", result);
		return;
	}
	stack = owner_of(result);
	if (stack == NO_OWNER) {
		race.others += !!(result & NEW_BIT);
		return;
	}
	race.ticks_crafted++;
	check_lookup(stack, result);
}

static int on_event(void *ctx, void *data, size_t size)
{
	const struct live_event *e = data;

	if (e->stack == LIVE_TICK) {
		check_tick(e->id);
		return 0;
	}
	race.events++;
	if (e->stack >= STACKS || e->id <= 0)
		live__wrong("stack %u: error %lld", e->stack, e->id);
	else
		check_lookup(e->stack, e->id);
	return 0;
}

static void check(struct stackmap_live_bpf *skel)
{
	struct ring_buffer *ring =
		ring_buffer__new(bpf_map__fd(skel->maps.live_ring), on_event, NULL, NULL);
	struct stackmap_stack s;
	struct stackmap_stats st;
	unsigned int i;

	if (!ring || ring_buffer__consume(ring) < 0)
		live__wrong("ring: %s", strerror(errno));
	ring_buffer__free(ring);
	LIVE_CHECK(race.events == 2 * (STACKS + race.again), "%u events instead of %u", race.events,
		   2 * (STACKS + race.again));
	LIVE_CHECK(!skel->bss->live_ring_full && !skel->bss->live_busy,
		   "%llu events did not fit, "
		   "%llu found no scratch",
		   skel->bss->live_ring_full, skel->bss->live_busy);
	for (i = 0; i < STACKS; i++) {
		LIVE_CHECK(race.new[i] == 1, "stack %u: new %u times", i, race.new[i]);
		if (!stackmap__lookup(race.map, race.id[i], &s))
			LIVE_CHECK(s.refs == race.refs[i], "stack %u: refs %u, not %u", i, s.refs,
				   race.refs[i]);
	}
	stackmap__stats(race.map, &st);
	LIVE_CHECK(st.stacks == STACKS + race.others, "%lu stacks, not %u", st.stacks,
		   STACKS + race.others);
	races += st.races;
	/* in an emulator that runs one CPU at a time, some part may have none */
	LIVE_CHECK(st.races || getenv("LIVE_VM"), "no race happened: this tested nothing");
	LIVE_CHECK(!st.pool_full && !st.probe_limit && !st.bad_argument, "lookups failed");
	live__check_pool(race.map, 5);
}

static struct stackmap_live_bpf *race_load(struct stackmap **ret_map)
{
	struct stackmap_opts opts = { .bits = 13, .pool_bytes = POOL_WORDS * 8 };
	struct stackmap_live_bpf *skel = stackmap_live_bpf__open();

	if (!skel || stackmap__configure(skel->obj, &opts))
		live__skip("the BPF object cannot be opened");
	skel->rodata->live_nr = SYS_getppid;
	bpf_program__set_autoload(skel->progs.live_sleep, false);
	if (stackmap_live_bpf__load(skel) || stackmap__open(skel->obj, ret_map)) {
		live__wrong("load: %s", strerror(errno));
		exit(1);
	}
	skel->links.live_get = bpf_program__attach(skel->progs.live_get);
	if (!skel->links.live_get) {
		live__wrong("attach: %s", strerror(errno));
		exit(1);
	}
	return skel;
}

static struct bpf_link *tick_attach(struct stackmap_live_bpf *skel, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = TICK_NS,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link =
		fd < 0 ? NULL : bpf_program__attach_perf_event(skel->progs.live_tick, fd);

	if (!link)
		live__skip("timer samples cannot be attached: %s", strerror(errno));
	return link;
}

static void race_once(const char *name, int deep, int ticking, unsigned int again)
{
	struct stackmap *map = NULL;
	struct stackmap_live_bpf *skel = race_load(&map);
	struct bpf_link *tick[2] = {};
	pthread_t threads[2];
	uintptr_t i;

	memset(&race, 0, sizeof(race));
	race.deep = deep;
	race.again = again;
	race.map = map;
	for (i = 0; i < 2 && ticking; i++)
		tick[i] = tick_attach(skel, i);
	skel->bss->live_pid = getpid();
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	skel->bss->live_pid = 0;
	for (i = 0; i < 2; i++)
		bpf_link__destroy(tick[i]);
	bpf_link__destroy(skel->links.live_get);
	skel->links.live_get = NULL;
	printf("%s: ", name);
	check(skel);
	printf("%u events checked", race.events);
	if (ticking) {
		printf(", %u interrupts, %llu of them inside a lookup, %u saw a crafted stack",
		       race.ticks, skel->bss->live_nested, race.ticks_crafted);
		LIVE_CHECK(skel->bss->live_nested && race.ticks_crafted,
			   "no interrupt hit a lookup: this tested nothing");
	}
	printf("\n");
	stackmap__free(map);
	stackmap_live_bpf__destroy(skel);
}

int main(int argc, char **argv)
{
	unsigned int again = argc > 1 ? atoi(argv[1]) : 50000;

	live__need(2);
	race_once("every depth", 0, 0, again);
	race_once("deep stacks", 1, 0, again);
	race_once("with interrupts", 0, 1, again);
	LIVE_CHECK(races, "no race happened in any part: this tested nothing");
	printf("%u errors\n", live_errors);
	return live_errors != 0;
}
