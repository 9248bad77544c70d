/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys of stacks and frames that are the same in every recording, on every host, for the same
 * frames.  docs/stack-key.md has the bytes that are hashed, and why.
 */
#ifndef QUERY_STACK_KEY_H
#define QUERY_STACK_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"

#define STACK_KEY_LEN 16
#define STACK_KEY_WORK 64 /* of a frame, for stk_reader__charge() */

struct stack_key {
	uint8_t v[STACK_KEY_LEN];
};

/* What the keys of a recording depend on beside its frames. */
struct stack_keys {
	struct stk_reader *r;
	uint8_t build_id[64]; /* of the kernel */
	uint32_t build_id_len; /* 0: unknown */
	uint64_t text; /* address of its _stext; 0: unknown */
	const char *boot_id; /* "": unknown */
};

/* r is borrowed, reads one recording, and has read its metadata. */
void stack_keys__init(struct stack_keys *k, struct stk_reader *r);

/*
 * Whether it is a function of the kernel's own text, whose distance from k->text is the same
 * wherever that is; other functions without a module are not, as those of trampolines.
 */
bool stack_keys__is_text(const struct stack_keys *k, const struct stk_frame *f);
struct stack_key stack_key__of_frame(const struct stack_keys *k, const struct stk_frame *f);
/* From the keys of its frames, innermost first. */
struct stack_key stack_key__of_frames(enum stk_stack_end end, const struct stack_key *frames,
				      uint32_t nr);
/* Of a stack of the recording; negative errno. */
int stack_key__of_stack(const struct stack_keys *k, uint32_t number, struct stack_key *ret_key);

#endif /* QUERY_STACK_KEY_H */
