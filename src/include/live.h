/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A recording that is being written has a lock: of the open file description (fcntl(2)), so that
 * it ends with the recorder, however that ends.  It is on a byte behind anything that is ever written,
 * because there are file systems whose locks keep others from reading.
 */
#ifndef LIVE_H
#define LIVE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>

/* fd is open for writing; -EAGAIN: another recorder has it. */
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

/* Whether another open file description has the lock; takes none. */
static inline bool live__is_locked(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_start = INT64_MAX - 1, .l_len = 1 };

	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

#endif /* LIVE_H */
