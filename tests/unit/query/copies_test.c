// SPDX-License-Identifier: GPL-2.0-only
/* Strings of system calls, which the recorder copied: .ustring compares the copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common_fields.h"
#include "cleanup.h"
#include "events/filter.h"
#include "events/format.h"
#include "query/event_filter.h"
#include "trace/write/writer.h"

/* As the kernel has it; a recorder adds the field __path_val. */
static const char open_format[] =
	"name: sys_enter_open\nID: 9\n" COMMON
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:const char * path;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:int flags;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"path: 0x%08lx, flags: 0x%08lx\", ((unsigned long)(REC->path)), "
	"((unsigned long)(REC->flags))\n";
static const char *const paths[] = { "/etc/passwd", "/etc/hosts", "", NULL /* unreadable */ };

static struct stk_reader *make_recording(void)
{
	const struct stk_writer_opts opts = { .nr_cpus = 1 };
	struct ev_syscall_string strings[EV_SYSCALL_ARGS];
	_cleanup_free_ char *format = NULL;
	char path[] = "/tmp/copies-XXXXXX";
	struct stk_reader *r;
	struct stk_writer *w;
	unsigned int i, nr = 0;

	assert_int_equal(ev_format__syscall_text(open_format, strlen(open_format), &format, strings,
						 &nr),
			 0);
	assert_int_equal(nr, 1);
	assert_int_equal(stk_writer__new(mkstemp(path), &opts, &w), 0);
	assert_int_equal(
		stk_writer__type(w, STK_KIND_SYSCALL, "syscalls", "sys_enter_open", "", format), 0);
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		uint32_t at = strings[0].offset + 4, len = paths[i] ? strlen(paths[i]) + 1 : 0;
		uint32_t where = len << 16 | at;
		uint8_t rec[128] = { 0 };

		memcpy(rec + strings[0].offset, &where, sizeof(where));
		memcpy(rec + at, paths[i] ? paths[i] : "", len);
		assert_int_equal(
			stk_writer__event(w, &(struct stk_writer_event){ .ts = i + 1,
									 .record = rec,
									 .record_len = at + len }),
			0);
	}
	assert_int_equal(stk_writer__end_round(w, UINT64_MAX, 0), 0);
	assert_int_equal(stk_writer__finish(w, "test", 0), 0);
	stk_writer__free(w);
	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	unlink(path);
	return r;
}

/* want: a bit for each path that the expression selects. */
static const struct {
	const char *expr;
	unsigned int want;
} cases[] = {
	{ "path.ustring == \"/etc/hosts\"", 2 },
	{ "path.ustring != \"/etc/hosts\"", 1 | 4 }, /* an unreadable string is not unequal */
	{ "!(path.ustring != \"/etc/hosts\")", 2 | 8 },
	{ "path.ustring ~ \"/etc/*\"", 3 },
	{ "path.ustring ~ \"!*passwd\" || flags == 1", 2 | 4 },
	{ "path.ustring == \"\"", 4 },
	{ "path.ustring ~ \"*s*\" && path.ustring ~ \"*hosts\"", 2 },
	{ "field.path.ustring == '/etc/passwd'", 1 },
};

static void test_copies(void **state)
{
	struct stk_reader *r = make_recording();
	_cleanup_(event_filters__freep) struct event_filters *fs = NULL;
	unsigned int got[ARRAY_SIZE(cases)] = { 0 }, i, n;
	char why[FILTER_ERROR_SIZE];
	const struct stk_event *e;

	assert_int_equal(event_filters__new(r, NULL, &fs), 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(event_filters__add(fs, cases[i].expr), i);
	for (n = 0; stk_reader__next(r, &e) == 1; n++)
		for (i = 0; i < ARRAY_SIZE(cases); i++)
			got[i] |= event_filters__match(fs, i, e) << n;
	assert_int_equal(n, ARRAY_SIZE(paths));
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (got[i] != cases[i].want)
			fail_msg("%s: %#x instead of %#x", cases[i].expr, got[i], cases[i].want);
	i = event_filters__add(fs, "path == \"/etc/hosts\"");
	assert_int_not_equal(event_filters__check(fs, i, stk_reader__type(r, 0), why, sizeof(why)),
			     0);
	assert_string_equal(why,
			    "column 6: the string is in user space: write .ustring after the name");
	assert_int_equal(event_filters__untested(fs), 0);
	event_filters__free(fs);
	fs = NULL;
	stk_reader__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_copies) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
