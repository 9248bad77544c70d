/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks: the state of a walk, and what a thread remembers from one walk to the next.
 */
#ifndef USER_TYPES_BPF_H
#define USER_TYPES_BPF_H

#include "compat.bpf.h"

#include "stackmap/stackmap.bpf.h"
#include "unwind/table.h"
#include "unwind/walk.h"

#define USER_WINDOW 1024 /* words of stack read at once */
#define USER_VMAS 16 /* mappings a thread remembers */
#define USER_FRAMES 128 /* a power of two */
#define USER_LEVELS 3 /* of the tree of mappings: some 1,000 of them */
#define USER_AT_ONCE 8 /* frames of one call; the verifier follows each of them */
#define USER_FILE_EVENTS 8 /* that one event may send at most */
#define USER_WAYS 4 /* slots in which a thread may be remembered */
#define USER_KNOWN 4 /* stacks of a thread that are known without a walk; a power of two */
#define USER_KNOWN_WORDS 128 /* a power of two */
#define USER_KNOWN_AT_ONCE 8 /* words */
#define USER_RULES 1024 /* rules remembered; a power of two */
#define USER_RETURNS 64 /* pending calls with a probed return: the limit of the kernel */

_Static_assert(WIRE_VMAS == 2 * USER_VMAS, "a copy has room for as many mappings again");
_Static_assert(WIRE_USER_FRAMES < USER_FRAMES && WIRE_USER_FRAMES < STACKMAP_WORDS,
	       "a stack has room for all frames and the marker of its end");

/* Where in the kernel's tree of mappings one was found, see area_linked(). */
struct user_link {
	u64 at[USER_LEVELS]; /* addresses of the slots from the root on; the last ones may be 0 */
	u64 vma; /* what the last slot has; 0: nothing is remembered */
};

/* A mapping as read from the kernel. */
struct user_area {
	u64 start, end, pgoff, flags, file;
	struct wire_file_key key;
};

/* A mapping as a thread remembers it. */
struct user_vma {
	u64 start, end, delta;
	u64 file; /* address of its struct file; 0: no file */
	struct wire_file_key key;
	u32 id; /* of the file; 0: unknown */
	u32 seq; /* of the mm when last checked */
	u32 generation; /* of the tables when last checked */
	u32 epoch; /* the second when last checked */
	u32 state; /* enum wire_file_state */
	u32 table, first_page, nr_pages, rules;
	u32 pad;
	struct user_link link;
};

/* A frame as a thread remembers it, with the words that its step read. */
struct user_frame {
	u64 ip, sp; /* ip: flags in the top bits */
	u64 word; /* as in frame.h */
	u64 fp, fp_at;
	u64 fp_read; /* address of the word that is the next frame's fp; 0: not read */
	u64 x_at, x;
};

#define USER_IP_EXACT (1ULL << 63)
#define USER_IP_GUESSED (1ULL << 62)
#define USER_IP_FP_LOST (1ULL << 61)
#define USER_IP_BITS 61 /* the flags are above */
#define USER_IP(ip) ((ip) & ~(USER_IP_EXACT | USER_IP_GUESSED | USER_IP_FP_LOST))

/* A rule that was found. */
struct user_rule {
	u64 place; /* file and offset behind the address to look up: the word of a calling frame */
	u32 generation; /* of the tables */
	u32 rule;
};

/*
 * A stack that a thread has had before, as what a walk that starts with the same registers has to
 * find in memory to end with the same stack: see user_known.bpf.h.
 */
struct user_known {
	u64 ip, sp, fp;
	u64 fp_mask; /* 0: the frame pointer is not needed; else ~0 */
	u64 kept; /* the stack in the stack map: generation << 32 | id */
	u32 kept_end; /* enum stk_stack_end */
	u32 interrupted; /* the first frame is exact */
	u32 seq, generation, epoch; /* for which all of `vmas` were valid */
	u32 vmas; /* bit mask of the mappings that the frames need */
	u32 nr; /* words, a multiple of USER_KNOWN_AT_ONCE; 0: nothing is known */
	u32 bytes; /* of stack memory that they lie in, from sp on */
	u64 word[USER_KNOWN_WORDS];
	u16 at[USER_KNOWN_WORDS]; /* where the word must be, in bytes from the start of sp's page */
};

/*
 * What is remembered of a thread: its mappings, its last stack, and others that it had again.  A
 * user must hold `busy`, because a program may nest in another one on the same thread.
 */
