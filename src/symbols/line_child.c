// SPDX-License-Identifier: GPL-2.0-only
/* The child that reads DWARF: drops its rights, answers queries by address, asks for files. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "confine.h"
#include "line_messages.h"
#include "line_reader.h"

#define MAX_LINES 64
#define MAX_MEMORY (1ULL << 30) /* beside the files themselves */
#define MAX_CPU 120 /* seconds; the first answer reads all units */

static struct {
	int socket, fd;
	char fd_name[64], path[PATH_MAX]; /* the file's link in /proc, and its path */
} child;

/* ---- system calls of libdw ------------------------------------------------------------------- */

/*
 * Units of split DWARF are in separate files; the parent opens a file only if it has split DWARF.
 */
static int request_open(const char *path)
{
	static char message[1 + PATH_MAX];
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = { message, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	size_t len = strnlen(path, PATH_MAX);
	struct cmsghdr *head;
	int fd = -ENOENT;

	if (len == PATH_MAX)
		return -ENAMETOOLONG;
	message[0] = LINE_MESSAGE_OPEN;
	memcpy(message + 1, path, len);
	if (send(child.socket, message, 1 + len, MSG_NOSIGNAL) < 0)
		_exit(0);
	msg.msg_control = control;
	msg.msg_controllen = sizeof(control);
	if (recvmsg(child.socket, &msg, 0) <= 0)
		_exit(0);
	head = CMSG_FIRSTHDR(&msg);
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

/* libdw reads the file's path from its link in /proc, to which the child has no access any more. */
static ssize_t link_of_file(const char *path, char *buf, size_t size)
{
	size_t len = strlen(child.path);

	if (strcmp(path, child.fd_name) || !len)
		return -EINVAL; /* not a link */
	len = MIN(len, size);
	memcpy(buf, child.path, len);
	return len;
}

/* ---- answers --------------------------------------------------------------------------------- */

static size_t put_string(char *reply, size_t at, const char *s)
{
	size_t len = s ? strlen(s) + 1 : 1;

	if (len > LINE_MESSAGE_MAX - at)
		return LINE_MESSAGE_MAX + 1;
	memcpy(reply + at, s ? s : "", len);
	return at + len;
}

static size_t put_lines(char *reply, const struct usyms_line *lines, unsigned int nr)
{
	size_t done = 1;

	reply[0] = LINE_MESSAGE_ANSWER;
	for (unsigned int i = 0; i < nr; i++) {
		size_t at = done + sizeof(lines[i].line);

		if (at > LINE_MESSAGE_MAX)
			break;
		memcpy(reply + done, &lines[i].line, sizeof(lines[i].line));
		at = put_string(reply, at, lines[i].function);
		if (at <= LINE_MESSAGE_MAX)
			at = put_string(reply, at, lines[i].source);
		if (at > LINE_MESSAGE_MAX)
			break;
		done = at;
	}
	return done;
}

/* The file is opened only at the first query: then the parent listens. */
static void answer_all(int socket, int fd, int alt_fd)
{
	static char reply[LINE_MESSAGE_MAX];
	struct usyms_line lines[MAX_LINES];
	struct dwarf_lines *d = NULL;
	bool looked = false;
	uint64_t vaddr;

	while (recv(socket, &vaddr, sizeof(vaddr), 0) == sizeof(vaddr)) {
		unsigned int nr;

		if (!looked)
			d = dwarf_lines__new(fd, alt_fd);
		looked = true;
		nr = d ? dwarf_lines__find(d, vaddr, lines, MAX_LINES) : 0;
		if (send(socket, reply, put_lines(reply, lines, nr), MSG_NOSIGNAL) < 0)
			return;
	}
}

static uint64_t file_size(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) ? st.st_size : 0;
}

void line_child__main(pid_t parent, int socket, int fd, int alt_fd)
{
	const int fds[] = { socket, fd, alt_fd };
	const struct confine confine = {
		.parent = parent,
		.fds = fds,
		.nr_fds = ARRAY_SIZE(fds),
		.memory = MAX_MEMORY + file_size(fd) + file_size(alt_fd), /* libelf maps them */
		.cpu_seconds = MAX_CPU,
		.open = request_open,
		.readlink = link_of_file,
	};
	ssize_t len;

	child.socket = socket;
	snprintf(child.fd_name, sizeof(child.fd_name), "/proc/self/fd/%d", fd);
	len = readlink(child.fd_name, child.path, sizeof(child.path) - 1);
	child.path[MAX(len, 0)] = '\0';
	if (!confine__self(&confine))
		answer_all(socket, fd, alt_fd);
	_exit(0);
}
