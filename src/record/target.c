// SPDX-License-Identifier: GPL-2.0-only
/* Starts the command, or selects the running processes, whose events are recorded. */
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "recorder.h"
#include "stop.h"

struct watched {
	int fd; /* pidfd; for a thread, its directory in /proc */
	bool thread;
};

struct target {
	pid_t child; /* 0: no command */
	int child_fd; /* pidfd */
	const struct target_selection *sel;
	bool started, reaped;
	int status;
	int go_fd; /* write end; a byte lets the child execute the command */
	int failed_fd; /* read end; the errno of execve(2), or end of file on success */
	struct watched *watched;
	unsigned int nr_watched;
};

static struct target *target_new(void)
{
	struct target *t = calloc(1, sizeof(*t));

	if (t)
		t->go_fd = t->failed_fd = t->child_fd = -1;
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

/* ---- a command ------------------------------------------------------------------------------- */

static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

/*
 * The search of execvp(3), done before the first event is recorded.  An empty element of PATH is
 * the current directory.  A file without execute permission does not end the search, but makes its
 * error -EACCES.
 */
static int find_command(const char *name, char *ret_path, size_t len)
{
	const char *path = getenv("PATH");
	_cleanup_free_ char *copy = strdup(path ? path : "/bin:/usr/bin");
	char *dir, *rest = copy;
	int err, found = -ENOENT;

	if (!copy)
		return -ENOMEM;
	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		if (snprintf(ret_path, len, "%s", name) >= (int)len)
			return -ENAMETOOLONG;
		return check_executable(ret_path);
	}
	while ((dir = strsep(&rest, ":"))) {
		if (snprintf(ret_path, len, "%s/%s", *dir ? dir : ".", name) >= (int)len)
			continue;
		err = check_executable(ret_path);
		if (!err)
			return 0;
		if (err == -EACCES)
			found = err;
	}
	return found;
}

int target__find_command(const char *command)
{
	char path[4096];
	int err = find_command(command, path, sizeof(path));

	return err ? err - RECORDER_EXEC_FAILED : 0;
}

struct held_child {
	int go[2], failed[2];
	const char *path;
	const struct target_command *command;
	const struct target_selection *sel;
};

/* The rule that shells use: a script has no NUL in its first line. */
static bool is_script(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char head[80], *nul, *line;
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	if (n <= 0)
		return n == 0;
	nul = memchr(head, '\0', n);
	line = memchr(head, '\n', n);
	return !nul || (line && line < nul);
}

/* Runs a text file without a known format in sh.  Returns the errno, only on failure. */
static int exec_command(const char *path, char *const *argv)
{
	size_t n = 0;
	char **sh;

	execv(path, argv);
	if (errno != ENOEXEC)
		return errno;
	if (!is_script(path))
		return ENOEXEC;
	while (argv[n])
		n++;
	sh = calloc(n + 2, sizeof(*sh));
	if (!sh)
		return ENOMEM;
	sh[0] = "/bin/sh";
	sh[1] = (char *)path;
	if (n)
		memcpy(sh + 2, argv + 1, (n - 1) * sizeof(*sh));
	execv(sh[0], sh);
	return ENOEXEC;
}

