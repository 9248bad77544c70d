// SPDX-License-Identifier: GPL-2.0-only
/* The parent of the child that reads DWARF.  Messages of the child are as untrusted as the file. */
#include "line_reader.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "clock.h"
#include "debug_file.h"
#include "line_messages.h"

#define MAX_SECONDS 120 /* for an answer; the first one reads all units */
#define MAX_OPENS 64 /* for an answer; a unit's file is searched in two or three places */

struct line_reader {
	const struct debug_dirs *dirs;
	pid_t pid;
	int socket; /* -1: the child is gone */
	char reply[LINE_MESSAGE_MAX];
};

int line_reader__new(const struct debug_dirs *dirs, int fd, int alt_fd,
		     struct line_reader **ret_reader)
{
	_cleanup_free_ struct line_reader *r = malloc(sizeof(*r));
	pid_t parent = getpid();
	int sockets[2];

	if (!r)
		return -ENOMEM;
	/* SOCK_SEQPACKET, so that an answer arrives as a whole or not at all. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	r->dirs = dirs;
	r->pid = fork();
	if (!r->pid)
		line_child__main(parent, sockets[1], fd, alt_fd);
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

/* The length of a message that arrives before until_ns, else <= 0. */
static ssize_t receive(struct line_reader *r, uint64_t until_ns)
{
	struct pollfd poll_fd = { .fd = r->socket, .events = POLLIN };
	uint64_t now;

	do {
		now = clock_ns(CLOCK_MONOTONIC);
		if (now >= until_ns)
			return -ETIMEDOUT;
		if (poll(&poll_fd, 1, (until_ns - now) / 1000000 + 1) == 1)
			return recv(r->socket, r->reply, sizeof(r->reply), MSG_DONTWAIT);
	} while (true);
}

/* Sends the file that the child asks for, if it may have it. */
static int send_file(struct line_reader *r, size_t len)
{
	char path[PATH_MAX], control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = { "", 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	_cleanup_close_ int fd = -1;

	if (len > sizeof(path))
		return -EINVAL;
	memcpy(path, r->reply + 1, len - 1);
	path[len - 1] = '\0';
	if (!debug_dirs__open_split(r->dirs, path, &fd)) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&msg) = (struct cmsghdr){
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(fd)),
		};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &fd, sizeof(fd));
	}
	return sendmsg(r->socket, &msg, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

/* Serves file requests up to the answer; returns the length of the answer. */
static ssize_t wait_answer(struct line_reader *r)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + MAX_SECONDS * SECOND_NS;
	unsigned int opens;
	ssize_t len;

	for (opens = 0; opens <= MAX_OPENS; opens++) {
		len = receive(r, until_ns);
		if (len <= 0 || *r->reply == LINE_MESSAGE_ANSWER)
			return len;
		if (*r->reply != LINE_MESSAGE_OPEN || send_file(r, len))
			return -EIO;
	}
	return -EIO;
}

/* Returns the length of the answer; -EIO: the child has exited. */
static ssize_t send_query(struct line_reader *r, uint64_t vaddr)
{
	ssize_t len = -EIO;

	if (r->socket < 0)
		return -EIO;
	if (send(r->socket, &vaddr, sizeof(vaddr), MSG_NOSIGNAL) == sizeof(vaddr))
		len = wait_answer(r);
	if (len > 0)
		return len;
	child_end(r);
	return -EIO;
}

/* Reads a string of the answer; false: invalid. */
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
	ssize_t len = send_query(r, vaddr);
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
