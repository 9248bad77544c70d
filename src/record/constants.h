/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's enum constants by name, from its BTF. */
#ifndef RECORD_CONSTANTS_H
#define RECORD_CONSTANTS_H

#include <stdbool.h>
#include <stdint.h>

struct constants;

int constants__load(struct constants **ret_constants);
void constants__free(struct constants *c);

/* An ev_constant_fn; ctx is the struct constants. */
bool constants__lookup(void *ctx, const char *name, int64_t *ret_value);

#endif /* RECORD_CONSTANTS_H */
