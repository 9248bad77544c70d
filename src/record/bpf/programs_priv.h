/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs.c, calibrate.c and attach.c share. */
#ifndef RECORD_PROGRAMS_PRIV_H
#define RECORD_PROGRAMS_PRIV_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "programs.h"
#include "record/backend.h"
#include "record/kernel/percpu.h"
#include "record/opts.h"

/* The skeleton names the BPF side's types. */
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
#include "kwalk/kwalk_layout.h"

#include "bpf/record.skel.h" /* needs all of these */

struct attached {
	struct bpf_link *link; /* the recorder's, NULL for system calls */
	int count_prog, count_link; /* the counter's, -1 */
	uint64_t misses_before, misses; /* of the counter: until armed, since then */
	bool counts_itself; /* a function probe without a counter */
};

/* A link to functions, or the counter of one; a link may serve more events than the one it names. */
struct attached_probe {
	unsigned int event;
	struct bpf_link *link;
	int count_prog, count_link; /* -1 */
	uint64_t misses_before;
};

struct sample_cpu {
	int fd; /* -1: none */
	struct bpf_link *link;
	void *ring; /* two pages: throttle records arrive here */
	uint64_t enabled_before, counted_before; /* ns, and what it counts, until armed */
};

struct programs {
	const struct recorder_opts *opts;
	bool user_stacks; /* wanted, and to be had */
	struct record_bpf *skel;
	struct stackmap *stackmap;
	struct kwalk *kwalk; /* NULL: the kernel walks stacks */
	const char *not_walked; /* why; NULL: stacks are walked */
	struct percpu_layout layout;
	struct bpf_link *calibration, *follow, *begin, *command;
	unsigned int nr_cpus, nr_events;
	bool *online;
	int *ring_fds;
	struct event_counts *counts; /* [event * nr_cpus + cpu] */
	uint64_t *unseen; /* by event: lost, and no program noticed */
	uint64_t *pids;
	struct wire_file *files; /* NULL without user stacks */
	size_t counts_len, pids_len, files_len;
	struct attached *attached; /* one per event */
	struct attached sys_enter, sys_exit;
	struct attached_probe *probes;
	unsigned int nr_probes;
	struct sample_cpu *samples; /* one per CPU */
	uint64_t throttled;
	bool misses_final; /* disarmed: what is counted now is not ours */
	struct backend_costs costs;
	struct rlimit files_before; /* what was the limit of open files */
};

/* Marks the programs that these events need; before they are loaded. */
void programs__choose(struct programs *p);

/* ---- kernel_unwind.c ------------------------------------------------------------------------- */

/* Before loading: the walk's tables, or why there are none. */
int programs__prepare_walk(struct programs *p);
/* After it. */
int programs__start_walk(struct programs *p);

/* ---- calibrate.c ----------------------------------------------------------------------------- */

/* Where this CPU's variables are; 1 when that cannot be told. */
int programs__locate_cpu(struct programs *p, unsigned int cpu);
/* Those of all CPUs that are online. */
int programs__locate(struct programs *p);
/* What preemption looks like from inside a program that interrupts nothing. */
int programs__calibrate(struct programs *p);

#endif /* RECORD_PROGRAMS_PRIV_H */
