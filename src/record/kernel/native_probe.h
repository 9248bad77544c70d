/* SPDX-License-Identifier: GPL-2.0-only */
/* Which native events fit the running kernel. */
#ifndef RECORD_NATIVE_PROBE_H
#define RECORD_NATIVE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "native_code.h"

/*
 * native_code__check_call() with the format that this kernel has.  Another negative errno than
 * -EOPNOTSUPP, such as -ENOENT: the format cannot be read; ret_why is then empty.
 */
int native_probe__call(bool is_exit, const struct btf *btf, char ret_why[NATIVE_WHY]);

/*
 * Returns 0 if programs can fill the records of all events in the rows that this kernel has, and
 * -EOPNOTSUPP if not: ret_detail has how many they can fill, the first other event with the reason,
 * and the names of further ones.  Another negative errno: that cannot be determined.
 */
int native_probe(char *ret_detail, size_t len);

#endif /* RECORD_NATIVE_PROBE_H */
