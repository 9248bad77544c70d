/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Several recordings read as one: the whole.  Each of its members is a reader of one recording with
 * numbers of its own.  The whole has tables but no input; what it has of a member's tables is found
 * by content, once per entry, so that an event costs the same in both.
 *
 *   many.c        the members, their events in time order
 *   many_gaps.c   losses, and what no member recorded
 *   many_map.c    types, frames and stacks: from a member's numbers to those of the whole
 *   many_files.c  the same for files
 *   many_meta.c   metadata, counters, totals
 */
#ifndef TRACE_MANY_H
#define TRACE_MANY_H

#include "reader.h"

struct rd_member {
	struct stk_reader *r, *whole;
	char *path;
	uint32_t nr; /* index in members */
	uint32_t boot, kernel; /* index in boots, kernels */
	bool is_placed; /* r->shift is known */
	bool has_begun, has_ended, is_waiting; /* waiting: its file may still grow */
	struct rd_member *continues; /* NULL: none of them */
	bool has_event; /* r->event is its next event */
	uint64_t begin, end; /* of its events so far; then up to its last round, too */

	struct stk_loss loss; /* the next one */
	bool has_loss;

	/* Numbers in the whole by the member's; 0: not mapped yet. */
	uint32_t *stacks, *nodes, *files;
	size_t cap_stacks, cap_nodes, cap_files;
	uint32_t nr_stacks; /* those before are mapped; 0 as 1 */
	uint32_t nr_types, nr_files;
	uint32_t *own_type; /* the member's type by that of the whole, + 1; 0: none */
	size_t nr_own_type;
};

/* A kernel from its boot on.  Frames in the same kernel are the same if their addresses are. */
struct rd_kernel {
	const char *build; /* "": unknown */
	uint64_t text;
	uint32_t boot;
	uint32_t first; /* index of the first kernel of this build */
	bool has_peers; /* other kernels are of this build */
};

struct rd_place {
	uint32_t kernel;
	uint64_t addr;
};

/* Where a number of the whole comes from: a member and its number. */
struct rd_origin {
	uint32_t member, number;
};

/* A file of the whole; its row in files is the copy that users see. */
struct rd_many_file {
	struct rd_origin *origins; /* at most one per member */
	uint32_t nr_origins;
	uint32_t next; /* another file with this id; 0: none */
	uint32_t shown; /* origins in the names of the row */
};

struct rd_many {
	struct rd_member *members;
	uint32_t nr;
	struct rd_member **heap; /* with an event, by its time, then cpu, then nr */
	uint32_t nr_heap;
	struct rd_member *last; /* its event was returned last */
	bool is_primed;
	bool by_wall_clock; /* the times of the whole are ns since 1970 */
	int error; /* the first one of a member; returned when all have ended */
	uint64_t late_unselected; /* late events that were not returned */

	uint32_t nr_boots;
	struct rd_kernel *kernels;
	uint32_t nr_kernels;
	struct dict types; /* number: index of the type */
	struct dict file_ids, file_places;
	uint32_t *file_of_id, *file_of_place; /* by number in the dict */
	size_t cap_file_of_id, cap_file_of_place;
	struct rd_many_file *files;
	size_t cap_files;

	struct rd_origin *nodes; /* by node of the whole */
	size_t cap_nodes;
	struct tree aliases; /* (kernel, address): its frame, where the address is not */
	struct dict functions; /* of kernels with peers */
	struct tree places; /* (function, kernel): which address, see place_of */
	struct rd_place *place_of;
	size_t cap_place_of;
	struct tree addresses; /* (kernel, address) in fields */
	uint64_t *address_place; /* by node of addresses; 0: unknown */
	size_t cap_address_place;

	size_t nr_meta; /* keys that have a value */
	struct tree imports; /* (node and boot, id) of stacks with ids of their own */
	uint32_t *import_of; /* the stack, by node of imports */
	size_t cap_import_of;

	struct rd_changes refreshed; /* sums when these were computed */
};

/* ---- many_map.c ---- */
/* Sets boot and kernel of a member whose metadata have been read. */
int rd_many__identify(struct rd_member *m);
/* Maps what the member has read since. */
int rd_many__catch_up(struct rd_member *m);
uint32_t rd_many__stack(struct rd_member *m, uint32_t number);
/* Fill in a frame of the whole. */
const struct rd_symbol *rd_many__resolve(struct stk_reader *whole, uint32_t node,
					 struct stk_frame *f);
void rd_many__resolve_user(struct stk_reader *whole, uint64_t frame, struct stk_frame *f);
/* What a kernel address in a member's field is in the whole, and its symbol. */
int rd_many__place(struct rd_member *m, uint64_t addr, uint64_t *ret_place);
void rd_many__place_symbol(struct stk_reader *whole, uint64_t place, struct stk_frame *ret_frame);
/* The member's type for one of the whole; NULL: it has none. */
const struct stk_event_type *rd_many__own_type(const struct rd_member *m,
					       const struct stk_event_type *t);

/* ---- many_files.c ---- */
/* The number in the whole of a member's file, which may be unknown; negative errno. */
int64_t rd_many__file(struct rd_member *m, uint32_t number);
/* Brings what users see of the files up to date. */
void rd_many__refresh_files(const struct stk_reader *r);
void rd_many__set_symbolizer(struct stk_reader *whole);
void rd_many__free_files(struct stk_reader *whole);

/* ---- many_meta.c ---- */
/* Bring metadata and counters of the whole up to date with those of the members. */
void rd_many__refresh_meta(const struct stk_reader *r);
void rd_many__refresh_counters(const struct stk_reader *r);
/* The sums of all members. */
struct rd_changes rd_many__changes(const struct rd_many *many);
void rd_many__totals(const struct stk_reader *whole, struct stk_totals *ret_totals);

/* ---- many_gaps.c ---- */
bool rd_many__may_miss(struct stk_reader *whole, const struct stk_span *s);
int rd_many__next_loss(struct stk_reader *whole, uint64_t until, struct stk_loss *ret_loss);

/* ---- many.c ---- */
int rd_many__next(struct stk_reader *whole, const struct stk_event **ret_event);
void rd_many__free(struct stk_reader *whole);
/* What the members have read and charged so far counts for the whole. */
void rd_many__update_budget(struct stk_reader *whole);
/* The member's time in the whole. */
static inline uint64_t rd_many__time(const struct rd_member *m, uint64_t ts)
{
	uint64_t sum = ts + m->r->shift;

	/* a negative shift is a large one: times never wrap, so their order stays */
	if ((int64_t)m->r->shift >= 0)
		return sum < ts ? UINT64_MAX : sum;
	return sum > ts ? 0 : sum;
}

#endif /* TRACE_MANY_H */
