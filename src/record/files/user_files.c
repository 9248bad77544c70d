// SPDX-License-Identifier: GPL-2.0-only
/* Turns the kernel's file ids into files of the recording, with their tables and symbols. */
#include "user_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "clock.h"
#include "file_map.h"
#include "frame.h"
#include "jit_source.h"
#include "log.h"
#include "opener.h"
#include "seen_file.h"
#include "snapshot.h"
#include "table_cache.h"
#include "user_files_priv.h"
#include "user_frames.h"
#include "vdso.h"

#define POLL_NS 50000000ull /* after which the rings are looked after again */
#define RETRY_MAX_NS (64 * SECOND_NS)
/* How long to wait for a notification that a stack needs, or for the last. */
#define PATIENCE_NS (5 * SECOND_NS)

/* A file that could not be opened where it was seen; it may be seen elsewhere. */
struct gone {
	uint32_t id;
	uint32_t used; /* wire_file.used when it was last looked for */
	uint32_t tgid; /* whose file could not be opened, last */
	unsigned int failed; /* processes that were gone before we came */
};

/* Programs that end at once may be gone several times before one lives long enough to be looked at. */
#define GONE_MAX 8

struct user_files {
	struct user_files_opts o;
	struct opener *opener; /* takes the news; NULL: there are none */
	struct snapshot walk;
	struct table_cache *tables;
	struct file_map *map;
	struct seen_context seen;
	struct user_frames frames;
	struct mapped_file **by_id; /* by the kernel side's id */
	uint32_t max_id;
	struct gone *gone;
	uint32_t nr_gone, cap_gone;
	uint64_t retry_ns, retry_after; /* last time, and how long to wait then */
	uint32_t wanted; /* the file that is looked for among all mappings */
	bool snapshot; /* under way */
	uint64_t load_ns;
};

/* ---- tables ---------------------------------------------------------------------------------- */

/* What unwind__from_fd() said. */
static int use_table(struct user_files *f, uint32_t id, struct unwind_table *t, int err)
{
	if (err == -ENOMEM)
		log_warn("no memory for an unwind table: its file has none");
	if (err)
		table_cache__none(f->tables, id);
	else
		table_cache__put(f->tables, id, t, !f->snapshot);
	return 0;
}

static int load_vdso_table(struct user_files *f, uint32_t id)
{
	struct unwind_table *t = NULL;
	int err = f->o.table_budget ? vdso__table(&t) : -ENOENT;

	return use_table(f, id, t, err);
}

/* s has been opened.  -ESTALE: it was written to while it was read. */
static int load_table(struct user_files *f, uint32_t id, struct seen_file *s)
{
	struct unwind_table *t = take_ptr(s->table);
	int err = s->table_err;

	if (!f->o.table_budget) {
		err = -ENOENT;
	} else if (!t && !err) {
		err = unwind__from_fd(s->fd, &t);
		if (!seen_file__is_steady(s)) {
			unwind__free(t);
			return -ESTALE;
		}
	}
	return use_table(f, id, t, err);
}

/* What changed may be its names only: another look tells. */
static int load_seen_table(struct user_files *f, struct sight *s)
{
	int err = load_table(f, s->n.file, &s->file);

	if (err != -ESTALE)
		return err;
	seen_file__release(&s->file);
	err = seen_file__open(&f->seen, &s->n, false, &s->file);
	if (!err)
		err = load_table(f, s->n.file, &s->file);
	if (err == -ENOENT || err == -ESTALE)
		return use_table(f, s->n.file, NULL, -ENOENT);
	return err;
}

static bool is_new(const struct user_files *f, uint32_t id)
{
	return f->o.entries[id].state == WIRE_FILE_NEW && !table_cache__get(f->tables, id);
}

/* ---- news ------------------------------------------------------------------------------------ */

static bool is_gone(const struct user_files *f, uint32_t id)
{
	return f->by_id[id] && mapped_file__info(f->by_id[id])->flags & STK_FILE_GONE;
}

static int note_gone(struct user_files *f, uint32_t id, uint32_t tgid)
{
	if (array__grow(&f->gone, f->nr_gone, &f->cap_gone))
		return -ENOMEM;
	f->gone[f->nr_gone++] = (struct gone){ id, f->o.entries[id].used, tgid, 1 };
	f->retry_after = SECOND_NS;
	return 0;
}

