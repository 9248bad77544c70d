// SPDX-License-Identifier: GPL-2.0-only
/*
 * What native events are refused for: each reason is planted in the types and formats of a kernel,
 * or in types made here.  Formats at random are refused, or make instructions that write nothing
 * outside of the record.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <bpf/btf.h>

#include "call_formats.h"
#include "cleanup.h"
#include "events/format.h"
#include "native_machine.h"
#include "record/kernel/native_rows.h"
#include "slurp.h"
#include "strbuf.h"

#define OPERATION(code_)        \
	(struct bpf_insn)       \
	{                       \
		.code = (code_) \
	}
#define NOP OPERATION(BPF_JMP | BPF_JA)
#define EXIT OPERATION(BPF_JMP | BPF_EXIT)

static const char *directory;
static struct btf *kernel_types;
static char *formats;

static int setup(void **state)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/6.18.btf", directory);
	kernel_types = btf__parse(path, NULL);
	snprintf(path, sizeof(path), "%s/6.18.formats", directory);
	return !kernel_types || slurp(path, &formats, NULL);
}

static int teardown(void **state)
{
	btf__free(kernel_types);
	free(formats);
	return 0;
}

/* The text with a part of it replaced; NULL: nothing is. */
static char *text_with(const char *start, const char *end, const char *part, const char *by)
{
	const char *at = part ? strstr(start, part) : start;
	struct strbuf text = { 0 };

	assert_true(at && at < end);
	strbuf__add(&text, start, (size_t)(at - start));
	strbuf__puts(&text, by ?: "");
	at += part ? strlen(part) : 0;
	strbuf__add(&text, at, (size_t)(end - at));
	strbuf__add(&text, "\n", 2);
	assert_false(strbuf__failed(&text));
	return text.s;
}

/* The same for the format of an event. */
static char *format_with(const char *event, const char *part, const char *by)
{
	char name[64];
	const char *start;

	snprintf(name, sizeof(name), "name: %s\n", event);
	start = strstr(formats, name);
	assert_non_null(start);
	return text_with(start, strstr(start, "\n\nsystem: ") ?: start + strlen(start), part, by);
}

static int make(const char *system, const char *event, const char *text, const struct btf *btf,
		struct native_code *code, char why[NATIVE_WHY])
{
	struct ev_format *fmt;
	int err;

	assert_int_equal(ev_format__parse(text, strlen(text), &fmt), 0);
	memset(code, 0, sizeof(*code));
	err = native_code__make(system, event, fmt, text, btf, native_code__reader(btf), code, why);
	assert_true(!err || !code->nr);
	ev_format__free(fmt);
	return err;
}

static void want_refused(const char *system, const char *event, const char *part, const char *by,
			 const struct btf *btf, const char *want)
{
	_cleanup_free_ char *text = format_with(event, part, by);
	struct native_code code;
	char why[NATIVE_WHY];

	assert_int_equal(make(system, event, text, btf, &code, why), -EOPNOTSUPP);
	assert_string_equal(why, want);
}

#define FIELD(type_and_name, offset, size) \
	"field:" type_and_name ";\toffset:" #offset ";\tsize:" #size ";"

