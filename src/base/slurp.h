/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole files.  Those of /proc, /sys and tracefs say that their size is 0, and pipes have none: what is
 * read ends where read(2) says so.
 */
#ifndef SLURP_H
#define SLURP_H

#include <stddef.h>

#define SLURP_MAX ((size_t)1 << 30)

/*
 * *ret_text is the caller's (free) and has a NUL behind its end; ret_len may be NULL.  -EFBIG: more than max
 * bytes, or what open(2) or read(2) failed with.
 */
int slurp(const char *path, char **ret_text, size_t *ret_len); /* at most SLURP_MAX */
int slurp__fd(int fd, size_t max, char **ret_text, size_t *ret_len);

/* The beginning of a small one in ret_text, NUL-terminated; its length, or negative: errno. */
int slurp__start(int fd, char *ret_text, size_t size);
/* Its first line, without the newline; -ENODATA: it is empty. */
int slurp__line(const char *path, char *ret_line, size_t size);
/* The number that it begins with; -EINVAL: it does not. */
int slurp__number(const char *path, unsigned int *ret_number);

#endif /* SLURP_H */
