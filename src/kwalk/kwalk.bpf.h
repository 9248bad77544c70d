/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Walks the kernel stack of an event in the BPF program itself, with the kernel's own ORC rules or
 * along frame pointers where the kernel uses these.  In place of
 *
 *	n = bpf_get_stack(ctx, words, sizeof(words), 0);
 *
 * a program calls
 *
 *	n = kwalk_tracepoint(ctx, s);		// struct kwalk_stack *s: s->words
 *
 * and gets the same words 3 to 11 times faster.  Where the walk gives up, it calls bpf_get_stack().
 * A sample of the walks is always compared with bpf_get_stack(); after the first difference,
 * bpf_get_stack() takes every stack.  The user-space side is kwalk.h.
 *
 * Where a walk starts depends on the type of the program:
 * - TRACEPOINT: the first word of the context points to the registers that perf_fetch_caller_regs()
 *   saved.  Their sp is the frame address of perf_trace_*(), where the saved rbp and the return
 *   address lie.
 * - perf_event, kprobe: the context contains the registers themselves.
 * - raw_tp, tp_btf: the context lies in the frame of bpf_trace_runN(), whose return address from
 *   the program is at a fixed distance from it.  (R10 does not give it: since Linux 6.13 it may
 *   point to a separate stack of the program.)
 *
 * Memory is read by loads that the kernel guards (bpf_rdonly_cast(), Linux 6.2), on older kernels
 * by bpf_probe_read_kernel(): both read 0 where nothing is mapped, and 0 is not in kernel text.
 */
#ifndef KWALK_BPF_H
#define KWALK_BPF_H

#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kwalk_layout.h"
#include "stackmap/scratch.bpf.h"

#define KWALK_INLINE static __attribute__((always_inline)) inline
#define KWALK_GLOBAL __weak __attribute__((noinline))
#define KWALK_LOOP _Pragma("clang loop unroll(disable)")

const volatile struct kwalk_settings kwalk_settings __weak SEC(".rodata.kwalk") = {
	.stack_size = 16384,
	.frames = KWALK_MAX_FRAMES,
	.check_first = KWALK_CHECK_FIRST,
	.check_shift = KWALK_CHECK_SHIFT,
};

#define KWALK_MAP(name, map_type, flags, nr, value_type) \
	struct {                                         \
		__uint(type, BPF_MAP_TYPE_##map_type);   \
		__uint(map_flags, flags);                \
		__uint(max_entries, nr);                 \
		__type(key, __u32);                      \
		__type(value, value_type);               \
	} name __weak SEC(".maps")

KWALK_MAP(kwalk_index, ARRAY, BPF_F_MMAPABLE, 1, struct kwalk_block);
KWALK_MAP(kwalk_rows, ARRAY, BPF_F_MMAPABLE, 1, struct kwalk_row);

/* High half: the low half of an address; low half: its rule.  One word needs no lock. */
KWALK_MAP(kwalk_cache, ARRAY, 0, KWALK_CACHE, __u64);
KWALK_MAP(kwalk_modules, ARRAY, BPF_F_MMAPABLE, 1, struct kwalk_modules);
KWALK_MAP(kwalk_counts, PERCPU_ARRAY, 0, 1, struct kwalk_counts);
KWALK_MAP(kwalk_memos, ARRAY, BPF_F_MMAPABLE, KWALK_MEMOS, struct kwalk_memo); /* by CPU */

struct kwalk_state kwalk_state __weak SEC(".data.kwalk") = { .off = 1 };

/* ---- primitives that the walk uses ----------------------------------------------------------- */

KWALK_INLINE struct kwalk_block *kwalk_get_block(__u32 i)
{
	return bpf_map_lookup_elem(&kwalk_index, &i);
}

KWALK_INLINE struct kwalk_row *kwalk_get_row(__u32 i)
{
	return bpf_map_lookup_elem(&kwalk_rows, &i);
}

KWALK_INLINE __u64 *kwalk_get_cached(__u32 i)
{
	return bpf_map_lookup_elem(&kwalk_cache, &i);
}

KWALK_INLINE struct kwalk_memo *kwalk_get_memo(__u32 i)
{
	i += bpf_get_smp_processor_id() * KWALK_MEMOS;
	return bpf_map_lookup_elem(&kwalk_memos, &i);
}

KWALK_INLINE struct kwalk_modules *kwalk_get_modules(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&kwalk_modules, &zero);
}

