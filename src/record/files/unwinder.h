/* SPDX-License-Identifier: GPL-2.0-only */
/* Unwinds a deferred user stack, for which the kernel side lacked an unwind table. */
#ifndef RECORD_UNWINDER_H
#define RECORD_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

struct user_files;

/* Words of a stack, including markers and its end. */
#define UNWINDER_WORDS 256

/*
 * copy: the deferred stack of len bytes.  ret_words gets the words that the kernel side found,
 * followed by those found here, with the kernel side's file ids.  *ret_end: enum stk_stack_end.
 * -EPROTO: copy is invalid.
 */
int unwinder__walk(struct user_files *files, const struct wire_copy *copy, size_t len, bool fp_only,
		   uint64_t ret_words[UNWINDER_WORDS], unsigned int *ret_nr, unsigned int *ret_end);

#endif /* RECORD_UNWINDER_H */
