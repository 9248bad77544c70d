/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: a filter expression and a record to run it on, both hostile.  Input: a byte of
 * features, the expression, a NUL, the record.  A compiled filter must be a program that
 * terminates.
 */
#include <stdlib.h>
#include <string.h>

#include "events/filter.h"
#include "events/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELD(decl, offset, size, sign) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

static const char format[] = "name: fuzz\nID: 1\nformat:\n" FIELD(
	"unsigned short common_type", 0, 2, 0) FIELD("unsigned char common_flags", 2, 1, 0)
	FIELD("int common_pid", 4, 4, 1) FIELD("u8 a", 8, 1, 0) FIELD("s8 b", 9, 1, 1)
		FIELD("u16 c", 10, 2, 0) FIELD("s32 d", 12, 4, 1) FIELD("u64 e", 16, 8, 0) FIELD(
			"s64 f", 24, 8, 1) FIELD("char g[16]", 32, 16, 0)
			FIELD("__data_loc char[] h", 48, 4, 0) FIELD("__rel_loc char[] i", 52, 4, 0)
				FIELD("__data_loc cpumask_t j", 56, 4, 0) FIELD("u8 k[3]", 60, 3, 0)
					FIELD("const char * l", 64, 8, 0) "\nprint fmt: \"\"\n";

static int function_range(void *ctx, const char *name, uint64_t addr, uint64_t *ret_start,
			  uint64_t *ret_end)
{
	if (name && name[0] != 's')
		return -2;
	*ret_start = addr;
	*ret_end = addr + 16;
	return 0;
}

static void check_jump(unsigned int from, unsigned int to, unsigned int nr)
{
	if (to != FILTER_ACCEPT && to != FILTER_REJECT && (to <= from || to >= nr))
		abort();
}

static void check_program(const struct filter_prog *p)
{
	unsigned int i;

	if (p->nr_preds > FILTER_MAX_PREDS || p->pool_len > FILTER_POOL_SIZE)
		abort();
	for (i = 0; i < p->nr_preds; i++) {
		const struct filter_pred *pred = &p->preds[i];

		check_jump(i, pred->on_true, p->nr_preds);
		check_jump(i, pred->on_false, p->nr_preds);
		if (pred->kind == FILTER_KIND_STRING && pred->str.pat_off >= FILTER_POOL_SIZE)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct filter_prog prog;
	static struct filter_input in;
	static struct ev_format *fmt;
	struct filter_features features = { .function_range = function_range };
	char expr[4200], why[100];
	size_t len;

	if (!fmt && ev_format__parse(format, strlen(format), &fmt))
		abort();
	if (!size)
		return 0;
	features.function = data[0] & 1;
	features.cpus = data[0] & 2;
	features.common_cpu = data[0] & 4;
	features.stacktrace = data[0] & 8;
	features.dangling_op = data[0] & 16;
	features.nr_cpus = data[0] & 32 ? 8192 : data[0] >> 6;
	data++, size--;
	len = strnlen((const char *)data, size);
	if (len >= sizeof(expr))
		return 0;
	memcpy(expr, data, len);
	expr[len] = '\0';
	if (filter__compile(fmt, expr, &features, &prog, why, sizeof(why))) {
		if (strncmp(why, "column ", 7))
			abort();
		return 0;
	}
	check_program(&prog);
	if (len == size)
		return 0;
	in.len = size - len - 1 < FILTER_REC_MAX ? size - len - 1 : FILTER_REC_MAX;
	in.cpu = in.len;
	memcpy(in.comm, "comm", 4);
	memcpy(in.rec, data + len + 1, in.len);
	filter__match(&prog, &in);
	return 0;
}