#define kwalk_get64(p) (*(const volatile __u64 *)(p))
#define kwalk_get32(p) (*(const volatile __u32 *)(p))
#define kwalk_set64(p, v) (*(volatile __u64 *)(p) = (v))
#define kwalk_set32(p, v) (*(volatile __u32 *)(p) = (v))
#define kwalk_cas32(p, o, n) __sync_val_compare_and_swap(p, o, n)
#define kwalk_copy_from(to, n, addr) bpf_probe_read_kernel(to, n, (const void *)(addr))

struct pt_regs___kwalk {
	unsigned long r15;
} __attribute__((preserve_access_index));

struct task_struct___kwalk {
	void *stack;
} __attribute__((preserve_access_index));

extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;

KWALK_INLINE __u64 kwalk_guarded(__u64 addr)
{
	struct pt_regs___kwalk *p =
		bpf_rdonly_cast((void *)addr, bpf_core_type_id_kernel(struct pt_regs___kwalk));
	__u64 v = p->r15;

	/* Keeps clang from merging loads of several places, which the verifier refuses. */
	asm volatile("" : "+r"(v));
	return v;
}

KWALK_INLINE __u64 kwalk_load(__u64 addr)
{
	__u64 v = 0;

	/* The verifier knows the settings and treats the other branch as dead code. */
	if (kwalk_settings.reader == KWALK_BY_LOAD)
		v = kwalk_guarded(addr);
	else
		bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

KWALK_INLINE __u64 kwalk_task_stack(void)
{
	struct task_struct___kwalk *t = (void *)bpf_get_current_task();

	return kwalk_load((__u64)&t->stack);
}

#include "kwalk_walk.h"

SCRATCH_DEFINE(kwalk_other, struct kwalk_stack, 2);

/* ---- checks ---------------------------------------------------------------------------------- */

KWALK_INLINE void kwalk_add(__u64 *n)
{
	__sync_fetch_and_add(n, 1); /* an interrupt may come between the load and the store */
}

/* The type of the program that takes the stack. */
enum kwalk_start {
	KWALK_REGISTERS, /* perf_event, kprobe */
	KWALK_TRACEPOINT,
	KWALK_RAW, /* raw_tp, tp_btf */
};

/* Moves some frames from `to` on from `by` frames further out; the verifier follows these once. */
KWALK_GLOBAL int kwalk_move_frames(struct kwalk_stack *s, __u32 to, __u32 by)
{
	__u32 i;

	if (!s)
		return 0;
	KWALK_LOOP
	for (i = 0; i < KWALK_ROUND; i++) {
		if (to + i >= s->nr)
			return 0;
		*(volatile __u64 *)&s->words[(to + i) & KWALK_MAX_FRAMES] =
			s->words[(to + i + by) & KWALK_MAX_FRAMES]; /* no memmove() here */
	}
	return 1;
}

/* Removes the innermost `own` frames; s->nr is the number of those that stay. */
KWALK_INLINE void kwalk_drop_frames(struct kwalk_stack *s, __u32 own)
{
	__u32 i;

	KWALK_LOOP
	for (i = 0; i < KWALK_MAX_FRAMES; i += KWALK_ROUND)
		if (!kwalk_move_frames(s, i, own))
			break;
}

/*
 * Kernels from 5.3 (83f44ae0f8af) on, except for stable releases since late 2025, report the first
 * frame of a tracepoint's stack twice.  Removes the duplicate; no such frame calls itself.
 */
KWALK_GLOBAL int kwalk_drop_duplicate(struct kwalk_stack *s)
{
	if (!s || s->nr < 2 || s->words[0] != s->words[1])
		return 0;
	s->nr--;
	if (!kwalk_state.doubled) /* all CPUs read this line */
		kwalk_state.doubled = 1;
	kwalk_drop_frames(s, 1);
	return 0;
}

KWALK_INLINE bool kwalk_is_of(enum kwalk_caller caller, __u64 ip)
{
	return ip - kwalk_settings.callers[caller].start < kwalk_settings.callers[caller].size;
}

/* Whether the caller of bpf_trace_runN() is __bpf_trace_EVENT(), which called and did not jump. */
KWALK_INLINE bool kwalk_is_of_event(__u64 ip)
{
	return kwalk_settings.raw_calls || kwalk_is_of(KWALK_SYS_ENTER, ip) ||
	       kwalk_is_of(KWALK_SYS_EXIT, ip);
}

/* The number of frames without the tracer's own. */
KWALK_INLINE __u32 kwalk_without(__u32 frames, __u32 own)
{
	return frames > own ? frames - own : 0;
}

/* The maximum depth of a stack. */
KWALK_INLINE __u32 kwalk_max_frames(enum kwalk_start start)
{
	if (start == KWALK_RAW)
		return kwalk_without(kwalk_settings.frames, KWALK_RAW_OWN);
	return kwalk_without(kwalk_settings.frames,
			     start == KWALK_TRACEPOINT ? kwalk_state.doubled : 0);
}

/*
 * For a raw tracepoint's program, the kernel reports the program and its callers first.  Removes
 * them: the stack of the event is the one that a TRACEPOINT program gets.
 */
KWALK_GLOBAL int kwalk_drop_own(struct kwalk_stack *s)
{
	__u32 i, own, most = kwalk_max_frames(KWALK_RAW);

	if (!s)
		return 0;
	kwalk_set32(&s->own, 0);
	KWALK_LOOP
	for (i = 0; i < 16; i++) {
		if (i >= s->nr || !kwalk_is_of(KWALK_RUN, s->words[i]))
			continue;
		kwalk_set32(&s->own, i + 1);
		break;
	}
	/* Read from memory again: the verifier would follow each number separately, to the end. */
	own = kwalk_get32(&s->own);
	if (!own)
		return 0;
	kwalk_set32(&s->own, own + kwalk_is_of_event(s->words[own & KWALK_MAX_FRAMES]));
	own = kwalk_get32(&s->own);
	s->nr = s->nr > own ? s->nr - own : 0;
	if (s->nr > most)
		s->nr = most;
	kwalk_drop_frames(s, own);
	return 0;
}

/* By bpf_get_stack(): the number of bytes, or its error. */
KWALK_INLINE long kwalk_by_kernel(void *ctx, struct kwalk_stack *s, enum kwalk_start start)
{
	long n = bpf_get_stack(ctx, s->words, KWALK_MAX_FRAMES * sizeof(*s->words), 0);

	s->nr = n > 0 ? n / sizeof(*s->words) : 0;
	if (n <= 0)
		return n;
	s->at_limit = s->nr >= kwalk_settings.frames;
	if (start == KWALK_TRACEPOINT)
		kwalk_drop_duplicate(s);
	else if (start == KWALK_RAW)
		kwalk_drop_own(s);
	return s->nr * sizeof(*s->words);
}

/*
 * The same; -1 if the kernel has stopped within the tracer's own frames, which are not a stack to
 * record or to compare.
 */
KWALK_INLINE long kwalk_of_event(void *ctx, struct kwalk_stack *s, enum kwalk_start start)
{
	long n = kwalk_by_kernel(ctx, s, start);

	return n > 0 && start == KWALK_RAW && !s->own ? -1 : n;
}

/* A walk has differed: no walk starts any more. */
KWALK_INLINE void kwalk_stop(void)
{
	__sync_lock_test_and_set(&kwalk_state.off, 1);
}

/*
 * Compares the walked stack with the kernel's.  If they differ, disables the walk; the caller then
 * takes the stack by bpf_get_stack().
 */
KWALK_INLINE enum kwalk_verdict kwalk_check(void *ctx, struct kwalk_stack *s,
					    enum kwalk_start start)
{
	struct kwalk_other_ref other = kwalk_other_claim();
	enum kwalk_verdict verdict = KWALK_UNCHECKED;

	if (!other.data)
		return verdict;
	/* bpf_get_stack() returns no frames while the kernel handles an interrupt for a guest. */
	if (kwalk_of_event(ctx, other.data, start) > 0)
		verdict = kwalk_compare(s, other.data) ? KWALK_DIFFERED : KWALK_AGREED;
	kwalk_other_release(&other);
	if (verdict == KWALK_DIFFERED)
		kwalk_stop();
	return verdict;
}

/* Walks from the start that is set in s.  False: the caller must use bpf_get_stack(). */
KWALK_INLINE bool kwalk_get(void *ctx, struct kwalk_stack *s, enum kwalk_start start)
{
	__u32 zero = 0, stop = kwalk_walk(s);
	struct kwalk_counts *c = bpf_map_lookup_elem(&kwalk_counts, &zero);
	enum kwalk_verdict verdict;

	if (!c || stop >= KWALK_STOPS)
		return false;
	s->stop = stop;
	if (stop != KWALK_DONE) {
		kwalk_add(&c->stopped[stop]);
		return false;
	}
	if (!kwalk_due(__sync_fetch_and_add(&c->stopped[KWALK_DONE], 1)))
		return true;
	verdict = kwalk_check(ctx, s, start);
	kwalk_add(&c->checks[verdict]);
	return verdict != KWALK_DIFFERED;
}

/* ---- starts; the caller has set s->task to kwalk_task_stack() or a stack that it knows ------- */

/* Clears the state of the last walk. */
KWALK_INLINE void kwalk_forget(struct kwalk_stack *s)
{
	s->copied = 0;
	s->entered = 0;
	s->tag = 0;
}

/*
 * False: there is no table, or these are the registers of a program in user space, as at the
 * tracepoints of system calls before Linux 6.12, for which the kernel reports no stack.
 */
KWALK_INLINE bool kwalk_begin_tracepoint(void *ctx, struct kwalk_stack *s)
{
	__u64 regs, frame;

	if (!kwalk_settings.text_size)
		return false;
	kwalk_forget(s);
	regs = kwalk_read(s, (__u64)ctx);
	if (kwalk_read(s, regs + KWALK_REGS_CS_AT) & KWALK_USER_MODE)
		return false;
	frame = kwalk_read(s, regs + KWALK_REGS_SP_AT);
	s->ip = kwalk_read(s, frame + 8);
	s->sp = frame + 16;
	s->bp = 0;
	s->bp_at = frame;
	s->signal = 0;
	s->most = kwalk_max_frames(KWALK_TRACEPOINT);
	return true;
}

/* Leaves the frame at s->ip, whose callee's frame ends at s->sp. */
KWALK_INLINE bool kwalk_leave(struct kwalk_stack *s)
{
	__u64 ip = s->ip;

	s->low = 0;
	s->size = 0;
	s->nr = 0;
	s->most = 1;
	s->modules = 0;
	return kwalk_round(s) == KWALK_DONE && s->ip != ip &&
	       (!s->modules || kwalk_modules_hold(s));
}

/* Whether bpf_trace_runN() called the program with its stack pointer at sp. */
KWALK_INLINE bool kwalk_is_run(struct kwalk_stack *s, __u64 sp)
{
	s->sp = sp;
	s->ip = kwalk_read(s, sp - 8);
	return kwalk_is_of(KWALK_RUN, s->ip);
}

/* Whether the frame that returns to ip ends at a fixed distance above the stack pointer. */
KWALK_INLINE bool kwalk_is_fixed(__u64 ip)
{
	return kwalk_is_text(ip) && KWALK_RULE_KIND(kwalk_rule(ip - 1)) == KWALK_CALL_SP;
}

/*
 * False: there is no table, or the frame of bpf_trace_runN() is not where it is expected.  Its rbp
 * is the one that every program's first instruction saves below the return address.
 *
 * *ret_first, unless NULL: the bytes from the context to the address of the first frame, for
 * kwalk_recall_noted() and kwalk_begin_noted(), if they are the same for each event of the
 * tracepoint that the program is attached to.  They are where only frames of a fixed size lie
 * between, since nothing but that tracepoint calls the program.
 */
KWALK_INLINE bool kwalk_begin_raw_noting(void *ctx, struct kwalk_stack *s, __u32 *ret_first)
{
	__u64 at;
	bool fixed;

	if (!kwalk_settings.text_size || !kwalk_settings.raw_at[0])
		return false;
	kwalk_forget(s);
	kwalk_set64(&s->sp, (__u64)ctx); /* read back, the verifier takes it for a scalar */
	at = kwalk_get64(&s->sp) + 8;
	if (!kwalk_is_run(s, at - kwalk_settings.raw_at[0]) &&
	    !kwalk_is_run(s, at - kwalk_settings.raw_at[1]))
		return false;
	s->bp = 0;
	s->bp_at = s->sp - 16;
	s->signal = 0;
	fixed = kwalk_settings.plain && kwalk_is_fixed(s->ip);
	if (!kwalk_leave(s))
		return false;
	if (kwalk_is_of_event(s->ip)) {
		fixed = fixed && kwalk_is_fixed(s->ip);
		if (!kwalk_leave(s))
			return false;
	}
	s->most = kwalk_max_frames(KWALK_RAW);
	if (ret_first && fixed)
		kwalk_set32(ret_first, s->sp - at);
	return true;
}

KWALK_INLINE bool kwalk_begin_raw(void *ctx, struct kwalk_stack *s)
{
	return kwalk_begin_raw_noting(ctx, s, NULL);
}

/* The same start for kwalk_recall() only, without a look at the rules. */
KWALK_INLINE void kwalk_begin_noted(void *ctx, struct kwalk_stack *s, __u32 first)
{
	__u64 at;

	kwalk_forget(s);
	kwalk_set64(&s->sp, (__u64)ctx);
	at = kwalk_get64(&s->sp) + first;
	s->ip = kwalk_read(s, at);
	s->sp = at + 8;
	s->bp = 0;
	s->bp_at = 0;
	s->signal = 0;
	s->most = kwalk_max_frames(KWALK_RAW);
}

/*
 * The same and kwalk_recall_plain() at once, without a struct kwalk_stack: the value that is
 * remembered, or 0: then kwalk_recall() decides.  ctx: the context's address, as a number; task:
 * the stack of the current task.  The caller knows that kwalk_state.off is 0.
 */
KWALK_INLINE __u64 kwalk_recall_noted(__u64 ctx, __u64 task, __u32 first, __u32 salt)
{
	__u64 at = ctx + first;

	if (!kwalk_settings.plain || !first)
		return 0;
	return kwalk_recall_plain(task, at + 8, kwalk_guarded(at), salt);
}

/* A register of a perf_event or kprobe program's context. */
#define KWALK_SAMPLE_REG(ctx, at) (((const __u64 *)(ctx))[(at) / 8])

/*
 * False: there is no table; or user space was interrupted, and bpf_get_stack() decides whether that
 * is a stack without frames or an error; or it is a software event, which interrupted nothing, or
 * an fprobe of Linux 6.14 or later, which does not have all registers.
 */
KWALK_INLINE bool kwalk_begin_registers(void *ctx, struct kwalk_stack *s)
{
	if (!kwalk_settings.text_size ||
	    KWALK_SAMPLE_REG(ctx, KWALK_REGS_CS_AT) & KWALK_USER_MODE ||
	    !(KWALK_SAMPLE_REG(ctx, KWALK_REGS_FLAGS_AT) & KWALK_FLAGS_FIXED))
		return false;
	kwalk_forget(s);
	s->ip = KWALK_SAMPLE_REG(ctx, KWALK_REGS_IP_AT);
	s->sp = KWALK_SAMPLE_REG(ctx, KWALK_REGS_SP_AT);
	s->bp = KWALK_SAMPLE_REG(ctx, KWALK_REGS_BP_AT);
	s->bp_at = 0;
	s->signal = 1;
	s->most = kwalk_max_frames(KWALK_REGISTERS);
	return true;
}

KWALK_INLINE bool kwalk_begin(void *ctx, struct kwalk_stack *s, enum kwalk_start start)
{
	switch (start) {
	case KWALK_TRACEPOINT:
		return kwalk_begin_tracepoint(ctx, s);
	case KWALK_RAW:
		return kwalk_begin_raw(ctx, s);
	default:
		return kwalk_begin_registers(ctx, s);
	}
}

KWALK_INLINE long kwalk_any(void *ctx, struct kwalk_stack *s, enum kwalk_start start)
{
	s->stop = KWALK_STOP_OFF;
	s->task = kwalk_task_stack();
	if (kwalk_begin(ctx, s, start) && kwalk_get(ctx, s, start))
		return s->nr * sizeof(*s->words);
	return kwalk_by_kernel(ctx, s, start);
}

/* For a TRACEPOINT program: bytes in s->words, or the error of bpf_get_stack(). */
KWALK_INLINE long kwalk_tracepoint(void *ctx, struct kwalk_stack *s)
{
	return kwalk_any(ctx, s, KWALK_TRACEPOINT);
}

/*
 * The same for a RAW_TRACEPOINT or TRACING (tp_btf) program, without the frames of the program and
 * its callers: the words that a TRACEPOINT program gets for this event.
 */
KWALK_INLINE long kwalk_raw(void *ctx, struct kwalk_stack *s)
{
	return kwalk_any(ctx, s, KWALK_RAW);
}

/* The same for a PERF_EVENT program whose event does not have PERF_SAMPLE_CALLCHAIN. */
KWALK_INLINE long kwalk_sample(void *ctx, struct kwalk_stack *s)
{
	return kwalk_any(ctx, s, KWALK_REGISTERS);
}

/* The same for a KPROBE program on a kernel function. */
KWALK_INLINE long kwalk_kprobe(void *ctx, struct kwalk_stack *s)
{
	return kwalk_any(ctx, s, KWALK_REGISTERS);
}

/* ---- module load and unload ------------------------------------------------------------------ */

KWALK_INLINE int kwalk_modules_changed(void)
{
	struct kwalk_modules *m = kwalk_get_modules();

	if (m)
		__sync_fetch_and_add(&m->changed, 1);
	return 0;
}

/* Both run before a module's first instruction runs or its text is freed. */
SEC("raw_tp/module_load")
int kwalk_module_load(void *ctx)
{
	return kwalk_modules_changed();
}

SEC("raw_tp/module_free")
int kwalk_module_free(void *ctx)
{
	return kwalk_modules_changed();
}

#endif /* KWALK_BPF_H */
