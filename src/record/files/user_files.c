// SPDX-License-Identifier: GPL-2.0-only
/* Maps file ids of the kernel side to files of the recording, with tables and symbols. */
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
#include "jit_tables.h"
#include "opener.h"
#include "seen_file.h"
#include "snapshot.h"
#include "table_cache.h"
#include "table_store.h"
#include "user_files_priv.h"
#include "user_frames.h"
#include "vdso.h"

#define POLL_NS 50000000ull /* then the rings must be emptied again */
#define RETRY_MAX_NS (64 * SECOND_NS)
/* Limit of waiting for the file event that a stack needs, and for pending ones at the end. */
#define EVENT_TIMEOUT_NS (5 * SECOND_NS)

/* A file that could not be opened so far; another process may map it. */
struct gone {
	uint32_t id;
	uint32_t used; /* wire_file.used at the last search */
	uint32_t tgid; /* the last process in which it could not be opened */
	unsigned int failed; /* processes in which it could not be opened */
};

/* Several short-lived processes may be gone before one exists long enough to open its file. */
#define GONE_MAX 8

struct user_files {
	struct user_files_opts o;
	struct opener *opener; /* reads file events; NULL: there are none */
	struct snapshot walk;
	struct table_cache *tables;
	struct file_map *map;
	struct seen_context seen;
	struct user_frames frames;
	struct mapped_file **by_id; /* by the kernel side's id */
	uint32_t max_id;
	struct gone *gone;
	uint32_t nr_gone, cap_gone;
	struct jit_tables *jit;
	uint64_t retry_ns, retry_after; /* time of the last retry, interval to the next */
	uint32_t searched; /* the file that load_again() searches for in all mappings; 0: none */
	bool snapshot; /* user_files__snapshot() is running */
	uint64_t load_ns;
};

/* ---- tables ---------------------------------------------------------------------------------- */