/* The process still runs a program: what it has mapped cannot be opened, and will not be. */
static bool is_running(uint32_t tgid)
{
	char path[64], target[1];

	snprintf(path, sizeof(path), "/proc/%u/exe", tgid);
	return readlink(path, target, sizeof(target)) > 0;
}

/*
 * Another process ran the file and was gone, too.  For some of these each stack goes on travelling as
 * it is; then the file has no table until it is found again.
 */
static void count_gone(struct user_files *f, uint32_t id, uint32_t tgid)
{
	struct gone *g = NULL;
	uint32_t i;

	for (i = 0; i < f->nr_gone && !g; i++)
		if (f->gone[i].id == id)
			g = &f->gone[i];
	if (g && g->tgid != tgid) {
		g->tgid = tgid;
		g->failed++;
	}
	if (!g || g->failed >= GONE_MAX || is_running(tgid))
		table_cache__none(f->tables, id);
	else
		__atomic_store_n(&f->o.entries[id].announced, 0, __ATOMIC_RELAXED);
}

static int take_file(struct user_files *f, struct sight *s)
{
	uint32_t id = s->n.file;
	bool was_gone = is_gone(f, id), known = f->by_id[id], gone;
	int err = 0;

	/* the table first: until it is there each event carries a copy of its stack */
	if (s->file.fd >= 0 && (is_new(f, id) || was_gone))
		err = load_seen_table(f, s);
	else if (was_gone && s->n.tgid)
		count_gone(f, id, s->n.tgid);
	else if (s->file.fd < 0 && s->n.tgid &&
		 !known) /* the next process that maps it may live longer */
		__atomic_store_n(&f->o.entries[id].announced, 0, __ATOMIC_RELAXED);
	gone = s->file.fd < 0;
	if (!err && known)
		err = file_map__add_sight(f->map, f->by_id[id], &s->n, &s->file);
	else if (!err)
		err = file_map__add(f->map, &s->n, &s->file, &f->by_id[id]);
	return !err && gone && !known ? note_gone(f, id, s->n.tgid) : err;
}

static int take_vdso(struct user_files *f, uint32_t id)
{
	unsigned int len = 0;
	uint8_t build_id[64];
	int err;

	if (vdso__build_id(build_id, &len))
		len = 0;
	err = load_vdso_table(f, id);
	return err ?: file_map__add_vdso(f->map, build_id, len, &f->by_id[id]);
}

static int take_jit(struct user_files *f, struct sight *s)
{
	table_cache__none(f->tables, s->n.file);
	return file_map__add_jit(f->map, &s->n, take_ptr(s->jit), &f->by_id[s->n.file]);
}

/* Whether the news can tell anything. */
static bool is_wanted(const struct user_files *f, const struct wire_news *n)
{
	if (!n->file || n->file >= WIRE_MAX_FILES)
		return false;
	return !f->by_id[n->file] || n->is_name || is_gone(f, n->file);
}

static int take_sight(struct user_files *f, struct sight *s)
{
	if (!is_wanted(f, &s->n))
		return 0;
	f->max_id = MAX(f->max_id, s->n.file);
	switch (s->n.key.kind) {
	case WIRE_KEY_FILE:
		return take_file(f, s);
	case WIRE_KEY_VDSO:
		return take_vdso(f, s->n.file);
	case WIRE_KEY_JIT:
		return take_jit(f, s);
	}
	return 0;
}

int user_files__take_news(struct user_files *f, const struct wire_news *n)
{
	struct sight s;
	int err;

	if (!is_wanted(f, n))
		return 0;
	err = sight__look(&f->seen, n, false, &s);
	if (err)
		return err;
	err = take_sight(f, &s);
	sight__release(&s);
	return err;
}

/* The next of the news that came by the ring; 1, 0: there are none, or an errno. */
static int take_next(struct user_files *f, uint64_t deadline)
{
	struct sight s;
	int err, n;

	n = f->opener ? opener__next(f->opener, deadline, &s) : 0;
	if (n <= 0)
		return n;
	err = take_sight(f, &s);
	sight__release(&s);
	return err ?: 1;
}

