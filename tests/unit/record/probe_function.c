// SPDX-License-Identifier: GPL-2.0-only
/* f: and r:, with a constructed list of functions and this kernel's types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <bpf/btf.h>
#include <errno.h>
#include <unistd.h>

#include "../symbols/built.h"
#include "probe_check.h"
#include "record/select/probe_types.h"
#include "symbols/ksyms.h"

/*
 * Functions that every kernel has and can trace, as the running kernel may list traceable
 * functions.
 */
static const char kallsyms[] = "ffffffff81000000 T vfs_read\n"
			       "ffffffff81000100 T vfs_write\n"
			       "ffffffff81000100 T vfs_write_alias\n"
			       "ffffffff81000200 t t_next\n"
			       "ffffffff81000300 t t_next\n"
			       "ffffffff81000400 T vfs_fsync\n"
			       "ffffffff81000500 t kfree\n"
			       "ffffffff81000600 T vfs_statx.isra.0\n"
			       "ffffffff81000700 T last_one\n";

static struct ksyms *syms;
static bool has_types;

static int setup(void **state)
{
	probe_check__listen();
	has_types = !access("/sys/kernel/btf/vmlinux", R_OK);
	return ksyms__parse(kallsyms, &syms);
}

static int teardown(void **state)
{
	ksyms__free(syms);
	return 0;
}

static void found(const char *spec, const char *function, uint64_t address, const char *fields)
{
	struct probe_events l = { 0 };

	if (probe_check__resolve(&l, syms, spec, NULL))
		fail_msg("%s: %s", spec, probe_check__message());
	assert_int_equal(l.nr, 1);
	assert_memory_equal(l.v[0].system, spec, 1);
	assert_string_equal(l.v[0].event, function);
	assert_string_equal(l.v[0].probe.function, function);
	assert_int_equal(l.v[0].probe.address, address);
	if (has_types)
		probe_check__format(&l.v[0], fields);
	probe_events__clear(&l);
}

static void test_names(void **state)
{
	found("f:vfs_read", "vfs_read", 0xffffffff81000000,
	      "struct file * file:8:0;char * buf:8:0;size_t count:8:0;loff_t * pos:8:0;");
	found("r:vfs_read", "vfs_read", 0xffffffff81000000, "ssize_t ret:8:1;");
	found("r:vfs_fsync", "vfs_fsync", 0xffffffff81000400, "int ret:4:1;");
	found("r:kfree", "kfree", 0xffffffff81000500, "");
	found("f:vfs_write_alias", "vfs_write_alias", 0xffffffff81000100,
	      "unsigned long arg1:8:0;unsigned long arg2:8:0;unsigned long arg3:8:0;"
	      "unsigned long arg4:8:0;unsigned long arg5:8:0;unsigned long arg6:8:0;");
	found("r:vfs_write_alias", "vfs_write_alias", 0xffffffff81000100, "unsigned long ret:8:0;");
}

static void test_refused(void **state)
{
	probe_check__refused(syms, "f:vfs_reed", NULL, -ENOENT, "did you mean vfs_read");
	probe_check__refused(syms, "f:t_next", NULL, -EINVAL, "2 functions 't_next'");
	probe_check__refused(syms, "r:t_next", NULL, -EINVAL, "2 functions 't_next'");
	probe_check__refused(syms, "f:", NULL, -EINVAL, "a function is missing");
	probe_check__refused(syms, "f:no_such_*", NULL, -ENOENT, "no_such_*");
}

static void test_globs(void **state)
{
	struct probe_events l = { 0 };

	assert_int_equal(probe_check__resolve(&l, syms, "f:vfs_[rw]*", NULL), 0);
	assert_int_equal(l.nr, 2);
	assert_string_equal(l.v[0].event, "vfs_read");
	assert_string_equal(l.v[1].event, "vfs_write");
	/* the name t_next is ambiguous */
	assert_int_equal(probe_check__resolve(&l, syms, "r:[tk]*", NULL), 0);
	assert_int_equal(l.nr, 3);
	assert_string_equal(l.v[2].event, "kfree");
	probe_events__clear(&l);
}

static void test_limit(void **state)
{
	enum { TOO_MANY = 4097 };
	char *text = malloc(TOO_MANY * 64), *at = text;
	struct probe_events l = { 0 };
	struct ksyms *many;
	int err;

	for (unsigned int i = 0; i < TOO_MANY; i++)
		at += sprintf(at, "ffffffff8%07x T stackonce_test_%u\n", i * 16, i);
	assert_int_equal(ksyms__parse(text, &many), 0);
	err = probe_check__resolve(&l, many, "f:stackonce_test_*", NULL);
	/* if the kernel lists traceable functions, these are not among them */
	if (err != -ENOENT) {
		assert_int_equal(err, -E2BIG);
		assert_non_null(strstr(probe_check__message(), "4097 functions"));
	}
	assert_int_equal(l.nr, 0);
	ksyms__free(many);
	free(text);
}

