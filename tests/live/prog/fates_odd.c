// SPDX-License-Identifier: GPL-2.0-only
/* fates: threads, tracers, namespaces and reused PIDs. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "fates.h"

static void *sleep_long(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void start(void *(*fn)(void *arg), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, arg))
		_exit(99);
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Waits until the leader has ended, from one of its threads. */
static void await_leader(void)
{
	char text[64] = "", *state;
	int fd;

	do {
		usleep(500);
		fd = open("/proc/self/stat", O_RDONLY);
		if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
			_exit(98);
		close(fd);
		state = strrchr(text, ')');
	} while (!state || state[2] != 'Z');
}

static void *exit_alone(void *arg)
{
	await_leader();
	syscall(SYS_exit, (long)arg);
	return NULL;
}

static void *exit_group_alone(void *arg)
{
	await_leader();
	_exit((long)arg);
}

static void *exit_group(void *arg)
{
	usleep(2000);
	_exit((long)arg);
}

/* The leader ends before the process: the status is that of the last thread, or of exit_group(). */
void leader_first(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct fate *f = fate_new(i % 2 ? "leader first" : "leader first, exit_group");

		f->threads = 2;
		if (!fate_fork(f)) {
			start(i % 2 ? exit_alone : exit_group_alone, (void *)(long)(i + 1));
			syscall(SYS_exit, 200);
		}
		fate_wait(f, 0);
	}
}

void thread_exits_group(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct fate *f = fate_new("a thread exits for all");

		f->threads = 3;
		if (!fate_fork(f)) {
			start(sleep_long, NULL);
			start(exit_group, (void *)(long)(i + 50));
			sleep_long(NULL);
		}
		fate_wait(f, 0);
	}
}

void threads_killed(unsigned int nr)
{
	unsigned int i;
	int ready[2];
	char c;

	for (i = 0; i < nr; i++) {
		struct fate *f = fate_new("threads killed");

		f->threads = 3;
		die_if(pipe(ready), "pipe");
		if (!fate_fork(f)) {
			start(sleep_long, NULL);
			start(sleep_long, NULL);
			die_if(write(ready[1], "", 1) != 1, "write");
			sleep_long(NULL);
		}
		die_if(read(ready[0], &c, 1) != 1, "read");
		close(ready[0]);
		close(ready[1]);
		kill(f->pid, i % 2 ? SIGTERM : SIGINT);
		fate_wait(f, 0);
	}
}

static void *exec_fates(void *arg)
{
	execl("/proc/thread-self/exe", "fates", "exit", "66", NULL);
	return arg;
}

/* A thread takes its leader's PID; in every second process the leader has ended before. */
void thread_execs(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct fate *f = fate_new("a thread executes a program");

		f->threads = 2;
		f->execs = 1;
		if (!fate_fork(f)) {
			start(exec_fates, NULL);
			if (i % 2)
				syscall(SYS_exit, 7);
			sleep_long(NULL);
		}
		fate_wait(f, 0);
	}
}

/* ---- tracers --------------------------------------------------------------------------------- */

void traced(unsigned int nr)
{
	unsigned int i;
	int status;

	for (i = 0; i < nr; i++) {
		struct fate *f = fate_new("traced");

		if (!fate_fork(f)) {
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
			raise(SIGSTOP);
			_exit(i);
		}
		die_if(waitpid(f->pid, &status, 0) != f->pid || !WIFSTOPPED(status), "stop");
		die_if(ptrace(PTRACE_CONT, f->pid, NULL, NULL), "cont");
		fate_wait(f, 0);
	}
}

/* The tracer is another child: it waits for the child first, and the parent after it. */
static void trace_other(pid_t pid, int ready)
{
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL))
		_exit(1);
	if (write(ready, "", 1) != 1)
		_exit(2);
	_exit(waitpid(pid, &status, __WALL) == pid && WIFEXITED(status) ? 0 : 3);
}

