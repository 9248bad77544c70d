// SPDX-License-Identifier: GPL-2.0-only
/* Opens a mapped file, checks that it is the one in the file event, and describes it. */
#include "seen_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cleanup.h"
#include "file_paths.h"
#include "snapshot.h"
#include "symbols/usyms.h"
#include "unwind/unwind.h"

#define MAX_TRIES 16 /* mappings of a process that are tried */
#define MAX_READS 3 /* of a file that is being written to */

/* A search in progress. */
struct search {
	struct seen_context *ctx;
	const struct wire_file_event *n;
	pid_t pid; /* of the process, or of a thread if the leader is gone */
	char *root; /* of the process, as the recorder sees it; NULL: gone */
	char *name; /* path of the file in its mount namespace; NULL: unknown */
	struct seen_file s;
};

/* Do not ask a file server, which may not answer. */
#define STAT_FLAGS (AT_EMPTY_PATH | AT_STATX_DONT_SYNC)

/* ---- one candidate --------------------------------------------------------------------------- */

struct candidate {
	int fd; /* O_PATH */
	uint64_t mount_id;
	struct file_stat st;
};

static struct file_stat stat_of(const struct statx *st)
{
	return (struct file_stat){
		.dev = makedev(st->stx_dev_major, st->stx_dev_minor),
		.ino = st->stx_ino,
		.size = st->stx_size,
		.mtime_ns = st->stx_mtime.tv_sec * 1000000000ull + st->stx_mtime.tv_nsec,
		.ctime_ns = st->stx_ctime.tv_sec * 1000000000ull + st->stx_ctime.tv_nsec,
	};
}

bool file_stat__equal(const struct file_stat *a, const struct file_stat *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns;
}

/* Opens with O_PATH first: opening a device or a pipe would have side effects. */
static int open_path(const char *path, struct candidate *ret_candidate)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct statx st;

	if (fd < 0)
		return -errno;
	if (statx(fd, "", STAT_FLAGS, STATX_BASIC_STATS | STATX_MNT_ID, &st))
		return -errno;
	if (!S_ISREG(st.stx_mode))
		return -ENOENT;
	*ret_candidate = (struct candidate){
		.fd = take_fd(fd),
		.mount_id = st.stx_mnt_id,
		.st = stat_of(&st),
	};
	return 0;
}

static int open_for_reading(int path_fd)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int file_open_regular(const char *path)
{
	struct candidate c = { .fd = -1 };
	int err, fd;

	err = open_path(path, &c);
	if (err)
		return err;
	fd = open_for_reading(c.fd);
	close(c.fd);
	return fd;
}

int file_stat__read(int fd, struct file_stat *ret_stat)
{
	struct statx st;

	if (statx(fd, "", STAT_FLAGS, STATX_BASIC_STATS, &st))
		return -errno;
	*ret_stat = stat_of(&st);
	return 0;
}

/* Reads the numbers in /proc/PID/maps for a file from the recorder's own mapping of it. */
static void read_maps_numbers(const void *addr, struct seen_file *s)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/maps", "re");
	_cleanup_free_ char *line = NULL;
	struct proc_mapping m;
	size_t cap = 0;

	while (f && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (proc_mapping__parse(line, &m) || m.start > (uintptr_t)addr ||
		    m.end <= (uintptr_t)addr)
			continue;
		s->dev_major = m.dev_major;
		s->dev_minor = m.dev_minor;
		s->inode = m.inode;
		return;
	}
}

/*
 * On overlayfs, btrfs and the like stat(2) shows other numbers than the kernel has.  So the
 * candidate is mapped here, and the kernel side returns the file id of this mapping.  trusted: the
 * result if the kernel side cannot.
 */
static bool same_mapping(struct search *q, bool trusted)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *addr = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, q->s.fd, 0);
	int64_t file;

	if (addr == MAP_FAILED)
		return trusted;
	read_maps_numbers(addr, &q->s);
	file = snapshot__own(q->ctx->snapshot, addr);
	munmap(addr, page);
	return file < 0 ? trusted : file == q->n->file;
}

