// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "../last_message.h"
#include "import/kallsyms.h"

static const char text[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000100 t do_one\n"
			   "ffffffff81000180 T do_two\n"
			   "ffffffff81000180 W do_two_alias\n"
			   "ffffffff82000000 B _end\n"
			   "\n"
			   "ffffffffc0002000 t mod_b\t[mod]\n"
			   "ffffffffc0001000 t mod_a\t[mod]\n"
			   "ffffffffc0200000 t bpf_prog_1_x\t[bpf]\n"
			   "ffffffffc0300000 t bpf_prog_2_y\t[bpf]";

static void expect(const struct kallsyms *k, uint64_t addr, const char *name, const char *mod,
		   uint64_t size)
{
	const struct kallsym *s = kallsyms__find(k, addr);

	assert_non_null(s);
	assert_int_equal(s->name_len, strlen(name));
	assert_memory_equal(s->name, name, s->name_len);
	assert_int_equal(s->mod_len, strlen(mod));
	if (s->mod_len)
		assert_memory_equal(s->mod, mod, s->mod_len);
	assert_int_equal(s->size, size);
}

static void test_lookup(void **state)
{
	struct kallsyms *k;

	assert_int_equal(kallsyms__parse("syms", text, sizeof(text) - 1, &k), 0);
	assert_int_equal(kallsyms__nr(k), 10);
	assert_null(kallsyms__find(k, 0));
	assert_null(kallsyms__find(k, 0xffffffff80ffffff));
	expect(k, 0xffffffff81000000, "_text", "", 0x100);
	expect(k, 0xffffffff810000ff, "_text", "", 0x100);
	expect(k, 0xffffffff81000100, "do_one", "", 0x80);
	expect(k, 0xffffffff8100017f, "do_one", "", 0x80);
	expect(k, 0xffffffff81000180, "do_two", "", 0xfffe80);
	expect(k, 0xffffffff81999999, "do_two", "", 0xfffe80);
	expect(k, 0xffffffff82000010, "_end", "", 0);
	assert_null(kallsyms__find(k, 0xffffffff90000000));
	expect(k, 0xffffffffc0001fff, "mod_a", "mod", 0x1000);
	expect(k, 0xffffffffc0002001, "mod_b", "mod", 0);
	expect(k, 0xffffffffc0200001, "bpf_prog_1_x", "bpf", 0);
	expect(k, 0xffffffffc0300001, "bpf_prog_2_y", "bpf", 0);
	assert_null(kallsyms__find(k, UINT64_MAX));
	kallsyms__free(k);
}

static void expect_refused(const char *bad, int line)
{
	struct kallsyms *k = (void *)1;
	char want[128];

	snprintf(want, sizeof(want), "syms: line %d: not a kallsyms line (\"address type name\")",
		 line);
	last_message[0] = '\0';
	assert_int_equal(kallsyms__parse("syms", bad, strlen(bad), &k), -EINVAL);
	assert_string_equal(last_message, want);
	assert_ptr_equal(k, (void *)1);
}

static void expect_named(struct kallsyms *k, const char *name, const char *mod, uint64_t size,
			 uint64_t start)
{
	const struct kallsym *s =
		kallsyms__named(k, name, strlen(name), mod, mod ? strlen(mod) : 0, size);

	if (!start) {
		assert_null(s);
		return;
	}
	assert_non_null(s);
	assert_true(s->start == start);
}

static void test_names(void **state)
{
	static const char more[] = "ffffffff81000000 t same\nffffffff81000010 t same\n"
				   "ffffffff81000030 t end\nffffffffc0001000 t same\t[mod]\n"
				   "ffffffffc0001010 t other\t[mod]\n";
	struct kallsyms *k;

	assert_int_equal(kallsyms__parse("syms", more, sizeof(more) - 1, &k), 0);
	expect_named(k, "end", NULL, 0, 0xffffffff81000030);
	expect_named(k, "other", NULL, 0, 0xffffffffc0001010);
	expect_named(k, "other", "mod", 0, 0xffffffffc0001010);
	expect_named(k, "other", "", 0, 0);
	expect_named(k, "same", NULL, 0, 0);
	expect_named(k, "same", "", 0, 0);
	expect_named(k, "same", "", 0x20, 0xffffffff81000010);
	expect_named(k, "same", "mod", 0, 0xffffffffc0001000);
	expect_named(k, "sam", NULL, 0, 0);
	kallsyms__free(k);
	assert_int_equal(kallsyms__parse("syms", "", 0, &k), 0);
	expect_named(k, "end", NULL, 0, 0);
	kallsyms__free(k);
}

static void test_refusals(void **state)
{
	expect_refused("hello\n", 1);
	expect_refused("ffffffff81000000 T a\nffffffff81000000 T\n", 2);
	expect_refused("ffffffff81000000\n", 1);
	expect_refused("0ffffffff81000000 T a\n", 1);
	expect_refused("ffffffff81000000 TT a\n", 1);
	expect_refused("ffffffff81000000 T a mod\n", 1);
	expect_refused("ffffffff81000000 T a []\n", 1);
	expect_refused("ffffffff81000000 T a [b] c\n", 1);
	expect_refused("\x1f\x8b\x08", 1);
}

static void test_hidden_addresses_warn(void **state)
{
	static const char zeros[] = "0000000000000000 T a\n0000000000000000 T b\n";
	struct kallsyms *k;

	last_message[0] = '\0';
	assert_int_equal(kallsyms__parse("syms", zeros, strlen(zeros), &k), 0);
	assert_non_null(strstr(last_message, "all addresses are 0"));
	kallsyms__free(k);
	last_message[0] = '\0';
	assert_int_equal(kallsyms__parse("syms", "", 0, &k), 0);
	assert_null(kallsyms__find(k, 1));
	assert_string_equal(last_message, "");
	kallsyms__free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_hidden_addresses_warn),
	};

	log_set_sink(keep_message, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
