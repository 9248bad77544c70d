/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of one recording: what is recorded, and how. */
#ifndef RECORD_OPTS_H
#define RECORD_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "clock.h"
#include "rec_clock.h"

struct cgroup_dir;
struct ksyms;
struct phases;
struct rec_events;

enum rec_backend { REC_BACKEND_BPF, REC_BACKEND_FTRACE };

/* How kernel stacks are unwound. */
enum rec_kernel_unwind {
	REC_UNWIND_AUTO, /* as REC_UNWIND_ORC where possible, else REC_UNWIND_KERNEL */
	REC_UNWIND_ORC, /* by the recorder program; fail if that is impossible */
	REC_UNWIND_KERNEL, /* by the kernel */
};

/* Who fills the records of tracepoints. */
enum rec_fields {
	REC_FIELDS_AUTO, /* as REC_FIELDS_NATIVE where possible, else REC_FIELDS_KERNEL */
	REC_FIELDS_NATIVE, /* the recorder's programs, for the events that they can fill */
	REC_FIELDS_KERNEL, /* the kernel, by perf */
};

struct recorder_opts {
	enum rec_backend backend;
	const char *output; /* "-": standard output */
	bool force; /* overwrite output even if it is not a recording */
	struct rec_events *events; /* resolved */
	struct ksyms *syms; /* of the running kernel */
	unsigned int sample_hz;
	unsigned int sample_event; /* index in events */
	bool sample_cycles, keep_idle, include_self, kernel_stacks, fsync;
	enum rec_kernel_unwind kernel_unwind;
	enum rec_fields fields;
	bool user_stacks;
	bool user_stacks_required; /* required: fail if unavailable */
	bool user_fp_only; /* unwind by frame pointers only */
	bool waker_stacks; /* user stacks also of tasks that are not selected */
	struct cache_dir *cache; /* where tables are kept and found; borrowed; NULL: nowhere */
	bool symbols; /* write symbols of user frames at the end of the recording */
	const pid_t *pids; /* -p; processes or threads */
	unsigned int nr_pids;
	const struct cgroup_dir *cgroups; /* -G: open */
	unsigned int nr_cgroups;
	const uint32_t *uids; /* -u: real user ids */
	unsigned int nr_uids;
	const uint64_t *cpus; /* -C: a bit for each of WIRE_MAX_CPUS; NULL: all */
	char *const *command; /* NULL, or the command and its arguments */
	bool command_only; /* record only events of the command and its children */
	enum rec_clock clock;
	struct rec_offset clock_offset; /* of the recording's times, see rec_clock.h */
	uint64_t delay_ns; /* -D: from the start of command or recorder to the first event */
	uint64_t duration_ns; /* of the recording, without the delay; 0: no limit */
	uint32_t max_depth;
	uint64_t memory; /* bytes in the kernel, see memory.h; 0: a part of the machine's */
	/* 0: follows from memory */
	uint32_t stack_map_bits;
	uint64_t stack_pool, buffer_size;
	uint64_t table_budget; /* for unwind tables, in bytes */
	int argc; /* stackonce's own command line, for the metadata */
	char *const *argv;
	/* Called about twice a second with one line; NULL: never. */
	void (*status)(void *ctx, const char *line);
	void *status_ctx;
	struct phases *phases; /* of the recording, for -v; NULL: not measured */
};

/* Whether only events of tasks that are selected by their ids (target.h) are recorded. */
static inline bool recorder_opts__selects_tasks(const struct recorder_opts *o)
{
	return o->nr_pids || (o->command && o->command_only);
}

/* Whether events of some tasks only are recorded. */
static inline bool recorder_opts__limits_tasks(const struct recorder_opts *o)
{
	return recorder_opts__selects_tasks(o) || o->nr_cgroups || o->nr_uids;
}

/* Whether events of this CPU are recorded. */
static inline bool recorder_opts__has_cpu(const struct recorder_opts *o, unsigned int cpu)
{
	return !o->cpus || o->cpus[cpu / 64] >> cpu % 64 & 1;
}

/* The present time of the recording. */
static inline uint64_t recorder_opts__now(const struct recorder_opts *o)
{
	return rec_clock__ns(rec_clock__base(o->clock)) + o->clock_offset.ns;
}

/* How far the recording's time is ahead of CLOCK_MONOTONIC at present, in ns. */
static inline int64_t recorder_opts__ahead_of_mono(const struct recorder_opts *o)
{
	if (o->clock == REC_CLOCK_MONO)
		return 0;
	return (int64_t)(recorder_opts__now(o) - clock_ns(CLOCK_MONOTONIC));
}

#endif /* RECORD_OPTS_H */
