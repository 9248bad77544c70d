/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel memory of a recording: one budget, from which the sizes of the rings, of the stack map
 * and of the unwind tables follow.  It also limits what the recorder moves from the rings to its
 * own memory while it is busy otherwise.
 */
#ifndef RECORD_MEMORY_H
#define RECORD_MEMORY_H

#include <stdint.h>

#define MEMORY_SHARE 64 /* the default budget is this part of the machine's memory */
#define MEMORY_RING_MIN (256u << 10) /* of a CPU */
#define MEMORY_RING_MAX (1ull << 30)
#define MEMORY_BITS_MIN 10 /* of the stack map, log2 of stacks */
#define MEMORY_BITS_MAX 22
#define MEMORY_TABLES_MIN (32ull << 20) /* limit of the unwind tables */
#define MEMORY_TABLES_MAX (1ull << 30)
#define MEMORY_MOVED_MAX (256ull << 20)
#define MEMORY_SLOTS_PER_STACK 16 /* bytes of the stack map, */
#define MEMORY_POOL_PER_STACK 160 /* and of its pool */

struct recorder_opts;

struct memory_machine {
	uint64_t bytes; /* of memory */
	unsigned int cpus; /* that get a ring */
	uint64_t fixed; /* bytes that the recording needs whatever the budget is */
	uint64_t slack; /* of a ring, for each WIRE_RING_PART or a smaller ring */
};

struct memory_plan {
	uint64_t budget;
	unsigned int rings;
	uint64_t ring; /* bytes of each, a power of two */
	uint64_t ring_memory; /* of each, with its slack */
	uint32_t stack_map_bits;
	uint64_t stack_map; /* bytes, of these */
	uint64_t stack_pool;
	uint64_t tables; /* at most so many bytes; they are allocated when needed */
	uint64_t fixed;
	uint64_t moved; /* at most so many bytes of all rings, in the recorder's own memory */
};

/* The memory and the online CPUs of this machine; the rest is 0. */
void memory_machine__read(struct memory_machine *ret_machine);

/*
 * What the options give is used as it is.  The rest follows from the budget: of what the fixed part
 * leaves, at most half is for rings, a third for the stack map, and the tables get the remainder.
 * Without --memory, no part is larger than is useful on most machines.  No part is smaller than the
 * minima above: the limit of the tables may exceed the budget, because few programs need it.
 */
void memory_plan__make(const struct recorder_opts *opts, const struct memory_machine *machine,
		       struct memory_plan *ret_plan);
/* Logs each part that is not 0, for -v. */
void memory_plan__log(const struct memory_plan *plan);

#endif /* RECORD_MEMORY_H */
