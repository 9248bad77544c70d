// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Where a recording is written to: pipes, full disks, files with contents. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "gen.h"
#include "trace/stk.h"

static const struct stk_writer_opts one_cpu = { .nr_cpus = 1 };

static struct stk_writer *begin(int fd)
{
	struct stk_writer *w;

	assert_int_equal(stk_writer__new(fd, &one_cpu, &w), 0);
	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	return w;
}

/* A round of n incompressible events. */
static int add_round(struct stk_writer *w, uint64_t *ts, uint32_t n)
{
	static uint64_t seed = 99;
	int err;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t rec[8];
		struct stk_writer_event e = { .ts = ++*ts, .record = rec, .record_len = 64 };

		for (int k = 0; k < 8; k++)
			rec[k] = gen_random(&seed);
		err = stk_writer__event(w, &e);
		if (err)
			return err;
	}
	return stk_writer__end_round(w, *ts, 0);
}

/* Reads events 1, 2, 3, ... in order; returns their number. */
static uint32_t count_events(struct stk_reader *r, bool *ret_clean)
{
	const struct stk_event *e;
	struct stk_totals totals;
	uint32_t n = 0;
	int got;

	while ((got = stk_reader__next(r, &e)) == 1)
		assert_int_equal(stk_event__ts(e), ++n);
	assert_int_equal(got, 0);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.bad_blocks, 0);
	*ret_clean = totals.clean_end;
	return n;
}

static void test_pipe(void **state)
{
	int fds[2], status, saved = dup(STDIN_FILENO);
	struct stk_reader *r;
	bool clean;
	pid_t pid;

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0); /* as another process may have set it */
	pid = fork();
	if (!pid) {
		struct stk_writer *w;
		uint64_t ts = 0;

		close(fds[0]);
		w = begin(fds[1]);
		for (int i = 0; i < 20; i++)
			if (add_round(w, &ts, 1000))
				_exit(1);
		if (stk_writer__finish(w, "done", 0))
			_exit(2);
		stk_writer__free(w);
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	close(fds[0]);
	assert_int_equal(stk_reader__open("-", NULL, &r), 0);
	assert_int_equal(count_events(r, &clean), 20000);
	assert_true(clean);
	stk_reader__free(r);
	dup2(saved, STDIN_FILENO);
	close(saved);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* "-" is stdin; unwanted event blocks are read and discarded, as a pipe cannot seek. */
static void test_stdin(void **state)
{
	struct stk_reader_opts tables = { .size = sizeof(tables), .want = STK_WANT_FIELDS };
	const struct stk_event *e;
	struct stk_totals totals;
	struct stk_reader *r;
	struct gen_file f;
	struct stk_writer *w = gen_open(&f, &one_cpu);
	int fds[2], saved = dup(STDIN_FILENO);
	uint64_t ts = 0;

	stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", "");
	assert_int_equal(add_round(w, &ts, 500), 0);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(&f);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], f.p, f.len), f.len);
	close(fds[1]);
	assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(stk_reader__open("-", &tables, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	stk_reader__totals(r, &totals);
	assert_int_equal(totals.events, 500);
	assert_true(totals.clean_end);
	stk_reader__free(r);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD) >= 0, 1); /* the reader must not close it */
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(fds[0]);
	gen_close(&f);
}

static void test_closed_pipe(void **state)
{
	struct stk_writer *w;
	uint64_t ts = 0;
	int fds[2], err = 0;

	assert_int_equal(pipe(fds), 0);
	w = begin(fds[1]);
	close(fds[0]);
	err = add_round(w, &ts, 10);
	assert_int_equal(err, -EPIPE);
	assert_int_equal(stk_writer__finish(w, "done", 0), -EPIPE);
	stk_writer__free(w);
}

static bool twice(void *ctx)
{
	return ++*(unsigned int *)ctx > 1;
}

static void on_alarm(int sig)
{
}

