// SPDX-License-Identifier: GPL-2.0-only
/* Recordings on the TAI clock while it is set, with made-up clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "log.h"
#include "record/clock_steps.h"
#include "record/ftrace/ring/ftrace_page.h"
#include "record/opts.h"
#include "stackonce.h"
#include "trace/write/writer.h"

#define SECOND 1000000000ll
#define BEGIN (1000 * SECOND)
#define TAI_AHEAD (1700000000 * SECOND)
#define READING 50 /* ns that reading a clock takes */

static int64_t boot, tai_ahead;
static unsigned int interruptions, messages;
static char message[200];
static bool no_memory; /* for the next allocation */

int __wrap_clock_gettime(clockid_t id, struct timespec *ret);
void *__real_reallocarray(void *p, size_t nr, size_t size);
void *__wrap_reallocarray(void *p, size_t nr, size_t size);

void *__wrap_reallocarray(void *p, size_t nr, size_t size)
{
	bool given = !no_memory;

	no_memory = false;
	return given ? __real_reallocarray(p, nr, size) : NULL;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ret)
{
	int64_t ns = boot + (id == CLOCK_TAI ? tai_ahead : 0);

	boot += READING;
	if (interruptions && id == CLOCK_TAI) {
		interruptions--;
		boot += SECOND / 100;
	}
	ret->tv_sec = ns / SECOND;
	ret->tv_nsec = ns % SECOND;
	return 0;
}

static void on_message(void *ctx, enum stk_log_level level, const char *text)
{
	messages++;
	snprintf(message, sizeof(message), "%s", text);
}

static struct recorder_opts begin(enum rec_clock clock)
{
	struct recorder_opts o = { .clock = clock };

	boot = BEGIN;
	tai_ahead = TAI_AHEAD;
	messages = interruptions = 0;
	log_set_sink(on_message, NULL);
	rec_clock__offset(clock, &o.clock_offset);
	return o;
}

static void offset(void **state)
{
	struct recorder_opts o = begin(REC_CLOCK_MONO);
	uint64_t now = boot;

	assert_int_equal(recorder_opts__now(&o), now);
	assert_int_equal(o.clock_offset.ns, 0);
	o = begin(REC_CLOCK_TAI);
	assert_in_range(o.clock_offset.ns, TAI_AHEAD - READING, TAI_AHEAD + READING);
	assert_in_range(o.clock_offset.error, 1, 2 * READING);
	/* all readings but one are interrupted */
	interruptions = 9;
	rec_clock__offset(REC_CLOCK_TAI, &o.clock_offset);
	assert_int_equal(interruptions, 0);
	assert_in_range(o.clock_offset.ns, TAI_AHEAD - READING, TAI_AHEAD + READING);
}

/* Times that are those of another clock, as in jitdumps, are put where the events are. */
static void ahead_of_mono(void **state)
{
	struct recorder_opts o = begin(REC_CLOCK_MONO);

	assert_int_equal(recorder_opts__ahead_of_mono(&o), 0);
	o = begin(REC_CLOCK_TAI);
	tai_ahead -= 3600 * SECOND;
	assert_in_range(recorder_opts__ahead_of_mono(&o), TAI_AHEAD - 2 * READING,
			TAI_AHEAD + 2 * READING);
}

/* ---- a recording ----------------------------------------------------------------------------- */

struct recording {
	struct recorder_opts o;
	struct clock_steps *steps;
	struct stk_writer *w;
	char path[32];
	uint64_t last; /* time of the last event */
};

static void open_recording(struct recording *r, enum rec_clock clock)
{
	static const char format[] = "name: tick\nID: 1\nformat:\n\nprint fmt: \"\"\n";
	const struct stk_writer_opts wo = { .nr_cpus = 2 };

	*r = (struct recording){ .o = begin(clock), .path = "/tmp/stackonce-test-XXXXXX" };
	assert_int_equal(stk_writer__new(mkstemp(r->path), &wo, &r->w), 0);
	assert_int_equal(stk_writer__type(r->w, STK_KIND_TRACEPOINT, "test", "tick", "", format),
			 0);
	assert_int_equal(clock_steps__new(clock, &r->o.clock_offset, &r->steps), 0);
}

