// SPDX-License-Identifier: GPL-2.0-only
/* Options: what the rows of a table accept and refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "strbuf.h"
#include "ui/ui.h"

struct taken {
	bool verbose, on;
	unsigned int bits, word, words;
	const char *event, *how, *operand;
	uint32_t number;
	uint64_t size, seconds;
	char *const *rest;
	struct num_set set;
	char seen[64]; /* the values, in order */
};

static int take_event(void *into, const struct opt *o, const char *arg)
{
	struct taken *t = into;

	if (!strcmp(arg, "bad"))
		return -EINVAL;
	t->event = arg;
	snprintf(t->seen + strlen(t->seen), sizeof(t->seen) - strlen(t->seen), "%s,", arg);
	return 0;
}

static int take_how(void *into, const struct opt *o, const char *arg)
{
	struct taken *t = into;

	t->how = arg ?: "none";
	return 0;
}

static int take_pids(void *into, const struct opt *o, const char *arg)
{
	uint64_t pid;

	return parse__u64(arg, o->min, o->max, &pid);
}

static const struct opt options[] = {
	{ "-e, --event EVENT", "an event", OPT_FN(take_event), .expects = "a good one" },
	{ "--event-list", "the list", OPT_BIT(struct taken, bits, 4) },
	{ "-v, --verbose", "more", OPT_FLAG(struct taken, verbose) },
	{ "--off", "less", OPT_OFF(struct taken, on) },
	{ "--how[=HOW]", "how", OPT_FN(take_how) },
	{ "-n, --number N", "a number", OPT_NUMBER(struct taken, number, 2, 10) },
	{ "--size SIZE", "a size", OPT_SIZE(struct taken, size, 1024, 8 << 20) },
	{ "--seconds S", "time", OPT_SECONDS(struct taken, seconds, 2000000000) },
	{ "--word WORD", "%s", OPT_WORD(struct taken, word), WORDS("a", "b", "c") },
	{ "--words WORDS", "%s", OPT_WORDS(struct taken, words), WORDS("a", "b", "c") },
	{ "--set SET", "a set", OPT_SET(struct taken, set, 100) },
	{ "--pids PIDS", "processes", OPT_FN(take_pids), .min = 1, .max = 4000,
	  .expects = "process ids" },
	{ "[FILE]", NULL, OPT_TEXT(struct taken, operand) },
	HELP_OPTION
};

static const struct opt with_rest[] = { { "-e, --event EVENT", "an event", OPT_FN(take_event) },
					{ "[COMMAND]", NULL, OPT_REST(struct taken, rest) },
					HELP_OPTION };

static const struct opt must[] = { { "WORD", NULL, OPT_WORD(struct taken, word), WORDS("a", "b") },
				   { "INPUT", NULL, OPT_TEXT(struct taken, operand) },
				   HELP_OPTION };

/* The exit code; argv lives until the next call. */
static int parse(const struct opt *table, const char *words, struct taken *ret_taken)
{
	const struct cmd cmd = { .name = "test", .options = table, .usage = "", .text = "" };
	static char copy[256], *argv[32];
	char *rest = copy;
	int argc = 0;

	*ret_taken = (struct taken){ .on = true };
	snprintf(copy, sizeof(copy), "test %s", words);
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	return options__parse(&cmd, argc, argv, ret_taken);
}

static void test_kinds(void **state)
{
	struct taken t;

	assert_int_equal(parse(options, "-e x --event y --event=z -vew --how", &t), CMD_OK);
	assert_string_equal(t.seen, "x,y,z,w,");
	assert_true(t.verbose && t.on && !t.bits);
	assert_string_equal(t.how, "none");
	assert_int_equal(parse(options, "--how=so --off --event-list -n3 -", &t), CMD_OK);
	assert_string_equal(t.how, "so");
	assert_string_equal(t.operand, "-");
	assert_true(!t.on && t.bits == 4 && t.number == 3);
	assert_int_equal(parse(options, "file --event --verbose -v", &t), CMD_OK);
	assert_string_equal(t.event, "--verbose");
	assert_string_equal(t.operand, "file");
	assert_true(t.verbose);
	assert_int_equal(parse(options, "--size 8M --seconds 1.5 --word c --words c,a", &t),
			 CMD_OK);
	assert_true(t.size == 8 << 20 && t.seconds == 1500000000 && t.word == 2 && t.words == 5);
	assert_int_equal(parse(options, "-v -- --event", &t), CMD_OK);
	assert_string_equal(t.operand, "--event");
}

