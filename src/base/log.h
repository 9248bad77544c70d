/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* One sink for messages.  Libraries never print: they log here, and cmd/ prints. */
#ifndef LOG_H
#define LOG_H

#include "stackonce.h"

/* Messages go to fn; NULL drops them (the default).  Process-wide. */
void log_set_sink(stk_log_fn fn, void *ctx);

/*
 * Log "MESSAGE: strerror(-err)" (without the strerror part when err is 0) at level and return
 * err, so that a failure is one statement:  return log_err(err, "open '%s'", path);
 */
int log_msg(enum stk_log_level level, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_err(err, ...) log_msg(STK_LOG_ERROR, (err), __VA_ARGS__)
/* The same for a message that says why in its own words: without strerror(). */
#define log_why(err, ...)                               \
	({                                              \
		int why_err_ = (err);                   \
                                                        \
		log_msg(STK_LOG_ERROR, 0, __VA_ARGS__); \
		why_err_;                               \
	})
#define log_warn(...) ((void)log_msg(STK_LOG_WARN, 0, __VA_ARGS__))
#define log_debug(...) ((void)log_msg(STK_LOG_DEBUG, 0, __VA_ARGS__))

#endif /* LOG_H */
