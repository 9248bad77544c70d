/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of export firefox:
 *
 *   firefox.c           the loop over the events, and the head of the profile
 *   firefox_event.c     event types: names and fields of markers
 *   firefox_interval.c  pairs and losses: markers with two times
 *   firefox_frames.c    strings, files, functions, frames and stacks, each once
 *   firefox_tables.c    how these are written
 *   firefox_threads.c   samples and markers of each thread
 *
 * Source of the format: src/types/profile.ts, src/types/markers.ts and
 * docs-developer/CHANGELOG-formats.md of the Firefox Profiler.  It has a column for each property,
 * so samples and markers go to temporary files until all events have been read.  Memory grows with
 * stacks, threads and event types, and is charged to the budget of the recording.
 */
#ifndef EXPORT_FIREFOX_PRIV_H
#define EXPORT_FIREFOX_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index.h"
#include "json.h"
#include "named_frames.h"
#include "output/output.h"
#include "source.h"
#include "spill.h"
#include "stacks.h"
#include "strbuf.h"
#include "string_table.h"

#define FF_NONE UINT32_MAX

/* ---- the file -------------------------------------------------------------------------------- */

struct ff_out {
	const struct output *output;
	struct strbuf text;
	struct json json;
};

/* Writes what has gathered, if that is much.  Call it after each element of a long list. */
int ff_out__drain(struct ff_out *o);
int ff_out__finish(struct ff_out *o);
/* Milliseconds, as all times of the format. */
void ff_put_ms(struct strbuf *b, uint64_t ns);
/* A string of two parts. */
void ff_put_joined(struct json *j, const char *key, const char *a, const char *b);

/* ---- strings, code, stacks (firefox_frames.c) ------------------------------------------------ */

enum ff_category {
	FF_OTHER,
	FF_KERNEL,
	FF_USER,
	FF_JIT,
	FF_IDLE,
	FF_EVENTS, /* markers */
	FF_PAIRS,
	FF_LOSSES,
};

/* The subcategories of FF_KERNEL; 0 is the kernel itself. */
enum { FF_MODULE = 1, FF_BPF = 2 };

/* A file, or a part of a kernel. */
struct ff_lib {
	uint32_t file, kernel;
	const char *mod;
	uint32_t name; /* string */
};

#define FF_KERNEL_NAME "[kernel.kallsyms]" /* as perf has it, where tools look for symbols */

struct ff_func {
	uint32_t name; /* string */
	uint32_t lib, source; /* FF_NONE */
};

struct ff_frame {
	uint32_t func, line; /* 0: unknown */
	uint64_t address; /* in its lib; FF_NO_ADDRESS */
	uint8_t depth; /* 0: it is not inlined */
	uint8_t category, subcategory;
};

#define FF_NO_ADDRESS UINT64_MAX

struct ff_node {
	uint32_t frame, prefix; /* the caller; FF_NONE */
};

struct ff_stack {
	uint32_t kstack, ustack, node; /* FF_NONE: no frames */
};

#define FF_STACK_CACHE 4096

/* Zero but for src.  Numbers are positions in these arrays. */
struct ff_frames {
	const struct export_source *src;
	struct export_frames *named;
	uint32_t *rows; /* by number in `named`: the first of its frames, + 1 */
	uint32_t nr_rows;
	struct string_table strings, sources;
	uint32_t *source_names; /* strings, by number in `sources` */
	uint32_t nr_source_names;
	struct ff_lib *libs;
	struct ff_func *funcs;
	struct ff_frame *frames;
	struct ff_node *nodes;
	struct ff_stack *stacks;
	uint32_t nr_libs, max_libs, nr_funcs, max_funcs, nr_frames, max_frames;
	uint32_t nr_nodes, max_nodes, nr_stacks, max_stacks;
	struct index lib_index, func_index, node_index, stack_index;
	struct ff_stack cache[FF_STACK_CACHE];
	struct strbuf text;
	uint64_t seed, charged, text_base; /* of the kernel, once asked for */
};

int ff_frames__start(struct ff_frames *f);
int ff_frames__string(struct ff_frames *f, const char *s, size_t len, uint32_t *ret_number);
/* The node of a stack as events have it; FF_NONE: it has no frame.  -ENOMEM, -ENOBUFS. */
int ff_frames__stack(struct ff_frames *f, uint32_t kstack, uint32_t ustack, uint32_t *ret_node);
/* The members "libs" and "shared" (firefox_tables.c). */
int ff_frames__put(struct ff_frames *f, struct ff_out *o);
void ff_frames__free(struct ff_frames *f);

