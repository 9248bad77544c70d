// SPDX-License-Identifier: GPL-2.0-only
/* Keeps unwind tables in files, one for each inode. */
#include "table_store.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>
#include <linux/magic.h>

#include "array.h"
#include "base/temporary.h"
#include "cleanup.h"
#include "clock.h"
#include "log.h"
#include "seen_file.h"
#include "strbuf.h"
#include "symbols/usyms.h"
#include "trace/bytes.h"
#include "unwind/unwind.h"

#define PREFIX "unwind-"
#define MAGIC 0x31544e55 /* "UNT1" */
#define MIN_WORDS 4096 /* smaller tables are converted as fast as they are read */
#define MAX_WORDS (32u << 20)
#define SETTLED_NS (2 * SECOND_NS) /* so old must a change be, as times have a resolution */
#define USED_NS (24 * 3600 * SECOND_NS) /* the time of use is as exact as that */
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* What a table belongs to. */
struct key {
	uint64_t dev, ino, size, mtime_ns, ctime_ns, fs;
	uint8_t converter[64]; /* build id of this program */
};

struct header {
	uint32_t magic;
	uint32_t crc; /* of the rest of the header and the words */
	struct key key;
	uint32_t nr_words, first_page, nr_pages, rules, nr_rules, nr_rows;
	uint32_t sources, zero;
	uint64_t cfi_bytes, unknown;
};
static_assert(sizeof(struct header) == 168 && offsetof(struct header, key) == 8,
	      "no padding goes to the file");

struct table_store {
	int dir;
	uint64_t max_bytes, added_bytes;
	uint8_t converter[64];
	bool full; /* storing has failed */
	struct table_store_stats stats;
};

/* ---- the directory --------------------------------------------------------------------------- */

/* Whether only root and this user can replace what is in the directory. */
static bool is_ours(int fd, bool last)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISDIR(st.st_mode) || (st.st_uid && st.st_uid != geteuid()))
		return false;
	if (last)
		return st.st_uid == geteuid() && !(st.st_mode & 077);
	return !(st.st_mode & 022) || st.st_mode & S_ISVTX;
}

/* Opens a directory in another one, which is created if it does not exist. */
static int enter(int at, const char *name, bool last)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);

	if (fd < 0 && errno == ENOENT && !mkdirat(at, name, 0700))
		fd = openat(at, name, flags);
	if (fd < 0)
		return -errno;
	if (is_ours(fd, last))
		return fd;
	close(fd);
	return -EPERM;
}

/* Component by component, as links and what others can change are refused. */
static int open_dir(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	char *rest = copy, *name;
	int at, fd;

	if (!copy || *path != '/')
		return copy ? -EINVAL : -ENOMEM;
	at = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -errno;
	while (at >= 0 && (name = strsep(&rest, "/"))) {
		if (!*name)
			continue;
		fd = enter(at, name, !rest || !*rest);
		close(at);
		at = fd;
	}
	return at;
}

struct table_store *table_store__open_at(const char *dir, uint64_t max_bytes)
{
	struct table_store *s = calloc(1, sizeof(*s));
	_cleanup_close_ int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned int len = 0;

	if (!s)
		return NULL;
	s->max_bytes = max_bytes;
	s->dir = open_dir(dir);
	if (s->dir < 0) {
		log_debug("no unwind tables are kept in %s: %s", dir,
			  s->dir == -EPERM ? "others can change it" : strerror(-s->dir));
		free(s);
		return NULL;
	}
	if (self < 0 || elf_build_id__from_fd(self, s->converter, &len) || !len) {
		log_debug("no unwind tables are kept: this program has no build id");
		close(s->dir);
		free(s);
		return NULL;
	}
	return s;
}

struct table_store *table_store__open(uint64_t max_bytes)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	_cleanup_(strbuf__free) struct strbuf path = { 0 };
	const struct passwd *user = home ? NULL : getpwuid(geteuid());

	if (cache && *cache == '/')
		strbuf__printf(&path, "%s/stackonce", cache);
	else if (home || user)
		strbuf__printf(&path, "%s/.cache/stackonce", home ?: user->pw_dir);
	return path.len && !strbuf__failed(&path) ? table_store__open_at(path.s, max_bytes) : NULL;
}

/* ---- one table ------------------------------------------------------------------------------- */

/* false: the times of the file cannot show whether it has changed. */
static bool key_of(const struct table_store *s, int fd, struct key *ret_key)
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
	memcpy(ret_key->converter, s->converter, sizeof(s->converter));
	return clock_ns(CLOCK_REALTIME) - st.ctime_ns > SETTLED_NS;
}

static void name_of(const struct key *key, char ret_name[64])
{
	snprintf(ret_name, 64, PREFIX "%llx-%llx-%llx", (unsigned long long)key->fs,
		 (unsigned long long)key->dev, (unsigned long long)key->ino);
}

static uint32_t crc_of(const struct header *h, const uint32_t *words)
{
	uint32_t crc = crc32c(0, &h->key, sizeof(*h) - offsetof(struct header, key));

	return crc32c(crc, words, (size_t)h->nr_words * 4);
}

static bool header_fits(const struct header *h, const struct key *key, uint64_t file_size)
{
	return h->magic == MAGIC && !memcmp(&h->key, key, sizeof(*key)) &&
	       h->nr_words <= MAX_WORDS && file_size == sizeof(*h) + (uint64_t)h->nr_words * 4;
}

