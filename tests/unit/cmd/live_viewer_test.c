// SPDX-License-Identifier: GPL-2.0-only
/* Messages of record --live: held while a page fills the terminal, and only then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/record/record_live.h"
#include "log.h"
#include "ui/ui.h"

#define MARK "after the message\n"

/* On a terminal: a viewer is started, a message comes, then the mark, then the viewer ends. */
static void record(const char *term)
{
	struct live_viewer v;

	setenv("TERM", term, 1);
	ui__set_log_level(STK_LOG_WARN);
	if (live_viewer__new("trace.stk", NULL, 0, &v))
		_exit(1);
	live_viewer__status(&v, "");
	log_warn("a message");
	if (write(STDOUT_FILENO, MARK, strlen(MARK)) < 0)
		_exit(1);
	live_viewer__finish(&v, false);
	_exit(0);
}

/* Whether the message came after the mark. */
static bool is_held(const char *term)
{
	char text[4096] = "", *message, *mark;
	size_t len = 0;
	ssize_t got;
	int fd, status;
	pid_t pid = forkpty(&fd, NULL, NULL, NULL);

	assert_true(pid >= 0);
	if (!pid)
		record(term);
	while (len < sizeof(text) - 1 && (got = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += got;
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	message = strstr(text, "stackonce: warning: a message");
	mark = strstr(text, "after the message");
	assert_non_null(message);
	assert_non_null(mark);
	return message > mark;
}

static void test_held(void **state)
{
	assert_true(is_held("xterm"));
	assert_false(is_held("dumb"));
	assert_false(is_held(""));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_held) };

	/* the viewer is this program, as 'stackonce report --follow' is stackonce */
	if (argc > 1 && !strcmp(argv[1], "report"))
		return pause();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
