/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads whole files.  Files of /proc, /sys and tracefs report size 0, and pipes have no size, so
 * only read(2) determines the end.
 */
#ifndef SLURP_H
#define SLURP_H

#include <stddef.h>

#define SLURP_MAX ((size_t)1 << 30)

/*
 * The caller frees *ret_text, which is NUL-terminated; ret_len may be NULL.  -EFBIG: more than max
 * bytes; else the error of open(2) or read(2).
 */
int slurp(const char *path, char **ret_text, size_t *ret_len); /* at most SLURP_MAX */
int slurp__fd(int fd, size_t max, char **ret_text, size_t *ret_len);

/*
 * Reads up to size - 1 bytes into ret_text, NUL-terminated; returns the length or a negative errno.
 */
int slurp__start(int fd, char *ret_text, size_t size);
/* The first line, without the newline; -ENODATA: the file is empty. */
int slurp__line(const char *path, char *ret_line, size_t size);
/* The number at the beginning of the file; -EINVAL: it has none. */
int slurp__number(const char *path, unsigned int *ret_number);

#endif /* SLURP_H */
