// SPDX-License-Identifier: GPL-2.0-only
/* Writes a file that gets its name only when it is complete. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "live.h"
#include "log.h"
#include "place.h"
#include "temporary.h"
#include "trace/stk.h"

struct output {
	struct output_opts opts;
	char *path;
	struct place place; /* dir is -1 if the output is written directly */
	int fd;
	int lock_fd; /* of a recording on standard output: a separate open file with the lock */
	char temp[PLACE_TEMP]; /* temporary name until the commit; empty: none */
	char *old; /* PATH.old in place.dir */
};

/* ---- which files may be replaced ------------------------------------------------------------- */

/* Logs a refusal that is not due to a failed system call. */
#define refuse(...) (log_why(-EPERM, __VA_ARGS__))

static int check_inputs(const struct output *o, const struct stat *st)
{
	struct stat input;
	unsigned int i;

	for (i = 0; i < o->opts.nr_inputs; i++) {
		const char *path = o->opts.inputs[i];

		if (!path || (strcmp(path, "-") ? stat(path, &input) : fstat(STDIN_FILENO, &input)))
			continue;
		if (S_ISREG(st->st_mode) && place__is_same(st, &input))
			return refuse("'%s' is an input of this command: not replaced", o->path);
	}
	return 0;
}

static bool has_magic(int fd)
{
	char magic[sizeof(STK_MAGIC) - 1];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, STK_MAGIC, sizeof(magic));
}

/*
 * Opens the regular file of this name; -1 if there is none, or if it is no longer `st`.  Opens it
 * for writing if possible, because a lock requires that.
 */
static int open_existing(const struct output *o, const char *name, const struct stat *st)
{
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	_cleanup_close_ int fd = -1;
	struct stat now;

	if (o->opts.recording)
		fd = openat(o->place.dir, name, O_RDWR | flags);
	if (fd < 0)
		fd = openat(o->place.dir, name, O_RDONLY | flags);
	return fd < 0 || fstat(fd, &now) || !place__is_same(st, &now) ? -1 : take_fd(fd);
}

/* A PATH.old that the user may need must not be replaced either. */
static int check_old(const struct output *o)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (fstatat(o->place.dir, o->old, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : log_err(-errno, "stat '%s.old'", o->path);
	fd = S_ISREG(st.st_mode) ? open_existing(o, o->old, &st) : -1;
	if (fd >= 0 && live__is_locked(fd))
		return refuse("'%s.old' is being recorded", o->path);
	if (fd < 0 || (st.st_size && !has_magic(fd)))
		return refuse("'%s' would replace '%s.old', which is not a recording: move it away",
			      o->path, o->path);
	return 0;
}

static int check_recording_over(const struct output *o, int fd)
{
	if (!o->place.st.st_size)
		return 0;
	if (!o->opts.force && (fd < 0 || !has_magic(fd)))
		return refuse("'%s' is not a recording: not replaced without --force", o->path);
	return check_old(o);
}

static int check_file_over(const struct output *o, int fd)
{
	if (o->opts.force)
		return 0;
	if (faccessat(o->place.dir, o->place.name, W_OK, AT_EACCESS))
		return log_err(-errno, "write '%s'", o->path);
	if (fd < 0)
		return refuse("'%s' may be a recording (unreadable): not replaced without --force",
			      o->path);
	if (has_magic(fd))
		return refuse("'%s' is a recording: not replaced without --force", o->path);
	return 0;
}

/* Whether the existing regular file may be replaced; fd: the file, or -1 if it cannot be opened. */
static int check_existing(const struct output *o, int fd)
{
	int err = check_inputs(o, &o->place.st);

	if (err)
		return err;
	if (place__is_foreign(&o->place))
		return refuse("'%s' belongs to another user, in a directory that others can write",
			      o->path);
	if (fd >= 0 && live__is_locked(fd))
		return refuse("'%s' is being recorded", o->path);
	return o->opts.recording ? check_recording_over(o, fd) : check_file_over(o, fd);
}

/* ---- written directly ------------------------------------------------------------------------ */

/*
 * Locks through a separate open file: the descriptor is shared with other processes, which would
 * keep the lock after this one exits.
 */
static int lock_shared(struct output *o)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", o->fd);
	o->lock_fd = open(path, O_RDWR | O_CLOEXEC);
	if (o->lock_fd >= 0 && live__lock(o->lock_fd) == -EAGAIN)
		return refuse("the target of '%s' is being recorded", o->path);
	return 0;
}

