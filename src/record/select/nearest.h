/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RECORD_NEAREST_H
#define RECORD_NEAREST_H

#include <stddef.h>

#define NEAREST_SHOWN 3

/*
 * Finds the names in all that are most similar to name, which is not among them, best first.
 * Adjacent equal names count once.  ret_near[i] is an index in all.  Returns how many were found.
 */
unsigned int nearest__find(const char *name, const char *const *all, size_t nr_all,
			   size_t ret_near[NEAREST_SHOWN]);
/* Logs that no event matches spec, and the nearest names in all; returns -ENOENT. */
int nearest__complain(const char *spec, char **all, size_t nr_all);
/* Logs message, and the names in all that are nearest to name; returns -ENOENT. */
int nearest__complain_name(const char *message, const char *name, const char *const *all,
			   size_t nr_all);

#endif /* RECORD_NEAREST_H */
