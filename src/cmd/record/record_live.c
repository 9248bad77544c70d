// SPDX-License-Identifier: GPL-2.0-only
/* Runs the viewer of record --live. */
#include "record_live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "record/stop.h"
#include "strbuf.h"
#include "ui/presets.h"
#include "ui/ui.h"

#define EXIT_NOT_STARTED 126

/* In the child: waits for the byte; the end of the pipe means that there is nothing to show. */
static void view(const char *path, const char *pairs, int go_fd, pid_t parent)
{
	const char *argv[8] = { "stackonce", "report", "--follow" };
	unsigned int nr = 3;
	char go;

	if (*pairs) {
		argv[nr++] = "--preset";
		argv[nr++] = pairs;
	}
	argv[nr++] = "--";
	argv[nr] = path;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || read(go_fd, &go, 1) != 1)
		_exit(0);
	execv("/proc/self/exe", (char *const *)argv);
	log_err(-errno, "run 'stackonce report --follow'");
	_exit(EXIT_NOT_STARTED);
}

/* The presets that have pairs, as for --preset. */
static int pairs_of(const struct preset *const *list, unsigned int nr, struct strbuf *b)
{
	unsigned int i;

	strbuf__puts(b, "");
	for (i = 0; i < nr; i++)
		if (list[i]->start)
			strbuf__printf(b, "%s%s", b->len ? "," : "", list[i]->name);
	return strbuf__failed(b) ? -ENOMEM : 0;
}

int live_viewer__new(const char *path, const struct preset *const *list, unsigned int nr,
		     struct live_viewer *ret_viewer)
{
	_cleanup_(strbuf__free) struct strbuf pairs = { 0 };
	pid_t parent = getpid(), pid;
	int fds[2];

	if (pairs_of(list, nr, &pairs))
		return log_err(-ENOMEM, "start the live view");
	if (pipe2(fds, O_CLOEXEC))
		return log_err(-errno, "create a pipe for the live view");
	pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return log_err(-errno, "start the live view");
	}
	if (!pid) {
		close(fds[1]);
		view(path, pairs.s ?: "", fds[0], parent);
	}
	close(fds[0]);
	*ret_viewer = (struct live_viewer){ .pid = pid, .go_fd = fds[1] };
	return 0;
}

/*
 * SIGPIPE is ignored while recording: a viewer that is gone is noticed as an exit.  A message in
 * the middle of its page would be lost with the page.
 */
static void go(struct live_viewer *v)
{
	if (v->go_fd < 0)
		return;
	ui__hold_messages(ui__has_page());
	if (write(v->go_fd, "g", 1) != 1)
		log_debug("the live view has ended before it began");
	close(v->go_fd);
	v->go_fd = -1;
}

/* The user left the view: that ends the recording.  If the view failed, recording goes on. */
static void viewer_ended(struct live_viewer *v, int status)
{
	v->pid = 0;
	ui__hold_messages(false);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		kill(getpid(), SIGINT);
	else
		log_warn("the live view has failed; the recording goes on");
}

void live_viewer__status(void *viewer, const char *line)
{
	struct live_viewer *v = viewer;
	int status;

	go(v);
	if (v->pid && waitpid(v->pid, &status, WNOHANG) == v->pid)
		viewer_ended(v, status);
}

void live_viewer__finish(struct live_viewer *v, bool recorded)
{
	/* Other children of the recorder may still hold the pipe: its end is not enough. */
	if (recorded)
		go(v);
	else if (v->pid)
		kill(v->pid, SIGTERM);
	closep(&v->go_fd);
	v->go_fd = -1;
	/* A second signal ends it, even if its output is a pipe that is not read. */
	while (v->pid && waitpid(v->pid, NULL, 0) < 0 && errno == EINTR)
		if (stop__count() > 1)
			kill(v->pid, SIGKILL);
	v->pid = 0;
	ui__hold_messages(false);
}
