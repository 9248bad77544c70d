/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a program called from: of a user stack the innermost frame that is not in the C library, the
 * dynamic linker or the vdso.  A stack with no other frames is called from its innermost one.
 */
#ifndef ANALYZE_CALL_SITE_H
#define ANALYZE_CALL_SITE_H

#include "stackonce.h"

struct call_site {
	uint32_t file; /* 0: unknown */
	uint64_t ip; /* offset in it; 0 with file 0: no user stack */
};

struct call_sites; /* remembered by stack */

int call_sites__new(struct stk_reader *r, struct call_sites **ret_sites); /* r is borrowed */
void call_sites__free(struct call_sites *s);
/* -ENOMEM. */
int call_sites__of(struct call_sites *s, uint32_t ustack, struct call_site *ret_site);
/* The frame itself, for its names; false where the stack has none. */
bool call_site__frame(struct stk_reader *r, uint32_t ustack, struct stk_frame *ret_frame);
/* The first number of the same stack; 0 for 0. */
uint32_t stack__first(const struct stk_reader *r, uint32_t number);

#endif /* ANALYZE_CALL_SITE_H */
