// SPDX-License-Identifier: GPL-2.0-only
/* usdt:, and the notes that it uses: see probed_usdt.S. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <unistd.h>

#include "../symbols/built.h"
#include "probe_check.h"
#include "symbols/usdt_notes.h"

#define OPCODE 2 /* bytes before the mark */

static int setup(void **state)
{
	if (built__setup(state))
		return -1;
	built__run("$CC -nostdlib -o probed %s/probed_usdt.S", PROBED_DIR);
	built__run("$CC -nostdlib -o plain %s/probed.S", PROBED_DIR);
	probe_check__listen();
	return 0;
}

static void expect_note(const struct usdt_notes *n, size_t i, const char *provider,
			const char *name, const char *args, unsigned int mark)
{
	struct usdt_note note;

	usdt_notes__get(n, i, &note);
	assert_string_equal(note.provider, provider);
	assert_string_equal(note.name, name);
	assert_string_equal(note.args, args);
	assert_int_equal(note.offset, built__mark("probed", mark) - OPCODE);
}

static void test_notes(void **state)
{
	struct usdt_notes *n = NULL;
	int fd = built__open("probed");

	assert_int_equal(usdt_notes__from_fd(fd, &n), 0);
	close(fd);
	assert_int_equal(usdt_notes__nr(n), 6);
	assert_int_equal(usdt_notes__bad(n), 5);
	expect_note(n, 0, "app", "float", "8f@%xmm0 8@%rax", 4);
	expect_note(n, 1, "app", "many", "1@1 1@2 1@3 1@4 1@5 1@6 1@7 1@8 1@9 1@10 1@11 1@12 1@13",
		    4);
	expect_note(n, 2, "app", "moved", "-1@%al 2@%ax -8@%rbx", 3);
	expect_note(n, 3, "app", "request", "-4@%edi 8@%rsi", 1);
	expect_note(n, 4, "app", "request", "-4@$5 4@-8(%rbp)", 2);
	expect_note(n, 5, "other", "request", "", 4);
	usdt_notes__free(n);

	fd = built__open("plain");
	assert_int_equal(usdt_notes__from_fd(fd, &n), -ENOENT);
	close(fd);
	assert_int_equal(usdt_notes__from_image("#!/bin/sh", 9, &n), -ENOEXEC);
}

/* Cut at any length: an error, or fewer notes. */
static void test_cut(void **state)
{
	size_t len, at;
	char *image = built__read("probed", &len);

	for (at = 0; at < len; at += 7) {
		struct usdt_notes *n = NULL;
		char *cut = malloc(at ?: 1);

		memcpy(cut, image, at);
		if (!usdt_notes__from_image(cut, at, &n))
			assert_true(usdt_notes__nr(n) <= 6);
		usdt_notes__free(n);
		free(cut);
	}
	free(image);
}

static void expect_arg(const struct usdt_arg *arg, unsigned int size, bool is_signed, bool is_float)
{
	assert_int_equal(arg->size, size);
	assert_int_equal(arg->is_signed, is_signed);
	assert_int_equal(arg->is_float, is_float);
}

static void test_args(void **state)
{
	struct usdt_arg args[USDT_MAX_ARGS];

	assert_int_equal(usdt_args__parse("", args), 0);
	assert_int_equal(usdt_args__parse("  ", args), 0);
	assert_int_equal(usdt_args__parse("-4@%edi 8@-8(%rbp)  1@$-3 -2@x+4(%rip) 4f@%xmm1", args),
			 5);
	expect_arg(&args[0], 4, true, false);
	expect_arg(&args[1], 8, false, false);
	expect_arg(&args[2], 1, false, false);
	expect_arg(&args[3], 2, true, false);
	expect_arg(&args[4], 4, false, true);
	assert_int_equal(usdt_args__parse("%rax -@ 3@%rax -16@%rax @ 8f 8", args), 7);
	for (unsigned int i = 0; i < 7; i++)
		expect_arg(&args[i], 8, false, false);
	assert_int_equal(usdt_args__parse("1 2 3 4 5 6 7 8 9 10 11 12 13", args), USDT_MAX_ARGS);
}

