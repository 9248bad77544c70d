/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments and return values of kernel functions, as the kernel's type information (BTF) has them. */
#ifndef RECORD_PROBE_TYPES_H
#define RECORD_PROBE_TYPES_H

#include <stdbool.h>

#include "probe_priv.h"

struct probe_types;

/* An empty one, of which nothing is known, where the kernel has no BTF.  -ENOMEM. */
int probe_types__load(struct probe_types **ret_types);
void probe_types__free(struct probe_types *t);

/*
 * The fields of a record of this function, of a module or ("") of the kernel itself; *ret_nr: how many.
 * Arguments are described as long as each is in a register of its own: up to the first that is wider,
 * is a floating point number, or is the seventh.  Where nothing is known they are arg1 .. arg6.  With
 * is_return the one field "ret", none for void and for what one register cannot hold.
 */
void probe_types__describe(struct probe_types *t, const char *function, const char *module,
			   bool is_return, struct probe_field ret_fields[PROBE_ARGS],
			   unsigned int *ret_nr);

#endif /* RECORD_PROBE_TYPES_H */
