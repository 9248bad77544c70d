// SPDX-License-Identifier: GPL-2.0-only
/* Runs the threads that open new files while their processes exist. */
#include "opener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#include "array.h"
#include "cleanup.h"
#include "clock.h"
#include "jit_source.h"
#include "thread.h"

#define MAX_WAITING 1024 /* observed files in the queue; each may hold a descriptor */
#define MAX_DESCRIPTORS (2 * MAX_WAITING) /* of the recorder, in most recordings */
#define MAX_TABLES 64 /* so many files in the queue may have a table */
/* The thread counts as stuck once so many checks in a row, this far apart, found it asleep. */
#define CHECK_NS 50000000
#define CHECKS_ASLEEP 5
#define STOP_NS (2 * SECOND_NS) /* at the end, a thread that does not stop is abandoned */

/* The thread of a CPU. */
struct reader {
	struct opener *o;
	unsigned int cpu;
	pthread_t thread;
	pid_t tid; /* of the thread; set before it opens a file */
	bool opening; /* a file: if the thread sleeps now, it is waiting for a file system */
	struct ring_buffer *ring;
	const char *positions; /* the ring's consumer and producer position, a page each */
	struct seen_context ctx; /* used only by the thread */
	bool stuck; /* protected by the lock, also read without it */
	bool unbound; /* the waiting thread has let it leave its CPU, where it did not get to run */
	/* of the thread that waits: */
	unsigned long switches; /* of the thread, at the last check */
	unsigned int asleep; /* checks in a row that found it asleep */
};

struct opener {
	unsigned int nr_cpus;
	struct reader **readers; /* by CPU; NULL: none yet */
	struct snapshot *snapshot;
	int stop_fd;
	int ready_fd; /* readable while the queue is not empty */
	bool with_tables;
	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	struct observed_file *first, **last;
	unsigned int nr; /* also read without the lock */
	bool stop;
	int err;
};

/* ---- opening --------------------------------------------------------------------------------- */

/* 1: it is new. */
static int note_program(struct seen_context *ctx, const struct wire_file_key *key)
{
	uint64_t hash = jit_key__program(key);
	uint32_t i;

	index__for_each(&ctx->by_program, hash, i)
		if (jit_key__same_program(&ctx->programs[i], key))
			return 0;
	if (array__grow(&ctx->programs, ctx->nr_programs, &ctx->cap_programs) ||
	    index__add(&ctx->by_program, hash, ctx->nr_programs))
		return -ENOMEM;
	ctx->programs[ctx->nr_programs++] = *key;
	return 1;
}

/*
 * Once per program, whose windows share the source: finding its files takes long if the process has
 * many mappings, and this may be a real-time thread.
 */
static int open_jit(struct seen_context *ctx, const struct wire_file_key *key,
		    struct jit_source **ret_jit)
{
	int n = note_program(ctx, key);

	return n > 0 ? jit_source__new(key->w[1], key->w[2], ret_jit) : n;
}

int observed_file__open(struct seen_context *ctx, const struct wire_file_event *n, bool with_table,
			struct observed_file *ret_observed)
{
	struct observed_file s = { .n = *n, .file = { .fd = -1 } };
	int err = 0;

	if (n->key.kind == WIRE_KEY_FILE)
		err = seen_file__open(ctx, n, with_table && !n->is_name, &s.file);
	else if (n->key.kind == WIRE_KEY_JIT)
		err = open_jit(ctx, &n->key, &s.jit);
	if (err && err != -ENOENT) {
		observed_file__release(&s);
		return err;
	}
	*ret_observed = s;
	return 0;
}

void observed_file__release(struct observed_file *s)
{
	seen_file__release(&s->file);
	jit_source__free(s->jit);
	s->jit = NULL;
}

/* ---- the threads ----------------------------------------------------------------------------- */

static uint64_t position(const struct reader *r, bool producer)
{
	const char *page = r->positions + (producer ? sysconf(_SC_PAGESIZE) : 0);

	return __atomic_load_n((const uint64_t *)page, __ATOMIC_ACQUIRE);
}

