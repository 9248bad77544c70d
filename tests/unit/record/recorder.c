// SPDX-License-Identifier: GPL-2.0-only
/* The recorder with a fake backend: the contents of the file while events still arrive. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "log.h"
#include "record/backend.h"
#include "record/memory.h"
#include "record/kernel/task_list.h"
#include "record/select/rec_event.h"
#include "record/recorder.h"
#include "record/stop.h"
#include "stackonce.h"
#include "strbuf.h"
#include "symbols/ksyms.h"
#include "trace/write/writer.h"

#define EACH_TIME 10 /* events that a drain consumes */
#define HELD 5 /* events after an unfinished one, until the end */
#define LOST 3 /* per drain */
#define MAX_ROUNDS 50

static struct fake {
	struct backend base;
	struct stk_writer *w;
	const char *path;
	uint64_t happened, lost, ts;
	unsigned int rounds, drains;
	/* Two looks at the file that found different counters. */
	struct look {
		uint64_t happened, recorded, lost, events;
	} looks[2];
	unsigned int nr_looks;
	bool distinct; /* each event has two stacks that no other has */
	uint64_t throttled, multiplexed;
	int drain_err;
	uint64_t armed_at; /* 0: not yet */
	int release_fd; /* closed when armed, so that the command ends; 0: none */
	char line[256]; /* the last status line, or the last warning */
} fake;

static struct look look_at(const char *path)
{
	const struct stk_event_type *type;
	const struct stk_event *e;
	struct look l = { 0 };
	struct stk_reader *r;

	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	while (stk_reader__next(r, &e) == 1)
		l.events++;
	type = stk_reader__type(r, 0);
	if (type) {
		l.happened = stk_reader__counter(r, type, STK_C_HAPPENED);
		l.recorded = stk_reader__counter(r, type, STK_C_RECORDED);
		l.lost = stk_reader__counter(r, type, STK_C_LOST_RING);
	}
	stk_reader__free(r);
	return l;
}

static int fake_hold(void *ctx, pid_t child)
{
	return 0;
}

static int fake_open(const struct recorder_opts *opts, struct backend **ret_backend)
{
	fake.base.selection.hold = fake_hold;
	fake.path = opts->output;
	*ret_backend = &fake.base;
	return 0;
}

static void fake_free(struct backend *b)
{
}

static unsigned int fake_nr_cpus(const struct backend *b)
{
	return 1;
}

static uint64_t fake_ring_size(const struct backend *b)
{
	return 16384;
}

static const struct memory_plan *fake_memory(const struct backend *b)
{
	static const struct memory_plan plan = { .budget = 1 << 20, .ring = 16384 };

	return &plan;
}

static int fake_set_writer(struct backend *b, struct stk_writer *w)
{
	fake.w = w;
	return 0;
}

static int fake_arm(struct backend *b)
{
	fake.armed_at = clock_ns(CLOCK_MONOTONIC);
	if (fake.release_fd)
		close(fake.release_fd);
	return 0;
}

static int fake_disarm(struct backend *b)
{
	return 0;
}

static int fake_counters(struct backend *b, uint64_t (*ret_counters)[STK_NR_COUNTERS])
{
	fake.happened += EACH_TIME + LOST;
	fake.lost += LOST;
	memset(ret_counters, 0, sizeof(*ret_counters));
	ret_counters[0][STK_C_HAPPENED] = fake.happened;
	ret_counters[0][STK_C_LOST_RING] = fake.lost;
	ret_counters[0][STK_C_RECORDED] = fake.happened - fake.lost;
	if (fake.distinct) {
		ret_counters[0][STK_C_STACK_NEW] = fake.ts;
		ret_counters[0][STK_C_USTACK_NEW] = fake.ts;
	}
	ret_counters[0][STK_C_SAMPLE_EXPECTED] = 1000;
	ret_counters[0][STK_C_SAMPLE_THROTTLED] = fake.throttled;
	ret_counters[0][STK_C_SAMPLE_MULTIPLEXED] = fake.multiplexed;
	return 0;
}

