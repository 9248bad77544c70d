// SPDX-License-Identifier: GPL-2.0-only
/* Numbers the files of a recording, and hands their names to the writer. */
#include "file_map.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "clock.h"
#include "file_hash.h"
#include "frame.h"
#include "index.h"
#include "jit_source.h"
#include "seen_file.h"
#include "symbols/usyms.h"
#include "trace/write/writer.h"

#define MAX_KEPT 512 /* descriptors that are kept open */
#define MAX_JIT_FDS 512 /* those of processes that generate code */
#define HASH_MAX FILE_HASH_CONTENT_MAX /* bytes of a file without a build id */
#define HASH_SUM (1ull << 30) /* bytes of all of them */
/* A file that was changed so recently is likely to be replaced before the recording ends. */
#define FRESH_NS (3600 * 1000000000ull)

/* What distinguishes files; compared as bytes. */
struct identity {
	struct wire_file_key key; /* without words that may change for the same file */
	struct file_stat st;
	uint64_t id_len;
	uint8_t id[64];
};

static_assert(sizeof(struct identity) == sizeof(struct wire_file_key) + 6 * 8 + 64,
	      "identity has no hidden padding");

struct file_name {
	char *path, *host_path;
};

struct mapped_file {
	struct identity identity;
	struct stk_file info; /* its strings are names[0]'s */
	struct file_name *names;
	uint8_t id[64];
	struct file_stat st;
	/* its last observed mapping */
	pid_t pid;
	uint64_t start, end;
	int fd; /* kept open; -1: not */
	struct jit_source *jit;
	bool is_first; /* of those that share it */
};

struct file_map {
	struct stk_writer *w;
	struct index by_identity;
	struct index by_program; /* a file of each program with generated code */
	struct mapped_file **files;
	uint32_t nr, cap;
	struct mapped_file **by_number;
	uint32_t nr_numbers, cap_numbers;
	struct jit_memory jit_memory;
	unsigned int kept, not_kept; /* open files; files that should be open, too */
};

int file_map__new(struct file_map **ret_map)
{
	struct file_map *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	*ret_map = m;
	return 0;
}

static void file_free(struct mapped_file *f)
{
	unsigned int i;

	for (i = 0; i < f->info.nr_names; i++) {
		free(f->names[i].path);
		free(f->names[i].host_path);
	}
	free(f->names);
	closep(&f->fd);
	jit_source__free(f->jit);
	free(f);
}

void file_map__free(struct file_map *m)
{
	uint32_t i;

	if (!m)
		return;
	for (i = 0; i < m->nr; i++)
		file_free(m->files[i]);
	free(m->files);
	free(m->by_number);
	index__free(&m->by_identity);
	index__free(&m->by_program);
	free(m);
}

void file_map__set_writer(struct file_map *m, struct stk_writer *w)
{
	m->w = w;
}

/* ---- identity -------------------------------------------------------------------------------- */

/*
 * An inode's address changes when it is evicted and read again.  On a block device, device and
 * inode identify a file.  Elsewhere (btrfs) several files may share them, and only stat(2)
 * distinguishes them.
 */
static void identity_of(const struct wire_file_key *key, const struct seen_file *s,
			struct identity *ret_identity)
{
	struct identity i = { .key = *key };
	bool block_device = WIRE_DEV_MAJOR(key->dev);

	if (s && !block_device)
		i.st = s->st;
	/* ctime changes with each new link, but without an id nothing else reveals new content */
	i.st.ctime_ns = 0;
	if (s && s->id_len)
		i.key.w[5] = 0;
	if (key->kind == WIRE_KEY_FILE && (block_device || (s && s->fd >= 0)))
		i.key.w[2] = 0;
	if (s) {
		memcpy(i.id, s->id, s->id_len);
		i.id_len = s->id_len;
	}
	*ret_identity = i;
}

/* Finds the file, or adds an empty one: *ret_new. */
static int intern(struct file_map *m, const struct identity *identity, bool *ret_new,
		  struct mapped_file **ret_file)
{
	uint32_t hash = file_hash_bytes(2166136261u, identity, sizeof(*identity)), i;
	struct mapped_file *f;

	index__for_each(&m->by_identity, hash, i) {
		if (!memcmp(&m->files[i]->identity, identity, sizeof(*identity))) {
			*ret_new = false;
			*ret_file = m->files[i];
			return 0;
		}
	}
	f = array__grow(&m->files, m->nr, &m->cap) ? NULL : calloc(1, sizeof(*f));
	if (!f || index__add(&m->by_identity, hash, m->nr)) {
		free(f);
		return -ENOMEM;
	}
	f->identity = *identity;
	f->fd = -1;
	m->files[m->nr++] = f;
	*ret_new = true;
	*ret_file = f;
	return 0;
}

