/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by programs.c, accounting.c, attach.c and the other files of this folder. */
#ifndef RECORD_PROGRAMS_PRIV_H
#define RECORD_PROGRAMS_PRIV_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "native_check.h"
#include "programs.h"
#include "record/backend.h"
#include "record/kernel/percpu.h"
#include "record/memory.h"
#include "record/opts.h"

/* The skeleton uses the type names of the BPF sources. */
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
#include "kwalk/kwalk_layout.h"

#include "bpf/record.skel.h" /* needs all of these */

#define FILE_RING_BYTES (1u << 17) /* a CPU's ring of file events: room for some 100 */

struct attached {
	struct bpf_link *link; /* of the recorder; NULL: a native event */
	int count_prog, count_link; /* descriptors of the counter or of the front, or -1 */
	uint64_t misses_before, misses; /* of the counter: before arming, since then */
	uint64_t taken_before, taken; /* of these, hits that a second front has taken */
	/* of a native event's second front; the link of all calls is that of `end_call`; or -1 */
	int second_prog, second_link;
	uint64_t second_before, second_misses;
	bool no_counter; /* a function probe without a counter */
};

/* A link to functions, or the counter of a function. */
struct attached_probe {
	unsigned int event; /* the first one, if the link serves several */
	struct bpf_link *link;
	int count_prog, count_link; /* descriptors of the counter, or -1 */
	uint64_t misses_before;
};

struct programs {
	const struct recorder_opts *opts;
	struct native_hits *hits; /* [event * nr_cpus + cpu], if an event has two fronts */
	size_t hits_len;
	struct native_front *native; /* by event; NULL: there are no native events */
	struct field_checks *checks; /* of native events; NULL: there are none */
	struct old_way *old_way; /* what events take that are not native any more; or NULL */
	struct event_desc *descs; /* by event */
	bool user_stacks; /* requested and available */
	struct record_bpf *skel;
	struct parallel_load *parallel; /* of the skeleton's large programs */
	struct stackmap *stackmap;
	struct kwalk *kwalk; /* NULL: the kernel walks stacks */
	const char *kernel_walk_reason; /* why; NULL: stacks are walked */
	struct memory_plan memory;
	struct percpu_layout layout;
	struct bpf_link *calibration, *follow, *remember, *begin, *command;
	unsigned int nr_cpus, nr_events;
	bool *online; /* by CPU: when it was last looked at */
	bool *prepared; /* by CPU: it has been located and has a ring */
	bool late_cpu; /* one of them was prepared while events happened */
	struct wire_rings rings;
	char *cpus; /* by CPU, a struct wire_cpu each: see programs__ring_pos() */
	int *ring_fds; /* by CPU and part; -1: none */
	int *file_ring_fds; /* by CPU; -1: none */
	struct ring_buffer *wakeups;
	struct event_counts *counts; /* [event * nr_cpus + cpu] */
	uint64_t *unseen; /* by event: lost events that no program noticed */
	uint64_t *pids;
	struct wire_file *files; /* NULL without user stacks */
	size_t counts_len, descs_len, pids_len, files_len, cpus_len;
	struct attached *attached; /* one per event */
	struct attached sys_enter, sys_exit;
	struct attached_probe *probes;
	unsigned int nr_probes;
	struct samples *samples; /* NULL: none */
	bool misses_final; /* disarmed: later misses do not belong to the recording */
	struct backend_costs costs;
	struct rlimit files_before; /* limit of open files at the start */
};

/* Whether tasks are selected by their cgroup or user. */
static inline bool programs__selects_owners(const struct programs *p)
{
	return p->opts->nr_cgroups || p->opts->nr_uids;
}

/* Events of a type that have been recorded so far, on all CPUs. */
uint64_t programs__recorded(const struct programs *p, unsigned int event);

/* Selects the programs that the events need; to be called before loading. */
void programs__choose(struct programs *p);

