// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel's BTF says of per-CPU variables, which it need not list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "record/kernel/percpu.h"

static struct btf *types(void)
{
	struct btf *btf = btf__new_empty();

	assert_non_null(btf);
	assert_int_equal(btf__add_int(btf, "int", 4, BTF_INT_SIGNED), 1);
	assert_int_equal(btf__add_struct(btf, "mm_struct", 4), 2);
	assert_int_equal(btf__add_field(btf, "mm_mt", 1, 0, 0), 0);
	return btf;
}

static void test_listed(void **state)
{
	struct btf *btf = types();
	struct percpu_layout l;

	assert_int_equal(btf__add_var(btf, "__preempt_count", BTF_VAR_GLOBAL_ALLOCATED, 1), 3);
	assert_int_equal(btf__add_var(btf, "runqueues", BTF_VAR_GLOBAL_ALLOCATED, 1), 4);
	assert_int_equal(btf__add_datasec(btf, ".data..percpu", 64), 5);
	assert_int_equal(btf__add_datasec_var_info(btf, 3, 16, 4), 0);
	assert_int_equal(btf__add_datasec_var_info(btf, 4, 32, 4), 0);
	assert_int_equal(percpu__layout(btf, &l), 0);
	assert_int_equal(l.preempt_count, 16);
	assert_int_equal(l.runqueues, 32);
	assert_int_equal(l.prog_active, UINT32_MAX);
	assert_true(l.maple_tree);
	btf__free(btf);
}

/* As in a kernel of 5.15 to 6.15 that was built with pahole 1.18 to 1.21. */
static void test_not_listed(void **state)
{
	struct btf *btf = types();
	struct percpu_layout l;

	assert_int_equal(percpu__layout(btf, &l), 0);
	assert_int_equal(l.preempt_count, UINT32_MAX);
	assert_int_equal(l.runqueues, UINT32_MAX);
	assert_int_equal(l.perf_recursion, UINT32_MAX);
	assert_false(percpu_layout__has_levels(&l));
	assert_true(l.maple_tree);
	btf__free(btf);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listed),
		cmocka_unit_test(test_not_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
