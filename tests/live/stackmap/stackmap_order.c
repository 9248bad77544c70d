// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that are preempted and leave in another order than they entered.  Threads of different
 * priority on one CPU run the same sleepable uprobe program.  Each claims scratch memory, reads
 * half of its words, and then sleeps on a page that userfaultfd holds back until this test wakes
 * it.  The test thus produces every order of leaving.  With a nest counter instead of claimed slots
 * the same steps must mix up the stacks, or else they prove nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "stackmap_live.h"
#include "stackmap_live.skel.h"
#include "stackmap_nest.skel.h"

#define SLOTS 4
#define TASKS (SLOTS + 1)
#define PAGE 4096
#define WAIT_MS 20000

static struct {
	int uffd;
	uint8_t *pages; /* one for each task, held back */
	unsigned int base; /* number of this step's first stack */
	unsigned int answered, mixed;
	const struct stackmap *map;
} test;

/* The probed function. */
__attribute__((noinline)) void stackmap_order_probe(unsigned int stack, const void *first,
						    const void *second);
void stackmap_order_probe(unsigned int stack, const void *first, const void *second)
{
	__asm__ volatile("" : : "r"(stack), "r"(first), "r"(second) : "memory");
}

static void *run(void *arg)
{
	unsigned int task = (uintptr_t)arg, i;
	uint64_t words[LIVE_HALF];

	live__pin(0);
	setpriority(PRIO_PROCESS, syscall(SYS_gettid), task % 2 ? -5 : 5);
	for (i = 0; i < LIVE_HALF; i++)
		words[i] = live__return_address(test.base + task, i);
	stackmap_order_probe(test.base + task, words, test.pages + task * PAGE);
	return NULL;
}

/* Waits until a task sleeps on its page; 0 if it did not. */
static int wait_asleep(unsigned int task)
{
	struct pollfd fd = { .fd = test.uffd, .events = POLLIN };
	struct uffd_msg msg;

	if (poll(&fd, 1, WAIT_MS) != 1 || read(test.uffd, &msg, sizeof(msg)) != sizeof(msg))
		return 0;
	return msg.event == UFFD_EVENT_PAGEFAULT &&
	       msg.arg.pagefault.address / PAGE == (uintptr_t)(test.pages + task * PAGE) / PAGE;
}

static void let_go(unsigned int task)
{
	uint64_t words[PAGE / 8] = {};
	struct uffdio_copy copy = {
		.dst = (uintptr_t)(test.pages + task * PAGE),
		.src = (uintptr_t)words,
		.len = PAGE,
	};
	unsigned int i;

	for (i = 0; i < LIVE_HALF; i++)
		words[i] = live__return_address(test.base + task, LIVE_HALF + i);
	if (ioctl(test.uffd, UFFDIO_COPY, &copy))
		live__wrong("userfaultfd copy: %s", strerror(errno));
}

/* Checks that the stack of the id is the one that this task had. */
static int on_event(void *ctx, void *data, size_t size)
{
	const struct live_event *e = data;
	struct stackmap_stack s;
	unsigned int i;

	test.answered++;
	if (e->id <= 0 || stackmap__lookup(test.map, (uint32_t)e->id, &s)) {
		test.mixed++;
		return 0;
	}
	for (i = 0; i < s.n; i++) {
		if (s.words[i] != live__return_address(e->stack, i))
			break;
	}
	test.mixed += i != 2 * LIVE_HALF;
	return 0;
}

/*
 * Tasks 0..2 enter and leave in one of the six orders.  After the first has left, task 3 enters,
 * which a nest counter gives a slot that is still in use.
 */
static void step(const unsigned int *order)
{
	pthread_t threads[4];
	uintptr_t i;

	madvise(test.pages, TASKS * PAGE, MADV_DONTNEED);
	for (i = 0; i < 3; i++) {
		pthread_create(&threads[i], NULL, run, (void *)i);
		LIVE_CHECK(wait_asleep(i), "task %lu did not enter", i);
	}
	let_go(order[0]);
	pthread_join(threads[order[0]], NULL);
	pthread_create(&threads[3], NULL, run, (void *)(uintptr_t)3);
	LIVE_CHECK(wait_asleep(3), "task 3 did not enter");
	for (i = 1; i < 3; i++) {
		let_go(order[i]);
		pthread_join(threads[order[i]], NULL);
	}
	let_go(3);
	pthread_join(threads[3], NULL);
	test.base += TASKS;
}

