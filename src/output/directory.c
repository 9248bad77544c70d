// SPDX-License-Identifier: GPL-2.0-only
/* Writes a directory that gets its name only when all of its files are complete. */
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "place.h"

struct dir_file {
	char *name;
	int fd;
	bool is_named; /* in the temporary directory */
};

struct output_dir {
	const struct output_dir_kind *kind;
	bool force;
	char *path; /* without slashes at the end */
	struct place place;
	char temp[PLACE_TEMP]; /* the directory with the files until the commit; empty: none */
	int temp_fd;
	struct dir_file *files;
	unsigned int nr_files, max_files;
};

/* Logs a refusal that is not due to a failed system call. */
#define refuse(...) log_why(-EPERM, __VA_ARGS__)

/* ---- an existing directory ------------------------------------------------------------------- */

static bool is_entry(const char *name)
{
	return strcmp(name, ".") && strcmp(name, "..");
}

/* Calls fn for each name in the directory until it returns false, as this does then. */
static bool each_name(int dir, bool (*fn)(void *ctx, int dir, const char *name), void *ctx)
{
	_cleanup_closedir_ DIR *names = fdopendir(dup(dir));
	struct dirent *entry;

	if (!names)
		return false;
	rewinddir(names);
	while ((entry = readdir(names)))
		if (is_entry(entry->d_name) && !fn(ctx, dir, entry->d_name))
			return false;
	return true;
}

static bool is_of_kind(void *ctx, int dir, const char *name)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	const struct output_dir_kind *kind = ctx;
	_cleanup_close_ int fd = openat(dir, name, flags);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && kind->has(name, fd);
}

