// SPDX-License-Identifier: GPL-2.0-only
/* Names in a recording for code that is loaded and unloaded meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../common_fields.h"
#include "../trace/gen.h"
#include "cleanup.h"
#include "events/format.h"
#include "record/namer.h"
#include "record/select/rec_event.h"
#include "stackonce.h"
#include "symbols/ksyms.h"

#define CORE(x) (0xffffffff81000000ull + (x))
#define BPF(x) (0xffffffffc1000000ull + (x))

static const char text[] = "ffffffff81000000 T _stext\n"
			   "ffffffff81000100 T do_one\n"
			   "ffffffff81000200 D _etext\n";

/* Fields of 8 bytes and of 4, printed as a symbol and not. */
#define FORMAT(name, conversion)                                                                \
	"name: " name "\nID: 300\n" COMMON "\tfield:unsigned long ip;\toffset:8;\tsize:8;"      \
	"\tsigned:0;\n\tfield:int n;\toffset:16;\tsize:4;\tsigned:1;\n"                         \
	"\tfield:void * to;\toffset:24;\tsize:8;\tsigned:0;\n\nprint fmt: \"" conversion "\", " \
	"(void *)REC->ip\n"

static struct rec_event types[] = { { .format = (char *)FORMAT("named", "ip=%pS") },
				    { .format = (char *)FORMAT("hashed", "ip=%p") } };
static const struct rec_events events = { .v = types, .nr = ARRAY_SIZE(types) };

struct test {
	struct gen_file f;
	struct stk_writer *w;
	struct ksyms *syms;
	struct namer *namer;
	/* loaded at BPF(start) now; size 0 for nothing */
	uint64_t start, size;
	const char *name;
	unsigned int asked;
	uint64_t rounds;
};

static int ask(void *ctx, const uint64_t *addrs, unsigned int nr, char *texts, size_t text_len)
{
	unsigned long long off;
	struct test *t = ctx;

	assert_int_equal(nr, 1);
	t->asked++;
	off = addrs[0] - BPF(t->start);
	if (off < t->size)
		snprintf(texts, text_len, "%s+0x%llx/0x%llx", t->name, off,
			 (unsigned long long)t->size);
	else
		snprintf(texts, text_len, "0x%llx", (unsigned long long)addrs[0]);
	return 0;
}

static void begin(struct test *t)
{
	struct stk_writer_opts opts = { .nr_cpus = 1 };

	*t = (struct test){ 0 };
	t->w = gen_open(&t->f, &opts);
	assert_int_equal(ksyms__parse(text, &t->syms), 0);
	ksyms__set_resolver(t->syms, ask, t);
	assert_int_equal(namer__new(t->syms, &events, t->w, &t->namer), 0);
}

static void load(struct test *t, const char *name, uint64_t start, uint64_t size)
{
	t->name = name;
	t->start = start;
	t->size = size;
}

/* A stack of two frames, addr and one within CORE(caller). */
static void stack(struct test *t, uint64_t addr, uint64_t caller)
{
	const uint64_t frames[2] = { addr, CORE(caller) };
	uint32_t number;

	assert_int_equal(stk_writer__stack(t->w, frames, 2, &number), 0);
	assert_int_equal(namer__frame(t->namer, frames[0]), 0);
	assert_int_equal(namer__frame(t->namer, frames[1]), 0);
}

static void end_round(struct test *t)
{
	assert_int_equal(stk_writer__end_round(t->w, ++t->rounds, 0), 0);
	namer__end_round(t->namer);
}

static struct stk_reader *read_back(struct test *t)
{
	const struct stk_event *e;
	struct stk_reader *r;

