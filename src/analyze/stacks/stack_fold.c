// SPDX-License-Identifier: GPL-2.0-only
/* Folds the frames of stacks, and finds stacks that are equal then. */
#include "stack_fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/charge.h"
#include "analyze/first_stack.h"
#include "analyze/key_table.h"
#include "cleanup.h"
#include "entry_names.h"

struct stack_fold {
	struct stk_reader *r;
	unsigned int what;
	struct key_table paths; /* struct fold_key -> the first stacks that end there */
	struct charge charge;
	uint64_t work;
};

/* A stack after folding is a path in a tree of its frames. */
struct fold_key {
	uint64_t ip;
	uint32_t file;
	uint32_t kind; /* enum stk_frame_kind, and a bit for a guess */
	uint32_t caller; /* entry of the frame's caller + 1; 0: none */
	uint32_t end; /* the end of the path has an entry of its own */
};

/* Frames that stand for what is folded have one of these as their sym, and no address as ip. */
static const char idle_name[] = "[idle]";
static const char guess_name[] = "[guess]";
#define IDLE_IP UINT64_MAX
#define GUESS_IP (UINT64_MAX - 1)

bool stack_fold__is_made(const struct stk_frame *f)
{
	return f->sym == idle_name || f->sym == guess_name;
}

int stack_fold__new(struct stk_reader *r, unsigned int what, struct stack_fold **ret_fold)
{
	struct stack_fold *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->r = r;
	f->what = what;
	key_table__init(&f->paths, sizeof(struct fold_key), sizeof(struct stack_pair));
	*ret_fold = f;
	return 0;
}

void stack_fold__free(struct stack_fold *f)
{
	if (!f)
		return;
	charge(&f->charge, f->r, 0, f->charge.work);
	key_table__clear(&f->paths);
	free(f);
}

static bool is_interrupt(const struct stk_frame *f)
{
	return f->sym && entry_kind(f->sym) == ENTRY_INTERRUPT;
}

static bool is_idle_loop(const struct stk_frame *f)
{
	return f->sym && !f->mod &&
	       (!strcmp(f->sym, "do_idle") || !strcmp(f->sym, "cpu_startup_entry"));
}

/* The frames up to the interrupt's entry, or all. */
static unsigned int cut_interrupted(const struct stk_frame *frames, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (is_interrupt(&frames[i]))
			return i + 1;
	return nr;
}

/* The idle loop begins at the innermost frame, or where an interrupt hit it. */
static unsigned int fold_idle(struct stk_frame *frames, unsigned int nr)
{
	unsigned int i, start = 0;

	for (i = 0; i < nr && !is_idle_loop(&frames[i]); i++)
		if (is_interrupt(&frames[i]))
			start = i + 1;
	if (i == nr)
		return nr;
	frames[start] =
		(struct stk_frame){ .kind = STK_FRAME_KERNEL, .ip = IDLE_IP, .sym = idle_name };
	return start + 1;
}

static unsigned int fold_guesses(struct stk_frame *frames, unsigned int nr)
{
	unsigned int i, out = 0;

	for (i = 0; i < nr; i++) {
		if (!frames[i].guessed)
			frames[out++] = frames[i];
		else if (!out || frames[out - 1].sym != guess_name)
			frames[out++] = (struct stk_frame){ .kind = STK_FRAME_USER,
							    .ip = GUESS_IP,
							    .sym = guess_name };
	}
	return out;
}

static unsigned int frames_of(const struct stack_fold *f, uint32_t number,
			      struct stk_frame *ret_frames)
{
	int n = number ? stk_reader__frames(f->r, number, ret_frames, STK_MAX_DEPTH) : 0;

	return MIN(MAX(n, 0), STK_MAX_DEPTH);
}

unsigned int stack_fold__frames(const struct stack_fold *f, struct stack_pair stacks,
				struct stk_frame *ret_frames)
{
	unsigned int nr = frames_of(f, stacks.kstack, ret_frames), nr_user;
	bool cut = false;

	if (f->what & FOLD_INTERRUPTS) {
		nr_user = nr;
		nr = cut_interrupted(ret_frames, nr);
		cut = nr && is_interrupt(&ret_frames[nr - 1]);
	}
	if (f->what & FOLD_IDLE)
		nr = fold_idle(ret_frames, nr);
	if (cut)
		return nr;
	nr_user = frames_of(f, stacks.ustack, ret_frames + nr);
	if (f->what & FOLD_GUESSES)
		nr_user = fold_guesses(ret_frames + nr, nr_user);
	return nr + nr_user;
}

static int enter(struct stack_fold *f, struct fold_key *key, uint32_t *ret_entry)
{
	int err = key_table__at(&f->paths, key, ret_entry);

	key->caller = *ret_entry + 1;
	return MIN(err, 0);
}

/* Follows the path of the frames, outermost first, to the entry of its end. */
static int find_end(struct stack_fold *f, const struct stk_frame *frames, unsigned int nr,
		    uint32_t *ret_entry)
{
	struct fold_key key = { 0 };
	int err = 0;

	while (nr-- && !err) {
		key.ip = frames[nr].ip;
		key.file =
			frames[nr].kind == STK_FRAME_KERNEL ? frames[nr].kernel : frames[nr].file;
		key.kind = frames[nr].kind | (uint32_t)frames[nr].guessed << 8;
		err = enter(f, &key, ret_entry);
	}
	key = (struct fold_key){ .caller = key.caller, .end = 1 };
	return err ?: enter(f, &key, ret_entry);
}

int stack_fold__first(struct stack_fold *f, struct stack_pair stacks, struct stack_pair *ret_first)
{
	struct stk_frame frames[STACK_PAIR_FRAMES];
	struct stack_pair *known;
	unsigned int nr;
	uint32_t entry;
	int err;

	stacks.kstack = stack__first(f->r, stacks.kstack);
	stacks.ustack = stack__first(f->r, stacks.ustack);
	if (!f->what) {
		*ret_first = stacks;
		return 0;
	}
	nr = stack_fold__frames(f, stacks, frames);
	err = find_end(f, frames, nr, &entry);
	f->work += nr;
	if (!err)
		err = charge(&f->charge, f->r, key_table__memory(&f->paths), f->work);
	if (err)
		return err;
	known = key_table__value(&f->paths, entry);
	if (!known->kstack && !known->ustack)
		*known = stacks;
	*ret_first = *known;
	return 0;
}