static void test_refused(void **state)
{
	static const char *const wrong[] = {
		"--verb",      "--even x",   "--eve=x",	      "--event",  "--verbose=1", "-x",
		"-vx",	       "-e",	     "--e",	      "--=x",	  "a b",	 "-- a b",
		"-n 1",	       "-n 11",	     "-n x",	      "--size 1", "--size 9M",	 "--word d",
		"--words a,d", "--words a,", "--seconds 2.1", "-e bad",
	};
	struct taken t;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(parse(options, wrong[i], &t), CMD_USAGE);
	assert_int_equal(parse(options, "--", &t), CMD_OK);
	assert_int_equal(parse(options, "--how so", &t), CMD_OK);
	assert_string_equal(t.operand, "so");
	assert_int_equal(parse(options, "-vh --nosuch", &t), CMD_HELP);
}

static void test_operands(void **state)
{
	struct taken t;

	assert_int_equal(parse(with_rest, "-e x command -e y", &t), CMD_OK);
	assert_string_equal(t.seen, "x,");
	assert_string_equal(t.rest[0], "command");
	assert_string_equal(t.rest[2], "y");
	assert_null(t.rest[3]);
	assert_int_equal(parse(with_rest, "-e x -- -e y", &t), CMD_OK);
	assert_string_equal(t.rest[0], "-e");
	assert_int_equal(parse(with_rest, "-e x", &t), CMD_OK);
	assert_null(t.rest);
	assert_int_equal(parse(must, "b in", &t), CMD_OK);
	assert_true(t.word == 1 && !strcmp(t.operand, "in"));
	assert_int_equal(parse(must, "b", &t), CMD_USAGE);
	assert_int_equal(parse(must, "c in", &t), CMD_USAGE);
	assert_int_equal(parse(must, "", &t), CMD_USAGE);
}

static void test_list(void **state)
{
	const struct cmd cmd = { .name = "test", .options = must };
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	options__list(&cmd, &b);
	assert_string_equal(b.s, "test\t-\t-\tWORD\ta,b\t-\t-\n"
				 "test\t-\t-\tINPUT\t-\t-\t-\n"
				 "test\t-h\t--help\t-\t-\tprint this help\t-\n");
	strbuf__reset(&b);
	options__list(&(struct cmd){ .name = "test", .options = options }, &b);
	assert_non_null(strstr(b.s, "\t--number\tN\t-\ta number\t2-10\n"));
	assert_non_null(strstr(b.s, "\t--size\tSIZE\t-\ta size\t1K-8M\n"));
	assert_non_null(strstr(b.s, "\t--pids\tPIDS\t-\tprocesses\t1-4000\n"));
}

/* The first line that is printed to standard error. */
static void expect_message(const char *words, const char *want)
{
	FILE *old = stderr, *f = tmpfile();
	char line[256] = "";
	struct taken t;

	assert_non_null(f);
	stderr = f;
	parse(options, words, &t);
	stderr = old;
	rewind(f);
	assert_non_null(fgets(line, sizeof(line), f));
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(line, want);
	fclose(f);
	num_set__free(&t.set);
}

/* A wrong number is answered with the range. */
static void test_ranges(void **state)
{
	expect_message("-n 11", "stackonce: test: --number expects a number from 2 to 10: '11'");
	expect_message("-n x", "stackonce: test: --number expects a number from 2 to 10: 'x'");
	expect_message("-n -1", "stackonce: test: --number expects a number from 2 to 10: '-1'");
	expect_message("--size 9M", "stackonce: test: --size expects a size from 1K to 8M: '9M'");
	expect_message("--size 1X", "stackonce: test: --size expects a size from 1K to 8M: '1X'");
	expect_message("--seconds 3",
		       "stackonce: test: --seconds expects seconds from 0 to 2: '3'");
	expect_message("--set 101", "stackonce: test: --set expects a list of numbers, each from 0 "
				    "to 100, and ranges as FIRST-LAST: '101'");
	expect_message("--set 5-3", "stackonce: test: --set expects a list of numbers, each from 0 "
				    "to 100, and ranges as FIRST-LAST: '5-3'");
	expect_message("--pids 0",
		       "stackonce: test: --pids expects process ids from 1 to 4000: '0'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	 cmocka_unit_test(test_refused),
		cmocka_unit_test(test_operands), cmocka_unit_test(test_list),
		cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
