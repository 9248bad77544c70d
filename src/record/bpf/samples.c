// SPDX-License-Identifier: GPL-2.0-only
/* Opens the perf events of timer samples, and opens them again when a CPU comes back. */
#include "samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "clock.h"
#include "log.h"

struct samples {
	struct samples_opts o;
	uint64_t throttled;
	struct sample_cpu {
		int fd; /* -1: not opened */
		struct bpf_link *link;
		void *ring; /* two pages, for throttle records */
		uint64_t value_before, enabled_before; /* before the start */
		uint64_t last_enabled; /* at the last refresh */
		struct samples_count done; /* by events that ended with the CPU */
		bool missed, came_back; /* a message said so */
	} cpus[];
};

int samples__new(const struct samples_opts *opts, struct samples **ret_samples)
{
	struct samples *s = calloc(1, sizeof(*s) + opts->nr_cpus * sizeof(s->cpus[0]));
	unsigned int cpu;

	if (!s)
		return -ENOMEM;
	s->o = *opts;
	for (cpu = 0; cpu < opts->nr_cpus; cpu++)
		s->cpus[cpu].fd = -1;
	*ret_samples = s;
	return 0;
}

static uint64_t period_ns(const struct samples *s)
{
	return SECOND_NS / s->o.hz;
}

/* The event's value, and how long it has been enabled, in ns. */
static void read_event(const struct sample_cpu *c, uint64_t *ret_value, uint64_t *ret_enabled)
{
	uint64_t v[2];

	if (c->fd < 0 || read(c->fd, v, sizeof(v)) != sizeof(v))
		v[0] = v[1] = 0;
	*ret_value = v[0];
	*ret_enabled = v[1];
}

/* Counts the throttle records since the last call. */
static void poll_ring(struct samples *s, struct sample_cpu *c)
{
	struct perf_event_mmap_page *m = c->ring;
	size_t page = sysconf(_SC_PAGESIZE);
	uint64_t head, tail;

	if (!m)
		return;
	head = __atomic_load_n(&m->data_head, __ATOMIC_ACQUIRE);
	for (tail = m->data_tail; tail < head;) {
		const struct perf_event_header *h = (void *)((char *)m + page + tail % page);

		s->throttled += h->type == PERF_RECORD_THROTTLE;
		if (h->size < sizeof(*h))
			break;
		tail += h->size;
	}
	__atomic_store_n(&m->data_tail, head, __ATOMIC_RELEASE);
}

static void close_event(struct sample_cpu *c)
{
	bpf_link__destroy(c->link);
	if (c->ring)
		munmap(c->ring, 2 * sysconf(_SC_PAGESIZE));
	closep(&c->fd);
	c->fd = -1;
	c->link = NULL;
	c->ring = NULL;
}

void samples__free(struct samples *s)
{
	unsigned int cpu;

	if (!s)
		return;
	for (cpu = 0; cpu < s->o.nr_cpus; cpu++)
		close_event(&s->cpus[cpu]);
	free(s);
}

/* The event is enabled when the program is attached to it. */
static int open_event(struct samples *s, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns(s),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.disabled = 1,
	};
	struct sample_cpu *c = &s->cpus[cpu];

	if (s->o.cycles) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
		attr.freq = 1;
		attr.sample_freq = s->o.hz;
	}
	c->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (c->fd < 0)
		return -errno;
	c->ring =
		mmap(NULL, 2 * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (c->ring == MAP_FAILED) {
		c->ring = NULL;
		return -errno;
	}
	c->link = bpf_program__attach_perf_event(s->o.program, c->fd);
	if (!c->link)
		return -errno;
	c->value_before = c->enabled_before = c->last_enabled = 0;
	return 0;
}

/*
 * Whether the event ended with its CPU.  The time for which an event has been enabled goes on as
 * long as it exists, also while it cannot be scheduled or its CPU is idle.
 */
static bool has_ended(struct sample_cpu *c)
{
	uint64_t value, enabled;
	bool ended;

	read_event(c, &value, &enabled);
	ended = enabled == c->last_enabled;
	c->last_enabled = enabled;
	return ended;
}

static void end_event(struct samples *s, struct sample_cpu *c)
{
	uint64_t value, enabled;

	read_event(c, &value, &enabled);
	enabled -= MIN(enabled, c->enabled_before);
	c->done.value += value - MIN(value, c->value_before);
	c->done.enabled += enabled - enabled % period_ns(s);
	c->done.ended++;
	poll_ring(s, c);
	close_event(c);
}

static int open_cpu(struct samples *s, unsigned int cpu)
{
	struct sample_cpu *c = &s->cpus[cpu];
	int err = open_event(s, cpu);

	if (err)
		close_event(c);
	if (err == -ENODEV) {
		if (!c->missed)
			log_warn("CPU %u went offline: it has no timer samples until it is back",
				 cpu);
		c->missed = true;
		return 0;
	}
	if (err)
		return log_err(err, "start timer samples at %u Hz on CPU %u", s->o.hz, cpu);
	if (c->done.ended && !c->came_back) {
		log_warn("CPU %u was offline and had no timer samples; they go on now", cpu);
		c->came_back = true;
	}
	return 0;
}

int samples__refresh(struct samples *s, const bool *online)
{
	unsigned int cpu;
	int err = 0;

	for (cpu = 0; cpu < s->o.nr_cpus && !err; cpu++) {
		struct sample_cpu *c = &s->cpus[cpu];

		if (c->fd >= 0 && has_ended(c))
			end_event(s, c);
		if (c->fd < 0 && online[cpu])
			err = open_cpu(s, cpu);
	}
	return err;
}

static void control(struct samples *s, unsigned long request)
{
	unsigned int cpu;

	for (cpu = 0; cpu < s->o.nr_cpus; cpu++)
		if (s->cpus[cpu].fd >= 0)
			ioctl(s->cpus[cpu].fd, request, 0);
}

void samples__start(struct samples *s)
{
	unsigned int cpu;

	for (cpu = 0; cpu < s->o.nr_cpus; cpu++) {
		struct sample_cpu *c = &s->cpus[cpu];

		read_event(c, &c->value_before, &c->enabled_before);
		c->last_enabled = c->enabled_before;
	}
	control(s, PERF_EVENT_IOC_ENABLE);
}

void samples__stop(struct samples *s)
{
	control(s, PERF_EVENT_IOC_DISABLE);
}

void samples__count(const struct samples *s, unsigned int cpu, struct samples_count *ret_count)
{
	const struct sample_cpu *c = &s->cpus[cpu];
	uint64_t value, enabled;

	read_event(c, &value, &enabled);
	*ret_count = c->done;
	ret_count->value += value - MIN(value, c->value_before);
	ret_count->enabled += enabled - MIN(enabled, c->enabled_before);
}

uint64_t samples__throttled(struct samples *s)
{
	unsigned int cpu;

	for (cpu = 0; cpu < s->o.nr_cpus; cpu++)
		poll_ring(s, &s->cpus[cpu]);
	return s->throttled;
}

unsigned int samples__fds(const struct samples *s, int *fds)
{
	unsigned int nr = 0, cpu;

	for (cpu = 0; cpu < s->o.nr_cpus; cpu++) {
		const struct sample_cpu *c = &s->cpus[cpu];

		if (c->link)
			fds[nr++] = bpf_link__fd(c->link);
		if (c->fd >= 0)
			fds[nr++] = c->fd;
	}
	return nr;
}
