// SPDX-License-Identifier: GPL-2.0-only
/* fates: single-threaded processes. */
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "fates.h"

void exits(unsigned int each)
{
	unsigned int i, code;
	struct fate *f;

	for (i = 0; i < each; i++) {
		for (code = 0; code < 256; code++) {
			f = fate_new("exit");
			if (!fate_fork(f))
				_exit(code);
			fate_wait(f, 0);
		}
	}
}

/* Sent by the parent, or raised; including signals that dump core. */
void signals(unsigned int each)
{
	static const int deadly[] = { SIGHUP,  SIGINT,	SIGQUIT, SIGILL,  SIGTRAP,   SIGABRT,
				      SIGBUS,  SIGFPE,	SIGKILL, SIGUSR1, SIGSEGV,   SIGUSR2,
				      SIGPIPE, SIGALRM, SIGTERM, SIGXCPU, SIGVTALRM, SIGPROF,
				      SIGIO,   SIGPWR,	SIGSYS,	 34,	  50,	     64 };
	unsigned int i, s;
	struct fate *f;

	for (i = 0; i < each; i++) {
		for (s = 0; s < sizeof(deadly) / sizeof(*deadly); s++) {
			f = fate_new(i % 2 ? "raised" : "killed");
			if (!fate_fork(f)) {
				if (i % 2)
					raise(deadly[s]);
				pause();
				_exit(1);
			}
			if (!(i % 2))
				kill(f->pid, deadly[s]);
			fate_wait(f, 0);
		}
	}
}

/* A parent that ignores SIGCHLD has no zombies: its children are released when they exit. */
void ignored(unsigned int nr)
{
	struct fate *f = fate_new("ignores SIGCHLD"), *child;
	unsigned int i;

	if (!fate_fork(f)) {
		signal(SIGCHLD, SIG_IGN);
		for (i = 0; i < nr; i++) {
			child = fate_new("ignored");
			if (!fate_fork(child))
				_exit(i);
			child->code = i;
		}
		while (wait(NULL) > 0)
			;
		_exit(0);
	}
	fate_wait(f, 0);
}

/* The grandchild's parent exits first; this process is the subreaper and becomes its new parent. */
void double_forks(unsigned int nr)
{
	struct fate *f, *grandchild;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		f = fate_new("double fork");
		grandchild = fate_new("grandchild");
		if (!fate_fork(f)) {
			pid_t parent = getpid();

			grandchild->parent = parent;
			grandchild->fork0 = now_ns();
			if (!fate_fork(grandchild)) {
				while (getppid() == parent)
					usleep(100);
				_exit(i);
			}
			_exit(100 + i % 100);
		}
		fate_wait(f, 0);
		grandchild->orphan = true;
		fate_wait(grandchild, 0);
	}
}

void never_reaped(unsigned int nr)
{
	unsigned int i;
	siginfo_t si;

	for (i = 0; i < nr; i++) {
		struct fate *f = fate_new("never reaped");

		if (!fate_fork(f))
			_exit(200 + i % 50);
		f->code = 200 + i % 50;
		f->zombie = true;
		die_if(waitid(P_PID, f->pid, &si, WEXITED | WNOWAIT), "waitid");
	}
}

static void wait_id(struct fate *f, idtype_t type, int options)
{
	siginfo_t si = { 0 };

	f->wait0 = now_ns();
	die_if(waitid(type, type == P_ALL ? 0 : f->pid, &si, WEXITED | options), "waitid");
	f->wait1 = now_ns();
	if (si.si_pid != f->pid)
		errx(1, "waitid returned %d, not %d", si.si_pid, f->pid);
	f->with = "waitid";
	f->reaper = getpid();
	if (si.si_code == CLD_EXITED)
		f->code = si.si_status;
	else
		f->sig = si.si_status;
}

/* By id after a look with WNOWAIT, polling, and for any child. */
void waitids(unsigned int nr)
{
	struct fate *helper = fate_new("waits by id"), *f;
	unsigned int i;
	siginfo_t si;

	if (!fate_fork(helper)) {
		for (i = 0; i < nr; i++) {
			f = fate_new("waitid");
			if (!fate_fork(f))
				_exit(i);
			if (i % 3) {
				die_if(waitid(P_PID, f->pid, &si, WEXITED | WNOWAIT), "waitid");
				usleep(200);
			}
			wait_id(f, i % 3 == 2 ? P_ALL : P_PID, i % 3 == 1 ? WNOHANG : 0);
		}
		_exit(0);
	}
	fate_wait(helper, 0);
}

static pid_t vfork_one(bool exec, int code)
{
	pid_t pid = vfork();

	if (!pid) {
		if (exec)
			execl("/proc/self/exe", "fates", "exit", "44", NULL);
		_exit(code);
	}
	return pid;
}

void vforks(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct fate *f = fate_new("vfork");

		f->execs = i % 2;
		f->pid = vfork_one(i % 2, i);
		die_if(f->pid < 0, "vfork");
		f->fork1 = now_ns();
		fate_wait(f, 0);
	}
}

void execs(unsigned int nr)
{
	static char *const argv[] = { "fates", "exit", "33", NULL }, *const envp[] = { NULL };
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct fate *f = fate_new(i % 2 ? "exec" : "posix_spawn");

		f->execs = 1;
		if (i % 2) {
			if (!fate_fork(f)) {
				execv("/proc/self/exe", argv);
				_exit(1);
			}
		} else {
			die_if(posix_spawn(&f->pid, "/proc/self/exe", NULL, NULL, argv, envp),
			       "posix_spawn");
			f->fork1 = now_ns();
		}
		fate_wait(f, 0);
	}
}
