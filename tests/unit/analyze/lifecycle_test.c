// SPDX-License-Identifier: GPL-2.0-only
/* Lifecycles by their events: exits, waits, reused and namespace PIDs. */
#include "lifecycle_recording.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define NOWAIT 0x01000000

static void test_plain(void **state)
{
	struct recording *r = begin(0);
	const struct life *l;

	born(r, 100, 10, 20, 20);
	ev(r, 110, 20, 20, RENAME, 20, 0, 0, "renamed");
	ev(r, 120, 20, 20, EXEC, 20, 20, 0, "/bin/x");
	ends(r, 200, 20, 3, Z);
	waits(r, 250, 10, 20);
	freed(r, 300, 20, NULL);
	read_back(r);
	l = process(20, 0);
	assert_exit(l, 3);
	assert_int_equal(l->state, LIFE_FREED);
	assert_int_equal(l->parent.pid, 10);
	assert_int_equal(l->reaper.pid, 10);
	assert_string_equal(l->reaped_with, "wait4");
	assert_int_equal(l->nr_execs, 1);
	assert_false(l->existed || l->orphan || l->early);
	assert_at(l->born, 100);
	assert_at(l->exit, 201);
	assert_at(l->zombie, 202);
	assert_at(l->reaped, 251);
	assert_at(l->freed, 300);
	assert_us(life__lifetime(l), 101, 101);
	assert_us(life__teardown(l), 1, 1);
	assert_us(life__zombie(l), 49, 49);
	assert_us(life__unfreed(l), 49, 49);
	assert_int_equal(process(10, 0)->state, LIFE_ALIVE);
	assert_int_equal(counts.processes, 1);
	assert_int_equal(nr_gaps, 0);
}

/* Without the thread in the event, the current one was renamed if it had the old name. */
static void test_renamed(void **state)
{
	struct recording *r = begin(OLD_NAME);
	int64_t name[2] = { 0 };

	memcpy(name, "comm-20", 7);
	born(r, 100, 10, 20, 20);
	ev(r, 110, 20, 20, RENAME, name[0], name[1], 0, "renamed");
	born(r, 120, 10, 30, 30);
	ev(r, 130, 30, 30, RENAME, name[0], name[1], 0, "another");
	read_back(r);
	assert_string_equal(process(20, 0)->self.comm, "renamed");
	assert_string_equal(process(30, 0)->self.comm, "comm-30");
}

