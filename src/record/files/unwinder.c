// SPDX-License-Identifier: GPL-2.0-only
/* Unwinds a deferred user stack from where the kernel side stopped. */
#include "unwinder.h"

#include <errno.h>
#include <string.h>

#include "frame.h"
#include "stackonce.h"
#include "user_files.h"

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#include "unwind/walk.h"

struct walk {
	struct unw_walk w; /* must be first: step.h passes its address */
	const struct wire_copy *copy;
	struct user_files *files;
	uint64_t *words;
	unsigned int nr, frames;
	bool guess_marked;
};

static int copied(struct unw_walk *w, u64 addr, void *ret, size_t len)
{
	const struct wire_copy *c = ((struct walk *)w)->copy;
	u64 at = addr - c->sp;

	if (at >= c->stack_len || c->stack_len - at < len)
		return -EFAULT;
	memcpy(ret, c->stack + at, len);
	return 0;
}

static int unw_read(struct unw_walk *w, u64 addr, u64 *ret)
{
	return copied(w, addr, ret, sizeof(*ret));
}

static int unw_read_regs(struct unw_walk *w, u64 addr)
{
	return copied(w, addr, w->tmp, sizeof(w->tmp));
}

#include "unwind/step.h"

static const struct wire_vma *find_vma(const struct wire_copy *c, u64 pc)
{
	unsigned int i;

	for (i = 0; i < c->nr_vmas; i++)
		if (pc >= c->vmas[i].start && pc < c->vmas[i].end)
			return &c->vmas[i];
	return NULL;
}

static void add(struct walk *k, u64 word)
{
	if (k->nr < UNWINDER_WORDS)
		k->words[k->nr++] = word;
}

static void add_frame(struct walk *k, const struct wire_vma *v)
{
	if (k->w.flags & UNW_GUESSED && !k->guess_marked) {
		k->guess_marked = true;
		add(k, FRAME_MARKER(FRAME_GUESS, 0));
	}
	if (k->w.flags & UNW_EXACT && (k->frames || k->copy->interrupted))
		add(k, FRAME_MARKER(FRAME_EXACT, 0));
	add(k, v ? FRAME_USER(v->file, k->w.ip - v->delta) : FRAME_USER(0, k->w.ip));
	k->frames++;
}

static int step(struct walk *k, const struct wire_vma *v, bool fp_only)
{
	u64 offset = unw_pc(&k->w) - v->delta;
	const struct unwind_table *t = NULL;
	u32 rule = UNW_ESCAPE | UNW_NONE;
	u64 wide;

	if (!fp_only)
		t = user_files__table(k->files, k->copy, v, offset, k->w.flags & UNW_EXACT);
	if (t)
		rule = unwind__find(t, offset);
	if (!(rule & UNW_ESCAPE))
		return unw_simple(&k->w, rule);
	rule &= ~UNW_ESCAPE;
	if (rule == UNW_END)
		return UNW_COMPLETE;
	if (rule == UNW_SIGNAL)
		return unw_signal(&k->w);
	if (rule < UNW_ESCAPE_RULES)
		return unw_guess(&k->w);
	if (rule - UNW_ESCAPE_RULES >= t->nr_rules)
		return UNW_NO_RULE;
	memcpy(&wide, t->words + t->rules + 2 * (rule - UNW_ESCAPE_RULES), sizeof(wide));
	return unw_wide(&k->w, wide);
}

int unwinder__walk(struct user_files *files, const struct wire_copy *copy, size_t len, bool fp_only,
		   uint64_t ret_words[UNWINDER_WORDS], unsigned int *ret_nr, unsigned int *ret_end)
{
	struct walk k = { .copy = copy, .files = files, .words = ret_words };
	enum unw_stop stop = UNW_GO;
	unsigned int end, i;

	if (len < offsetof(struct wire_copy, stack) ||
	    len - offsetof(struct wire_copy, stack) < copy->stack_len ||
	    copy->nr_vmas > WIRE_VMAS || copy->nr_frames > WIRE_USER_FRAMES + 1)
		return -EPROTO;
	memcpy(k.w.regs, copy->regs.r, sizeof(k.w.regs));
	k.w.ip = copy->regs.ip;
	k.w.sp = copy->regs.r[UNW_REG_SP];
	k.w.fp = copy->regs.r[UNW_REG_FP];
	k.w.bx = copy->regs.r[UNW_REG_BX];
	k.w.flags = copy->flags;
	for (i = 0; i < copy->nr_frames; i++) {
		add(&k, copy->frames[i]);
		k.frames += !FRAME_IS_MARKER(copy->frames[i]);
		/* the frame to continue with may be the first guess, and is not among these */
		k.guess_marked |= copy->frames[i] == FRAME_MARKER(FRAME_GUESS, 0);
	}
	while (!stop) {
		const struct wire_vma *v = find_vma(copy, unw_pc(&k.w));

		if (k.frames >= copy->max_frames) {
			stop = UNW_DEPTH;
		} else if (!v && k.frames) {
			stop = UNW_NO_RULE; /* the last frame is not a return address */
		} else {
			add_frame(&k, v);
			stop = v ? step(&k, v, fp_only) : UNW_NO_RULE;
		}
	}
	if (stop == UNW_UNREADABLE && copy->partial)
		stop = UNW_DEPTH;
	end = unw_stack_end(stop, k.w.flags);
	if (end)
		add(&k, FRAME_MARKER(FRAME_END, end));
	*ret_nr = k.nr;
	*ret_end = end;
	return 0;
}
