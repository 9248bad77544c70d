/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of export perfetto:
 *
 *   perfetto.c          the loop over the events
 *   perfetto_out.c      packets to the file
 *   perfetto_intern.c   strings and call stacks, each written once
 *   perfetto_task.c     tracks of threads, the tasks of the recording
 *   perfetto_event.c    events: instants with their fields, timer samples
 *   perfetto_sched.c    scheduling, as Perfetto reads it from ftrace
 *   perfetto_slice.c    pairs and losses: slices, on tracks on which they do not overlap
 *
 * Source of the format: protos/perfetto/trace and docs/reference/synthetic-track-event.md of the
 * Perfetto project.  All packets are of one sequence.  Memory grows with strings, stacks, threads
 * and event types, and is charged to the budget of the recording.
 */
#ifndef EXPORT_PERFETTO_PRIV_H
#define EXPORT_PERFETTO_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index.h"
#include "output/output.h"
#include "perfetto.pb-c.h"
#include "source.h"
#include "strbuf.h"
#include "string_table.h"

/* Sets an optional member that is a number. */
#define PF_SET(message, member, value) ((message)->has_##member = true, (message)->member = (value))

/* ---- packets to the file (perfetto_out.c) ---------------------------------------------------- */

#define PF_OUT_SIZE (1u << 20)

/* Keeps its first error and writes nothing after it. */
struct pf_out {
	const struct output *output;
	uint8_t *buf;
	size_t len, cap;
	int err;
};

int pf_out__init(struct pf_out *o, const struct output *output); /* -ENOMEM */
/* Of at most `most` bytes; 0: the size is computed. */
void pf_out__packet(struct pf_out *o, Pf__TracePacket *p, size_t most);
void pf_out__fail(struct pf_out *o, int err); /* what comes is not written */
int pf_out__finish(struct pf_out *o); /* the first error */
void pf_out__free(struct pf_out *o);

/* A packet that refers to interned data; *time in ns, NULL: it has none. */
Pf__TracePacket pf_packet(const uint64_t *time);

/* ---- strings and call stacks (perfetto_intern.c) --------------------------------------------- */

enum pf_string {
	PF_CATEGORY,
	PF_EVENT,
	PF_FIELD,
	PF_FUNCTION,
	PF_BUILD_ID,
	PF_PATH,
	NR_PF_STRINGS,
};

struct pf_frame {
	uint64_t pc;
	uint32_t mapping, function; /* ids; 0: none */
};

/* A stack as Perfetto has it: the frames of both stacks of an event. */
struct pf_stack {
	uint32_t kstack, ustack;
	uint64_t id; /* 0: neither has frames */
};

struct pf_mapping {
	uint32_t file, kernel;
	uint64_t path; /* id: of the kernel or a module, if file is 0; else 0 */
};

#define PF_STACK_CACHE 1024

/* Ids are positions in these tables + 1.  Zero but for out and src. */
struct pf_intern {
	struct pf_out *out;
	const struct export_source *src;
	struct string_table strings[NR_PF_STRINGS];
	struct string_table mappings, frames; /* by content: struct pf_mapping, pf_frame */
	struct string_table pairs; /* of a kernel and a user stack */
	struct pf_stack *stacks; /* of the pairs */
	uint32_t nr_stacks, max_stacks;
	uint64_t *ids; /* of the frames of a stack */
	uint32_t max_ids;
	struct pf_stack cache[PF_STACK_CACHE];
	uint64_t charged;
};

/* The id of a text that is written as it is shown: escaped.  -ENOMEM. */
int pf_intern__text(struct pf_intern *in, enum pf_string kind, const char *s, uint64_t *ret_id);
/* The id of the call stack of these two stacks; 0: there is no frame.  -ENOMEM, -ENOBUFS. */
int pf_intern__stack(struct pf_intern *in, uint32_t kstack, uint32_t ustack, uint64_t *ret_id);
void pf_intern__free(struct pf_intern *in);

/* ---- tasks (perfetto_task.c) ----------------------------------------------------------------- */

struct pf_thread {
	uint32_t tid, pid; /* the idle tasks: 0 and the CPU */
	const char *comm; /* as written last */
	uint64_t track;
};

#define PF_THREAD_CACHE 1024

struct pf_tasks {
	struct pf_out *out;
	struct stk_reader *reader;
	struct string_table keys; /* of the threads: tid and pid */
	struct pf_thread *v;
	uint32_t nr, max;
	uint64_t charged;
	uint64_t tracks; /* ids given so far */
	uint64_t idle_track; /* the parent of those of the idle tasks */
	uint32_t cache[PF_THREAD_CACHE]; /* position + 1 */
	struct strbuf text;
};

