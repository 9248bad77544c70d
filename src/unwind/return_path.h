/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the frame of code that has no table and whose start is unknown, by following it until it
 * returns: what it does to the stack on that way says where the return address is now.  If the code
 * does not get there, because the call before it never returns, the answer is wrong.  So it counts
 * as a guess (UNW_CFA_GUESS), unless the way is nothing but the end of a function.
 */
#ifndef UNWIND_RETURN_PATH_H
#define UNWIND_RETURN_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules.h"

#define RETURN_PATH_MAX 512 /* bytes of code that are followed at most */

/*
 * code: from the instruction that the frame executes next.  false: the way to a return was not
 * found.  *ret_len: the answer depends on so many bytes of the code.
 */
bool return_path__find(const uint8_t *code, size_t len, struct unw_state *ret_state,
		       size_t *ret_len);

#endif /* UNWIND_RETURN_PATH_H */
