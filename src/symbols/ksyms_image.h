/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own functions as one piece of memory, for whoever keeps them: they are the same as
 * long as the kernel runs.  Reading /proc/kallsyms takes ten times as long.
 */
#ifndef SYMBOLS_KSYMS_IMAGE_H
#define SYMBOLS_KSYMS_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct ksyms_entry {
	uint64_t start;
	uint64_t size;
	uint32_t name, module; /* offsets in the pool, module 0: the kernel itself */
};

/* A table of functions, sorted by address, and the names of all. */
struct ksyms_table {
	struct ksyms_entry *entries;
	size_t nr, cap;
	char *pool; /* NUL-terminated texts */
	size_t pool_len, pool_cap;
};

void ksyms_table__free(struct ksyms_table *t);

/* Packs the entries without a module.  -ERANGE: they do not fit.  The caller frees *ret_image. */
int ksyms_image__pack(const struct ksyms_table *t, void **ret_image, size_t *ret_len);
/* The image may hold any bytes.  -EBADMSG: it is not an image. */
int ksyms_image__unpack(const void *image, size_t len, struct ksyms_table *ret_table);

#endif /* SYMBOLS_KSYMS_IMAGE_H */
