// SPDX-License-Identifier: GPL-2.0-only
/*
 * The child that reads DWARF, and what is said with it: an address there, a message of lines back.
 * A line is {u32 number, function, NUL, source, NUL}; an unknown string is empty.  A message is a
 * byte of no meaning and lines.
 */
#include "line_reader.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"

#define MAX_LINES 64
#define MAX_REPLY (64u << 10) /* bytes: what does not fit is not said */
#define MAX_MEMORY (8ULL << 30) /* that the child may take, files mapped by it included */
#define MAX_SECONDS 120 /* of one answer: the first one looks at all units */

struct line_reader {
	pid_t pid;
	int socket; /* -1: the child is gone */
	char reply[MAX_REPLY];
};

/* ---- the child --------------------------------------------------------------------------------- */

static size_t put_string(char *reply, size_t at, const char *s)
{
	size_t len = s ? strlen(s) + 1 : 1;

	if (len > MAX_REPLY - at)
		return MAX_REPLY + 1;
	memcpy(reply + at, s ? s : "", len);
	return at + len;
}

static size_t put_lines(char *reply, const struct usyms_line *lines, unsigned int nr)
{
	size_t done = 1; /* an empty message would look like the end */

	for (unsigned int i = 0; i < nr; i++) {
		size_t at = done + sizeof(lines[i].line);

		if (at > MAX_REPLY)
			break;
		memcpy(reply + done, &lines[i].line, sizeof(lines[i].line));
		at = put_string(reply, at, lines[i].function);
		if (at <= MAX_REPLY)
			at = put_string(reply, at, lines[i].source);
		if (at > MAX_REPLY)
			break;
		done = at;
	}
	return done;
}

/* The memory limit counts what the parent had, too. */
static void limit_memory(void)
{
	_cleanup_fclose_ FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;
	struct rlimit limit;

	if (!statm || fscanf(statm, "%llu", &pages) != 1)
		pages = 0;
	limit.rlim_cur = limit.rlim_max = pages * sysconf(_SC_PAGESIZE) + MAX_MEMORY;
	setrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = limit.rlim_max = 0;
	setrlimit(RLIMIT_CORE, &limit);
}

static int fd_compare(const void *pa, const void *pb)
{
	int a = *(const int *)pa, b = *(const int *)pb;

	return a < b ? -1 : a > b;
}

/* What else the parent has open, a pipe or a device, is not held by the child. */
static void close_others(int socket, int fd, int alt_fd)
{
	int keep[] = { 2, socket, fd, alt_fd };
	unsigned int from = 3;

	qsort(keep, ARRAY_SIZE(keep), sizeof(*keep), fd_compare);
	for (size_t i = 0; i < ARRAY_SIZE(keep); i++) {
		if (keep[i] > (int)from)
			close_range(from, keep[i] - 1, 0);
		from = MAX(keep[i], 2) + 1;
	}
	close_range(from, ~0U, 0);
}

static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void child_main(int socket, int fd, int alt_fd) __attribute__((noreturn));

static void child_main(int socket, int fd, int alt_fd)
{
	struct usyms_line lines[MAX_LINES];
	static char reply[MAX_REPLY];
	struct dwarf_lines *d;
	uint64_t vaddr;

	reset_signals();
	close_others(socket, fd, alt_fd);
	limit_memory();
	alarm(MAX_SECONDS);
	d = dwarf_lines__new(fd, alt_fd);
	for (;;) {
		unsigned int nr;

		alarm(0);
		if (recv(socket, &vaddr, sizeof(vaddr), 0) != sizeof(vaddr))
			_exit(0);
		alarm(MAX_SECONDS);
		nr = d ? dwarf_lines__find(d, vaddr, lines, MAX_LINES) : 0;
		if (send(socket, reply, put_lines(reply, lines, nr), MSG_NOSIGNAL) < 0)
			_exit(0);
	}
}

/* ---- the parent -------------------------------------------------------------------------------- */

int line_reader__new(int fd, int alt_fd, struct line_reader **ret_reader)
{
	_cleanup_free_ struct line_reader *r = malloc(sizeof(*r));
	int sockets[2];

	if (!r)
		return -ENOMEM;
	/* Messages, so that an answer comes whole or not at all. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	r->pid = fork();
	if (!r->pid)
		child_main(sockets[1], fd, alt_fd);
	close(sockets[1]);
	if (r->pid < 0) {
		int err = -errno;

		close(sockets[0]);
		return err;
	}
	r->socket = sockets[0];
	*ret_reader = take_ptr(r);
	return 0;
}

static void child_end(struct line_reader *r)
{
	if (r->socket < 0)
		return;
	close(r->socket);
	r->socket = -1;
	kill(r->pid, SIGKILL);
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void line_reader__free(struct line_reader *r)
{
	if (!r)
		return;
	child_end(r);
	free(r);
}

/* The answer's length; -EIO: the child has ended. */
static ssize_t ask(struct line_reader *r, uint64_t vaddr)
{
	ssize_t n = -1;

	if (r->socket < 0)
		return -EIO;
	if (send(r->socket, &vaddr, sizeof(vaddr), MSG_NOSIGNAL) == sizeof(vaddr)) {
		do {
			n = recv(r->socket, r->reply, sizeof(r->reply), 0);
		} while (n < 0 && errno == EINTR);
	}
	if (n > 0)
		return n;
	child_end(r);
	return -EIO;
}

/* A string of the answer; false: it is not one. */
static bool take_string(const char **p, const char *end, const char **ret_string)
{
	const char *nul = memchr(*p, '\0', end - *p);

	if (!nul)
		return false;
	*ret_string = nul > *p ? *p : NULL;
	*p = nul + 1;
	return true;
}

int line_reader__find(struct line_reader *r, uint64_t vaddr, struct usyms_line *ret_lines,
		      unsigned int max)
{
	const char *p = r->reply + 1, *end;
	ssize_t len = ask(r, vaddr);
	unsigned int nr = 0;

	if (len < 0)
		return len;
	end = r->reply + len;
	while (nr < max && (size_t)(end - p) > sizeof(ret_lines->line)) {
		struct usyms_line line;

		memcpy(&line.line, p, sizeof(line.line));
		p += sizeof(line.line);
		if (!take_string(&p, end, &line.function) || !take_string(&p, end, &line.source))
			break;
		ret_lines[nr++] = line;
	}
	return nr ? (int)nr : -ENOENT;
}