	assert_int_equal(stk_writer__finish(t->w, "done", 0), 0);
	stk_writer__free(t->w);
	namer__free(t->namer);
	ksyms__free(t->syms);
	gen_load(&t->f);
	assert_int_equal(stk_reader__open_mem(t->f.p, t->f.len, NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	return r;
}

static void expect(struct stk_reader *r, uint32_t number, const char *name, uint64_t off)
{
	struct stk_frame out[2];

	assert_int_equal(stk_reader__frames(r, number, out, 2), 2);
	assert_string_equal(out[1].sym, out[1].ip > CORE(0x100) ? "do_one" : "_stext");
	assert_null(out[1].mod);
	if (!name) {
		assert_null(out[0].sym);
		return;
	}
	assert_string_equal(out[0].sym, name);
	assert_int_equal(out[0].off, off);
	assert_string_equal(out[0].mod, "bpf");
}

/* Loaded over another, unloaded, loaded again: each stack gets the name of its time. */
static void test_changes(void **state)
{
	struct stk_reader *r;
	struct test t;

	begin(&t);
	load(&t, "bpf_prog_a", 0, 0x100);
	stack(&t, BPF(0x50), 0x10);
	end_round(&t);
	load(&t, "bpf_prog_b", 0x40, 0x20);
	stack(&t, BPF(0x50), 0x20);
	end_round(&t);
	load(&t, NULL, 0, 0);
	stack(&t, BPF(0x50), 0x30);
	end_round(&t);
	load(&t, "bpf_prog_a", 0, 0x100);
	stack(&t, BPF(0x50), 0x140);
	end_round(&t);
	/* the same start with another name, another size */
	load(&t, "bpf_prog_c", 0, 0x100);
	stack(&t, BPF(0x50), 0x150);
	end_round(&t);
	load(&t, "bpf_prog_c", 0, 0x51);
	stack(&t, BPF(0x50), 0x160);
	r = read_back(&t);
	expect(r, 1, "bpf_prog_a", 0x50);
	expect(r, 2, "bpf_prog_b", 0x10);
	expect(r, 3, NULL, 0);
	expect(r, 4, "bpf_prog_a", 0x50);
	expect(r, 5, "bpf_prog_c", 0x50);
	expect(r, 6, "bpf_prog_c", 0x50);
	stk_reader__free(r);
	gen_close(&t.f);
}

/* One program takes the place of several, which return one by one. */
static void test_overlaps(void **state)
{
	struct stk_reader *r;
	struct test t;

	begin(&t);
	load(&t, "bpf_prog_all", 0, 0x100);
	stack(&t, BPF(0x50), 0x10);
	end_round(&t);
	load(&t, "bpf_prog_low", 0x40, 0x20);
	stack(&t, BPF(0x50), 0x20);
	end_round(&t);
	load(&t, "bpf_prog_high", 0x70, 0x10);
	stack(&t, BPF(0x75), 0x30);
	end_round(&t);
	load(&t, "bpf_prog_all", 0, 0x100);
	stack(&t, BPF(0x75), 0x140);
	end_round(&t);
	load(&t, "bpf_prog_high", 0x70, 0x10);
	stack(&t, BPF(0x75), 0x150);
	end_round(&t);
	load(&t, "bpf_prog_low", 0x40, 0x20);
	stack(&t, BPF(0x50), 0x160);
	r = read_back(&t);
	expect(r, 1, "bpf_prog_all", 0x50);
	expect(r, 2, "bpf_prog_low", 0x10);
	expect(r, 3, "bpf_prog_high", 5);
	expect(r, 4, "bpf_prog_all", 0x75);
	expect(r, 5, "bpf_prog_high", 5);
	expect(r, 6, "bpf_prog_low", 0x10);
	stk_reader__free(r);
	gen_close(&t.f);
}

/* An address without a name does not get that of code loaded there later. */
static void test_nameless(void **state)
{
	struct stk_reader *r;
	struct test t;

	begin(&t);
	/* a field's value is looked up first, and must not affect the frame */
	assert_int_equal(namer__value(t.namer, BPF(0x50)), 0);
	stack(&t, BPF(0x50), 0x10);
	end_round(&t);
	load(&t, "bpf_prog_a", 0, 0x100);
	stack(&t, BPF(0x50), 0x20);
	end_round(&t);
	load(&t, "bpf_prog_b", 0, 0x100);
	assert_int_equal(namer__value(t.namer, BPF(0x50)), 0);
	r = read_back(&t);
	expect(r, 1, NULL, 0);
	expect(r, 2, "bpf_prog_a", 0x50);
	stk_reader__free(r);
	gen_close(&t.f);
}

static size_t file_size(struct test *t)
{
	end_round(t);
	gen_load(&t->f);
	return t->f.len;
}

/* The kernel is asked once per round, and only new symbols go to the file. */
static void test_bounded(void **state)
{
	size_t size, first, second;
	struct stk_reader *r;
	struct test t;

	begin(&t);
	load(&t, "bpf_prog_a", 0, 0x100);
	size = file_size(&t);
	size = file_size(&t) - size; /* of an empty round */
	stack(&t, BPF(0x50), 0x10);
	stack(&t, BPF(0x50), 0x10);
	assert_int_equal(t.asked, 2); /* the address, and the byte before it */
	assert_int_equal(namer__value(t.namer, BPF(0x50)), 0);
	assert_int_equal(t.asked, 2);
	first = file_size(&t);
	for (int i = 0; i < 3; i++)
		stack(&t, BPF(0x50), 0x10);
	assert_int_equal(t.asked, 4);
	second = file_size(&t);
	assert_int_equal(second - first, size);
	r = read_back(&t);
	expect(r, 1, "bpf_prog_a", 0x50);
	stk_reader__free(r);
	gen_close(&t.f);
}

/* What a record may have as addresses, if its event prints symbols. */
static void test_fields(void **state)
{
	uint64_t record[4] = { BPF(0x10), BPF(0x20), BPF(0x30), BPF(0x40) };
	struct test t;

	begin(&t);
	load(&t, "bpf_prog_a", 0, 0x100);
	assert_int_equal(namer__fields(t.namer, 1, record, sizeof(record)), 0);
	assert_int_equal(t.asked, 0);
	assert_int_equal(namer__fields(t.namer, 0, record, 31), 0);
	assert_int_equal(t.asked, 1); /* the last field is cut off, the middle one an int */
	assert_int_equal(namer__fields(t.namer, 0, record, sizeof(record)), 0);
	assert_int_equal(t.asked, 2);
	assert_int_equal(namer__fields(t.namer, 0, record, sizeof(record)), 0);
	assert_int_equal(t.asked, 2);
	record[1] = 0;
	record[3] = 0xffff888100000000; /* of the kernel, but no code */
	assert_int_equal(namer__fields(t.namer, 0, record, sizeof(record)), 0);
	assert_int_equal(t.asked, 2);
	stk_reader__free(read_back(&t));
	gen_close(&t.f);
}

static int parse_formats(void **state)
{
	int err = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(types) && !err; i++)
		err = ev_format__parse(types[i].format, strlen(types[i].format), &types[i].fmt);
	return err;
}

static int free_formats(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++)
		ev_format__free(types[i].fmt);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),	 cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_nameless), cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_fields),
	};

	return cmocka_run_group_tests(tests, parse_formats, free_formats);
}
