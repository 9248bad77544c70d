// SPDX-License-Identifier: GPL-2.0-only
/*
 * ontty COMMAND [ARGS]: runs COMMAND as the foreground job of a new terminal and exits with its
 * exit status.  Each line on standard input presses Ctrl-C once in the terminal; the terminal's
 * output goes to standard output.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "prog.h"

/* Like a shell: the job gets the terminal, and the shell takes it back afterwards. */
static int shell(int master, char **command)
{
	const char *tty = ptsname(master);
	int fd, status;
	pid_t job;

	close(master); /* so that the terminal hangs up when our parent is killed */
	setsid();
	fd = open(tty, O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0))
		err(1, "%s", tty);
	signal(SIGTTOU, SIG_IGN);
	job = fork();
	if (job < 0)
		err(1, "fork");
	if (!job) {
		setpgid(0, 0);
		if (tcsetpgrp(fd, getpid()))
			err(1, "tcsetpgrp");
		signal(SIGTTOU, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		dup2(fd, STDIN_FILENO);
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		close(fd);
		execvp(command[0], command);
		err(127, "%s", command[0]);
	}
	if (waitpid(job, &status, 0) != job || tcsetpgrp(fd, getpgrp()))
		err(1, "wait");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Serves the terminal until the shell has ended and no output is left; its job may outlive it. */
static int serve(int tty, pid_t shell)
{
	struct pollfd p[2] = { { .fd = tty, .events = POLLIN }, { .events = POLLIN } };
	bool ended = false;
	char buf[4096];
	int status = 0;
	ssize_t n, i;

	while (poll(p, 2, 20) > 0 || !ended) {
		/* a terminal that was never opened reads as hung up */
		n = p[0].revents & POLLIN ? read(tty, buf, sizeof(buf)) : 0;
		if (n > 0 && write(STDOUT_FILENO, buf, n) != n)
			err(1, "write");
		if (p[0].revents & POLLHUP && n <= 0) {
			if (ended)
				break;
			usleep(1000);
		}
		n = p[1].revents ? read(STDIN_FILENO, buf, sizeof(buf)) : 0;
		if (p[1].revents && n <= 0)
			p[1].fd = -1;
		for (i = 0; i < n; i++)
			if (buf[i] == '\n' && write(tty, "\003", 1) != 1)
				err(1, "press Ctrl-C");
		ended = ended || waitpid(shell, &status, WNOHANG) == shell;
		p[0].revents = p[1].revents = 0;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	int tty = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	pid_t child, parent = getppid();

	if (argc < 2)
		errx(2, "a command is needed");
	/* so that a recorder does not outlive a test that is killed */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return 1;
	if (tty < 0 || grantpt(tty) || unlockpt(tty))
		err(1, "open a terminal");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child)
		_exit(shell(tty, argv + 1));
	return serve(tty, child);
}
