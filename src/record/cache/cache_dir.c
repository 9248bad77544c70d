// SPDX-License-Identifier: GPL-2.0-only
/* Files with keys and checksums in a directory that only its user can change. */
#include "cache_dir.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "base/temporary.h"
#include "cleanup.h"
#include "clock.h"
#include "log.h"
#include "strbuf.h"
#include "symbols/usyms.h"
#include "trace/bytes.h"

#define MAGIC 0x31435453 /* "STC1" */
#define UNFINISHED "unfinished-"
#define MAX_KEY 256
#define USED_NS (24 * 3600 * SECOND_NS) /* the time of use is as exact as that */

/* Key, head and rest follow. */
struct header {
	uint32_t magic;
	uint32_t crc; /* of all that follows it */
	uint32_t key_len, head_len;
	uint64_t rest_len;
	uint8_t writer[64]; /* build id of this program */
};
static_assert(sizeof(struct header) == 88, "no padding goes to the file");

struct cache_dir {
	int fd;
	uint64_t max_bytes;
	uint8_t writer[64];
	pthread_mutex_t lock; /* of what follows */
	uint64_t added_bytes;
	unsigned int nr_added; /* also those that failed */
	bool full; /* writing has failed */
};

/* ---- the directory --------------------------------------------------------------------------- */

/*
 * Whether only root and this user can replace what is in the directory.  Others may list the last
 * one, as other programs create it, too: the files in it are for the user alone.
 */
static bool is_ours(int fd, bool last)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISDIR(st.st_mode) || (st.st_uid && st.st_uid != geteuid()))
		return false;
	if (last)
		return st.st_uid == geteuid() && !(st.st_mode & 022);
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

struct cache_dir *cache_dir__open_at(const char *dir, uint64_t max_bytes)
{
	struct cache_dir *d = calloc(1, sizeof(*d));
	_cleanup_close_ int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned int len = 0;

	if (!d)
		return NULL;
	d->max_bytes = max_bytes;
	d->fd = open_dir(dir);
	if (d->fd < 0) {
		log_debug("nothing is kept in %s: %s", dir,
			  d->fd == -EPERM ? "others can change it" : strerror(-d->fd));
		free(d);
		return NULL;
	}
	if (self < 0 || elf_build_id__from_fd(self, d->writer, &len) || !len) {
		log_debug("nothing is kept in %s: this program has no build id", dir);
		close(d->fd);
		free(d);
		return NULL;
	}
	pthread_mutex_init(&d->lock, NULL);
	return d;
}

struct cache_dir *cache_dir__open(uint64_t max_bytes)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	_cleanup_(strbuf__free) struct strbuf path = { 0 };
	const struct passwd *user = home ? NULL : getpwuid(geteuid());

	if (cache && *cache == '/')
		strbuf__printf(&path, "%s/stackonce", cache);
	else if (home || user)
		strbuf__printf(&path, "%s/.cache/stackonce", home ?: user->pw_dir);
	return path.len && !strbuf__failed(&path) ? cache_dir__open_at(path.s, max_bytes) : NULL;
}

/* ---- files ----------------------------------------------------------------------------------- */

static struct header header_of(const struct cache_dir *d, const struct cache_item *item)
{
	struct header h = {
		.magic = MAGIC,
		.key_len = item->key_len,
		.head_len = item->head_len,
		.rest_len = item->rest_len,
	};

	memcpy(h.writer, d->writer, sizeof(h.writer));
	return h;
}

static uint32_t crc_of(const struct header *h, const struct cache_item *item)
{
	uint32_t crc = crc32c(0, &h->key_len, sizeof(*h) - offsetof(struct header, key_len));

	crc = crc32c(crc, item->key, item->key_len);
	crc = crc32c(crc, item->head, item->head_len);
	return crc32c(crc, item->rest, item->rest_len);
}

/* Reads the header and the key; sets the length of the rest if they are those of the item. */
static bool read_start(const struct cache_dir *d, int fd, struct cache_item *item,
		       uint32_t *ret_crc)
{
	size_t front = sizeof(struct header) + item->key_len + item->head_len;
	struct header h, expected;
	uint8_t key[MAX_KEY];
	struct stat st;

	if (item->key_len > sizeof(key) || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid() || st.st_mode & 022 || (uint64_t)st.st_size < front ||
	    temporary__read(fd, &h, sizeof(h), 0) ||
	    temporary__read(fd, key, item->key_len, sizeof(h)))
		return false;
	item->rest_len = st.st_size - front;
	expected = header_of(d, item);
	expected.crc = h.crc;
	if (memcmp(&h, &expected, sizeof(h)) || memcmp(key, item->key, item->key_len))
		return false;
	if (clock_ns(CLOCK_REALTIME) - st.st_mtim.tv_sec * SECOND_NS > USED_NS)
		futimens(fd, NULL);
	*ret_crc = h.crc;
	return true;
}

