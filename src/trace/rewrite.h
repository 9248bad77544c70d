/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Say more of the files of a recording that is there already: their symbols above all.  What it
 * holds stays as it is; what is new stands before its END, or behind the last whole block of a
 * torn recording, which stays without an END.
 */
#ifndef TRACE_REWRITE_H
#define TRACE_REWRITE_H

#include <stddef.h>
#include <stdint.h>

#include "stackonce.h"

struct stk_rewrite;

/*
 * -EINVAL: not a recording, or not a regular file; -ENOTSUP: of another format; -EBUSY: somebody
 * writes it; -EBADMSG: there are blocks behind a damaged one, and they would be lost.
 */
int stk_rewrite__open(const char *path, struct stk_rewrite **ret_rewrite);
/* Frees; the recording is as it was unless stk_rewrite__finish() returned 0. */
void stk_rewrite__free(struct stk_rewrite *rw);

/* Numbers are those of the recording; as stk_writer__file() and stk_writer__user_symbols(). */
int stk_rewrite__file(struct stk_rewrite *rw, const struct stk_file *file);
int stk_rewrite__user_symbols(struct stk_rewrite *rw, uint32_t file,
			      const struct stk_user_symbol *symbols, size_t nr);

/*
 * Puts a new file in the place of the old one, with its mode and, where that is allowed, its owner
 * and group; after a crash there is either of them.  A symbolic link stays and leads to it.
 */
int stk_rewrite__finish(struct stk_rewrite *rw);

#endif /* TRACE_REWRITE_H */