static bool reader_has_pending(const struct reader *r)
{
	return position(r, false) < position(r, true);
}

static void append(struct reader *r, struct observed_file *s)
{
	struct opener *o = r->o;

	pthread_mutex_lock(&o->lock);
	while (o->nr >= MAX_WAITING && !o->stop)
		pthread_cond_wait(&o->changed, &o->lock);
	s->next = NULL;
	*o->last = s;
	o->last = &s->next;
	__atomic_fetch_add(&o->nr, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&r->stuck, false, __ATOMIC_RELAXED);
	eventfd_write(o->ready_fd, 1);
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
}

static int on_file_event(void *ctx, void *data, size_t size)
{
	struct wire_file_event n = { 0 };
	struct reader *r = ctx;
	struct opener *o = r->o;
	bool with_table;
	struct observed_file *s;
	int err;

	if (__atomic_load_n(&o->stop, __ATOMIC_RELAXED))
		return -ECANCELED;
	if (size < offsetof(struct wire_file_event, parts))
		return 0;
	memcpy(&n, data, MIN(size, sizeof(n)));
	n.len = MIN((size_t)n.len, MIN(size, sizeof(n)) - offsetof(struct wire_file_event, parts));
	s = malloc(sizeof(*s));
	with_table = o->with_tables && __atomic_load_n(&o->nr, __ATOMIC_RELAXED) < MAX_TABLES;
	__atomic_store_n(&r->opening, true, __ATOMIC_RELEASE);
	err = s ? observed_file__open(&r->ctx, &n, with_table, s) : -ENOMEM;
	__atomic_store_n(&r->opening, false, __ATOMIC_RELEASE);
	if (err) {
		free(s);
		return err;
	}
	append(r, s);
	return 0;
}

/*
 * On the CPU that sends a file event, a real-time thread runs before the task returns to user
 * space.  On any other one it would be too late for most programs that exit at once.
 */
static void bind_to_cpu(const struct reader *r)
{
	size_t size = CPU_ALLOC_SIZE(r->cpu + 1);
	cpu_set_t *cpus = CPU_ALLOC(r->cpu + 1);

	if (!cpus)
		return;
	CPU_ZERO_S(size, cpus);
	CPU_SET_S(r->cpu, size, cpus);
	pthread_setaffinity_np(pthread_self(), size, cpus);
	CPU_FREE(cpus);
}

/* Called by the waiting thread. */
static void let_leave_cpu(struct reader *r)
{
	static const uint64_t all[WIRE_MAX_CPUS / 64] = { [0 ... WIRE_MAX_CPUS / 64 - 1] = ~0ull };

	__atomic_store_n(&r->unbound, true, __ATOMIC_RELAXED);
	pthread_setaffinity_np(r->thread, sizeof(all), (const cpu_set_t *)all);
}

static void run_first(const struct reader *r)
{
	struct sched_param param = { .sched_priority = 1 };

	bind_to_cpu(r);
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	prctl(PR_SET_NAME, "stackonce-files");
}

static void *run(void *arg)
{
	struct reader *r = arg;
	struct opener *o = r->o;
	struct pollfd fds[2] = {
		{ .fd = ring_buffer__epoll_fd(r->ring), .events = POLLIN },
		{ .fd = o->stop_fd, .events = POLLIN },
	};
	int err = 0;

	__atomic_store_n(&r->tid, gettid(), __ATOMIC_RELAXED);
	run_first(r);
	while (err >= 0) {
		err = ring_buffer__consume(r->ring);
		seen_context__forget(&r->ctx); /* mounts change meanwhile */
		pthread_mutex_lock(&o->lock);
		o->err = MIN(err, o->err);
		pthread_cond_broadcast(&o->changed);
		pthread_mutex_unlock(&o->lock);
		/* The kernel lets it leave a CPU that goes offline. */
		if (__atomic_exchange_n(&r->unbound, false, __ATOMIC_RELAXED) ||
		    sched_getcpu() != (int)r->cpu)
			bind_to_cpu(r);
		/* A task that writes an event was preempted by this thread: it gets the CPU. */
		if (!err && reader_has_pending(r))
			usleep(1000);
		poll(fds, 2, -1);
		if (fds[1].revents)
			break;
	}
	return NULL;
}

