// SPDX-License-Identifier: GPL-2.0-only
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"

struct output {
	char *path, *old;
	char *beside; /* where it is until it is kept; NULL: where it stays */
};

static int open_stdout(void)
{
	int fd;

	if (isatty(STDOUT_FILENO))
		return log_err(-EINVAL, "a recording is not written to a terminal");
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return fd < 0 ? log_err(-errno, "standard output") : fd;
}

static int create_beside(struct output *o, const char *path)
{
	int fd;

	if (asprintf(&o->beside, "%s.new-%d", path, getpid()) < 0)
		o->beside = NULL;
	if (asprintf(&o->old, "%s.old", path) < 0)
		o->old = NULL;
	o->path = strdup(path);
	if (!o->beside || !o->old || !o->path)
		return log_err(-ENOMEM, "output '%s'", path);
	fd = open(o->beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		freep(&o->beside);
		o->beside = NULL;
		return log_err(-errno, "create '%s'", path);
	}
	return fd;
}

static int open_output(struct output *o, const char *path)
{
	struct stat st;
	int fd;

	if (!strcmp(path, "-"))
		return open_stdout();
	if (stat(path, &st) || S_ISREG(st.st_mode))
		return create_beside(o, path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? log_err(-errno, "open '%s'", path) : fd;
}

int output__new(const char *path, struct output **ret_output, int *ret_fd)
{
	struct output *o = calloc(1, sizeof(*o));
	int fd;

	if (!o)
		return log_err(-ENOMEM, "output '%s'", path);
	fd = open_output(o, path);
	if (fd < 0) {
		output__free(o);
		return fd;
	}
	*ret_output = o;
	*ret_fd = fd;
	return 0;
}

int output__keep(struct output *o)
{
	if (!o->beside)
		return 0;
	if (rename(o->path, o->old) && errno != ENOENT)
		return log_err(-errno, "keep '%s' as '%s'", o->path, o->old);
	if (rename(o->beside, o->path))
		return log_err(-errno, "create '%s'", o->path);
	freep(&o->beside);
	o->beside = NULL;
	return 0;
}

void output__free(struct output *o)
{
	if (!o)
		return;
	if (o->beside)
		unlink(o->beside);
	free(o->beside);
	free(o->path);
	free(o->old);
	free(o);
}
