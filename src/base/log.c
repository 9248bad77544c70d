/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Passes every message to the one callback that is set. */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static stk_log_fn sink;
static void *sink_ctx;

void log_set_sink(stk_log_fn fn, void *ctx)
{
	sink = fn;
	sink_ctx = ctx;
}

/*
 * libstackonce returns -ENOBUFS when a recording needs more than its size can justify.  strerror()
 * would talk of buffer space for sockets.
 */
static const char *error_text(int err)
{
	if (err == ENOBUFS)
		return "it asks for more memory or work than a recording of its size can need: "
		       "it is damaged or malicious";
	return strerror(err);
}

int log_msg(enum stk_log_level level, int err, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	if (!sink)
		return err;
	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0)
		return err;
	if (err && (size_t)n < sizeof(line))
		snprintf(line + n, sizeof(line) - n, ": %s", error_text(err < 0 ? -err : err));
	sink(sink_ctx, level, line);
	return err;
}
