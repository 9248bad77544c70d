// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input from ftrace: the first byte selects the type of the rest.  Sub-buffers go all the way
 * through the decoding of their records and the matching of stacks.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/ftrace/ring/ftrace_match.h"
#include "record/ftrace/ring/ftrace_page.h"
#include "record/ftrace/ring/ftrace_stacks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum; /* keeps reads from being optimised away */

static void check(int ok)
{
	if (!ok)
		abort();
}

static void use(const void *p, size_t n)
{
	const unsigned char *c = p;
	uint64_t s = 0;

	while (n--)
		s += *c++;
	sum += s;
}

static struct ftrace_place place(uint16_t offset, uint16_t size)
{
	return (struct ftrace_place){ offset, size };
}

/* Layouts like those of kernels, with small type numbers, which are hit often. */
static struct ftrace_kinds layouts(void)
{
	struct ftrace_kinds k = {
		.type = { 0, 2 },
		.flags = { 2, 1 },
		.preempt = { 3, 1 },
		.pid = { 4, 4 },
		/* clang-format off */
		.of = {
			[FTRACE_KERNEL_STACK] = { true, 1, { place(8, 4), place(16, 64) } },
			[FTRACE_USER_STACK] = { true, 2, { place(8, 4), place(16, 64) } },
			[FTRACE_STACK_ID] = { true, 3, { place(8, 4) } },
			[FTRACE_STACK_ID_PAIR] = { true, 4, { place(8, 4), place(12, 4) } },
			[FTRACE_STACK_ID_COOKIE] = { true, 5,
				{ place(8, 4), place(12, 4), place(16, 8) } },
			[FTRACE_USER_STACK_ID] = { true, 6,
				{ place(8, 8), place(16, 4), place(20, 4) } },
			[FTRACE_USER_STACK_UNWIND] = { true, 7,
				{ place(8, 8), place(16, 4), place(20, 4), place(24, 0) } },
			[FTRACE_FILE_MAP] = { true, 8,
				{ place(8, 4), place(12, 4), place(16, 20), place(36, 4) } },
		},
		/* clang-format on */
	};

	return k;
}

static void drain(struct ftrace_match *m, uint64_t *given)
{
	const struct ftrace_matched *e;

	while ((e = ftrace_match__next(m))) {
		check(e->ts == *given); /* in the ring's order, each once */
		use(e->data, e->len);
		++*given;
	}
}

static void take(struct ftrace_match *m, const struct ftrace_record *r,
		 const struct ftrace_page_event *ev, uint64_t *events)
{
	uint32_t i;

	for (i = 0; i < r->nr_words; i++)
		sum += ftrace_record__word(r, i);
	use(r->path, r->path_len);
	use(r->build_id, r->build_id_size);
	switch (r->kind) {
	case FTRACE_EVENT:
		check(!ftrace_match__event(m, (*events)++, &r->ctx, ev->data, ev->len,
					   r->type % 8));
		break;
	case FTRACE_STACK_ID_COOKIE:
		ftrace_match__stack(m, &r->ctx, FTRACE_MATCH_KERNEL | FTRACE_MATCH_COOKIE,
				    r->stack_id, r->cookie);
		break;
	case FTRACE_USER_STACK:
		ftrace_match__stack(m, &r->ctx, FTRACE_MATCH_USER, 1, 0);
		break;
	default:
		ftrace_match__stack(m, &r->ctx, FTRACE_MATCH_KERNEL, r->stack_id, 0);
	}
}

static void fuzz_page(const void *data, size_t size)
{
	const struct ftrace_page_format format = { 0, 8, 8, 16 };
	const struct ftrace_kinds kinds = layouts();
	const struct ftrace_match_counts *counts;
	uint64_t events = 0, given = 0;
	struct ftrace_page_event ev;
	struct ftrace_match *m;
	struct ftrace_record r;
	struct ftrace_page p;
	int more;

	check(!ftrace_match__new(&m));
	ftrace_page__open(&p, &format, data, size);
	while ((more = ftrace_page__next(&p, &ev)) == 1) {
		check((const char *)ev.data >= (const char *)data &&
		      (const char *)ev.data + ev.len <= (const char *)data + size);
		if (ftrace_kinds__decode(&kinds, ev.data, ev.len, &r))
			continue;
		take(m, &r, &ev, &events);
		drain(m, &given);
	}
	check(!more || more == -EBADMSG);
	ftrace_match__cut(m, UINT64_MAX);
	drain(m, &given);
	counts = ftrace_match__counts(m);
	check(given == events && counts->events == events && counts->no_kernel <= events);
	ftrace_match__free(m);
}

static void fuzz_kinds(const char *text, size_t size)
{
	unsigned char rec[200];
	struct ftrace_kinds k;
	struct ftrace_record r;
	enum ftrace_kind kind;
	size_t i;

	for (kind = FTRACE_EVENT + 1; kind < FTRACE_NR_KINDS; kind++) {
		k = (struct ftrace_kinds){};
		if (ftrace_kinds__add(&k, kind, text, size))
			continue;
		for (i = 0; i < sizeof(rec); i++) {
			memset(rec, (int)i, sizeof(rec));
			if (k.type.offset + 2u <= sizeof(rec))
				memcpy(rec + k.type.offset, &k.of[kind].type, 2);
			if (!ftrace_kinds__decode(&k, rec, i, &r)) {
				use(r.words, r.nr_words * sizeof(uint64_t));
				use(r.path, r.path_len);
			}
		}
	}
}

static void fuzz_texts(const char *text)
{
	struct ftrace_page_format format;
	struct ftrace_file file;
	int more;

	if (!ftrace_page_format__parse(text, &format))
		check(format.timestamp + 8 <= format.data);
	while ((more = ftrace_file__next(&text, &file))) {
		if (more < 0)
			continue;
		use(file.path, file.path_len);
		check(file.build_id_size <= FTRACE_BUILD_ID_MAX);
	}
	check(!*text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy;

	if (size < 1)
		return 0;
	copy = calloc(1, size); /* exact, so that a read past the end is detected */
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	switch (data[0] % 3) {
	case 0:
		fuzz_page(copy, size - 1);
		break;
	case 1:
		fuzz_kinds(copy, size - 1);
		break;
	case 2:
		fuzz_texts(copy); /* terminated by calloc() */
		break;
	}
	free(copy);
	return 0;
}
