// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attacks the walk along frame pointers and its memos: on stacks with plain frames, interrupts and
 * stack switches, and on the same stacks with words changed and frames moved.  A model of the
 * kernel's unwinder (kernel_words()), which knows the bounds of all stacks and the place of a
 * task's last frame, gives the expected words.  The walk must give up or find the same words, and a
 * recalled value must be that of the same words; on unchanged stacks it must not give up
 * needlessly.  The next walk that is due for a comparison must be the first one that is.
 *
 * kwalk_linked [SEED [ROUNDS]].  Built plain and under sanitizers, and from damaged copies of the
 * header, which the same checks must detect.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kwalk_layout.h"

#define SEEDS 48 /* stacks are built from this many seeds, so that they recur */
#define TEXT 0xffffffff81000000ull
#define TEXT_SIZE 0x10000
#define GAP 0xc000
#define GAP_SIZE 0x2000
#define TRACER (TEXT + 0x123)
#define MODULE 0xffffffffc0200000ull
#define MODULE_SIZE 0x2000
#define TASK 0xffffc90000000000ull
#define TASK_WORDS 2048
#define OTHER 0xfffffe0000000000ull
#define OTHER_WORDS 512
#define OTHER_END (OTHER + OTHER_WORDS * 8)
#define STACK_SIZE (TASK_WORDS * 8)

struct kwalk_stack;

static uint64_t task_words[TASK_WORDS], other_words[OTHER_WORDS];
static const struct kwalk_stack *reads; /* the walk that is reading */
static uint64_t rng, seed = 1;

static struct kwalk_settings kwalk_settings = {
	.text = TEXT,
	.text_size = TEXT_SIZE,
	.stack_size = STACK_SIZE,
	.frames = KWALK_MAX_FRAMES,
	.reader = KWALK_BY_LOAD,
	.returns = { (uint32_t)TRACER },
	.unwinder = KWALK_FRAME_POINTERS,
	.gap = GAP,
	.gap_size = GAP_SIZE,
};
static struct kwalk_state kwalk_state;
static struct kwalk_modules modules = {
	.changed = 1,
	.valid = 2,
	.nr = 1,
	.module[0] = { .text = MODULE, .size = MODULE_SIZE },
};
static struct kwalk_memo memos[KWALK_MEMOS];

static struct {
	uint64_t calls, done, given_up, hits, changed_hits, unsure;
	uint64_t steps[KWALK_TO_OTHER + 1]; /* of remembered walks */
	uint64_t wrong_walk, needless, wrong_recall, outside, wrong_due;
} test;

static uint64_t *word_at(uint64_t addr)
{
	if (addr - TASK < sizeof(task_words))
		return &task_words[(addr - TASK) / 8];
	return addr - OTHER < sizeof(other_words) ? &other_words[(addr - OTHER) / 8] : NULL;
}

static uint64_t peek(uint64_t addr)
{
	uint64_t v = 0;

	if (addr - TASK <= sizeof(task_words) - 8)
		memcpy(&v, (const char *)task_words + (addr - TASK), 8);
	else if (addr - OTHER <= sizeof(other_words) - 8)
		memcpy(&v, (const char *)other_words + (addr - OTHER), 8);
	return v;
}

static uint64_t load(uint64_t addr);

#define KWALK_INLINE static inline
#define KWALK_GLOBAL static
#define KWALK_LOOP
#define kwalk_get_block(i) ((i) ? (struct kwalk_block *)NULL : NULL)
#define kwalk_get_row(i) ((i) ? (struct kwalk_row *)NULL : NULL)
#define kwalk_get_cached(i) ((i) ? (__u64 *)NULL : NULL)
#define kwalk_get_modules() (&modules)
#define kwalk_get_memo(i) (&memos[i])
#define kwalk_load(addr) load(addr)
#define kwalk_guarded(addr) load(addr)
#define kwalk_copy_from(to, n, addr) ((addr) ? -1 : -1)
#define kwalk_get64(p) (*(const volatile __u64 *)(p))
#define kwalk_get32(p) (*(const volatile __u32 *)(p))
#define kwalk_set64(p, v) (*(volatile __u64 *)(p) = (v))
#define kwalk_set32(p, v) (*(volatile __u32 *)(p) = (v))
#define kwalk_cas32(p, o, n) __sync_val_compare_and_swap(p, o, n)
#include KWALK_HEADER

