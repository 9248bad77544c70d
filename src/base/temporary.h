/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Temporary files without a name: no other process opens one, and a SIGKILL leaves nothing behind.
 */
#ifndef TEMPORARY_H
#define TEMPORARY_H

/* Where they belong: TMPDIR, or /var/tmp, which is no memory. */
const char *temporary__directory(void);
/* Opens one for reading and writing; `at` and dir as for openat(2).  A negative errno. */
int temporary__open(int at, const char *dir);

#endif /* TEMPORARY_H */
