/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Temporary files without a name: no other process opens them, and a SIGKILL leaves nothing behind.
 */
#ifndef TEMPORARY_H
#define TEMPORARY_H

/* The directory for temporary files: $TMPDIR, else /var/tmp or /tmp. */
const char *temporary__directory(void);
/* A file in the directory, open for reading and writing; a negative errno, without a message. */
int temporary__open(const char *dir);

#endif /* TEMPORARY_H */
