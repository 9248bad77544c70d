/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks a user stack that came as a copy, because a table was not loaded in the kernel. */
#ifndef RECORD_UNWINDER_H
#define RECORD_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct user_files;

/* Words of a stack, markers and the mark of its end included. */
#define UNWINDER_WORDS 256

/*
 * copy, of len bytes, is from the kernel's side: its words are those found there, then what is found
 * here.  File ids are the kernel's.  *ret_end: enum stk_stack_end.  -EPROTO: it is damaged.
 */
int unwinder__walk(struct user_files *files, const struct wire_copy *copy, size_t len, bool fp_only,
		   uint64_t ret_words[UNWINDER_WORDS], unsigned int *ret_nr, unsigned int *ret_end);

#endif /* RECORD_UNWINDER_H */
