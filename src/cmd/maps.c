// SPDX-License-Identifier: GPL-2.0-only
/* Prints the files that running programs execute, as file_map lines, without a recording. */
#include "ui/ui.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "file_hash.h"
#include "log.h"
#include "symbols/usyms.h"
#include "ui/frames.h"
#include "ui/out.h"

#define MAX_VDSO (64u << 10) /* bytes; the vdso has about two pages */

/*
 * Device and inode from /proc/PID/maps do not identify a file: subvolumes of a file system share
 * the device there, while stat(2) reports one for each.
 */
struct map_key {
	uint32_t dev_major, dev_minor;
	uint64_t inode, st_dev, st_ino;
	uint8_t vdso_id[24]; /* build id, for the vdso */
};

struct mapped_file {
	struct map_key key;
	struct stk_file f; /* path is names[0] */
	uint8_t id[64];
	char **names;
	unsigned int nr_names;
	uint32_t *pids;
	unsigned int nr_pids;
};

struct maps {
	struct out out;
	bool json;
	struct num_set pids; /* empty: all */
	void *tree; /* of files, by key */
	struct mapped_file **files;
	size_t nr_files;
	char *line; /* of /proc/PID/maps */
	size_t line_size;
	unsigned int refused; /* processes whose mappings may not be read */
};

/* clang-format off */
static const struct opt options[] = {
	{ "-p, --pid PIDS", "print only the files of these processes",
	  OPT_SET(struct maps, pids, INT32_MAX), .expects = "a list of process ids" },
	{ "--json", "one JSON object per file", OPT_FLAG(struct maps, json) },
	HELP_OPTION
};
/* clang-format on */

static void mapped_file__free(struct mapped_file *mf)
{
	unsigned int i;

	for (i = 0; i < mf->nr_names; i++)
		free(mf->names[i]);
	free(mf->names);
	free(mf->pids);
	free(mf);
}

static void free_nothing(void *file)
{
}