static void fake_add_ends(struct backend *b, uint64_t (*counters)[STK_NR_COUNTERS])
{
}

static uint32_t distinct_stack(uint64_t nr)
{
	uint64_t frame = 0xffffffff81000000ull + 16 * nr;
	uint32_t number;

	assert_int_equal(stk_writer__stack(fake.w, &frame, 1, &number), 0);
	return number;
}

/* The ring never becomes empty, and its events are recorded already. */
static int fake_drain(struct backend *b, bool last)
{
	uint64_t end = fake.happened - fake.lost, record[1] = { 0 };
	struct stk_writer_event e = { .record = record, .record_len = sizeof(record) };
	int err = 0;

	fake.drains++;
	if (fake.drain_err)
		return fake.drain_err;
	if (!last)
		end -= MIN(end, (uint64_t)HELD);
	while (fake.ts < end && !err) {
		e.ts = ++fake.ts;
		if (fake.distinct) {
			e.kstack = distinct_stack(2 * e.ts);
			e.ustack = distinct_stack(2 * e.ts + 1);
		}
		err = stk_writer__event(fake.w, &e);
	}
	return err;
}

static int fake_losses(struct backend *b, bool counted)
{
	return 0;
}

static void fake_stats(const struct backend *b, struct backend_stats *ret_stats)
{
	*ret_stats = (struct backend_stats){ .horizon = UINT64_MAX };
}

/*
 * Ends a recording that no command ends, after the file had two different accountings, or after too
 * many rounds.
 */
static void fake_end_round(struct backend *b)
{
	struct look l;

	if (fake.release_fd)
		return;
	l = look_at(fake.path);
	if (fake.nr_looks < 2 && l.happened &&
	    (!fake.nr_looks || l.happened != fake.looks[0].happened))
		fake.looks[fake.nr_looks++] = l;
	if (++fake.rounds == MAX_ROUNDS || (fake.nr_looks == 2 && !stop__count()))
		raise(SIGINT);
}

static int fake_file_event_fd(const struct backend *b)
{
	return -1;
}

static void fake_costs(const struct backend *b, struct backend_costs *ret_costs)
{
	memset(ret_costs, 0, sizeof(*ret_costs));
}

const struct backend_ops backend_bpf = {
	.open = fake_open,
	.free = fake_free,
	.nr_cpus = fake_nr_cpus,
	.ring_size = fake_ring_size,
	.memory = fake_memory,
	.set_writer = fake_set_writer,
	.arm = fake_arm,
	.disarm = fake_disarm,
	.counters = fake_counters,
	.add_ends = fake_add_ends,
	.drain = fake_drain,
	.losses = fake_losses,
	.stats = fake_stats,
	.end_round = fake_end_round,
	.file_event_fd = fake_file_event_fd,
	.finish = fake_disarm,
	.costs = fake_costs,
};

const struct backend_ops backend_ftrace = { 0 };

/* In place of reading /proc. */
static struct {
	int err;
	unsigned int nr_tasks;
} fake_proc;

int task_list__read(const char *proc, struct strbuf *out, int (*meanwhile)(void *ctx), void *ctx)
{
	unsigned int i, drains = fake.drains;

	assert_string_equal(proc, "/proc");
	for (i = 0; i < fake_proc.nr_tasks; i++)
		strbuf__printf(out, "%u %u 1 %u 5000000000 S worker\\x20%u\n", i + 1, i + 1, i + 1,
			       i);
	assert_int_equal(meanwhile(ctx), fake.drain_err);
	assert_int_equal(fake.drains, drains + 1);
	return fake.drain_err ?: fake_proc.err;
}

static char dir[32], path[64];
static char sched[] = "sched", exit_event[] = "sched_process_exit";

/*
 * Makes the recording `path` with fake, which the caller has set, of one event type; returns what
 * the recorder does.
 */
