// SPDX-License-Identifier: GPL-2.0-only
/* Messages of the commands: the log sink and usage errors. */
#include "ui.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "strbuf.h"
#include "text.h"

/* Lines that are held, and the number of those left out. */
static struct strbuf held;
static unsigned int nr_left_out;
static bool holds;

static void hold(const struct strbuf *line)
{
	if (held.len + line->len <= HELD_MESSAGES && !held.failed)
		strbuf__add(&held, line->s, line->len);
	else
		nr_left_out++;
}

bool ui__has_page(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb");
}

void ui__hold_messages(bool hold)
{
	flockfile(stderr);
	holds = hold && isatty(STDERR_FILENO);
	if (!hold && held.len)
		fwrite(held.s, 1, held.len, stderr);
	if (!hold && nr_left_out)
		fprintf(stderr, "stackonce: left out %s\n",
			text__count(nr_left_out, "more message").s);
	if (!hold)
		strbuf__free(&held);
	nr_left_out = hold ? nr_left_out : 0;
	funlockfile(stderr);
}

/* Writes each line at once: lines of several processes must not mix. */
static void message(const char *prefix, const char *msg)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	strbuf__puts(&b, "stackonce: ");
	strbuf__puts(&b, prefix);
	strbuf__safe(&b, msg, strlen(msg));
	strbuf__putc(&b, '\n');
	if (strbuf__failed(&b))
		return;
	flockfile(stderr); /* several threads may log */
	if (holds)
		hold(&b);
	else
		fwrite(b.s, 1, b.len, stderr);
	funlockfile(stderr);
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

int ui__flush(void)
{
	int err = fflush(stdout) ? -errno : ferror(stdout) ? -EIO : 0;

	if (err && err != -EPIPE)
		log_err(err, "write the output");
	return err ? CMD_FAILURE : CMD_OK;
}

int ui__print(const char *text)
{
	fputs(text, stdout);
	return ui__flush();
}
