/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RECORD_NEAREST_H
#define RECORD_NEAREST_H

#include <stddef.h>

/* Logs that no event matches spec, with the nearest names of all; returns -ENOENT. */
int nearest__complain(const char *spec, char **all, size_t nr_all);

#endif /* RECORD_NEAREST_H */