static uint64_t load(uint64_t addr)
{
	if (reads && reads->size && (addr < reads->low || addr - reads->low > reads->size - 8))
		test.outside++;
	return peek(addr);
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185ull;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44dull;
	return x ^ x >> 33;
}

static uint32_t rnd(uint64_t *r, uint32_t n)
{
	*r += 0x9e3779b97f4a7c15ull;
	return (mix(*r) >> 32) % n;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* The start of a walk, and the words that it uses. */
struct start {
	bool sample;
	uint64_t ip, sp, bp, frame; /* of a sample the registers, of a tracepoint the frame */
	uint64_t regs; /* of the task, at the end of its stack */
	uint64_t used[512], links[256];
	unsigned int nr_used, nr_links;
	bool may_give_up;
};

struct builder {
	struct start *s;
	uint64_t r;
	uint64_t at; /* the end of the last frame */
	uint64_t link; /* where to store the next frame pointer; 0: in the register */
	uint64_t ip; /* return address of the last frame */
	bool on_task;
};

static void put(struct builder *b, uint64_t addr, uint64_t v)
{
	*word_at(addr) = v;
	if (b->s->nr_used < 512)
		b->s->used[b->s->nr_used++] = addr;
}

static void put_link(struct builder *b, uint64_t v)
{
	if (!b->link) {
		b->s->bp = v;
		return;
	}
	put(b, b->link, v);
	if (b->s->nr_links < 256)
		b->s->links[b->s->nr_links++] = b->link;
}

static uint64_t some_ip(uint64_t *r)
{
	uint32_t kind = rnd(r, 64);

	if (!kind)
		return TRACER;
	if (kind < 8)
		return MODULE + rnd(r, MODULE_SIZE);
	if (kind < 12)
		return TEXT + GAP + GAP_SIZE + rnd(r, TEXT_SIZE - GAP - GAP_SIZE);
	return TEXT + rnd(r, GAP);
}

static uint64_t new_ip(struct builder *b)
{
	b->ip = some_ip(&b->r);
	b->s->may_give_up |= b->ip == TRACER || b->ip == TRACER + 1;
	return b->ip;
}

static void build_frame(struct builder *b, uint64_t frame)
{
	put_link(b, frame);
	put(b, frame + 8, new_ip(b));
	b->link = frame;
	b->at = frame + 16;
}

static void build_regs(struct builder *b, uint64_t regs)
{
	/* The kernel starts a sample after these; the walk does not start there. */
	b->s->may_give_up |= !b->link;
	put_link(b, regs | 1);
	put(b, regs, b->ip); /* so that they can overlap a return address */
	put(b, regs + KWALK_REGS_CS_AT, 0x10);
	put(b, regs + KWALK_REGS_IP_AT, new_ip(b));
	put(b, regs + KWALK_REGS_SP_AT, regs + KWALK_REGS_SIZE);
	b->link = regs + KWALK_REGS_BP_AT;
	b->at = regs + KWALK_REGS_SIZE;
}

/*
 * Registers of user space, or those that a kernel thread starts with.  They always have this form
 * and are not changed.
 */
static void build_last_regs(uint64_t regs, bool user)
{
	*word_at(regs + KWALK_REGS_CS_AT) = user ? 0x33 : 0;
	*word_at(regs + KWALK_REGS_IP_AT) = user ? 0x401000 : 0;
	*word_at(regs + KWALK_REGS_SP_AT) = user ? 0x7ffd0000 : 0;
	*word_at(regs + KWALK_REGS_BP_AT) = user ? 0x7ffd0040 : 0;
}

/* Entry code's callee: for a system call, an exception in user space, a kernel thread. */
static void build_end(struct builder *b)
{
	uint64_t last = b->s->regs - 16, copy;
	uint32_t how = rnd(&b->r, 6);

	build_last_regs(b->s->regs, how & 1);
	if (how == 4) { /* gcc has aligned its stack */
		build_frame(b, last - 8);
		put(b, last + 8, b->ip);
	} else if (how == 5) { /* ftrace's handler of such a function */
		build_frame(b, last - 24);
		copy = b->ip;
		put(b, last - 8, how & 2 ? 0 : b->s->regs | 1);
		put(b, last, TEXT + 7);
		put(b, last + 8, copy);
	} else {
		build_frame(b, last);
	}
	put_link(b, how & 2 || how == 4 ? 0 : b->s->regs | 1);
}

static void build_next(struct builder *b)
{
	uint64_t room = (b->on_task ? b->s->regs - 64 : OTHER_END - 8) - b->at, to = b->at;

	if (!b->on_task && (room < 400 || !rnd(&b->r, 8))) {
		/* a sample's sp is on one stack, its frame on another */
		b->s->may_give_up |= !b->link;
		b->on_task = true;
		to = TASK + 4096 + 8 * rnd(&b->r, 512);
		other_words[OTHER_WORDS - 1] = to;
	}
	to += 8 * rnd(&b->r, 20);
	if (rnd(&b->r, 7))
		build_frame(b, to);
	else
		build_regs(b, to);
}

static void build(struct start *s, uint64_t nr)
{
	struct builder b = { .s = s, .r = mix(nr) };
	unsigned int frames = rnd(&b.r, 24);

	memset(s, 0, sizeof(*s));
	s->sample = rnd(&b.r, 2);
	/* with FRED's words above, or without */
	s->regs = TASK + STACK_SIZE - (nr & 1 ? 16 : 0) - KWALK_REGS_SIZE;
	b.on_task = rnd(&b.r, 3);
	b.at = b.on_task ? TASK + 1024 + 8 * rnd(&b.r, 1200) : OTHER + 8 * rnd(&b.r, 200);
	other_words[OTHER_WORDS - 1] = TASK + 4096;
	if (s->sample) {
		s->sp = b.at;
		s->ip = new_ip(&b);
	} else {
		s->frame = b.at;
		b.link = b.at;
		put(&b, b.at + 8, new_ip(&b));
		b.at += 16;
	}
	/* the last frame on the other stack leaves it */
	while ((frames-- || !b.on_task) && !(b.on_task && s->regs - b.at < 1024))
		build_next(&b);
	build_end(&b);
}

/* ---- the model of the kernel's unwinder ------------------------------------------------------ */

enum { NO_STACK, ON_TASK, ON_OTHER };

struct unwinder {
	uint64_t last; /* the place of a task's last frame */
	int stack; /* NO_STACK: done */
	bool was_on[3], begun, unsure;
	uint64_t bp, regs, ip;
};

static bool is_on(int stack, uint64_t addr, uint64_t n)
{
	uint64_t low = stack == ON_TASK ? TASK : OTHER;
	uint64_t size = stack == ON_TASK ? sizeof(task_words) : sizeof(other_words);

	return stack != NO_STACK && addr - low < size && size - (addr - low) >= n;
}

static void enter(struct unwinder *u, uint64_t addr)
{
	u->stack = is_on(ON_TASK, addr, 1)  ? ON_TASK :
		   is_on(ON_OTHER, addr, 1) ? ON_OTHER :
					      NO_STACK;
	if (u->was_on[u->stack])
		u->stack = NO_STACK;
	u->was_on[u->stack] = u->stack != NO_STACK;
}

static bool is_user(uint64_t regs)
{
	return peek(regs + KWALK_REGS_CS_AT) & KWALK_USER_MODE;
}

static bool is_code(uint64_t ip)
{
	return (ip - TEXT < GAP) || (ip - TEXT >= GAP + GAP_SIZE && ip - TEXT < TEXT_SIZE) ||
	       ip - MODULE < MODULE_SIZE;
}

static void move_to(struct unwinder *u, uint64_t bp)
{
	uint64_t end = u->regs ? u->regs + KWALK_REGS_SIZE : u->bp + 16, frame = bp & ~1ull;
	uint64_t n = bp & 1 ? KWALK_REGS_SIZE : 16;
	int was = u->stack;

	/* The walk does not know the bounds of other stacks. */
	u->unsure |= was == ON_OTHER && frame < OTHER_END && frame + n > OTHER_END - 8;
	while (u->stack != NO_STACK && !is_on(u->stack, frame, n))
		enter(u, u->stack == ON_OTHER ? other_words[OTHER_WORDS - 1] : 0);
	if (u->stack == NO_STACK)
		return;
	if (u->begun && u->stack == was && frame < end) {
		u->stack = NO_STACK;
		return;
	}
	u->begun = true;
	u->regs = bp & 1 ? frame : 0;
	u->bp = bp & 1 ? 0 : bp;
	u->ip = u->regs && is_user(u->regs) ? 0 :
					      peek(u->regs ? u->regs + KWALK_REGS_IP_AT : bp + 8);
}

static bool is_last(const struct unwinder *u)
{
	uint64_t bp = u->bp, last = u->last;

	return bp == last || (bp == last - 8 && peek(bp + 8) == peek(last + 8)) ||
	       (bp == last - 24 && peek(bp) == peek(bp + 16) && peek(bp + 8) == peek(bp + 32));
}

static void move(struct unwinder *u)
{
	uint64_t next = peek(u->regs ? u->regs + KWALK_REGS_BP_AT : u->bp);
	bool last = u->regs ? is_user(u->regs) : is_last(u);

	/* The position of a task's own registers is uncertain by two words. */
	u->unsure |= last && !u->regs && next - u->last - 1 < 16;
	if (last)
		u->stack = NO_STACK; /* or these registers, which add no word */
	else
		move_to(u, next);
}

/* The number of words; *ret_sure: those before a tracer's return address, which are certain. */
static unsigned int kernel_words(const struct start *s, __u64 *words, unsigned int *ret_sure,
				 bool *ret_unsure)
{
	struct unwinder u = { .last = s->regs - 16 };
	unsigned int nr = 0;

	*ret_sure = UINT32_MAX;
	enter(&u, s->sample ? s->bp : s->frame);
	move_to(&u, s->sample ? s->bp : s->frame);
	if (s->sample)
		words[nr++] = s->ip;
	while (s->sample && u.stack != NO_STACK && (!is_on(u.stack, s->sp, 8) || u.bp < s->sp))
		move(&u);
	for (; u.stack != NO_STACK && is_code(u.ip) && nr <= KWALK_MAX_FRAMES; move(&u)) {
		if (u.ip == TRACER && nr < *ret_sure)
			*ret_sure = nr;
		words[nr++] = u.ip;
	}
	*ret_unsure = u.unsure;
	return nr;
}

/* ---- changes --------------------------------------------------------------------------------- */

static void change_word(struct start *s)
{
	uint64_t *at = word_at(s->used[rnd(&rng, s->nr_used)]);

	switch (rnd(&rng, 7)) {
	case 0:
		*at ^= 1ull << rnd(&rng, 64);
		break;
	case 1:
		*at = some_ip(&rng);
		break;
	case 2:
		*at = *word_at(s->used[rnd(&rng, s->nr_used)]);
		break;
	case 3:
		*at = TEXT + GAP + rnd(&rng, GAP_SIZE);
		break;
	case 4:
		*at += 8 * (rnd(&rng, 48) - 24ull);
		break;
	case 5:
		*at = rnd(&rng, 2) ? 0 : TASK + STACK_SIZE - 8 * rnd(&rng, 40);
		break;
	default:
		*at ^= 1 + rnd(&rng, 3);
	}
}

static void change_register(struct start *s)
{
	if (rnd(&rng, 2))
		s->bp = *word_at(s->links[rnd(&rng, s->nr_links)]);
	else
		s->bp = rnd(&rng, 2) ? 0 : s->bp ^ 1ull << rnd(&rng, 64);
}

/* Moves a frame, with some words above it, elsewhere: over its callee, to the end. */
static void move_frame(struct start *s)
{
	uint64_t link = s->links[rnd(&rng, s->nr_links)], v = peek(link), to, i;

	to = rnd(&rng, 2) ? link + 8 * (rnd(&rng, 40) - 20ull) :
			    TASK + STACK_SIZE - 8 * (18 + rnd(&rng, 6));
	for (i = 0; i < KWALK_REGS_SIZE; i += 8)
		if (word_at(to + i) && to + i != link && to + i < s->regs + KWALK_REGS_BP_AT)
			*word_at(to + i) = peek((v & ~1ull) + i);
	*word_at(link) = to | (v & 1);
}

/* May change nothing. */
static bool change(struct start *s)
{
	switch (rnd(&rng, 8)) {
	case 0:
	case 1:
		change_word(s);
		return true;
	case 2:
		move_frame(s);
		return true;
	case 3:
		change_word(s);
		change_word(s);
		return true;
	case 4:
		change_register(s);
		return s->sample;
	default:
		return false;
	}
}

/* ---- checks ---------------------------------------------------------------------------------- */

static uint64_t value_of(const struct kwalk_stack *k)
{
	uint64_t v = k->nr;
	unsigned int i;

	for (i = 0; i < k->nr; i++)
		v = mix(v ^ k->words[i]) + i;
	return v | 1;
}

static void begin(const struct start *s, struct kwalk_stack *k, unsigned int most)
{
	memset(k, 0, sizeof(*k));
	k->task = TASK;
	k->most = most;
	k->signal = s->sample;
	if (s->sample) {
		k->ip = s->ip;
		k->sp = s->sp;
		k->bp = s->bp;
	} else {
		k->ip = peek(s->frame + 8);
		k->sp = s->frame + 16;
		k->bp_at = s->frame;
	}
	reads = k;
}

static void note_steps(const struct kwalk_stack *k)
{
	unsigned int i;

	for (i = 0; !k->odd && i < k->nr_steps && i < KWALK_STEPS; i++)
		test.steps[k->steps[i] & 7]++;
}

static void attack(void)
{
	unsigned int sure, most = rnd(&rng, 2) ? KWALK_MAX_FRAMES : 8;
	struct kwalk_stack k, want;
	bool changed, unsure;
	uint64_t value;
	struct start s;

	build(&s, seed * SEEDS + rnd(&rng, SEEDS));
	changed = change(&s);
	want.nr = kernel_words(&s, want.words, &sure, &unsure);
	want.nr = want.nr < most ? want.nr : most;
	want.at_limit = 0;
	test.calls++;
	test.unsure += unsure;
	begin(&s, &k, most);
	value = kwalk_recall(&k, most);
	if (value) {
		test.hits++;
		test.changed_hits += changed;
		test.wrong_recall += !unsure && (want.nr > sure || value != value_of(&want));
		begin(&s, &k, most);
	}
	if (kwalk_walk(&k) != KWALK_DONE) {
		test.given_up++;
		test.needless += !changed && !s.may_give_up && k.nr < most;
		return;
	}
	test.done++;
	test.wrong_walk += !unsure && (want.nr > sure || kwalk_compare(&k, &want));
	if (!value) {
		note_steps(&k);
		kwalk_remember(&k, value_of(&k));
	}
}

static void report(bool bad, bool few)
{
	unsigned int i;

	printf("calls %lu walked %lu given up %lu recalled %lu (of changed stacks %lu) "
	       "unsure %lu | steps",
	       test.calls, test.done, test.given_up, test.hits, test.changed_hits, test.unsure);
	for (i = 0; i <= KWALK_TO_OTHER; i++)
		printf(" %lu", test.steps[i]);
	printf(" | wrong walks %lu, given up needlessly %lu, "
	       "wrong recalls %lu, reads outside %lu, wrong dues %lu: %s\n",
	       test.wrong_walk, test.needless, test.wrong_recall, test.outside, test.wrong_due,
	       bad ? "WRONG" :
	       few ? "too few" :
		     "ok");
}

/* How often kwalk_next_due() is not the next number for which kwalk_due() is true. */
static uint64_t wrong_dues(void)
{
	static const uint32_t firsts[] = { 0, 1, 2, 64, 1000 };
	uint64_t wrong = 0, walked, due;
	uint32_t shift, i;

	for (shift = 0; shift <= 10; shift++) {
		for (i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
			kwalk_settings.check_shift = shift;
			kwalk_settings.check_first = firsts[i];
			for (due = 10000; !kwalk_due(due); due++)
				;
			for (walked = 10000; walked--;) {
				wrong += kwalk_next_due(walked) != due;
				if (kwalk_due(walked))
					due = walked;
			}
		}
	}
	return wrong;
}

int main(int argc, char **argv)
{
	uint64_t rounds = 400000, i;
	bool bad, few;

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		rounds = strtoull(argv[2], NULL, 0);
	rng = mix(seed);
	for (i = 0; i < rounds; i++) {
		/* a module is loaded */
		if (!(i & 4095)) {
			modules.changed++;
			modules.valid = modules.changed + 1;
		}
		attack();
	}
	test.wrong_due = wrong_dues();
	bad = test.wrong_walk || test.needless || test.wrong_recall || test.outside ||
	      test.wrong_due;
	/* cases that did not occur were not tested */
	few = test.hits < test.calls / 20 || !test.changed_hits || test.done < test.calls / 3 ||
	      test.unsure > test.calls / 50;
	for (i = 0; i <= KWALK_TO_TASK; i++)
		few |= i != KWALK_HOLD && !test.steps[i];
	report(bad, few);
	return bad ? 1 : few ? 2 : 0;
}