/* An event lost between two moments makes the duration an upper bound. */
static void test_lost(void **state)
{
	static const struct {
		enum ev kind;
		uint64_t at;
		bool lifetime, teardown, zombie, unfreed;
	} rows[] = {
		{ EXIT, 150, true, false, false, false },
		{ FORK, 150, true, false, false, false },
		{ SWITCH, 202, false, true, true, false },
		{ WAIT4_RET, 220, false, false, true, false },
		{ FREE, 280, false, false, false, true },
		{ FREE, 150, false, false, false, false },
		{ SWITCH, 150, false, false, false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct recording *r = begin(0);
		const struct life *l;

		born(r, 100, 10, 20, 20);
		lose(r, rows[i].kind, rows[i].at, rows[i].at);
		ends(r, 200, 20, 3, Z);
		waits(r, 250, 10, 20);
		freed(r, 300, 20, NULL);
		read_back(r);
		l = process(20, 0);
		assert_us(life__lifetime(l), rows[i].lifetime ? 0 : 101, 101);
		assert_us(life__teardown(l), rows[i].teardown ? 0 : 1, 1);
		assert_us(life__zombie(l), rows[i].zombie ? 0 : 49, 49);
		assert_us(life__unfreed(l), rows[i].unfreed ? 0 : 49, 49);
	}
}

static void test_autoreap(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	ends(r, 200, 20, 0, X);
	ev(r, 210, 10, 10, EXIT_GROUP, 0, 0, 0, NULL);
	ev(r, 211, 10, 10, EXIT, 10, 1, 0, NULL);
	freed(r, 300, 20, NULL);
	read_back(r);
	assert_between(process(20, 0)->reaped, 201, 202);
	assert_null(process(20, 0)->reaped_with);
	assert_false(process(20, 0)->orphan);
	assert_us(life__zombie(process(20, 0)), 0, 0);
	assert_us(life__unfreed(process(20, 0)), 98, 99);
}

/* The parent may end once the child is released, before the child's last switch. */
static void test_autoreap_parent_ends(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	born(r, 101, 20, 30, 30);
	thread(r, 102, 20, 21);
	born(r, 103, 20, 40, 40);
	thread(r, 104, 40, 41);
	/* single-threaded, and with a thread that ended before its leader */
	ev(r, 200, 30, 30, EXIT_GROUP, 1, 0, 0, NULL);
	ev(r, 201, 30, 30, EXIT, 30, 1, 0, NULL);
	ev(r, 202, 40, 41, EXIT, 41, 0, 0, NULL);
	ev(r, 203, 40, 40, EXIT, 40, 1, 0, NULL);
	ev(r, 204, 40, 41, SWITCH, 41, X, 0, NULL);
	ends(r, 210, 20, 0, Z);
	ev(r, 220, 30, 30, SWITCH, 30, X, 0, NULL);
	ev(r, 221, 40, 40, SWITCH, 40, X, 0, NULL);
	waits(r, 230, 10, 20);
	freed(r, 300, 30, NULL);
	freed(r, 301, 40, NULL);
	freed(r, 302, 20, NULL);
	read_back(r);
	assert_false(process(30, 0)->orphan);
	assert_false(process(40, 0)->orphan);
	assert_null(process(30, 0)->reaped_with);
	assert_between(process(30, 0)->reaped, 201, 220);
	assert_int_equal(counts.orphans, 0);
}

/* The same order of events, but the new parent waits for them. */
static void test_orphan_while_exiting(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	born(r, 101, 20, 30, 30);
	born(r, 102, 20, 40, 40);
	ev(r, 200, 30, 30, EXIT_GROUP, 1, 0, 0, NULL);
	ev(r, 201, 30, 30, EXIT, 30, 1, 0, NULL);
	ev(r, 202, 40, 40, EXIT_GROUP, 2, 0, 0, NULL);
	ev(r, 203, 40, 40, EXIT, 40, 1, 0, NULL);
	ends(r, 210, 20, 0, Z);
	ev(r, 220, 30, 30, SWITCH, 30, X, 0, NULL); /* after the wait */
	ev(r, 221, 40, 40, SWITCH, 40, Z, 0, NULL);
	waits(r, 230, 10, 30);
	waits(r, 240, 10, 40);
	freed(r, 300, 30, NULL);
	freed(r, 301, 40, NULL);
	read_back(r);
	assert_true(process(30, 0)->orphan);
	assert_true(process(40, 0)->orphan);
	assert_int_equal(process(30, 0)->reaper.pid, 10);
	assert_int_equal(process(40, 0)->reaper.pid, 10);
	assert_int_equal(counts.orphans, 2);
}

/* The parent's wait may return before the child's last switch. */
static void test_wait_before_switch(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	ev(r, 200, 20, 20, EXIT_GROUP, 1, 0, 0, NULL);
	ev(r, 201, 20, 20, EXIT, 20, 1, 0, NULL);
	waits(r, 202, 10, 20);
	ev(r, 210, 20, 20, SWITCH, 20, X, 0, NULL);
	freed(r, 300, 20, NULL);
	read_back(r);
	assert_at(process(20, 0)->reaped, 203);
	assert_us(life__zombie(process(20, 0)), 0, 0);
	assert_us(life__unfreed(process(20, 0)), 97, 97);
}

/*
 * The kernel reads a task's state before the switch event gets its timestamp: a last switch as a
 * zombie does not undo an earlier wait that can only have returned an end, but does undo others.
 */
static void test_stale_zombie(void **state)
{
	struct recording *r = begin(0);
	unsigned int i;

	for (i = 0; i < 4; i++) {
		born(r, 100 + 10 * i, 10, 20 + i, 20 + i);
		ev(r, 200 + i, 20 + i, 20 + i, EXIT_GROUP, 1, 0, 0, NULL);
		ev(r, 204 + i, 20 + i, 20 + i, EXIT, 20 + i, 1, 0, NULL);
	}
	waits(r, 210, 10, 20);
	ev(r, 212, 10, 10, WAIT4, -1, WUNTRACED, 0, NULL);
	ev(r, 213, 10, 10, WAIT4_RET, 21, 0, 0, NULL);
	wait_id(r, 214, 10, P_PID, 22, WEXITED | WNOHANG);
	ev(r, 216, 10, 10, WAIT4, -1, WUNTRACED, 0, NULL);
	ev(r, 217, 10, 10, WAIT4_RET, 23, 0, 0, NULL);
	for (i = 0; i < 4; i++)
		ev(r, 220 + i, 20 + i, 20 + i, SWITCH, 20 + i, Z, 0, NULL);
	for (i = 0; i < 3; i++)
		freed(r, 300 + i, 20 + i, NULL);
	read_back(r);
	assert_at(process(20, 0)->reaped, 211);
	assert_true(process(20, 0)->early);
	assert_us(life__zombie(process(20, 0)), 0, 0);
	assert_us(life__unfreed(process(20, 0)), 89, 89);
	assert_between(process(21, 0)->reaped, 213, 301);
	assert_string_equal(process(21, 0)->reaped_with, "wait4");
	assert_between(process(22, 0)->reaped, 215, 302);
	assert_string_equal(process(22, 0)->reaped_with, "waitid");
	assert_int_equal(process(23, 0)->state, LIFE_ZOMBIE);
	assert_int_equal(process(23, 0)->reaper.id, 0);
	assert_null(process(23, 0)->reaped_with);
}

/* A wait that reports a stop while the process exits does not reap it: it becomes a zombie. */
static void test_stop_report(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	waits(r, 150, 10, 20); /* stopped */
	ev(r, 200, 20, 20, EXIT_GROUP, 1, 0, 0, NULL);
	ev(r, 201, 20, 20, EXIT, 20, 1, 0, NULL);
	ev(r, 203, 10, 10, WAIT4_RET, 20, 0, 0, NULL);
	ev(r, 210, 20, 20, SWITCH, 20, Z, 0, NULL);
	waits(r, 250, 10, 20);
	read_back(r);
	assert_at(process(20, 0)->reaped, 251);
	assert_us(life__zombie(process(20, 0)), 41, 41);
	assert_int_equal(counts.stop_reports, 1);
	assert_int_equal(process(20, 0)->state, LIFE_REAPED);
}

/* Two namespaces with the same PIDs, and a process outside with one of these PIDs. */
static void test_namespaces(void **state)
{
	struct recording *r = begin(0);
	uint32_t init;

	born(r, 90, 10, 2, 2);
	for (init = 100; init <= 200; init += 100) {
		born(r, 95 + init, 10, init, init);
		born(r, 110 + init, init, init + 1, 2);
	}
	ends(r, 400, 101, 1, Z);
	ends(r, 410, 201, 2, Z);
	ends(r, 420, 2, 3, Z);
	waits(r, 500, 200, 2);
	waits(r, 510, 100, 2);
	waits(r, 520, 10, 2);
	read_back(r);
	assert_int_equal(process(101, 0)->ns_pid, 2);
	assert_at(process(101, 0)->reaped, 511);
	assert_at(process(201, 0)->reaped, 501);
	assert_at(process(2, 0)->reaped, 521);
	assert_int_equal(process(101, 0)->reaper.pid, 100);
	assert_int_equal(counts.waits_unmatched, 0);
}

static void test_double_fork(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	born(r, 110, 20, 30, 30);
	born(r, 115, 30, 40, 40);
	ends(r, 120, 30, 0, Z);
	waits(r, 130, 20, 30);
	freed(r, 140, 30, NULL);
	ends(r, 200, 40, 7, Z);
	waits(r, 250, 10, 40); /* a subreaper two above */
	read_back(r);
	assert_true(process(40, 0)->orphan);
	assert_int_equal(process(40, 0)->parent.pid, 30);
	assert_int_equal(process(40, 0)->reaper.pid, 10);
	assert_at(process(40, 0)->reaped, 251);
	assert_int_equal(counts.orphans, 1);
}

static void test_waitid(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	born(r, 101, 10, 30, 30);
	ends(r, 200, 20, 1, Z);
	wait_id(r, 210, 10, P_PID, 20, WEXITED | NOWAIT);
	wait_id(r, 220, 10, P_PID, 20, WSTOPPED);
	wait_id(r, 230, 10, P_PID, 20, WEXITED);
	wait_id(r, 240, 10, P_ALL, 0, WEXITED | WNOHANG); /* no child is ready */
	ends(r, 300, 30, 2, Z);
	wait_id(r, 310, 10, P_ALL, 0, WEXITED | WNOHANG); /* the only zombie */
	read_back(r);
	assert_at(process(20, 0)->reaped, 231);
	assert_string_equal(process(20, 0)->reaped_with, "waitid");
	assert_at(process(30, 0)->reaped, 311);
	assert_int_equal(counts.waits_unmatched, 0);
}

/* Two zombies and two waitid() calls: each call reaped one, but it is unknown which. */
static void test_waitid_any(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	born(r, 101, 10, 30, 30);
	ends(r, 200, 20, 1, Z);
	ends(r, 210, 30, 1, Z);
	wait_id(r, 300, 10, P_ALL, 0, WEXITED);
	wait_id(r, 400, 10, P_ALL, 0, WEXITED);
	freed(r, 500, 30, NULL);
	freed(r, 510, 20, NULL);
	read_back(r);
	assert_between(process(20, 0)->reaped, 301, 401);
	assert_between(process(30, 0)->reaped, 301, 401);
	assert_int_equal(process(20, 0)->reaper.pid, 10);
	assert_us(life__zombie(process(20, 0)), 99, 199);
}

/* ---- signals --------------------------------------------------------------------------------- */

static void killed(struct recording *r, uint64_t ts, uint32_t pid, int sig, int delivered,
		   int handler)
{
	ev(r, ts, 10, 10, SENT, sig, pid, 0, NULL);
	ev(r, ts + 1, pid, pid, SIGNAL, delivered, handler, 0, NULL);
}

static void dies(struct recording *r, uint64_t ts, uint32_t pid)
{
	ev(r, ts, pid, pid, EXIT, pid, 1, 0, NULL);
	ev(r, ts + 1, pid, pid, SWITCH, pid, Z, 0, NULL);
}

static void test_signals(void **state)
{
	struct recording *r = begin(0);
	uint32_t pid;

	for (pid = 20; pid < 28; pid++)
		born(r, 100 + pid, 10, pid, pid);
	killed(r, 200, 20, SIGTERM, SIGKILL, 0); /* the kernel delivers SIGKILL */
	killed(r, 210, 21, SIGSEGV, SIGSEGV, 0);
	killed(r, 220, 22, SIGTERM, SIGTERM, 0x1234); /* handled */
	killed(r, 222, 22, SIGUSR1, SIGKILL, 0);
	ev(r, 230, 23, 23, SIGNAL, SIGKILL, 0, 0, NULL); /* without the original signal */
	killed(r, 240, 24, SIGCHLD, SIGCHLD, 0);
	killed(r, 250, 25, SIGTERM, SIGTERM, 0); /* init of a namespace survives it */
	ev(r, 260, 25, 25, EXIT_GROUP, 5, 0, 0, NULL);
	ev(r, 270, 26, 26, EXIT_GROUP, 6, 0, 0, NULL);
	ev(r, 271, 26, 26, SIGNAL, SIGKILL, 0, 0, NULL); /* exit_group()'s own */
	ev(r, 280, 10, 10, SENT, SIGTERM, 27, 0, NULL); /* blocked, or both deadly */
	ev(r, 281, 10, 10, SENT, SIGINT, 27, 0, NULL);
	ev(r, 282, 27, 27, SIGNAL, SIGKILL, 0, 0, NULL);
	for (pid = 20; pid < 28; pid++)
		dies(r, 300 + pid * 3, pid);
	read_back(r);
	assert_signal(process(20, 0), SIGTERM);
	assert_signal(process(21, 0), SIGSEGV);
	assert_signal(process(22, 0), SIGUSR1);
	assert_signal(process(23, 0), -1);
	assert_int_equal(process(24, 0)->how, LIFE_HOW_UNKNOWN);
	assert_exit(process(25, 0), 5);
	assert_exit(process(26, 0), 6);
	assert_int_equal(process(27, 0)->code, SIGINT);
	assert_true(process(27, 0)->uncertain);
}

/* ---- reused pids ----------------------------------------------------------------------------- */

static void test_pid_reuse(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	ends(r, 200, 20, 1, Z);
	waits(r, 210, 10, 20);
	born(r, 220, 10, 20, 20);
	ends(r, 230, 20, 2, Z);
	waits(r, 240, 10, 20);
	born(r, 250, 11, 20, 20);
	freed(r, 260, 20, NULL);
	freed(r, 270, 20, NULL);
	read_back(r);
	assert_exit(process(20, 0), 1);
	assert_at(process(20, 0)->freed, 260);
	assert_at(process(20, 0)->reaped, 211);
	assert_exit(process(20, 1), 2);
	assert_at(process(20, 1)->freed, 270);
	assert_int_equal(process(20, 2)->state, LIFE_ALIVE);
	assert_int_equal(process(20, 2)->parent.pid, 11);
	assert_int_equal(counts.pid_reuses, 2);
	assert_int_equal(counts.frees_ambiguous, 1);
}

/* Another task has its pid: it was reaped before. */
static void test_reuse_bounds(void **state)
{
	struct recording *r = begin(0);

	born(r, 100, 10, 20, 20);
	ends(r, 200, 20, 1, Z);
	born(r, 300, 10, 20, 20);
	freed(r, 400, 20, NULL);
	read_back(r);
	assert_between(process(20, 0)->reaped, 202, 300);
	assert_at(process(20, 0)->freed, 400);
	assert_int_equal(process(20, 1)->state, LIFE_ALIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_autoreap),
		cmocka_unit_test(test_autoreap_parent_ends),
		cmocka_unit_test(test_orphan_while_exiting),
		cmocka_unit_test(test_wait_before_switch),
		cmocka_unit_test(test_stale_zombie),
		cmocka_unit_test(test_stop_report),
		cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_double_fork),
		cmocka_unit_test(test_waitid),
		cmocka_unit_test(test_waitid_any),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_pid_reuse),
		cmocka_unit_test(test_reuse_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
