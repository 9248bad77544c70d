// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attacks the kernel's own source of the walk and of its memos.  Threads and timer signals share
 * the memos of one CPU, on stacks whose frames are known because the test builds them, with rules
 * of every kind, and on the same stacks with a changed word.  Every walk must find the frames that
 * were built; a recalled value must be that of a walk made now; a walk that knows the bounds of its
 * stack must not read outside.
 *
 * kwalk_stress [SEED [ROUNDS [NS_BETWEEN_SIGNALS]]].  Built several times: plain, under each
 * sanitizer, and from damaged copies of the header, which the same checks must detect.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../stress.h"
#include "kwalk_layout.h"

#define THREADS 4 /* two per CPU */
#define CPUS 2
#define NEST_MAX 2 /* signals within signals */
#define SEEDS 96 /* stacks are built from this many seeds, so that they recur */
#define ALIKE 8 /* of these, the number that start with the same frames */

#define TEXT 0xffffffff81000000ull
#define MODULE 0xffffffffc0200000ull
#define BLOCKS 256
#define MODULE_BLOCK 208 /* the first block of the module */
#define ENDS 4 /* the first blocks: outermost functions */
#define TASK_WORDS 2048
#define OTHER_WORDS 512

struct kwalk_stack;
static bool is_outside(const struct kwalk_stack *s, uint64_t addr);

/* One context: its stacks, as the test has built them. */
struct world {
	uint64_t task_addr, other_addr; /* addresses of these words in the kernel */
	uint64_t task[TASK_WORDS], other[OTHER_WORDS];
	uint64_t used[1024]; /* addresses of words that a walk uses */
	unsigned int nr_used;
	uint64_t ups[256]; /* of these, the ones that lead up on the task's stack */
	unsigned int nr_ups;
	uint64_t ip, sp, bp; /* where it starts */
	bool signal;
	uint64_t words[KWALK_MAX_FRAMES + 1]; /* what a walk must find */
	unsigned int nr;
	bool has_module;
	bool is_guest; /* it ends at registers of user mode whose address is in the kernel's text */
	const struct kwalk_stack *reads; /* the walk that is reading and knows its bounds */
};

static __thread struct {
	unsigned int cpu, nested, thread, built;
	uint64_t rng;
	struct world *world;
	struct world worlds[NEST_MAX + 1];
} self;

static struct kwalk_settings kwalk_settings = {
	.text = TEXT,
	.text_size = MODULE_BLOCK << KWALK_BLOCK_SHIFT,
	.stack_size = TASK_WORDS * 8,
	.frames = KWALK_MAX_FRAMES,
	.reader = KWALK_BY_LOAD,
};
static struct kwalk_state kwalk_state;
static struct kwalk_block blocks[BLOCKS];
static struct kwalk_row rows[2 * BLOCKS];
static __u64 cache[KWALK_CACHE];
static struct kwalk_modules modules;
static struct kwalk_memo memos[CPUS][KWALK_MEMOS];

static struct {
	uint64_t calls, interrupts, hits, plain_hits, loads, changed_hits, walked, given_up, guests;
	uint64_t steps[KWALK_TO_OTHER + 1]; /* of remembered walks */
	uint64_t wrong_walk, wrong_recall, outside;
} test;

