// SPDX-License-Identifier: GPL-2.0-only
/* Reads the memory of BPF ring buffers, as Documentation/bpf/ringbuf.rst describes it. */
#include "event_rings.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <linux/bpf.h>

#include "cleanup.h"
#include "clock.h"
#include "thread.h"

#define BATCH_BYTES 65536 /* a batch ends with the record that reaches this; it fits the L2 cache */
#define KEPT_BYTES (2 * BATCH_BYTES) /* a larger buffer is freed when it is empty */
/*
 * The thread looks after so long, and moves what is in a ring that is filled to a quarter.  A ring
 * overflows sooner only if its CPU produces more than 300 MB a second, or fills three quarters of
 * the ring in a millisecond.
 */
#define MOVED_PART 4
#define LOOK_NS_PER_BYTE 5 / 2
#define LOOK_MIN_NS 1000000ull
#define LOOK_MAX_NS 20000000ull

struct buffer {
	char *bytes;
	size_t len, cap;
};

struct event_ring {
	char *consumer; /* the page of its position; NULL: no such CPU */
	const char *producer; /* the page of its position, and the data, twice in a row */
	struct buffer moved; /* by the thread: older than what is in the ring */
	struct buffer batch; /* what the recorder reads, without the lock */
	uint64_t looked_ns;
};

struct event_rings {
	unsigned int nr_cpus;
	size_t page, size;
	uint64_t max_moved, look_ns;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t stopped;
	bool stop;
	struct event_ring *rings;
};

/* ---- ring memory ----------------------------------------------------------------------------- */

static size_t record_size(uint32_t header)
{
	size_t len = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

	return (len + BPF_RINGBUF_HDR_SZ + 7) & ~7ul;
}

/* The length of the complete records from position `from` on, until they reach max bytes. */
static size_t complete(const struct event_rings *r, const struct event_ring *ring, uint64_t from,
		       size_t max)
{
	uint64_t end = __atomic_load_n((const uint64_t *)ring->producer, __ATOMIC_ACQUIRE);
	const char *data = ring->producer + r->page + (from & (r->size - 1));
	size_t len = 0;

	while (from + len < end && len < max) {
		uint32_t header = __atomic_load_n((const uint32_t *)(data + len), __ATOMIC_ACQUIRE);

		if (header & BPF_RINGBUF_BUSY_BIT)
			break;
		len += record_size(header);
	}
	return len;
}

/* Not more than that, as the memory is limited. */
static int reserve(struct buffer *b, size_t want)
{
	char *bytes = want > b->cap ? realloc(b->bytes, want) : b->bytes;

	if (!bytes)
		return -ENOMEM;
	b->bytes = bytes;
	b->cap = MAX(b->cap, want);
	return 0;
}

/* Moves records from the ring to the end of the buffer, until they reach max bytes. */
static int move(const struct event_rings *r, struct event_ring *ring, struct buffer *to, size_t max)
{
	uint64_t *consumer = (uint64_t *)ring->consumer, from;
	size_t len;

	if (!consumer)
		return 0;
	from = *consumer;
	len = complete(r, ring, from, max);
	if (!len)
		return 0;
	if (reserve(to, to->len + len))
		return -ENOMEM;
	memcpy(to->bytes + to->len, ring->producer + r->page + (from & (r->size - 1)), len);
	to->len += len;
	__atomic_store_n(consumer, from + len, __ATOMIC_RELEASE);
	return 0;
}

int event_rings__add(struct event_rings *r, unsigned int cpu, int fd)
{
	struct event_ring *ring = &r->rings[cpu];
	void *consumer, *producer;

	consumer = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	producer = mmap(NULL, r->page + 2 * r->size, PROT_READ, MAP_SHARED, fd, r->page);
	if (producer == MAP_FAILED) {
		int err = -errno;

		munmap(consumer, r->page);
		return err;
	}
	pthread_mutex_lock(&r->lock);
	ring->consumer = consumer;
	ring->producer = producer;
	ring->looked_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&r->lock);
	return 0;
}