/* err: of unwind__from_fd(). */
static int use_table(struct user_files *f, uint32_t id, struct unwind_table *t, int err)
{
	if (err == -ENOMEM)
		table_cache__no_memory(f->tables, id);
	else if (err)
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

/* s must be open.  -ESTALE: the file was written to while it was read. */
static int load_table(struct user_files *f, uint32_t id, struct seen_file *s)
{
	struct unwind_table *t = take_ptr(s->table);
	int err = s->table_err;

	if (!f->o.table_budget) {
		err = -ENOENT;
	} else if (!t && !err) {
		err = table_store__get(f->o.store, s->fd, f->snapshot, &t);
		if (!seen_file__is_steady(s)) {
			unwind__free(t);
			return -ESTALE;
		}
	}
	return use_table(f, id, t, err);
}

/* A new link also looks like a change of the file, so it is opened once more. */
static int load_seen_table(struct user_files *f, struct observed_file *s)
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

/* ---- file events ----------------------------------------------------------------------------- */

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

/* Whether the process still runs; then a file that cannot be opened there now never can. */
static bool is_running(uint32_t tgid)
{
	char path[64], target[1];

	snprintf(path, sizeof(path), "/proc/%u/exe", tgid);
	return readlink(path, target, sizeof(target)) > 0;
}

/*
 * Another process used the file, which could not be opened there either.  The file event is
 * requested again up to GONE_MAX times, and stacks are deferred meanwhile.  After that the file has
 * no table until it is found.
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

static int take_file(struct user_files *f, struct observed_file *s)
{
	uint32_t id = s->n.file;
	bool was_gone = is_gone(f, id), known = f->by_id[id], gone;
	int err = 0;

	/* the table first: until it is loaded, each event has a deferred stack */
	if (s->file.fd >= 0 && (is_new(f, id) || was_gone))
		err = load_seen_table(f, s);
	else if (was_gone && s->n.tgid)
		count_gone(f, id, s->n.tgid);
	else if (s->file.fd < 0 && s->n.tgid &&
		 !known) /* the next process that maps it may live longer */
		__atomic_store_n(&f->o.entries[id].announced, 0, __ATOMIC_RELAXED);
	gone = s->file.fd < 0;
	if (!err && known)
		err = file_map__update(f->map, f->by_id[id], &s->n, &s->file);
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

/* Its table is built when the first stack passes there. */
static int take_jit(struct user_files *f, struct observed_file *s)
{
	uint32_t id = s->n.file;
	struct mapped_file **file = &f->by_id[id];
	struct jit_source *source;
	int err = file_map__add_jit(f->map, &s->n, take_ptr(s->jit), file);

	if (err)
		return err;
	source = mapped_file__jit(*file);
	if (source && f->o.table_budget)
		return jit_tables__add(f->jit, &s->n, source);
	table_cache__none(f->tables, id);
	return 0;
}

/* Whether the file event adds information. */
static bool is_useful(const struct user_files *f, const struct wire_file_event *n)
{
	if (!n->file || n->file >= WIRE_MAX_FILES)
		return false;
	return !f->by_id[n->file] || n->is_name || is_gone(f, n->file);
}

static int take_observed(struct user_files *f, struct observed_file *s)
{
	if (!is_useful(f, &s->n))
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

int user_files__take_file_event(struct user_files *f, const struct wire_file_event *n)
{
	struct observed_file s;
	int err;

	if (!is_useful(f, n))
		return 0;
	err = observed_file__open(&f->seen, n, false, &s);
	if (err)
		return err;
	err = take_observed(f, &s);
	observed_file__release(&s);
	return err;
}

/* Handles the next file event of the ring: 1, 0 if no event is pending, or an errno. */
static int take_next(struct user_files *f, uint64_t deadline)
{
	struct observed_file s;
	int err, n;

	n = f->opener ? opener__next(f->opener, deadline, &s) : 0;
	if (n <= 0)
		return n;
	err = take_observed(f, &s);
	observed_file__release(&s);
	return err ?: 1;
}

/* Handles file events until that of file id; id 0, which no file has: all pending ones. */
static int take_until(struct user_files *f, uint32_t id)
{
	uint64_t deadline = clock_ns(CLOCK_MONOTONIC) + EVENT_TIMEOUT_NS;
	int n = 1;

	while (n > 0 && !f->by_id[id] && clock_ns(CLOCK_MONOTONIC) < deadline)
		n = take_next(f, deadline);
	return MIN(n, 0);
}

/* ---- files that could not be opened ---------------------------------------------------------- */

static int on_retry(void *ctx, struct wire_file_event *n)
{
	struct user_files *f = ctx;

	if (!n->file || n->file >= WIRE_MAX_FILES)
		return 0;
	/* the snapshot program marked it as announced: request another file event */
	if (!f->by_id[n->file])
		__atomic_store_n(&f->o.entries[n->file].announced, 0, __ATOMIC_RELAXED);
	return is_gone(f, n->file) ? user_files__take_file_event(f, n) : 0;
}

/* Another process may have mapped them meanwhile. */
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

/* ---- interface ------------------------------------------------------------------------------- */

/* Opens the rings of CPUs that have come online. */
static int open_rings(struct user_files *f)
{
	unsigned int cpu;
	int err = 0;

	for (cpu = 0; f->opener && cpu < f->o.nr_cpus && !err; cpu++)
		if (f->o.file_ring_fds[cpu] >= 0)
			err = opener__add(f->opener, cpu, f->o.file_ring_fds[cpu]);
	return err;
}

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
	if (!err)
		err = jit_tables__new(opts->entries, f->tables, &f->jit);
	if (err) {
		user_files__free(f);
		return err;
	}
	user_files__set_writer(f, opts->w);
	*ret_files = f;
	return 0;
}

int user_files__follow(struct user_files *f)
{
	int err = opener__new(f->o.nr_cpus, &f->walk, f->o.table_budget, &f->opener);

	return err ?: open_rings(f);
}

void user_files__free(struct user_files *f)
{
	if (!f || !opener__free(f->opener))
		return;
	jit_tables__free(f->jit);
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

static int on_snapshot(void *ctx, struct wire_file_event *n)
{
	return user_files__take_file_event(ctx, n);
}

int user_files__snapshot(struct user_files *f)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int err;

	f->snapshot = true;
	table_cache__hold(f->tables);
	err = snapshot__run(&f->walk, 0, on_snapshot, f);
	err = table_cache__publish(f->tables) ?: err;
	f->snapshot = false;
	seen_context__forget(&f->seen);
	f->load_ns = clock_ns(CLOCK_MONOTONIC) - start;
	return err;
}

int user_files__poll(struct user_files *f)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);
	int n = open_rings(f);

	if (n)
		return n;
	table_cache__tick(f->tables, now);
	do {
		n = take_next(f, 0);
	} while (n > 0 && clock_ns(CLOCK_MONOTONIC_COARSE) - now < POLL_NS);
	if (n < 0)
		return n;
	jit_tables__poll(f->jit);
	return f->nr_gone ? retry_gone(f, now) : 0;
}

