/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RECORD_NEAREST_H
#define RECORD_NEAREST_H

#include <stddef.h>

#define NEAREST_SHOWN 3

/*
 * The names most like one that is not among them, best first, each once where equal ones follow one
 * another; ret_near[i] is the number of one in all.  Returns how many.
 */
unsigned int nearest__find(const char *name, const char *const *all, size_t nr_all,
			   size_t ret_near[NEAREST_SHOWN]);
/* Logs that no event matches spec, with the nearest names of all; returns -ENOENT. */
int nearest__complain(const char *spec, char **all, size_t nr_all);
/* Logs message, and the names of all that are nearest to name; returns -ENOENT. */
int nearest__complain_name(const char *message, const char *name, const char *const *all,
			   size_t nr_all);

#endif /* RECORD_NEAREST_H */
