/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The kernel's call stack of an event, walked by the BPF program itself with the kernel's own ORC
 * rules: in place of
 *
 *	n = bpf_get_stack(ctx, words, sizeof(words), 0);
 *
 * a program says
 *
 *	n = kwalk_tracepoint(ctx, s);		// struct kwalk_stack *s: s->words
 *
 * and gets the same words in about a tenth of the time.  Where the walk has to give up, it calls
 * bpf_get_stack().  Some walks are compared with it for ever; after the first that differs, every
 * stack comes from bpf_get_stack().  The user-space side is kwalk.h.
 *
 * Of a TRACEPOINT program's context the first word points to the registers that
 * perf_fetch_caller_regs() took: their sp is the frame address of perf_trace_*(), where the
 * saved rbp and the return address lie.  A perf_event program's context has the registers
 * themselves.
 *
 * Memory is read by loads that the kernel guards (bpf_rdonly_cast(), Linux 6.2), before by
 * bpf_probe_read_kernel(): both read 0 where nothing is mapped, and 0 is no address of kernel text.
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

/* struct pt_regs of x86-64, whose layout is that of ptrace(2). */
enum {
	KWALK_REGS_BP_AT = 32,
	KWALK_REGS_IP_AT = 128,
	KWALK_REGS_CS_AT = 136,
	KWALK_REGS_FLAGS_AT = 144,
	KWALK_REGS_SP_AT = 152,
};
#define KWALK_USER_MODE 3 /* privilege bits of cs */
#define KWALK_FLAGS_FIXED 2 /* of the flags of a real interrupt this one is always set */

const volatile struct kwalk_settings kwalk_settings __weak SEC(".rodata.kwalk") = {
	.stack_size = 16384,
	.frames = KWALK_MAX_FRAMES,
	.check_first = KWALK_CHECK_FIRST,
	.check_shift = KWALK_CHECK_SHIFT,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kwalk_block);
} kwalk_index __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kwalk_row);
} kwalk_rows __weak SEC(".maps");

/* High half the low half of an address, low half its rule: one word, so that no lock is needed. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KWALK_CACHE);
	__type(key, __u32);
	__type(value, __u64);
} kwalk_cache __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kwalk_modules);
} kwalk_modules __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kwalk_counts);
} kwalk_counts __weak SEC(".maps");

struct kwalk_state kwalk_state __weak SEC(".data.kwalk") = { .off = 1 };

/* One stack and the state of its walk: the caller's, in memory that nobody else uses meanwhile. */
struct kwalk_stack {
	__u64 ip, sp, bp;
	__u64 bp_at; /* where bp is to be read before it is used; 0: it has been */
	__u64 low, size; /* of the stack that the walk must not leave; size 0: not known */
	__u64 modules; /* kwalk_modules.valid, if the walk looked there; else 0 */
	__u32 nr; /* words */
	__u32 most; /* not more than these */
	__u32 signal; /* ip is an interrupted instruction */
	__u32 stop; /* enum kwalk_stop; if not KWALK_DONE, the walk gave up at ip */
	__u32 copied; /* bytes of copy, which lie at from */
	__u32 pad;
	__u64 from;
	__u64 copy[KWALK_COPY / 8];
	__u64 before; /* left alone: for a word of the caller's in front of the frames */
	__u64 words[KWALK_MAX_FRAMES + 1]; /* innermost first */
};

SCRATCH_DEFINE(kwalk_other, struct kwalk_stack, 2);

/* ---- reading -------------------------------------------------------------------------------- */

struct pt_regs___kwalk {
	unsigned long r15;
} __attribute__((preserve_access_index));

struct task_struct___kwalk {
	void *stack;
} __attribute__((preserve_access_index));

extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __ksym __weak;

KWALK_INLINE __u64 kwalk_load(__u64 addr)
{
	struct pt_regs___kwalk *p =
		bpf_rdonly_cast((void *)addr, bpf_core_type_id_kernel(struct pt_regs___kwalk));
	__u64 v = p->r15;

	/* Or clang makes one load of those of several places, which the verifier refuses. */
	asm volatile("" : "+r"(v));
	return v;
}