/* ---- for the writer -------------------------------------------------------------------------- */

/* Writes the current state of the file, with one of its names. */
static int announce(struct file_map *m, struct mapped_file *f, unsigned int name)
{
	struct stk_file info = f->info;
	uint32_t number;
	int err;

	if (!m->w)
		return 0;
	info.path = f->names[name].path;
	info.host_path = f->names[name].host_path;
	err = stk_writer__file(m->w, &info, &number);
	if (!err)
		f->info.number = number;
	return err;
}

/* -EEXIST: the name adds nothing; 1: it replaces that at *ret_at; 0: it is a new one. */
static int place_of_name(const struct mapped_file *f, const char *path, const char *host_path,
			 unsigned int *ret_at)
{
	unsigned int i;

	for (i = 0; i < f->info.nr_names; i++) {
		const struct file_name *name = &f->names[i];

		if (!strcmp(name->path, path) &&
		    (!*host_path || !strcmp(name->host_path, host_path)))
			return -EEXIST;
		if (!*name->path ||
		    (!*name->host_path && *host_path && !strcmp(name->path, path))) {
			*ret_at = i;
			return 1;
		}
	}
	if (i && !*path)
		return -EEXIST;
	*ret_at = i;
	return i < FILE_MAP_MAX_NAMES ? 0 : -EEXIST;
}

/* Takes ownership of the strings. */
static int add_name(struct file_map *m, struct mapped_file *f, char *path, char *host_path)
{
	unsigned int at;
	int how = place_of_name(f, path, host_path, &at);

	if (!how) {
		how = array__append(&f->names, &f->info.nr_names, (struct file_name){ 0 });
	} else if (how == 1) {
		free(f->names[at].path);
		free(f->names[at].host_path);
	}
	if (how < 0) {
		free(path);
		free(host_path);
		return how == -EEXIST ? 0 : how;
	}
	f->names[at] = (struct file_name){ path, host_path };
	f->info.path = f->names[0].path;
	f->info.host_path = f->names[0].host_path;
	return f->info.number ? announce(m, f, at) : 0;
}

static int add_fixed_name(struct file_map *m, struct mapped_file *f, const char *name)
{
	char *path = strdup(name), *host_path = strdup("");

	if (path && host_path)
		return add_name(m, f, path, host_path);
	free(path);
	free(host_path);
	return -ENOMEM;
}

/* ---- observed files -------------------------------------------------------------------------- */

static bool is_fresh(const struct seen_file *s)
{
	return clock_ns(CLOCK_REALTIME) - s->st.ctime_ns < FRESH_NS;
}

/* Copies what was observed. */
static void fill(struct file_map *m, struct mapped_file *f, struct seen_file *s)
{
	f->info.flags = (s->deleted ? STK_FILE_DELETED : 0) | (s->fd < 0 ? STK_FILE_GONE : 0);
	f->info.dev_major = s->dev_major;
	f->info.dev_minor = s->dev_minor;
	f->info.inode = s->inode;
	f->info.size = s->st.size;
	f->info.mtime_ns = s->st.mtime_ns;
	f->info.id_kind = s->content_id ? STK_ID_CONTENT : STK_ID_BUILD_ID;
	if (!s->id_len)
		f->info.id_kind = STK_ID_NONE;
	f->info.id_len = s->id_len;
	memcpy(f->id, s->id, s->id_len);
	f->info.id = f->id;
	f->st = s->st;
	if (s->fd < 0 || f->fd >= 0 || !(s->deleted || is_fresh(s)))
		return;
	if (m->kept >= MAX_KEPT) {
		m->not_kept++;
		return;
	}
	f->fd = take_fd(s->fd);
	m->kept++;
}

int file_map__update(struct file_map *m, struct mapped_file *f, const struct wire_file_event *n,
		     struct seen_file *s)
{
	bool found = s->fd >= 0 && f->info.flags & STK_FILE_GONE;
	char *path = take_ptr(s->path), *host_path = take_ptr(s->host_path);
	int err;

	if (s->fd >= 0) {
		f->pid = n->tgid;
		f->start = n->start;
		f->end = n->end;
	}
	if (found || !f->info.nr_names)
		fill(m, f, s);
	seen_file__release(s);
	err = add_name(m, f, path, host_path);
	if (!err && found && f->info.number)
		err = announce(m, f, 0);
	return err;
}

int file_map__add(struct file_map *m, const struct wire_file_event *n, struct seen_file *s,
		  struct mapped_file **ret_file)
{
	struct identity identity;
	struct mapped_file *f;
	bool is_new;
	int err;