/* Whether the candidate is the file of the file event; opens it then. */
static bool accept(struct search *q, const struct candidate *c, bool trusted)
{
	const struct wire_file_key *key = &q->n->key;
	bool same_dev = c->st.dev == makedev(WIRE_DEV_MAJOR(key->dev), WIRE_DEV_MINOR(key->dev));

	if (c->st.mtime_ns != key->w[3] || c->st.size != key->w[4])
		return false;
	/*
	 * unlink(2) and rename(2) change ctime, and may have happened to a file that is still
	 * mapped
	 */
	if (!trusted && c->st.ctime_ns != key->w[5])
		return false;
	if (same_dev && c->st.ino != key->w[0])
		return false;
	q->s.st = c->st;
	q->s.dev_major = WIRE_DEV_MAJOR(key->dev);
	q->s.dev_minor = WIRE_DEV_MINOR(key->dev);
	q->s.inode = key->w[0];
	q->s.fd = open_for_reading(c->fd);
	if (q->s.fd >= 0 && !same_dev && !same_mapping(q, trusted)) {
		close(q->s.fd);
		q->s.fd = -1;
	}
	return q->s.fd >= 0;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static char *read_link(const char *path)
{
	char text[PATH_MAX];
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	if (n < 0)
		return NULL;
	text[n] = '\0';
	return strdup(text);
}

static bool is_same_file(void *arg, const char *path)
{
	const struct search *q = arg;
	struct candidate c = { .fd = -1 };

	if (open_path(path, &c))
		return false;
	close(c.fd);
	return file_stat__equal(&c.st, &q->s.st);
}

/* A file in a layer of an overlay has the inode that the kernel uses. */
static bool is_same_inode(void *arg, const char *path)
{
	const struct search *q = arg;
	struct candidate c = { .fd = -1 };

	if (open_path(path, &c))
		return false;
	close(c.fd);
	return c.st.ino == q->n->key.w[0] && c.st.mtime_ns == q->n->key.w[3] &&
	       c.st.size == q->n->key.w[4];
}

void seen_context__forget(struct seen_context *ctx)
{
	mounts__free(ctx->ours);
	mounts__free(ctx->theirs);
	free(ctx->theirs_root);
	ctx->ours = ctx->theirs = NULL;
	ctx->theirs_root = NULL;
}

void seen_context__free(struct seen_context *ctx)
{
	seen_context__forget(ctx);
	namespaces__clear(&ctx->all);
	free(ctx->programs);
	index__free(&ctx->by_program);
}

/* A mount in the process's namespace, with paths below its root; NULL: unknown. */
static const struct mount *process_mount(struct search *q, uint64_t mount_id)
{
	struct seen_context *ctx = q->ctx;
	const struct mount *m;
	char path[64];
	struct stat ns;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", q->pid);
	if (!q->root || stat(path, &ns))
		return NULL;
	if (ctx->theirs && ctx->theirs_ns == ns.st_ino && !strcmp(ctx->theirs_root, q->root)) {
		m = mounts__by_id(ctx->theirs, mount_id);
		if (m)
			return m;
	}
	mounts__free(ctx->theirs);
	free(ctx->theirs_root);
	ctx->theirs = NULL;
	ctx->theirs_ns = ns.st_ino;
	ctx->theirs_root = strdup(q->root);
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", q->pid);
	if (!ctx->theirs_root || mounts__read(path, &ctx->theirs))
		return NULL;
	return mounts__by_id(ctx->theirs, mount_id);
}

/* A path by which the recorder can open the file; link: the path in /proc. */
static char *host_path(struct search *q, const struct candidate *c, const char *link)
{
	const struct mount *mnt;
	char *path;

	if (q->s.deleted)
		return strdup("");
	if (is_same_file(q, link))
		return strdup(link);
	mnt = process_mount(q, c->mount_id);
	if (!mnt || (!q->ctx->ours && mounts__read("/proc/self/mountinfo", &q->ctx->ours)))
		return strdup("");
	path = mounts__translate(q->ctx->ours, mnt, q->s.path, is_same_file, q);
	if (!path)
		path = mount__translate_layers(mnt, q->s.path, is_same_inode, q);
	return path ? path : strdup("");
}

/* The part of path, as the recorder sees it, below the process's root; NULL: not below it. */
static const char *path_inside(const struct search *q, const char *path)
{
	return q->root ? path_below(path, q->root) : NULL;
}

/*
 * The same path through /proc/PID/root, as the process's namespace may have another file at path.
 */
static char *path_through_root(const struct search *q, const char *path)
{
	const char *inside = path_inside(q, path);
	char *through;

	if (!inside || asprintf(&through, "/proc/%d/root%s", q->pid, inside) < 0)
		return NULL;
	return through;
}

/* A file may also be named "x (deleted)". */
static bool is_deleted(struct search *q, const char *link)
{
	_cleanup_free_ char *through = path_through_root(q, link);

	if (!link[path_len_undeleted(link)])
		return false;
	return !is_same_file(q, link) && !(through && is_same_file(q, through));
}

static int describe(struct search *q, const struct candidate *c)
{
	_cleanup_free_ char *link = NULL;
	const char *inside;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->fd);
	link = read_link(path);
	if (!link) { /* the path is longer than PATH_MAX */
		q->s.path = strdup(q->name ? q->name : "");
		q->s.host_path = strdup("");
		return q->s.path && q->s.host_path ? 0 : -ENOMEM;
	}
	q->s.deleted = is_deleted(q, link);
	if (q->s.deleted)
		link[path_len_undeleted(link)] = '\0';
	inside = path_inside(q, link);
	q->s.path = strdup(inside ? inside : link);
	if (q->s.path)
		q->s.host_path = host_path(q, c, link);
	return q->s.host_path ? 0 : -ENOMEM;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* 0: it is the file, and q->s describes it. */
static int try_path(struct search *q, const char *path, bool trusted)
{
	struct candidate c = { .fd = -1 };
	int err;

	err = open_path(path, &c);
	if (err)
		return err;
	err = accept(q, &c, trusted) ? describe(q, &c) : -ENOENT;
	close(c.fd);
	if (err)
		seen_file__release(&q->s);
	return err;
}

static int try_mapping(struct search *q, uint64_t start, uint64_t end)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", q->pid,
		 (unsigned long long)start, (unsigned long long)end);
	return try_path(q, path, true);
}