/* Writes to a descriptor that this process has inherited. */
static int share(struct output *o, int fd)
{
	struct stat st;
	int flags, err;

	if (o->opts.recording && isatty(fd))
		return refuse("a recording is not written to a terminal");
	flags = fcntl(fd, F_GETFL);
	o->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (o->fd < 0 || fstat(o->fd, &st))
		return log_err(-errno, "write '%s'", o->path);
	if ((flags & O_ACCMODE) == O_RDONLY)
		return log_err(-EBADF, "write '%s'", o->path);
	if (!S_ISREG(st.st_mode))
		return 0;
	err = check_inputs(o, &st);
	return err || !o->opts.recording ? err : lock_shared(o);
}

/* The own descriptor that the link in /proc refers to; -1: another process's. */
static int own_descriptor(const struct place *p)
{
	struct stat dir, own;
	char *end;
	long fd;

	if (fstat(p->dir, &dir) || stat("/proc/self/fd", &own) || !place__is_same(&dir, &own))
		return -1;
	fd = strtol(p->name, &end, 10);
	return *end ? -1 : (int)fd;
}

static int open_directly(struct output *o)
{
	const int flags = O_WRONLY | O_NOCTTY | O_CLOEXEC;
	struct place *p = &o->place;
	struct stat st;
	int own = p->open_file ? own_descriptor(p) : -1;

	if (own >= 0)
		return share(o, own);
	if (place__is_foreign(p))
		return refuse("'%s' belongs to another user, in a directory that others can write",
			      o->path);
	o->fd = openat(p->dir, p->name, p->open_file ? flags : flags | O_NOFOLLOW);
	if (o->fd < 0 || fstat(o->fd, &st))
		return log_err(-errno, "open '%s'", o->path);
	if (S_ISREG(st.st_mode))
		return refuse("'%s' is an open file of another process", o->path);
	if (o->opts.recording && isatty(o->fd))
		return refuse("a recording is not written to a terminal");
	return 0;
}

/* ---- open ------------------------------------------------------------------------------------ */

