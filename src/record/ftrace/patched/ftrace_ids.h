/* SPDX-License-Identifier: GPL-2.0-only */
/* The stacks behind the ids of a kernel's stack map, read from stack_map_bin when an id is new. */
#ifndef RECORD_FTRACE_IDS_H
#define RECORD_FTRACE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"

struct ftrace_ids;
struct ftrace_instance;

/* file: "stack_map_bin" or "user_stack_map_bin" of the instance.  Borrows i and file. */
int ftrace_ids__new(const struct ftrace_instance *i, const char *file, struct ftrace_ids **ret_ids);
void ftrace_ids__free(struct ftrace_ids *ids);

/* The map may have grown: the next unknown id causes it to be read again. */
void ftrace_ids__refresh(struct ftrace_ids *ids);

/*
 * The recording's number for id, or for id on top of below (0: nothing below).  0: the caller has
 * to set it.  NULL: out of memory.
 */
uint32_t *ftrace_ids__number(struct ftrace_ids *ids, uint32_t id, uint32_t below);

/*
 * The words of id, followed by those of below, at most max.  *ret_cut: there were more, or the
 * kernel truncated the stack.  -ENOENT: the map does not contain the id.
 */
int ftrace_ids__frames(struct ftrace_ids *ids, uint32_t id, uint32_t below, uint64_t *ret_words,
		       unsigned int max, unsigned int *ret_nr, bool *ret_cut);

/* A stack as kept by ftrace_match.h: its number, its end, and whether it is new with its event. */
static inline uint64_t ftrace_stack_value(uint32_t number, enum stk_stack_end end, bool is_new)
{
	return (uint64_t)end << 40 | (uint64_t)number << 1 | is_new;
}

static inline uint32_t ftrace_stack_number(uint64_t value)
{
	return value >> 1;
}

static inline enum stk_stack_end ftrace_stack_end(uint64_t value)
{
	return value >> 40;
}

static inline bool ftrace_stack_is_new(uint64_t value)
{
	return value & 1;
}

static inline uint64_t ftrace_stack_known(uint64_t value)
{
	return value & ~1ull;
}

#endif /* RECORD_FTRACE_IDS_H */
