/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The stack map seen from user space: sizes before load, stacks by id, statistics, reset.
 * docs/stackmap.md shows the whole way; stackmap.bpf.h is the kernel's side.
 *
 * Functions return 0 or a negative errno unless said otherwise; outputs stay untouched on failure.
 * A struct stackmap may be read by several threads at once, but not while it is being reset.
 */
#ifndef STACKMAP_H
#define STACKMAP_H

#include <stdint.h>

struct bpf_object;
struct stackmap;
struct stackmap_line;
struct stackmap_page;
union stackmap_cell;

/* Zero means the default. */
struct stackmap_opts {
	unsigned int bits; /* log2 of the stacks it is sized for, 10..22; default 14 */
	unsigned long long pool_bytes; /* rounded up; default 160 per stack, at least 4 MiB */
	uint64_t seed; /* of the hash; default random */
};

/* One stack.  words points into the map and lives until stackmap__free(); refs goes on counting. */
struct stackmap_stack {
	uint64_t id; /* generation << 32 | offset */
	const uint64_t *words;
	uint32_t n;
	uint32_t refs;
};

struct stackmap_stats {
	uint32_t generation;
	uint32_t users; /* holds that forbid a reset */
	uint64_t capacity; /* stacks it is sized for; there are twice as many slots */
	uint64_t stacks;
	uint64_t pool_words; /* in all */
	uint64_t pool_used; /* taken from the log, spare and wasted words included */
	uint64_t pool_spare; /* kept for later stacks after lost races */
	uint64_t pool_wasted; /* given up */
	uint64_t races;
	uint64_t slow; /* lookups beyond the inlined path */
	uint64_t pool_full; /* lookups that failed, by reason */
	uint64_t probe_limit;
	uint64_t bad_argument;
	uint64_t resetting;
};

/*
 * Sizes the maps of an opened, not yet loaded object that includes stackmap.bpf.h.  -ERANGE: an
 * option is out of its range.  -ENOENT: the object has no stack map.  -EBUSY: already loaded.
 */
int stackmap__configure(struct bpf_object *obj, const struct stackmap_opts *opts);

/* Opens the map of a loaded object, or by its three maps; the descriptors are duplicated. */
int stackmap__open(const struct bpf_object *obj, struct stackmap **ret_map);
int stackmap__open_fds(int slots_fd, int pool_fd, int ctl_fd, struct stackmap **ret_map);
/* A map that lives in the caller's memory (a test, a dump); it must outlive the struct stackmap. */
int stackmap__open_memory(struct stackmap_line *lines, uint32_t nr_lines,
			  struct stackmap_page *pages, uint32_t nr_pages,
			  union stackmap_cell *cells, uint32_t nr_cells, struct stackmap **ret_map);
void stackmap__free(struct stackmap *map);
void stackmap__freep(struct stackmap **map);

/* The current generation, counted from 1. */
uint32_t stackmap__generation(const struct stackmap *map);

/*
 * The stack of an id, with its generation in the upper half or 0 there for the current one.
 * -ESTALE: the id is of another generation.  -ENOENT: no stack has it.  Any value is safe to ask.
 */
int stackmap__lookup(const struct stackmap *map, uint64_t id, struct stackmap_stack *ret_stack);

/*
 * Every stack once, in no order: *cursor starts at 0.  1 with a stack, 0 at the end.  Stacks stored
 * meanwhile may or may not be seen.  -EUCLEAN: the map is damaged.
 */
int stackmap__next(const struct stackmap *map, uint64_t *cursor, struct stackmap_stack *ret_stack);

int stackmap__stats(const struct stackmap *map, struct stackmap_stats *ret_stats);

/*
 * While someone holds the map (from before attaching programs until after detaching them), a reset
 * is refused.  -EBUSY: a reset is under way.
 */
int stackmap__hold(struct stackmap *map);
int stackmap__release(struct stackmap *map);

/*
 * Empties the map and begins the next generation.  -EBUSY while held.  Lookups of programs that run
 * nevertheless fail until it is done and are counted.  -EOPNOTSUPP where the kernel cannot wait for
 * running programs (membarrier(2), nohz_full).
 */
int stackmap__reset(struct stackmap *map);

#endif /* STACKMAP_H */