static void all_orders(struct ring_buffer *ring, unsigned int rounds)
{
	static const unsigned int orders[6][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	unsigned int i;

	test.answered = test.mixed = 0;
	for (i = 0; i < 6 * rounds; i++)
		step(orders[i % 6]);
	ring_buffer__consume(ring);
	LIVE_CHECK(test.answered == rounds * 6 * 4, "%u events of %u", test.answered, rounds * 24);
}

/*
 * Until Linux 6.10 (1b8f85defbc8 "uprobes: prepare uprobe args buffer lazily") a uprobe held a lock
 * of its CPU around its programs, so that two of them never overlapped.
 */
static void need_overlap(void)
{
	pthread_t threads[2];
	uintptr_t i;
	int met;

	for (i = 0; i < 2; i++) {
		pthread_create(&threads[i], NULL, run, (void *)i);
		met = wait_asleep(i);
		if (!i && !met)
			live__skip("the sleeping program never reached its page");
	}
	let_go(0);
	pthread_join(threads[0], NULL);
	if (!met && !wait_asleep(1))
		live__skip("the second program never ran");
	let_go(1);
	pthread_join(threads[1], NULL);
	if (!met)
		live__skip("this kernel runs the uprobe programs of a CPU one after the other");
	test.base += TASKS;
}

/* One task more than there are slots: it is refused and counted, the others are not affected. */
static void too_many(struct ring_buffer *ring, struct stackmap_live_bpf *skel)
{
	pthread_t threads[TASKS];
	uintptr_t i;

	test.answered = test.mixed = 0;
	madvise(test.pages, TASKS * PAGE, MADV_DONTNEED);
	for (i = 0; i < SLOTS; i++) {
		pthread_create(&threads[i], NULL, run, (void *)i);
		LIVE_CHECK(wait_asleep(i), "task %lu did not enter", i);
	}
	pthread_create(&threads[SLOTS], NULL, run, (void *)i);
	pthread_join(threads[SLOTS], NULL);
	LIVE_CHECK(skel->bss->live_busy == 1, "%llu refused, not 1", skel->bss->live_busy);
	for (i = 0; i < SLOTS; i++)
		let_go(i);
	for (i = 0; i < SLOTS; i++)
		pthread_join(threads[i], NULL);
	test.base += TASKS;
	ring_buffer__consume(ring);
	LIVE_CHECK(test.answered == SLOTS && !test.mixed, "%u answered, %u mixed up", test.answered,
		   test.mixed);
	printf("one task too many: it was refused, the other stacks are right\n");
}

static void prepare(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	test.uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (test.uffd < 0 || ioctl(test.uffd, UFFDIO_API, &api))
		live__skip("userfaultfd() is refused: %s", strerror(errno));
	test.pages = mmap(NULL, TASKS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	reg.range.start = (uintptr_t)test.pages;
	reg.range.len = TASKS * PAGE;
	if (test.pages == MAP_FAILED || ioctl(test.uffd, UFFDIO_REGISTER, &reg))
		live__skip("userfaultfd cannot register memory: %s", strerror(errno));
}

static struct bpf_link *attach(struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .func_name = "stackmap_order_probe");
	struct bpf_link *link =
		bpf_program__attach_uprobe_opts(prog, getpid(), "/proc/self/exe", 0, &opts);

	if (!link)
		live__skip("uprobes are refused: %s", strerror(errno));
	return link;
}

static void claimed(unsigned int rounds)
{
	struct stackmap_live_bpf *skel = stackmap_live_bpf__open();
	struct stackmap_opts opts = { .bits = 14 };
	struct stackmap *map = NULL;
	struct ring_buffer *ring;
	struct bpf_link *link;

	if (!skel || stackmap__configure(skel->obj, &opts))
		live__skip("the BPF object cannot be opened");
	if (stackmap_live_bpf__load(skel) || stackmap__open(skel->obj, &map)) {
		live__wrong("load: %s", strerror(errno));
		exit(1);
	}
	test.map = map;
	link = attach(skel->progs.live_sleep);
	ring = ring_buffer__new(bpf_map__fd(skel->maps.live_ring), on_event, NULL, NULL);
	need_overlap();
	ring_buffer__consume(ring);
	all_orders(ring, rounds);
	printf("claimed slots: %u lookups in every order of leaving, %u mixed up\n", test.answered,
	       test.mixed);
	LIVE_CHECK(!test.mixed, "%u stacks mixed up", test.mixed);
	too_many(ring, skel);
	live__check_pool(map, 5);
	ring_buffer__free(ring);
	bpf_link__destroy(link);
	stackmap__free(map);
	stackmap_live_bpf__destroy(skel);
}

static void counted(unsigned int rounds)
{
	struct stackmap_nest_bpf *skel = stackmap_nest_bpf__open();
	struct stackmap *map = NULL;
	struct ring_buffer *ring;
	struct bpf_link *link;

	if (!skel || stackmap_nest_bpf__load(skel) || stackmap__open(skel->obj, &map)) {
		live__wrong("load: %s", strerror(errno));
		exit(1);
	}
	test.map = map;
	link = attach(skel->progs.live_sleep);
	ring = ring_buffer__new(bpf_map__fd(skel->maps.live_ring), on_event, NULL, NULL);
	all_orders(ring, rounds);
	printf("nest counter as comparison: %u lookups, %u mixed up\n", test.answered, test.mixed);
	LIVE_CHECK(test.mixed, "the steps do not mix up the stacks of a nest counter");
	ring_buffer__free(ring);
	bpf_link__destroy(link);
	stackmap__free(map);
	stackmap_nest_bpf__destroy(skel);
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? atoi(argv[1]) : 50;

	live__need(1);
	prepare();
	claimed(rounds);
	counted(2);
	printf("%u errors\n", live_errors);
	return live_errors != 0;
}