/* A round with an event on each CPU, a loss, and a look at the clock, as recorders do. */
static void put_round(struct recording *r)
{
	uint64_t first = recorder_opts__now(&r->o), record[1] = { 0 };
	struct stk_writer_event e = { .record = record, .record_len = sizeof(record) };
	struct stk_writer_loss loss = { .first_ts = r->last ?: first, .event = 0, .count = 1 };

	for (e.cpu = 0; e.cpu < 2; e.cpu++) {
		boot += SECOND / 10;
		e.ts = recorder_opts__now(&r->o);
		assert_true(e.ts > r->last);
		r->last = e.ts;
		assert_int_equal(stk_writer__event(r->w, &e), 0);
	}
	loss.last_ts = r->last;
	assert_int_equal(stk_writer__loss(r->w, &loss), 0);
	assert_int_equal(stk_writer__end_round(r->w, recorder_opts__now(&r->o), 1), 0);
	assert_int_equal(clock_steps__check(r->steps, r->w, recorder_opts__now(&r->o)), 0);
}

/* Each event is read, in order, and only the message and the metadata know of the steps. */
static void want_events(struct recording *r, unsigned int nr, const char *steps)
{
	const struct stk_event *e;
	const char *meta;
	uint64_t last = 0;
	struct stk_reader *reader;

	assert_int_equal(stk_writer__finish(r->w, "stopped", 0), 0);
	stk_writer__free(r->w);
	clock_steps__free(r->steps);
	assert_int_equal(stk_reader__open(r->path, NULL, &reader), 0);
	while (stk_reader__next(reader, &e) == 1) {
		assert_true(stk_event__ts(e) > last);
		assert_false(stk_event__marks(e) & STK_MARK_LATE);
		last = stk_event__ts(e);
		nr--;
	}
	assert_int_equal(nr, 0);
	meta = stk_reader__meta(reader, "clock.steps");
	assert_int_equal(!meta, !steps);
	if (steps)
		assert_int_equal(strncmp(meta, steps, strlen(steps)), 0);
	stk_reader__free(reader);
	unlink(r->path);
}

static void set_back(void **state)
{
	struct recording r;
	unsigned int i;

	open_recording(&r, REC_CLOCK_TAI);
	for (i = 0; i < 5; i++)
		put_round(&r);
	assert_int_equal(messages, 0);
	tai_ahead -= 3600 * SECOND;
	for (i = 0; i < 5; i++)
		put_round(&r);
	assert_int_equal(messages, 1);
	assert_non_null(strstr(message, "'tai' was set back by 3600 s"));
	want_events(&r, 20, "-3600000000000 at 1700001001");
}

static void set_forward_and_slightly(void **state)
{
	struct recording r;

	open_recording(&r, REC_CLOCK_TAI);
	put_round(&r);
	tai_ahead += 2 * SECOND;
	put_round(&r);
	assert_non_null(strstr(message, "set forward by 2"));
	tai_ahead -= 10 * READING;
	put_round(&r);
	assert_non_null(strstr(message, "set back by 500 ns"));
	put_round(&r);
	assert_int_equal(messages, 2);
	want_events(&r, 8, "2000000000 at 1700001000");
}

