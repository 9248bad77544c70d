/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks that arrive when their task returns to user space, which may be long after the event.
 * Until then a cookie stands for the stack.
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

/* Sets the stack of a cookie, which arrived at ts. */
int ftrace_cookies__resolve(struct ftrace_cookies *c, uint64_t cookie, uint64_t value, uint64_t ts);
bool ftrace_cookies__is_known(const struct ftrace_cookies *c, uint64_t cookie);
/*
 * The cookie's stack (ftrace_stack_value()); only the first call returns a stack as new.  If the
 * stack has not arrived yet, this is a placeholder, which becomes an alias of the stack later.
 */
int ftrace_cookies__value(struct ftrace_cookies *c, uint64_t cookie, uint64_t ts,
			  uint64_t *ret_value);
/* Cookies whose stacks arrived before ts will not be looked up any more. */
void ftrace_cookies__forget(struct ftrace_cookies *c, uint64_t ts);

/* How many stacks arrived after their events had been written. */
uint64_t ftrace_cookies__late(const struct ftrace_cookies *c);

#endif /* RECORD_FTRACE_COOKIES_H */