void traced_by_another(unsigned int nr)
{
	int go[2], ready[2];
	unsigned int i;
	char c;

	for (i = 0; i < nr; i++) {
		struct fate *f = fate_new("traced by another"), *tracer;

		die_if(pipe(go) || pipe(ready), "pipe");
		if (!fate_fork(f)) {
			close(go[1]);
			_exit(read(go[0], &c, 1) ? 1 : i);
		}
		tracer = fate_new("tracer");
		if (!fate_fork(tracer)) {
			close(go[1]);
			trace_other(f->pid, ready[1]);
		}
		die_if(read(ready[0], &c, 1) != 1, "read");
		close(go[1]);
		fate_wait(f, 0);
		fate_wait(tracer, 0);
		close(go[0]);
		close(ready[0]);
		close(ready[1]);
		if (tracer->code)
			errx(1, "the tracer ended with %d", tracer->code);
	}
}

/* ---- PID namespaces -------------------------------------------------------------------------- */

/* The PID of the calling process in the initial namespace. */
static pid_t outer_pid(void)
{
	char text[32] = "";

	die_if(readlink("/proc/self", text, sizeof(text) - 1) < 0, "/proc/self");
	return atoi(text);
}

/* In the namespace, PIDs are small; of every second child, a child is left for init to reap. */
static void inside(unsigned int kids)
{
	pid_t init = outer_pid(), inner;
	unsigned int i;
	int status;

	for (i = 0; i < kids; i++) {
		struct fate *f = fate_new("in a namespace");

		f->parent = init;
		inner = fork();
		die_if(inner < 0, "fork");
		if (!inner) {
			f->pid = outer_pid();
			_exit(i + 1);
		}
		f->fork1 = now_ns();
		f->wait0 = now_ns();
		die_if(waitpid(i % 2 ? -1 : inner, &status, 0) != inner, "waitpid");
		f->wait1 = now_ns();
		f->with = "wait4";
		f->reaper = init;
		fate_status(f, status);
	}
}

/* A child that is killed when its namespace ends, and reaped by the kernel. */
static void left_inside(void)
{
	struct fate *f = fate_new("killed by its namespace's end");
	int ready[2];
	char c;

	f->parent = outer_pid();
	die_if(pipe(ready), "pipe");
	f->sig = SIGKILL;
	f->orphan = true; /* init exits first */
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		f->pid = outer_pid();
		die_if(write(ready[1], "", 1) != 1, "write");
		sleep_long(NULL);
	}
	f->fork1 = now_ns();
	die_if(read(ready[0], &c, 1) != 1, "read");
}

void namespaces(unsigned int nr, unsigned int kids)
{
	struct fate *outer, *f;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		outer = fate_new("makes a namespace");
		if (!fate_fork(outer)) {
			die_if(unshare(CLONE_NEWPID), "unshare");
			f = fate_new("init of a namespace");
			if (!fate_fork(f)) {
				inside(kids);
				left_inside();
				_exit(i + 3);
			}
			fate_wait(f, 0);
			_exit(0);
		}
		fate_wait(outer, 0);
		if (outer->code)
			errx(1, "a namespace failed");
	}
}

/* ---- reused PIDs ----------------------------------------------------------------------------- */

/* The next new PID is likely this one. */
static bool set_next(pid_t pid)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
	bool ok = fd >= 0 && dprintf(fd, "%d", pid - 1) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Immediately after a child is reaped: its task is not freed yet. */
unsigned int pid_reuses(unsigned int nr)
{
	unsigned int i, again = 0;
	pid_t last = 0;

	for (i = 0; i < nr; i++) {
		struct fate *f = fate_new("pid used again");

		if (last && !set_next(last))
			return again;
		f->fork0 = now_ns();
		if (!fate_fork(f))
			_exit(i + 1);
		again += f->pid == last;
		last = f->pid;
		fate_wait(f, 0);
	}
	return again;
}