struct user_thread {
	u32 busy;
	u32 exec_id;
	u64 mm, started; /* identify the thread together with the thread id and exec_id */
	u64 key[USER_KNOWN]; /* of the known stacks, made of ip and sp */
	u64 met[USER_KNOWN]; /* stacks that were walked, as in `kept`, by a hash */
	u32 next; /* the known stack to be replaced, modulo USER_KNOWN */
	u32 pad;
	/* the last stack that was walked */
	u64 kept; /* the stack in the stack map: generation << 32 | id; 0: unknown */
	u32 kept_end; /* enum stk_stack_end */
	u32 nr_frames; /* 0: no stack is remembered */
	u32 seq, generation, epoch; /* for which all of `vmas` were valid */
	u32 interrupted; /* the first frame is exact */
	u32 first; /* first frame at which another walk may join */
	u32 raw; /* frames before this one need the same fp */
	u32 vmas; /* bit mask of the mappings that the frames need */
	u32 guessed; /* UNW_GUESSED at the end of the walk */
	u32 base; /* its first frame in `frame` */
	u32 nr_vmas; /* in use; the next one goes to nr_vmas % USER_VMAS */
	u64 top; /* the highest address that was read */
	u64 stack_lo, stack_hi; /* the mapping of the stack, 0: unknown */
	struct user_link stack_link;
	u32 stack_seq;
	u32 extent; /* bytes of stack that the last walk needed; 0: unlimited */
	struct user_known known[USER_KNOWN];
	struct user_vma vma[USER_VMAS];
	/* A ring: the last stack's frames, and behind them those of the walk under way. */
	struct user_frame frame[2 * USER_FRAMES];
};

/* The state of a walk; part of struct scratch. */
struct user_walk {
	struct unw_walk w;
	u64 window[USER_WINDOW];
	u64 lo, hi; /* addresses in the window */
	u64 stack_hi;
	u64 mm;
	u64 top; /* the highest address read */
	u32 seq; /* of the mm's mappings */
	u32 stable; /* seq changes when they change */
	u32 generation, epoch; /* of user_ctl */
	u32 base, old; /* of the frames in the thread's: of this walk, of the remembered stack */
	u32 nr; /* frames */
	u32 last; /* mapping of the last frame */
	u32 vmas; /* bit mask of the mappings used */
	u32 valid; /* bit mask of mappings that are known to be unchanged */
	u32 stop; /* enum unw_stop */
	u32 join; /* frame of the remembered stack to compare with */
	u32 compare; /* the next one of which to compare what its step has read */
	u32 first, raw; /* as in struct user_thread */
	u32 interrupted;
	u32 has_regs; /* w.regs are those of the exact frame */
	u32 forget; /* this stack cannot be remembered */
	u32 filled; /* the window has been read for this event already */
	u64 page[4]; /* by page from sp on: where the kernel has it, less its offset from sp's */
	u32 known; /* the stack is known if the mappings are unchanged */
	u32 extent; /* bytes of stack to read at first; 0: all */
	u64 returns; /* struct return_instance: calls whose return address is the trampoline */
	u64 trampoline; /* of uprobes */
	u32 end; /* enum stk_stack_end */
	u32 dead; /* area_find_read() met a dead node */
	struct user_area area;
	struct user_link link; /* of the last mapping that was found */
	u64 root; /* of the tree, at the start of the walk */
	u64 entry; /* of area_linked() and area_find_read() */
	u64 guess; /* of area_find_read() */
	u64 vma_copy[64]; /* of a struct vm_area_struct */
	u64 seen_file, seen_start, seen_pgoff; /* of area_find() */
	u64 pivots[16]; /* the start of a node: its parent, then pivots */
	struct stackmap_buf words; /* of the frames, with markers, see frame.h */
	u32 nr_words;
	u32 nr_before; /* words before those of the last frame */
	u32 guess_marked;
	u32 result; /* enum stk_counter */
	struct wire_file_event file_event;
	u32 key_id; /* result of file_intern() */
	u32 key_new;
	u32 key_full; /* there was no room for the key */
	u32 pad;
	u64 dentry, mnt; /* of the next component of a path */
	u32 file_events_left; /* that this event may still send */
	u32 event; /* index of its type; FULL_NO_EVENT: no event */
	struct user_rule
		rules[USER_RULES]; /* by a hash of the place; they stay from walk to walk */
};

#endif /* USER_TYPES_BPF_H */