/* Takes notifications until the file's has arrived; id 0, which no file has: all pending ones. */
static int take_until(struct user_files *f, uint32_t id)
{
	uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	int n = 1;

	while (n > 0 && !f->by_id[id] && clock_ns(CLOCK_MONOTONIC) < deadline)
		n = take_next(f, deadline);
	return MIN(n, 0);
}

/* ---- files that were gone -------------------------------------------------------------------- */

static int on_retry(void *ctx, struct wire_news *n)
{
	struct user_files *f = ctx;

	if (!n->file || n->file >= WIRE_MAX_FILES)
		return 0;
	/* the walk marked it as announced: let its next event announce it again */
	if (!f->by_id[n->file])
		__atomic_store_n(&f->o.entries[n->file].announced, 0, __ATOMIC_RELAXED);
	return is_gone(f, n->file) ? user_files__take_news(f, n) : 0;
}

/* Somebody else may have mapped them meanwhile. */
static int look_for_gone(struct user_files *f)
{
	uint32_t i, nr = 0;
	int err;

	err = snapshot__run(&f->walk, 0, on_retry, f);
	seen_context__forget(&f->seen);
	for (i = 0; i < f->nr_gone; i++)
		if (is_gone(f, f->gone[i].id))
			f->gone[nr++] = f->gone[i];
	f->nr_gone = nr;
	return err == -ENOMEM ? err : 0;
}

static int retry_gone(struct user_files *f, uint64_t now)
{
	bool used = false;
	uint32_t i;

	if (now - f->retry_ns < f->retry_after)
		return 0;
	f->retry_ns = now;
	for (i = 0; i < f->nr_gone; i++) {
		uint32_t epoch = f->o.entries[f->gone[i].id].used;

		used |= f->gone[i].used != epoch;
		f->gone[i].used = epoch;
	}
	f->retry_after = used ? MIN(f->retry_after * 2, RETRY_MAX_NS) : SECOND_NS;
	return used ? look_for_gone(f) : 0;
}

/* ---- from outside ---------------------------------------------------------------------------- */

int user_files__new(const struct user_files_opts *opts, struct user_files **ret_files)
{
	struct user_files *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->o = *opts;
	f->walk.prog_fd = opts->snapshot_fd;
	pthread_mutex_init(&f->walk.lock, NULL);
	f->seen.snapshot = &f->walk;
	f->by_id = calloc(WIRE_MAX_FILES, sizeof(*f->by_id));
	err = f->by_id ? file_map__new(&f->map) : -ENOMEM;
	if (!err)
		err = table_cache__new(opts->entries, opts->ctl, opts->slabs_fd, opts->table_budget,
				       &f->tables);
	if (!err && opts->news_fd >= 0)
		err = opener__new(opts->news_fd, &f->walk, opts->table_budget, &f->opener);
	if (err) {
		user_files__free(f);
		return err;
	}
	user_files__set_writer(f, opts->w);
	*ret_files = f;
	return 0;
}

void user_files__free(struct user_files *f)
{
	if (!f || !opener__free(f->opener))
		return;
	table_cache__free(f->tables);
	file_map__free(f->map);
	seen_context__free(&f->seen);
	user_frames__clear(&f->frames);
	free(f->by_id);
	free(f->gone);
	free(f);
}

void user_files__set_writer(struct user_files *f, struct stk_writer *w)
{
	f->o.w = w;
	file_map__set_writer(f->map, w);
}

static int on_snapshot(void *ctx, struct wire_news *n)
{
	return user_files__take_news(ctx, n);
}

int user_files__snapshot(struct user_files *f)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int err;

	f->snapshot = true;
	err = snapshot__run(&f->walk, 0, on_snapshot, f);
	f->snapshot = false;
	seen_context__forget(&f->seen);
	f->load_ns = clock_ns(CLOCK_MONOTONIC) - start;
	return err;
}

int user_files__poll(struct user_files *f)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);
	int n;

	table_cache__tick(f->tables, now);
	do {
		n = take_next(f, 0);
	} while (n > 0 && clock_ns(CLOCK_MONOTONIC_COARSE) - now < POLL_NS);
	if (n < 0)
		return n;
	return f->nr_gone ? retry_gone(f, now) : 0;
}

int user_files__fd(const struct user_files *f)
{
	return f->opener ? opener__fd(f->opener) : -1;
}

