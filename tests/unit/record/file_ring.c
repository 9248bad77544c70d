// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel hits a tracepoint while it holds the spinlock of the ring of file events, and the
 * program there has a file event, too.  An injected fault: the test's own lock calls the tracepoint
 * whenever it is taken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define BPF_RB_FORCE_WAKEUP 2
static long bpf_ringbuf_output(void *ring, void *data, uint64_t size, uint64_t flags);

#include "bpf/file_ring.bpf.h"

static struct ring {
	int locked, full;
	unsigned int sent, nested, deadlocks;
} ring;
static uint32_t busy;

/* What the program at the tracepoint does: another event may interrupt it, too. */
static int send_event(void)
{
	struct wire_file_event n = { .file = 1 };

	return file_ring_send(&busy, &ring, &n);
}

/* lock:contention_end, with the lock held. */
static void tracepoint(void)
{
	assert_true(file_ring_busy(&busy));
	ring.nested += !send_event();
}

static long bpf_ringbuf_output(void *to, void *data, uint64_t size, uint64_t flags)
{
	assert_ptr_equal(to, &ring);
	assert_int_equal(size, sizeof(struct wire_file_event));
	if (ring.locked) {
		ring.deadlocks++; /* the kernel would wait for ever */
		return -1;
	}
	ring.locked = 1;
	tracepoint();
	ring.locked = 0;
	if (ring.full)
		return -1;
	ring.sent++;
	return 0;
}

static void nested_events_do_not_take_the_lock(void **state)
{
	assert_false(file_ring_busy(&busy));
	assert_true(send_event());
	assert_true(send_event());
	assert_int_equal(ring.deadlocks, 0);
	assert_int_equal(ring.nested, 2);
	assert_int_equal(ring.sent, 2);
	assert_false(file_ring_busy(&busy));
	ring.full = 1;
	assert_false(send_event());
	assert_false(file_ring_busy(&busy));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_events_do_not_take_the_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
