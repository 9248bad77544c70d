// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* How the programs of an object read memory when nothing of the walk is prepared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <bpf/btf.h>

#include "kwalk.h"
#include "walkcost.skel.h"

static const struct kwalk_settings *settings_of(const struct bpf_object *obj)
{
	struct bpf_map *m;
	size_t size;

	bpf_object__for_each_map(m, obj)
	{
		if (strstr(bpf_map__name(m), ".rodata.kwalk"))
			return bpf_map__initial_value(m, &size);
	}
	return NULL;
}

/* Types of a kernel with the cast, or without. */
static struct btf *kernel_types(const char *function)
{
	struct btf *btf = btf__new_empty();

	assert_non_null(btf);
	assert_true(btf__add_func(btf, function, BTF_FUNC_GLOBAL, btf__add_func_proto(btf, 0)) > 0);
	return btf;
}

static void test_reader(void **state)
{
	struct btf *with = kernel_types("bpf_rdonly_cast"), *without = kernel_types("schedule");
	struct walkcost_bpf *skel = walkcost_bpf__open();
	const struct kwalk_settings *s;

	assert_non_null(skel);
	s = settings_of(skel->obj);
	assert_non_null(s);
	assert_int_equal(kwalk__prepare_reads(with, skel->obj), 0);
	assert_int_equal(s->reader, KWALK_BY_LOAD);
	assert_int_equal(s->text_size, 0); /* no walk starts */
	assert_int_equal(s->frames, KWALK_MAX_FRAMES);
	assert_int_equal(kwalk__prepare_reads(without, skel->obj), 0);
	assert_int_equal(s->reader, KWALK_BY_COPY);
	walkcost_bpf__destroy(skel);
	btf__free(with);
	btf__free(without);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_reader) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
