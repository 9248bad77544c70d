// SPDX-License-Identifier: GPL-2.0-only
/* The recorder, with a backend that is made up: what is in the file while events still come. */
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
#include "record/backend.h"
#include "record/select/rec_event.h"
#include "record/recorder.h"
#include "record/stop.h"
#include "stackonce.h"
#include "symbols/ksyms.h"
#include "trace/write/writer.h"

#define EACH_TIME 10 /* events that the ring gives away */
#define HELD 5 /* behind one that is not done, until the end */
#define LOST 3 /* each time */
#define MAX_ROUNDS 50

static struct made_up {
	struct backend base;
	struct stk_writer *w;
	const char *path;
	uint64_t happened, lost, ts;
	unsigned int rounds;
	/* Two looks at the file that found different numbers. */
	struct look {
		uint64_t happened, recorded, lost, events;
	} looks[2];
	unsigned int nr_looks;
} made_up;

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

static int made_up_open(const struct recorder_opts *opts, struct backend **ret_backend)
{
	made_up = (struct made_up){ .path = opts->output };
	*ret_backend = &made_up.base;
	return 0;
}

static void made_up_free(struct backend *b)
{
}

static unsigned int made_up_nr_cpus(const struct backend *b)
{
	return 1;
}

static uint64_t made_up_ring_size(const struct backend *b)
{
	return 16384;
}

static int made_up_set_writer(struct backend *b, struct stk_writer *w)
{
	made_up.w = w;
	return 0;
}

static int made_up_arm(struct backend *b)
{
	return 0;
}

static int made_up_counters(struct backend *b, uint64_t (*ret_counters)[STK_NR_COUNTERS])
{
	made_up.happened += EACH_TIME + LOST;
	made_up.lost += LOST;
	memset(ret_counters, 0, sizeof(*ret_counters));
	ret_counters[0][STK_C_HAPPENED] = made_up.happened;
	ret_counters[0][STK_C_LOST_RING] = made_up.lost;
	ret_counters[0][STK_C_RECORDED] = made_up.happened - made_up.lost;
	return 0;
}

static void made_up_add_ends(struct backend *b, uint64_t (*counters)[STK_NR_COUNTERS])
{
}

/* The ring is never found empty, and what it holds is recorded already. */
static int made_up_drain(struct backend *b, bool last)
{
	uint64_t end = made_up.happened - made_up.lost, record[1] = { 0 };
	struct stk_writer_event e = { .record = record, .record_len = sizeof(record) };
	int err = 0;

	if (!last)
		end -= MIN(end, (uint64_t)HELD);
	while (made_up.ts < end && !err) {
		e.ts = ++made_up.ts;
		err = stk_writer__event(made_up.w, &e);
	}
	return err;
}

static int made_up_losses(struct backend *b, bool counted)
{
	return 0;
}

static void made_up_stats(const struct backend *b, struct backend_stats *ret_stats)
{
	*ret_stats = (struct backend_stats){ .horizon = UINT64_MAX };
}

/* Until the file has been found with two different accountings, or much too late. */
static void made_up_end_round(struct backend *b)
{
	struct look l = look_at(made_up.path);

	if (made_up.nr_looks < 2 && l.happened &&
	    (!made_up.nr_looks || l.happened != made_up.looks[0].happened))
		made_up.looks[made_up.nr_looks++] = l;
	if (++made_up.rounds == MAX_ROUNDS || (made_up.nr_looks == 2 && !stop__count()))
		raise(SIGINT);
}

static int made_up_news_fd(const struct backend *b)
{
	return -1;
}

static void made_up_costs(const struct backend *b, struct backend_costs *ret_costs)
{
	memset(ret_costs, 0, sizeof(*ret_costs));
}

const struct backend_ops backend_bpf = {
	.open = made_up_open,
	.free = made_up_free,
	.nr_cpus = made_up_nr_cpus,
	.ring_size = made_up_ring_size,
	.set_writer = made_up_set_writer,
	.arm = made_up_arm,
	.disarm = made_up_arm,
	.counters = made_up_counters,
	.add_ends = made_up_add_ends,
	.drain = made_up_drain,
	.losses = made_up_losses,
	.stats = made_up_stats,
	.end_round = made_up_end_round,
	.news_fd = made_up_news_fd,
	.finish = made_up_arm,
	.costs = made_up_costs,
};

const struct backend_ops backend_ftrace = { 0 };

static void accounting_of_a_ring_that_is_never_empty(void **state)
{
	char dir[] = "/tmp/stackonce-test.XXXXXX", path[64], none[] = "", name[] = "event";
	struct rec_event event = {
		.kind = STK_KIND_SAMPLE, .system = name, .name = name, .format = none, .filter = none
	};
	struct rec_events events = { .v = &event, .nr = 1 };
	struct recorder_opts opts = { .output = path, .events = &events };
	struct recorder_result result;
	const struct look *looks = made_up.looks;
	struct look last;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/trace.stk", dir);
	assert_int_equal(ksyms__parse("", &opts.syms), 0);
	stop__catch();
	assert_int_equal(recorder__run(&opts, &result), 0);
	ksyms__free(opts.syms);
	last = look_at(path);
	unlink(path);
	rmdir(dir);

	assert_int_equal(made_up.nr_looks, 2);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(looks[i].happened, looks[i].recorded + looks[i].lost);
		assert_in_range(looks[i].recorded, 1, looks[i].events);
	}
	assert_true(looks[1].lost > looks[0].lost);
	assert_true(looks[1].recorded > looks[0].recorded);
	assert_int_equal(last.happened, last.recorded + last.lost);
	assert_int_equal(last.recorded, last.events);
	assert_int_equal(last.events, result.events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accounting_of_a_ring_that_is_never_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
