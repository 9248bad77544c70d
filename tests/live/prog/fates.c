// SPDX-License-Identifier: GPL-2.0-only
/*
 * fates OUT READY GO: makes children that end in every possible way.  Some are made before it
 * writes READY and waits until the FIFO GO is opened and closed, the rest after that.  It writes
 * their lifecycles to OUT, one JSON object per line, and ends when GO is opened and closed again.
 * fates exit N only exits.
 */
#include "fates.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static struct shared {
	unsigned int nr;
	struct fate v[MAX_FATES];
} * shared;

void die_if(bool failed, const char *what)
{
	if (failed)
		err(1, "%s", what);
}

struct fate *fate_new(const char *kind)
{
	unsigned int i = __atomic_fetch_add(&shared->nr, 1, __ATOMIC_RELAXED);

	if (i >= MAX_FATES)
		errx(1, "too many fates");
	shared->v[i] = (struct fate){ .kind = kind, .code = -1, .sig = -1, .threads = 1 };
	shared->v[i].parent = getpid();
	shared->v[i].fork0 = now_ns();
	return &shared->v[i];
}

pid_t fate_fork(struct fate *f)
{
	pid_t pid = fork();

	die_if(pid < 0, "fork");
	if (pid) {
		f->pid = pid;
		f->fork1 = now_ns();
	}
	return pid;
}

void fate_status(struct fate *f, int status)
{
	if (WIFEXITED(status))
		f->code = WEXITSTATUS(status);
	else
		f->sig = WTERMSIG(status);
}

void fate_wait(struct fate *f, int options)
{
	int status;

	f->wait0 = now_ns();
	die_if(waitpid(f->pid, &status, options) != f->pid, "waitpid");
	f->wait1 = now_ns();
	f->with = "wait4";
	f->reaper = getpid();
	fate_status(f, status);
}

static void write_fates(const char *path)
{
	FILE *out = fopen(path, "we");
	unsigned int i;

	die_if(!out, path);
	for (i = 0; i < shared->nr; i++) {
		const struct fate *f = &shared->v[i];

		fprintf(out,
			"{\"kind\":\"%s\",\"pid\":%d,\"parent\":%d,\"reaper\":%d,\"code\":%d,"
			"\"sig\":%d,\"threads\":%d,\"execs\":%d,\"orphan\":%s,\"zombie\":%s,"
			"\"before\":%s,\"with\":\"%s\",\"fork0\":%lu,\"fork1\":%lu,\"wait0\":%lu,"
			"\"wait1\":%lu}\n",
			f->kind, f->pid, f->parent, f->reaper, f->code, f->sig, f->threads,
			f->execs, f->orphan ? "true" : "false", f->zombie ? "true" : "false",
			f->gone_before ? "true" : "false", f->with ?: "", f->fork0, f->fork1,
			f->wait0, f->wait1);
	}
	die_if(fclose(out), path);
}

/* Waits until another process has opened and closed the FIFO. */
static void await(const char *fifo)
{
	int fd = open(fifo, O_RDONLY);
	char c;

	die_if(fd < 0, fifo);
	while (read(fd, &c, 1) > 0)
		;
	close(fd);
}

static void touch(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	die_if(fd < 0, path);
	close(fd);
}

/* A zombie from before the recording, and a child that ends during it. */
static struct fate *before(void)
{
	struct fate *f = fate_new("zombie from before");

	if (!fate_fork(f))
		_exit(17);
	f->zombie = f->gone_before = true;
	f = fate_new("from before");
	if (!fate_fork(f)) {
		pause();
		_exit(1);
	}
	f->gone_before = true;
	return f;
}

int main(int argc, char **argv)
{
	const struct rlimit none = { 0, 0 };
	unsigned int reused;
	struct fate *old;
	int sig;

	if (argc == 3 && !strcmp(argv[1], "exit"))
		return atoi(argv[2]);
	if (argc != 4)
		errx(2, "usage: fates OUT READY GO");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	die_if(shared == MAP_FAILED, "mmap");
	setrlimit(RLIMIT_CORE, &none);
	/* A shell makes background jobs ignore some signals. */
	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	die_if(prctl(PR_SET_CHILD_SUBREAPER, 1), "subreaper");
	old = before();
	touch(argv[2]);
	await(argv[3]);
	kill(old->pid, SIGTERM);
	fate_wait(old, 0);
	exits(3);
	signals(12);
	ignored(100);
	double_forks(115);
	never_reaped(50);
	waitids(60);
	vforks(50);
	execs(50);
	leader_first(60);
	thread_exits_group(50);
	threads_killed(40);
	thread_execs(30);
	traced(50);
	traced_by_another(20);
	namespaces(5, 20);
	reused = pid_reuses(20);
	write_fates(argv[1]);
	printf("%u fates, %u pids used again\n", shared->nr, reused);
	fflush(stdout);
	await(argv[3]);
	return 0;
}