static void count(uint64_t *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

static uint64_t load(uint64_t addr)
{
	const struct world *w = self.world;
	uint64_t v = 0;

	if (is_outside(w->reads, addr))
		count(&test.outside);
	if (addr - w->task_addr <= sizeof(w->task) - 8)
		memcpy(&v, (const char *)w->task + (addr - w->task_addr), 8);
	else if (addr - w->other_addr <= sizeof(w->other) - 8)
		memcpy(&v, (const char *)w->other + (addr - w->other_addr), 8);
	return v;
}

static long copy_from(void *to, size_t n, uint64_t addr)
{
	(void)to;
	(void)n;
	(void)addr;
	return -1;
}

/* Sometimes walks another stack between two accesses to shared memory. */
static void interrupt(unsigned int one_in);

#define KWALK_INLINE static inline
#define KWALK_GLOBAL static
#define KWALK_LOOP
/* as of a map: the byte before the text has no block */
#define kwalk_get_block(i) ((i) < BLOCKS ? &blocks[i] : NULL)
#define kwalk_get_row(i) ((i) < 2 * BLOCKS ? &rows[i] : NULL)
#define kwalk_get_cached(i) (&cache[i])
#define kwalk_get_modules() (&modules)
#define kwalk_get_memo(i) (&memos[self.cpu][i])
#define kwalk_load(addr) load(addr)
#define kwalk_guarded(addr) load(addr)
#define kwalk_copy_from(to, n, addr) copy_from(to, n, addr)
#define kwalk_get64(p) (interrupt(256), __atomic_load_n(p, __ATOMIC_ACQUIRE))
#define kwalk_get32(p) (interrupt(256), __atomic_load_n(p, __ATOMIC_ACQUIRE))
#define kwalk_set64(p, v) (__atomic_store_n(p, v, __ATOMIC_RELEASE), interrupt(32))
#define kwalk_set32(p, v) (__atomic_store_n(p, v, __ATOMIC_RELEASE), interrupt(32))
#define kwalk_cas32(p, o, n) __sync_val_compare_and_swap(p, o, n)
#include KWALK_HEADER

/* Whether addr is outside the stack whose bounds the walk knows. */
static bool is_outside(const struct kwalk_stack *s, uint64_t addr)
{
	return s && s->size && (addr < s->low || addr - s->low > s->size - 8);
}

static uint64_t scramble(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185ull;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44dull;
	return x ^ x >> 33;
}

static uint32_t rnd(uint64_t *rng, uint32_t n)
{
	*rng += 0x9e3779b97f4a7c15ull;
	return (scramble(*rng) >> 32) % n;
}

/* ---- text and its rules ---------------------------------------------------------------------- */

static uint32_t body_rule(unsigned int block, unsigned int version)
{
	uint64_t rng = scramble(block * 16 + version);
	uint32_t off = 16 + 8 * rnd(&rng, 20), kind = rnd(&rng, 100);

	if (block < ENDS)
		return KWALK_RULE(KWALK_END, 0, 0);
	if (kind < 35)
		return KWALK_RULE(KWALK_CALL_SP, off, 0);
	if (kind < 60)
		return KWALK_RULE(KWALK_CALL_SP, off, -2);
	if (kind < 75)
		return KWALK_RULE(KWALK_CALL_BP, 16, -2);
	if (kind < 83)
		return KWALK_RULE(KWALK_REGS_SP, 8 * rnd(&rng, 4), 0) | KWALK_RULE_SIGNAL;
	if (kind < 87)
		return KWALK_RULE(KWALK_REGS_BP, 8 * rnd(&rng, 4), 0) | KWALK_RULE_SIGNAL;
	if (kind < 92)
		return KWALK_RULE(KWALK_IRET_SP, 8 * rnd(&rng, 4), 0) | KWALK_RULE_SIGNAL;
	if (kind < 96)
		return KWALK_RULE(KWALK_CALL_SP_IND, 8 * rnd(&rng, 3), 0);
	return KWALK_RULE(KWALK_CALL_BP_IND, -8, 0) | KWALK_RULE_BP_REL;
}

/* A block has two rows: before its function has created its frame, and after. */
static void write_rules(unsigned int from, unsigned int version)
{
	unsigned int i;

	for (i = from; i < BLOCKS; i++) {
		blocks[i] = (struct kwalk_block){ .first = 2 * i, .more = 1 };
		rows[2 * i] = (struct kwalk_row){ 0, KWALK_RULE(KWALK_CALL_SP, 8, 0) };
		rows[2 * i + 1] = (struct kwalk_row){ 64, body_rule(i, version) };
	}
}

/* A return address is looked up at the call before it. */
static uint32_t rule_of(uint64_t ip, bool signal)
{
	uint64_t at =
		(ip < MODULE ? ip - TEXT : ip - MODULE + (MODULE_BLOCK << KWALK_BLOCK_SHIFT)) -
		!signal;

	return rows[2 * (at >> KWALK_BLOCK_SHIFT) + ((at & (KWALK_BLOCK - 1)) >= 64)].rule;
}

/* An instruction outside the outermost functions; often the first of the second row. */
static uint64_t some_site(uint64_t *rng)
{
	unsigned int block = ENDS + rnd(rng, rnd(rng, 8) ? MODULE_BLOCK - ENDS : BLOCKS - ENDS);
	uint32_t at = rnd(rng, 6) ? 66 + rnd(rng, 180) : 4 + 4 * rnd(rng, 16);

	if (block >= MODULE_BLOCK)
		return MODULE + ((block - MODULE_BLOCK) << KWALK_BLOCK_SHIFT) + at;
	return TEXT + (block << KWALK_BLOCK_SHIFT) + at;
}

static uint64_t site_of(uint64_t *rng, enum kwalk_kind kind, bool signal)
{
	uint64_t ip;

	if (kind == KWALK_END)
		return TEXT + (rnd(rng, ENDS) << KWALK_BLOCK_SHIFT) + 66 + rnd(rng, 180);
	do
		ip = some_site(rng);
	while (KWALK_RULE_KIND(rule_of(ip, signal)) != kind);
	return ip;
}

/* ---- stacks with known frames ---------------------------------------------------------------- */

struct builder {
	struct world *w;
	uint64_t *rng;
	uint64_t sp, bp_at; /* where to store rbp; 0: in the register */
	bool on_task, signal;
};

static void put_word(struct world *w, uint64_t addr, uint64_t v)
{
	if (addr - w->task_addr < sizeof(w->task))
		w->task[(addr - w->task_addr) / 8] = v;
	else
		w->other[(addr - w->other_addr) / 8] = v;
}

static void put(struct world *w, uint64_t addr, uint64_t v)
{
	put_word(w, addr, v);
	if (w->nr_used < sizeof(w->used) / 8)
		w->used[w->nr_used++] = addr;
}

static void put_bp(struct builder *b, uint64_t v)
{
	if (b->bp_at)
		put(b->w, b->bp_at, v);
	else
		b->w->bp = v;
}

static uint64_t room(const struct builder *b)
{
	const struct world *w = b->w;

	return b->on_task ? w->task_addr + sizeof(w->task) - b->sp :
			    w->other_addr + sizeof(w->other) - b->sp;
}

/* A place above at, or on the task's stack, for the word at `from` to point to. */
static uint64_t elsewhere(struct builder *b, uint64_t from, uint64_t at)
{
	if (b->on_task)
		b->w->ups[b->w->nr_ups++] = from;
	if (b->on_task || (room(b) > 1600 && rnd(b->rng, 2)))
		return at + 8 + 8 * rnd(b->rng, 24);
	b->on_task = true;
	return b->w->task_addr + 4096 + 8 * rnd(b->rng, 512);
}

static uint64_t next_site(struct builder *b, unsigned int depth)
{
	uint64_t ip;

	if (b->on_task && (b->w->nr >= depth || room(b) < 1200))
		return site_of(b->rng, KWALK_END, b->signal);
	if (!b->on_task && room(b) < 1200)
		return site_of(b->rng, KWALK_CALL_SP_IND, b->signal);
	ip = some_site(b->rng);
	b->w->has_module |= ip >= MODULE;
	return ip;
}

/* Builds the frame of struct pt_regs at the address. */
static uint64_t build_regs(struct builder *b, uint64_t at, bool has_bp, unsigned int depth)
{
	struct world *w = b->w;
	bool user = b->on_task && !rnd(b->rng, 4);
	uint64_t ip;

	if (user) {
		w->is_guest = !rnd(b->rng, 4);
		/* of registers with an address in user space, no other word matters */
		(w->is_guest ? put : put_word)(w, at + KWALK_REGS_CS_AT, 0x33);
		put(w, at + KWALK_REGS_IP_AT, w->is_guest ? TEXT + 0x80 : 0x401000);
		return 0;
	}
	put(w, at + KWALK_REGS_CS_AT, 0x10);
	b->sp = elsewhere(b, at + KWALK_REGS_SP_AT, at + 168);
	b->signal = true;
	ip = next_site(b, depth);
	put(w, at + KWALK_REGS_IP_AT, ip);
	put(w, at + KWALK_REGS_SP_AT, b->sp);
	if (has_bp)
		b->bp_at = at + KWALK_REGS_BP_AT;
	return ip;
}

/* Builds the words that the rule of ip uses, and returns the caller; 0: there is none. */
static uint64_t build_frame(struct builder *b, uint32_t rule, unsigned int depth)
{
	uint64_t off = KWALK_RULE_OFFSET(rule), cfa = b->sp + off, at, ip;
	struct world *w = b->w;

	b->signal = false;
	switch (KWALK_RULE_KIND(rule)) {
	case KWALK_CALL_BP:
		cfa = b->sp + 16 + 8 * rnd(b->rng, 24);
		put_bp(b, cfa - off);
		if (b->bp_at && b->on_task)
			w->ups[w->nr_ups++] = b->bp_at;
		break;
	case KWALK_REGS_SP:
		return build_regs(b, b->sp + off, true, depth);
	case KWALK_REGS_BP:
		at = b->sp + 8 * rnd(b->rng, 8);
		put_bp(b, at - off);
		return build_regs(b, at, true, depth);
	case KWALK_IRET_SP:
		return build_regs(b, b->sp + off - KWALK_REGS_IP_AT, false, depth);
	case KWALK_CALL_SP_IND:
		at = b->sp;
		cfa = elsewhere(b, at, at + 16);
		put(w, at, cfa - off);
		break;
	case KWALK_CALL_BP_IND:
		at = b->sp + 16 + 8 * rnd(b->rng, 16);
		put_bp(b, at);
		cfa = elsewhere(b, at - 8, at + 16);
		put(w, at - 8, cfa);
		b->bp_at = at;
		break;
	case KWALK_END:
		return 0;
	}
	b->sp = cfa;
	ip = next_site(b, depth);
	put(w, cfa - 8, ip);
	if (KWALK_RULE_SLOT(rule)) {
		b->bp_at = cfa + KWALK_RULE_BP_AT(rule);
		put(w, b->bp_at, *b->rng);
	}
	return ip;
}

static void build(struct world *w, uint64_t nr)
{
	uint64_t rng = scramble(nr / ALIKE), ip;
	struct builder b = { .w = w, .rng = &rng };
	unsigned int depth = 1 + nr % 20;

	/* the other words keep the contents of earlier stacks */
	w->task[TASK_WORDS - 6] = nr & 1; /* in place of a system call's number */
	w->nr_used = w->nr_ups = w->nr = 0;
	w->has_module = w->is_guest = false;
	w->bp = scramble(nr);
	b.on_task = rnd(&rng, 4);
	b.sp = b.on_task ? w->task_addr + 1024 + 8 * rnd(&rng, 1400) :
			   w->other_addr + 8 * rnd(&rng, 100);
	w->sp = b.sp;
	b.signal = w->signal = rnd(&rng, 2);
	ip = w->ip = next_site(&b, depth);
	while (ip && w->nr < KWALK_MAX_FRAMES) {
		if (w->nr == 2)
			rng ^= scramble(nr);
		w->words[w->nr++] = ip;
		ip = build_frame(&b, rule_of(ip, b.signal), depth);
	}
}

/* Changes one of the words that the walk uses. */
static void change_word(struct world *w)
{
	uint64_t addr = w->used[rnd(&self.rng, w->nr_used)], v = load(addr);

	switch (rnd(&self.rng, 5)) {
	case 0:
		v ^= 1ull << rnd(&self.rng, 64);
		break;
	case 1: /* or the first byte of the text, which follows no call */
		v = rnd(&self.rng, 4) ? some_site(&self.rng) : TEXT;
		break;
	case 2:
		v = load(w->used[rnd(&self.rng, w->nr_used)]);
		break;
	case 3:
		v ^= 1ull << 32 << rnd(&self.rng, 32);
		break;
	default:
		v ^= 1 + rnd(&self.rng, 3);
	}
	put(w, addr, v);
}

/* Moves a caller's frame, with all above it, below its callee's. */
static bool lower_frame(struct world *w)
{
	uint64_t at = w->task_addr + 256, addr, v;

	if (!w->nr_ups)
		return false;
	addr = w->ups[rnd(&self.rng, w->nr_ups)];
	v = load(addr);
	memmove(&w->task[(at - w->task_addr) / 8 - 16], &w->task[(v - w->task_addr) / 8 - 16], 640);
	put(w, addr, at);
	return true;
}

/* Moves the whole stack so far up that its last word is outside. */
static bool raise_stack(struct world *w)
{
	uint64_t end = w->task_addr + sizeof(w->task), top = 0, by, v;
	unsigned int i;

	for (i = 0; i < w->nr_used; i++)
		if (w->used[i] - w->task_addr < sizeof(w->task) && w->used[i] > top)
			top = w->used[i];
	by = end - top;
	if (w->sp - w->task_addr >= sizeof(w->task) || top <= w->sp || w->sp + by >= end)
		return false;
	for (i = 0; i < w->nr_used; i++) {
		v = load(w->used[i]);
		if (v - w->task_addr <= sizeof(w->task))
			put_word(w, w->used[i], v + by);
	}
	memmove(&w->task[(w->sp + by - w->task_addr) / 8], &w->task[(w->sp - w->task_addr) / 8],
		end - w->sp - by);
	if (w->bp - w->task_addr <= sizeof(w->task))
		w->bp += by;
	w->sp += by;
	return true;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static uint64_t value_of(const struct kwalk_stack *s, uint32_t salt)
{
	uint64_t v = scramble(salt) + s->nr;
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		v = scramble(v ^ s->words[i]) + i;
	return v | 1;
}

static void begin(const struct world *w, struct kwalk_stack *s, unsigned int most)
{
	s->low = s->size = 0;
	s->copied = s->entered = 0;
	s->at_limit = 0;
	s->tag = 0;
	s->task = w->task_addr;
	s->ip = w->ip;
	s->sp = w->sp;
	s->bp = w->bp;
	s->bp_at = 0;
	s->signal = w->signal;
	s->most = most;
}

static bool is_as_built(const struct world *w, const struct kwalk_stack *s)
{
	unsigned int nr = w->nr < s->most ? w->nr : s->most;

	return s->nr == nr && !memcmp(s->words, w->words, nr * 8);
}

static void note_steps(const struct kwalk_stack *s)
{
	unsigned int i;

	for (i = 0; !s->odd && i < s->nr_steps && i < KWALK_STEPS; i++)
		count(&test.steps[s->steps[i] & 7]);
}

enum change {
	AS_BUILT,
	OTHER_START, /* another instruction with the same rule */
	ONE_WORD,
	LOWER_FRAME,
	RAISED,
};

static enum change change(struct world *w)
{
	enum change c = rnd(&self.rng, 6);
	uint64_t ip = w->ip ^ (1 + rnd(&self.rng, 63));

	if (c == OTHER_START && w->nr && rule_of(ip, w->signal) == rule_of(w->ip, w->signal))
		w->words[0] = w->ip = ip;
	else if (c == ONE_WORD && w->nr_used)
		change_word(w);
	else if (c == LOWER_FRAME && lower_frame(w))
		return c;
	else if (c == RAISED && raise_stack(w))
		return c;
	else
		return AS_BUILT;
	return ONE_WORD;
}

/* Checks a result by what is known of the stack without a walk. */
static bool is_right(const struct world *w, const struct kwalk_stack *s, uint32_t stop,
		     enum change c)
{
	switch (c) {
	case AS_BUILT:
	case OTHER_START: /* if cut short on another stack than the task's, it gives up */
		if (stop == KWALK_DONE)
			return is_as_built(w, s) && (!w->is_guest || w->nr >= s->most);
		return w->nr >= s->most || w->has_module || w->is_guest;
	case LOWER_FRAME:
	case RAISED:
		return stop != KWALK_DONE || w->nr >= s->most;
	default:
		return true;
	}
}

/* What is recalled in registers: kwalk_recall() is asked in any case. */
static uint64_t recall_plain(struct kwalk_stack *s, uint32_t salt)
{
	uint64_t value;

	if (s->signal)
		return 0;
	/* the reads are those of a walk on the task's stack */
	s->low = s->task;
	s->size = kwalk_settings.stack_size;
	value = kwalk_recall_plain(s->task, s->sp, s->ip, salt);
	s->low = s->size = 0;
	if (value)
		count(&test.plain_hits);
	return value;
}

/* A module has just been loaded, and the tables are not those of the remembered walk any more. */
static void load_module(struct kwalk_stack *s, uint32_t salt)
{
	modules.changed++;
	if (recall_plain(s, salt))
		count(&test.wrong_recall);
	modules.changed--;
	count(&test.loads);
}

/* Whether it is what this walk leads to; a module may have been loaded meanwhile. */
static bool is_value_of(uint64_t value, const struct world *w, const struct kwalk_stack *fresh,
			uint32_t stop, uint32_t salt)
{
	return stop == KWALK_DONE ? value == value_of(fresh, salt) : w->has_module;
}

static void attack(struct world *w)
{
	struct kwalk_stack s, fresh;
	uint32_t salt = 1 + rnd(&self.rng, 2), stop;
	unsigned int most = salt == 1 ? KWALK_MAX_FRAMES : 8;
	enum change c;
	uint64_t value;

	/* a nested context often has the same stack */
	if (!self.nested || rnd(&self.rng, 2))
		self.built = rnd(&self.rng, SEEDS);
	build(w, self.built);
	c = change(w);
	count(&test.calls);
	begin(w, &fresh, most);
	w->reads = &fresh;
	stop = kwalk_walk(&fresh);
	if (stop != KWALK_DONE)
		count(&test.given_up);
	if (w->is_guest && w->nr < most)
		count(&test.guests);
	if (!is_right(w, &fresh, stop, c))
		count(&test.wrong_walk);

	begin(w, &s, most);
	w->reads = &s;
	value = recall_plain(&s, salt);
	if (value && !is_value_of(value, w, &fresh, stop, salt))
		count(&test.wrong_recall);
	if (value && stop == KWALK_DONE && fresh.modules && self.thread == THREADS)
		load_module(&s, salt);
	value = kwalk_recall(&s, salt);
	if (value) {
		count(&test.hits);
		if (c != AS_BUILT)
			count(&test.changed_hits);
		if (!is_value_of(value, w, &fresh, stop, salt))
			count(&test.wrong_recall);
	} else if (kwalk_walk(&s) == KWALK_DONE) {
		count(&test.walked);
		if (stop == KWALK_DONE && kwalk_compare(&s, &fresh))
			count(&test.wrong_walk);
		note_steps(&s);
		kwalk_remember(&s, value_of(&s, salt));
	}
	w->reads = NULL;
}

/* ---- threads and signals --------------------------------------------------------------------- */

static uint64_t seed = 1, rounds = 60000;
static long signal_ns = 100000;

static void run_world(void)
{
	struct world *before = self.world;

	self.world = &self.worlds[self.nested];
	attack(self.world);
	self.world = before;
}

static void interrupt(unsigned int one_in)
{
	if (self.nested >= NEST_MAX || rnd(&self.rng, one_in))
		return;
	self.nested++;
	count(&test.interrupts);
	run_world();
	self.nested--;
}

static void on_timer(int sig)
{
	int err = errno;

	(void)sig;
	stress_timer_expired();
	if (self.world && self.nested < NEST_MAX) {
		self.nested++;
		count(&test.interrupts);
		run_world();
		self.nested--;
	}
	errno = err;
}

static void self_init(unsigned int thread)
{
	uint64_t i;

	self.thread = thread;
	self.cpu = thread % CPUS;
	self.rng = scramble(seed + thread);
	for (i = 0; i <= NEST_MAX; i++) {
		self.worlds[i].task_addr = 0xffffc90000000000ull + ((thread * 8 + i) << 16);
		self.worlds[i].other_addr = 0xfffffe0000000000ull + ((thread * 8 + i) << 16);
	}
}

static void *thread_run(void *arg)
{
	uint64_t i;

	self_init((uintptr_t)arg);
	stress_timer_create();
	for (i = 0; i < rounds; i++) {
		stress_timer_arm(signal_ns);
		run_world();
		/* a module is loaded: memos of modules become invalid, but the rules stay */
		if (!self.thread && !(i & 1023)) {
			uint64_t n = __atomic_add_fetch(&modules.changed, 1, __ATOMIC_SEQ_CST);

			__atomic_store_n(&modules.valid, n + 1, __ATOMIC_RELEASE);
		}
	}
	stress_timer_delete();
	return NULL;
}

/* One context, and modules whose rules change. */
static void alone(void)
{
	uint64_t i;

	self_init(THREADS);
	for (i = 0; i < rounds; i++) {
		if (!(i & 511)) {
			write_rules(MODULE_BLOCK, (i >> 9) & 1);
			modules.changed++;
			modules.valid = modules.changed + 1;
		}
		run_world();
	}
}

/* 0: correct, 1: an error was found, 2: cases to be tested did not occur. */
static int judge(const char *scene)
{
	bool bad = test.wrong_walk || test.wrong_recall || test.outside;
	bool few = test.hits < test.calls / 20 || test.plain_hits < test.calls / 400 ||
		   !test.changed_hits || !test.given_up || !test.guests;
	unsigned int i;

	for (i = 0; i <= KWALK_TO_OTHER; i++)
		few |= !test.steps[i];
	printf("%s: calls %lu interrupts %lu recalled %lu (in registers %lu, before modules %lu, "
	       "of changed stacks %lu) "
	       "walked %lu given up %lu | steps",
	       scene, test.calls, test.interrupts, test.hits, test.plain_hits, test.loads,
	       test.changed_hits, test.walked, test.given_up);
	for (i = 0; i <= KWALK_TO_OTHER; i++)
		printf(" %lu", test.steps[i]);
	printf(" | wrong walks %lu, wrong recalls %lu, reads outside %lu: %s\n", test.wrong_walk,
	       test.wrong_recall, test.outside,
	       bad ? "WRONG" :
	       few ? "too few" :
		     "ok");
	memset(&test, 0, sizeof(test));
	return bad ? 1 : few ? 2 : 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	pthread_t threads[THREADS];
	uintptr_t i;
	int result;

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		rounds = strtoull(argv[2], NULL, 0);
	if (argc > 3)
		signal_ns = strtol(argv[3], NULL, 0);
	sigaction(SIGUSR1, &action, NULL);
	write_rules(0, 0);
	modules.nr = 1;
	modules.module[0] = (struct kwalk_module){
		.text = MODULE,
		.size = (BLOCKS - MODULE_BLOCK) << KWALK_BLOCK_SHIFT,
		.block = MODULE_BLOCK,
	};
	alone();
	result = judge("alone");
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_run, (void *)i))
			abort();
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	result |= judge("threads");
	return result & 1 ? 1 : result;
}