static int open_ring(struct reader *r, int fd)
{
	void *m = mmap(NULL, 2 * sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

	if (m == MAP_FAILED)
		return -errno;
	r->positions = m;
	r->ring = ring_buffer__new(fd, on_file_event, r, NULL);
	return r->ring ? 0 : -errno;
}

/* Its thread has ended, or was never started. */
static void reader_free(struct reader *r)
{
	if (!r)
		return;
	ring_buffer__free(r->ring);
	if (r->positions)
		munmap((void *)r->positions, 2 * sysconf(_SC_PAGESIZE));
	seen_context__free(&r->ctx);
	free(r);
}

int opener__add(struct opener *o, unsigned int cpu, int fd)
{
	struct reader *r;
	int err;

	if (o->readers[cpu])
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->o = o;
	r->cpu = cpu;
	r->ctx.snapshot = o->snapshot;
	err = open_ring(r, fd);
	if (!err)
		err = thread__start(&r->thread, run, r);
	if (err) {
		reader_free(r);
		return err;
	}
	o->readers[cpu] = r;
	return 0;
}

/*
 * Makes room for all descriptors at once.  Where a process with threads opens one more than its
 * table has room for, the kernel has all that open files wait for an RCU grace period, which is
 * longer than many programs run.
 */
static void make_room(int fd)
{
	struct rlimit limit = { 0 };
	int last;

	getrlimit(RLIMIT_NOFILE, &limit);
	/* what is open already, such as the descriptors of events, is below fd */
	last = fcntl(fd, F_DUPFD_CLOEXEC, MIN(limit.rlim_cur, (rlim_t)fd + MAX_DESCRIPTORS) - 1);
	if (last >= 0)
		close(last);
}

int opener__new(unsigned int nr_cpus, struct snapshot *snapshot, bool with_tables,
		struct opener **ret_opener)
{
	struct opener *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->nr_cpus = nr_cpus;
	o->snapshot = snapshot;
	o->with_tables = with_tables;
	o->last = &o->first;
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->changed, NULL);
	o->stop_fd = eventfd(0, EFD_CLOEXEC);
	o->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	o->readers = calloc(nr_cpus, sizeof(*o->readers));
	if (o->stop_fd < 0 || o->ready_fd < 0 || !o->readers) {
		int err = o->readers ? -errno : -ENOMEM;

		opener__free(o);
		return err;
	}
	make_room(o->stop_fd);
	*ret_opener = o;
	return 0;
}

/* false: a thread hangs in a file system, and is abandoned. */
static bool stop(struct opener *o)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + STOP_NS;
	const struct timespec until = { end / SECOND_NS, end % SECOND_NS };
	bool ended = true;
	unsigned int i;

	pthread_mutex_lock(&o->lock);
	__atomic_store_n(&o->stop, true, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
	eventfd_write(o->stop_fd, 1);
	for (i = 0; o->readers && i < o->nr_cpus; i++)
		if (o->readers[i] &&
		    pthread_clockjoin_np(o->readers[i]->thread, NULL, CLOCK_MONOTONIC, &until))
			ended = false;
	return ended;
}

bool opener__free(struct opener *o)
{
	struct observed_file *s;
	unsigned int i;

	if (!o)
		return true;
	if (!stop(o))
		return false;
	while ((s = o->first)) {
		o->first = s->next;
		observed_file__release(s);
		free(s);
	}
	for (i = 0; o->readers && i < o->nr_cpus; i++)
		reader_free(o->readers[i]);
	free(o->readers);
	closep(&o->stop_fd);
	closep(&o->ready_fd);
	pthread_cond_destroy(&o->changed);
	pthread_mutex_destroy(&o->lock);
	free(o);
	return true;
}

