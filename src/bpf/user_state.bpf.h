/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks: settings and maps.
 */
#ifndef USER_STATE_BPF_H
#define USER_STATE_BPF_H

#include "state.bpf.h"

/* Set before load. */
const volatile bool user_stacks = false;
const volatile bool waker_stacks = false; /* also of tasks that are not selected */
const volatile bool user_fp_only = false; /* --user-stacks=fp */
const volatile u32 user_max_depth = WIRE_USER_FRAMES;
const volatile u32 user_thread_mask = 0; /* sets of remembered threads - 1 */
const volatile u64 copy_limit = 0; /* bytes in a CPU's ring above which copies are limited */

struct wire_user_ctl user_ctl = {};

/* Where a task's user registers are, from its stack on, as the first walk found; 0: unknown. */
u32 user_regs_at = 0;

ARRAY_MMAPABLE(files, 1, struct wire_file);

/* tag << 32 | index in `files`; 0: empty slot. */
ARRAY(file_slots, 1, u64);

/* The rings of file events, by CPU, and flags, see file_ring.bpf.h. */
struct file_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct file_ring);
} file_rings SEC(".maps");
u32 file_ring_flags[WIRE_MAX_CPUS] = {};

struct slab_chunk {
	u32 word[UNW_CHUNK_WORDS];
};
struct slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_SLAB_CHUNKS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct slab_chunk));
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, WIRE_TABLE_SLABS);
	__type(key, u32);
	__array(values, struct slab);
} slabs SEC(".maps");

/* By way: the id of its thread; 0: none. */
struct user_threads {
	u64 tid[USER_WAYS];
	u64 pad[8]; /* all four threads' events read the ids: in no line with a busy word */
	struct user_thread way[USER_WAYS];
};
ARRAY(threads, 1, struct user_threads);

#define COPY_NOT 32

/* Working memory for one copy. */
struct copy_slot {
	u32 nr_not; /* address ranges without code */
	u32 lookups;
	u64 not_code[COPY_NOT][2]; /* start, length; a new one replaces the oldest */
	struct wire_copy copy;
};

/* As many slots as scratches: an event that interrupts a copy has a stack, too. */
struct cpu_copies {
	u32 busy[1 << LOG2_SCRATCHES];
	u64 tag; /* of the last one */
	struct copy_slot slot[1 << LOG2_SCRATCHES];
};
ARRAY(copies, 1, struct cpu_copies);

#endif /* USER_STATE_BPF_H */
