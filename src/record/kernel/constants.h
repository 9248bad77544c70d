/* SPDX-License-Identifier: GPL-2.0-only */
/* Looks up the kernel's enum constants by name in its BTF. */
#ifndef RECORD_CONSTANTS_H
#define RECORD_CONSTANTS_H

#include <stdbool.h>
#include <stdint.h>

/* An ev_constant_fn; ctx is the kernel's struct btf. */
bool constants__lookup(void *ctx, const char *name, int64_t *ret_value);

#endif /* RECORD_CONSTANTS_H */
