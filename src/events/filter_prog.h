/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A compiled event filter and its input; the same structs in BPF and on the host.
 * filter__compile() (src/events/filter.h) fills the program, filter_eval.h runs it.
 *
 * The program is an array of predicates.  Each gives the next predicate for true and for false;
 * both are later in the array, so a run evaluates each predicate at most once.
 */
#ifndef FILTER_PROG_H
#define FILTER_PROG_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define FILTER_MAX_PREDS 128 /* comparisons in one expression */
#define FILTER_POOL_SIZE 4096 /* bytes of patterns, character classes and CPU masks */
#define FILTER_MAX_CPUS 8192 /* CPU numbers in CPUS{} and cpumask fields are below this */
#define FILTER_MAX_PATTERN 255 /* bytes of one string pattern, as in the kernel */

#define FILTER_REC_MAX 8192 /* bytes of a record that a filter can see */
#define FILTER_SLACK 264 /* readable behind pool and str: a pattern's words */
#define FILTER_COMM_LEN 16
#define FILTER_STR_MAX 1024 /* what the kernel reads through a char * field */

/* Values of on_true and on_false besides predicate numbers. */
#define FILTER_ACCEPT 0xfffe
#define FILTER_REJECT 0xffff

enum filter_kind {
	FILTER_KIND_FALSE = 0, /* accepted by the kernel, but never true */
	FILTER_KIND_RANGE, /* ((value - lo) & mask) <= span: wraps, so signed ranges work, too */
	FILTER_KIND_BITS, /* (value & lo) != 0 */
	FILTER_KIND_CPU_BIT, /* value is a CPU number whose bit is set in the pool's mask */
	FILTER_KIND_STRING,
	FILTER_KIND_CPUMASK_EQ, /* dynamic cpumask field equal to the pool's mask */
	FILTER_KIND_CPUMASK_AND, /* dynamic cpumask field that shares a CPU with it */
};

enum filter_string_source {
	FILTER_STR_FIXED = 0, /* offset, field_len */
	FILTER_STR_DATA_LOC, /* u32 at offset: len << 16 | offset in the record */
	FILTER_STR_REL_LOC, /* u32 at offset: len << 16 | offset from the word's end */
	FILTER_STR_KERNEL_PTR, /* pointer at offset */
	FILTER_STR_USER_PTR,
};

enum filter_match {
	FILTER_MATCH_FULL = 0,
	FILTER_MATCH_FRONT,
	FILTER_MATCH_MIDDLE,
	FILTER_MATCH_END,
	FILTER_MATCH_GLOB, /* the pattern is u16 tokens, see below */
};

/* Tokens of a glob, FILTER_GLOB_END last; a class is 32 bytes of the pool, a bit per character. */
#define FILTER_GLOB_LITERAL 0x0000 /* | character */
#define FILTER_GLOB_END 0x0000 /* literal NUL */
#define FILTER_GLOB_ANY 0x0100
#define FILTER_GLOB_STAR 0x0200
#define FILTER_GLOB_CLASS 0x8000 /* | offset of the class in the pool, below 0x8000 */
#define FILTER_CLASS_BYTES 32

struct filter_pred_num {
	__u64 lo, span, mask;
};

struct filter_pred_str {
	__u8 source; /* enum filter_string_source */
	__u8 match; /* enum filter_match */
	__u8 negate; /* pointers only: an unreadable string is false, negated or not */
	__u8 pad0;
	__u16 field_len; /* of FILTER_STR_FIXED */
	__u16 pat_len; /* bytes, 0 .. FILTER_MAX_PATTERN; globs: unused */
	__u32 pat_off; /* in the pool */
	__u32 pad1[3];
};

struct filter_pred_mask {
	__u32 off; /* of the mask in the pool, 8-byte words */
	__u32 nr_cpus; /* bits that are compared */
	__u32 value_mask; /* FILTER_KIND_CPU_BIT: bits of the value that are used */
	__u32 pad[3];
};