/* Mappings are split, merged and moved: tries other mappings of the process. */
static int try_mappings(struct search *q)
{
	_cleanup_fclose_ FILE *f = NULL;
	_cleanup_free_ char *line = NULL;
	unsigned int tries = 0;
	struct proc_mapping m;
	size_t cap = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", q->pid);
	f = fopen(path, "re");
	while (f && tries < MAX_TRIES && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (proc_mapping__parse(line, &m) || !m.inode)
			continue;
		if (m.inode != q->n->key.w[0] && (m.start >= q->n->end || m.end <= q->n->start))
			continue;
		tries++;
		if (!try_mapping(q, m.start, m.end))
			return 0;
	}
	return -ENOENT;
}

static int try_name(struct search *q)
{
	_cleanup_free_ char *through = NULL;

	if (!q->name)
		return -ENOENT;
	if (!try_path(q, q->name, false))
		return 0;
	through = path_through_root(q, q->name);
	return through ? try_path(q, through, false) : -ENOENT;
}

/* Other processes may exist in the mount namespace of the process. */
static int try_elsewhere(struct search *q)
{
	size_t i;

	if (!q->name)
		return -ENOENT;
	namespaces__refresh(&q->ctx->all);
	for (i = 0; i < q->ctx->all.nr; i++) {
		const struct namespace_root *r = &q->ctx->all.v[i];
		_cleanup_free_ char *through = NULL;

		free(q->root);
		q->pid = r->pid;
		q->root = strdup(r->root);
		through = path_through_root(q, q->name);
		if (through && !try_path(q, through, false))
			return 0;
	}
	return -ENOENT;
}

/* After the thread group leader has exited, only other threads show the memory of the process. */
static void find_process(struct search *q)
{
	pid_t pids[] = { q->n->tgid, q->n->tid };
	char path[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pids) && !q->root; i++) {
		q->pid = pids[i];
		snprintf(path, sizeof(path), "/proc/%d/root", q->pid);
		q->root = read_link(path);
	}
}

/* Finds the file: 0 or -ENOENT. */
static int find(struct search *q)
{
	int err;

	err = try_mapping(q, q->n->start, q->n->end);
	if (err)
		err = try_mappings(q);
	if (err)
		err = try_name(q);
	if (err)
		err = try_elsewhere(q);
	return err;
}

/* ---- contents -------------------------------------------------------------------------------- */

bool seen_file__is_steady(const struct seen_file *s)
{
	struct file_stat now;

	return !file_stat__read(s->fd, &now) && file_stat__equal(&now, &s->st) &&
	       now.ctime_ns == s->st.ctime_ns;
}

/*
 * Reads the build id; a short file without one gets a hash of its content.  false: the file was
 * written to meanwhile.
 */
static bool read_content(struct seen_file *s, bool with_table)
{
	bool quick = s->st.size <= SEEN_FILE_QUICK;

	if (with_table && quick)
		s->table_err = unwind__from_fd(s->fd, &s->table);
	if (elf_build_id__from_fd(s->fd, s->id, &s->id_len)) {
		s->content_id = quick && !content_hash__from_fd(s->fd, SEEN_FILE_QUICK, s->id);
		s->id_len = s->content_id ? 20 : 0;
	}
	return seen_file__is_steady(s);
}

/* Fills in what the file event contains. */
static int describe_gone(struct search *q)
{
	const struct wire_file_key *key = &q->n->key;

	q->s = (struct seen_file){
		.fd = -1,
		.st = { .size = key->w[4], .mtime_ns = key->w[3], .ctime_ns = key->w[5] },
		.path = strdup(q->name ? q->name : ""),
		.host_path = strdup(""),
		.dev_major = WIRE_DEV_MAJOR(key->dev),
		.dev_minor = WIRE_DEV_MINOR(key->dev),
		.inode = key->w[0],
	};
	return q->s.path && q->s.host_path ? -ENOENT : -ENOMEM;
}

int seen_file__open(struct seen_context *ctx, const struct wire_file_event *n, bool with_table,
		    struct seen_file *ret_seen)
{
	struct search q = { .ctx = ctx, .n = n, .s = { .fd = -1 } };
	unsigned int tries;
	int err = -ENOENT;

	q.name = path_of_parts(n->parts, MIN(n->len, sizeof(n->parts)), n->nr_parts);
	find_process(&q);
	for (tries = 0; tries < MAX_READS; tries++) {
		err = find(&q);
		if (err || read_content(&q.s, with_table))
			break;
		seen_file__release(&q.s);
		err = -ENOENT;
	}
	if (err)
		err = describe_gone(&q);
	free(q.name);
	free(q.root);
	*ret_seen = q.s;
	return err;
}

void seen_file__release(struct seen_file *s)
{
	closep(&s->fd);
	unwind__free(s->table);
	free(s->path);
	free(s->host_path);
	*s = (struct seen_file){ .fd = -1 };
}