static int try(struct recorder_opts opts, char *system, char *name,
	       struct recorder_result *ret_result)
{
	int err;

	char none[] = "";
	struct rec_event event = { .kind = STK_KIND_SAMPLE,
				   .system = system,
				   .name = name,
				   .format = none,
				   .filter = none };
	struct rec_events events = { .v = &event, .nr = 1 };

	opts.output = path;
	opts.events = &events;
	assert_int_equal(ksyms__parse("", &opts.syms), 0);
	stop__catch();
	err = recorder__run(&opts, ret_result);
	ksyms__free(opts.syms);
	return err;
}

static void make(struct recorder_opts opts, char *system, char *name,
		 struct recorder_result *ret_result)
{
	assert_int_equal(try(opts, system, name, ret_result), 0);
}

/* Returns what the file holds. */
static struct look record(struct recorder_opts opts, struct recorder_result *ret_result)
{
	char name[] = "event";
	struct look last;

	make(opts, name, name, ret_result);
	last = look_at(path);
	unlink(path);
	return last;
}

static int set_up(void **state)
{
	strcpy(dir, "/tmp/stackonce-test.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/trace.stk", dir);
	return 0;
}

static int tear_down(void **state)
{
	unlink(path);
	rmdir(dir);
	return 0;
}

static struct stk_reader *read_all(void)
{
	const struct stk_event *e;
	struct stk_reader *r;

	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	while (stk_reader__next(r, &e) == 1)
		;
	return r;
}

static void keep_line(void *ctx, const char *line)
{
	snprintf(fake.line, sizeof(fake.line), "%s", line);
}

static void accounting_of_a_ring_that_is_never_empty(void **state)
{
	const struct look *looks = fake.looks;
	struct recorder_result result;
	struct look last;

	fake = (struct fake){ .distinct = true };
	last = record((struct recorder_opts){ .status = keep_line }, &result);
	assert_int_equal(fake.nr_looks, 2);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(looks[i].happened, looks[i].recorded + looks[i].lost);
		assert_in_range(looks[i].recorded, 1, looks[i].events);
	}
	assert_true(looks[1].lost > looks[0].lost);
	assert_true(looks[1].recorded > looks[0].recorded);
	assert_int_equal(last.happened, last.recorded + last.lost);
	assert_int_equal(last.recorded, last.events);
	assert_int_equal(last.events, result.events);
	/* an event may have two stacks: there can be more stacks than events */
	assert_true(result.stacks > result.events);
	assert_non_null(strstr(fake.line, ", dedup 0.0 %, "));
}

static void keep_warning(void *ctx, enum stk_log_level level, const char *msg)
{
	assert_int_equal(level, STK_LOG_WARN);
	snprintf(fake.line, sizeof(fake.line), "%s", msg);
}

/* No machine at hand throttles or shares its counters: the counters are made up. */
static void missing_samples_are_said(void **state)
{
	struct recorder_result result;

	log_set_sink(keep_warning, NULL);
	fake = (struct fake){ .throttled = 7 };
	record((struct recorder_opts){ 0 }, &result);
	assert_non_null(strstr(fake.line, "throttled 7 times"));
	fake = (struct fake){ .multiplexed = 250 };
	record((struct recorder_opts){ 0 }, &result);
	assert_non_null(strstr(fake.line, "about 250 of 1000 timer samples are missing"));
	fake = (struct fake){ 0 };
	record((struct recorder_opts){ 0 }, &result);
	assert_string_equal(fake.line, "");
	log_set_sink(NULL, NULL);
}

