// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Opens several recordings, puts them on one clock, and returns their events in time order. */
#include "many.h"

#include <stdio.h>
#include <sys/stat.h>

#include "cleanup.h"

#define NO_UUID "00000000000000000000000000000000"

/* ---- open and close -------------------------------------------------------------------------- */

/* Messages of a member name its file. */
static void log_member(void *ctx, enum stk_log_level level, const char *msg)
{
	const struct rd_member *m = ctx;

	rd_log(m->whole, level, "'%s': %s", m->path, msg);
}

void rd_many__free(struct stk_reader *whole)
{
	struct rd_many *many = whole->many;

	if (!many)
		return;
	rd_many__free_files(whole);
	for (uint32_t i = 0; i < many->nr; i++) {
		struct rd_member *m = &many->members[i];

		stk_reader__free(m->r);
		free(m->path);
		free(m->stacks);
		free(m->nodes);
		free(m->files);
		free(m->own_type);
	}
	free(many->members);
	free(many->heap);
	free(many->kernels);
	dict__free(&many->types);
	dict__free(&many->functions);
	tree__free(&many->aliases);
	tree__free(&many->places);
	free(many->place_of);
	tree__free(&many->addresses);
	free(many->address_place);
	tree__free(&many->imports);
	free(many->import_of);
	free(many->nodes);
	free(many);
	whole->many = NULL;
}

static void stk_reader__freep(struct stk_reader **r)
{
	stk_reader__free(*r);
}

static const char *meta_of(const struct rd_member *m, const char *key)
{
	return stk_reader__meta(m->r, key) ?: "";
}