/* The recording goes on without the steps, and says so once. */
static void no_memory_for_the_steps(void **state)
{
	const struct stk_event *e;
	struct stk_reader *reader;
	struct recording r;

	open_recording(&r, REC_CLOCK_TAI);
	tai_ahead -= SECOND;
	no_memory = true;
	assert_int_equal(clock_steps__check(r.steps, r.w, recorder_opts__now(&r.o)), 0);
	assert_false(no_memory);
	tai_ahead += 2 * SECOND;
	put_round(&r);
	assert_int_equal(messages, 2);
	assert_int_equal(stk_writer__finish(r.w, "stopped", 0), 0);
	assert_int_equal(stk_reader__open(r.path, NULL, &reader), 0);
	while (stk_reader__next(reader, &e) == 1)
		;
	assert_null(stk_reader__meta(reader, "clock.steps"));
	assert_string_equal(stk_reader__meta(reader, "metadata.left_out"),
			    "clock.steps (Cannot allocate memory)");
	stk_reader__free(reader);
	stk_writer__free(r.w);
	clock_steps__free(r.steps);
	unlink(r.path);
}

/* A recorder that is interrupted between two readings does not take that for a step. */
static void interrupted(void **state)
{
	struct recording r;

	open_recording(&r, REC_CLOCK_TAI);
	interruptions = 9;
	put_round(&r);
	interruptions = 20;
	put_round(&r);
	put_round(&r);
	assert_int_equal(messages, 0);
	want_events(&r, 6, NULL);
}

/* Older recorders wrote the times of the clock as it was set: no event of these is dropped. */
static void older_recorder(void **state)
{
	struct recording r;
	uint64_t record[1] = { 0 };
	struct stk_writer_event e = { .record = record, .record_len = sizeof(record) };
	const struct stk_event *read;
	struct stk_reader *reader;
	unsigned int i, late = 0;

	open_recording(&r, REC_CLOCK_TAI);
	for (i = 0; i < 20; i++) {
		if (i == 10)
			tai_ahead -= 3600 * SECOND;
		boot += SECOND / 5;
		e.ts = rec_clock__ns(REC_CLOCK_TAI);
		assert_int_equal(stk_writer__event(r.w, &e), 0);
		assert_int_equal(stk_writer__end_round(r.w, e.ts, 1), 0);
	}
	assert_int_equal(stk_writer__finish(r.w, "stopped", 0), 0);
	assert_int_equal(stk_reader__open(r.path, NULL, &reader), 0);
	for (i = 0; stk_reader__next(reader, &read) == 1; i++)
		late += !!(stk_event__marks(read) & STK_MARK_LATE);
	assert_int_equal(i, 20);
	assert_int_equal(late, 10);
	stk_reader__free(reader);
	stk_writer__free(r.w);
	clock_steps__free(r.steps);
	unlink(r.path);
}

/* The other clocks cannot be set. */
static void other_clock(void **state)
{
	struct recording r;

	open_recording(&r, REC_CLOCK_BOOT);
	assert_null(r.steps);
	tai_ahead -= 3600 * SECOND;
	put_round(&r);
	assert_int_equal(messages, 0);
	want_events(&r, 2, NULL);
}

/* ftrace takes the times of events from the base clock, too. */
static void ftrace_pages(void **state)
{
	const struct ftrace_page_format f = {
		.commit = 8, .commit_size = 8, .data = 16, .clock_offset = TAI_AHEAD
	};
	/* a page of one event: four bytes, 7 ns after the page's time */
	struct {
		uint64_t ts, commit;
		uint32_t head, data;
	} buf = { BEGIN, 8, 7 << 5 | 1, 5 };
	struct ftrace_page_event e;
	struct ftrace_page page;

	ftrace_page__open(&page, &f, &buf, sizeof(buf));
	assert_int_equal(ftrace_page__next(&page, &e), 1);
	assert_int_equal(e.ts, TAI_AHEAD + BEGIN + 7);
	assert_int_equal(ftrace_page__next(&page, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offset),
		cmocka_unit_test(set_back),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(set_forward_and_slightly),
		cmocka_unit_test(other_clock),
		cmocka_unit_test(ftrace_pages),
		cmocka_unit_test(older_recorder),
		cmocka_unit_test(ahead_of_mono),
		cmocka_unit_test(no_memory_for_the_steps),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
