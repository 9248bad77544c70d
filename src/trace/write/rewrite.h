/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies a recording and adds to its file map, mainly symbols.  Existing blocks stay unchanged; new
 * ones go before END, or after the last whole block of a torn recording, which stays without END.
 */
#ifndef TRACE_REWRITE_H
#define TRACE_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stackonce.h"

struct stk_rewrite;

/*
 * -EINVAL: not a recording, or not a regular file; -ENOTSUP: unsupported format version; -EBADMSG:
 * blocks follow a damaged one and would be lost.
 */
int stk_rewrite__open(const char *path, struct stk_rewrite **ret_rewrite);
void stk_rewrite__free(struct stk_rewrite *rw);

/* As stk_writer__file() and stk_writer__user_symbols(), with the recording's file numbers. */
int stk_rewrite__file(struct stk_rewrite *rw, const struct stk_file *file);
int stk_rewrite__user_symbols(struct stk_rewrite *rw, uint32_t file,
			      const struct stk_user_symbol *symbols, size_t nr);

/*
 * True if a process has the recording open for writing, as far as the file system can detect it.
 * A busy recording must not be replaced.
 */
bool stk_rewrite__is_busy(const struct stk_rewrite *rw);
/* The file mode of the recording, for a copy under another name. */
mode_t stk_rewrite__mode(const struct stk_rewrite *rw);
/* True if there is anything to add. */
bool stk_rewrite__is_changed(const struct stk_rewrite *rw);

/* Writes the recording with the additions to fd.  To be called once. */
int stk_rewrite__write(struct stk_rewrite *rw, int fd);

#endif /* TRACE_REWRITE_H */