/* ---- event types (firefox_event.c) ----------------------------------------------------------- */

struct ev_format;

struct ff_type {
	bool is_known;
	uint32_t name; /* string */
	const char *schema; /* what markers of this type have as their type */
	struct strbuf head; /* the data up to there, after a comma */
	struct ev_format *format; /* NULL: no fields */
	const char **renamed; /* names of fields that markers need for themselves */
	unsigned int nr_renamed;
};

struct ff_types {
	struct ff_frames *frames;
	struct ff_type *v; /* by index */
	unsigned int nr;
	struct string_table schemas;
	bool by_thread, by_cpu; /* which values all markers of a thread share */
};

/* The data of the marker, after a comma, and its name. */
int ff_types__put_data(struct ff_types *t, const struct stk_event *e, uint32_t stack,
		       struct strbuf *data, uint32_t *ret_name);
/* In the open array. */
int ff_types__put_schemas(struct ff_types *t, struct ff_out *o);
void ff_types__free(struct ff_types *t);

/* ---- threads (firefox_threads.c) ------------------------------------------------------------- */

struct ff_sample {
	uint64_t ts, weight;
	uint32_t stack, unused;
};

struct ff_marker {
	uint64_t ts, end; /* FF_INSTANT */
	uint32_t name;
	uint32_t category;
};

#define FF_INSTANT UINT64_MAX

struct ff_thread {
	bool is_used;
	const char *name; /* of an extra one; borrowed */
	uint32_t samples, markers, data; /* streams */
	uint64_t nr_samples, nr_markers, last_ts;
};

struct ff_threads {
	const struct export_source *src;
	struct spill spill;
	struct ff_thread *v; /* by group */
	struct ff_thread *extra; /* of what belongs to no group, by kind */
	unsigned int nr, nr_extra;
	uint64_t charged;
	uint64_t first_ts, last_ts; /* first_ts: UINT64_MAX until there is any */
	uint64_t nr_samples, nr_markers;
};

#define FF_EXTRA (1u << 31) /* in the number of a thread: it is an extra one */

/* The number of the extra thread of that kind. */
int ff_threads__extra(struct ff_threads *t, unsigned int kind, const char *name,
		      uint32_t *ret_thread);
/* number: a group, or an extra thread. */
int ff_threads__add_sample(struct ff_threads *t, uint32_t number, uint64_t ts, uint64_t weight,
			   uint32_t stack);
/* data: a comma, and the object. */
int ff_threads__add_marker(struct ff_threads *t, uint32_t number, const struct ff_marker *m,
			   const struct strbuf *data);
/* The member "threads". */
int ff_threads__put(struct ff_threads *t, const struct export_stacks *stacks, struct ff_out *o);
void ff_threads__free(struct ff_threads *t);

/* ---- pairs and losses (firefox_interval.c) --------------------------------------------------- */

/* A thread or a CPU, and the group of its last event. */
struct ff_owner {
	bool is_used;
	uint32_t tid, pid, cpu, group;
};

#define FF_OWNER_CACHE 1024

struct ff_intervals {
	const struct export_source *src;
	struct ff_frames *frames;
	struct ff_threads *threads;
	struct ff_owner *owners;
	const char **kinds; /* names of the kinds of pairs; NULL: no pair */
	uint32_t nr_owners, max_owners, nr_kinds;
	struct index index;
	struct ff_owner cache[FF_OWNER_CACHE];
	uint64_t seed;
	struct strbuf data;
	uint64_t nr_pairs, nr_losses, nr_lost; /* lost: events, where their number is known */
};

/* Remembers where pairs of the event's thread or CPU belong. */
int ff_intervals__note(struct ff_intervals *iv, const struct stk_event *e, uint32_t group);
int ff_intervals__add_pair(struct ff_intervals *iv, const struct export_pair *pair);
/* All losses that began by `until` and are not there yet. */
int ff_intervals__add_losses(struct ff_intervals *iv, uint64_t until);
void ff_intervals__put_schemas(const struct ff_intervals *iv, struct json *j);
void ff_intervals__free(struct ff_intervals *iv);

#endif /* EXPORT_FIREFOX_PRIV_H */
