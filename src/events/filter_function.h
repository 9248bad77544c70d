/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The kernel's notion of a function in "FIELD.function == NAME": kallsyms_lookup_name() and
 * kallsyms_lookup_size_offset() of kernel/kallsyms.c, computed from the text of /proc/kallsyms.
 * With CONFIG_KALLSYMS_ALL that is any symbol of the kernel, including data.
 */
#ifndef EVENTS_FILTER_FUNCTION_H
#define EVENTS_FILTER_FUNCTION_H

#include <stdint.h>

struct filter_functions;

/* path is read by the first lookup.  -ENOMEM. */
int filter_functions__new(const char *path, struct filter_functions **ret_functions);
void filter_functions__free(struct filter_functions *f);

/*
 * The callback of struct filter_features; functions is a struct filter_functions.  -ENOENT: no such
 * function, -ENODATA: the file hides addresses (kernel.kptr_restrict), or cannot be read.
 */
int filter_functions__range(void *functions, const char *name, uint64_t addr, uint64_t *ret_start,
			    uint64_t *ret_end);

#endif /* EVENTS_FILTER_FUNCTION_H */
