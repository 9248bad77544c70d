/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Temporary files without a name: no other process opens one, and a SIGKILL leaves nothing behind.
 */
#ifndef TEMPORARY_H
#define TEMPORARY_H

#include <stddef.h>
#include <stdint.h>

/* Where they belong: TMPDIR, or /var/tmp, which is no memory. */
const char *temporary__directory(void);
/* Opens one for reading and writing; `at` and dir as for openat(2).  A negative errno. */
int temporary__open(int at, const char *dir);
/* All of it, at an offset; a negative errno, -EIO at the end of the file. */
int temporary__write(int fd, const void *data, size_t len, uint64_t at);
int temporary__read(int fd, void *ret_data, size_t len, uint64_t at);

#endif /* TEMPORARY_H */
