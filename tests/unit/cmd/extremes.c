// SPDX-License-Identifier: GPL-2.0-only
/*
 * extremes DIR: recordings with as many groups, as long texts, as deep stacks and as large numbers
 * as the format allows, for tests/unit/cmd/extremes.sh.  Unlike those of trace_bombs they are large
 * enough that most of what they ask for fits the budget of the reader.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common_fields.h"
#include "cleanup.h"
#include "frame.h"
#include "trace/write/writer.h"

#define TEXT 0xffffffff81000000ull

static const char number_format[] =
	"name: number\nID: 1\n" COMMON "\tfield:u64 value;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:s64 number;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\nprint fmt: \"%llu\", REC->value\n";
#define LONG_TEXT 65000
static const char text_format[] = "name: text\nID: 2\n" COMMON
				  "\tfield:__data_loc char[] text;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\nprint fmt: \"%s\", __get_str(text)\n";

struct extreme {
	struct stk_writer *w;
	struct stk_writer_event e;
};

static void begin(struct extreme *x, const char *dir, const char *name)
{
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	_cleanup_free_ char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/%s.stk", dir, name) < 0)
		err(1, "out of memory");
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		err(1, "%s", path);
	*x = (struct extreme){ .e.ts = 1000 };
	if (stk_writer__new(fd, &opts, &x->w))
		errx(1, "%s", path);
	stk_writer__type(x->w, STK_KIND_TRACEPOINT, "x", "number", "", number_format);
	stk_writer__type(x->w, STK_KIND_TRACEPOINT, "x", "text", "", text_format);
	stk_writer__type(x->w, STK_KIND_SAMPLE, "x", "tick", "", "");
	stk_writer__task(x->w, 7, 7, "sh", 2, &x->e.task);
}

/* An event 1 ms after the last one. */
static void add(struct extreme *x, uint32_t type, const void *record, uint32_t len)
{
	x->e.ts += 1000000;
	x->e.event = type;
	x->e.record = record;
	x->e.record_len = len;
	if (stk_writer__event(x->w, &x->e))
		errx(1, "cannot add an event");
}

static void add_number(struct extreme *x, uint64_t value, uint64_t number)
{
	uint64_t record[3] = { 0, value, number };

	add(x, 0, record, sizeof(record));
}

static void end_round(struct extreme *x)
{
	if (stk_writer__end_round(x->w, x->e.ts, 0))
		errx(1, "cannot write");
}

static void finish(struct extreme *x)
{
	end_round(x);
	if (stk_writer__finish(x->w, "done", 0))
		errx(1, "cannot write");
	stk_writer__free(x->w);
}

static uint32_t add_stack(struct extreme *x, const uint64_t *frames, unsigned int nr)
{
	uint32_t number;

	if (stk_writer__stack(x->w, frames, nr, &number))
		errx(1, "cannot add a stack");
	return number;
}

/* Numbers that are all different. */
static void make_groups(const char *dir, const char *name, uint32_t nr)
{
	struct extreme x;
	uint32_t i;

	begin(&x, dir, name);
	for (i = 0; i < nr; i++) {
		add_number(&x, i * 0x9e3779b97f4a7c15ull >> 1, i);
		if (i % 65536 == 65535)
			end_round(&x);
	}
	finish(&x);
}

/* Texts that are as long as a record, and differ in their last characters. */
static void make_texts(const char *dir, const char *name, uint32_t nr)
{
	static char record[12 + LONG_TEXT];
	uint32_t at = LONG_TEXT << 16 | 12, i;
	struct extreme x;

	begin(&x, dir, name);
	memset(record + 12, 'x', LONG_TEXT);
	memcpy(record + 8, &at, sizeof(at));
	for (i = 0; i < nr; i++) {
		snprintf(record + sizeof(record) - 8, 8, "%07u", i);
		add(&x, 1, record, sizeof(record));
		if (i % 64 == 63)
			end_round(&x);
	}
	finish(&x);
}

static void make_values(const char *dir)
{
	static const uint64_t values[] = {
		0, 1, 1ull << 63, UINT64_MAX - 1, UINT64_MAX, INT64_MAX
	};
	struct extreme x;
	uint32_t i;

	begin(&x, dir, "values");
	for (i = 0; i < ARRAY_SIZE(values); i++)
		add_number(&x, values[i], values[i]);
	finish(&x);

	/* more than are kept one by one */
	begin(&x, dir, "counted_values");
	for (i = 0; i < 6000; i++)
		add_number(&x, values[i % ARRAY_SIZE(values)], values[i % ARRAY_SIZE(values)]);
	finish(&x);
}

/* Kernel and user stacks of the greatest depth: one of a function that calls itself, and others. */
static void make_deep(const char *dir)
{
	uint64_t frames[STK_MAX_DEPTH];
	struct extreme x;
	uint32_t i, k;

	begin(&x, dir, "deep");
	stk_writer__file(x.w, &(struct stk_file){ .path = "/bin/deep" }, &k);
	stk_writer__symbol(x.w, TEXT, 0x1000, "recurse", "");
	for (i = 0; i < 400; i++) {
		for (k = 0; k < STK_MAX_DEPTH; k++)
			frames[k] = TEXT + (i ? 16 * (k * i % 4099) : 16);
		x.e.kstack = add_stack(&x, frames, STK_MAX_DEPTH);
		for (k = 0; k < STK_MAX_DEPTH; k++)
			frames[k] = FRAME_USER(1, i ? 16 * (k * i % 4099) : 16);
		x.e.ustack = add_stack(&x, frames, STK_MAX_DEPTH);
		add(&x, 2, NULL, 0);
		add_number(&x, i, i);
	}
	finish(&x);
}

