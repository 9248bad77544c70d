/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds a function's frame at each of its instructions by following the code from the entry.  Where
 * two paths to an instruction disagree, the value is unknown; so is the state of code that no path
 * reaches.
 */
#ifndef UNWIND_AMD64_FLOW_H
#define UNWIND_AMD64_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules.h"

#define FLOW_MAX_LEN (1u << 16) /* of a function, in bytes: longer ones cost too much */

struct flow;

/* Reports code that the function calls, jumps to or takes the address of, relative to its start. */
typedef void (*flow_found_fn)(void *ctx, int64_t offset, bool is_address);

/* NULL: out of memory. */
struct flow *flow__new(void);
void flow__free(struct flow *f);
/* Makes room for functions of len bytes.  -ENOMEM. */
int flow__reserve(struct flow *f, size_t len);

enum flow_flags {
	FLOW_WHOLE = 1 << 0, /* the code is known to be exactly the function */
	FLOW_OUTERMOST = 1 << 1, /* the function has no caller */
};

/*
 * Follows a function, for which flow__reserve() has made room; found may be NULL.  false: a return
 * does not find its return address, so the code was misunderstood.
 */
bool flow__run(struct flow *f, const uint8_t *code, size_t len, unsigned int flags,
	       flow_found_fn found, void *ctx);

/* Finds the next reached instruction at or after the offset, and its state. */
bool flow__next(const struct flow *f, size_t offset, size_t *ret_offset,
		struct unw_state *ret_state, size_t *ret_len);

#endif /* UNWIND_AMD64_FLOW_H */