static void maps__free(struct maps *m)
{
	size_t i;

	tdestroy(m->tree, free_nothing);
	for (i = 0; i < m->nr_files; i++)
		mapped_file__free(m->files[i]);
	free(m->files);
	free(m->line);
	num_set__free(&m->pids);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int by_map_key(const void *a, const void *b)
{
	const struct mapped_file *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

static int add_pid(struct mapped_file *mf, uint32_t pid)
{
	if (mf->nr_pids && mf->pids[mf->nr_pids - 1] == pid)
		return 0;
	return array__append(&mf->pids, &mf->nr_pids, pid);
}

static int add_name(struct mapped_file *mf, const char *path)
{
	unsigned int i;
	char *copy;

	for (i = 0; i < mf->nr_names; i++)
		if (!strcmp(mf->names[i], path))
			return 0;
	copy = strdup(path);
	if (copy && !array__append(&mf->names, &mf->nr_names, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

/*
 * Opens the mapped file itself, by map_files: its path may lead elsewhere by now, and in another
 * mount namespace.  If that is not permitted, opens the path and checks that it is the same file.
 * O_PATH: opening a device for reading may have side effects, so only regular files are opened so.
 * -ESTALE: the mapping is gone.
 */
static int find_mapped(uint32_t tid, const struct proc_mapping *map, struct stat *ret_st)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	char link[96];
	bool linked;

	snprintf(link, sizeof(link), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, tid, map->start,
		 map->end);
	fd = open(link, O_PATH | O_CLOEXEC);
	linked = fd >= 0;
	if (!linked && errno != EPERM && errno != EACCES)
		return -ESTALE;
	if (!linked && !map->deleted && asprintf(&path, "/proc/%u/root%s", tid, map->path) >= 0)
		fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, ret_st))
		return -EACCES;
	if (!linked && (ret_st->st_ino != map->inode || major(ret_st->st_dev) != map->dev_major ||
			minor(ret_st->st_dev) != map->dev_minor))
		return -EACCES;
	return take_fd(fd);
}

/* Fills in size, time and id of the file that find_mapped() opened. */
static void identify(struct mapped_file *mf, int path_fd, const struct stat *st)
{
	_cleanup_close_ int fd = -1;
	struct stk_file *f = &mf->f;
	char path[32];

	f->size = st->st_size;
	f->mtime_ns = st->st_mtim.tv_sec * 1000000000ULL + st->st_mtim.tv_nsec;
	if (!S_ISREG(st->st_mode))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!elf_build_id__from_fd(fd, mf->id, &f->id_len)) {
		f->id_kind = STK_ID_BUILD_ID;
	} else if (!content_hash__from_fd(fd, FILE_HASH_CONTENT_MAX, mf->id)) {
		f->id_kind = STK_ID_CONTENT;
		f->id_len = 20;
	}
}

/* Finds or adds the file; NULL when out of memory. */
static struct mapped_file *get_file(struct maps *m, const struct map_key *key, bool *ret_new)
{
	struct mapped_file *mf = calloc(1, sizeof(*mf)), **found;

	if (!mf)
		return NULL;
	mf->key = *key;
	found = tsearch(mf, &m->tree, by_map_key);
	*ret_new = found && *found == mf;
	if (!*ret_new) {
		free(mf);
		return found ? *found : NULL;
	}
	if (array__append(&m->files, &m->nr_files, mf)) {
		tdelete(mf, &m->tree, by_map_key);
		free(mf);
		return NULL;
	}
	return mf;
}

static int add_file(struct maps *m, uint32_t pid, uint32_t tid, const struct proc_mapping *map)
{
	struct map_key key = { .dev_major = map->dev_major,
			       .dev_minor = map->dev_minor,
			       .inode = map->inode };
	_cleanup_close_ int fd = -1;
	struct mapped_file *mf;
	struct stat st;
	bool is_new;

	fd = find_mapped(tid, map, &st);
	if (fd == -ESTALE)
		return 0;
	if (fd >= 0) {
		key.st_dev = st.st_dev;
		key.st_ino = st.st_ino;
	}
	mf = get_file(m, &key, &is_new);
	if (!mf)
		return -ENOMEM;
	if (is_new) {
		mf->f.dev_major = map->dev_major;
		mf->f.dev_minor = map->dev_minor;
		mf->f.inode = map->inode;
		mf->f.flags = map->deleted ? STK_FILE_DELETED : 0;
		mf->f.id = mf->id;
		if (fd >= 0)
			identify(mf, fd, &st);
	}
	return add_name(mf, map->path) ?: add_pid(mf, pid);
}

/* The vdso of the process: 32-bit and 64-bit processes have different ones. */
static int add_vdso(struct maps *m, uint32_t pid, uint32_t tid, const struct proc_mapping *map)
{
	_cleanup_free_ uint8_t *image = NULL;
	_cleanup_close_ int fd = -1;
	struct map_key key = { 0 };
	unsigned int id_len = 0;
	struct mapped_file *mf;
	uint8_t id[64] = { 0 };
	char path[32];
	size_t len = MIN(map->end - map->start, (uint64_t)MAX_VDSO);
	bool is_new;

	snprintf(path, sizeof(path), "/proc/%u/mem", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	image = malloc(len);
	if (!image)
		return -ENOMEM;
	if (fd < 0 || pread(fd, image, len, map->start) != (ssize_t)len ||
	    elf_build_id__from_image(image, len, id, &id_len))
		id_len = 0;
	memcpy(key.vdso_id, id, sizeof(key.vdso_id));
	mf = get_file(m, &key, &is_new);
	if (!mf)
		return -ENOMEM;
	if (is_new) {
		mf->f.kind = STK_FILE_VDSO;
		mf->f.size = map->end - map->start;
		memcpy(mf->id, id, sizeof(mf->id));
		mf->f.id = mf->id;
		mf->f.id_len = id_len;
		mf->f.id_kind = id_len ? STK_ID_BUILD_ID : STK_ID_NONE;
	}
	return add_name(mf, map->path) ?: add_pid(mf, pid);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* Reads the mappings of a task: 1, 0 if it has none, -EACCES, -ENOENT if it is gone, -ENOMEM. */
static int read_task(struct maps *m, uint32_t pid, uint32_t tid)
{
	_cleanup_fclose_ FILE *f = NULL;
	struct proc_mapping map;
	bool any = false;
	char path[32];
	ssize_t len;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%u/maps", tid);
	f = fopen(path, "re");
	if (!f)
		return errno == EACCES || errno == EPERM ? -EACCES :
		       errno == ENOMEM			 ? -ENOMEM :
							   -ENOENT;
	while (!err && (len = getline(&m->line, &m->line_size, f)) > 0) {
		any = true;
		if (m->line[len - 1] == '\n')
			m->line[len - 1] = '\0';
		if (proc_mapping__parse(m->line, &map) || map.perms[2] != 'x')
			continue;
		if (map.inode)
			err = add_file(m, pid, tid, &map);
		else if (!strcmp(map.path, "[vdso]"))
			err = add_vdso(m, pid, tid, &map);
	}
	return err ?: any;
}

/* The first thread of a process may have exited while others still run. */
static int read_other_threads(struct maps *m, uint32_t pid)
{
	struct dirent *d;
	char path[32];
	uint64_t tid;
	int got = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return -ENOENT;
	while (got <= 0 && got != -ENOMEM && (d = readdir(dir)))
		if (!parse__u64(d->d_name, 1, INT32_MAX, &tid) && tid != pid)
			got = read_task(m, pid, tid);
	closedir(dir);
	return got;
}

static int read_process(struct maps *m, uint32_t pid)
{
	int got = read_task(m, pid, pid);

	if (!got)
		got = read_other_threads(m, pid);
	m->refused += got == -EACCES;
	return got;
}

static int read_all(struct maps *m)
{
	struct dirent *d;
	uint64_t pid;
	int got = 0;
	DIR *dir;

	dir = opendir("/proc");
	if (!dir)
		return log_err(-errno, "open /proc");
	while (got != -ENOMEM && (d = readdir(dir)))
		if (!parse__u64(d->d_name, 1, INT32_MAX, &pid))
			got = read_process(m, pid);
	closedir(dir);
	return got == -ENOMEM ? log_err(got, "collect the mappings") : 0;
}

/* Processes given by number must exist. */
static int read_given(struct maps *m)
{
	int got, failed = 0;
	unsigned int i;
	uint64_t pid;

	for (i = 0; i < m->pids.nr; i++) {
		for (pid = m->pids.ranges[i].first; pid <= m->pids.ranges[i].last; pid++) {
			got = read_process(m, pid);
			if (got == -ENOMEM)
				return log_err(got, "collect the mappings");
			/* Numbers of a range need not exist. */
			if (got < 0 && m->pids.ranges[i].first == m->pids.ranges[i].last)
				failed = log_err(got == -EACCES ? got : -ESRCH,
						 "read the mappings of process %" PRIu64, pid);
		}
	}
	return failed;
}

/* ---- output ---------------------------------------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
	const struct mapped_file *x = *(struct mapped_file *const *)a;
	const struct mapped_file *y = *(struct mapped_file *const *)b;

	return strcmp(x->f.path, y->f.path) ?: by_map_key(x, y);
}

static void put_text(struct strbuf *b, const struct mapped_file *mf)
{
	unsigned int i;

	file__map_line(b, &mf->f);
	strbuf__printf(b, " pids=%u", mf->nr_pids);
	for (i = 1; i < mf->nr_names; i++) {
		strbuf__puts(b, " also=");
		strbuf__text(b, mf->names[i]);
	}
	strbuf__putc(b, '\n');
}

static void put_json(struct json *j, const struct mapped_file *mf)
{
	unsigned int i;

	json__record(j, "file");
	file__json(j, &mf->f);
	json__array(j, "paths");
	for (i = 0; i < mf->nr_names; i++)
		json__string(j, NULL, mf->names[i]);
	json__end(j);
	json__array(j, "pids");
	for (i = 0; i < mf->nr_pids; i++)
		json__u64(j, NULL, mf->pids[i]);
	json__end(j);
	json__end(j);
}

static void put_all(struct maps *m)
{
	struct mapped_file *mf;
	size_t i;

	for (i = 0; i < m->nr_files; i++) {
		mf = m->files[i];
		mf->f.path = mf->names[0];
		mf->f.host_path = "";
		mf->f.hash =
			file_hash(mf->f.id, mf->f.id_len, mf->f.path, mf->f.size, mf->f.mtime_ns);
	}
	if (m->nr_files)
		qsort(m->files, m->nr_files, sizeof(*m->files), by_path);
	for (i = 0; i < m->nr_files && !out__drain(&m->out); i++) {
		if (m->json)
			put_json(&m->out.json, m->files[i]);
		else
			put_text(&m->out.b, m->files[i]);
	}
}

static int run(int argc, char **argv)
{
	_cleanup_(maps__free) struct maps m = { 0 };
	int code, err;

	code = options__parse(&cmd_maps, argc, argv, &m);
	if (code)
		return code;
	err = m.pids.nr ? read_given(&m) : read_all(&m);
	if (err == -ENOMEM)
		return CMD_FAILURE;
	if (m.refused && !m.pids.nr)
		log_warn("the mappings of %u process%s cannot be read%s", m.refused,
			 m.refused == 1 ? "" : "es", geteuid() ? ": run as root" : "");
	out__open(&m.out, true);
	put_all(&m);
	return out__close(&m.out, err ? CMD_FAILURE : CMD_OK);
}

const struct cmd cmd_maps = {
	.name = "maps",
	.summary = "print the files that running programs execute, without recording",
	.run = run,
	.options = options,
	.text = "Prints each file that running programs have mapped executable, once.\n",
	.notes =
		"Each line has the hash that 'script --ids' shows, the path, the build id, device\n"
		"and inode as in /proc/PID/maps, and the number of processes that map the file.\n"
		"Only root sees all processes.\n",
};