static void describe(struct probe_types *t, const char *function, bool is_return,
		     const char *fields)
{
	struct probe_event e = { .event = (char *)function };
	struct probe p = { .how = is_return ? PROBE_RETURN : PROBE_FUNCTION,
			   .function = strdup(function) };
	struct probe_field described[PROBE_ARGS];
	struct probe_events l = { 0 };
	unsigned int nr;

	probe_types__describe(t, function, "", is_return, described, &nr);
	assert_int_equal(probe_events__add(&l, function, &p, described, nr), 0);
	e = l.v[0];
	probe_check__format(&e, fields);
	probe_events__clear(&l);
}

static void test_types(void **state)
{
	struct probe_types *t;

	if (!has_types)
		skip();
	assert_int_equal(probe_types__load(&t), 0);
	/*
	 * more than six arguments; a structure of one number; `...`; a field name that records have
	 * already
	 */
	describe(t, "vm_mmap_pgoff", false,
		 "struct file * file:8:0;unsigned long addr:8:0;unsigned long len:8:0;"
		 "unsigned long prot:8:0;unsigned long flag:8:0;unsigned long pgoff:8:0;");
	describe(t, "from_kuid", false, "struct user_namespace * targ:8:0;kuid_t kuid:4:0;");
	describe(t, "make_kuid", true, "kuid_t ret:4:0;");
	describe(t, "_printk", false, "const char * fmt:8:0;");
	describe(t, "_printk", true, "int ret:4:1;");
	describe(t, "ftrace_location", false, "unsigned long arg1:8:0;");
	describe(t, "mutex_is_locked", true, "bool ret:1:0;");
	describe(t, "no_such_function", true, "unsigned long ret:8:0;");
	probe_types__free(t);
}

/* This kernel's types: the format of every function is parsed. */
static void test_all_types(void **state)
{
	struct probe_types *t;
	struct btf *btf;
	unsigned int seen = 0;

	if (!has_types)
		skip();
	btf = btf__load_vmlinux_btf();
	assert_non_null(btf);
	assert_int_equal(probe_types__load(&t), 0);
	for (unsigned int id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		const char *name = btf__name_by_offset(btf, type->name_off);
		struct probe p = { .how = id & 1 ? PROBE_RETURN : PROBE_FUNCTION };
		struct probe_field fields[PROBE_ARGS];
		struct probe_events l = { 0 };
		struct ev_format *f;
		unsigned int nr;

		if (!btf_is_func(type) || seen++ % 16)
			continue;
		probe_types__describe(t, name, "", id & 1, fields, &nr);
		assert_int_equal(probe_events__add(&l, name, &p, fields, nr), 0);
		assert_int_equal(ev_format__parse(l.v[0].format, strlen(l.v[0].format), &f), 0);
		if (!ev_format__compiled(f))
			fail_msg("%s: %s", ev_format__why(f), l.v[0].format);
		assert_int_equal(ev_format__nr_fields(f), 5 + nr);
		ev_format__free(f);
		probe_events__clear(&l);
	}
	assert_true(seen > 1000);
	probe_types__free(t);
	btf__free(btf);
}

static void test_print(void **state)
{
	const uint64_t values[] = { 0xffffffff81000000, 0xffff888000001000, 0x7f0000000000, 4096,
				    0xffff888000002000 };
	const uint64_t failed[] = { 0xffffffff81000000, (uint32_t)-5 };
	struct probe_events l = { 0 };

	if (!has_types)
		skip();
	assert_int_equal(probe_check__resolve(&l, syms, "f:vfs_read", NULL), 0);
	assert_int_equal(probe_check__resolve(&l, syms, "r:vfs_fsync", NULL), 0);
	probe_check__print(&l.v[0], values, 5,
			   "(0xffffffff81000000) file=0xffff888000001000 buf=0x7f0000000000 "
			   "count=4096 pos=0xffff888000002000");
	probe_check__print(&l.v[1], failed, 2, "(0xffffffff81000000) ret=-5");
	assert_true(probe_check__filter(&l.v[0], values, 5, "count == 4096"));
	assert_true(probe_check__filter(&l.v[0], values, 5, "file == 0xffff888000001000"));
	assert_false(probe_check__filter(&l.v[0], values, 5, "count < 4096"));
	assert_true(probe_check__filter(&l.v[1], failed, 2, "ret < 0 && ret == -5"));
	probe_events__clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_globs), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_types), cmocka_unit_test(test_all_types),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