/* Deep stacks that have no function in common. */
static void make_addresses(const char *dir)
{
	uint64_t frames[STK_MAX_DEPTH];
	struct extreme x;
	uint32_t i, k;

	begin(&x, dir, "addresses");
	for (i = 0; i < 4000; i++) {
		for (k = 0; k < STK_MAX_DEPTH; k++)
			frames[k] = TEXT + 16 * ((uint64_t)i * STK_MAX_DEPTH + k);
		x.e.kstack = add_stack(&x, frames, STK_MAX_DEPTH);
		add(&x, 2, NULL, 0);
	}
	finish(&x);
}

/* Stacks that are each an alias of the next one, and code that is replaced by what it replaced. */
static void make_cycles(const char *dir)
{
	const struct stk_user_symbol symbol = { "code", 0x100, 0x20 };
	struct stk_file file = { .kind = STK_FILE_JIT, .path = "[jit]" };
	struct extreme x;
	uint64_t frame;
	uint32_t i, nr;

	begin(&x, dir, "cycles");
	stk_writer__meta(x.w, "stacks.late", "1");
	for (i = 0; i < 3; i++) {
		stk_writer__file(x.w, &file, &nr);
		stk_writer__user_symbols(x.w, nr, &symbol, 1);
	}
	for (i = 0; i < 3; i++) {
		frame = TEXT + 16 * i;
		x.e.kstack = add_stack(&x, &frame, 1);
		frame = FRAME_USER(1 + i, 0x110);
		x.e.ustack = add_stack(&x, &frame, 1);
		add_number(&x, i, i);
	}
	for (i = 0; i < 6; i++)
		stk_writer__stack_alias(x.w, 1 + i, 1 + (i + 2) % 6);
	for (i = 0; i < 3; i++) {
		struct stk_writer_replaced r = { 1 + i, 1 + (i + 1) % 3, 0x110, 1000 };

		stk_writer__replaced(x.w, &r);
	}
	finish(&x);
}

/* Functions as large as an address space, and some that end beyond it. */
static void make_functions(const char *dir)
{
	static const struct {
		uint64_t start, size;
		const char *name;
	} functions[] = {
		{ TEXT, 1ull << 63, "half" },
		{ TEXT + 0x1000, UINT64_MAX, "all" },
		{ UINT64_MAX - 0xfff, 0x10000, "beyond" },
	};
	struct stk_user_symbol symbols[] = { { "half", 0, 1ull << 63 },
					     { "all", 0x1000, UINT64_MAX },
					     { "beyond", (1ull << 40) - 16, 0x10000 } };
	struct extreme x;
	uint64_t frames[4];
	uint32_t i, k;

	begin(&x, dir, "functions");
	stk_writer__file(x.w, &(struct stk_file){ .path = "/bin/large" }, &k);
	stk_writer__user_symbols(x.w, 1, symbols, ARRAY_SIZE(symbols));
	for (i = 0; i < ARRAY_SIZE(functions); i++)
		stk_writer__symbol(x.w, functions[i].start, functions[i].size, functions[i].name,
				   "");
	for (i = 0; i < 16; i++) {
		frames[0] = TEXT + (i % 4 << 12) + i;
		frames[1] = UINT64_MAX - i * 0x200;
		x.e.kstack = add_stack(&x, frames, 2);
		frames[0] = FRAME_USER(1, (i % 4 << 12) + i);
		frames[1] = FRAME_USER(1, (1ull << 40) - 1 - i);
		x.e.ustack = add_stack(&x, frames, 2);
		add(&x, 2, NULL, 0);
	}
	finish(&x);
}

/* Event types with many fields, which take more memory than their text once they are parsed. */
static void make_formats(const char *dir)
{
	static char format[16384];
	const uint64_t record[2] = { 0 };
	struct extreme x;
	char name[16];
	uint32_t i, k;
	size_t len;
	int type;

	begin(&x, dir, "formats");
	for (i = 0; i < 8000; i++) {
		len = snprintf(format, sizeof(format), "name: t\nID: 1\n" COMMON);
		for (k = 0; k < 250; k++)
			len += snprintf(format + len, sizeof(format) - len,
					"\tfield:u8 f%u;\toffset:8;\tsize:1;\tsigned:0;\n", k);
		snprintf(format + len, sizeof(format) - len, "\nprint fmt: \"\"\n");
		snprintf(name, sizeof(name), "t%u", i);
		type = stk_writer__type(x.w, STK_KIND_TRACEPOINT, "x", name, "", format);
		if (type < 0)
			errx(1, "cannot add a type");
		add(&x, type, record, sizeof(record));
	}
	finish(&x);
}

static void make_empty(const char *dir)
{
	struct extreme x;

	begin(&x, dir, "empty");
	finish(&x);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: extremes DIR\n");
		return 2;
	}
	make_groups(argv[1], "groups", 100000);
	make_groups(argv[1], "million", 1000000);
	make_texts(argv[1], "texts", 200);
	make_texts(argv[1], "many_texts", 4000);
	make_values(argv[1]);
	make_deep(argv[1]);
	make_addresses(argv[1]);
	make_cycles(argv[1]);
	make_functions(argv[1]);
	make_formats(argv[1]);
	make_empty(argv[1]);
	return 0;
}
