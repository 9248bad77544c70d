/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call site of a user stack: its innermost frame outside the C library, the dynamic linker and
 * the vdso, or its innermost frame if there is no other.
 */
#ifndef ANALYZE_CALL_SITE_H
#define ANALYZE_CALL_SITE_H

#include "stackonce.h"

struct call_site {
	uint32_t file; /* 0: unknown */
	uint64_t ip; /* offset in file; 0 with file 0: no user stack */
	bool guessed; /* the frame is a guess in this stack */
};

struct call_sites; /* caches call sites by stack id */

int call_sites__new(struct stk_reader *r, struct call_sites **ret_sites); /* r is borrowed */
void call_sites__free(struct call_sites *s);
/* -ENOMEM. */
int call_sites__of(struct call_sites *s, uint32_t ustack, struct call_site *ret_site);
/* The frame of the call site, with its names; false: the stack has no frame. */
bool call_site__frame(struct stk_reader *r, uint32_t ustack, struct stk_frame *ret_frame);

#endif /* ANALYZE_CALL_SITE_H */