/* The table of the file that fd is, if it is complete and that of the key. */
static struct unwind_table *read_table(int fd, const struct key *key)
{
	struct unwind_table *t;
	struct header h;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022 ||
	    temporary__read(fd, &h, sizeof(h), 0) || !header_fits(&h, key, st.st_size))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	*t = (struct unwind_table){
		.words = malloc((size_t)h.nr_words * 4 + 1),
		.nr_words = h.nr_words,
		.first_page = h.first_page,
		.nr_pages = h.nr_pages,
		.rules = h.rules,
		.nr_rules = h.nr_rules,
		.nr_rows = h.nr_rows,
		.sources = h.sources,
		.cfi_bytes = h.cfi_bytes,
		.unknown = h.unknown,
	};
	if (t->words && !temporary__read(fd, t->words, (size_t)h.nr_words * 4, sizeof(h)) &&
	    crc_of(&h, t->words) == h.crc && unwind__is_valid(t)) {
		if (clock_ns(CLOCK_REALTIME) - st.st_mtim.tv_sec * SECOND_NS > USED_NS)
			futimens(fd, NULL);
		return t;
	}
	unwind__free(t);
	return NULL;
}

static struct unwind_table *find(struct table_store *s, const struct key *key)
{
	_cleanup_close_ int fd = -1;
	char name[64];

	name_of(key, name);
	fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? NULL : read_table(fd, key);
}

static int write_table(int fd, const struct key *key, const struct unwind_table *t)
{
	struct header h = {
		.magic = MAGIC,
		.key = *key,
		.nr_words = t->nr_words,
		.first_page = t->first_page,
		.nr_pages = t->nr_pages,
		.rules = t->rules,
		.nr_rules = t->nr_rules,
		.nr_rows = t->nr_rows,
		.sources = t->sources,
		.cfi_bytes = t->cfi_bytes,
		.unknown = t->unknown,
	};

	h.crc = crc_of(&h, t->words);
	return temporary__write(fd, &h, sizeof(h), 0) ?:
		       temporary__write(fd, t->words, (size_t)t->nr_words * 4, sizeof(h));
}

/* Complete or not at all: another recorder may read and write the same table. */
static void add(struct table_store *s, const struct key *key, const struct unwind_table *t)
{
	uint64_t bytes = sizeof(struct header) + (uint64_t)t->nr_words * 4;
	char name[64], unfinished[64];
	int fd, err;

	if (s->full || t->nr_words < MIN_WORDS || t->nr_words > MAX_WORDS ||
	    s->added_bytes + bytes > s->max_bytes)
		return;
	name_of(key, name);
	snprintf(unfinished, sizeof(unfinished), PREFIX "new-%d-%llx", getpid(),
		 (unsigned long long)clock_ns(CLOCK_MONOTONIC));
	fd = openat(s->dir, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : write_table(fd, key, t);
	closep(&fd);
	if (!err && renameat(s->dir, unfinished, s->dir, name))
		err = -errno;
	if (err) {
		unlinkat(s->dir, unfinished, 0);
		log_debug("unwind tables are not kept: %s", strerror(-err));
		s->full = true;
		return;
	}
	s->added_bytes += bytes;
	s->stats.added++;
}

int table_store__get(struct table_store *s, int fd, bool may_add, struct unwind_table **ret_table)
{
	struct key key, now;
	bool has_key = s && key_of(s, fd, &key);
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
	if (has_key && may_add && key_of(s, fd, &now) && !memcmp(&key, &now, sizeof(key)))
		add(s, &key, *ret_table);
	return 0;
}

void table_store__stats(const struct table_store *s, struct table_store_stats *ret_stats)
{
	*ret_stats = s ? s->stats : (struct table_store_stats){ 0 };
}

/* ---- the limit ------------------------------------------------------------------------------- */

struct stored {
	char name[64];
	uint64_t bytes;
	struct timespec used;
};

static int longest_unused_first(const void *a, const void *b)
{
	const struct stored *x = a, *y = b;

	return CMP(x->used.tv_sec, y->used.tv_sec) ?: CMP(x->used.tv_nsec, y->used.tv_nsec);
}

static void limit(struct table_store *s)
{
	_cleanup_free_ struct stored *v = NULL;
	_cleanup_closedir_ DIR *d = fdopendir(fcntl(s->dir, F_DUPFD_CLOEXEC, 0));
	uint64_t sum = 0;
	size_t nr = 0, i;
	uint32_t cap = 0;
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) ||
		    strlen(e->d_name) >= sizeof(v->name) ||
		    fstatat(s->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (array__grow(&v, nr, &cap))
			return;
		v[nr] = (struct stored){ .bytes = st.st_size, .used = st.st_mtim };
		strcpy(v[nr++].name, e->d_name);
		sum += st.st_size;
	}
	if (sum <= s->max_bytes)
		return;
	qsort(v, nr, sizeof(*v), longest_unused_first);
	/* some room is left, so that this does not happen at the end of each recording */
	for (i = 0; i < nr && sum > s->max_bytes / 4 * 3; i++) {
		unlinkat(s->dir, v[i].name, 0);
		sum -= v[i].bytes;
	}
}

void table_store__free(struct table_store *s)
{
	if (!s)
		return;
	if (s->stats.added || s->full)
		limit(s);
	close(s->dir);
	free(s);
}
