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
#include "sample_ring.h"

struct samples {
	struct samples_opts o;
	uint64_t throttled;
	struct sample_cpu {
		int fd; /* -1: not opened */
		struct bpf_link *link;
		void *ring; /* two pages, for throttle records */
		struct sample_reading before, last; /* before the start; the last that succeeded */
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

/* If the event cannot be read, its last reading stays. */
static void read_event(struct sample_cpu *c)
{
	uint64_t v[3];

	if (c->fd >= 0 && read(c->fd, v, sizeof(v)) == sizeof(v))
		c->last = (struct sample_reading){ v[0], v[1], v[2] };
}

/* What the event counted since the start, by its last reading. */
static struct sample_reading since_start(const struct sample_cpu *c)
{
	return (struct sample_reading){
		.counted = c->last.counted - MIN(c->last.counted, c->before.counted),
		.enabled = c->last.enabled - MIN(c->last.enabled, c->before.enabled),
		.running = c->last.running - MIN(c->last.running, c->before.running),
	};
}

/* Counts the throttle records since the last call. */
static void poll_ring(struct samples *s, struct sample_cpu *c)
{
	if (c->ring)
		s->throttled += sample_ring__throttled(c->ring, sysconf(_SC_PAGESIZE));
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
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
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
	c->before = c->last = (struct sample_reading){ 0 };
	c->last_enabled = 0;
	return 0;
}

/*
 * Whether the event ended with its CPU.  The time for which an event has been enabled goes on as
 * long as it exists, also while it cannot be scheduled or its CPU is idle.
 */
static bool has_ended(struct sample_cpu *c)
{
	bool ended;

	read_event(c);
	ended = c->last.enabled == c->last_enabled;
	c->last_enabled = c->last.enabled;
	return ended;
}

static void end_event(struct samples *s, struct sample_cpu *c)
{
	struct sample_reading r = since_start(c);

	c->done.reading.counted += r.counted;
	c->done.reading.enabled += r.enabled - r.enabled % period_ns(s);
	c->done.reading.running += MIN(r.running, r.enabled - r.enabled % period_ns(s));
	c->done.ended++;
	poll_ring(s, c);
	close_event(c);
	c->before = c->last = (struct sample_reading){ 0 };
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

static bool is_selected(const struct samples *s, unsigned int cpu)
{
	return !s->o.cpus || s->o.cpus[cpu / 64] >> cpu % 64 & 1;
}

int samples__refresh(struct samples *s, const bool *online)
{
	unsigned int cpu;
	int err = 0;

	for (cpu = 0; cpu < s->o.nr_cpus && !err; cpu++) {
		struct sample_cpu *c = &s->cpus[cpu];

		if (c->fd >= 0 && has_ended(c))
			end_event(s, c);
		if (c->fd < 0 && online[cpu] && is_selected(s, cpu))
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

		read_event(c);
		c->before = c->last;
		c->last_enabled = c->last.enabled;
	}
	control(s, PERF_EVENT_IOC_ENABLE);
}

void samples__stop(struct samples *s)
{
	control(s, PERF_EVENT_IOC_DISABLE);
}

void samples__count(struct samples *s, unsigned int cpu, struct samples_count *ret_count)
{
	struct sample_cpu *c = &s->cpus[cpu];
	struct sample_reading r;

	read_event(c);
	r = since_start(c);
	*ret_count = c->done;
	ret_count->reading.counted += r.counted;
	ret_count->reading.enabled += r.enabled;
	ret_count->reading.running += r.running;
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
