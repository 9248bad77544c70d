// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two CPUs insert the same crafted stacks of every depth at the same time.  Every event is checked:
 * the words behind its id, one id per stack, each stack new exactly once, exact references, and what
 * the races cost.
 */
#include <errno.h>
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

#define STACKS	(LIVE_DEPTH * 24)
#define NEW_BIT	(1LL << 32)

static struct {
	unsigned int again;	/* calls per thread after the race */
	volatile unsigned int at[2];
	uint64_t ip;
	int deep;
	unsigned int events;
	uint32_t id[STACKS], refs[STACKS], new[STACKS];
	const struct stackmap *map;
} race;

/* Every depth equally often; or deep ones only, which cost most when they are lost. */
static unsigned int depth_of(uint32_t stack)
{
	return race.deep ? LIVE_DEPTH - stack % 24 : 1 + stack % LIVE_DEPTH;
}

static void *run(void *arg)
{
	unsigned int me = (uintptr_t)arg, i, stack;
	struct chain chain;

	live__pin(me);
	for (i = 0; i < STACKS + race.again; i++) {
		stack = i < STACKS ? i : live__mix(i * 2 + me) % STACKS;
		live__craft(&chain, stack, depth_of(stack));
		if (i < STACKS) {	/* in step with the other CPU, or nobody ever loses */
			unsigned int tries = 100000;

			race.at[me] = i + 1;
			while (race.at[!me] < i + 1 && --tries)
				__builtin_ia32_pause();
		}
		live__call(&chain, stack, &race.ip);
	}
	return NULL;
}

static int on_event(void *ctx, void *data, size_t size)
{
	const struct live_event *e = data;
	struct stackmap_stack s;
	uint32_t id = e->id;

	race.events++;
	if (e->stack >= STACKS || e->id <= 0) {
		live__wrong("stack %u: error %lld", e->stack, e->id);
		return 0;
	}
	race.refs[e->stack]++;
	race.new[e->stack] += !!(e->id & NEW_BIT);
	if (race.id[e->stack] && race.id[e->stack] != id)
		live__wrong("stack %u: ids %u and %u", e->stack, race.id[e->stack], id);
	race.id[e->stack] = id;
	if (stackmap__lookup(race.map, id, &s) ||
	    live__compare(&s, race.ip, e->stack, depth_of(e->stack)))
		live__wrong("stack %u: id %u has other words", e->stack, id);
	return 0;
}

static void check(struct stackmap_live_bpf *skel)
{
	struct ring_buffer *ring = ring_buffer__new(bpf_map__fd(skel->maps.live_ring), on_event, NULL,
						    NULL);
	struct stackmap_stack s;
	struct stackmap_stats st;
	unsigned int i;

	if (!ring || ring_buffer__consume(ring) < 0)
		live__wrong("ring: %s", strerror(errno));
	ring_buffer__free(ring);
	LIVE_CHECK(race.events == 2 * (STACKS + race.again), "%u events instead of %u", race.events,
		   2 * (STACKS + race.again));
	LIVE_CHECK(!skel->bss->live_ring_full && !skel->bss->live_busy, "%llu events did not fit, "
		   "%llu found no scratch", skel->bss->live_ring_full, skel->bss->live_busy);
	for (i = 0; i < STACKS; i++) {
		LIVE_CHECK(race.new[i] == 1, "stack %u: new %u times", i, race.new[i]);
		if (!stackmap__lookup(race.map, race.id[i], &s))
			LIVE_CHECK(s.refs == race.refs[i], "stack %u: refs %u, not %u", i, s.refs,
				   race.refs[i]);
	}
	stackmap__stats(race.map, &st);
	LIVE_CHECK(st.stacks == STACKS, "%lu stacks, not %u", st.stacks, STACKS);
	LIVE_CHECK(st.races, "no race happened, nothing is shown");
	LIVE_CHECK(!st.pool_full && !st.probe_limit && !st.bad_argument, "lookups failed");
	live__check_pool(race.map, 5);
}

static void race_once(int deep, unsigned int again)
{
	struct stackmap_opts opts = { .bits = 13, .pool_bytes = 8 << 20 };
	struct stackmap_live_bpf *skel = stackmap_live_bpf__open();
	struct stackmap *map = NULL;
	pthread_t threads[2];
	uintptr_t i;

	memset(&race, 0, sizeof(race));
	race.deep = deep;
	race.again = again;
	if (!skel || stackmap__configure(skel->obj, &opts))
		live__skip("no BPF object");
	skel->rodata->live_nr = SYS_getppid;
	bpf_program__set_autoload(skel->progs.live_sleep, false);
	if (stackmap_live_bpf__load(skel) || stackmap__open(skel->obj, &map)) {
		live__wrong("load: %s", strerror(errno));
		exit(1);
	}
	race.map = map;
	skel->links.live_get = bpf_program__attach(skel->progs.live_get);
	if (!skel->links.live_get) {
		live__wrong("attach: %s", strerror(errno));
		exit(1);
	}
	skel->bss->live_pid = getpid();
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	skel->bss->live_pid = 0;
	bpf_link__destroy(skel->links.live_get);
	skel->links.live_get = NULL;
	printf("%s: ", deep ? "deep stacks" : "every depth");
	check(skel);
	printf("%u events checked\n", race.events);
	stackmap__free(map);
	stackmap_live_bpf__destroy(skel);
}

int main(int argc, char **argv)
{
	unsigned int again = argc > 1 ? atoi(argv[1]) : 50000;

	live__need(2);
	race_once(0, again);
	race_once(1, again);
	printf("%u errors\n", live_errors);
	return live_errors != 0;
}
