/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks that come when their task goes back to user space, long after the event perhaps: a
 * cookie stands for the stack until then.
 */
#ifndef RECORD_FTRACE_COOKIES_H
#define RECORD_FTRACE_COOKIES_H

#include <stdbool.h>
#include <stdint.h>

struct ftrace_cookies;
struct stk_writer;

/* Borrows w. */
int ftrace_cookies__new(struct stk_writer *w, struct ftrace_cookies **ret_cookies);
void ftrace_cookies__free(struct ftrace_cookies *c);

/* The stack of a cookie has come. */
int ftrace_cookies__resolve(struct ftrace_cookies *c, uint64_t cookie, uint64_t value, uint64_t ts);
bool ftrace_cookies__is_known(const struct ftrace_cookies *c, uint64_t cookie);
/*
 * The cookie's stack (ftrace_stack_value()), new for the first who asks; while its stack has not come, that
 * of one that says so, and stands for it.
 */
int ftrace_cookies__value(struct ftrace_cookies *c, uint64_t cookie, uint64_t ts,
			  uint64_t *ret_value);
/* Nobody will ask any more for cookies whose stacks came before ts. */
void ftrace_cookies__forget(struct ftrace_cookies *c, uint64_t ts);

/* How many stacks came after their events had been written. */
uint64_t ftrace_cookies__late(const struct ftrace_cookies *c);

#endif /* RECORD_FTRACE_COOKIES_H */