static int create_named(struct output *o, mode_t mode)
{
	int i, err, fd = -1;

	for (i = 0; i < PLACE_TEMP_TRIES && fd < 0; i++) {
		err = place__random_name(o->temp);
		if (err)
			return err;
		fd = openat(o->place.dir, o->temp,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0) {
		*o->temp = '\0';
		return -errno;
	}
	return fd;
}

/*
 * A file without a name vanishes with this process.  Not every file system supports that, and
 * naming the file requires /proc.
 */
static int create(struct output *o)
{
	mode_t mode = o->place.exists ? 0600 : o->opts.mode ? o->opts.mode : 0666;
	int fd = -1;

	if (!access("/proc/self/fd", X_OK))
		fd = openat(o->place.dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (fd < 0)
		fd = create_named(o, mode);
	if (fd < 0)
		return log_err(fd, "create a temporary file for '%s'", o->path);
	o->fd = fd;
	if (o->opts.recording)
		live__lock(o->fd); /* may fail: some file systems have no locks */
	return 0;
}

static int open_output(struct output *o)
{
	struct place *p = &o->place;
	_cleanup_close_ int fd = -1;
	int err;

	if (o->opts.fd)
		return share(o, *o->opts.fd);
	if (!strcmp(o->path, "-"))
		return share(o, STDOUT_FILENO);
	err = place__find(o->path, p);
	if (err)
		return err;
	if (p->exists && S_ISDIR(p->st.st_mode))
		return log_err(-EISDIR, "create '%s'", o->path);
	if (p->exists && !S_ISREG(p->st.st_mode)) {
		err = open_directly(o);
		closep(&p->dir);
		p->dir = -1;
		return err;
	}
	if (asprintf(&o->old, "%s.old", p->name) < 0) {
		o->old = NULL;
		return log_err(-ENOMEM, "create '%s'", o->path);
	}
	if (p->exists) {
		fd = open_existing(o, p->name, &p->st);
		err = check_existing(o, fd);
	}
	return err ?: create(o);
}

int output__open(const struct output_opts *opts, struct output **ret_output)
{
	struct output *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return log_err(-ENOMEM, "create '%s'", opts->path);
	o->opts = *opts;
	o->fd = o->lock_fd = o->place.dir = -1;
	o->path = strdup(opts->path);
	err = o->path ? open_output(o) : log_err(-ENOMEM, "create '%s'", opts->path);
	o->opts.fd = NULL;
	/* The inputs have been checked, and the caller's array may be freed before the commit. */
	o->opts.inputs = NULL;
	o->opts.nr_inputs = 0;
	if (err) {
		output__free(o);
		return err;
	}
	*ret_output = o;
	return 0;
}

int output__open_temporary(const struct output *o)
{
	bool beside = o->place.dir >= 0;
	const char *dir = beside ? "." : temporary__directory();
	int fd = temporary__open(beside ? o->place.dir : AT_FDCWD, dir);

	if (fd >= 0)
		return fd;
	return beside ? log_err(fd, "create a temporary file for '%s'", o->path) :
			log_err(fd, "make a temporary file in '%s', see TMPDIR", dir);
}

int output__fd(const struct output *o)
{
	return o->fd;
}

int output__write(const struct output *o, const void *data, size_t len)
{
	return output__write_to(o->fd, data, len);
}

int output__write_to(int fd, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	while (len) {
		n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		len -= n;
	}
	return 0;
}

/* ---- commit ---------------------------------------------------------------------------------- */

static int failed(const struct output *o, int err)
{
	return log_err(err, "create '%s'", o->path);
}

static int give_temporary_name(struct output *o)
{
	char fd[32];
	int i, err;

	if (*o->temp)
		return 0;
	snprintf(fd, sizeof(fd), "/proc/self/fd/%d", o->fd);
	for (i = 0; i < PLACE_TEMP_TRIES; i++) {
		err = place__random_name(o->temp);
		if (!err && linkat(AT_FDCWD, fd, o->place.dir, o->temp, AT_SYMLINK_FOLLOW))
			err = -errno;
		if (!err)
			return 0;
		*o->temp = '\0';
		if (err != -EEXIST)
			break;
	}
	return failed(o, err);
}

static int rename_within(const struct output *o, const char *from, const char *to)
{
	return renameat(o->place.dir, from, o->place.dir, to) ? -errno : 0;
}

/* Replaces the file that was checked; after a crash either file is complete. */
static int replace(struct output *o)
{
	int err = o->place.exists ? place__check_name(&o->place) : -ENOENT;

	if (err == -ENOENT)
		err = place__rename_to_free(&o->place, o->temp, o->place.name);
	else if (!err) {
		err = place__copy_owner(&o->place, o->fd);
		if (!err && fsync(o->fd))
			err = -errno;
		if (!err)
			err = rename_within(o, o->temp, o->place.name);
		if (!err)
			place__sync(&o->place);
	}
	return err ? failed(o, err) : 0;
}

/* Renames the existing recording to PATH.old. */
static int rotate(const struct output *o)
{
	const char *name = o->place.name;
	int err = place__check_name(&o->place);

	if (!err && !o->place.st.st_size)
		return rename_within(o, o->temp, name);
	if (!err)
		err = rename_within(o, name, o->old);
	if (err)
		return err;
	err = place__rename_to_free(&o->place, o->temp, name);
	if (err)
		place__rename_to_free(&o->place, o->old, name);
	return err;
}

/*
 * This runs long after output__open(), so it checks everything again.  It locks the existing file
 * meanwhile: of two recorders, one finds the other's lock, or the other's recording under the name.
 */
static int replace_by_recording(struct output *o)
{
	struct place *p = &o->place;
	_cleanup_close_ int fd = -1;
	int err;

	do {
		err = place__rename_to_free(p, o->temp, p->name);
		if (err != -EEXIST)
			return err ? failed(o, err) : 0;
		p->exists = !fstatat(p->dir, p->name, &p->st, AT_SYMLINK_NOFOLLOW);
	} while (!p->exists && errno == ENOENT); /* removed meanwhile */
	if (!p->exists)
		return failed(o, -errno);
	fd = S_ISREG(p->st.st_mode) ? open_existing(o, p->name, &p->st) : -1;
	if (fd < 0)
		return failed(o, -EEXIST);
	err = check_existing(o, fd);
	if (!err && live__lock(fd) == -EAGAIN)
		err = refuse("'%s' is being recorded", o->path);
	if (err)
		return err;
	err = rotate(o);
	return err ? failed(o, err) : 0;
}

int output__commit(struct output *o)
{
	int err;

	if (o->place.dir < 0)
		return 0;
	err = give_temporary_name(o);
	if (!err)
		err = o->opts.recording ? replace_by_recording(o) : replace(o);
	if (!err)
		*o->temp = '\0';
	return err;
}

void output__free(struct output *o)
{
	if (!o)
		return;
	if (*o->temp)
		unlinkat(o->place.dir, o->temp, 0);
	/* Unlock, because a child process may have the descriptors, too. */
	if (o->fd >= 0 && o->opts.recording && o->place.dir >= 0)
		live__unlock(o->fd);
	if (o->lock_fd >= 0)
		live__unlock(o->lock_fd);
	closep(&o->fd);
	closep(&o->lock_fd);
	place__clear(&o->place);
	free(o->path);
	free(o->old);
	free(o);
}
