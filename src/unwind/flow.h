/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a function's frame is at each of its instructions, found by following its code from the
 * entry.  What two ways to an instruction do not agree on is not known there; what no way leads to
 * is not known either.
 */
#ifndef UNWIND_AMD64_FLOW_H
#define UNWIND_AMD64_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules.h"

#define FLOW_MAX_LEN (1u << 16) /* of a function: longer ones are not worth it */

struct flow;

/* Code that the function calls, jumps to, or takes the address of; from its start. */
typedef void (*flow_found_fn)(void *ctx, int64_t offset, bool is_address);

/* NULL: there is no memory. */
struct flow *flow__new(void);
void flow__free(struct flow *f);
/* Makes room for functions of that many bytes.  -ENOMEM. */
int flow__reserve(struct flow *f, size_t len);

enum flow_flags {
	FLOW_WHOLE = 1 << 0, /* the code is known to be all of the function, and nothing else */
	FLOW_OUTERMOST = 1 << 1, /* nothing called it */
};

/*
 * Follows a function, for which there must be room; found may be NULL.  false: it returns where its
 * return address is not, so that something is not as it seems.
 */
bool flow__run(struct flow *f, const uint8_t *code, size_t len, unsigned int flags,
	       flow_found_fn found, void *ctx);

/* The next instruction at or after the offset that was reached, and what is known there. */
bool flow__next(const struct flow *f, size_t offset, size_t *ret_offset,
		struct unw_state *ret_state, size_t *ret_len);

#endif /* UNWIND_AMD64_FLOW_H */