/* ---- map_memory.c ---------------------------------------------------------------------------- */

/* Before loading, and after all other sizes are set: divides the memory, sizes the stack map. */
int programs__plan_memory(struct programs *p);
/* What the elements of a map take. */
uint64_t programs__map_bytes(const struct programs *p, const struct bpf_map *map);

/* ---- ring_maps.c ----------------------------------------------------------------------------- */

/* Creates the rings of all CPUs in p->online. */
int programs__create_rings(struct programs *p);
/* Creates those of CPUs that came online. */
int programs__add_rings(struct programs *p);
void programs__free_rings(struct programs *p);

/* ---- kernel_unwind.c ------------------------------------------------------------------------- */

/* Before loading: prepares the tables for walking, or sets p->kernel_walk_reason. */
int programs__prepare_walk(struct programs *p);
/* After loading: fills the tables. */
int programs__start_walk(struct programs *p);

/* ---- native.c -------------------------------------------------------------------------------- */

/* Which program fills the records of an event. */
enum native_kind {
	NATIVE_NONE, /* perf's program gets them from the kernel, a counter counts */
	NATIVE_BESIDE, /* the same, but the counter is a front, see DESC_BESIDE */
	NATIVE_FILLED, /* native: a front with instructions made for the event */
	NATIVE_SYS_ENTER,
	NATIVE_SYS_EXIT, /* raw_syscalls */
	NATIVE_CALL, /* syscalls: one front at all entries, one at all exits */
};

/* Before loading: decides which events are native, or have a front beside perf's program. */
int native__choose(struct programs *p);
enum native_kind native__kind(const struct programs *p, unsigned int event);
/* After that: selects the fronts, and the ends for these and, if it is loaded, for `nested`. */
void native__choose_programs(struct programs *p, bool nested);
/* Hits of all CPUs that the second front has taken so far. */
uint64_t native__taken(const struct programs *p, unsigned int event);
/* Loads a front of the event; returns its descriptor or a negative errno. */
int native__load_front(const struct programs *p, unsigned int event, enum wire_role role);
/* Whether an event of a system call, or of all, is that of its exit. */
bool native__is_exit(const struct programs *p, unsigned int event);
/*
 * The check of a native event's records in `native_checks`: its own, or that of all entries or
 * exits of system calls.
 */
unsigned int native__check(const struct programs *p, unsigned int event);
void native__masks(const struct programs *p, unsigned int event, struct native_check *ret_check);
/* Loads the second program of the check; returns its descriptor or a negative errno. */
int native__load_check(const struct programs *p, unsigned int event);

/* The flags of the event's description. */
uint32_t native__flags(const struct programs *p, unsigned int event);

/* ---- old_way.c ------------------------------------------------------------------------------- */

int old_way__new(struct programs *p);
void old_way__free(struct programs *p);
/* The descriptor of a program that was loaded for it, or -1. */
#define OLD_WAY_PROGRAMS 3
int old_way__program(const struct programs *p, unsigned int i);
/* Whether some CPUs, or all, have taken the old way of the event. */
bool old_way__has_begun(const struct programs *p, unsigned int event);

/* ---- calibrate.c ----------------------------------------------------------------------------- */

/*
 * Finds the address of this CPU's per-CPU variables; 1: it cannot be determined.  -ENXIO: the CPU
 * is offline.
 */
int programs__locate_cpu(struct programs *p, unsigned int cpu);
/* Does so for all CPUs in p->online; those that went offline meanwhile stay unprepared. */
int programs__locate(struct programs *p);
/* Finds the selected cgroups in the kernel. */
int programs__locate_cgroups(struct programs *p);
/* Determines preemption counts in plain task context and flag bits of this kernel. */
int programs__calibrate(struct programs *p);
/* Detaches the program that did so, which takes grace periods.  It may have been detached. */
void programs__end_calibration(struct programs *p);

#endif /* RECORD_PROGRAMS_PRIV_H */
