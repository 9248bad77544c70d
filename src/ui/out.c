// SPDX-License-Identifier: GPL-2.0-only
/* Buffers what a command prints, through a pager where there is a terminal. */
#include "out.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "ui.h"

static bool in_path(const char *program)
{
	_cleanup_free_ char *path = strdup(getenv("PATH") ?: "");
	char *rest = path, *dir, file[4096];

	while (path && (dir = strsep(&rest, ":"))) {
		snprintf(file, sizeof(file), "%s/%s", dir, program);
		if (!access(file, X_OK))
			return true;
	}
	return false;
}

static const char *pager_command(void)
{
	const char *pager = getenv("STACKONCE_PAGER") ?: getenv("PAGER");

	if (!pager)
		return in_path("less") ? "less" : NULL;
	return *pager && strcmp(pager, "cat") ? pager : NULL;
}

/* Puts the pager between us and the terminal; without one, output goes there directly. */
static void start_pager(struct out *o)
{
	const char *command = pager_command();
	int fds[2];
	pid_t pid;

	if (!command || pipe(fds))
		return;
	pid = fork();
	if (pid == 0) {
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		close(fds[1]);
		setenv("LESS", "RFX", 0);
		signal(SIGPIPE, SIG_DFL);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(fds[0]);
	if (pid > 0) {
		fflush(stdout);
		dup2(fds[1], STDOUT_FILENO);
		/* Ctrl-C is the pager's: it ends, and then our next write fails. */
		signal(SIGINT, SIG_IGN);
		o->pager = pid;
	}
	close(fds[1]);
}

void out__open(struct out *o, bool may_page)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	memset(o, 0, sizeof(*o));
	/* A reader that goes away (| head) is an error of write(2), not a signal. */
	signal(SIGPIPE, SIG_IGN);
	o->terminal = isatty(STDOUT_FILENO);
	o->colour = o->terminal && !(no_color && *no_color) && term && strcmp(term, "dumb");
	if (o->terminal && may_page)
		start_pager(o);
}

int out__flush(struct out *o)
{
	size_t done = 0;
	ssize_t n;

	if (!o->err && strbuf__failed(&o->b))
		o->err = -ENOMEM;
	while (!o->err && done < o->b.len) {
		n = write(STDOUT_FILENO, o->b.s + done, o->b.len - done);
		if (n >= 0)
			done += n;
		else if (errno != EINTR)
			o->err = -errno;
	}
	strbuf__reset(&o->b);
	return o->err;
}

int out__close(struct out *o, int code)
{
	out__flush(o);
	if (o->pager) {
		close(STDOUT_FILENO);
		while (waitpid(o->pager, NULL, 0) < 0 && errno == EINTR)
			;
	}
	strbuf__free(&o->b);
	if (!o->err || o->err == -EPIPE)
		return code;
	log_err(o->err, "write the output");
	return CMD_FAILURE;
}

const char *out__colour(const struct out *o, enum out_colour c)
{
	static const char *const codes[] = {
		[OUT_PLAIN] = "\033[0m", [OUT_HEAD] = "\033[1m",  [OUT_NUMBER] = "\033[36m",
		[OUT_DIM] = "\033[2m",	 [OUT_WARN] = "\033[31m",
	};

	return o->colour ? codes[c] : "";
}

#define EACH_BYTE(v) ((v)*0x0101010101010101ULL)

/* Whether a byte of w is below 0x20 or above 0x7e. */
static inline bool has_unplain(uint64_t w)
{
	return (((w - EACH_BYTE(0x20)) & ~w) | w | (w + EACH_BYTE(1))) & EACH_BYTE(0x80);
}

/* Whether a byte of w equals c. */
static inline bool has_byte(uint64_t w, unsigned char c)
{
	w ^= EACH_BYTE(c);
	return (w - EACH_BYTE(1)) & ~w & EACH_BYTE(0x80);
}

static inline uint64_t load_tail(const char *s, size_t n)
{
	uint64_t w = EACH_BYTE(' ');

	memcpy(&w, s, n);
	return w;
}

static bool is_plain(const char *s, size_t n)
{
	uint64_t w;

	for (; n >= 8; s += 8, n -= 8) {
		memcpy(&w, s, 8);
		if (has_unplain(w))
			return false;
	}
	return !has_unplain(load_tail(s, n));
}

static inline bool json_special(uint64_t w)
{
	return has_unplain(w) || has_byte(w, '"') || has_byte(w, '\\') || has_byte(w, '<') ||
	       has_byte(w, '>') || has_byte(w, '&');
}

void out__safe(struct strbuf *b, const char *s, size_t n)
{
	if (is_plain(s, n))
		strbuf__add(b, s, n);
	else
		strbuf__safe(b, s, n);
}

void out__json(struct strbuf *b, const char *s, size_t n)
{
	bool special = false;
	uint64_t w;
	size_t i;

	for (i = 0; i + 8 <= n && !special; i += 8) {
		memcpy(&w, s + i, 8);
		special = json_special(w);
	}
	if (special || json_special(load_tail(s + i, n - i))) {
		strbuf__json(b, s, n);
		return;
	}
	strbuf__putc(b, '"');
	strbuf__add(b, s, n);
	strbuf__putc(b, '"');
}

void out__number(struct strbuf *b, uint64_t v, int width)
{
	char digits[32];
	int i = sizeof(digits), n = 0;

	do {
		if (n && n % 3 == 0)
			digits[--i] = ',';
		digits[--i] = '0' + v % 10;
		v /= 10;
		n++;
	} while (v);
	n = sizeof(digits) - i;
	if (width > n)
		strbuf__pad(b, ' ', width - n);
	strbuf__add(b, digits + i, n);
}

void out__bytes(struct strbuf *b, uint64_t v)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB" };
	double d = v;
	unsigned int i = 0;

	for (; d >= 1000 && i < ARRAY_SIZE(units) - 1; i++)
		d /= 1000;
	if (i)
		strbuf__printf(b, "%.2f %s", d, units[i]);
	else
		strbuf__printf(b, "%" PRIu64 " B", v);
}

void out__percent(struct strbuf *b, uint64_t part, uint64_t whole, int width)
{
	strbuf__printf(b, "%*.2f", width, whole ? 100.0 * part / whole : 0.0);
}
