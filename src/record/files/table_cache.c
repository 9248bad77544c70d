// SPDX-License-Identifier: GPL-2.0-only
/* Loads, publishes and evicts the unwind tables of files. */
#include "table_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "clock.h"
#include "grace.h"
#include "log.h"
#include "table_slabs.h"

#define RETIRED_NS SECOND_NS /* replaced tables are freed together: that waits for a grace period */
#define IDLE_NS SECOND_NS /* tables unused for so long may be evicted */
#define REFUSED_NS (30 * SECOND_NS) /* until refused tables may be put again */

enum slot_state {
	SLOT_LOADED,
	SLOT_WAITING, /* for room */
	SLOT_REFUSED, /* there was no room */
};

struct slot {
	enum slot_state state;
	uint32_t id;
	uint32_t addr; /* LOADED */
	struct unwind_table *own; /* WAITING */
	struct unwind_table view; /* LOADED: words are in the slabs */
};

struct table_cache {
	struct wire_file *entries;
	struct wire_user_ctl *ctl;
	struct table_slabs *tables;
	struct slot **slots; /* by file id */
	uint32_t max_id;
	uint32_t waiting, refused; /* numbers of slots */
	uint64_t waiting_bytes;
	uint64_t epoch_ns; /* when the epoch was last incremented */
	uint64_t pass_ns; /* when the search for idle tables began; 0: none is active */
	uint32_t pass_epoch; /* tables not used since this epoch are idle */
	uint64_t refused_ns;
	struct retired {
		uint32_t addr, nr_words;
	} * retired; /* replaced, but programs may still use them */
	uint32_t nr_retired, cap_retired;
	uint64_t retired_ns; /* when some were last freed */
	bool warned_full, warned_failed, warned_memory;
	struct table_cache_stats stats;
};

int table_cache__new(struct wire_file *entries, struct wire_user_ctl *ctl, int slabs_fd,
		     uint64_t budget, struct table_cache **ret_cache)
{
	struct table_cache *c = calloc(1, sizeof(*c));
	int err = c ? 0 : -ENOMEM;

	if (!err)
		err = table_slabs__new(slabs_fd, budget, &c->tables);
	if (!err) {
		c->slots = calloc(WIRE_MAX_FILES, sizeof(*c->slots));
		err = c->slots ? 0 : -ENOMEM;
	}
	if (err) {
		table_cache__free(c);
		return err;
	}
	c->entries = entries;
	c->ctl = ctl;
	*ret_cache = c;
	return 0;
}

void table_cache__free(struct table_cache *c)
{
	uint32_t id;

	if (!c)
		return;
	for (id = 1; c->slots && id <= c->max_id; id++) {
		if (c->slots[id])
			unwind__free(c->slots[id]->own);
		free(c->slots[id]);
	}
	free(c->slots);
	free(c->retired);
	table_slabs__free(c->tables);
	free(c);
}

/* ---- shared with BPF programs ---------------------------------------------------------------- */

/* Makes threads look up the files that they have mapped again. */
static void count_generation(struct table_cache *c)
{
	__atomic_fetch_add(&c->ctl->generation, 1, __ATOMIC_SEQ_CST);
}

static void set_state(struct table_cache *c, uint32_t id, enum wire_file_state state)
{
	__atomic_store_n(&c->entries[id].state, state, __ATOMIC_RELEASE);
}

static void publish(struct table_cache *c, const struct slot *s)
{
	struct wire_file *e = &c->entries[s->id];

	e->table = s->addr;
	e->first_page = s->view.first_page;
	e->nr_pages = s->view.nr_pages;
	e->rules = s->addr + s->view.rules;
	set_state(c, s->id, WIRE_FILE_LOADED);
	count_generation(c);
}

void table_cache__hold(struct table_cache *c)
{
	table_slabs__hold(c->tables);
}