	identity_of(&n->key, s, &identity);
	err = intern(m, &identity, &is_new, &f);
	if (err) {
		seen_file__release(s);
		return err;
	}
	if (is_new)
		f->info.kind = STK_FILE_FILE;
	err = file_map__update(m, f, n, s);
	if (!err)
		*ret_file = f;
	return err;
}

int file_map__add_vdso(struct file_map *m, const uint8_t *id, unsigned int id_len,
		       struct mapped_file **ret_file)
{
	struct wire_file_key key = { .kind = WIRE_KEY_VDSO };
	struct identity identity;
	struct mapped_file *f;
	bool is_new;
	int err;

	identity_of(&key, NULL, &identity);
	err = intern(m, &identity, &is_new, &f);
	if (!err && is_new) {
		f->info.kind = STK_FILE_VDSO;
		f->info.id_kind = id_len ? STK_ID_BUILD_ID : STK_ID_NONE;
		f->info.id_len = id_len;
		memcpy(f->id, id, id_len);
		f->info.id = f->id;
		err = add_fixed_name(m, f, "[vdso]");
	}
	if (!err)
		*ret_file = f;
	return err;
}

/*
 * After execve(2) the perf map of a process no longer describes its previous program.  f: the first
 * file of a program; file events of the next one may have come before.
 */
static void forget_jit(struct file_map *m, struct mapped_file *f)
{
	const struct wire_file_key *key = &f->identity.key, *k;
	uint32_t i;

	for (i = 0; i < m->nr; i++) {
		struct mapped_file *other = m->files[i], *old = other;

		k = &other->identity.key;
		if (!other->jit || k->w[1] != key->w[1] || k->w[2] != key->w[2] ||
		    k->w[0] >> 32 == key->w[0] >> 32)
			continue;
		if (k->w[0] >> 32 > key->w[0] >> 32)
			old = f;
		jit_source__free(old->jit);
		old->jit = NULL;
	}
}

static unsigned int count_jit_fds(const struct file_map *m)
{
	unsigned int nr = 0;
	uint32_t i;

	for (i = 0; i < m->nr; i++)
		if (m->files[i]->jit && m->files[i]->is_first)
			nr += jit_source__nr_fds(m->files[i]->jit);
	return nr;
}

/* Processes that have exited need no descriptors any more; the others' are limited. */
static int may_open_jit(const struct file_map *m, bool *ret_may)
{
	uint32_t i;
	int err = 0;

	*ret_may = count_jit_fds(m) < MAX_JIT_FDS;
	for (i = 0; i < m->nr && !*ret_may && !err; i++)
		if (m->files[i]->jit && m->files[i]->is_first)
			err = jit_source__poll(m->files[i]->jit);
	*ret_may = *ret_may || count_jit_fds(m) < MAX_JIT_FDS;
	return err == -ENOMEM ? err : 0;
}

/* NULL: too many; without a pidfd, the next process with its PID would be taken for it. */
static int limit_jit(struct file_map *m, struct jit_source **jit)
{
	bool may;
	int err = may_open_jit(m, &may);

	if (!may) {
		jit_source__free(*jit);
		*jit = NULL;
		m->not_kept++;
	}
	return err;
}

/* The windows of a program share what it says about its code. */
static struct jit_source *share_jit(const struct file_map *m, const struct wire_file_key *key)
{
	uint64_t hash = jit_key__program(key);
	uint32_t i;

	index__for_each(&m->by_program, hash, i)
		if (m->files[i]->jit && jit_key__same_program(&m->files[i]->identity.key, key))
			return jit_source__share(m->files[i]->jit);
	return NULL;
}

int file_map__add_jit(struct file_map *m, const struct wire_file_event *n, struct jit_source *jit,
		      struct mapped_file **ret_file)
{
	struct jit_source *known = share_jit(m, &n->key);
	struct identity identity;
	struct mapped_file *f;
	bool is_new;
	int err = 0;

	if (known) {
		jit_source__free(jit);
		jit = known;
	} else if (!jit) {
		err = jit_source__new(n->key.w[1], n->key.w[2], &jit);
	}
	identity_of(&n->key, NULL, &identity);
	err = err ?: intern(m, &identity, &is_new, &f);
	if (err || !is_new) {
		jit_source__free(jit);
	} else {
		f->info.kind = STK_FILE_JIT;
		f->info.pid = n->key.w[1];
		f->info.start_ns = n->key.w[2];
		f->info.base = (n->key.w[0] & UINT32_MAX) << WIRE_JIT_BITS;
		f->info.base &= ~((1ull << FRAME_OFFSET_BITS) - 1);
		f->info.id = f->id;
		f->is_first = !known;
		err = known ? 0 : limit_jit(m, &jit);
		f->jit = jit;
		if (jit)
			jit_source__set_memory(jit, &m->jit_memory);
		if (!known) {
			forget_jit(m, f);
			err = err   ?:
				      index__add(&m->by_program, jit_key__program(&n->key),
						 m->nr - 1);
		}
		err = err ?: add_fixed_name(m, f, "[jit]");
	}
	if (!err)
		*ret_file = f;
	return err;
}

