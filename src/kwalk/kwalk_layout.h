/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the BPF side of the kernel walk and its loader share: the compact table of the kernel's ORC
 * unwind rules, the settings and the counters.  Kernels that use frame pointers need no table.
 *
 * The kernel's text is divided into blocks of 256 bytes.  For each block, kwalk_index says where
 * its rows lie in kwalk_rows.  A row applies from its offset in the block up to the next row's
 * offset; the first row of a block has offset 0.
 *
 * ORC (Documentation/arch/x86/orc-unwinder.rst) gives for every instruction the register that the
 * frame's canonical frame address (CFA: the stack pointer before the call) is relative to, the
 * distance, and where the caller's rbp was saved.
 */
#ifndef KWALK_LAYOUT_H
#define KWALK_LAYOUT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/*
 * A rule:
 *   15..0   signed: what is added to the register, in bytes
 *   23..16  signed: where the caller's rbp was saved, in words from the CFA; 0: not saved
 *   27..24  enum kwalk_kind
 *   28      the place of rbp is relative to rbp (KWALK_CALL_BP_IND only: realigned stacks)
 *   29      the next address is the interrupted instruction, not the one after a call
 */
enum kwalk_kind {
	KWALK_UNKNOWN, /* another register, or no information */
	KWALK_CALL_SP, /* CFA = rsp + offset; the return address is below the CFA */
	KWALK_CALL_BP, /* CFA = rbp + offset */
	KWALK_CALL_SP_IND, /* CFA = *rsp + offset: the previous stack, from an interrupt's stack */
	KWALK_CALL_BP_IND, /* CFA = *(rbp + offset) */
	KWALK_REGS_SP, /* struct pt_regs at rsp + offset */
	KWALK_REGS_BP, /* at rbp + offset */
	KWALK_REGS_SP_IND, /* at *rsp + offset */
	KWALK_REGS_BP_IND, /* at *(rbp + offset) */
	KWALK_IRET_SP, /* the five words that the processor pushed, at rsp + offset */
	KWALK_END, /* the outermost frame */
};

#define KWALK_RULE(kind, offset, slot) \
	((__u32)(kind) << 24 | ((__u32)(slot)&0xff) << 16 | ((__u32)(offset)&0xffff))
#define KWALK_RULE_KIND(rule) ((rule) >> 24 & 15)
#define KWALK_RULE_OFFSET(rule) ((__s64)(__s16)(rule))
#define KWALK_RULE_BP_AT(rule) ((__s64)(__s8)((rule) >> 16) * 8)
#define KWALK_RULE_SLOT(rule) ((rule)&0xff0000)
#define KWALK_RULE_BP_REL (1u << 28)
#define KWALK_RULE_SIGNAL (1u << 29)
#define KWALK_RULE_NONE KWALK_RULE(KWALK_UNKNOWN, 0, 0)

struct kwalk_block {
	__u32 first; /* row */
	__u32 more; /* rows after that one */
};

struct kwalk_row {
	__u32 offset; /* in the block */
	__u32 rule;
};

/*
 * The text of modules.  A program on module_load and module_free increments `changed` before a
 * module's text runs or is freed.  The loader then sets `valid` to 0, writes index, rows and
 * modules, and sets `valid` to 1 + the value of `changed` that they belong to.  A walk that finds
 * other values gives up.
 */
#define KWALK_MAX_MODULES 1024

struct kwalk_module {
	__u64 text;
	__u32 size; /* bytes */
	__u32 block; /* of its first 256 bytes, in kwalk_index */
};

struct kwalk_modules {
	__u64 changed;
	__u64 valid; /* 0: the rest is not valid */
	__u32 nr, pad;
	struct kwalk_module module[KWALK_MAX_MODULES]; /* sorted by address, without overlap */
};

#define KWALK_BLOCK_SHIFT 8
#define KWALK_BLOCK (1u << KWALK_BLOCK_SHIFT)
#define KWALK_MAX_BLOCKS (1u << 19) /* 128 MiB from the first text to the last */
#define KWALK_MAX_ROWS (1u << 24)
#define KWALK_CACHE 16384 /* entries of the cache of rules by address */

/* The default of kernel.perf_event_max_stack. */
#define KWALK_MAX_FRAMES 127
#define KWALK_ROUND 4 /* frames of one global function call, verified at once */

/* How a walk ended. */
enum kwalk_stop {
	KWALK_DONE, /* complete, or as deep as requested */
	KWALK_STOP_OFF, /* no table, or disabled after a difference */
	KWALK_STOP_RULE, /* an instruction without a usable rule, or a tracer's return address */
	KWALK_STOP_TEXT, /* outside known text: BPF program, trampoline, module without rules */
	KWALK_STOP_STACK, /* left the stack, or did not go up in it */
	KWALK_STOPS,
};

/* The result of comparing a walked stack with that of bpf_get_stack(). */
enum kwalk_verdict {
	KWALK_AGREED,
	KWALK_DIFFERED,
	KWALK_UNCHECKED, /* bpf_get_stack() failed, or no buffer was free */
	KWALK_VERDICTS,
};

/* How the kernel finds the callers of a function. */
enum kwalk_unwinder {
	KWALK_ORC, /* by rules: CONFIG_UNWINDER_ORC */
	KWALK_FRAME_POINTERS, /* CONFIG_UNWINDER_FRAME_POINTER */
};

