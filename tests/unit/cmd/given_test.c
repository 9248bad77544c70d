// SPDX-License-Identifier: GPL-2.0-only
/* Events of programs are found by the path in their name, and by the path that was given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common_fields.h"
#include "stackonce.h"
#include "trace/write/writer.h"
#include "ui/reading.h"

#define FORMAT "name: x\nID: 1\n" COMMON "print fmt: \"\"\n"

#define NR_TYPES 4

static struct stk_reader *open_recording(const char *paths)
{
	static const char *const types[NR_TYPES][2] = { { "u", "/srv/bin/app:f" },
							{ "ur", "/usr/lib/libc.so.6:malloc" },
							{ "sched", "sched_switch" },
							{ "u", "/srv/bin/app:g(int, char [2])" } };
	char path[] = "/tmp/stackonce-given.XXXXXX";
	const struct stk_writer_opts opts = { .nr_cpus = 1 };
	int fd = mkstemp(path);
	const struct stk_event *e;
	struct stk_reader *r;
	struct stk_writer *w;
	size_t i;

	assert_true(fd >= 0);
	assert_int_equal(stk_writer__new(fd, &opts, &w), 0);
	if (paths)
		assert_int_equal(stk_writer__meta(w, "probe.paths", paths), 0);
	for (i = 0; i < NR_TYPES; i++)
		assert_int_equal(stk_writer__type(w, STK_KIND_USER_FUNCTION, types[i][0],
						  types[i][1], "", FORMAT),
				 i);
	assert_int_equal(stk_writer__end_round(w, 1, 1), 0);
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	unlink(path);
	return r;
}

static void expect(struct stk_reader *r, const char *globs, unsigned int want)
{
	unsigned int i, got = 0;

	for (i = 0; i < NR_TYPES; i++)
		got |= event__matches(r, globs, stk_reader__type(r, i)) << i;
	assert_int_equal(got, want);
}

static void test_given(void **state)
{
	struct stk_reader *r = open_recording("./app\t/srv/bin/app\n"
					      "app\t/srv/bin/app\n"
					      "libc.so.6\t/usr/lib/libc.so.6\n");

	expect(r, "u:/srv/bin/app:f", 1);
	expect(r, "u:./app:f", 1);
	expect(r, "u:app:f", 1);
	expect(r, "u:./app:*", 9);
	expect(r, "ur:./app:f", 0);
	expect(r, "u:./app:g", 0);
	expect(r, "ur:libc.so.6:malloc,sched_switch", 6);
	expect(r, "sched:*", 4);
	stk_reader__free(r);
}

/* The commas of a function's parameters do not end its name, and its brackets are no glob. */
static void test_parameters(void **state)
{
	struct stk_reader *r = open_recording("./app\t/srv/bin/app\n");

	expect(r, "u:/srv/bin/app:g(int, char [2])", 8);
	expect(r, "u:./app:g(int, char [2]),sched", 12);
	expect(r, "sched,u:./app:g(int*", 12);
	expect(r, "u:./app:g(int, char [3])", 0);
	stk_reader__free(r);
}

/* Without the line, and with lines that no recorder writes. */
static void test_others(void **state)
{
	static const char *const odd[] = { NULL,
					   "",
					   "\n\n",
					   "x",
					   "\t",
					   "a\t\n",
					   "a\t/srv/bin/app:f",
					   "a\t/srv/bin/app:f:and:more\n",
					   "a\t/srv/bin" };
	size_t i;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct stk_reader *r = open_recording(odd[i]);

		expect(r, "u:/srv/bin/app:f", 1);
		expect(r, "u:./app:f,u:a*", 0);
		stk_reader__free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given),
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
