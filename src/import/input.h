/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a whole file, pipe or tracefs file into memory. */
#ifndef IMPORT_INPUT_H
#define IMPORT_INPUT_H

#include <stddef.h>

#define INPUT_MAX ((size_t)4 << 30) /* larger files are refused with -EFBIG */

/* path "-" is standard input.  The caller frees *ret_data, which is NUL-terminated. */
int input__read(const char *path, char **ret_data, size_t *ret_len);

#endif /* IMPORT_INPUT_H */
