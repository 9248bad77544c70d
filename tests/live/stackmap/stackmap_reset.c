// SPDX-License-Identifier: GPL-2.0-only
/*
 * stackmap_get_stackid() and the reset: ids belong to their generation, a reset is refused while
 * the map is held, and another CPU that keeps looking up stacks meanwhile never gets an id of
 * another stack.
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

#define STACKS 600
#define AHEAD 400000 /* calls whose events fit into the ring */

static struct {
	volatile int stop;
	volatile unsigned int calls, consumed; /* consumed: calls whose events have left the ring */
	uint64_t ip;
	struct stackmap *map;
	uint64_t events, stale, failed, right;
} test;

static unsigned int depth_of(uint32_t stack)
{
	return 1 + stack % 40;
}

static void *run(void *arg)
{
	struct chain *chain = live__chain();
	unsigned int i;

	live__pin(1);
	for (i = 0; !test.stop; i++) {
		live__craft(chain, i % STACKS, depth_of(i % STACKS));
		live__call(chain, i % STACKS, &test.ip);
		test.calls = i;
		while (i - test.consumed > AHEAD && !test.stop)
			usleep(100);
	}
	return NULL;
}

/* No reset runs while events are checked, so a valid id must have the right words. */
static int on_event(void *ctx, void *data, size_t size)
{
	const struct live_event *e = data;
	struct stackmap_stack s;
	int err;

	test.events++;
	if (e->id <= 0) {
		test.failed++;
		LIVE_CHECK(e->id == -EBUSY, "stack %u: error %lld", e->stack, e->id);
		return 0;
	}
	err = stackmap__lookup(test.map, e->id, &s);
	if (err == -ESTALE) {
		test.stale++;
		return 0;
	}
	LIVE_CHECK(!err, "stack %u: id %llx: %s", e->stack, e->id, strerror(-err));
	if (!err) {
		LIVE_CHECK(!live__compare(&s, test.ip, e->stack, depth_of(e->stack)),
			   "stack %u: id %llx: %u words from %#lx, not from %#lx", e->stack, e->id,
			   s.n, s.words[0], test.ip);
		test.right++;
	}
	return 0;
}

static void consume(struct ring_buffer *ring)
{
	unsigned int before = test.calls;

	ring_buffer__consume(ring);
	test.consumed = before;
}

/*
 * Empties the ring, without which no call may come, and waits for at least one whole call from now
 * on: its event is in the ring.
 */
static void wait_for_call(struct ring_buffer *ring)
{
	unsigned int before;

	consume(ring);
	before = test.calls;
	while (test.calls - before < 2)
		usleep(100);
}

/* Resets at least so many times, and until a call came during a reset, which is up to chance. */
static void reset_often(struct ring_buffer *ring, unsigned int times)
{
	unsigned int i;
	int err;

	for (i = 0; i < times || (!test.failed && i < 100 * times); i++) {
		wait_for_call(ring);
		LIVE_CHECK(!stackmap__hold(test.map), "hold");
		LIVE_CHECK(stackmap__reset(test.map) == -EBUSY, "a held map was reset");
		LIVE_CHECK(!stackmap__release(test.map), "release");
		wait_for_call(ring);
		err = stackmap__reset(test.map);
		LIVE_CHECK(!err, "reset: %s", strerror(-err));
		LIVE_CHECK(stackmap__generation(test.map) == i + 2, "generation %u after %u resets",
			   stackmap__generation(test.map), i + 1);
		consume(ring);
	}
}

int main(int argc, char **argv)
{
	struct stackmap_live_bpf *skel = stackmap_live_bpf__open();
	struct stackmap_opts opts = { .bits = 10 };
	struct ring_buffer *ring;
	pthread_t thread;

	live__need(2);
	live__pin(0);
	if (!skel || stackmap__configure(skel->obj, &opts))
		live__skip("the BPF object cannot be opened");
	skel->rodata->live_nr = SYS_getppid;
	bpf_program__set_autoload(skel->progs.live_sleep, false);
	if (stackmap_live_bpf__load(skel) || stackmap__open(skel->obj, &test.map)) {
		live__wrong("load: %s", strerror(errno));
		return 1;
	}
	skel->links.live_dropin = bpf_program__attach(skel->progs.live_dropin);
	ring = ring_buffer__new(bpf_map__fd(skel->maps.live_ring), on_event, NULL, NULL);
	if (!skel->links.live_dropin || !ring) {
		live__wrong("attach: %s", strerror(errno));
		return 1;
	}
	skel->bss->live_pid = getpid();
	pthread_create(&thread, NULL, run, NULL);
	reset_often(ring, argc > 1 ? atoi(argv[1]) : 50);
	test.stop = 1;
	pthread_join(thread, NULL);
	ring_buffer__consume(ring);
	LIVE_CHECK(!skel->bss->live_ring_full, "%llu events did not fit",
		   skel->bss->live_ring_full);
	LIVE_CHECK(test.right && test.stale && test.failed, "a result never occurred");
	printf("%lu events: %lu right, %lu stale as expected, %lu refused during a reset\n",
	       test.events, test.right, test.stale, test.failed);
	ring_buffer__free(ring);
	stackmap__free(test.map);
	stackmap_live_bpf__destroy(skel);
	printf("%u errors\n", live_errors);
	return live_errors != 0;
}