/* A pipe without a reader: signals alone do not end the wait, but the callback does. */
static void test_give_up(void **state)
{
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = { 0 };
	struct sigaction sa = { .sa_handler = on_alarm }, before;
	uint64_t counters[1][STK_NR_COUNTERS] = { { 0 } }, ts = 0;
	unsigned int asked = 0;
	struct stk_writer_opts opts = { .nr_cpus = 1, .give_up = twice, .give_up_ctx = &asked };
	struct stk_writer *w;
	int fds[2], err;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(stk_writer__new(fds[1], &opts, &w), 0);
	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), 0);
	sigaction(SIGALRM, &sa, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	/* full to the last byte, so that no byte of the next round is written */
	assert_int_equal(add_round(w, &ts, 1), 0);
	assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
	while (write(fds[1], &ts, 1) == 1)
		;
	assert_int_equal(fcntl(fds[1], F_SETFL, 0), 0);
	err = add_round(w, &ts, 1000);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_int_equal(err, -EINTR);
	assert_int_equal(asked, 2);
	/* would wait again */
	assert_int_equal(stk_writer__account_failure(w, counters, 1), -EINVAL);
	stk_writer__free(w);
	close(fds[0]);
}

static void test_dev_full(void **state)
{
	struct stk_writer *w = NULL;
	int fd = open("/dev/full", O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(stk_writer__new(fd, &one_cpu, &w), -ENOSPC);
	assert_null(w);
	assert_int_equal(fcntl(fd, F_GETFD), -1); /* the writer closes it */
}

/*
 * The disk becomes full within a group: the file is truncated to the previous group, the error is
 * sticky, and the file is readable.
 */
static void full_disk(int fd, int check_fd, int want_err)
{
	struct stk_writer *w = begin(fd);
	uint32_t rounds = 0, number;
	struct stk_reader *r;
	uint64_t counters[1][STK_NR_COUNTERS] = { { 0 } };
	struct stat before = { 0 }, after;
	const struct stk_event_type *t;
	uint64_t ts = 0;
	char path[32];
	bool clean;
	int err;

	while (!(err = add_round(w, &ts, 100))) {
		rounds++;
		assert_int_equal(fstat(check_fd, &before), 0);
	}
	assert_true(rounds > 2);
	assert_int_equal(err, want_err);
	assert_int_equal(fstat(check_fd, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	assert_int_equal(stk_writer__meta(w, "a", "b"), want_err);
	assert_int_equal(stk_writer__stack(w, &ts, 1, &number), want_err);
	assert_int_equal(stk_writer__end_round(w, ts, 0), want_err);
	assert_int_equal(stk_writer__finish(w, "done", 0), want_err);
	assert_int_equal(fstat(check_fd, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	counters[0][STK_C_HAPPENED] = counters[0][STK_C_RECORDED] = ts + 7;
	assert_int_equal(stk_writer__account_failure(w, counters, 1), 0);
	assert_int_equal(stk_writer__finish(w, "done", 0), want_err);
	stk_writer__free(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", check_fd);
	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	assert_int_equal(count_events(r, &clean), 100 * rounds);
	assert_false(clean);
	t = stk_reader__type(r, 0);
	assert_int_equal(stk_reader__counter(r, t, STK_C_HAPPENED), ts + 7);
	assert_int_equal(stk_reader__counter(r, t, STK_C_RECORDED), 100 * rounds);
	assert_int_equal(stk_reader__counter(r, t, STK_C_LOST_WRITE), ts + 7 - 100 * rounds);
	stk_reader__free(r);
}

static void test_file_limit(void **state)
{
	struct rlimit old, limit = { 100001, 100001 };
	char path[] = "/tmp/stk-test-XXXXXX";
	int fd = mkstemp(path), check_fd = dup(fd);

	assert_true(fd >= 0 && !unlink(path));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	full_disk(fd, check_fd, -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	close(check_fd);
}

/* A recording appended to other contents does not damage them, even if its tail is cut off. */
static void test_appended(void **state)
{
	struct rlimit old, limit;
	char path[] = "/tmp/stk-test-XXXXXX", head[5];
	int fd = mkstemp(path), again;
	struct stk_writer *w;
	uint64_t ts = 0;
	struct stat st, now;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "HEAD", 5), 5);
	again = open(path, O_RDWR | O_APPEND);
	assert_true(again >= 0 && !unlink(path));
	w = begin(again);
	assert_int_equal(add_round(w, &ts, 10), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = (struct rlimit){ st.st_size + 100, old.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(add_round(w, &ts, 100), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(fstat(fd, &now), 0);
	assert_int_equal(now.st_size, st.st_size);
	assert_int_equal(pread(fd, head, 5, 0), 5);
	assert_string_equal(head, "HEAD");
	stk_writer__free(w);
	close(fd);
}

/* A file without an end was ended abruptly; the reader returns how far it goes. */
static void test_abrupt(void **state)
{
	struct gen_file f;
	struct stk_writer *w = gen_open(&f, &one_cpu);
	struct stk_reader *r;
	uint64_t ts = 0;
	bool clean;

	stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", "");
	assert_int_equal(add_round(w, &ts, 50), 0);
	assert_int_equal(add_round(w, &ts, 50), 0);
	stk_writer__free(w);
	gen_load(&f);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	assert_int_equal(count_events(r, &clean), 100);
	assert_false(clean);
	stk_reader__free(r);
	gen_close(&f);
}

static void test_arguments(void **state)
{
	struct gen_file f;
	struct stk_writer *w = gen_open(&f, &one_cpu);
	struct stk_writer_event e = { .event = 0 };
	char *big = malloc(STK_MAX_STRING + 2);
	uint8_t *rec = calloc(1, STK_MAX_RECORD + 1);
	struct stk_reader *r;
	const struct stk_event *ev;
	size_t len;

	memset(big, 'x', STK_MAX_STRING + 1);
	big[STK_MAX_STRING + 1] = 0;
	assert_int_equal(stk_writer__event(w, &e), -EINVAL); /* no such type */
	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", NULL, NULL), 0);
	e.record = rec;
	e.record_len = STK_MAX_RECORD + 1;
	assert_int_equal(stk_writer__event(w, &e), -EINVAL);
	assert_int_equal(stk_writer__meta(w, big, "value"), -E2BIG);
	assert_int_equal(stk_writer__symbol(w, 1, 1, big, ""), -E2BIG);
	assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", big), -E2BIG);
	/* none of these is sticky; the largest valid one is accepted */
	big[STK_MAX_STRING] = 0;
	assert_int_equal(stk_writer__meta(w, "key", big), 0);
	e.cpu = 300;
	e.record_len = STK_MAX_RECORD;
	memset(rec + 8, 0x5a, STK_MAX_RECORD - 8);
	assert_int_equal(stk_writer__event(w, &e), 0);
	assert_int_equal(stk_writer__finish(w, "done", -1), 0);
	stk_writer__free(w);
	gen_load(&f);
	assert_int_equal(stk_reader__open_mem(f.p, f.len, NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &ev), 1);
	assert_int_equal(stk_event__cpu(ev), 300);
	assert_memory_equal(stk_event__record(ev, &len), rec, STK_MAX_RECORD);
	assert_int_equal(len, STK_MAX_RECORD);
	assert_int_equal(stk_reader__next(r, &ev), 0);
	assert_string_equal(stk_reader__meta(r, "key"), big);
	assert_string_equal(stk_reader__meta(r, "reason"), "done");
	assert_null(stk_reader__meta(r, "exit_status"));
	stk_reader__free(r);
	free(big);
	free(rec);
	gen_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipe),	    cmocka_unit_test(test_stdin),
		cmocka_unit_test(test_closed_pipe), cmocka_unit_test(test_dev_full),
		cmocka_unit_test(test_file_limit),  cmocka_unit_test(test_appended),
		cmocka_unit_test(test_abrupt),	    cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_give_up),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
