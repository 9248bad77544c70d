/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A copy of a recording that says more of its files: their symbols above all.  What it holds stays as
 * it is; what is new stands before its END, or behind the last whole block of a
 * torn recording, which stays without an END.
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
 * -EINVAL: not a recording, or not a regular file; -ENOTSUP: of another format; -EBADMSG: there are
 * blocks behind a damaged one, and they would be lost.
 */
int stk_rewrite__open(const char *path, struct stk_rewrite **ret_rewrite);
void stk_rewrite__free(struct stk_rewrite *rw);

/* Numbers are those of the recording; as stk_writer__file() and stk_writer__user_symbols(). */
int stk_rewrite__file(struct stk_rewrite *rw, const struct stk_file *file);
int stk_rewrite__user_symbols(struct stk_rewrite *rw, uint32_t file,
			      const struct stk_user_symbol *symbols, size_t nr);

/* Whether somebody writes the recording, as far as the file system knows: do not replace it then. */
bool stk_rewrite__is_busy(const struct stk_rewrite *rw);
/* Its mode, for a copy elsewhere. */
mode_t stk_rewrite__mode(const struct stk_rewrite *rw);
/* Whether there is anything that the recording does not say already. */
bool stk_rewrite__is_changed(const struct stk_rewrite *rw);

/* The recording with what is new goes to fd, once. */
int stk_rewrite__write(struct stk_rewrite *rw, int fd);

#endif /* TRACE_REWRITE_H */
