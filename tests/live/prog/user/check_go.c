// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the recordings of ugo.go: the functions of package main, in order, to the outermost one.
 */
#include "checks.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#define GO_BASE 0x500000000000ULL
#define GO_DEPTH 64

static const char *const ways[][4] = {
	{ "main.direct" },
	{ "main.plain.work", "main.byInterface" },
	{ "main.byClosure.func1", "main.byClosure" },
};

/* Function k of main outward from main.call; NULL: any function, and the rest is not checked. */
static const char *expected(unsigned int depth, unsigned int way, unsigned int k)
{
	if (!k)
		return "main.call";
	if (k <= depth + 1)
		return "main.deep";
	return ways[way][k - depth - 2];
}

static const char *judge(struct recview *r, const struct recview_event *e, unsigned int depth,
			 unsigned int way, bool *ret_whole)
{
	unsigned int k = 0;

	*ret_whole = false;
	for (unsigned int i = 0; i < e->depth; i++) {
		const char *name = recview__function(r, e, i), *want = expected(depth, way, k);

		*ret_whole = *ret_whole || !strncmp(name, "runtime.goexit", 14);
		/* the method by which an interface calls a method with a value receiver */
		if (strncmp(name, "main.", 5) || !want || !strcmp(name, "main.(*plain).work"))
			continue;
		if (strcmp(name, want))
			return "another function";
		k++;
	}
	if (expected(depth, way, k))
		return e->end == STK_END_COMPLETE || e->end == STK_END_FALLBACK ?
			       "functions are missing" :
			       NULL;
	return NULL;
}

/* go RECORDING */
int check_go(int argc, char **argv)
{
	unsigned long calls = 0, wrong = 0, whole = 0, ends[STK_NR_ENDS] = { 0 };
	struct recview r;
	struct recview_event e;

	if (argc != 2)
		errx(2, "usage: ucheck go RECORDING");
	recview__open(&r, argv[1]);
	while (recview__next(&r, &e)) {
		uint64_t addr = recview__field(&e, "uaddr"), way = recview__field(&e, "val");
		const char *what;
		bool to_the_end;

		if (strcmp(e.name, "sys_enter_futex") || addr < GO_BASE ||
		    addr >= GO_BASE + 4 * GO_DEPTH || way > 2)
			continue;
		calls++;
		if (e.none)
			continue;
		ends[e.end]++;
		what = judge(&r, &e, (addr - GO_BASE) / 4, way, &to_the_end);
		whole += to_the_end;
		if (!what)
			continue;
		if (wrong++ < 3) {
			printf("WRONG: %s\n", what);
			recview__print(&r, &e);
		}
	}
	printf("calls %lu\nwrong %lu\nto_goexit %lu\n", calls, wrong, whole);
	for (unsigned int i = 0; i < STK_NR_ENDS; i++)
		if (ends[i])
			printf("%s %lu\n", stk_stack_end_name(i), ends[i]);
	recview__close(&r);
	return wrong ? 1 : 0;
}
