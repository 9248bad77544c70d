/* SPDX-License-Identifier: GPL-2.0-only */
/* The whole of a file, pipe or tracefs file in memory. */
#ifndef IMPORT_INPUT_H
#define IMPORT_INPUT_H

#include <stddef.h>

#define INPUT_MAX ((size_t)4 << 30) /* larger files are refused with -EFBIG */

/* path "-" is standard input.  *ret_data is the caller's (free) and has a NUL behind its end. */
int input__read(const char *path, char **ret_data, size_t *ret_len);

#endif /* IMPORT_INPUT_H */
