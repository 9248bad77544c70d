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

#define NATIVE_NO_LEVELS "the kernel's types do not say where its preempt counts are"

/*
 * Returns 0 if programs can fill the records of all events in the rows that this kernel has, with
 * kernel stacks, and -EOPNOTSUPP if not.  ret_detail has how many they can fill, whether system
 * calls are among these, and lines with the other events and the reason.  Another negative errno:
 * that cannot be determined.
 */
int native_probe(char *ret_detail, size_t len);

#endif /* RECORD_NATIVE_PROBE_H */