int user_files__fd(const struct user_files *f)
{
	return f->opener ? opener__fd(f->opener) : -1;
}

/*
 * The file event was dropped or delayed: uses the key in the file map, which has less information.
 */
static int take_entry(struct user_files *f, uint32_t id)
{
	struct wire_file_event n = { .key = f->o.entries[id].key, .file = id };

	return user_files__take_file_event(f, &n);
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

static int on_search(void *ctx, struct wire_file_event *n)
{
	struct user_files *f = ctx;
	struct seen_file s;
	int err;

	if (n->file != f->searched)
		return on_retry(f, n);
	err = seen_file__open(&f->seen, n, false, &s);
	if (!err)
		err = load_table(f, n->file, &s);
	seen_file__release(&s);
	if (!err)
		f->searched = 0;
	return err == -ENOMEM ? err : 0;
}

/* Loads a table that was evicted, or dropped for lack of room. */
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
	f->searched = id;
	err = snapshot__run(&f->walk, 0, on_search, f);
	seen_context__forget(&f->seen);
	if (f->searched)
		table_cache__none(f->tables, id);
	f->searched = 0;
	return err == -ENOMEM ? err : 0;
}

/* No file event has arrived: opens the file through the mapping in the deferred stack. */
static int take_mapping(struct user_files *f, const struct wire_copy *c, const struct wire_vma *v)
{
	struct wire_file_event n = {
		.key = f->o.entries[v->file].key,
		.file = v->file,
		.tgid = c->tgid,
		.tid = c->tid,
		.start = v->start,
		.end = v->end,
		.offset = v->start - v->delta,
	};

	/* a file system that does not answer must not block this thread, too */
	return f->opener && opener__is_stuck(f->opener) ? 0 : user_files__take_file_event(f, &n);
}

const struct unwind_table *user_files__table(struct user_files *f, const struct wire_copy *c,
					     const struct wire_vma *v, uint64_t offset, bool exact)
{
	uint32_t id = v->file;

	if (!id || id >= WIRE_MAX_FILES)
		return NULL;
	if (!f->by_id[id] && (take_until(f, id) || (!f->by_id[id] && take_mapping(f, c, v))))
		return NULL;
	if (jit_tables__has(f->jit, id))
		return jit_tables__at(f->jit, id, offset, exact, c->ts);
	/* what could not be opened is searched for once a second, for all such files together */
	if (f->by_id[id] && is_new(f, id) && !is_gone(f, id) && load_again(f, id))
		return NULL;
	return table_cache__get(f->tables, id);
}

int user_files__note_frame(struct user_files *f, uint32_t number, uint64_t offset)
{
	return number ? user_frames__add(&f->frames, FRAME_USER(number, offset)) : 0;
}

int user_files__finish(struct user_files *f, bool symbols, int64_t to_clock)
{
	int err = take_until(f, 0);

	if (!err)
		err = file_map__hash_all(f->map);
	if (!err && symbols)
		err = user_frames__write_symbols(&f->frames, f->map, to_clock, f->o.w);
	return err;
}

void user_files__stats(const struct user_files *f, struct user_files_stats *ret_stats)
{
	struct table_cache_stats t;
	uint32_t id;

	table_cache__stats(f->tables, &t);
	*ret_stats = (struct user_files_stats){
		.files = file_map__nr(f->map),
		.not_kept = file_map__not_kept(f->map),
		.loaded = t.loaded,
		.evicted = t.evicted,
		.refused = t.refused,
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