/* The backend is armed when the delay is over, or never. */
static void delay(void **state)
{
	static char pipe_end[32];
	static char *const waits[] = { "cat", pipe_end, NULL }, *const ends[] = { "true", NULL };
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	struct recorder_result result;
	int fds[2];

	log_set_sink(keep_warning, NULL);
	/* the command cannot end before the backend is armed */
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(fcntl(fds[0], F_SETFD, 0), 0);
	snprintf(pipe_end, sizeof(pipe_end), "/dev/fd/%d", fds[0]);
	fake = (struct fake){ .release_fd = fds[1] };
	record((struct recorder_opts){ .command = waits, .delay_ns = 100000000 }, &result);
	close(fds[0]);
	assert_in_range(fake.armed_at, start + 100000000, clock_ns(CLOCK_MONOTONIC));
	assert_int_equal(result.exit_status, 0);
	assert_string_equal(fake.line, "");
	fake = (struct fake){ 0 };
	record((struct recorder_opts){ .command = ends, .delay_ns = 60000000000 }, &result);
	assert_int_equal(fake.armed_at, 0);
	assert_non_null(strstr(fake.line, "the processes ended before the delay of 60000 ms"));
	log_set_sink(NULL, NULL);
}

/* More text than a string of the file holds: lists of tasks, and the command line. */
static void long_metadata(void **state)
{
	_cleanup_free_ char *word = malloc(100000 + 1);
	char *argv[40];
	struct recorder_result result;
	struct stk_reader *r;
	const char *s, *list;
	unsigned int nr, i;

	assert_non_null(word);
	memset(word, 'w', 100000);
	word[100000] = '\0';
	for (i = 0; i < ARRAY_SIZE(argv); i++)
		argv[i] = word;
	fake_proc.nr_tasks = 30000;
	fake = (struct fake){ 0 };
	make((struct recorder_opts){ .argc = ARRAY_SIZE(argv), .argv = argv }, sched, exit_event,
	     &result);
	r = read_all();
	for (i = 0; i < 2; i++) {
		list = stk_reader__meta(r, i ? "tasks.end" : "tasks.start");
		assert_non_null(list);
		assert_true(strlen(list) > 1u << 20);
		for (nr = 0, s = list; (s = strchr(s, '\n')); s++)
			nr++;
		assert_int_equal(nr, fake_proc.nr_tasks);
	}
	assert_int_equal(strlen(stk_reader__meta(r, "cmdline")), ARRAY_SIZE(argv) * 100001 - 1);
	stk_reader__free(r);
}

static unsigned int nr_warnings;

static void count_warnings(void *ctx, enum stk_log_level level, const char *msg)
{
	nr_warnings += level == STK_LOG_WARN && strstr(msg, "no list of the tasks");
}

/* A list that cannot be read does not end the recording, and the recording says so. */
static void unreadable_task_list(void **state)
{
	struct recorder_result result;
	struct stk_reader *r;

	fake_proc.err = -EMFILE;
	log_set_sink(count_warnings, NULL);
	fake = (struct fake){ 0 };
	make((struct recorder_opts){ 0 }, sched, exit_event, &result);
	r = read_all();
	assert_null(stk_reader__meta(r, "tasks.start"));
	assert_null(stk_reader__meta(r, "tasks.end_ts"));
	assert_non_null(stk_reader__meta(r, "metadata.left_out"));
	assert_non_null(strstr(stk_reader__meta(r, "metadata.left_out"),
			       "tasks.start (Too many open files), "
			       "tasks.end (Too many open files)"));
	assert_int_equal(nr_warnings, 2);
	stk_reader__free(r);
}

/* What fails while the list is read is not a failure to read it. */
static void failed_drain_while_tasks_are_read(void **state)
{
	struct recorder_result result;

	fake_proc.err = nr_warnings = 0;
	log_set_sink(count_warnings, NULL);
	fake = (struct fake){ .drain_err = -ENOSPC };
	assert_int_equal(try((struct recorder_opts){ 0 }, sched, exit_event, &result), -ENOSPC);
	assert_int_equal(fake.drains, 1);
	assert_int_equal(nr_warnings, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(delay, set_up, tear_down),
		cmocka_unit_test_setup_teardown(accounting_of_a_ring_that_is_never_empty, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(missing_samples_are_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_metadata, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unreadable_task_list, set_up, tear_down),
		cmocka_unit_test_setup_teardown(failed_drain_while_tasks_are_read, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
