// SPDX-License-Identifier: GPL-2.0-only
#include "ftrace_users.h"

#include <errno.h>
#include <stdlib.h>

#include "cleanup.h"
#include "file_hash.h"
#include "file_map.h"
#include "frame.h"
#include "ftrace_ids.h"
#include "ftrace_maps.h"
#include "meta.h"
#include "recorder.h"
#include "trace/writer.h"
#include "user_frames.h"

#define STOCK_FRAMES 8 /* of a user_stack: all it has room for */
#define VALUE_END_SHIFT 40 /* in what is given to match: how the stack ends */

struct ftrace_users {
	struct ftrace_users_opts o;
	struct file_map *files;
	struct ftrace_maps *maps;
	struct user_frames frames; /* whose symbols are wanted */
	uint32_t nr_stacks; /* highest number of a user stack */
};

int ftrace_users__new(const struct ftrace_users_opts *opts, struct ftrace_users **ret_users)
{
	struct ftrace_users *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->o = *opts;
	err = file_map__new(&u->files);
	if (!err)
		err = ftrace_maps__new(u->files, opts->tasks, &u->maps);
	if (err) {
		ftrace_users__free(u);
		return err;
	}
	file_map__set_writer(u->files, opts->w);
	*ret_users = u;
	return 0;
}

void ftrace_users__free(struct ftrace_users *u)
{
	if (!u)
		return;
	ftrace_maps__free(u->maps);
	file_map__free(u->files);
	user_frames__clear(&u->frames);
	free(u);
}

unsigned int ftrace_users__parts(const struct ftrace_users *u)
{
	return FTRACE_MATCH_USER;
}

void ftrace_users__refresh(struct ftrace_users *u)
{
	ftrace_maps__refresh(u->maps);
}

/* ---- stacks ----------------------------------------------------------------------------------- */

static int note_frames(struct ftrace_users *u, const uint64_t *frames, unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (!(frames[i] & FRAME_MARKER_BIT) && FRAME_FILE(frames[i]))
			err = user_frames__add(&u->frames, frames[i]);
	return err;
}

/* frames has room for one more. */
static int add_stack(struct ftrace_users *u, uint64_t *frames, unsigned int nr,
		     enum stk_stack_end end, uint64_t *ret_value)
{
	uint32_t number;
	bool is_new;
	int err;

	if (end)
		frames[nr++] = FRAME_MARKER(FRAME_END, end);
	err = stk_writer__stack(u->o.w, frames, nr, &number);
	is_new = !err && number > u->nr_stacks;
	if (is_new) {
		u->nr_stacks = number;
		err = note_frames(u, frames, nr);
	}
	if (!err)
		*ret_value = (uint64_t)end << VALUE_END_SHIFT | ftrace_stack_value(number, is_new);
	return err;
}

/* Addresses: the first was interrupted or called the kernel, the others come by frame pointers. */
static int stock_stack(struct ftrace_users *u, const struct ftrace_record *r, uint64_t ts,
		       uint64_t *ret_value)
{
	enum stk_stack_end end = r->nr_words >= STOCK_FRAMES ? STK_END_AT_LIMIT : STK_END_FALLBACK;
	uint64_t frames[STOCK_FRAMES + 2];
	unsigned int nr = 0, i;
	int is_code = 1;

	for (i = 0; i < r->nr_words && i < STOCK_FRAMES; i++) {
		const struct ftrace_address addr = { r->tgid, ts, ftrace_record__word(r, i), i > 0 };
		unsigned int before = is_code;
		uint64_t frame;

		is_code = ftrace_maps__frame(u->maps, &addr, &frame);
		if (is_code < 0)
			return is_code;
		/* what was taken for a return address is none; but of who is gone nothing is known */
		if (i && before && !is_code) {
			end = STK_END_NO_TABLE;
			break;
		}
		if (i == 1)
			frames[nr++] = FRAME_MARKER(FRAME_GUESS, 0);
		frames[nr++] = frame;
	}
	if (r->nr_words > STOCK_FRAMES)
		end = STK_END_AT_LIMIT;
	return nr ? add_stack(u, frames, nr, end, ret_value) : 0;
}

int ftrace_users__record(struct ftrace_users *u, struct ftrace_match *match,
			 const struct ftrace_record *r, uint64_t ts)
{
	uint64_t value = 0;
	int err;

	if (r->kind != FTRACE_USER_STACK)
		return 0;
	err = stock_stack(u, r, ts, &value);
	if (!err)
		ftrace_match__stack(match, &r->ctx, FTRACE_MATCH_USER, value, 0);
	return err;
}

/* ---- events ----------------------------------------------------------------------------------- */

static enum stk_counter counter_of_end(enum stk_stack_end end)
{
	switch (end) {
	case STK_END_COMPLETE:
		return STK_C_USTACK_COMPLETE;
	case STK_END_TRUNCATED:
	case STK_END_AT_LIMIT:
		return STK_C_USTACK_TRUNCATED;
	case STK_END_NO_TABLE:
		return STK_C_USTACK_NO_TABLE;
	case STK_END_UNREADABLE:
		return STK_C_USTACK_UNREADABLE;
	case STK_END_FALLBACK:
		return STK_C_USTACK_FALLBACK;
	default:
		return STK_C_USTACK_FAILED;
	}
}

static int lost_stack(struct ftrace_users *u, uint64_t *ret_value)
{
	uint64_t frames[1];

	return add_stack(u, frames, 0, STK_END_FAILED, ret_value);
}

int ftrace_users__take(struct ftrace_users *u, const struct ftrace_matched *m, uint64_t *counters,
		       uint32_t *ret_number)
{
	uint64_t value = m->user;
	int err = 0;

	/* without a user stack: in an NMI, and of a thread of the kernel, which has none */
	if (!(m->wanted & FTRACE_MATCH_USER) || (m->got & FTRACE_MATCH_USER && !value)) {
		counters[STK_C_USTACK_NONE]++;
		return 0;
	}
	if (!(m->got & FTRACE_MATCH_USER))
		err = lost_stack(u, &value);
	if (err)
		return err;
	counters[ftrace_stack_is_new(value) ? STK_C_USTACK_NEW : STK_C_USTACK_HIT]++;
	counters[counter_of_end(value >> VALUE_END_SHIFT)]++;
	*ret_number = ftrace_stack_number(value & ((1ull << VALUE_END_SHIFT) - 1));
	return 0;
}

/* ---- end -------------------------------------------------------------------------------------- */

int ftrace_users__finish(struct ftrace_users *u)
{
	struct ftrace_maps_stats s;
	int err;

	ftrace_maps__stats(u->maps, &s);
	const struct meta_number rows[] = {
		{ "unwind.files", file_map__nr(u->files) },
		{ "ftrace.maps_read", s.reads },
		{ "ftrace.tasks_gone", s.gone },
	};

	err = file_map__hash_all(u->files);
	if (!err && u->o.rec->symbols)
		err = user_frames__write_symbols(&u->frames, u->files, u->o.w);
	if (!err)
		err = stk_writer__meta(u->o.w, "unwind.mode", "fp");
	return err ? err : meta__numbers(u->o.w, rows, ARRAY_SIZE(rows));
}