/* Whether two members read the same file, or one is a copy of the other. */
static bool is_same(const struct rd_member *a, const struct rd_member *b)
{
	const char *uuid = meta_of(a, "uuid");
	struct stat x, y;

	if (strcmp(uuid, NO_UUID) && !strcmp(uuid, meta_of(b, "uuid")))
		return true;
	return !fstat(a->r->in.fd, &x) && !fstat(b->r->in.fd, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

static int open_member(struct stk_reader *whole, const char *path)
{
	struct rd_many *many = whole->many;
	struct rd_member *m = &many->members[many->nr];
	struct stk_reader_opts opts = whole->opts;
	int err;

	opts.size = sizeof(opts);
	err = stk_reader__open(path, &opts, &m->r);
	if (err)
		return err;
	m->nr = many->nr++;
	m->whole = whole;
	m->nr_stacks = 1;
	m->path = strdup(path);
	if (!m->path)
		return -ENOMEM;
	m->r->member = m;
	m->r->opts.log = log_member;
	m->r->opts.log_ctx = m;
	/* one whose recorder has ended does not grow: to wait for it would stop the others */
	if (!stk_reader__is_live(m->r))
		m->r->opts.follow = false;
	for (uint32_t i = 0; i < m->nr; i++) {
		if (!is_same(&many->members[i], m))
			continue;
		rd_log(whole, STK_LOG_ERROR, "'%s' is the same recording as '%s': give it once",
		       path, many->members[i].path);
		return -EEXIST;
	}
	return 0;
}

/* ---- one clock ------------------------------------------------------------------------------- */

static uint64_t number_of(const char *text)
{
	return strtoull(text, NULL, 0);
}

static bool same_clock(const struct rd_member *a, const struct rd_member *b)
{
	return a->boot == b->boot && !strcmp(meta_of(a, "clock"), meta_of(b, "clock"));
}

/*
 * Members of one boot and clock have the shift of the first of them that is placed: each has
 * measured the distance of the two clocks itself, and a bit differently.
 */
static void place_as_others(const struct rd_many *many, struct rd_member *m)
{
	for (uint32_t i = 0; i < many->nr && !m->is_placed; i++) {
		if (!many->members[i].is_placed || !same_clock(&many->members[i], m))
			continue;
		m->r->shift = many->members[i].r->shift;
		m->is_placed = true;
	}
}

static void place(const struct rd_many *many, struct rd_member *m)
{
	uint64_t ts = number_of(meta_of(m, "clock.ts"));
	uint64_t wall = number_of(meta_of(m, "clock.wall_ns"));

	place_as_others(many, m);
	if (m->is_placed || !wall || wall > INT64_MAX || ts > INT64_MAX)
		return;
	m->r->shift = wall - ts;
	m->is_placed = true;
}

/* Without the two times, the first event is taken to have happened when the file was begun. */
static void place_by_first(struct rd_member *m, uint64_t first_ts)
{
	uint64_t wall = m->r->totals.start_wall_ns;

	place_as_others(m->whole->many, m);
	if (m->is_placed)
		return;
	m->is_placed = true;
	m->r->shift = wall <= INT64_MAX && first_ts <= INT64_MAX ? wall - first_ts : 0;
	rd_log(m->whole, STK_LOG_WARN,
	       "'%s' does not say what its times are on the wall clock: its first event is taken to "
	       "have happened when the file was begun",
	       m->path);
}

static bool has_boot_id(const struct rd_member *m)
{
	return *meta_of(m, "boot_id");
}

static void choose_clock(struct stk_reader *whole)
{
	struct rd_many *many = whole->many;
	const struct rd_member *other = NULL;

	for (uint32_t i = 1; i < many->nr && !other; i++)
		if (!same_clock(&many->members[0], &many->members[i]))
			other = &many->members[i];
	for (uint32_t i = 0; i < many->nr; i++) {
		if (other)
			place(many, &many->members[i]);
		else
			many->members[i].is_placed = true;
	}
	if (!other)
		return;
	/* those that do not know the time of day themselves may have a later one of their clock */
	for (uint32_t i = 0; i < many->nr; i++)
		place_as_others(many, &many->members[i]);
	many->by_wall_clock = true;
	rd_log(whole, STK_LOG_WARN,
	       "'%s' and '%s' %s: times are those of the wall clock, and compare only as exactly as "
	       "that was set",
	       many->members[0].path, other->path,
	       other->boot == many->members[0].boot ? "have different clocks" :
	       has_boot_id(other) && has_boot_id(&many->members[0]) ?
						      "are of different boots" :
						      "are not known to be of one boot");
}

/* Which segment continues which one. */
static void chain(struct rd_many *many, struct rd_member *m)
{
	const char *uuid = meta_of(m, "continues");

	for (uint32_t i = 0; i < many->nr && *uuid; i++)
		if (many->members[i].boot == m->boot && &many->members[i] != m &&
		    !strcmp(meta_of(&many->members[i], "uuid"), uuid))
			m->continues = &many->members[i];
}

/* ---- open ------------------------------------------------------------------------------------ */

static int open_members(struct stk_reader *whole, const char *const *paths, unsigned int nr)
{
	struct rd_many *many = whole->many;
	int err = 0;

	many->members = calloc(nr, sizeof(*many->members));
	many->heap = calloc(nr, sizeof(struct rd_member *));
	many->kernels = calloc(nr, sizeof(*many->kernels));
	if (!many->members || !many->heap || !many->kernels || dict__reset(&many->types, 64) ||
	    dict__reset(&many->file_ids, 64) || dict__reset(&many->file_places, 64) ||
	    dict__reset(&many->functions, 64) || tree__init(&many->aliases, &whole->budget) ||
	    tree__init(&many->places, &whole->budget) ||
	    tree__init(&many->addresses, &whole->budget) ||
	    tree__init(&many->imports, &whole->budget))
		return -ENOMEM;
	for (unsigned int i = 0; i < nr && !err; i++)
		err = open_member(whole, paths[i]);
	for (unsigned int i = 0; i < nr && !err; i++) {
		rd_read_start(many->members[i].r);
		err = rd_many__identify(&many->members[i]);
	}
	if (err)
		return err;
	for (unsigned int i = 0; i < nr; i++)
		chain(many, &many->members[i]);
	choose_clock(whole);
	return 0;
}

int stk_reader__open_many(const char *const *paths, unsigned int nr,
			  const struct stk_reader_opts *opts, struct stk_reader **ret_reader)
{
	_cleanup_(stk_reader__freep) struct stk_reader *whole = NULL;
	int err;

	if (nr <= 1)
		return nr ? stk_reader__open(paths[0], opts, ret_reader) : -EINVAL;
	err = rd_new(opts, &whole);
	if (err)
		return err;
	whole->many = calloc(1, sizeof(*whole->many));
	if (!whole->many)
		return -ENOMEM;
	err = open_members(whole, paths, nr);
	if (err)
		return err;
	*ret_reader = take_ptr(whole);
	return 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool before(const struct rd_member *a, const struct rd_member *b)
{
	const struct stk_event *x = &a->r->event, *y = &b->r->event;

	if (x->ts != y->ts)
		return x->ts < y->ts;
	if (x->block->cpu != y->block->cpu)
		return x->block->cpu < y->block->cpu;
	return a->nr < b->nr;
}

static void sift_up(struct rd_many *many, uint32_t i)
{
	struct rd_member *m = many->heap[i];

	for (; i && before(m, many->heap[(i - 1) / 2]); i = (i - 1) / 2)
		many->heap[i] = many->heap[(i - 1) / 2];
	many->heap[i] = m;
}

static void sift_down(struct rd_many *many)
{
	struct rd_member *m = many->heap[0];
	uint32_t i = 0, child;

	for (; (child = 2 * i + 1) < many->nr_heap; i = child) {
		if (child + 1 < many->nr_heap && before(many->heap[child + 1], many->heap[child]))
			child++;
		if (!before(many->heap[child], m))
			break;
		many->heap[i] = many->heap[child];
	}
	many->heap[i] = m;
}

/* Reads the member's next event, which has the time of the whole then. */
static void advance(struct rd_many *many, struct rd_member *m)
{
	const struct stk_event *e;
	struct stk_event *own = &m->r->event;
	int got = stk_reader__next(m->r, &e);

	m->has_event = got == 1;
	m->is_waiting = got == -EAGAIN;
	if (m->is_waiting)
		return;
	if (!m->has_event) {
		if (m->r->totals.last_ts)
			place_by_first(m, m->r->totals.first_ts);
		m->has_ended = true;
		m->end = MAX(m->end, rd_many__time(m, m->r->round_end));
		/* a segment without events has recorded its time, too */
		if (!m->has_begun && m->r->round_end) {
			m->has_begun = true;
			m->begin = m->end;
		}
		many->error = many->error ?: got;
		return;
	}
	place_by_first(m, own->ts);
	own->ts = rd_many__time(m, own->ts);
	if (!m->has_begun)
		m->begin = own->ts;
	m->has_begun = true;
	m->end = MAX(m->end, own->ts);
}

static void add_to_heap(struct rd_many *many, struct rd_member *m)
{
	if (!m->has_event)
		return;
	many->heap[many->nr_heap++] = m;
	sift_up(many, many->nr_heap - 1);
}

/* The event returned last makes room for the next one of its recording. */
static int step_over(struct rd_many *many)
{
	struct rd_member *m = many->last;

	many->last = NULL;
	advance(many, m);
	if (!m->has_event) {
		many->heap[0] = many->heap[--many->nr_heap];
		if (m->has_ended && rd_many__catch_up(m))
			return -ENOMEM;
	}
	if (many->nr_heap)
		sift_down(many);
	return 0;
}

/* At the start all members are read up to an event, later those that had none yet. */
static int poll_members(struct rd_many *many)
{
	int err = 0;

	for (uint32_t i = 0; i < many->nr && !err; i++) {
		struct rd_member *m = &many->members[i];

		if (many->is_primed && !m->is_waiting)
			continue;
		advance(many, m);
		add_to_heap(many, m);
		if (m->has_ended)
			err = rd_many__catch_up(m);
	}
	many->is_primed = true;
	return err;
}

/* No event before this follows from members that wait. */
static uint64_t safe_until(const struct rd_many *many)
{
	uint64_t until = UINT64_MAX;

	for (uint32_t i = 0; i < many->nr; i++)
		if (many->members[i].is_waiting)
			until = MIN(until, rd_many__time(&many->members[i],
							 many->members[i].r->watermark));
	return until;
}

static bool is_waiting(const struct rd_many *many)
{
	for (uint32_t i = 0; i < many->nr; i++)
		if (many->members[i].is_waiting)
			return true;
	return false;
}

static int next(struct stk_reader *whole)
{
	struct rd_many *many = whole->many;
	int err = 0;

	if (many->last)
		err = step_over(many);
	if (!err && (!many->is_primed || (whole->opts.follow && is_waiting(many))))
		err = poll_members(many);
	if (err)
		return err;
	if (many->nr_heap &&
	    (!whole->opts.follow || many->heap[0]->r->event.ts < safe_until(many))) {
		many->last = many->heap[0];
		return rd_many__catch_up(many->last) ?: 1;
	}
	if (whole->opts.follow && is_waiting(many))
		return -EAGAIN;
	return many->error;
}

int rd_many__next(struct stk_reader *whole, const struct stk_event **ret_event)
{
	int got;

	if (whole->end || whole->budget.exhausted)
		return whole->budget.exhausted ? -ENOBUFS : whole->end < 0 ? whole->end : 0;
	got = next(whole);
	if (got > 0)
		*ret_event = &whole->many->last->r->event;
	else if (got != -EAGAIN)
		whole->end = got < 0 ? got : 1;
	if (got < 0 && whole->budget.exhausted)
		got = whole->end = -ENOBUFS;
	return got;
}

void rd_many__update_budget(struct stk_reader *whole)
{
	whole->budget.bytes = 0;
	for (uint32_t i = 0; i < whole->many->nr; i++)
		whole->budget.bytes += whole->many->members[i].r->budget.bytes;
}