/* In the child: waits for target__start(), then executes the command. */
static void run_child(const struct held_child *h)
{
	ssize_t n;
	char c;
	int err;

	/* as long as they are open here, neither side sees end of file when the other closes */
	close(h->go[1]);
	close(h->failed[0]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	do {
		n = read(h->go[0], &c, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	prctl(PR_SET_PDEATHSIG, 0);
	stop__restore();
	if (h->command->stdout_taken && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		close(STDOUT_FILENO);
	if (h->sel->in_child)
		h->sel->in_child(h->sel->ctx);
	err = exec_command(h->path, h->command->argv);
	if (write(h->failed[1], &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

static int fork_held(struct target *t, struct held_child *h)
{
	int err;

	if (pipe2(h->go, O_CLOEXEC))
		return -errno;
	t->go_fd = h->go[1];
	err = pipe2(h->failed, O_CLOEXEC) ? -errno : 0;
	if (!err) {
		t->failed_fd = h->failed[0];
		t->child = fork();
		if (!t->child)
			run_child(h);
		err = t->child < 0 ? -errno : 0;
		close(h->failed[1]);
	}
	close(h->go[0]);
	if (err)
		return err;
	t->child_fd = syscall(SYS_pidfd_open, t->child, 0);
	return t->child_fd < 0 ? -errno : 0;
}

int target__command(const struct target_selection *sel, const struct target_command *command,
		    struct target **ret_target)
{
	struct held_child h = { .command = command, .sel = sel };
	struct target *t;
	char path[4096];
	int err;

	err = find_command(command->argv[0], path, sizeof(path));
	if (err)
		return err - RECORDER_EXEC_FAILED;
	h.path = path;
	t = target_new();
	if (!t)
		return log_err(-ENOMEM, "start '%s'", command->argv[0]);
	t->sel = sel;
	err = fork_held(t, &h);
	if (!err)
		err = sel->hold(sel->ctx, t->child);
	if (err) {
		target__free(t);
		return log_err(err, "start '%s'", command->argv[0]);
	}
	*ret_target = t;
	return 0;
}

int target__start(struct target *t)
{
	int err = 0;
	ssize_t n;

	if (t->child <= 0)
		return 0;
	if (write(t->go_fd, "g", 1) != 1)
		return log_err(-errno, "start the command: write to its pipe");
	do {
		n = read(t->failed_fd, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	if (n == sizeof(err))
		return -(RECORDER_EXEC_FAILED + err);
	t->started = true;
	err = t->sel->begun ? t->sel->begun(t->sel->ctx) : 0;
	return err ? log_err(err, "select the command's events") : 0;
}

/* ---- running processes ----------------------------------------------------------------------- */

/*
 * Selects all threads.  A thread that is created meanwhile is selected with its creator, or found
 * by the second pass.
 */
static int select_threads(const struct target_selection *sel, pid_t pid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;
	int pass, found = 0, err;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	err = sel->select(sel->ctx, pid);
	for (pass = 0; pass < 2 && !err; pass++) {
		dir = opendir(path);
		if (!dir)
			return pass ? 0 : -ESRCH;
		while (!err && (d = readdir(dir))) {
			if (d->d_name[0] == '.')
				continue;
			err = sel->select(sel->ctx, atoi(d->d_name));
			found++;
		}
		closedir(dir);
	}
	if (err)
		return err;
	return found ? 0 : -ESRCH;
}

/* The process that thread tid belongs to. */
static int read_leader(pid_t tid, pid_t *ret_leader)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", ret_leader) == 1)
			return 0;
	return -ESRCH;
}

static int watch(const struct target_selection *sel, pid_t pid, struct watched *ret_watched)
{
	struct watched w = { 0 };
	char path[64];
	pid_t leader;
	int err;

	err = read_leader(pid, &leader);
	if (err)
		return err;
	w.thread = leader != pid;
	if (w.thread) {
		/* the descriptor refers to this thread even after its id is reused */
		snprintf(path, sizeof(path), "/proc/%d/task/%d", leader, pid);
		w.fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	} else {
		w.fd = syscall(SYS_pidfd_open, pid, 0);
	}
	if (w.fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = w.thread ? sel->select(sel->ctx, pid) : select_threads(sel, pid);
	if (err)
		close(w.fd);
	else
		*ret_watched = w;
	return err;
}

int target__pids(const struct target_selection *sel, const pid_t *pids, unsigned int nr,
		 struct target **ret_target)
{
	struct target *t = target_new();
	unsigned int i;
	int err;

	if (!t)
		return log_err(-ENOMEM, "allocate the list of processes");
	t->watched = calloc(nr, sizeof(*t->watched));
	if (!t->watched) {
		target__free(t);
		return log_err(-ENOMEM, "allocate the list of processes");
	}
	for (i = 0; i < nr; i++) {
		err = watch(sel, pids[i], &t->watched[i]);
		if (err) {
			target__free(t);
			return log_err(err, "select process %d", pids[i]);
		}
		t->nr_watched++;
	}
	*ret_target = t;
	return 0;
}

static bool gone(const struct watched *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	return w->thread ? faccessat(w->fd, "comm", F_OK, 0) < 0 : poll(&p, 1, 0) > 0;
}

/* ---- both ------------------------------------------------------------------------------------ */

void target__free(struct target *t)
{
	unsigned int i;

	if (!t)
		return;
	closep(&t->go_fd); /* a child that still waits exits by itself */
	closep(&t->failed_fd);
	closep(&t->child_fd);
	if (t->child > 0 && !t->started)
		while (waitpid(t->child, NULL, 0) < 0 && errno == EINTR)
			;
	for (i = 0; i < t->nr_watched; i++)
		close(t->watched[i].fd);
	free(t->watched);
	free(t);
}

bool target__ended(struct target *t)
{
	unsigned int i;

	if (t->child > 0) {
		if (!t->reaped && waitpid(t->child, &t->status, WNOHANG) == t->child)
			t->reaped = true;
		return t->reaped;
	}
	for (i = 0; i < t->nr_watched; i++)
		if (!gone(&t->watched[i]))
			return false;
	return t->nr_watched;
}

void target__nap(struct target *t, unsigned int ms)
{
	struct pollfd p = { .fd = t->child_fd, .events = POLLIN };

	poll(&p, 1, ms);
}

void target__signal(struct target *t, int sig)
{
	if (t->child > 0 && !t->reaped)
		kill(t->child, sig);
}

pid_t target__child(const struct target *t)
{
	return t->child;
}

pid_t target__running(struct target *t)
{
	return t->started && !target__ended(t) ? t->child : 0;
}

int target__exit_status(const struct target *t)
{
	if (!t->reaped)
		return -1;
	return WIFSIGNALED(t->status) ? 128 + WTERMSIG(t->status) : WEXITSTATUS(t->status);
}