bool cache_dir__get(struct cache_dir *d, struct cache_item *item)
{
	_cleanup_close_ int fd = -1;
	struct header h;
	uint32_t crc;
	uint64_t at;

	if (!d)
		return false;
	fd = openat(d->fd, item->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || !read_start(d, fd, item, &crc))
		return false;
	item->rest = malloc(item->rest_len + 1);
	if (!item->rest)
		return false;
	h = header_of(d, item);
	at = sizeof(h) + item->key_len;
	if (!temporary__read(fd, item->head, item->head_len, at) &&
	    !temporary__read(fd, item->rest, item->rest_len, at + item->head_len) &&
	    crc_of(&h, item) == crc)
		return true;
	free(item->rest);
	item->rest = NULL;
	return false;
}

static int write_item(const struct cache_dir *d, int fd, const struct cache_item *item)
{
	struct header h = header_of(d, item);
	uint64_t at = sizeof(h);

	h.crc = crc_of(&h, item);
	return temporary__write(fd, &h, sizeof(h), 0)					    ?:
		       temporary__write(fd, item->key, item->key_len, at)		    ?:
		       temporary__write(fd, item->head, item->head_len, at + item->key_len) ?:
		       temporary__write(fd, item->rest, item->rest_len,
					at + item->key_len + item->head_len);
}

/* The name of a new file; false: the item does not fit. */
static bool begin(struct cache_dir *d, uint64_t bytes, char ret_name[CACHE_NAME])
{
	bool fits;

	pthread_mutex_lock(&d->lock);
	fits = !d->full && d->added_bytes + bytes <= d->max_bytes;
	if (fits)
		d->added_bytes += bytes;
	snprintf(ret_name, CACHE_NAME, UNFINISHED "%d-%llx-%u", getpid(),
		 (unsigned long long)clock_ns(CLOCK_MONOTONIC), d->nr_added++);
	pthread_mutex_unlock(&d->lock);
	return fits;
}

/* Complete or not at all: another recorder may read and write the same file. */
bool cache_dir__put(struct cache_dir *d, const struct cache_item *item)
{
	char unfinished[CACHE_NAME];
	int fd, err;

	if (!d || item->key_len > MAX_KEY ||
	    !begin(d, sizeof(struct header) + item->key_len + item->head_len + item->rest_len,
		   unfinished))
		return false;
	fd = openat(d->fd, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : write_item(d, fd, item);
	closep(&fd);
	if (!err && renameat(d->fd, unfinished, d->fd, item->name))
		err = -errno;
	if (!err)
		return true;
	unlinkat(d->fd, unfinished, 0);
	log_debug("%s is not kept: %s", item->name, strerror(-err));
	pthread_mutex_lock(&d->lock);
	d->full = true;
	pthread_mutex_unlock(&d->lock);
	return false;
}

/* ---- the limit ------------------------------------------------------------------------------- */

struct kept {
	char name[CACHE_NAME];
	uint64_t bytes;
	struct timespec used;
};

static int longest_unused_first(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return CMP(x->used.tv_sec, y->used.tv_sec) ?: CMP(x->used.tv_nsec, y->used.tv_nsec);
}

static bool is_kept(const char *name)
{
	static const char *const starts[] = { CACHE_UNWIND, CACHE_KERNEL, UNFINISHED };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return strlen(name) < CACHE_NAME;
	return false;
}

static void limit(struct cache_dir *d)
{
	_cleanup_free_ struct kept *v = NULL;
	_cleanup_closedir_ DIR *dir = fdopendir(fcntl(d->fd, F_DUPFD_CLOEXEC, 0));
	uint64_t sum = 0;
	size_t nr = 0, i;
	uint32_t cap = 0;
	struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir))) {
		if (!is_kept(e->d_name) || fstatat(d->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (array__grow(&v, nr, &cap))
			return;
		v[nr] = (struct kept){ .bytes = st.st_size, .used = st.st_mtim };
		strcpy(v[nr++].name, e->d_name);
		sum += st.st_size;
	}
	if (sum <= d->max_bytes)
		return;
	qsort(v, nr, sizeof(*v), longest_unused_first);
	/* some room is left, so that this does not happen at the end of each recording */
	for (i = 0; i < nr && sum > d->max_bytes / 4 * 3; i++) {
		unlinkat(d->fd, v[i].name, 0);
		sum -= v[i].bytes;
	}
}

void cache_dir__free(struct cache_dir *d)
{
	if (!d)
		return;
	if (d->nr_added)
		limit(d);
	pthread_mutex_destroy(&d->lock);
	close(d->fd);
	free(d);
}
