// SPDX-License-Identifier: GPL-2.0-only
/* The file system as SQLite sees it: see files.h. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "temporary.h"

#define SECTOR 4096
#define JULIAN_1970_MS 210866760000000ll /* what SQLite counts from, at 1970 */

struct sql_file {
	sqlite3_file base; /* first */
	struct sql_files *files;
	int fd;
	bool is_temporary;
	uint64_t size;
};

static struct sql_file *file_of(sqlite3_file *base)
{
	return (struct sql_file *)base;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int file_close(sqlite3_file *base)
{
	struct sql_file *f = file_of(base);

	if (f->is_temporary) {
		f->files->used -= f->size;
		close(f->fd);
	}
	return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *data, int len, sqlite3_int64 at)
{
	size_t want = MAX(len, 0), done = 0;
	struct sql_file *f = file_of(base);
	ssize_t got;

	while (done < want) {
		got = pread(f->fd, (char *)data + done, want - done, at + done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return SQLITE_IOERR_READ;
		if (!got)
			break;
		done += got;
	}
	memset((char *)data + done, 0, want - done); /* as SQLite demands */
	return done < want ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

/* Accounts for a new size of the file; false: beyond the limit. */
static bool resize(struct sql_file *f, uint64_t size)
{
	struct sql_files *all = f->files;

	if (f->is_temporary) {
		if (size > f->size && size - f->size > all->max - MIN(all->used, all->max)) {
			all->exceeded = true;
			return false;
		}
		all->used += size - f->size;
		all->peak = MAX(all->peak, all->used);
	}
	f->size = size;
	return true;
}

static int file_write(sqlite3_file *base, const void *data, int len, sqlite3_int64 at)
{
	struct sql_file *f = file_of(base);
	int done = 0;
	ssize_t put;

	if ((uint64_t)at + len > f->size && !resize(f, at + len))
		return SQLITE_FULL;
	while (done < len) {
		put = pwrite(f->fd, (const char *)data + done, len - done, at + done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL :
								    SQLITE_IOERR_WRITE;
		done += put;
	}
	return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	struct sql_file *f = file_of(base);

	if (ftruncate(f->fd, size))
		return SQLITE_IOERR_TRUNCATE;
	return resize(f, size) ? SQLITE_OK : SQLITE_FULL;
}

static int file_sync(sqlite3_file *base, int flags)
{
	return SQLITE_OK; /* a file to save is complete by rename */
}

static int file_size(sqlite3_file *base, sqlite3_int64 *ret_size)
{
	*ret_size = file_of(base)->size;
	return SQLITE_OK;
}

static int file_lock(sqlite3_file *base, int level)
{
	return SQLITE_OK; /* no other process knows the file */
}

static int file_is_reserved(sqlite3_file *base, int *ret_is)
{
	*ret_is = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int op, void *arg)
{
	return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *base)
{
	return SECTOR;
}

static int file_features(sqlite3_file *base)
{
	return 0;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_lock,
	.xCheckReservedLock = file_is_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_features,
};

/* ---- the file system ------------------------------------------------------------------------- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
		    int *ret_flags)
{
	struct sql_files *all = (struct sql_files *)vfs;
	struct sql_file *f = file_of(base);

	*f = (struct sql_file){ .files = all, .fd = -1 };
	if (name && !strcmp(name, SQL_FILES_SAVE) && flags & SQLITE_OPEN_MAIN_DB) {
		f->fd = all->save;
	} else if (!name) {
		f->is_temporary = true;
		f->fd = temporary__open(AT_FDCWD, all->where);
		if (f->fd < 0)
			log_err(f->fd, "make a temporary file in '%s', see TMPDIR", all->where);
	}
	if (f->fd < 0)
		return SQLITE_CANTOPEN;
	f->base.pMethods = &methods;
	if (ret_flags)
		*ret_flags = flags;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	return SQLITE_IOERR_DELETE_NOENT;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_can)
{
	*ret_can = 0;
	return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int size, char *ret_path)
{
	sqlite3_snprintf(size, ret_path, "%s", name);
	return SQLITE_OK;
}

static int vfs_randomness(sqlite3_vfs *vfs, int len, char *ret_bytes)
{
	return getrandom(ret_bytes, len, GRND_NONBLOCK) == len ? len : 0;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
	return 0;
}

static int vfs_time_ms(sqlite3_vfs *vfs, sqlite3_int64 *ret_ms)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*ret_ms = JULIAN_1970_MS + now.tv_sec * 1000ll + now.tv_nsec / 1000000;
	return SQLITE_OK;
}

static int vfs_time(sqlite3_vfs *vfs, double *ret_days)
{
	sqlite3_int64 ms;

	vfs_time_ms(vfs, &ms);
	*ret_days = ms / 86400000.0;
	return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *text)
{
	return errno;
}

int sql_files__register(struct sql_files *f, uint64_t max)
{
	*f = (struct sql_files){
		.vfs = {
			.iVersion = 2,
			.szOsFile = sizeof(struct sql_file),
			.mxPathname = 64,
			.zName = SQL_FILES_VFS,
			.xOpen = vfs_open,
			.xDelete = vfs_delete,
			.xAccess = vfs_access,
			.xFullPathname = vfs_full_path,
			.xRandomness = vfs_randomness,
			.xSleep = vfs_sleep,
			.xCurrentTime = vfs_time,
			.xGetLastError = vfs_last_error,
			.xCurrentTimeInt64 = vfs_time_ms,
		},
		.max = max,
		.save = -1,
		.where = temporary__directory(),
	};
	if (sqlite3_vfs_register(&f->vfs, 0))
		return log_err(-ENOMEM, "set up SQLite");
	return 0;
}

void sql_files__unregister(struct sql_files *f)
{
	if (f->vfs.zName)
		sqlite3_vfs_unregister(&f->vfs);
}