bool event_rings__has(const struct event_rings *r, unsigned int cpu)
{
	return r->rings[cpu].consumer;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void make_empty(struct buffer *b)
{
	if (b->cap > KEPT_BYTES) {
		free(b->bytes);
		*b = (struct buffer){ 0 };
	}
	b->len = 0;
}

int event_rings__next(struct event_rings *r, unsigned int cpu, struct event_batch *ret_batch)
{
	struct event_ring *ring = &r->rings[cpu];
	struct buffer *b = &ring->batch;
	int err = 0;

	pthread_mutex_lock(&r->lock);
	make_empty(b);
	if (ring->moved.len) {
		struct buffer empty = *b;

		*b = ring->moved;
		ring->moved = empty;
	} else {
		err = move(r, ring, b, BATCH_BYTES);
	}
	ring->looked_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&r->lock);
	if (err || !b->len)
		return err;
	*ret_batch = (struct event_batch){ b->bytes, b->bytes + b->len };
	return 1;
}

void event_rings__read(struct event_rings *r, unsigned int cpu)
{
	pthread_mutex_lock(&r->lock);
	make_empty(&r->rings[cpu].batch);
	pthread_mutex_unlock(&r->lock);
}

const void *event_batch__next(struct event_batch *b, size_t *ret_len)
{
	while (b->at < b->end) {
		const char *record = b->at;
		uint32_t header = *(const uint32_t *)record;

		b->at += record_size(header);
		if (header & BPF_RINGBUF_DISCARD_BIT)
			continue;
		*ret_len = header;
		return record + BPF_RINGBUF_HDR_SZ;
	}
	return NULL;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static uint64_t used(const struct event_ring *ring)
{
	return __atomic_load_n((const uint64_t *)ring->producer, __ATOMIC_ACQUIRE) -
	       *(const uint64_t *)ring->consumer;
}

/* Moves what is in rings that fill and were not looked at for some time. */
static void move_late(struct event_rings *r)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	unsigned int i;

	for (i = 0; i < r->nr_cpus; i++) {
		struct event_ring *ring = &r->rings[i];
		uint64_t kept = ring->batch.len + ring->moved.len;

		if (!ring->consumer || used(ring) < r->size / MOVED_PART ||
		    now - ring->looked_ns < r->look_ns || kept >= r->max_moved)
			continue;
		/* without memory the records stay where they are */
		move(r, ring, &ring->moved, r->max_moved - kept);
	}
}

static void *run(void *arg)
{
	struct event_rings *r = arg;

	setpriority(PRIO_PROCESS, 0, -20); /* of this thread, as that of the recorder */
	prctl(PR_SET_NAME, "stackonce-rings");
	pthread_mutex_lock(&r->lock);
	while (!r->stop) {
		uint64_t until = clock_ns(CLOCK_MONOTONIC) + r->look_ns;
		const struct timespec t = { until / SECOND_NS, until % SECOND_NS };

		pthread_cond_clockwait(&r->stopped, &r->lock, CLOCK_MONOTONIC, &t);
		move_late(r);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

int event_rings__new(unsigned int nr_cpus, uint64_t ring_size, uint64_t max_moved,
		     struct event_rings **ret_rings)
{
	struct event_rings *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->nr_cpus = nr_cpus;
	r->page = sysconf(_SC_PAGESIZE);
	r->size = ring_size;
	r->max_moved = max_moved;
	r->look_ns = MIN(MAX(ring_size * LOOK_NS_PER_BYTE, LOOK_MIN_NS), LOOK_MAX_NS);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->stopped, NULL);
	r->rings = calloc(nr_cpus, sizeof(*r->rings));
	err = r->rings ? thread__start(&r->thread, run, r) : -ENOMEM;
	r->started = !err;
	if (err) {
		event_rings__free(r);
		return err;
	}
	*ret_rings = r;
	return 0;
}

void event_rings__free(struct event_rings *r)
{
	unsigned int i;

	if (!r)
		return;
	if (r->started) {
		pthread_mutex_lock(&r->lock);
		r->stop = true;
		pthread_cond_signal(&r->stopped);
		pthread_mutex_unlock(&r->lock);
		pthread_join(r->thread, NULL);
	}
	for (i = 0; r->rings && i < r->nr_cpus; i++) {
		struct event_ring *ring = &r->rings[i];

		if (ring->consumer) {
			munmap(ring->consumer, r->page);
			munmap((void *)ring->producer, r->page + 2 * r->size);
		}
		free(ring->moved.bytes);
		free(ring->batch.bytes);
	}
	pthread_cond_destroy(&r->stopped);
	pthread_mutex_destroy(&r->lock);
	free(r->rings);
	free(r);
}