struct filter_pred {
	__u8 kind; /* enum filter_kind */
	__u8 pad;
	__u16 offset; /* of the field, from the start of struct filter_input */
	__u16 on_true, on_false; /* predicate number, FILTER_ACCEPT or FILTER_REJECT */
	union {
		struct filter_pred_num num;
		struct filter_pred_str str;
		struct filter_pred_mask cpus;
	};
};

struct filter_prog {
	__u32 nr_preds; /* 0: every event is selected */
	__u32 min_len; /* end of the last fixed field used: shorter records are rejected */
	__u32 pool_len;
	__u32 pad;
	struct filter_pred preds[FILTER_MAX_PREDS];
	__u8 pool[FILTER_POOL_SIZE + FILTER_SLACK];
};

/* Scratch of the evaluator. */
struct filter_work {
	__u32 off, len, avail; /* of the string: len as the kernel has it, avail bytes exist */
	__u32 pad;
	__u32 pos, end; /* next and last position to compare */
	__u32 pat; /* the pattern, in the pool */
	__u32 pat_len;
	__u32 back_pos, back_pat;
	__u32 stop_at_nul;
	__u32 result;
	__u64 first;
};

/*
 * One event to filter.  The caller fills len, cpu, comm and rec.  rec is the record as the event's
 * `format` describes it, including the common fields (type 0..1, flags 2, preempt count 3, pid
 * 4..7). len is at most FILTER_REC_MAX; bytes of rec from len on need not be cleared.
 */
struct filter_input {
	__u32 len;
	__u32 cpu;
	char comm[FILTER_COMM_LEN];
	__u8 rec[FILTER_REC_MAX];
	__u8 str[FILTER_STR_MAX]; /* scratch of the evaluator */
	struct filter_work work;
	__u8 slack[FILTER_SLACK - sizeof(struct filter_work)];
};

#define FILTER_INPUT_CPU 4
#define FILTER_INPUT_COMM 8
#define FILTER_INPUT_REC 24
#define FILTER_INPUT_STR (FILTER_INPUT_REC + FILTER_REC_MAX)
#define FILTER_INPUT_END (FILTER_INPUT_STR + FILTER_STR_MAX)

/*
 * The host has no use for str, which holds strings behind pointers.  Filters that run there find
 * the results of tests in its first words (struct filter_names), a bit for each.
 */
#define FILTER_INPUT_TESTS FILTER_INPUT_STR
#define FILTER_MAX_TESTS FILTER_MAX_PREDS

_Static_assert(sizeof(struct filter_pred_num) == 24, "wire format");
_Static_assert(sizeof(struct filter_pred_str) == 24, "wire format");
_Static_assert(sizeof(struct filter_pred_mask) == 24, "wire format");
_Static_assert(sizeof(struct filter_pred) == 32, "wire format");
_Static_assert(__builtin_offsetof(struct filter_pred, num) == 8, "wire format");
_Static_assert(__builtin_offsetof(struct filter_prog, preds) == 16, "wire format");
_Static_assert(sizeof(struct filter_prog) ==
		       16 + 32 * FILTER_MAX_PREDS + FILTER_POOL_SIZE + FILTER_SLACK,
	       "wire format");
_Static_assert(__builtin_offsetof(struct filter_input, cpu) == FILTER_INPUT_CPU, "wire format");
_Static_assert(__builtin_offsetof(struct filter_input, comm) == FILTER_INPUT_COMM, "wire format");
_Static_assert(__builtin_offsetof(struct filter_input, rec) == FILTER_INPUT_REC, "wire format");
_Static_assert(__builtin_offsetof(struct filter_input, str) == FILTER_INPUT_STR, "wire format");
_Static_assert(sizeof(struct filter_work) == 56, "wire format");
_Static_assert(sizeof(struct filter_input) == FILTER_INPUT_END + FILTER_SLACK, "wire format");

#endif /* FILTER_PROG_H */
