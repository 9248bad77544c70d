// SPDX-License-Identifier: GPL-2.0-only
/* Which kernels keep the stack of a preempted program, by made-up types of four releases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <bpf/btf.h>

#include "record/kernel/program_stack.h"

static const char full[] = "none voluntary (full) lazy";
static const char dynamic[] = "#1 SMP PREEMPT_DYNAMIC Debian 6.14.2-1 (2025-04-10)";

/* members: of struct bpf_subprog_info; NULL: the type is missing.  private: the JIT's part. */
static bool is_kept_with(bool private, const char *const *members, bool preempt_disable,
			 const char *preempt, const char *version)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "unsigned int", 4, 0), proto;
	unsigned int bit = 0;
	bool kept;

	if (members)
		btf__add_struct(btf, "bpf_subprog_info", 64);
	for (; members && *members; members++, bit += 32)
		assert_int_equal(btf__add_field(btf, *members, number, bit, 0), 0);
	btf__add_struct(btf, "bpf_prog_aux", 64);
	if (private)
		assert_int_equal(btf__add_field(btf, "priv_stack_ptr", number, 0, 0), 0);
	proto = btf__add_func_proto(btf, 0);
	if (preempt_disable) {
		btf__add_func(btf, "bpf_preempt_disable", BTF_FUNC_STATIC, proto);
		btf__add_func(btf, "bpf_preempt_enable", BTF_FUNC_STATIC, proto);
	}
	kept = program_stack__is_kept(btf, preempt, version);
	btf__free(btf);
	return kept;
}

static bool is_kept(const char *const *members, bool preempt_disable, const char *preempt,
		    const char *version)
{
	bool private = false;
	const char *const *m;

	for (m = members; m && *m; m++)
	private |= !strcmp(*m, "priv_stack_mode");
	return is_kept_with(private, members, preempt_disable, preempt, version);
}

static void releases(void **state)
{
	static const char *const v6_12[] = { "start", "stack_depth", NULL };
	static const char *const v6_13[] = { "start", "stack_depth", "priv_stack_mode", NULL };
	static const char *const v6_15[] = { "start", "might_sleep", "priv_stack_mode", NULL };

	assert_true(is_kept(NULL, false, full, dynamic)); /* 6.1: its BTF may lack the type */
	assert_true(is_kept(v6_12, true, full, dynamic));
	assert_false(is_kept(v6_13, true, full, dynamic));
	/* 6.12.117 has the verifier's part, but no JIT compiler that uses it */
	assert_true(is_kept_with(false, v6_13, true, full, dynamic));
	assert_true(is_kept(v6_15, true, full, dynamic));
	assert_false(is_kept(v6_15, false, full, dynamic)); /* without the kernel functions */
}

static void preemption(void **state)
{
	static const char *const v6_14[] = { "start", "priv_stack_mode", NULL };

	assert_true(is_kept(v6_14, true, "(none) voluntary full", dynamic));
	assert_true(is_kept(v6_14, true, "none (voluntary) full", dynamic));
	assert_false(is_kept(v6_14, true, "none voluntary full (lazy)", dynamic));
	/* without debugfs, or without PREEMPT_DYNAMIC */
	assert_false(is_kept(v6_14, true, "", dynamic));
	assert_false(is_kept(v6_14, true, "", "#1 SMP PREEMPT Thu Apr 10 12:00:00 UTC 2025"));
	assert_false(is_kept(v6_14, true, "", "#1 SMP PREEMPT_RT Thu Apr 10 12:00:00 UTC 2025"));
	assert_true(is_kept(v6_14, true, "", "#1 SMP Thu Apr 10 12:00:00 UTC 2025"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(releases),
		cmocka_unit_test(preemption),
	};

	return cmocka_run_group_tests_name("program-stack", tests, NULL, NULL);
}