KWALK_INLINE __u64 kwalk_read(const struct kwalk_stack *s, __u64 addr)
{
	__u64 v = 0, at = addr - s->from;

	if (!kwalk_settings.text_size)
		return 0;
	/* The other way is dead code for the verifier, which knows the settings. */
	if (kwalk_settings.reader == KWALK_BY_LOAD)
		return kwalk_load(addr);
	if (at < s->copied && !(at & 7))
		return s->copy[(at >> 3) & (KWALK_COPY / 8 - 1)];
	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

/* What the walk will read, from sp on; on a stack of unknown bounds to the end of the page. */
KWALK_INLINE void kwalk_copy(struct kwalk_stack *s)
{
	__u64 n = s->size ? s->low + s->size - s->sp : 4096 - (s->sp & 4095);

	if (kwalk_settings.reader != KWALK_BY_COPY)
		return;
	if (n > KWALK_COPY)
		n = KWALK_COPY;
	s->from = s->sp;
	s->copied = bpf_probe_read_kernel(s->copy, n, (void *)s->sp) ? 0 : n & ~7ull;
}

/* ---- rules ---------------------------------------------------------------------------------- */

/* Global functions are verified once, not once for each way that leads to them. */
KWALK_GLOBAL __u32 kwalk_search(__u32 at)
{
	__u32 block = at >> KWALK_BLOCK_SHIFT, low = at & (KWALK_BLOCK - 1), first, more, half, mid,
	      i;
	struct kwalk_block *b = bpf_map_lookup_elem(&kwalk_index, &block);
	struct kwalk_row *row;

	if (!b)
		return KWALK_RULE_NONE;
	first = b->first;
	more = b->more;
#pragma clang loop unroll(disable)
	for (i = 0; i < 9 && more; i++) {
		half = (more + 1) >> 1;
		mid = first + half;
		row = bpf_map_lookup_elem(&kwalk_rows, &mid);
		if (!row)
			return KWALK_RULE_NONE;
		if (row->offset <= low) {
			first = mid;
			more -= half;
		} else {
			more = half - 1;
		}
	}
	row = bpf_map_lookup_elem(&kwalk_rows, &first);
	return row ? row->rule : KWALK_RULE_NONE;
}

/*
 * Where a tracer has put another return address in place of the real one, no rule holds.  It is looked
 * up one byte before, where the call was, or itself if an interrupt came there.
 */
KWALK_INLINE bool kwalk_is_hidden(__u32 pc)
{
	__u32 i;

	for (i = 0; i < KWALK_RETURNS; i++)
		if (kwalk_settings.returns[i] && pc + 1 - kwalk_settings.returns[i] < 2)
			return true;
	return false;
}

/* Of the instruction at the address.  The low half is enough: above it kernel text has only ones. */
KWALK_INLINE __u32 kwalk_rule(__u64 addr)
{
	__u32 pc = addr, key = (pc ^ pc >> 13) & (KWALK_CACHE - 1), rule;
	volatile __u64 *e = bpf_map_lookup_elem(&kwalk_cache, &key);
	__u64 v;

	if (!e)
		return KWALK_RULE_NONE;
	v = *e;
	if (v >> 32 == pc)
		return v;
	rule = kwalk_is_hidden(pc) ? KWALK_RULE_NONE : kwalk_search(pc - (__u32)kwalk_settings.text);
	*e = (__u64)pc << 32 | rule;
	return rule;
}

KWALK_INLINE struct kwalk_modules *kwalk_get_modules(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&kwalk_modules, &zero);
}

/* Whether the tables of modules are those that the walk began with. */
KWALK_INLINE bool kwalk_modules_hold(const struct kwalk_stack *s)
{
	volatile struct kwalk_modules *m = kwalk_get_modules();

	return m && m->valid == s->modules && m->changed + 1 == s->modules;
}

/*
 * Of an instruction outside of the kernel's own text.  Not cached: a rule must not outlive its
 * module.
 */
