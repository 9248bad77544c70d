/* SPDX-License-Identifier: GPL-2.0-only */
/* Suggests the names that are most similar to a mistyped one. */
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

/*
 * "; did you mean A, B or C?", for the end of a message; empty if no name in all is similar.  Owned
 * by the caller; NULL: out of memory.
 */
char *nearest__question(const char *meant, const char *const *all, size_t nr_all);
/* Logs message, and which of all may be meant; returns -ENOENT. */
int nearest__complain_name(const char *message, const char *meant, const char *const *all,
			   size_t nr_all);
/* Logs that no event matches, and which of all, "system:name", may be meant; returns -ENOENT. */
int nearest__complain(const char *meant, char *const *all, size_t nr_all);

#endif /* NEAREST_H */
