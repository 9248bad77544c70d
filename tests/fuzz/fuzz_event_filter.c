// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: filters when reading, an expression for a hostile recording.  The text of the input
 * is the expression.
 */
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "events/filter.h"
#include "query/event_filter.h"
#include "recordings.h"
#include "stackonce.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_EXPR 4200
#define MAX_EVENTS 20000

/* Another name of half of the functions. */
static const char *function(void *ctx, const char *sym)
{
	return *sym & 1 ? sym : "shown";
}

static void check_types(struct stk_reader *r, struct event_filters *fs)
{
	unsigned int i;

	for (i = 0; i < stk_reader__nr_types(r); i++) {
		char why[FILTER_ERROR_SIZE] = "";
		int err = event_filters__check(fs, 0, stk_reader__type(r, i), why, sizeof(why));

		if (err && err != -ENOMEM && err != -ENOBUFS && strncmp(why, "column ", 7))
			abort();
	}
}

static void filter(struct stk_reader *r, const char *expr)
{
	static const struct event_filter_opts opts = { function, NULL };
	_cleanup_(event_filters__freep) struct event_filters *fs = NULL;
	const struct stk_event *e;
	unsigned int i, selected = 0;

	/* A second program of the same tests. */
	_cleanup_free_ char *inverted = malloc(strlen(expr) + 4);

	if (!inverted || event_filters__new(r, &opts, &fs))
		abort();
	stpcpy(stpcpy(stpcpy(inverted, "!("), expr), ")");
	if (event_filters__add(fs, expr) != 0 || event_filters__add(fs, inverted) != 1)
		abort();
	for (i = 0; i < MAX_EVENTS && stk_reader__next(r, &e) == 1; i++) {
		if (!i)
			check_types(r, fs);
		selected += event_filters__match(fs, 0, e) + event_filters__match(fs, 1, e);
	}
	check_types(r, fs);
	if (selected > 2 * i || event_filters__untested(fs) > 2 * i)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t end = recording_size(data, size), len = MIN(size - end, (size_t)MAX_EXPR);
	uint8_t *copy = malloc(size + !size);
	char expr[MAX_EXPR + 1];
	struct stk_reader *r;

	memcpy(copy, data, size);
	memcpy(expr, data + end, len);
	expr[len] = '\0';
	correct_checksums(copy, end);
	if (!stk_reader__open_mem(copy, end, NULL, &r)) {
		filter(r, expr);
		stk_reader__free(r);
	}
	free(copy);
	return 0;
}
