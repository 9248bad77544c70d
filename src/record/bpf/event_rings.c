// SPDX-License-Identifier: GPL-2.0-only
/* The rings of all CPUs, their batches, and the thread that moves what is late. */
#include "event_rings.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "cleanup.h"
#include "clock.h"
#include "event_ring.h"
#include "thread.h"

#define BATCH_BYTES 8192 /* a batch ends with the record that reaches this; it fits the L1 cache */
#define KEPT_BYTES (2 * BATCH_BYTES) /* a larger buffer is freed when it is empty */
/*
 * While a quarter of a ring is in use, the thread looks again after so long, and moves what is in a
 * ring that the recorder has not emptied meanwhile.  Once it is awake, a ring overflows sooner only
 * if its CPU produces more than 600 MB a second, or fills three quarters of the ring in a
 * millisecond.
 */
#define LOOK_NS_PER_BYTE 5 / 4
#define LOOK_MIN_NS 1000000ull
#define LOOK_MAX_NS 10000000ull

struct buffer {
	char *bytes;
	size_t len, cap;
};

struct cpu_ring {
	struct event_ring ring; /* without parts: no such CPU */
	struct buffer moved; /* by the thread: older than what is in the ring */
	struct buffer batch; /* what the recorder reads, without the lock */
	size_t handed_out; /* of the batch */
	uint64_t looked_ns; /* when the recorder has left less than a quarter of the ring in use */
};

struct event_rings {
	unsigned int nr_cpus;
	struct wire_rings layout;
	uint64_t max_moved, look_ns;
	struct event_wakeups wakeups;
	pthread_t thread;
	bool started;
	int event_fd; /* a ring was added, or the thread is to stop */
	pthread_mutex_t lock; /* protects the members below */
	bool stop;
	struct cpu_ring *rings;
};

/* ---- ring memory ----------------------------------------------------------------------------- */

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
static int move(struct cpu_ring *c, struct buffer *to, size_t max)
{
	size_t end = to->len + max;
	char *records;
	int64_t len;

	if (!c->ring.parts)
		return 0;
	while (to->len < end) {
		len = event_ring__peek(&c->ring, end - to->len, &records);
		if (len <= 0)
			return len;
		if (reserve(to, to->len + len))
			return -ENOMEM;
		memcpy(to->bytes + to->len, records, len);
		to->len += len;
		event_ring__remove(&c->ring, records, len);
	}
	return 0;
}

static void unmap_parts(const struct event_rings *r, char **parts)
{
	unsigned int i;

	for (i = 0; parts && i < r->layout.nr_parts && parts[i]; i++)
		munmap(parts[i], event_ring__part_bytes(&r->layout));
	free(parts);
}

static int map_parts(const struct event_rings *r, const int *fds, char ***ret_parts)
{
	char **parts = calloc(r->layout.nr_parts, sizeof(*parts));
	unsigned int i;

	if (!parts)
		return -ENOMEM;
	for (i = 0; i < r->layout.nr_parts; i++) {
		void *part = mmap(NULL, event_ring__part_bytes(&r->layout), PROT_READ | PROT_WRITE,
				  MAP_SHARED, fds[i], 0);

		if (part == MAP_FAILED) {
			int err = -errno;

			unmap_parts(r, parts);
			return err;
		}
		parts[i] = part;
	}
	*ret_parts = parts;
	return 0;
}

int event_rings__add(struct event_rings *r, unsigned int cpu, struct wire_ring_pos *pos,
		     const int *fds)
{
	struct event_ring ring = { .pos = pos, .layout = r->layout };
	int err = map_parts(r, fds, &ring.parts);

	if (err)
		return err;
	pthread_mutex_lock(&r->lock);
	r->rings[cpu].ring = ring;
	r->rings[cpu].looked_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&r->lock);
	eventfd_write(r->event_fd, 1); /* it may have been woken for this ring before */
	return 0;
}

bool event_rings__has(const struct event_rings *r, unsigned int cpu)
{
	return r->rings[cpu].ring.parts;
}

/*
 * If less than a quarter of the ring is in use, lets the programs wake the thread again; whether
 * they will do so.
 */