KWALK_GLOBAL __u32 kwalk_module_rule(struct kwalk_stack *s, __u64 addr)
{
	struct kwalk_modules *m = kwalk_get_modules();
	__u32 low = 0, nr, i, mid;
	struct kwalk_module *e;

	if (!s || !m)
		return KWALK_RULE_NONE;
	if (!s->modules)
		s->modules = *(volatile __u64 *)&m->valid;
	if (!s->modules)
		return KWALK_RULE_NONE;
	nr = m->nr;
#pragma clang loop unroll(disable)
	for (i = 0; i < 11 && nr; i++) {
		mid = low + (nr >> 1);
		e = &m->module[mid & (KWALK_MAX_MODULES - 1)];
		if (addr - e->text < e->size)
			return kwalk_search((e->block << KWALK_BLOCK_SHIFT) + (addr - e->text));
		if (addr < e->text) {
			nr >>= 1;
		} else {
			nr -= (nr >> 1) + 1;
			low = mid + 1;
		}
	}
	return KWALK_RULE_NONE;
}

/* ---- the walk ------------------------------------------------------------------------------- */

KWALK_INLINE bool kwalk_is_text(__u64 addr)
{
	return addr - kwalk_settings.text < kwalk_settings.text_size;
}

/*
 * The task's stack is always the outermost: who has come to it stays on it.  Other stacks (of
 * interrupts, exceptions, NMIs) have no bounds here; on these the walk goes up, and leaves them
 * for another only as a rule says.
 */
KWALK_INLINE void kwalk_enter_stack(struct kwalk_stack *s)
{
	struct task_struct___kwalk *t = (void *)bpf_get_current_task();
	__u64 low = kwalk_read(s, (__u64)&t->stack);

	s->size = 0;
	if (s->sp - low <= kwalk_settings.stack_size) {
		s->low = low;
		s->size = kwalk_settings.stack_size;
	}
}

/* Whether the n bytes at addr lie in the stack, if its bounds are known. */
KWALK_INLINE bool kwalk_within(const struct kwalk_stack *s, __u64 addr, __u64 n)
{
	return !s->size || (addr - s->low <= s->size && s->size - (addr - s->low) >= n);
}

/*
 * Frames that are not plain calls.  KWALK_DONE where the frames end; KWALK_STOPS: s is the
 * caller's.
 */
KWALK_GLOBAL __u32 kwalk_special(struct kwalk_stack *s, __u32 rule)
{
	__u32 kind = KWALK_RULE_KIND(rule);
	bool by_bp, indirect;
	__u64 at, cs, was_bp;

	if (!s || kind == KWALK_UNKNOWN)
		return KWALK_STOP_RULE;
	if (kind == KWALK_END)
		return KWALK_DONE;
	by_bp = kind == KWALK_CALL_BP_IND || kind == KWALK_REGS_BP || kind == KWALK_REGS_BP_IND;
	indirect = kind == KWALK_CALL_SP_IND || kind == KWALK_CALL_BP_IND ||
		   kind == KWALK_REGS_SP_IND || kind == KWALK_REGS_BP_IND;
	was_bp = s->bp;
	at = by_bp ? s->bp : s->sp;
	/* *(rbp + offset), but *rsp + offset */
	if (by_bp)
		at += KWALK_RULE_OFFSET(rule);
	if (indirect) {
		if (!kwalk_within(s, at, 8))
			return KWALK_STOP_STACK;
		at = kwalk_read(s, at);
	}
	if (!by_bp)
		at += KWALK_RULE_OFFSET(rule);

	s->bp_at = KWALK_RULE_SLOT(rule) ? at + KWALK_RULE_BP_AT(rule) : 0;
	if (rule & KWALK_RULE_BP_REL)
		s->bp_at = was_bp + KWALK_RULE_BP_AT(rule);
	s->signal = !!(rule & KWALK_RULE_SIGNAL);
	if (kind == KWALK_CALL_SP_IND || kind == KWALK_CALL_BP_IND) {
		if (!kwalk_within(s, at - 8, 8) || at == s->sp || (s->size && at < s->sp))
			return KWALK_STOP_STACK;
		s->sp = at;
		s->ip = kwalk_read(s, at - 8);
		kwalk_enter_stack(s);
		return KWALK_STOPS;
	}
	if (kind == KWALK_IRET_SP) /* the five words are the last of a struct pt_regs */
		at -= KWALK_REGS_IP_AT;
	if (!kwalk_within(s, at + KWALK_REGS_IP_AT, 40))
		return KWALK_STOP_STACK;
	cs = kwalk_read(s, at + KWALK_REGS_CS_AT);
	if (cs & KWALK_USER_MODE)
		return KWALK_DONE;
	s->ip = kwalk_read(s, at + KWALK_REGS_IP_AT);
	s->sp = kwalk_read(s, at + KWALK_REGS_SP_AT);
	if (!s->bp_at && kind != KWALK_IRET_SP)
		s->bp_at = at + KWALK_REGS_BP_AT;
	/* Now: the bounds will be those of the stack that was interrupted. */
	if (s->bp_at)
		s->bp = kwalk_within(s, s->bp_at, 8) ? kwalk_read(s, s->bp_at) : 0;
	s->bp_at = 0;
	/* An interrupt on the same stack: what it interrupted lies above its registers. */
	if (s->size && (s->sp <= at || !kwalk_within(s, s->sp, 0)))
		return KWALK_STOP_STACK;
	kwalk_enter_stack(s);
	return KWALK_STOPS;
}