static int check_existing(const struct output_dir *d)
{
	const struct output_dir_kind *kind = d->kind;
	_cleanup_close_ int fd = -1;

	if (!S_ISDIR(d->place.st.st_mode))
		return refuse("'%s' exists and is not a directory, which %s is", d->path,
			      kind->what);
	if (!d->force)
		return refuse("'%s' exists: not replaced without --force", d->path);
	if (place__is_foreign(&d->place))
		return refuse("'%s' belongs to another user, in a directory that others can write",
			      d->path);
	fd = openat(d->place.dir, d->place.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return log_err(-errno, "open '%s'", d->path);
	if (faccessat(fd, kind->main_file, F_OK, AT_SYMLINK_NOFOLLOW) ||
	    !each_name(fd, is_of_kind, (void *)kind))
		return refuse("'%s' holds something else than %s of this program: not replaced",
			      d->path, kind->what);
	return 0;
}

/* ---- open ------------------------------------------------------------------------------------ */

static int find_place(struct output_dir *d, const char *path)
{
	size_t len = strlen(path);
	int err;

	if (!strcmp(path, "-"))
		return refuse("%s is a directory and cannot be standard output: name one with -o",
			      d->kind->what);
	while (len > 1 && path[len - 1] == '/')
		len--;
	d->path = strndup(path, len);
	if (!d->path)
		return log_err(-ENOMEM, "create '%s'", path);
	err = place__find(d->path, &d->place);
	return err || !d->place.exists ? err : check_existing(d);
}

int output_dir__open(const struct output_opts *opts, const struct output_dir_kind *kind,
		     struct output_dir **ret_dir)
{
	_cleanup_(output_dir__freep) struct output_dir *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return log_err(-ENOMEM, "create '%s'", opts->path);
	d->kind = kind;
	d->force = opts->force;
	d->place.dir = d->temp_fd = -1;
	err = find_place(d, opts->path);
	if (!err)
		*ret_dir = take_ptr(d);
	return err;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int failed(const struct output_dir *d, int err)
{
	return log_err(err, "create '%s'", d->path);
}

/* A directory may have more files than the limit of open ones usually allows. */
static bool may_open_more(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return !setrlimit(RLIMIT_NOFILE, &limit);
}

/* openat() that raises the limit; the descriptor or a negative errno. */
static int open_at(int dir, const char *name, int flags)
{
	int fd = openat(dir, name, flags | O_CLOEXEC, 0666);

	if (fd < 0 && errno == EMFILE && may_open_more())
		fd = openat(dir, name, flags | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

/* The directory beside the final one that the files are in while they have names. */
static int make_temporary(struct output_dir *d)
{
	int i, err = -EEXIST;

	for (i = 0; i < PLACE_TEMP_TRIES && err == -EEXIST; i++) {
		err = place__random_name(d->temp);
		if (!err && mkdirat(d->place.dir, d->temp, 0777))
			err = -errno;
	}
	if (err) {
		*d->temp = '\0';
		return err;
	}
	d->temp_fd = open_at(d->place.dir, d->temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	return MIN(d->temp_fd, 0);
}

static int create(struct output_dir *d, const char *name, bool *ret_is_named)
{
	int fd = -EOPNOTSUPP, err;

	if (d->temp_fd < 0 && !access("/proc/self/fd", X_OK))
		fd = open_at(d->place.dir, ".", O_TMPFILE | O_WRONLY);
	*ret_is_named = fd < 0 && fd != -EMFILE;
	if (!*ret_is_named)
		return fd;
	err = d->temp_fd < 0 ? make_temporary(d) : 0;
	return err ?: open_at(d->temp_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
}

int output_dir__create(struct output_dir *d, const char *name, int *ret_fd)
{
	struct dir_file f = { .name = strdup(name) };

	if (!f.name || array__grow(&d->files, d->nr_files, &d->max_files)) {
		free(f.name);
		return failed(d, -ENOMEM);
	}
	f.fd = create(d, name, &f.is_named);
	if (f.fd < 0) {
		free(f.name);
		return log_err(f.fd, "create '%s' in '%s'", name, d->path);
	}
	d->files[d->nr_files++] = f;
	*ret_fd = f.fd;
	return 0;
}

int output_dir__failed(const struct output_dir *d, const char *name, int err)
{
	return log_err(err, "write '%s' in '%s'", name, d->path);
}

/* ---- commit ---------------------------------------------------------------------------------- */

static int name_files(struct output_dir *d)
{
	unsigned int i;
	char fd[32];

	for (i = 0; i < d->nr_files; i++) {
		struct dir_file *f = &d->files[i];

		if (f->is_named)
			continue;
		snprintf(fd, sizeof(fd), "/proc/self/fd/%d", f->fd);
		if (linkat(AT_FDCWD, fd, d->temp_fd, f->name, AT_SYMLINK_FOLLOW))
			return -errno;
		f->is_named = true;
	}
	return 0;
}

static bool remove_file(void *ctx, int dir, const char *name)
{
	if (!ctx || is_of_kind(ctx, dir, name))
		unlinkat(dir, name, 0);
	return true;
}

/* Removes a directory of the place, with the files in it: all, or those of the kind. */
static int remove_directory(const struct place *p, const char *name,
			    const struct output_dir_kind *kind)
{
	_cleanup_close_ int fd =
		openat(p->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		each_name(fd, remove_file, (void *)kind);
	return unlinkat(p->dir, name, AT_REMOVEDIR) ? -errno : 0;
}

static int sync_files(const struct output_dir *d)
{
	unsigned int i;

	for (i = 0; i < d->nr_files; i++)
		if (fsync(d->files[i].fd))
			return -errno;
	return fsync(d->temp_fd) ? -errno : 0;
}

/* Gives d the name of the directory that was checked, and temp to that one. */
static int exchange(struct output_dir *d)
{
	const struct place *p = &d->place;
	char aside[PLACE_TEMP];
	int err;

	if (!renameat2(p->dir, d->temp, p->dir, p->name, RENAME_EXCHANGE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	err = place__random_name(aside);
	if (!err)
		err = place__rename_to_free(p, p->name, aside);
	if (err)
		return err;
	err = place__rename_to_free(p, d->temp, p->name);
	if (err)
		place__rename_to_free(p, aside, p->name);
	else
		memcpy(d->temp, aside, sizeof(aside));
	return err;
}

static int replace(struct output_dir *d)
{
	int err = place__check_name(&d->place);

	if (err)
		return failed(d, err);
	may_open_more(); /* the check opens files */
	err = check_existing(d);
	if (err)
		return err;
	err = place__copy_owner(&d->place, d->temp_fd) ?: sync_files(d) ?: exchange(d);
	if (err)
		return failed(d, err);
	place__sync(&d->place);
	if (remove_directory(&d->place, d->temp, d->kind))
		log_warn("what '%s' was before is now '%s' beside it", d->path, d->temp);
	*d->temp = '\0';
	return 0;
}

int output_dir__commit(struct output_dir *d)
{
	int err = *d->temp ? 0 : make_temporary(d);

	err = err ?: name_files(d);
	if (err)
		return failed(d, err);
	if (d->place.exists)
		return replace(d);
	err = place__rename_to_free(&d->place, d->temp, d->place.name);
	if (err)
		return failed(d, err);
	*d->temp = '\0';
	return 0;
}

void output_dir__free(struct output_dir *d)
{
	unsigned int i;

	if (!d)
		return;
	if (*d->temp)
		remove_directory(&d->place, d->temp, NULL);
	for (i = 0; i < d->nr_files; i++) {
		close(d->files[i].fd);
		free(d->files[i].name);
	}
	closep(&d->temp_fd);
	place__clear(&d->place);
	free(d->files);
	free(d->path);
	free(d);
}
