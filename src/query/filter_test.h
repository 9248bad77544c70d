/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The comparisons of a filter with stacks and names that the record does not have: their answers,
 * remembered by stack and event type.
 */
#ifndef QUERY_FILTER_TEST_H
#define QUERY_FILTER_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event_filter.h"

struct ev_format;
struct filter_features;
struct filter_test;

/* filter_test.what */
enum filter_test_of {
	TEST_OF_KSTACK = 1,
	TEST_OF_USTACK = 2,
	TEST_OF_STACKS = TEST_OF_KSTACK | TEST_OF_USTACK, /* of any of both */
	TEST_OF_COMM = 4,
	TEST_OF_EVENT = 8, /* "system:name" */
	TEST_OF_FUNCTION = 16, /* filter_test.is_function */
	TEST_OF_COPY = 32, /* filter_test.is_copy */
	TEST_OF_SYM = 64, /* names of the innermost frames (stack_names.h) */
	TEST_OF_CALLER = 128,
	TEST_OF_FILE = 256,
	TEST_OF_HOST = 512,
};

/* Of one expression. */
struct filter_tests;

int filter_tests__new(struct stk_reader *r, const struct event_filter_opts *opts,
		      struct filter_tests **ret_tests);
void filter_tests__free(struct filter_tests *ts);
/* As filter_names.add_test, for events of that format. */
int filter_tests__add(struct filter_tests *ts, const struct ev_format *format,
		      const struct filter_features *features, const struct filter_test *test);
/* Sets the bits of the tests that the event passes, and clears the others.  -ENOMEM, -ENOBUFS. */
int filter_tests__run(struct filter_tests *ts, const struct stk_event *e, uint64_t *ret_bits);
bool filter_tests__user_names(const struct filter_tests *ts);

#endif /* QUERY_FILTER_TEST_H */