/* One frame: its word, and s is its caller's.  KWALK_STOPS: go on. */
KWALK_INLINE __u32 kwalk_frame(struct kwalk_stack *s)
{
	__u64 ip = s->ip, at = s->signal ? ip : ip - 1, cfa;
	__u32 rule, kind;

	rule = kwalk_is_text(ip) ? kwalk_rule(at) : kwalk_module_rule(s, at);
	kind = KWALK_RULE_KIND(rule);
	if (kind == KWALK_UNKNOWN)
		return kwalk_is_text(ip) ? KWALK_STOP_RULE : KWALK_STOP_TEXT;
	s->words[s->nr & KWALK_MAX_FRAMES] = ip;
	s->nr++;
	if (kind != KWALK_CALL_SP && s->bp_at) {
		if (!kwalk_within(s, s->bp_at, 8))
			return KWALK_STOP_STACK;
		s->bp = kwalk_read(s, s->bp_at);
		s->bp_at = 0;
	}
	if (kind > KWALK_CALL_BP)
		return kwalk_special(s, rule);
	cfa = (kind == KWALK_CALL_SP ? s->sp : s->bp) + KWALK_RULE_OFFSET(rule);
	if (cfa - s->sp - 1 >= kwalk_settings.stack_size || !kwalk_within(s, cfa - 8, 8))
		return KWALK_STOP_STACK;
	s->sp = cfa;
	if (KWALK_RULE_SLOT(rule))
		s->bp_at = cfa + KWALK_RULE_BP_AT(rule);
	s->signal = 0;
	s->ip = kwalk_read(s, cfa - 8);
	return KWALK_STOPS;
}

/* A few frames.  KWALK_STOPS: go on.  All at once would take the verifier eight times as long. */
KWALK_GLOBAL __u32 kwalk_round(struct kwalk_stack *s)
{
	__u32 stop = KWALK_STOPS, i;

	if (!s)
		return KWALK_STOP_OFF;
#pragma clang loop unroll(disable)
	for (i = 0; i < KWALK_ROUND && stop == KWALK_STOPS; i++)
		stop = s->nr < s->most ? kwalk_frame(s) : KWALK_DONE;
	return stop;
}

