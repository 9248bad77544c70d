// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the windows of generated code, and decides when their tables are built. */
#include "jit_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "clock.h"
#include "jit_source.h"
#include "jit_window.h"
#include "log.h"
#include "table_cache.h"

#define BUILD_MIN_NS 50000000ull /* between two tables of a window */
#define BUILD_SHARE 20 /* at most 1/20 of the time goes into them */

/* The table of a window. */
struct jit_table {
	struct jit_table *next;
	uint32_t id;
	struct jit_source *source; /* the window's */
	struct jit_window *window;
	bool ended; /* its process has exited */
	bool wanted; /* a stack that passes there was deferred since it was last built */
	uint64_t built_ns,
		build_after; /* when it was last built, and how long until the next time */
};

struct jit_tables {
	const struct wire_file *entries;
	struct table_cache *cache;
	struct jit_table **v; /* by file id */
	uint32_t max_id;
	struct jit_table *all; /* those of processes that are not done */
	struct jit_source **programs; /* their sources, each once */
	uint32_t nr_programs, cap_programs;
	uint64_t checked_ns; /* when code was last compared */
	bool warned;
};

int jit_tables__new(const struct wire_file *entries, struct table_cache *cache,
		    struct jit_tables **ret_tables)
{
	struct jit_tables *t = calloc(1, sizeof(*t));

	if (t)
		t->v = calloc(WIRE_MAX_FILES, sizeof(*t->v));
	if (!t || !t->v) {
		free(t);
		return -ENOMEM;
	}
	t->entries = entries;
	t->cache = cache;
	*ret_tables = t;
	return 0;
}

static void table_free(struct jit_table *j)
{
	if (!j)
		return;
	jit_window__free(j->window);
	free(j);
}

void jit_tables__free(struct jit_tables *t)
{
	uint32_t i;

	if (!t)
		return;
	for (i = 0; i <= t->max_id; i++)
		table_free(t->v[i]);
	free(t->v);
	for (i = 0; i < t->nr_programs; i++)
		jit_source__free(t->programs[i]);
	free(t->programs);
	free(t);
}

/* ---- windows --------------------------------------------------------------------------------- */

static int add_program(struct jit_tables *t, struct jit_source *source)
{
	if (array__grow(&t->programs, t->nr_programs, &t->cap_programs))
		return -ENOMEM;
	t->programs[t->nr_programs++] = jit_source__share(source);
	return 0;
}

int jit_tables__add(struct jit_tables *t, const struct wire_file_event *n,
		    struct jit_source *source)
{
	unsigned int nr = jit_source__add_window(source);
	uint64_t start = (n->key.w[0] & UINT32_MAX) << WIRE_JIT_BITS;
	struct jit_table *j;
	int err = nr == 1 ? add_program(t, source) : 0;

	if (err)
		return err;
	if (nr > JIT_MAX_WINDOWS) {
		table_cache__none(t->cache, n->file);
		return 0;
	}
	j = calloc(1, sizeof(*j));
	err = j ? jit_window__new(start, source, &j->window) : -ENOMEM;
	if (err) {
		free(j);
		return err;
	}
	j->id = n->file;
	j->source = source;
	j->next = t->all;
	t->all = t->v[j->id] = j;
	t->max_id = MAX(t->max_id, j->id);
	return 0;
}

bool jit_tables__has(const struct jit_tables *t, uint32_t id)
{
	return t->v[id];
}

const struct unwind_table *jit_tables__at(struct jit_tables *t, uint32_t id, uint64_t offset,
					  bool exact, uint64_t ts)
{
	t->v[id]->wanted = true;
	return jit_window__at(t->v[id]->window, offset, exact, ts);
}

/* ---- building -------------------------------------------------------------------------------- */

/*
 * Without a table (it is new, was evicted or refused) stacks are deferred.  If there are none, the
 * code is not used, and its table would only take room.
 */
static bool is_due(const struct jit_tables *t, const struct jit_table *j, uint64_t now)
{
	if (now - j->built_ns < j->build_after || table_cache__is_refused(t->cache, j->id))
		return false;
	return t->entries[j->id].state != WIRE_FILE_NEW || j->wanted;
}

/* A process can write a dump that takes too much memory: that costs its own table only. */
static void build_table(struct jit_tables *t, struct jit_table *j, uint64_t now)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct unwind_table *table;
	int err;

	if (t->entries[j->id].state == WIRE_FILE_NEW)
		jit_window__forget(j->window);
	err = jit_window__table(j->window, &table);
	if (!err && !table)
		return;
	if (err)
		table_cache__no_memory(t->cache, j->id);
	else
		table_cache__replace(t->cache, j->id, table);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	j->wanted = false;
	j->built_ns = now;
	j->build_after = MAX(BUILD_MIN_NS, BUILD_SHARE * cpu);
}

static void poll_programs(struct jit_tables *t)
{
	uint32_t i, nr = 0;

	for (i = 0; i < t->nr_programs; i++) {
		struct jit_source *source = t->programs[i];

		if (jit_source__poll(source) == -ENOMEM && !t->warned) {
			log_warn("read names of generated code: out of memory");
			t->warned = true;
		}
		if (jit_source__is_done(source))
			jit_source__free(source);
		else
			t->programs[nr++] = source;
	}
	t->nr_programs = nr;
}

/*
 * After the exit of a process, its windows only serve the stacks that were copied before, and their
 * tables make room for others.
 */
static void poll_table(struct jit_tables *t, struct jit_table *j, uint64_t now, bool check)
{
	if (j->ended)
		return;
	if (jit_source__has_exited(j->source)) {
		table_cache__none(t->cache, j->id);
		j->ended = true;
		return;
	}
	if (check)
		jit_window__check(j->window);
	if (is_due(t, j, now))
		build_table(t, j, now);
}

void jit_tables__poll(struct jit_tables *t)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool check = now - t->checked_ns >= SECOND_NS;
	struct jit_table **at = &t->all, *j;

	poll_programs(t);
	while ((j = *at)) {
		poll_table(t, j, now, check);
		if (jit_source__is_done(j->source)) {
			*at = j->next;
			t->v[j->id] = NULL;
			table_free(j);
		} else {
			at = &j->next;
		}
	}
	if (check)
		t->checked_ns = now;
}
