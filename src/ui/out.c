// SPDX-License-Identifier: GPL-2.0-only
/* Buffers the output of a command; on a terminal it goes through a pager. */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "ui.h"

#define DEFAULT_WIDTH 80

/* Before the pager stands between us and the terminal. */
static unsigned int terminal_width(void)
{
	struct winsize ws;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || !ws.ws_col)
		return DEFAULT_WIDTH;
	return ws.ws_col;
}

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

static pid_t pager; /* 0: none */
static int null_fd = -1;

static void wait_for_pager(void)
{
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

/*
 * Ctrl-C ends the reading, and what has been written remains in the pager until it is left.
 * Another thread may be writing, so standard output stays open.
 */
static void end_before_pager(int sig)
{
	int err = errno;

	dup2(null_fd, STDOUT_FILENO);
	wait_for_pager();
	signal(sig, SIG_DFL);
	raise(sig);
	errno = err;
}

/* A recorder at the other end of the pipe ends by Ctrl-C, too, and then its last events arrive. */
static bool reads_pipe(void)
{
	struct stat st;

	return !fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode);
}

/*
 * Starts the pager between us and the terminal; without a pager, output goes there directly.  If
 * the shell cannot run the pager, it says so and the output passes through cat(1).
 */
static void start_pager(void)
{
	_cleanup_free_ char *script = NULL;
	const char *command = pager_command();
	int fds[2];
	pid_t pid;

	if (!command ||
	    asprintf(&script, "%s\ncase $? in 126 | 127) exec cat ;; esac", command) < 0) {
		script = NULL;
		return;
	}
	if (pipe(fds))
		return;
	pid = fork();
	if (pid == 0) {
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		close(fds[1]);
		setenv("LESS", "RFX", 0);
		signal(SIGPIPE, SIG_DFL);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(127);
	}
	close(fds[0]);
	if (pid > 0) {
		fflush(stdout);
		dup2(fds[1], STDOUT_FILENO);
		pager = pid;
		null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (signal(SIGINT, SIG_IGN) != SIG_IGN && !reads_pipe())
			signal(SIGINT, end_before_pager);
	}
	close(fds[1]);
}

void out__open(struct out *o, bool may_page)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	memset(o, 0, sizeof(*o));
	o->json.out = &o->b;
	/* If the reader exits early (| head), write(2) fails; no signal. */
	signal(SIGPIPE, SIG_IGN);
	o->terminal = isatty(STDOUT_FILENO);
	o->width = o->terminal ? terminal_width() : DEFAULT_WIDTH;
	o->colour = o->terminal && !(no_color && *no_color) && term && strcmp(term, "dumb");
	if (o->terminal && may_page && !(term && !strcmp(term, "dumb")))
		start_pager();
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
	if (pager) {
		signal(SIGINT, SIG_IGN); /* it is the pager's from now on */
		close(STDOUT_FILENO);
		wait_for_pager();
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

void out__percent(struct strbuf *b, uint64_t part, uint64_t whole, int width)
{
	strbuf__printf(b, "%*.2f", width, whole ? 100.0 * part / whole : 0.0);
}