/* From the frame whose ip, sp, bp or bp_at and signal are set, as kwalk_begin_...() does. */
KWALK_GLOBAL __u32 kwalk_walk(struct kwalk_stack *s)
{
	__u32 stop = KWALK_STOPS, i;

	if (!s)
		return KWALK_STOP_OFF;
	s->nr = 0;
	s->modules = 0;
	if (!kwalk_settings.text_size || kwalk_state.off)
		return KWALK_STOP_OFF;
	kwalk_enter_stack(s);
	kwalk_copy(s);
#pragma clang loop unroll(disable)
	for (i = 0; i <= KWALK_MAX_FRAMES / KWALK_ROUND && stop == KWALK_STOPS; i++)
		stop = kwalk_round(s);
	if (stop == KWALK_STOPS)
		stop = KWALK_DONE;
	/* Elsewhere for good: between two tasks in __switch_to(), in entry code. */
	if (stop == KWALK_DONE && !s->size)
		return KWALK_STOP_STACK;
	return stop == KWALK_DONE && s->modules && !kwalk_modules_hold(s) ? KWALK_STOP_TEXT : stop;
}

/* ---- checks --------------------------------------------------------------------------------- */

KWALK_INLINE void kwalk_add(__u64 *n)
{
	__sync_fetch_and_add(n, 1); /* an interrupt may come between a load and a store */
}

KWALK_INLINE bool kwalk_due(__u64 walked)
{
	__u64 n = walked + (walked >> kwalk_settings.check_shift);

	/* Not with the same phase for ever: events often come in turns. */
	return walked < kwalk_settings.check_first ||
	       !(n & ((1ull << kwalk_settings.check_shift) - 1));
}

KWALK_GLOBAL int kwalk_compare(const struct kwalk_stack *a, const struct kwalk_stack *b)
{
	__u32 i;

	if (!a || !b || a->nr != b->nr)
		return 1;
#pragma clang loop unroll(disable)
	for (i = 0; i < KWALK_MAX_FRAMES; i++) {
		if (i >= a->nr)
			break;
		if (a->words[i] != b->words[i])
			return 1;
	}
	return 0;
}

/* By bpf_get_stack(): how many bytes, or its error. */
KWALK_INLINE long kwalk_by_kernel(void *ctx, struct kwalk_stack *s)
{
	long n = bpf_get_stack(ctx, s->words, KWALK_MAX_FRAMES * sizeof(*s->words), 0);

	s->nr = n > 0 ? n / sizeof(*s->words) : 0;
	return n;
}

/*
 * Kernels from 5.3 (83f44ae0f8af) on, but for stable ones since late 2025, tell the first frame of a
 * tracepoint's stack twice: once is enough.  No such frame calls itself.
 */
KWALK_GLOBAL int kwalk_once(struct kwalk_stack *s)
{
	__u32 i;

	if (!s || s->nr < 2 || s->words[0] != s->words[1])
		return 0;
	s->nr--;
	kwalk_state.doubled = 1;
#pragma clang loop unroll(disable)
	for (i = 0; i < KWALK_MAX_FRAMES; i++) {
		if (i >= s->nr)
			break;
		*(volatile __u64 *)&s->words[i] = s->words[i + 1]; /* no memmove() here */
	}
	return 0;
}

/* The same at a tracepoint. */
KWALK_INLINE long kwalk_by_kernel_once(void *ctx, struct kwalk_stack *s)
{
	long n = kwalk_by_kernel(ctx, s);

	if (n <= 0)
		return n;
	kwalk_once(s);
	return s->nr * sizeof(*s->words);
}

/* A walk has differed: none is begun any more. */
KWALK_INLINE void kwalk_stop(void)
{
	__sync_lock_test_and_set(&kwalk_state.off, 1);
}

/*
 * The kernel's own stack beside the walked one.  Where they differ, s becomes the kernel's, and
 * nothing is walked any more.
 */
KWALK_INLINE enum kwalk_verdict kwalk_check(void *ctx, struct kwalk_stack *s, bool tracepoint)
{
	struct kwalk_other_ref other = kwalk_other_claim();
	enum kwalk_verdict verdict = KWALK_UNCHECKED;

	if (!other.data)
		return verdict;
	/* It tells nothing while it handles an interrupt for a guest. */
	if (kwalk_by_kernel(ctx, other.data) > 0) {
		if (tracepoint)
			kwalk_once(other.data);
		verdict = kwalk_compare(s, other.data) ? KWALK_DIFFERED : KWALK_AGREED;
	}
	kwalk_other_release(&other);
	if (verdict == KWALK_DIFFERED)
		kwalk_stop();
	return verdict;
}