int table_cache__publish(struct table_cache *c)
{
	return table_slabs__publish(c->tables);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static void drop_slot(struct table_cache *c, struct slot *s)
{
	c->slots[s->id] = NULL;
	unwind__free(s->own);
	free(s);
}

/* Moves the table into the shared memory. */
static int place(struct table_cache *c, struct slot *s)
{
	struct unwind_table *t = s->own;
	int err = table_slabs__alloc(c->tables, t->nr_words, &s->addr);

	if (err)
		return err;
	s->view = *t;
	s->view.words = table_slabs__words(c->tables, s->addr);
	memcpy(s->view.words, t->words, (size_t)t->nr_words * 4);
	s->state = SLOT_LOADED;
	publish(c, s);
	c->stats.loaded++;
	c->stats.cfi_bytes += t->cfi_bytes;
	c->stats.peak = MAX(c->stats.peak, table_slabs__bytes(c->tables));
	unwind__free(t);
	s->own = NULL;
	return 0;
}

static void warn_full(struct table_cache *c)
{
	if (!c->warned_full)
		log_warn("unwind tables exceed their limit of %llu MiB: some stacks are unwound by "
			 "frame pointers",
			 (unsigned long long)(table_slabs__max_bytes(c->tables) >> 20));
	c->warned_full = true;
}

static void warn_refused(struct table_cache *c, int err)
{
	if (err == -E2BIG || err == -ENOSPC) {
		warn_full(c);
		return;
	}
	if (!c->warned_failed)
		log_warn("allocate memory for unwind tables: %s", strerror(-err));
	c->warned_failed = true;
}

static void refuse(struct table_cache *c, struct slot *s, int err)
{
	unwind__free(s->own);
	s->own = NULL;
	s->state = SLOT_REFUSED;
	c->refused++;
	c->stats.refused++;
	set_state(c, s->id, WIRE_FILE_NO_CFI);
	count_generation(c);
	warn_refused(c, err);
}

static void wait_for_room(struct table_cache *c, struct slot *s)
{
	uint64_t bytes = table_slabs__size(s->own->nr_words);

	/* waiting tables use memory in addition to the slabs */
	if (c->waiting && c->waiting_bytes + bytes > table_slabs__max_bytes(c->tables) / 2) {
		refuse(c, s, -ENOSPC);
		return;
	}
	s->state = SLOT_WAITING;
	c->waiting++;
	c->waiting_bytes += bytes;
}

/* Stacks through this file are unwound by frame pointers, which is better than no recording. */
static void give_up(struct table_cache *c, uint32_t id, int err)
{
	c->stats.refused++;
	warn_refused(c, err);
	table_cache__none(c, id);
}

/* NULL: out of memory. */
static struct slot *add_slot(struct table_cache *c, uint32_t id)
{
	struct slot *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->id = id;
	c->slots[id] = s;
	c->max_id = MAX(c->max_id, id);
	return s;
}

void table_cache__put(struct table_cache *c, uint32_t id, struct unwind_table *t, bool wait)
{
	struct slot *s = c->slots[id] ? NULL : add_slot(c, id);
	int err;

	if (!s) {
		unwind__free(t);
		if (!c->slots[id])
			give_up(c, id, -ENOMEM);
		return;
	}
	s->own = t;
	err = place(c, s);
	if (err == -ENOSPC && wait) {
		wait_for_room(c, s);
		return;
	}
	if (err)
		drop_slot(c, s);
	if (err && err != -ENOSPC)
		give_up(c, id, err);
}

/* false: out of memory. */
static bool retire(struct table_cache *c, const struct slot *s)
{
	if (array__grow(&c->retired, c->nr_retired, &c->cap_retired))
		return false;
	c->retired[c->nr_retired++] = (struct retired){ s->addr, s->view.nr_words };
	return true;
}

/* Where the kernel refuses to wait, a program may be using them: they are kept. */
static void free_retired(struct table_cache *c)
{
	uint32_t i;

	if (grace__wait())
		return;
	for (i = 0; i < c->nr_retired; i++)
		table_slabs__release(c->tables, c->retired[i].addr, c->retired[i].nr_words);
	c->nr_retired = 0;
}

/* No thread finds the table any more, but programs may be using it. */
static void unload(struct table_cache *c, const struct slot *s)
{
	c->stats.loaded--;
	c->stats.cfi_bytes -= s->view.cfi_bytes;
	if (!retire(c, s) && !grace__wait())
		table_slabs__release(c->tables, s->addr, s->view.nr_words);
}

void table_cache__replace(struct table_cache *c, uint32_t id, struct unwind_table *t)
{
	bool loaded = c->slots[id];
	struct slot *s = c->slots[id] ?: add_slot(c, id), old;
	int err;

	if (!s || s->state != SLOT_LOADED) {
		unwind__free(t);
		if (!s)
			give_up(c, id, -ENOMEM);
		return;
	}
	old = *s;
	s->own = t;
	err = place(c, s);
	if (err) /* rather no table than one that is no longer true */
		refuse(c, s, err);
	if (loaded)
		unload(c, &old);
}

bool table_cache__is_refused(const struct table_cache *c, uint32_t id)
{
	return c->slots[id] && c->slots[id]->state == SLOT_REFUSED;
}

void table_cache__none(struct table_cache *c, uint32_t id)
{
	struct slot *s = c->slots[id];

	set_state(c, id, WIRE_FILE_NO_CFI);
	count_generation(c);
	if (s && s->state == SLOT_LOADED) {
		unload(c, s);
		drop_slot(c, s);
	}
}

void table_cache__no_memory(struct table_cache *c, uint32_t id)
{
	if (!c->warned_memory)
		log_warn(
			"allocate an unwind table: out of memory; some stacks are unwound by frame "
			"pointers");
	c->warned_memory = true;
	table_cache__none(c, id);
}

const struct unwind_table *table_cache__get(const struct table_cache *c, uint32_t id)
{
	const struct slot *s = id < WIRE_MAX_FILES ? c->slots[id] : NULL;

	if (!s || s->state == SLOT_REFUSED)
		return NULL;
	return s->state == SLOT_WAITING ? s->own : &s->view;
}

/* ---- eviction -------------------------------------------------------------------------------- */

/* A thread that caches a file marks it as used again only when the generation changes. */
static void begin_pass(struct table_cache *c, uint64_t now)
{
	c->pass_ns = now;
	c->pass_epoch = __atomic_add_fetch(&c->ctl->epoch, 1, __ATOMIC_SEQ_CST);
	count_generation(c);
}

/* The epoch in which the table was last used. */
static uint32_t last_used(const struct table_cache *c, const struct slot *s)
{
	return __atomic_load_n(&c->entries[s->id].used, __ATOMIC_RELAXED);
}

struct candidate {
	struct slot *slot;
	uint32_t idle; /* epochs since it was used */
};

static int longest_idle_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return CMP(y->idle, x->idle);
}

