// SPDX-License-Identifier: GPL-2.0-only
/* Converts the user stacks that ftrace recorded. */
#include "ftrace_users.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "file_hash.h"
#include "frame.h"
#include "ftrace_cookies.h"
#include "ftrace_ids.h"
#include "ftrace_maps.h"
#include "ftrace_named.h"
#include "losses.h"
#include "record/files/file_map.h"
#include "record/files/user_frames.h"
#include "record/meta.h"
#include "record/opts.h"
#include "trace/write/writer.h"

/* A task may have further events between the writing of its stack and its return to user space. */
#define LATE_NS 60000000000ull
#define STOCK_FRAMES 8 /* maximum in a user_stack record */

struct ftrace_users {
	struct ftrace_users_opts o;
	struct file_map *files;
	struct ftrace_maps *maps; /* stock kernels */
	/* kernels with cookies; NULL on others */
	struct ftrace_cookies *cookies;
	struct ftrace_named *named; /* files by the kernel's hash */
	struct ftrace_ids *ids; /* the user stack map */
	struct user_frames frames; /* whose symbols will be written */
	uint32_t nr_stacks; /* highest number of a user stack */
	uint64_t *values; /* of the user stack map's ids, see keep_value() */
	uint32_t nr_values, cap_values;
};

static int open_cookies(struct ftrace_users *u)
{
	int err;

	err = ftrace_cookies__new(u->o.w, &u->cookies);
	err = err ?: ftrace_named__new(u->o.instance, u->files, &u->named);
	err = err ?: ftrace_ids__new(u->o.instance, "user_stack_map_bin", &u->ids);
	return err;
}

int ftrace_users__new(const struct ftrace_users_opts *opts, struct ftrace_users **ret_users)
{
	struct ftrace_users *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->o = *opts;
	err = file_map__new(&u->files);
	if (!err && opts->kinds->of[FTRACE_STACK_ID_COOKIE].known)
		err = open_cookies(u);
	else if (!err)
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
	ftrace_cookies__free(u->cookies);
	ftrace_named__free(u->named);
	ftrace_ids__free(u->ids);
	file_map__free(u->files);
	user_frames__clear(&u->frames);
	free(u->values);
	free(u);
}

unsigned int ftrace_users__parts(const struct ftrace_users *u)
{
	return u->cookies ? FTRACE_MATCH_COOKIE : FTRACE_MATCH_USER;
}

bool ftrace_users__has_cookies(const struct ftrace_users *u)
{
	return u->cookies;
}

void ftrace_users__refresh(struct ftrace_users *u)
{
	if (u->maps)
		ftrace_maps__refresh(u->maps);
	if (u->ids)
		ftrace_ids__refresh(u->ids);
	if (u->named)
		ftrace_named__refresh(u->named);
}

void ftrace_users__forget(struct ftrace_users *u, uint64_t ts)
{
	if (u->cookies && ts > LATE_NS)
		ftrace_cookies__forget(u->cookies, ts - LATE_NS);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static int note_frames(struct ftrace_users *u, const uint64_t *frames, unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (!(frames[i] & FRAME_MARKER_BIT) && FRAME_FILE(frames[i]))
			err = user_frames__add(&u->frames, frames[i]);
	return err;
}

/* The array has room for one more frame. */
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
		*ret_value = ftrace_stack_value(number, end, is_new);
	return err;
}

static int lost_stack(struct ftrace_users *u, uint64_t *ret_value)
{
	uint64_t frames[1];

	return add_stack(u, frames, 0, STK_END_FAILED, ret_value);
}

/* Keeps a value (ftrace_stack_value()) for an id; ftrace_ids.h keeps only a number for each id. */
static int keep_value(struct ftrace_users *u, uint64_t value, uint32_t *ret_index)
{
	if (array__grow(&u->values, u->nr_values, &u->cap_values))
		return -ENOMEM;
	u->values[u->nr_values++] = value;
	*ret_index = u->nr_values;
	return 0;
}

/*
 * The words are addresses: the first one was interrupted or called the kernel, the others were
 * found by frame pointers.
 */
