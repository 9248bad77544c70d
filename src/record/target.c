// SPDX-License-Identifier: GPL-2.0-only
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "programs.h"
#include "recorder.h"

struct target {
	pid_t child;		/* 0: no command */
	bool reaped;
	int status;
	int go_fd;		/* written to: the command may run */
	int failed_fd;		/* its errno when it cannot, closed when it can */
	int *pidfds;
	unsigned int nr_pidfds;
};

static struct target *target_new(void)
{
	struct target *t = calloc(1, sizeof(*t));

	if (t)
		t->go_fd = t->failed_fd = -1;
	return t;
}

int target__system(struct target **ret_target)
{
	struct target *t = target_new();

	if (!t)
		return -ENOMEM;
	*ret_target = t;
	return 0;
}

/* execvp's search, done before the first event is recorded. */
static int find_command(const char *name, char *ret_path, size_t len)
{
	const char *path = getenv("PATH"), *end;

	if (strchr(name, '/')) {
		snprintf(ret_path, len, "%s", name);
		return access(ret_path, X_OK) ? -errno : 0;
	}
	for (path = path ? path : "/usr/bin:/bin"; *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		if (snprintf(ret_path, len, "%.*s/%s", (int)(end - path), path, name) < (int)len &&
		    !access(ret_path, X_OK))
			return 0;
	}
	return -ENOENT;
}

/* In the child: waits for the word, selects itself through the shared map, and becomes COMMAND. */
static void run_child(int go, int failed, const char *path, char *const *command,
		      uint64_t *select)
{
	uint32_t tid = syscall(SYS_gettid);
	char c;
	int err;

	if (read(go, &c, 1) != 1)
		_exit(127);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (select)
		__atomic_fetch_or(&select[tid / 64], 1ull << tid % 64, __ATOMIC_SEQ_CST);
	execv(path, command);
	err = errno;
	if (write(failed, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

int target__command(struct programs *p, char *const *command, bool only,
		    struct target **ret_target)
{
	uint64_t *select = only ? programs__pids(p) : NULL;
	int go[2], failed[2], err;
	struct target *t;
	char path[4096];

	err = find_command(command[0], path, sizeof(path));
	if (err)
		return -(RECORDER_EXEC_FAILED - err);
	t = target_new();
	if (!t)
		return -ENOMEM;
	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC)) {
		free(t);
		return -errno;
	}
	t->child = fork();
	if (!t->child)
		run_child(go[0], failed[1], path, command, select);
	err = t->child < 0 ? -errno : 0;
	close(go[0]);
	close(failed[1]);
	t->go_fd = go[1];
	t->failed_fd = failed[0];
	if (err) {
		target__free(t);
		return err;
	}
	*ret_target = t;
	return 0;
}

/* Every thread there is; those that come meanwhile are followed through their creators. */
static int select_threads(struct programs *p, pid_t pid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;
	int pass, found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	programs__select(p, pid);
	for (pass = 0; pass < 2; pass++) {
		dir = opendir(path);
		if (!dir)
			return pass ? 0 : -ESRCH;
		while ((d = readdir(dir))) {
			if (d->d_name[0] == '.')
				continue;
			programs__select(p, atoi(d->d_name));
			found++;
		}
		closedir(dir);
	}
	return found ? 0 : -ESRCH;
}

int target__pids(struct programs *p, const pid_t *pids, unsigned int nr,
		 struct target **ret_target)
{
	struct target *t = target_new();
	unsigned int i;
	int err;

	if (!t)
		return -ENOMEM;
	t->pidfds = calloc(nr, sizeof(*t->pidfds));
	if (!t->pidfds) {
		target__free(t);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++) {
		err = select_threads(p, pids[i]);
		if (err) {
			target__free(t);
			return log_err(err, "process %d", pids[i]);
		}
		t->pidfds[t->nr_pidfds] = syscall(SYS_pidfd_open, pids[i], 0);
		if (t->pidfds[t->nr_pidfds] >= 0)
			t->nr_pidfds++;
	}
	*ret_target = t;
	return 0;
}

void target__free(struct target *t)
{
	unsigned int i;

	if (!t)
		return;
	closep(&t->go_fd);	/* a child still held ends by itself */
	closep(&t->failed_fd);
	if (t->child > 0 && !t->reaped)
		waitpid(t->child, NULL, 0);
	for (i = 0; i < t->nr_pidfds; i++)
		close(t->pidfds[i]);
	free(t->pidfds);
	free(t);
}

int target__start(struct target *t)
{
	int err = 0;
	ssize_t n;

	if (t->child <= 0)
		return 0;
	if (write(t->go_fd, "g", 1) != 1)
		return -errno;
	do {
		n = read(t->failed_fd, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(err) ? -(RECORDER_EXEC_FAILED + err) : 0;
}

bool target__ended(struct target *t)
{
	unsigned int i, alive = 0;

	if (t->child > 0) {
		if (!t->reaped && waitpid(t->child, &t->status, WNOHANG) == t->child)
			t->reaped = true;
		return t->reaped;
	}
	if (!t->nr_pidfds)
		return false;
	for (i = 0; i < t->nr_pidfds; i++) {
		struct pollfd p = { .fd = t->pidfds[i], .events = POLLIN };

		alive += poll(&p, 1, 0) == 0;
	}
	return !alive;
}

void target__signal(struct target *t, int sig)
{
	if (t->child > 0 && !t->reaped)
		kill(t->child, sig);
}

int target__wait(struct target *t)
{
	if (t->child > 0 && !t->reaped) {
		while (waitpid(t->child, &t->status, 0) < 0 && errno == EINTR)
			;
		t->reaped = true;
	}
	return t->status;
}
