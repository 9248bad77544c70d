// SPDX-License-Identifier: GPL-2.0-only
/* Messages of the commands: the log sink and usage errors. */
#include "ui.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "strbuf.h"

/* Writes each line at once: lines of several processes must not mix. */
static void message(const char *prefix, const char *msg)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	strbuf__puts(&b, "stackonce: ");
	strbuf__puts(&b, prefix);
	strbuf__safe(&b, msg, strlen(msg));
	strbuf__putc(&b, '\n');
	if (!strbuf__failed(&b))
		fwrite(b.s, 1, b.len, stderr);
}

static enum stk_log_level max_level = STK_LOG_WARN;

void ui__log(void *ctx, enum stk_log_level level, const char *msg)
{
	if (level <= max_level)
		message(level == STK_LOG_WARN ? "warning: " : "", msg);
}

void ui__set_log_level(enum stk_log_level level)
{
	max_level = level;
	log_set_sink(ui__log, NULL);
}

int ui__usage_error(const char *command, const char *fmt, ...)
{
	char line[512], prefix[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	snprintf(prefix, sizeof(prefix), "%s: ", command);
	message(prefix, line);
	fprintf(stderr, "Try 'stackonce %s --help'.\n", command);
	return CMD_USAGE;
}

int ui__print(const char *text)
{
	if (fputs(text, stdout) == EOF || fflush(stdout) == EOF)
		return CMD_FAILURE;
	return CMD_OK;
}