/* ---- other threads --------------------------------------------------------------------------- */

/*
 * Whether the thread sleeps in an access to a file and has not run since the last check.  A thread
 * that waits for a CPU, or builds the table of a large file, does not sleep.
 */
static bool is_asleep(struct reader *r)
{
	pid_t tid = __atomic_load_n(&r->tid, __ATOMIC_RELAXED);
	unsigned long now = r->switches, before = r->switches;
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[256], state = 0;

	if (!__atomic_load_n(&r->opening, __ATOMIC_ACQUIRE))
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "voluntary_ctxt_switches: %lu", &now);
	}
	r->switches = now;
	return f && state != 'R' && now == before;
}

/* Whether file events are pending that a thread will take. */
static bool has_pending(const struct opener *o)
{
	unsigned int i;

	for (i = 0; i < o->nr_cpus; i++) {
		const struct reader *r = o->readers[i];

		if (r && !__atomic_load_n(&r->stuck, __ATOMIC_RELAXED) && reader_has_pending(r))
			return true;
	}
	return false;
}

static void forget_checks(struct opener *o)
{
	unsigned int i;

	for (i = 0; i < o->nr_cpus; i++)
		if (o->readers[i])
			o->readers[i]->switches = o->readers[i]->asleep = 0;
}

/* Finds threads that wait for a file system, or for a CPU that does not run them. */
static void find_stuck(struct opener *o)
{
	unsigned int i;

	for (i = 0; i < o->nr_cpus; i++) {
		struct reader *r = o->readers[i];

		if (!r)
			continue;
		r->asleep = is_asleep(r) ? r->asleep + 1 : 0;
		if (r->asleep > CHECKS_ASLEEP)
			__atomic_store_n(&r->stuck, true, __ATOMIC_RELAXED);
		if (!__atomic_load_n(&r->opening, __ATOMIC_ACQUIRE) && reader_has_pending(r))
			let_leave_cpu(r);
	}
}

/* Waits for the next observed file until the deadline, or until all busy threads are stuck. */
static void wait_for_first(struct opener *o, uint64_t deadline)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until;

	forget_checks(o);
	while (!o->first && !o->err && has_pending(o) && now < deadline) {
		until = MIN(now + CHECK_NS, deadline);
		const struct timespec t = { until / SECOND_NS, until % SECOND_NS };

		if (pthread_cond_clockwait(&o->changed, &o->lock, CLOCK_MONOTONIC, &t) == ETIMEDOUT)
			find_stuck(o);
		now = clock_ns(CLOCK_MONOTONIC);
	}
}

bool opener__is_stuck(const struct opener *o)
{
	unsigned int i;

	for (i = 0; i < o->nr_cpus; i++)
		if (o->readers[i] && __atomic_load_n(&o->readers[i]->stuck, __ATOMIC_RELAXED))
			return true;
	return false;
}

int opener__fd(const struct opener *o)
{
	return o->ready_fd;
}

/* The first observed file in the queue; NULL: none. */
static struct observed_file *take_first(struct opener *o)
{
	struct observed_file *s = o->first;
	eventfd_t value;

	if (!s)
		return NULL;
	o->first = s->next;
	__atomic_fetch_sub(&o->nr, 1, __ATOMIC_RELAXED);
	if (!o->first) {
		o->last = &o->first;
		eventfd_read(o->ready_fd, &value);
	}
	pthread_cond_broadcast(&o->changed);
	return s;
}

int opener__next(struct opener *o, uint64_t deadline, struct observed_file *ret_observed)
{
	struct observed_file *s;
	int err;

	/* in this order: what is no longer in the ring is in the queue */
	if ((!deadline || !has_pending(o)) && !__atomic_load_n(&o->nr, __ATOMIC_RELAXED))
		return 0;
	pthread_mutex_lock(&o->lock);
	wait_for_first(o, deadline);
	s = take_first(o);
	err = o->err;
	pthread_mutex_unlock(&o->lock);
	if (!s)
		return err;
	*ret_observed = *s;
	free(s);
	return 1;
}
