// SPDX-License-Identifier: GPL-2.0-only
/* What is said about unknown events, names of perf's events and missing capabilities. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>

#include <cmocka.h>
#include <errno.h>

#include "../last_message.h"
#include "cleanup.h"
#include "nearest.h"
#include "record/kernel/feature_table.h"
#include "record/select/perf_names.h"

static char *const events[] = {
	"block:block_rq_complete",
	"block:block_rq_issue",
	"fib:fib_table_lookup",
	"sched:sched_kthread_stop",
	"sched:sched_switch",
	"sched:sched_wakeup",
	"syscalls:sys_enter_close",
	"syscalls:sys_enter_open",
	"syscalls:sys_enter_open_tree",
	"syscalls:sys_enter_openat",
	"syscalls:sys_enter_openat2",
	"syscalls:sys_exit_openat",
	"writeback:writeback_pages_flushed",
};

static void expect(const char *spec, const char *message)
{
	assert_int_equal(nearest__complain(spec, events, ARRAY_SIZE(events)), -ENOENT);
	assert_string_equal(last_message, message);
}

static void test_events(void **state)
{
	expect("openat", "no event matches 'openat'; did you mean syscalls:sys_enter_openat, "
			 "syscalls:sys_exit_openat or syscalls:sys_enter_openat2?");
	expect("syscalls:openat",
	       "no event matches 'syscalls:openat'; did you mean syscalls:sys_enter_openat, "
	       "syscalls:sys_exit_openat or syscalls:sys_enter_openat2?");
	expect("shed", "no event matches 'shed'; did you mean sched?");
	expect("shed:sched_switch",
	       "no event matches 'shed:sched_switch'; did you mean sched:sched_switch?");
	expect("sched_swich", "no event matches 'sched_swich'; did you mean sched:sched_switch?");
	expect("nosuch", "no event matches 'nosuch': 'stackonce list' prints all");
	assert_int_equal(nearest__complain("x", NULL, 0), -ENOENT);
	assert_string_equal(last_message, "no event matches 'x'; there are none");
}

static void expect_perf(const char *spec, bool has_hardware, const char *message)
{
	_cleanup_free_ char *got = perf_names__explain(spec, has_hardware);

	if (!message)
		assert_null(got);
	else
		assert_string_equal(got, message);
}

static void test_perf(void **state)
{
	expect_perf("cycles", false,
		    "'cycles' is a hardware event, and there are no hardware events on this "
		    "machine: -F HZ takes timer samples by the clock");
	expect_perf("cycles:ppp", true,
		    "'cycles:ppp' is a hardware event of perf, not a tracepoint: -F HZ takes "
		    "timer samples by the cycle counter");
	expect_perf("L1-dcache-load-misses", false,
		    "'L1-dcache-load-misses' is a hardware event, and there are no hardware "
		    "events on this machine: -F HZ takes timer samples by the clock");
	expect_perf("context-switches", true,
		    "'context-switches' is an event of perf, not a "
		    "tracepoint: use -e sched:sched_switch");
	expect_perf("sched:sched_switch", false, NULL);
	expect_perf("cycle", false, NULL);
}

#define CAP(name) (1ull << CAP_##name)

static void expect_lacking(uint64_t capabilities, const char *want)
{
	_cleanup_free_ char *got = features__lacking(capabilities);

	if (!want)
		assert_null(got);
	else
		assert_string_equal(got, want);
}

static void test_capabilities(void **state)
{
	expect_lacking(0, "CAP_BPF, CAP_PERFMON and CAP_DAC_READ_SEARCH (to read tracefs)");
	expect_lacking(CAP(PERFMON), "CAP_BPF and CAP_DAC_READ_SEARCH (to read tracefs)");
	expect_lacking(CAP(PERFMON) | CAP(DAC_READ_SEARCH), "CAP_BPF");
	expect_lacking(CAP(PERFMON) | CAP(DAC_READ_SEARCH) | CAP(BPF), NULL);
	expect_lacking(CAP(SYS_ADMIN), NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_perf),
		cmocka_unit_test(test_capabilities),
	};

	log_set_sink(keep_message, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