/* Tables that have not been used since the pass began, longest idle first; NULL: out of memory. */
static struct candidate *find_idle(struct table_cache *c, size_t *ret_nr)
{
	struct candidate *v = calloc(MAX(c->stats.loaded, 1u), sizeof(*v));
	uint32_t id, idle;

	*ret_nr = 0;
	for (id = 1; v && id <= c->max_id; id++) {
		struct slot *s = c->slots[id];

		if (!s || s->state != SLOT_LOADED)
			continue;
		idle = c->pass_epoch - last_used(c, s);
		if ((int32_t)idle > 0)
			v[(*ret_nr)++] = (struct candidate){ s, idle };
	}
	if (v)
		qsort(v, *ret_nr, sizeof(*v), longest_idle_first);
	return v;
}

/* Evicts idle tables of at least so many bytes; false: none, as programs use or may use all. */
static bool evict(struct table_cache *c, uint64_t bytes)
{
	size_t nr, n, i;
	_cleanup_free_ struct candidate *idle = find_idle(c, &nr);
	uint64_t sum = 0;

	for (n = 0; n < nr && sum < bytes; n++) {
		sum += table_slabs__size(idle[n].slot->view.nr_words);
		set_state(c, idle[n].slot->id, WIRE_FILE_NEW);
	}
	if (!n)
		return false;
	count_generation(c);
	if (grace__wait()) {
		for (i = 0; i < n; i++)
			publish(c, idle[i].slot);
		return false;
	}
	for (i = 0; i < n; i++) {
		struct slot *s = idle[i].slot;

		c->stats.cfi_bytes -= s->view.cfi_bytes;
		table_slabs__release(c->tables, s->addr, s->view.nr_words);
		drop_slot(c, s);
	}
	c->stats.loaded -= n;
	c->stats.evicted += n;
	return true;
}

/* Places or refuses all waiting tables. */
static void end_pass(struct table_cache *c)
{
	uint32_t id;
	int err;

	c->pass_ns = 0;
	for (id = 1; id <= c->max_id && c->waiting; id++) {
		struct slot *s = c->slots[id];
		uint64_t bytes;

		if (!s || s->state != SLOT_WAITING)
			continue;
		bytes = table_slabs__size(s->own->nr_words);
		do {
			err = place(c, s);
		} while (err == -ENOSPC && evict(c, c->waiting_bytes));
		if (err)
			refuse(c, s, err);
		c->waiting--;
		c->waiting_bytes -= bytes;
	}
}

/* Lets programs request refused tables again if their files are still used. */
static void reset_refused(struct table_cache *c)
{
	uint32_t id;

	for (id = 1; id <= c->max_id; id++) {
		struct slot *s = c->slots[id];

		if (!s || s->state != SLOT_REFUSED)
			continue;
		set_state(c, id, WIRE_FILE_NEW);
		drop_slot(c, s);
	}
	c->refused = 0;
	c->refused_ns = 0;
	count_generation(c);
}

void table_cache__tick(struct table_cache *c, uint64_t now)
{
	if (now - c->epoch_ns >= SECOND_NS) {
		c->epoch_ns = now;
		__atomic_fetch_add(&c->ctl->epoch, 1, __ATOMIC_SEQ_CST);
	}
	if (c->nr_retired && now - c->retired_ns >= RETIRED_NS) {
		c->retired_ns = now;
		free_retired(c);
	}
	if (c->refused && !c->refused_ns)
		c->refused_ns = now;
	else if (c->refused && now - c->refused_ns >= REFUSED_NS)
		reset_refused(c);
	if (c->waiting && !c->pass_ns)
		begin_pass(c, now);
	else if (c->waiting && now - c->pass_ns >= IDLE_NS)
		end_pass(c);
}

void table_cache__stats(const struct table_cache *c, struct table_cache_stats *ret_stats)
{
	*ret_stats = c->stats;
	ret_stats->bytes = table_slabs__bytes(c->tables);
}
