/* SPDX-License-Identifier: GPL-2.0-only */
/* Function ranges from kallsyms texts. */
#include <errno.h>
#include <unistd.h>

#include "events/filter_function.h"
#include "filter_test.h"

static struct filter_functions *functions_of(const char *text)
{
	char path[] = "/tmp/stackonce-kallsyms-XXXXXX";
	int fd = mkstemp(path);
	struct filter_functions *f;
	uint64_t a, b;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(filter_functions__new(path, &f), 0);
	filter_functions__range(f, "nothing", 0, &a, &b); /* reads the file */
	unlink(path);
	return f;
}

static void want(struct filter_functions *f, const char *name, uint64_t addr, uint64_t start,
		 uint64_t end)
{
	uint64_t a = 0, b = 0;

	assert_int_equal(filter_functions__range(f, name, addr, &a, &b), 0);
	assert_int_equal(a, start);
	assert_int_equal(b, end);
}

static void want_none(struct filter_functions *f, const char *name, uint64_t addr, int err)
{
	uint64_t a, b;

	assert_int_equal(filter_functions__range(f, name, addr, &a, &b), err);
}

static const char modules[] =
	"ffffffffc0001000 t twice\t[mod_a]\nffffffffc0001080 T last_a\t[mod_a]\n"
	"ffffffffc0003000 t twice\t[mod_b]\nffffffffc0008000 t bpf_prog_1_x\t[bpf]\n";

static void test_text_only(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct filter_functions *f;

	assert_true(asprintf(&text,
			     "0000000000000000 A percpu\nffffffff81000000 T _stext\n"
			     "ffffffff81000000 T alias\nffffffff81000100 t twice\n"
			     "ffffffff81000200 T twice\nffffffff81000300 T before_end\n"
			     "ffffffff81001000 T _etext\nffffffff82000000 T _sinittext\n"
			     "ffffffff82000100 T _einittext\n%s",
			     modules) > 0);
	f = functions_of(text);
	want(f, "_stext", 0, 0xffffffff81000000, 0xffffffff81000100);
	want(f, "alias", 0, 0xffffffff81000000, 0xffffffff81000100);
	want(f, "twice", 0, 0xffffffff81000100, 0xffffffff81000200);
	want(f, "before_end", 0, 0xffffffff81000300, 0xffffffff81001000);
	want(f, NULL, 0xffffffff810002ff, 0xffffffff81000200, 0xffffffff81000300);
	want(f, NULL, 0xffffffff820000ff, 0xffffffff82000000, 0xffffffff82000100);
	want_none(f, "_etext", 0, -ENOENT);
	want_none(f, "percpu", 0, -ENOENT);
	want_none(f, NULL, 0xffffffff80ffffff, -ENOENT);
	want_none(f, NULL, 0x10, -ENOENT);
	want(f, "last_a", 0, 0xffffffffc0001080, 0xffffffffc0003000);
	want(f, "mod_b:twice", 0, 0xffffffffc0003000, 0xffffffffc0008000);
	want_none(f, "bpf_prog_1_x", 0, -ENOENT);
	want(f, NULL, 0xffffffffc0008010, 0xffffffffc0008000, 0xffffffffc0018000);
	want_none(f, NULL, 0xffffffffc0018000, -ENOENT);
	filter_functions__free(f);
}

static void test_all_symbols(void **state)
{
	struct filter_functions *f = functions_of(
		"ffffffff81000000 T _stext\nffffffff81001000 T _etext\nffffffff81001000 D data\n"
		"ffffffff81002000 B more\nffffffff81009000 B _end\n");

	want(f, "_etext", 0, 0xffffffff81001000, 0xffffffff81002000);
	want(f, "more", 0, 0xffffffff81002000, 0xffffffff81009000);
	want_none(f, "_end", 0, -ENOENT);
	filter_functions__free(f);
}

static void test_unusable(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"no symbols here",
		"0000000000000000 T _stext\n0000000000000000 T x\n",
		"ffffffff81000000",
		"ffffffff81000000 T",
		"ffffffff81000000 T \n",
	};
	struct filter_functions *f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		f = functions_of(texts[i]);
		want_none(f, "x", 0, -ENODATA);
		filter_functions__free(f);
	}
	assert_int_equal(filter_functions__new("/nonexistent", &f), 0);
	want_none(f, "x", 0, -ENODATA);
	filter_functions__free(f);
	filter_functions__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_only),
		cmocka_unit_test(test_all_symbols),
		cmocka_unit_test(test_unusable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