static bool wake_again(const struct event_rings *r, const struct event_ring *ring)
{
	uint64_t quarter = r->layout.bytes / WIRE_RING_FULL_PART;
	uint32_t wakeup;

	if (event_ring__used(ring) >= quarter)
		return false;
	wakeup = __atomic_load_n(&ring->pos->wakeup, __ATOMIC_ACQUIRE);
	if (wakeup == WIRE_WAKEUP_SENT)
		__atomic_store_n(&ring->pos->wakeup, WIRE_WAKEUP_NONE, __ATOMIC_SEQ_CST);
	return wakeup != WIRE_WAKEUP_BEGUN && event_ring__used(ring) < quarter;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Frees what the recorder has read. */
static void free_read(struct cpu_ring *c)
{
	struct buffer *b = &c->batch;

	if (c->handed_out < b->len)
		return;
	if (b->cap > KEPT_BYTES) {
		free(b->bytes);
		*b = (struct buffer){ 0 };
	}
	b->len = c->handed_out = 0;
}

/* The next records of the batch: what the thread has moved may be long. */
static struct event_batch hand_out(struct cpu_ring *c)
{
	const char *at = c->batch.bytes + c->handed_out, *end = c->batch.bytes + c->batch.len;
	struct event_batch b = { at, at };

	if (end - at <= KEPT_BYTES)
		b.end = end;
	while (b.end < end && b.end - at < BATCH_BYTES)
		b.end += event_ring__size((const struct wire_head *)b.end);
	c->handed_out = b.end - c->batch.bytes;
	return b;
}

static int get_batch(struct cpu_ring *c)
{
	struct buffer empty = c->batch;

	if (c->batch.len)
		return 0;
	if (!c->moved.len)
		return move(c, &c->batch, BATCH_BYTES);
	c->batch = c->moved;
	c->moved = empty;
	return 0;
}

int event_rings__next(struct event_rings *r, unsigned int cpu, struct event_batch *ret_batch)
{
	struct cpu_ring *c = &r->rings[cpu];
	int err;

	pthread_mutex_lock(&r->lock);
	free_read(c);
	err = get_batch(c);
	if (c->ring.parts && wake_again(r, &c->ring))
		c->looked_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&r->lock);
	if (err || !c->batch.len)
		return err;
	*ret_batch = hand_out(c);
	return 1;
}

void event_rings__read(struct event_rings *r, unsigned int cpu)
{
	pthread_mutex_lock(&r->lock);
	free_read(&r->rings[cpu]);
	pthread_mutex_unlock(&r->lock);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/*
 * Moves what is in rings that fill and have not been emptied for some time.  Returns whether the
 * programs will wake the thread when it has to look again.
 */
static bool move_late(struct event_rings *r)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool will_be_woken = true;
	unsigned int i;

	for (i = 0; i < r->nr_cpus; i++) {
		struct cpu_ring *c = &r->rings[i];
		uint64_t kept = c->batch.len + c->moved.len;

		if (!c->ring.parts || wake_again(r, &c->ring))
			continue;
		/* without memory the records stay where they are; the recorder reports damage */
		if (now - c->looked_ns >= r->look_ns && kept < r->max_moved)
			move(c, &c->moved, r->max_moved - kept);
		will_be_woken &= wake_again(r, &c->ring);
	}
	return will_be_woken;
}

static void *run(void *arg)
{
	struct event_rings *r = arg;
	eventfd_t nr;
	const struct timespec look = { .tv_nsec = r->look_ns };
	struct pollfd fds[2] = {
		{ .fd = r->wakeups.fd, .events = POLLIN },
		{ .fd = r->event_fd, .events = POLLIN },
	};

	setpriority(PRIO_PROCESS, 0, -20); /* of this thread, as that of the recorder */
	prctl(PR_SET_NAME, "stackonce-rings");
	for (;;) {
		bool stop, will_be_woken,
			in_vain = !r->wakeups.take(r->wakeups.ctx) && fds[0].revents;

		pthread_mutex_lock(&r->lock);
		stop = r->stop;
		will_be_woken = move_late(r);
		pthread_mutex_unlock(&r->lock);
		if (stop)
			return NULL;
		/* a program that was preempted in the middle may take long */
		fds[0].events = in_vain ? 0 : POLLIN;
		ppoll(fds, ARRAY_SIZE(fds), will_be_woken && !in_vain ? NULL : &look, NULL);
		if (fds[1].revents)
			eventfd_read(r->event_fd, &nr);
	}
}

int event_rings__new(unsigned int nr_cpus, const struct wire_rings *layout, uint64_t max_moved,
		     const struct event_wakeups *wakeups, struct event_rings **ret_rings)
{
	struct event_rings *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->nr_cpus = nr_cpus;
	r->layout = *layout;
	r->max_moved = max_moved;
	r->wakeups = *wakeups;
	r->look_ns = MIN(MAX(layout->bytes * LOOK_NS_PER_BYTE, LOOK_MIN_NS), LOOK_MAX_NS);
	pthread_mutex_init(&r->lock, NULL);
	r->event_fd = eventfd(0, EFD_CLOEXEC);
	r->rings = calloc(nr_cpus, sizeof(*r->rings));
	err = r->event_fd < 0 ? -errno : r->rings ? 0 : -ENOMEM;
	err = err ?: thread__start(&r->thread, run, r);
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
		pthread_mutex_unlock(&r->lock);
		eventfd_write(r->event_fd, 1);
		pthread_join(r->thread, NULL);
	}
	for (i = 0; r->rings && i < r->nr_cpus; i++) {
		struct cpu_ring *c = &r->rings[i];

		unmap_parts(r, c->ring.parts);
		free(c->moved.bytes);
		free(c->batch.bytes);
	}
	closep(&r->event_fd);
	pthread_mutex_destroy(&r->lock);
	free(r->rings);
	free(r);
}
