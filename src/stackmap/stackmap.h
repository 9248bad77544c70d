/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The user-space side of the stack map: sizes before load, stacks by id, statistics, reset.
 * docs/stackmap.md describes its use; stackmap.bpf.h is the kernel side.
 *
 * Functions return 0 or a negative errno unless stated otherwise; outputs stay untouched on
 * failure.  Several threads may read a struct stackmap at once, but not while it is being reset.
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
	unsigned int bits; /* log2 of the capacity in stacks, 10..22; default 14 */
	unsigned long long pool_bytes; /* rounded up; default 160 per stack, at least 4 MiB */
	uint64_t seed; /* of the hash; default random */
};

/* One stack.  words points into the map, valid until stackmap__free(); refs may change. */
struct stackmap_stack {
	uint64_t id; /* generation << 32 | offset */
	const uint64_t *words;
	uint32_t n;
	uint32_t refs;
};

struct stackmap_stats {
	uint32_t generation;
	uint32_t users; /* holds, which prevent a reset */
	uint64_t capacity; /* in stacks; there are twice as many slots */
	uint64_t stacks;
	uint64_t pool_words; /* in all */
	uint64_t pool_used; /* taken from the log, including spare and wasted words */
	uint64_t pool_spare; /* kept for later stacks after lost races */
	uint64_t pool_wasted; /* given up */
	uint64_t races;
	uint64_t slow; /* lookups beyond the inlined path */
	uint64_t pool_full; /* lookups that failed, by reason: */
	uint64_t probe_limit;
	uint64_t bad_argument;
	uint64_t resetting;
};

/*
 * Sets the sizes of the maps of an opened, not yet loaded object that includes stackmap.bpf.h.
 * -ERANGE: an option is out of range.  -ENOENT: the object has no stack map.  -EBUSY: already
 * loaded.
 */
int stackmap__configure(struct bpf_object *obj, const struct stackmap_opts *opts);

/* Opens the map of a loaded object, or by its three maps; the descriptors are duplicated. */
int stackmap__open(const struct bpf_object *obj, struct stackmap **ret_map);
int stackmap__open_fds(int slots_fd, int pool_fd, int ctl_fd, struct stackmap **ret_map);
/* Opens a map in the caller's memory (a test, a dump), which must outlive the struct stackmap. */
int stackmap__open_memory(struct stackmap_line *lines, uint32_t nr_lines,
			  struct stackmap_page *pages, uint32_t nr_pages,
			  union stackmap_cell *cells, uint32_t nr_cells, struct stackmap **ret_map);
void stackmap__free(struct stackmap *map);
void stackmap__freep(struct stackmap **map);

/* The current generation, counted from 1. */
uint32_t stackmap__generation(const struct stackmap *map);

/*
 * Looks up the stack of an id whose upper half is its generation, or 0 for the current one.
 * -ESTALE: the id belongs to another generation.  -ENOENT: there is no such stack.  Any value is
 * safe.
 */
int stackmap__lookup(const struct stackmap *map, uint64_t id, struct stackmap_stack *ret_stack);

/*
 * Iterates over all stacks, each once, in no particular order: *cursor starts at 0.  Returns 1 with
 * a stack, 0 at the end.  It may or may not return stacks that are stored meanwhile.  -EUCLEAN: the
 * map is damaged.
 */
int stackmap__next(const struct stackmap *map, uint64_t *cursor, struct stackmap_stack *ret_stack);

int stackmap__stats(const struct stackmap *map, struct stackmap_stats *ret_stats);

/*
 * Holding the map, from before attaching programs until after detaching them, prevents a reset.
 * -EBUSY: a reset is in progress.
 */
int stackmap__hold(struct stackmap *map);
int stackmap__release(struct stackmap *map);

/*
 * Empties the map and begins the next generation.  -EBUSY while held.  Lookups of programs that run
 * nevertheless fail until the reset is done, and are counted.  Another negative errno where the
 * kernel refuses every way to wait for running programs (a map in a map, membarrier(2)).
 */
int stackmap__reset(struct stackmap *map);

#endif /* STACKMAP_H */