static int stock_stack(struct ftrace_users *u, const struct ftrace_record *r, uint64_t ts,
		       uint64_t *ret_value)
{
	enum stk_stack_end end = r->nr_words >= STOCK_FRAMES ? STK_END_AT_LIMIT : STK_END_FALLBACK;
	uint64_t frames[STOCK_FRAMES + 2];
	unsigned int nr = 0, i;
	int is_code = 1;

	for (i = 0; i < r->nr_words && i < STOCK_FRAMES; i++) {
		const struct ftrace_address addr = { r->tgid, ts, ftrace_record__word(r, i),
						     i > 0 };
		unsigned int before = is_code;
		uint64_t frame;

		is_code = ftrace_maps__frame(u->maps, &addr, &frame);
		if (is_code < 0)
			return is_code;
		/* not a return address, unless the process has exited and its code is unknown */
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

/* The words are pairs of a file's hash and an offset in the file. */
static int named_stack(struct ftrace_users *u, uint32_t tgid, const uint64_t *pairs,
		       unsigned int nr_words, bool cut, uint64_t *ret_value)
{
	enum stk_stack_end end = cut ? STK_END_TRUNCATED : STK_END_FALLBACK;
	uint64_t frames[STK_MAX_DEPTH + 2];
	unsigned int nr = 0, i;
	int err = 0;

	for (i = 0; i + 1 < nr_words && nr < STK_MAX_DEPTH && !err; i += 2) {
		if (i == 2)
			frames[nr++] = FRAME_MARKER(FRAME_GUESS, 0);
		err = ftrace_named__frame(u->named, tgid, pairs[i], pairs[i + 1], &frames[nr]);
		nr++;
	}
	if (err)
		return err;
	/* no frames: the program that entered the kernel was gone before its stack was walked */
	return add_stack(u, frames, nr, nr ? end : STK_END_UNREADABLE, ret_value);
}

static int unwound_stack(struct ftrace_users *u, const struct ftrace_record *r, uint64_t *ret_value)
{
	unsigned int nr = MIN(r->nr_words, 2u * STK_MAX_DEPTH), i;
	uint64_t words[2 * STK_MAX_DEPTH];

	for (i = 0; i < nr; i++)
		words[i] = ftrace_record__word(r, i);
	return named_stack(u, r->tgid, words, nr, nr < r->nr_words, ret_value);
}

/* Later lookups of an id return the same value, but not as new. */
static int mapped_stack(struct ftrace_users *u, const struct ftrace_record *r, uint64_t *ret_value)
{
	uint32_t *known = ftrace_ids__number(u->ids, r->stack_id, 0);
	uint64_t words[STK_MAX_DEPTH];
	unsigned int nr;
	bool cut;
	int err;

	if (!known)
		return -ENOMEM;
	if (*known) {
		*ret_value = u->values[*known - 1];
		return 0;
	}
	err = ftrace_ids__frames(u->ids, r->stack_id, 0, words, STK_MAX_DEPTH, &nr, &cut);
	if (err == -ENOENT)
		return lost_stack(u, ret_value);
	if (!err)
		err = named_stack(u, r->tgid, words, nr, cut, ret_value);
	return err ?: keep_value(u, ftrace_stack_known(*ret_value), known);
}

/* Resolves a cookie by the stack in the record. */
static int cookie_stack(struct ftrace_users *u, const struct ftrace_record *r, uint64_t ts)
{
	uint64_t value;
	int err;

	if (r->kind == FTRACE_USER_STACK_ID)
		err = mapped_stack(u, r, &value);
	else
		err = unwound_stack(u, r, &value);
	return err ?: ftrace_cookies__resolve(u->cookies, r->cookie, value, ts);
}

int ftrace_users__record(struct ftrace_users *u, struct ftrace_match *match,
			 const struct ftrace_record *r, uint64_t ts)
{
	uint64_t value = 0;
	int err;

	if (u->cookies && r->kind == FTRACE_FILE_MAP)
		return ftrace_named__add(u->named, r);
	if (u->cookies && (r->kind == FTRACE_USER_STACK_ID || r->kind == FTRACE_USER_STACK_UNWIND))
		return cookie_stack(u, r, ts);
	if (u->cookies || r->kind != FTRACE_USER_STACK)
		return 0;
	err = stock_stack(u, r, ts, &value);
	if (!err)
		ftrace_match__stack(match, &r->ctx, FTRACE_MATCH_USER, value, 0);
	return err;
}

/* ---- events ---------------------------------------------------------------------------------- */

bool ftrace_users__is_known(const struct ftrace_users *u, const struct ftrace_matched *m)
{
	return !u->cookies || !m->cookie || ftrace_cookies__is_known(u->cookies, m->cookie);
}

int ftrace_users__take(struct ftrace_users *u, const struct ftrace_matched *m, uint64_t *counters,
		       uint32_t *ret_number)
{
	unsigned int part = ftrace_users__parts(u);
	uint64_t value = m->user;
	int err = 0;

	if (m->cookie) {
		err = ftrace_cookies__value(u->cookies, m->cookie, m->ts, &value);
	} else if (!(m->wanted & part) || (m->got & part && !value) || u->cookies) {
		/* the event is in an NMI or in a kernel thread */
		counters[STK_C_USTACK_NONE]++;
		return 0;
	} else if (!(m->got & part)) {
		err = lost_stack(u, &value);
	}
	if (err)
		return err;
	counters[ftrace_stack_is_new(value) ? STK_C_USTACK_NEW : STK_C_USTACK_HIT]++;
	counters[counter_of_end(ftrace_stack_end(value))]++;
	*ret_number = ftrace_stack_number(value);
	return 0;
}

/* ---- end ------------------------------------------------------------------------------------- */

int ftrace_users__finish(struct ftrace_users *u)
{
	struct ftrace_maps_stats s = { 0 };
	int err;

	if (u->maps)
		ftrace_maps__stats(u->maps, &s);
	const struct meta_number rows[] = {
		{ "unwind.files", file_map__nr(u->files) },
		{ "ftrace.maps_read", s.reads },
		{ "ftrace.tasks_gone", s.gone },
		{ "ftrace.stacks_late", u->cookies ? ftrace_cookies__late(u->cookies) : 0 },
	};

	err = file_map__hash_all(u->files);
	if (!err && u->o.rec->symbols)
		err = user_frames__write_symbols(&u->frames, u->files,
						 recorder_opts__ahead_of_mono(u->o.rec), u->o.w);
	if (!err)
		err = stk_writer__meta(u->o.w, "unwind.mode", "fp");
	return err ?: meta__numbers(u->o.w, rows, ARRAY_SIZE(rows));
}
