/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments and return values of kernel functions, from the kernel's BTF. */
#ifndef RECORD_PROBE_TYPES_H
#define RECORD_PROBE_TYPES_H

#include <stdbool.h>

#include "probe_priv.h"

struct probe_types;

/* Without BTF, *ret_types is empty: all arguments are unknown.  -ENOMEM. */
int probe_types__load(struct probe_types **ret_types);
void probe_types__free(struct probe_types *t);

/*
 * The fields of a record of this function; module is "" for the kernel itself; *ret_nr: their
 * number.  Arguments are described up to the first that is not in a register of its own: one that
 * is wider, a floating point number, or the seventh.  Arguments of an unknown function are arg1 ..
 * arg6.  With is_return there is one field "ret", or none for void and for values wider than a
 * register.
 */
void probe_types__describe(struct probe_types *t, const char *function, const char *module,
			   bool is_return, struct probe_field ret_fields[PROBE_ARGS],
			   unsigned int *ret_nr);

#endif /* RECORD_PROBE_TYPES_H */