static void found(const char *spec, const char *shown, const char *provider, const char *name,
		  const char *fields)
{
	struct probe_events l = { 0 };

	if (probe_check__resolve(&l, NULL, spec, "probed"))
		fail_msg("%s: %s", spec, probe_check__message());
	assert_int_equal(l.nr, 1);
	assert_string_equal(l.v[0].system, "usdt");
	assert_string_equal(strstr(l.v[0].event, "/probed:") + 8, shown);
	assert_string_equal(l.v[0].probe.provider, provider);
	assert_string_equal(l.v[0].probe.name, name);
	probe_check__format(&l.v[0], fields);
	probe_events__clear(&l);
}

static void test_fields(void **state)
{
	/* its locations disagree about the second argument */
	found("usdt:%s:app:request", "app:request", "app", "request",
	      "int arg1:4:1;unsigned long arg2:8:0;");
	found("usdt:%s:moved", "app:moved", "app", "moved",
	      "signed char arg1:1:1;unsigned short arg2:2:0;long arg3:8:1;");
	found("usdt:%s:other:request", "other:request", "other", "request", "");
	found("usdt:%s:app:many", "app:many", "app", "many",
	      "unsigned char arg1:1:0;unsigned char arg2:1:0;unsigned char arg3:1:0;"
	      "unsigned char arg4:1:0;unsigned char arg5:1:0;unsigned char arg6:1:0;"
	      "unsigned char arg7:1:0;unsigned char arg8:1:0;unsigned char arg9:1:0;"
	      "unsigned char arg10:1:0;unsigned char arg11:1:0;unsigned char arg12:1:0;");
}

static void test_print(void **state)
{
	/* as libbpf passes them: signed values are extended */
	const uint64_t values[] = { 0x401000, (uint64_t)-3, 65535, (uint64_t)-70000 };
	struct probe_events l = { 0 };

	assert_int_equal(probe_check__resolve(&l, NULL, "usdt:%s:app:moved", "probed"), 0);
	probe_check__print(&l.v[0], values, 4, "(0x401000) arg1=-3 arg2=65535 arg3=-70000");
	assert_true(probe_check__filter(&l.v[0], values, 4, "arg1 == -3 && arg2 == 65535"));
	assert_true(probe_check__filter(&l.v[0], values, 4, "arg3 < -69999"));
	assert_false(probe_check__filter(&l.v[0], values, 4, "arg1 > 0"));
	probe_events__clear(&l);
}

static void test_refused(void **state)
{
	probe_check__refused(NULL, "usdt:%s:app:reqest", "probed", -ENOENT,
			     "did you mean app:request");
	probe_check__refused(NULL, "usdt:%s:request", "probed", -EINVAL, "several providers");
	probe_check__refused(NULL, "usdt:%s:app:float", "probed", -EOPNOTSUPP,
			     "argument 1 is a float");
	probe_check__refused(NULL, "usdt:%s:app:nowhere", "probed", -ENOENT, "no probe of");
	probe_check__refused(NULL, "usdt:%s:x:y", "plain", -ENOENT, "no USDT probes");
	probe_check__refused(NULL, "usdt:%s", "probed", -EINVAL, "a probe is missing");
	probe_check__refused(NULL, "usdt:%s:x:y", "missing", -ENOENT, "No such file");
}

static void test_globs(void **state)
{
	struct probe_events l = { 0 };

	assert_int_equal(probe_check__resolve(&l, NULL, "usdt:%s:*:req*", "probed"), 0);
	assert_int_equal(l.nr, 2);
	assert_int_equal(probe_check__resolve(&l, NULL, "usdt:%s:m*", "probed"), 0);
	assert_int_equal(l.nr, 4);
	probe_events__clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_notes), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_args),  cmocka_unit_test(test_fields),
		cmocka_unit_test(test_print), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_globs),
	};

	return cmocka_run_group_tests(tests, setup, built__teardown);
}