/* How memory is read. */
enum kwalk_reader {
	KWALK_BY_COPY, /* the stack's next KWALK_COPY bytes at once, then word by word */
	KWALK_BY_LOAD, /* loads that the kernel guards: bpf_rdonly_cast(), Linux 6.2 */
};

#define KWALK_COPY 2048

#define KWALK_RETURNS 3 /* return addresses of function_graph and kretprobes (rethook or older) */

/* The text of a function, or of several adjacent ones. */
struct kwalk_range {
	__u64 start;
	__u32 size; /* 0: unknown */
	__u32 pad;
};

/* Functions that call the programs of raw tracepoints. */
enum kwalk_caller {
	KWALK_RUN, /* bpf_trace_run1() to bpf_trace_run12() */
	KWALK_SYS_ENTER, /* __bpf_trace_sys_enter(), which calls bpf_trace_run2() since 6.13, */
	KWALK_SYS_EXIT, /* and __bpf_trace_sys_exit(); others jump there unless raw_calls is set */
	KWALK_CALLERS,
};

/*
 * The stack of a raw tracepoint can be this many words shorter than others, because bpf_get_stack()
 * uses them for the program, the program's own functions, and its caller.
 */
#define KWALK_RAW_OWN 4

/* In .rodata, set by kwalk__prepare(). */
struct kwalk_settings {
	__u64 text; /* first address of the kernel's own */
	__u32 text_size; /* bytes; 0: unknown, bpf_get_stack() takes every stack */
	__u32 stack_size; /* of a task, bytes, a power of two */
	__u32 check_first; /* this many walks of each CPU are compared with bpf_get_stack(), */
	__u32 check_shift; /* then one in 1 << shift */
	__u32 reader; /* enum kwalk_reader */
	__u32 returns[KWALK_RETURNS]; /* low halves of the return addresses that tracers insert */
	__u32 frames; /* the depth limit of bpf_get_stack(), at most KWALK_MAX_FRAMES */
	__u32 unwinder; /* enum kwalk_unwinder */
	__u32 plain; /* 1: kwalk_begin_raw_noting() notes starts */
	__u32 gap, gap_size; /* data within the text: offset, bytes; with frame pointers only */
	/* distance of the context from the program's return address, raw tracepoints; 0: unknown */
	__u32 raw_at[2];
	__u32 raw_calls; /* each __bpf_trace_EVENT() calls bpf_trace_runN(), instead of jumping */
	struct kwalk_range callers[KWALK_CALLERS];
};

#define KWALK_CHECK_FIRST 64
#define KWALK_CHECK_SHIFT 10

/* In .data. */
struct kwalk_state {
	__u32 off; /* not started yet, or a walk has differed: no walk starts */
	__u32 doubled; /* 1: this kernel reports the first frame of a tracepoint's stack twice */
};

/* Per CPU; the sum over all CPUs is the total. */
struct kwalk_counts {
	__u64 stopped[KWALK_STOPS]; /* stacks by how their walks ended; [KWALK_DONE]: walked */
	__u64 checks[KWALK_VERDICTS]; /* comparisons of walked stacks by result */
};

/*
 * A remembered walk.  Which words a walk reads, and where, is a function of the return addresses
 * that it finds.  The memo therefore is a list of steps relative to a base, which is sp at first:
 *   2..0    enum kwalk_step
 *   31..3   KWALK_BIAS plus the bytes from the base to the word that the step reads
 *   63..32  signed: see enum kwalk_step
 * As long as all these words are unchanged, so are the rules and the frames.
 */
enum kwalk_step {
	KWALK_IS, /* the word must equal the upper half */
	KWALK_FRAME, /* it is the new base, above the old one by more than the upper half */
	KWALK_MODE, /* it is as the upper half says, an enum kwalk_mode */
	KWALK_HOLD, /* it is kept: rbp, for KWALK_HELD */
	KWALK_HELD, /* as KWALK_FRAME with the kept word; nothing is read */
	KWALK_TO_TASK, /* word + upper half is the new base, on the task's stack */
	KWALK_TO_OTHER, /* the same on another stack, whose bounds are unknown */
	KWALK_LAST, /* no word: the end of the steps */
};

/* What is asked of a word. */
enum kwalk_mode {
	KWALK_LOW_CLEAR, /* bits 0 and 1: cs of the kernel */
	KWALK_LOW_SET, /* one of these: cs of user mode; a pointer to registers */
	KWALK_NO_TEXT, /* the upper half is not that of an address in the kernel's text */
};

#define KWALK_STEPS 64 /* of a memo, the last one included, a power of two */
#define KWALK_MEMOS 64 /* per CPU, in pairs */
#define KWALK_BIAS 1024 /* allows a word below the base */
#define KWALK_MAX_SALT ((1u << 29) - 1)

struct kwalk_memo {
	__u32 seq; /* odd: being written */
	__u32 pad;
	__u64 tag; /* see kwalk_tag(); KWALK_TAG_PLAIN only if it is plain; 0: empty */
	__u64 value; /* the caller's */
	__u64 modules; /* kwalk_modules.valid if the walk looked there, else 0 */
	__u64 step[KWALK_STEPS];
	__u64 unused[4];
};
_Static_assert(sizeof(struct kwalk_memo) == 576, "whole cache lines");

/* Plain: all steps are of the kinds that kwalk_recall_plain() replays. */
#define KWALK_TAG_PLAIN (1ull << 34)

#endif /* KWALK_LAYOUT_H */
