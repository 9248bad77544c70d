/* SPDX-License-Identifier: GPL-2.0-only */
/* Keeps what a library logs last: log_set_sink(keep_message, NULL). */
#ifndef LAST_MESSAGE_H
#define LAST_MESSAGE_H

#include <stdio.h>

#include "log.h"

static char last_message[1024];
static enum stk_log_level last_level __attribute__((unused));

static void keep_message(void *ctx, enum stk_log_level level, const char *message)
{
	last_level = level;
	snprintf(last_message, sizeof(last_message), "%s", message);
}

#endif /* LAST_MESSAGE_H */