/* The threads of the machine when the recording began, once its tables have been read. */
void pf_tasks__list(struct pf_tasks *t);
/* The track of the event's thread.  -ENOMEM, -ENOBUFS. */
int pf_tasks__track(struct pf_tasks *t, const struct stk_event *e, uint64_t *ret_track);
/* The same without a name of the thread. */
int pf_tasks__thread_track(struct pf_tasks *t, uint32_t tid, uint32_t pid, uint32_t cpu,
			   uint64_t *ret_track);
/* A new track of that name, which is escaped, and returns its id; parent 0: none. */
uint64_t pf_tasks__named_track(struct pf_tasks *t, const char *name, uint64_t parent);
void pf_tasks__free(struct pf_tasks *t);

/* ---- events (perfetto_event.c, perfetto_sched.c) --------------------------------------------- */

struct ev_field;
struct ev_format;
struct pf_field;

enum pf_sched { PF_NO_SCHED, PF_SWITCH, PF_WAKING, PF_NEWTASK, PF_RENAME, PF_FREE };
#define PF_SCHED_FIELDS 7

struct pf_type {
	bool is_known;
	uint64_t category, name;
	struct ev_format *format; /* NULL: it cannot be parsed */
	struct pf_field *fields;
	unsigned int nr_fields;
	enum pf_sched sched;
	const struct ev_field *sched_fields[PF_SCHED_FIELDS]; /* in the order of its message */
};

#define PF_MAX_CPUS 1024 /* to Perfetto, a bundle of ftrace of any further CPU is an error */

struct pf_cpu {
	uint64_t samples; /* so far */
	uint64_t switched; /* time of the last switch */
	int32_t next_pid;
	bool has_switch;
	uint64_t lost; /* events, so far */
	bool has_loss; /* and no bundle has said so */
};

struct pf_events {
	struct pf_out *out;
	struct pf_intern *intern;
	struct pf_tasks *tasks;
	struct stk_reader *reader;
	struct pf_type *types; /* by index */
	unsigned int nr_types;
	Pf__DebugAnnotation *notes; /* of the current event */
	Pf__DebugAnnotation **note_list;
	unsigned int max_notes;
	struct strbuf text; /* of notes and names */
	struct strbuf raw; /* a field before it is escaped */
	struct pf_cpu cpus[PF_MAX_CPUS + 1]; /* the last one is of all CPUs beyond */
	uint64_t unseen; /* switches that must have happened and are not in the recording */
};

static inline struct pf_cpu *pf_events__cpu(struct pf_events *ev, uint32_t cpu)
{
	return &ev->cpus[cpu < PF_MAX_CPUS ? cpu : PF_MAX_CPUS];
}

int pf_events__add(struct pf_events *ev, const struct stk_event *e);
void pf_events__note_loss(struct pf_events *ev, const struct stk_loss *loss);
/* What was lost on each CPU, as Perfetto counts it. */
void pf_events__put_losses(struct pf_events *ev);
void pf_events__free(struct pf_events *ev);

/* Whether and how events of the type are scheduling: sets the members sched... */
void pf_sched__find(struct pf_type *t, const struct stk_event_type *type);
/* False: Perfetto would misread this one, which was not written. */
bool pf_sched__add(struct pf_events *ev, const struct pf_type *t, const struct stk_event *e);

/* ---- slices (perfetto_slice.c) --------------------------------------------------------------- */

#define PF_MAX_LANES 4096 /* of one place: slices that overlap more others are left out */

/* A track and where its last slice ends. */
struct pf_lane {
	uint64_t track, end;
};

/* Where slices of a kind are drawn: below a thread, a CPU or alone. */
struct pf_place_key {
	uint32_t kind, owner;
	uint64_t parent;
};

struct pf_place {
	uint64_t parent;
	struct pf_lane *lanes; /* by end */
	uint32_t nr, max;
};

struct pf_slices {
	struct pf_out *out;
	struct pf_intern *intern;
	struct pf_tasks *tasks;
	struct stk_reader *reader;
	struct string_table place_keys; /* by content: struct pf_place_key */
	struct pf_place *places;
	uint32_t nr_places, max_places;
	uint64_t *kind_tracks; /* by kind: the parent of its places; 0: none yet */
	uint32_t nr_kinds;
	uint64_t left_out;
	struct strbuf text;
};

int pf_slices__add_pair(struct pf_slices *sl, const struct export_pair *pair);
/* last_ts: the time of the last event, where the loss has no end. */
int pf_slices__add_loss(struct pf_slices *sl, const struct stk_loss *loss, uint64_t last_ts);
void pf_slices__free(struct pf_slices *sl);

#endif /* EXPORT_PERFETTO_PRIV_H */