/* The news were lost, or are late: what the kernel's side has is little, but not wrong. */
static int take_entry(struct user_files *f, uint32_t id)
{
	struct wire_news n = { .key = f->o.entries[id].key, .file = id };

	return user_files__take_news(f, &n);
}

int user_files__number(struct user_files *f, uint32_t id, uint32_t *ret_number)
{
	int err = 0;

	*ret_number = 0;
	if (!id || id >= WIRE_MAX_FILES)
		return 0;
	if (!f->by_id[id])
		err = take_until(f, id);
	if (!err && !f->by_id[id])
		err = take_entry(f, id);
	if (err || !f->by_id[id])
		return err;
	return file_map__number(f->map, f->by_id[id], ret_number);
}

static int on_search(void *ctx, struct wire_news *n)
{
	struct user_files *f = ctx;
	struct seen_file s;
	int err;

	if (n->file != f->wanted)
		return on_retry(f, n);
	err = seen_file__open(&f->seen, n, false, &s);
	if (!err)
		err = load_table(f, n->file, &s);
	seen_file__release(&s);
	if (!err)
		f->wanted = 0;
	return err == -ENOMEM ? err : 0;
}

/* A table that went, or never came, for want of room. */
static int load_again(struct user_files *f, uint32_t id)
{
	struct seen_file s = { .fd = -1 };
	int err;

	if (mapped_file__info(f->by_id[id])->kind == STK_FILE_VDSO)
		return load_vdso_table(f, id);
	s.fd = mapped_file__open(f->by_id[id]);
	if (s.fd >= 0) {
		err = file_stat__read(s.fd, &s.st);
		if (!err)
			err = load_table(f, id, &s);
		close(s.fd);
		if (!err || err == -ENOMEM)
			return err;
	}
	f->wanted = id;
	err = snapshot__run(&f->walk, 0, on_search, f);
	seen_context__forget(&f->seen);
	if (f->wanted)
		table_cache__none(f->tables, id);
	f->wanted = 0;
	return err == -ENOMEM ? err : 0;
}

/* No announcement of the file has arrived: opens it through the mapping that the copy recorded. */
static int take_mapping(struct user_files *f, const struct wire_copy *c, const struct wire_vma *v)
{
	struct wire_news n = {
		.key = f->o.entries[v->file].key,
		.file = v->file,
		.tgid = c->tgid,
		.tid = c->tid,
		.start = v->start,
		.end = v->end,
		.offset = v->start - v->delta,
	};

	/* a file system that does not answer must not stop this thread as well */
	return f->opener && opener__is_stuck(f->opener) ? 0 : user_files__take_news(f, &n);
}

const struct unwind_table *user_files__table(struct user_files *f, const struct wire_copy *c,
					     const struct wire_vma *v)
{
	uint32_t id = v->file;

	if (!id || id >= WIRE_MAX_FILES)
		return NULL;
	if (!f->by_id[id] && (take_until(f, id) || (!f->by_id[id] && take_mapping(f, c, v))))
		return NULL;
	if (f->by_id[id] && is_new(f, id) && load_again(f, id))
		return NULL;
	return table_cache__get(f->tables, id);
}

int user_files__note_frame(struct user_files *f, uint32_t number, uint64_t offset)
{
	return number ? user_frames__add(&f->frames, FRAME_USER(number, offset)) : 0;
}

int user_files__finish(struct user_files *f, bool symbols)
{
	int err = take_until(f, 0);

	if (!err)
		err = file_map__hash_all(f->map);
	if (!err && symbols)
		err = user_frames__write_symbols(&f->frames, f->map, f->o.w);
	return err;
}

void user_files__stats(const struct user_files *f, struct user_files_stats *ret_stats)
{
	struct table_cache_stats t;
	uint32_t id;

	table_cache__stats(f->tables, &t);
	*ret_stats = (struct user_files_stats){
		.files = file_map__nr(f->map),
		.loaded = t.loaded,
		.evicted = t.evicted,
		.table_bytes = t.bytes,
		.table_peak = t.peak,
		.cfi_bytes = t.cfi_bytes,
		.load_ns = f->load_ns,
	};
	for (id = 1; id <= f->max_id; id++)
		ret_stats->no_table += f->by_id[id] &&
				       mapped_file__info(f->by_id[id])->kind != STK_FILE_JIT &&
				       f->o.entries[id].state == WIRE_FILE_NO_CFI;
}