/* Walks from where s begins.  False: bpf_get_stack() is to tell the stack. */
KWALK_INLINE bool kwalk_get(void *ctx, struct kwalk_stack *s, bool tracepoint)
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
	verdict = kwalk_check(ctx, s, tracepoint);
	kwalk_add(&c->checks[verdict]);
	return verdict != KWALK_DIFFERED;
}

/* ---- starts --------------------------------------------------------------------------------- */

/*
 * False: there is no table, or these are the registers of a program in user space, as at the
 * tracepoints of system calls before Linux 6.12: the kernel tells no stack then.
 */
KWALK_INLINE bool kwalk_begin_tracepoint(void *ctx, struct kwalk_stack *s)
{
	__u64 regs, frame;

	if (!kwalk_settings.text_size)
		return false;
	s->copied = 0;
	regs = kwalk_read(s, (__u64)ctx);
	if (kwalk_read(s, regs + KWALK_REGS_CS_AT) & KWALK_USER_MODE)
		return false;
	frame = kwalk_read(s, regs + KWALK_REGS_SP_AT);
	s->ip = kwalk_read(s, frame + 8);
	s->sp = frame + 16;
	s->bp = 0;
	s->bp_at = frame;
	s->signal = 0;
	s->most = kwalk_settings.frames - kwalk_state.doubled;
	return true;
}

/* A register of a perf_event program's context. */
#define KWALK_SAMPLE_REG(ctx, at) (((const __u64 *)(ctx))[(at) / 8])

/*
 * False: no table; or user space was interrupted, and whether that is a stack of no frames or an
 * error is for bpf_get_stack() to say; or a software event, which interrupted nothing.
 */
KWALK_INLINE bool kwalk_begin_sample(void *ctx, struct kwalk_stack *s)
{
	if (!kwalk_settings.text_size || KWALK_SAMPLE_REG(ctx, KWALK_REGS_CS_AT) & KWALK_USER_MODE ||
	    !(KWALK_SAMPLE_REG(ctx, KWALK_REGS_FLAGS_AT) & KWALK_FLAGS_FIXED))
		return false;
	s->copied = 0;
	s->ip = KWALK_SAMPLE_REG(ctx, KWALK_REGS_IP_AT);
	s->sp = KWALK_SAMPLE_REG(ctx, KWALK_REGS_SP_AT);
	s->bp = KWALK_SAMPLE_REG(ctx, KWALK_REGS_BP_AT);
	s->bp_at = 0;
	s->signal = 1;
	s->most = kwalk_settings.frames;
	return true;
}

/* Of a program of type TRACEPOINT: bytes in s->words, or the error of bpf_get_stack(). */
KWALK_INLINE long kwalk_tracepoint(void *ctx, struct kwalk_stack *s)
{
	s->stop = KWALK_STOP_OFF;
	if (kwalk_begin_tracepoint(ctx, s) && kwalk_get(ctx, s, true))
		return s->nr * sizeof(*s->words);
	return kwalk_by_kernel_once(ctx, s);
}

/* Of a program of type PERF_EVENT, whose event has no PERF_SAMPLE_CALLCHAIN; the same. */
KWALK_INLINE long kwalk_sample(void *ctx, struct kwalk_stack *s)
{
	s->stop = KWALK_STOP_OFF;
	if (kwalk_begin_sample(ctx, s) && kwalk_get(ctx, s, false))
		return s->nr * sizeof(*s->words);
	return kwalk_by_kernel(ctx, s);
}

/* ---- modules that come and go ----------------------------------------------------------------- */

KWALK_INLINE int kwalk_modules_changed(void)
{
	struct kwalk_modules *m = kwalk_get_modules();

	if (m)
		__sync_fetch_and_add(&m->changed, 1);
	return 0;
}

/* Before a module's first instruction runs, and before its text goes away. */
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
