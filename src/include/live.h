/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The recorder holds a lock on the recording while it writes it.  The lock belongs to the open file
 * description (fcntl(2)), so the kernel releases it however the recorder ends.  It covers a byte
 * beyond all data, because locks of some file systems prevent others from reading.
 */
#ifndef LIVE_H
#define LIVE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>

/* fd is open for writing.  -EAGAIN: another recorder holds the lock. */
static inline int live__lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = INT64_MAX - 1, .l_len = 1 };

	return fcntl(fd, F_OFD_SETLK, &lock) ? -errno : 0;
}

static inline void live__unlock(int fd)
{
	struct flock lock = { .l_type = F_UNLCK, .l_start = INT64_MAX - 1, .l_len = 1 };

	fcntl(fd, F_OFD_SETLK, &lock);
}

/* Whether another open file description holds the lock; does not take it. */
static inline bool live__is_locked(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_start = INT64_MAX - 1, .l_len = 1 };

	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

#endif /* LIVE_H */