/* ---- numbers --------------------------------------------------------------------------------- */

int file_map__number(struct file_map *m, struct mapped_file *f, uint32_t *ret_number)
{
	unsigned int i;
	int err;

	if (!f->info.number) {
		if (!m->w)
			return -EINVAL;
		err = array__grow(&m->by_number, m->nr_numbers, &m->cap_numbers);
		for (i = 0; i < f->info.nr_names && !err; i++)
			err = announce(m, f, i);
		if (err)
			return err;
		if (f->info.number != m->nr_numbers + 1)
			return -EINVAL;
		m->by_number[m->nr_numbers++] = f;
	}
	*ret_number = f->info.number;
	return 0;
}

struct mapped_file *file_map__at(const struct file_map *m, uint32_t number)
{
	return number && number <= m->nr_numbers ? m->by_number[number - 1] : NULL;
}

uint32_t file_map__nr(const struct file_map *m)
{
	return m->nr;
}

uint32_t file_map__not_kept(const struct file_map *m)
{
	return m->not_kept;
}

const struct stk_file *mapped_file__info(const struct mapped_file *f)
{
	return &f->info;
}

struct jit_source *mapped_file__jit(const struct mapped_file *f)
{
	return f->jit;
}

/* ---- the file itself ------------------------------------------------------------------------- */

/* Returns fd, or closes it if it is another file or has been changed. */
static int check_same(const struct mapped_file *f, int fd)
{
	const struct wire_file_key *key = &f->identity.key;
	struct file_stat st;

	if (fd < 0 || file_stat__read(fd, &st)) {
		closep(&fd);
		return fd < 0 ? fd : -EIO;
	}
	if (file_stat__equal(&st, &f->st))
		return fd;
	/* a file in a layer of an overlay has the numbers that the kernel uses */
	if (st.dev == makedev(WIRE_DEV_MAJOR(key->dev), WIRE_DEV_MINOR(key->dev)) &&
	    st.ino == key->w[0] && st.size == f->st.size && st.mtime_ns == f->st.mtime_ns)
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_same(const struct mapped_file *f, const char *path)
{
	return check_same(f, file_open_regular(path));
}

int mapped_file__open(const struct mapped_file *f)
{
	_cleanup_free_ char *inside = NULL;
	unsigned int i;
	char path[96];
	int fd;

	if (f->info.kind != STK_FILE_FILE || f->info.flags & STK_FILE_GONE)
		return -ENOENT;
	if (f->fd >= 0) {
		fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 3);
		return fd < 0 ? -errno : check_same(f, fd);
	}
	for (i = 0; i < f->info.nr_names; i++) {
		fd = *f->names[i].host_path ? open_same(f, f->names[i].host_path) : -ENOENT;
		if (fd >= 0)
			return fd;
	}
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", f->pid,
		 (unsigned long long)f->start, (unsigned long long)f->end);
	fd = open_same(f, path);
	if (fd >= 0)
		return fd;
	if (asprintf(&inside, "/proc/%d/root%s", f->pid, f->info.path) < 0)
		return -ENOMEM;
	return open_same(f, inside);
}

int file_map__hash(struct file_map *m, struct mapped_file *f, uint64_t max_bytes)
{
	_cleanup_close_ int fd = -1;

	if (f->info.id_len || f->info.size > max_bytes)
		return 0;
	fd = mapped_file__open(f);
	if (fd < 0 || content_hash__from_fd(fd, max_bytes, f->id))
		return 0;
	f->info.id_kind = STK_ID_CONTENT;
	f->info.id_len = 20;
	return f->info.number ? announce(m, f, 0) : 0;
}

int file_map__hash_all(struct file_map *m)
{
	uint64_t sum = 0;
	uint32_t i;
	int err = 0;

	for (i = 0; i < m->nr_numbers && !err; i++) {
		const struct stk_file *info = &m->by_number[i]->info;

		if (info->id_len || info->size > HASH_MAX || sum + info->size > HASH_SUM)
			continue;
		sum += info->size;
		err = file_map__hash(m, m->by_number[i], HASH_MAX);
	}
	return err;
}
