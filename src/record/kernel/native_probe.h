/* SPDX-License-Identifier: GPL-2.0-only */
/* Which native events fit the running kernel. */
#ifndef RECORD_NATIVE_PROBE_H
#define RECORD_NATIVE_PROBE_H

#include <stddef.h>

/*
 * Returns 0 if programs can fill the records of all events in the rows that this kernel has, and
 * -EOPNOTSUPP if not: ret_detail has how many they can fill, the first other event with the reason,
 * and the names of further ones.  Another negative errno: that cannot be determined.
 */
int native_probe(char *ret_detail, size_t len);

#endif /* RECORD_NATIVE_PROBE_H */