static void fields(void **state)
{
	static const struct {
		const char *event, *part, *by, *why;
	} rows[] = {
		{ "sched_switch", "int prev_prio;", "int prev_mood;",
		  "prev_mood: the field is unknown" },
		{ "sched_switch", FIELD("pid_t prev_pid", 24, 4), FIELD("pid_t prev_pid", 24, 2),
		  "prev_pid: pid_t of 2 bytes cannot hold member pid of 4" },
		{ "sched_wakeup", FIELD("int target_cpu", 32, 4), FIELD("long target_cpu", 40, 8),
		  NULL /* thread_info.cpu is unsigned */ },
		{ "sched_wakeup", FIELD("pid_t pid", 24, 4), FIELD("long pid", 40, 8),
		  "pid: long of 8 bytes cannot hold member pid of 4" },
		{ "sched_wakeup", FIELD("char comm[16]", 8, 16), FIELD("char comm[8]", 8, 8),
		  "comm: char[8] is no copy of member comm of 16 bytes" },
		{ "sched_wakeup", FIELD("char comm[16]", 8, 16), FIELD("u64 comm", 8, 8),
		  "comm: u64 cannot hold the string comm" },
		{ "sched_wakeup", FIELD("char comm[16]", 8, 16),
		  FIELD("__data_loc int[] comm", 8, 4),
		  "comm: __data_loc int[] cannot hold the string comm" },
		{ "sched_wakeup", FIELD("char comm[16]", 8, 16),
		  FIELD("__rel_loc char[] comm", 8, 4),
		  "comm: __rel_loc char[] cannot hold the string comm" },
		{ "sched_wakeup", FIELD("char comm[16]", 8, 16),
		  FIELD("__data_loc char[] comm", 8, 4), NULL },
		{ "kmalloc", FIELD("int node", 48, 4), FIELD("long node", 48, 8),
		  "node: long of 8 bytes cannot hold argument 6, a signed number of 4" },
		{ "kmalloc", FIELD("int node", 48, 4), FIELD("short node", 48, 2),
		  "node: short of 2 bytes cannot hold argument 6, a signed number of 4" },
		{ "kmalloc", FIELD("int node", 48, 4), FIELD("char node[4]", 48, 4),
		  "node: char[4] of 4 bytes cannot hold argument 6, a signed number of 4" },
		{ "sched_switch", FIELD("long prev_state", 32, 8), FIELD("int prev_state", 32, 4),
		  "prev_state: int of 4 bytes cannot hold a task's state" },
		{ "mm_page_free", FIELD("unsigned long pfn", 8, 8), FIELD("unsigned int pfn", 8, 4),
		  "pfn: unsigned int of 4 bytes cannot hold the number of a page" },
		{ "kmem_cache_alloc", FIELD("bool accounted", 60, 1), FIELD("int accounted", 60, 4),
		  "accounted: which flags account an allocation is unknown" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct native_event *e;
		size_t at = 0;

		while ((e = native_rows__get(at++)) && strcmp(e->event, rows[i].event))
			;
		assert_non_null(e);
		if (rows[i].why) {
			want_refused(e->system, e->event, rows[i].part, rows[i].by, kernel_types,
				     rows[i].why);
		} else {
			_cleanup_free_ char *text = format_with(e->event, rows[i].part, rows[i].by);
			struct native_code code;
			char why[NATIVE_WHY];

			assert_int_equal(make(e->system, e->event, text, kernel_types, &code, why),
					 0);
		}
	}
}

static void bounds(void **state)
{
	static const struct {
		const char *by, *why;
	} rows[] = {
		{ FIELD("unsigned int vec", 9, 4),
		  "vec: unsigned int of 4 bytes cannot be at offset 9" },
		{ FIELD("unsigned int vec", 4, 4), "vec: unsigned int overlaps another field" },
		{ FIELD("unsigned int vec", 0, 4), "vec: unsigned int overlaps another field" },
		{ FIELD("unsigned int vec", 125, 4), "its fields take 129 bytes of at most 128" },
		{ FIELD("unsigned int vec", 4000, 4), "its fields take 4004 bytes of at most 128" },
		{ FIELD("unsigned int vec", 8, 4) "\tsigned:0;\n\t" FIELD("unsigned int vec", 8, 4),
		  "vec: unsigned int overlaps another field" },
		{ FIELD("unsigned int vec", 8, 4) "\tsigned:0;\n\t" FIELD("u8 more", 11, 1),
		  "more: u8 overlaps another field" },
		{ FIELD("unsigned int vec", 8, 4) "\tsigned:0;\n\t" FIELD("char more[100]", 0, 100),
		  "more: char[100] overlaps another field" },
		{ FIELD("int common_more", 8, 4) "\tsigned:0;\n\t" FIELD("unsigned int vec", 12, 4),
		  "common_more: int of 4 bytes cannot be at offset 8" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		want_refused("irq", "softirq_raise", FIELD("unsigned int vec", 8, 4), rows[i].by,
			     kernel_types, rows[i].why);
}

static void texts(void **state)
{
	struct native_code code;
	char why[NATIVE_WHY];
	uint64_t hash;

	_cleanup_free_ char *text = format_with("softirq_raise", "vec=%u", "vec=%d");
	_cleanup_free_ char *none = format_with("softirq_raise", "print fmt", "no fmt");

	assert_int_equal(make("irq", "softirq_raise", text, kernel_types, &code, why), -EOPNOTSUPP);
	assert_non_null(strstr(why, "its print fmt is unknown (0x"));
	want_refused("irq", "softirq_raise", "print fmt: ", "print fmt:", kernel_types,
		     "its print fmt is unknown (0)");
	assert_int_equal(native_rows__text_hash(none), 0);
	/* tables are left out, and only they */
	hash = native_rows__text_hash(
		"print fmt: \"%s\", __print_symbolic(REC->a, { 1, \"A\" })\n");
	assert_true(hash ==
		    native_rows__text_hash(
			    "print fmt: \"%s\", __print_symbolic(REC->a, { 2, \"}\\\"{\" }, "
			    "{ (unsigned long)((1) | {3}), \"C\" })\nrest"));
	assert_true(hash != native_rows__text_hash(
				    "print fmt: \"%s\", __print_symbolic(REC->b, { 1, \"A\" })"));
	assert_true(native_rows__text_hash("print fmt: \"{%s}\", REC->a") !=
		    native_rows__text_hash("print fmt: \"{%d}\", REC->a"));
	assert_true(native_rows__text_hash("print fmt: \"\\\"{%s}\", REC->a") !=
		    native_rows__text_hash("print fmt: \"\\\"{%d}\", REC->a"));
	assert_true(native_rows__text_hash("print fmt: \"%s\", f({ 1") != 0);
}

static void unknown(void **state)
{
	_cleanup_free_ char *text = format_with("softirq_raise", NULL, NULL);
	struct native_code code;
	char why[NATIVE_WHY] = "?";

	assert_int_equal(make("irq", "softirq_lower", text, kernel_types, &code, why), -ENOENT);
	assert_string_equal(why, "");
	assert_int_equal(make("tasklet", "softirq_raise", text, kernel_types, &code, why), -ENOENT);
}

/* ---- types ----------------------------------------------------------------------------------- */

/* Types with an event of these arguments. */
static struct btf *types_with(const char *event, struct btf *btf, const int *args, int nr)
{
	char name[64];
	int data = btf__add_ptr(btf, 0), proto = btf__add_func_proto(btf, 0);

	assert_int_equal(btf__add_func_param(btf, "", data), 0);
	for (int i = 0; i < nr; i++)
		assert_int_equal(btf__add_func_param(btf, "", args[i]), 0);
	snprintf(name, sizeof(name), "btf_trace_%s", event);
	assert_true(btf__add_typedef(btf, name, btf__add_ptr(btf, proto)) > 0);
	return btf;
}

static void prototypes(void **state)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int wide = btf__add_int(btf, "__int128", 16, BTF_INT_SIGNED);

	want_refused("irq", "softirq_raise", NULL, NULL, btf,
		     "the kernel's types do not describe its arguments");
	types_with("softirq_raise", btf, (int[]){ number }, 1);
	want_refused("irq", "softirq_raise", NULL, NULL, btf, "its arguments (int) are unknown");
	types_with("softirq_entry", btf, (int[]){ wide }, 1);
	want_refused("irq", "softirq_entry", NULL, NULL, btf,
		     "the kernel's types do not describe its arguments");
	types_with("softirq_exit", btf, NULL, 0);
	want_refused("irq", "softirq_exit", NULL, NULL, btf, "its arguments () are unknown");
	types_with("kfree", btf, (int[]){ number, btf__add_ptr(btf, 0) }, 2);
	want_refused("kmem", "kfree", NULL, NULL, btf, "its arguments (int, void *) are unknown");
	btf__free(btf);
}

/* A struct task_struct with comm as it must be and a pid as it is given, and sched_wakeup. */
static struct btf *task_types(uint32_t bit, uint32_t bits, const char *type, uint32_t size)
{
	struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int letter = btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	int name = btf__add_array(btf, number, letter, 16);
	int pid = strcmp(type, "int") ? btf__add_int(btf, type, size, 0) : number;
	int task = btf__add_struct(btf, "task_struct", 4096);

	assert_int_equal(btf__add_field(btf, "comm", name, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "pid", pid, bit, bits), 0);
	return types_with("sched_wakeup", btf, (int[]){ btf__add_ptr(btf, task) }, 1);
}

static void members(void **state)
{
	static const struct {
		uint32_t bit, bits;
		const char *type;
		uint32_t size;
		const char *why;
	} rows[] = {
		{ 1024, 0, "int", 4, "prio: the kernel has no member prio" },
		{ 1028, 3, "int", 4, "pid: the kernel has no member pid" },
		{ 1024, 8, "int", 4, "pid: the kernel has no member pid" },
		{ 1u << 23, 0, "int", 4, "prio: the kernel has no member prio" },
		{ (1u << 23) + 8, 0, "int", 4, "pid: the kernel has no member pid" },
		{ 1024, 0, "short", 2, "prio: the kernel has no member prio" },
		{ 1024, 0, "long", 8, "pid: pid_t of 4 bytes cannot hold member pid of 8" },
		{ 1024, 0, "int128", 16, "pid: pid_t of 4 bytes cannot hold member pid of 8" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct btf *btf = task_types(rows[i].bit, rows[i].bits, rows[i].type, rows[i].size);

		want_refused("sched", "sched_wakeup", NULL, NULL, btf, rows[i].why);
		btf__free(btf);
	}
}

static void others(void **state)
{
	struct btf *btf = btf__new_empty();
	int order = btf__add_int(btf, "unsigned int", 4, 0);
	int page = btf__add_ptr(btf, btf__add_struct(btf, "page", 56));
	_cleanup_free_ char *text = format_with("softirq_raise", NULL, NULL);
	struct native_code code;
	struct ev_format *fmt;
	char why[NATIVE_WHY];

	types_with("mm_page_free", btf, (int[]){ page, order }, 2);
	want_refused("kmem", "mm_page_free", NULL, NULL, btf, "pfn: struct page has 56 bytes");
	assert_int_equal(native_code__reader(btf), NATIVE_BY_HELPER);
	assert_int_equal(ev_format__parse(text, strlen(text), &fmt), 0);
	assert_int_equal(native_code__make("irq", "softirq_raise", fmt, text, btf, NATIVE_BY_CAST,
					   &code, why),
			 -EOPNOTSUPP);
	assert_string_equal(why, "the kernel has no bpf_rdonly_cast()");
	ev_format__free(fmt);
	btf__free(btf);
}

/* ---- system calls ---------------------------------------------------------------------------- */

static int check_call(bool is_exit, const char *part, const char *by, const struct btf *btf,
		      char why[NATIVE_WHY])
{
	const char *format = is_exit ? EXIT_FORMAT : ENTRY_FORMAT;
	_cleanup_free_ char *text = text_with(format, format + strlen(format), part, by);
	struct ev_format *fmt;
	int err;

	assert_int_equal(ev_format__parse(text, strlen(text), &fmt), 0);
	err = native_code__check_call(is_exit, fmt, text, btf, why);
	ev_format__free(fmt);
	return err;
}

static void calls(void **state)
{
	static const struct {
		bool is_exit;
		const char *part, *by, *why;
	} rows[] = {
		{ false, "NR %ld", "NR %lu", "its print fmt is unknown (0x2a50c28a3f97cec9)" },
		{ true, "NR %ld = ", "NR %ld: ", "its print fmt is unknown (0xb7f437857a8bc0d)" },
		{ true, "print fmt: ", "print fmt:", "its print fmt is unknown (0)" },
		{ false, "long id", "long nr", "nr: the field is unknown" },
		{ false, FIELD("long id", 8, 8), FIELD("int id", 8, 4),
		  "id: int of 4 bytes cannot be at offset 8" },
		{ false, FIELD("long id", 8, 8),
		  FIELD("int more", 8, 4) "\tsigned:1;\n\t" FIELD("int id", 12, 4),
		  "more: the field is unknown" },
		{ false, FIELD("unsigned long args[6]", 16, 48),
		  FIELD("unsigned long args[5]", 16, 40),
		  "args: unsigned long[5] of 40 bytes cannot be at offset 16" },
		{ false, FIELD("unsigned long args[6]", 16, 48),
		  FIELD("unsigned long args[6]", 24, 48),
		  "args: unsigned long[6] of 48 bytes cannot be at offset 24" },
		{ false, FIELD("unsigned long args[6]", 16, 48),
		  FIELD("unsigned long args[6]", 16, 48) "\tsigned:0;\n\t" FIELD("u32 ip", 64, 4),
		  "ip: the field is unknown" },
		{ true, "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n", "",
		  "it lacks fields" },
		{ true, FIELD("long ret", 16, 8), FIELD("int ret", 16, 4),
		  "ret: int of 4 bytes cannot be at offset 16" },
	};
	char why[NATIVE_WHY];

	assert_int_equal(check_call(false, NULL, NULL, kernel_types, why), 0);
	assert_int_equal(check_call(true, NULL, NULL, kernel_types, why), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(check_call(rows[i].is_exit, rows[i].part, rows[i].by, kernel_types,
					    why),
				 -EOPNOTSUPP);
		assert_string_equal(why, rows[i].why);
	}
}

static void call_prototypes(void **state)
{
	struct btf *btf = btf__new_empty();
	int regs = btf__add_ptr(btf, btf__add_struct(btf, "pt_regs", 168));
	int task = btf__add_ptr(btf, btf__add_struct(btf, "task_struct", 4096));
	int wide = btf__add_int(btf, "long int", 8, BTF_INT_SIGNED);
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	char why[NATIVE_WHY];

	assert_int_equal(check_call(false, NULL, NULL, btf, why), -EOPNOTSUPP);
	assert_string_equal(why, "the kernel's types do not describe its arguments");
	types_with("sys_enter", btf, (int[]){ regs, number }, 2);
	assert_int_equal(check_call(false, NULL, NULL, btf, why), -EOPNOTSUPP);
	assert_string_equal(why, "its arguments (struct pt_regs *, int) are unknown");
	types_with("sys_exit", btf, (int[]){ task, regs, wide }, 3);
	assert_int_equal(check_call(true, NULL, NULL, btf, why), -EOPNOTSUPP);
	assert_string_equal(
		why,
		"its arguments (struct task_struct *, struct pt_regs *, long int) are unknown");
	btf__free(btf);
	btf = btf__new_empty();
	regs = btf__add_ptr(btf, btf__add_struct(btf, "pt_regs", 168));
	wide = btf__add_int(btf, "long int", 8, BTF_INT_SIGNED);
	types_with("sys_exit", btf, (int[]){ regs, wide }, 2);
	assert_int_equal(check_call(true, NULL, NULL, btf, why), 0);
	btf__free(btf);
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint8_t object[1 << 16];

/* Executes the code of an event; its other arguments point to the object. */
static void execute(const char *system, const char *event, struct native_machine *m)
{
	_cleanup_free_ char *text = format_with(event, NULL, NULL);
	struct native_code code;
	char why[NATIVE_WHY];

	assert_int_equal(make(system, event, text, kernel_types, &code, why), 0);
	m->task = (uintptr_t)object;
	native_machine__run(m, &code);
}

/* What __trace_sched_switch_state() makes of preemption and state. */
static void states(void **state)
{
	static const struct {
		uint32_t preempt, state;
		int64_t want; /* -1: the record is unavailable */
	} rows[] = {
		{ 0, 0, 0 },	  { 0, 1, 1 },		{ 0, 2, 2 },	   { 0, 0x402, 0x80 },
		{ 0, 0x400, 0 },  { 0, 0x2001, 1 },	{ 0, 0x48, 0x40 }, { 0, 0x80, 0 },
		{ 1, 1, 0x100 },  { 1, 0x8000, 0x100 }, { 0, 0x8000, -1 }, { 0, 0x1002, -1 },
		{ 0, 0x4002, 2 },
	};

	memset(object, 0, sizeof(object));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct native_machine m = { .args = { rows[i].preempt, (uintptr_t)object,
						      (uintptr_t)object, rows[i].state },
					    .nr_args = 4 };
		int64_t got;

		execute("sched", "sched_switch", &m);
		memcpy(&got, m.rec + 32, sizeof(got));
		assert_int_equal(m.size, rows[i].want < 0 ? 0 : 64);
		if (rows[i].want >= 0)
			assert_int_equal(got, rows[i].want);
	}
}

/* A name that does not fit, or cannot be read, makes the record unavailable. */
static void names(void **state)
{
	static const size_t lengths[] = { 0, 1, 126, 127, 128, 1000 };
	int id = btf__find_by_name_kind(kernel_types, "irqaction", BTF_KIND_STRUCT);
	struct native_machine m = { .args = { 5, (uintptr_t)object }, .nr_args = 2 };
	char *name = (char *)object + 4096;
	struct native_place p;

	assert_int_equal(native_types__member(kernel_types, (uint32_t)id, "name", &p), 0);
	memset(object, 0, sizeof(object));
	memcpy(object + p.off[0], &name, sizeof(name));
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		memset(name, 'n', lengths[i]);
		name[lengths[i]] = '\0';
		execute("irq", "irq_handler_entry", &m);
		assert_int_equal(m.size, lengths[i] < 127 ? 16 + lengths[i] + 1 : 0);
	}
	memcpy(object + p.off[0], &(uintptr_t){ 16 }, sizeof(uintptr_t));
	execute("irq", "irq_handler_entry", &m);
	assert_int_equal(m.size, 0);
}

/* ---- the hole -------------------------------------------------------------------------------- */

static void holes(void **state)
{
	static const struct {
		unsigned int first, between, second;
		int err;
	} rows[] = {
		{ NATIVE_HOLE, 1, 0, 0 },
		{ NATIVE_HOLE, 1, 3, 0 },
		{ 0, 1, 0, -EPROTO },
		{ NATIVE_HOLE - 1, 1, 0, -EPROTO },
		{ NATIVE_HOLE + 1, 1, 0, -EPROTO },
		{ NATIVE_HOLE, 1, NATIVE_HOLE, -EPROTO },
		{ NATIVE_HOLE, 1, NATIVE_HOLE + 1, -EPROTO },
		{ NATIVE_HOLE, 0, NATIVE_HOLE, -EPROTO },
	};
	struct native_code code = { .nr = 2, .insns = { EXIT, EXIT } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct bpf_insn insns[3 * NATIVE_HOLE];
		unsigned int nr = 0, at;

		insns[nr++] = EXIT;
		for (at = 0; at < rows[i].first; at++)
			insns[nr++] = NOP;
		for (at = 0; at < rows[i].between; at++)
			insns[nr++] = EXIT;
		for (at = 0; at < rows[i].second; at++)
			insns[nr++] = NOP;
		assert_int_equal(native_code__fill_hole(insns, nr, &code), rows[i].err);
		assert_int_equal(insns[1].code, rows[i].err && rows[i].first ? BPF_JMP | BPF_JA :
									       BPF_JMP | BPF_EXIT);
		for (at = 3; !rows[i].err && at < 1 + NATIVE_HOLE; at++)
			assert_int_equal(insns[at].code, BPF_JMP | BPF_JA);
	}
}

static void pages(void **state)
{
	_cleanup_free_ char *text = format_with("mm_page_free", NULL, NULL);
	struct bpf_insn insns[NATIVE_HOLE];
	struct native_code code;
	char why[NATIVE_WHY];

	for (size_t i = 0; i < NATIVE_HOLE; i++)
		insns[i] = NOP;
	assert_int_equal(make("kmem", "mm_page_free", text, kernel_types, &code, why), 0);
	assert_int_equal(native_code__fill_hole(insns, NATIVE_HOLE, &code), -ENODATA);
	native_code__set_pages(&code, 0xffffea0000000000);
	assert_int_equal(native_code__fill_hole(insns, NATIVE_HOLE, &code), 0);
}

/* ---- formats at random ----------------------------------------------------------------------- */

static uint32_t random_state = 1;

static uint32_t below(uint32_t limit)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % limit;
}

static void random_format(struct strbuf *b, const struct native_event *e)
{
	static const char *const types[] = { "int",    "unsigned long",	    "bool", "u8", "char",
					     "char *", "__data_loc char[]", "s64",  "u16" };
	static const uint32_t sizes[] = { 0, 1, 2, 4, 8, 16, 3, 120, 0xffffffff };
	const struct native_field *f;
	uint32_t at = 8;

	strbuf__printf(b, "name: %s\nID: 7\n" COMMON, e->event);
	for (f = e->fields; f->field; f++) {
		bool is_fitting = below(4);
		uint32_t size =
			is_fitting ? (f->op == FILL_STRING ? 4u << 2 * below(2) : 4u << below(2)) :
				     sizes[below(ARRAY_SIZE(sizes))];
		uint32_t offset = is_fitting ? (at + 7) & ~7u : below(140);

		if (!below(12))
			continue;
		strbuf__printf(b, "\tfield:");
		if (f->op == FILL_STRING && is_fitting)
			strbuf__printf(b, size == 4 ? "__data_loc char[] %s" : "char %s[16]",
				       f->field);
		else
			strbuf__printf(b, "%s %s", types[below(ARRAY_SIZE(types))], f->field);
		strbuf__printf(b, ";\toffset:%u;\tsize:%u;\tsigned:%u;\n", offset, size, below(2));
		at = offset + size;
	}
}

static void random_formats(void **state)
{
	unsigned int made = 0, refused = 0, i;
	char *print;

	memset(object, 0, sizeof(object));
	for (i = 0; i < 60000; i++) {
		const struct native_event *e = native_rows__get(below(11));
		_cleanup_(strbuf__free) struct strbuf text = { 0 };
		_cleanup_free_ char *real = format_with(e->event, NULL, NULL);
		struct native_machine m = { .nr_args = 6, .task = (uintptr_t)object };
		struct native_code code;
		struct ev_format *fmt;
		char why[NATIVE_WHY];

		print = strstr(real, "\nprint fmt: ");
		random_format(&text, e);
		strbuf__puts(&text, print);
		if (ev_format__parse(text.s, text.len, &fmt))
			continue;
		if (native_code__make(e->system, e->event, fmt, text.s, kernel_types,
				      below(2) ? NATIVE_BY_CAST : NATIVE_BY_HELPER, &code, why)) {
			assert_true(why[0]);
			refused++;
		} else {
			for (int arg = 0; arg < 6; arg++)
				m.args[arg] = (uintptr_t)object;
			native_code__set_pages(&code, 1ull << 40);
			native_machine__run(&m, &code);
			made++;
		}
		ev_format__free(fmt);
	}
	print_message("%u made, %u refused\n", made, refused);
	assert_true(made > 500 && refused > 5000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields),	   cmocka_unit_test(bounds),
		cmocka_unit_test(texts),	   cmocka_unit_test(unknown),
		cmocka_unit_test(prototypes),	   cmocka_unit_test(members),
		cmocka_unit_test(others),	   cmocka_unit_test(calls),
		cmocka_unit_test(call_prototypes), cmocka_unit_test(states),
		cmocka_unit_test(names),	   cmocka_unit_test(holes),
		cmocka_unit_test(pages),	   cmocka_unit_test(random_formats),
	};

	directory = argv[1];
	return argc == 2 ? cmocka_run_group_tests(tests, setup, teardown) : 2;
}
