// SPDX-License-Identifier: GPL-2.0-only
/* Keeps unwind tables in the cache directory, a file for each inode. */
#include "table_store.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <time.h>
#include <linux/magic.h>

#include "clock.h"
#include "record/cache/cache_dir.h"
#include "seen_file.h"
#include "unwind/unwind.h"

#define MIN_WORDS 1024 /* smaller tables are converted as fast as they are read */
#define MAX_WORDS (32u << 20)
#define SETTLED_NS (2 * SECOND_NS) /* so old must a change be, as times have a resolution */
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* What a table belongs to. */
struct key {
	uint64_t dev, ino, size, mtime_ns, ctime_ns, fs;
};

/* The words follow. */
struct head {
	uint32_t first_page, nr_pages, rules, nr_rules, nr_rows, sources;
	uint64_t cfi_bytes, unknown;
};
static_assert(sizeof(struct key) == 48 && sizeof(struct head) == 40, "no padding goes to the file");

struct table_store {
	struct cache_dir *dir;
	struct table_store_stats stats;
};

struct table_store *table_store__new(struct cache_dir *dir)
{
	struct table_store *s = calloc(1, sizeof(*s));

	if (s)
		s->dir = dir;
	return s;
}

void table_store__free(struct table_store *s)
{
	free(s);
}

/* false: the times of the file cannot show whether it has changed. */
static bool key_of(int fd, struct key *ret_key)
{
	struct file_stat st;
	struct statfs fs;

	if (file_stat__read(fd, &st) || fstatfs(fd, &fs))
		return false;
	if (fs.f_type != EXT4_SUPER_MAGIC && fs.f_type != XFS_SUPER_MAGIC &&
	    fs.f_type != BTRFS_SUPER_MAGIC && fs.f_type != F2FS_SUPER_MAGIC)
		return false;
	*ret_key = (struct key){
		.dev = st.dev,
		.ino = st.ino,
		.size = st.size,
		.mtime_ns = st.mtime_ns,
		.ctime_ns = st.ctime_ns,
	};
	memcpy(&ret_key->fs, &fs.f_fsid, sizeof(ret_key->fs));
	return clock_ns(CLOCK_REALTIME) - st.ctime_ns > SETTLED_NS;
}

static void name_of(const struct key *key, char ret_name[CACHE_NAME])
{
	snprintf(ret_name, CACHE_NAME, CACHE_UNWIND "%llx-%llx-%llx", (unsigned long long)key->fs,
		 (unsigned long long)key->dev, (unsigned long long)key->ino);
}

/* The kept table, if it is a valid one. */
static struct unwind_table *find(const struct table_store *s, const struct key *key)
{
	char name[CACHE_NAME];
	struct head h;
	struct cache_item item = {
		.name = name,
		.key = key,
		.key_len = sizeof(*key),
		.head = &h,
		.head_len = sizeof(h),
	};
	struct unwind_table *t;

	name_of(key, name);
	if (!cache_dir__get(s->dir, &item))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t) {
		free(item.rest);
		return NULL;
	}
	*t = (struct unwind_table){
		.words = item.rest,
		.nr_words = item.rest_len / 4,
		.first_page = h.first_page,
		.nr_pages = h.nr_pages,
		.rules = h.rules,
		.nr_rules = h.nr_rules,
		.nr_rows = h.nr_rows,
		.sources = h.sources,
		.cfi_bytes = h.cfi_bytes,
		.unknown = h.unknown,
	};
	if (!(item.rest_len % 4) && item.rest_len / 4 <= MAX_WORDS && unwind__is_valid(t))
		return t;
	unwind__free(t);
	return NULL;
}

static void add(struct table_store *s, const struct key *key, const struct unwind_table *t)
{
	struct head h = {
		.first_page = t->first_page,
		.nr_pages = t->nr_pages,
		.rules = t->rules,
		.nr_rules = t->nr_rules,
		.nr_rows = t->nr_rows,
		.sources = t->sources,
		.cfi_bytes = t->cfi_bytes,
		.unknown = t->unknown,
	};
	char name[CACHE_NAME];
	struct cache_item item = {
		.name = name,
		.key = key,
		.key_len = sizeof(*key),
		.head = &h,
		.head_len = sizeof(h),
		.rest = t->words,
		.rest_len = (size_t)t->nr_words * 4,
	};

	if (t->nr_words < MIN_WORDS || t->nr_words > MAX_WORDS)
		return;
	name_of(key, name);
	s->stats.added += cache_dir__put(s->dir, &item);
}

int table_store__get(struct table_store *s, int fd, bool may_add, struct unwind_table **ret_table)
{
	struct key key, now;
	bool has_key = s && key_of(fd, &key);
	struct unwind_table *t = has_key ? find(s, &key) : NULL;
	int err;

	if (t) {
		s->stats.found++;
		*ret_table = t;
		return 0;
	}
	err = unwind__from_fd(fd, ret_table);
	if (err || !s)
		return err;
	s->stats.converted++;
	if (has_key && may_add && key_of(fd, &now) && !memcmp(&key, &now, sizeof(key)))
		add(s, &key, *ret_table);
	return 0;
}

void table_store__stats(const struct table_store *s, struct table_store_stats *ret_stats)
{
	*ret_stats = s ? s->stats : (struct table_store_stats){ 0 };
}
