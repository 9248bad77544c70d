// SPDX-License-Identifier: GPL-2.0-only
/*
 * fsmb_round GOLDEN_DIR: stack maps imported to a recording and exported again.  The capture in
 * that directory is from a kernel with the ftrace stackmap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <byteswap.h>
#include <cmocka.h>
#include <errno.h>

#include "cleanup.h"
#include "export/fsmb.h"
#include "fsmb_format.h"
#include "import/fsmb.h"
#include "import/input.h"
#include "log.h"
#include "stackonce.h"

#define K(n) (0xffffffff81000000ULL + (n))

static const char *golden;
static char dir[] = "/tmp/fsmb-round-XXXXXX";
static char warnings[4096];

static void sink(void *ctx, enum stk_log_level level, const char *msg)
{
	size_t len = strlen(warnings);

	snprintf(warnings + len, sizeof(warnings) - len, "%s\n", msg);
}

static const char *in_dir(const char *name)
{
	static char paths[8][128];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static const char *in_golden(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", golden, name);
	return path;
}

static void put_file(const char *path, const void *data, size_t len)
{
	_cleanup_fclose_ FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
}

static void free_reader(struct stk_reader **r)
{
	stk_reader__free(*r);
}

static int export_as(const char *recording, uint32_t version, const char *map,
		     struct export_fsmb_result *result)
{
	const struct stk_reader_opts opts = { .size = sizeof(opts), .want = STK_WANT_EVENTS };
	_cleanup_(free_reader) struct stk_reader *r = NULL;

	assert_int_equal(stk_reader__open(recording, &opts, &r), 0);
	return export_fsmb(&(struct export_source){ .reader = r }, version,
			   &(struct output_opts){ .path = map, .force = true }, result);
}

static int export_to(const char *recording, const char *map, struct export_fsmb_result *result)
{
	return export_as(recording, 0, map, result);
}

static void expect_file(const char *path, const void *want, size_t len)
{
	_cleanup_free_ char *got = NULL;
	size_t got_len;

	assert_int_equal(input__read(path, &got, &got_len), 0);
	assert_int_equal(got_len, len);
	assert_memory_equal(got, want, len);
}

/* Imports the map of map_len bytes and exports it again: the result must be want. */
static void expect_round(const void *map, const void *want, size_t len,
			 struct import_fsmb_result *ret_result)
{
	const struct import_fsmb_opts opts = { .map = in_dir("map"),
					       .output = in_dir("stk"),
					       .force = true };
	struct export_fsmb_result exported;

	put_file(opts.map, map, len);
	assert_int_equal(import_fsmb(&opts, ret_result), 0);
	assert_int_equal(export_to(opts.output, in_dir("again"), &exported), 0);
	assert_int_equal(exported.stacks, ret_result->stacks);
	assert_int_equal(exported.skipped, 0);
	expect_file(in_dir("again"), want, len);
}

static void swap_map(unsigned char *map)
{
	uint32_t words[4], nr, i, j, k;

	memcpy(words, map, sizeof(words));
	nr = words[2];
	for (i = 0; i <= nr; i++) {
		memcpy(words, map, sizeof(words));
		for (j = 0; j < 4; j++) {
			uint32_t v = bswap_32(words[j]);

			memcpy(map + 4 * j, &v, 4);
		}
		map += 16;
		for (k = 0; i && k < words[1]; k++, map += 8) {
			uint64_t v;

			memcpy(&v, map, 8);
			v = bswap_64(v);
			memcpy(map, &v, 8);
		}
	}
}

static void test_capture(void **state)
{
	_cleanup_free_ char *map = NULL, *swapped = NULL;
	struct export_fsmb_result exported;
	struct import_fsmb_result result;
	size_t len;

	assert_int_equal(input__read(in_golden("stack_map_bin"), &map, &len), 0);
	expect_round(map, map, len, &result);
	assert_int_equal(result.stacks, 81);
	assert_int_equal(result.duplicates, 0);
	swapped = malloc(len);
	memcpy(swapped, map, len);
	swap_map((unsigned char *)swapped);
	assert_int_equal(swapped[0], 'F');
	expect_round(swapped, swapped, len, &result);
	assert_int_equal(result.stacks, 81);
	/* the other version, in both byte orders */
	expect_round(map, map, len, &result);
	memcpy(map, (uint32_t[]){ FSMB_MAGIC_V1, FSMB_VERSION_V1 }, 8);
	assert_int_equal(export_as(in_dir("stk"), FSMB_VERSION_V1, in_dir("again"), &exported), 0);
	expect_file(in_dir("again"), map, len);
	expect_round(map, map, len, &result);
	memcpy(swapped, map, len);
	swap_map((unsigned char *)swapped);
	assert_memory_equal(swapped, "FSMB\0\0\0\1", 8);
	expect_round(swapped, swapped, len, &result);
	assert_int_equal(result.stacks, 81);
}

static void add_stack(unsigned char *map, size_t *len, uint32_t id, uint32_t refs, uint32_t nr,
		      const uint64_t *frames)
{
	struct fsmb_stack s = { .stack_id = id, .nr = nr, .ref_count = refs };
	struct fsmb_header h = { FSMB_MAGIC, FSMB_VERSION, 0, 0 };

	if (*len)
		memcpy(&h, map, sizeof(h));
	else
		*len = sizeof(h);
	h.nr_stacks++;
	memcpy(map, &h, sizeof(h));
	memcpy(map + *len, &s, sizeof(s));
	memcpy(map + *len + sizeof(s), frames, nr * sizeof(*frames));
	*len += sizeof(s) + nr * sizeof(*frames);
}

/* Unsorted ids, duplicates, no frames, no references, INT_MAX for ftrace's own code. */
static void test_odd_map(void **state)
{
	static unsigned char map[65536];
	uint64_t a[] = { K(1), K(2), K(3) }, b[] = { K(1), K(2) }, c[] = { K(1), 0x7fffffff, 0 };
	uint64_t deep[512];
	struct import_fsmb_result result;
	size_t len = 0, i;

	for (i = 0; i < 512; i++)
		deep[i] = K(8 * i);
	add_stack(map, &len, 0xffffffff, 1, 3, a);
	add_stack(map, &len, 5, 0, 2, b);
	add_stack(map, &len, 0, 0xffffffff, 3, a);
	add_stack(map, &len, 9, 0, 0, a);
	add_stack(map, &len, 8, 3, 0, a);
	add_stack(map, &len, 7, 3, 512, deep);
	add_stack(map, &len, 6, 3, 3, c);
	add_stack(map, &len, 2, 3, 3, a);
	expect_round(map, map, len, &result);
	assert_int_equal(result.stacks, 8);
	assert_int_equal(result.duplicates, 3);
	len = 0;
	memset(map, 0, sizeof(struct fsmb_header));
	add_stack(map, &len, 1, 1, 0, a);
	map[8] = 0;
	expect_round(map, map, 16, &result);
	assert_int_equal(result.stacks, 0);
}

static void add_trailer(unsigned char *map, size_t *len)
{
	struct fsmb_trailer t = {
		.magic = FSMB_TRAILER_MAGIC,
		.size = sizeof(t),
		.text_base = K(0),
		.page_shift = 12,
		.build_id_size = 20,
		.boot_id = "0a1b2c3d-0000-4000-8000-000000000000",
		.release = "6.12.117",
		.boot_time = 1700000000123456789,
	};
	size_t i;

	for (i = 0; i < t.build_id_size; i++)
		t.build_id[i] = 0xf0 + i * 13;
	memcpy(map + *len, &t, sizeof(t));
	*len += sizeof(t);
}

static void set32(unsigned char *at, uint32_t v)
{
	memcpy(at, &v, sizeof(v));
}

/* Generation, flags and trailer are kept; the recording describes its kernel. */
static void test_trailer(void **state)
{
	static unsigned char map[65536];
	uint64_t a[] = { K(1), K(2), K(3) }, deep[STK_MAX_DEPTH];
	_cleanup_(free_reader) struct stk_reader *r = NULL;
	struct import_fsmb_result result;
	const struct stk_event *e;
	struct stk_frame frames[3];
	struct stk_stack s;
	size_t len = 0, i;

	for (i = 0; i < STK_MAX_DEPTH; i++)
		deep[i] = K(8 * i);
	add_stack(map, &len, 900, 4, 3, a);
	add_stack(map, &len, 901, 5, 3, a);
	add_stack(map, &len, 902, 6, STK_MAX_DEPTH, deep);
	set32(map + offsetof(struct fsmb_header, generation), 3);
	set32(map + 16 + 40 + offsetof(struct fsmb_stack, flags), FSMB_STACK_TRUNCATED);
	set32(map + 16 + 80 + offsetof(struct fsmb_stack, flags), FSMB_STACK_TRUNCATED);
	add_trailer(map, &len);
	warnings[0] = '\0';
	expect_round(map, map, len, &result);
	assert_string_equal(warnings, "");
	/* the same of version 1 */
	set32(map, FSMB_MAGIC_V1);
	set32(map + offsetof(struct fsmb_header, version), FSMB_VERSION_V1);
	expect_round(map, map, len, &result);
	assert_string_equal(warnings, "");
	assert_int_equal(result.stacks, 3);
	assert_int_equal(result.duplicates, 0); /* a truncated stack is no duplicate */

	assert_int_equal(stk_reader__open(in_dir("stk"), NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_string_equal(stk_reader__meta(r, "kernel.text"), "0xffffffff81000000");
	assert_string_equal(stk_reader__meta(r, "kernel.release"), "6.12.117");
	assert_string_equal(stk_reader__meta(r, "boot_id"), "0a1b2c3d-0000-4000-8000-000000000000");
	assert_string_equal(stk_reader__meta(r, "kernel.build_id"),
			    "f0fd0a1724313e4b5865727f8c99a6b3c0cddae7");
	assert_string_equal(stk_reader__meta(r, "stack_map.generation"), "3");
	assert_int_equal(stk_reader__stack(r, 1, &s), 0);
	assert_int_equal(s.end, STK_END_COMPLETE);
	assert_int_equal(s.generation, 3);
	assert_int_equal(stk_reader__stack(r, 2, &s), 0);
	assert_int_equal(s.end, STK_END_TRUNCATED);
	assert_int_equal(s.depth, 3);
	assert_int_equal(s.alias_of, 2);
	assert_int_equal(stk_reader__frames(r, 2, frames, 3), 3);
	assert_true(frames[2].ip == K(3));
}

static const char trace[] =
	"# entries-in-buffer/entries-written: 7/9   #P:2\n"
	"              sh-65      [001] dNh21     1.000001: sched_wakeup: comm=a pid=1\n"
	"              sh-65      [001] dNh21     1.000002: <stack_id 11>\n"
	"          a b-c-7        [000] X....     2.000001: other: \n"
	"          a b-c-7        [000] X....     2.000002: <stack_id 12>\n"
	"          <idle>-0       [000] .....     3.000001: sched_wakeup: unknown\n"
	"          <idle>-0       [000] .....     3.000002: <stack_id 13>\n"
	"          <idle>-0       [000] .....     3.000003: sched_wakeup: without\n"
	"nobody-1 [000] ..... 4.0: <stack_id 11>\n"
	" => noise\n";

static void import_trace(const char *text, struct import_fsmb_result *result)
{
	static unsigned char map[256];
	uint64_t a[] = { K(0x11), K(0x21), K(0x50) }, b[] = { K(0x31) };
	const struct import_fsmb_opts opts = {
		.map = in_dir("map"),
		.kallsyms = in_dir("syms"),
		.trace = in_dir("trace"),
		.output = in_dir("stk"),
		.force = true,
	};
	static const char syms[] = "ffffffff81000000 T one\nffffffff81000020 T two\n"
				   "ffffffff81000030 t three\nffffffff81000040 t four\n"
				   "ffffffff81000050 t end\n";
	size_t len = 0;

	add_stack(map, &len, 11, 1, 3, a);
	add_stack(map, &len, 12, 1, 1, b);
	put_file(opts.map, map, len);
	put_file(opts.kallsyms, syms, strlen(syms));
	put_file(opts.trace, text, strlen(text));
	warnings[0] = '\0';
	assert_int_equal(import_fsmb(&opts, result), 0);
}

static const struct stk_event *next_event(struct stk_reader *r, const char *name, const char *comm,
					  const char *text, uint32_t stack_id)
{
	const struct stk_event *e;
	struct stk_stack s;
	const char *record;
	size_t len;

	assert_int_equal(stk_reader__next(r, &e), 1);
	assert_string_equal(stk_event_type__system(stk_event__type(e)), "imported");
	assert_string_equal(stk_event_type__name(stk_event__type(e)), name);
	assert_string_equal(stk_event__comm(e), comm);
	record = stk_event__record(e, &len);
	assert_int_equal(len, 12 + strlen(text) + 1);
	assert_string_equal(record + 12, text);
	if (stack_id) {
		assert_int_equal(stk_reader__stack(r, stk_event__kstack(e), &s), 0);
		assert_int_equal(s.id, stack_id);
	} else {
		assert_int_equal(stk_event__kstack(e), 0);
	}
	return e;
}

static void test_trace(void **state)
{
	_cleanup_(free_reader) struct stk_reader *r = NULL;
	struct import_fsmb_result result;
	const struct stk_event *e;
	struct stk_frame frames[3];

	import_trace(trace, &result);
	assert_int_equal(result.events, 4);
	assert_int_equal(result.events_with_stack, 2);
	assert_int_equal(result.unknown_ids, 1);
	assert_int_equal(result.orphan_ids, 1);
	assert_int_equal(result.lost, 2);
	assert_int_equal(result.other_lines, 1);
	assert_int_equal(result.frames, 4);
	assert_int_equal(result.frames_named, 4);
	assert_non_null(
		strstr(warnings, ": kept 1 event without a stack, as the stack id is not in "));
	assert_non_null(strstr(warnings, ": skipped 1 <stack_id> line without an event"));
	assert_non_null(strstr(warnings, ": the kernel lost 2 events"));
	assert_non_null(strstr(warnings, ": skipped 1 line in which there is no event"));

	assert_int_equal(stk_reader__open(in_dir("stk"), NULL, &r), 0);
	e = next_event(r, "sched_wakeup", "sh", "comm=a pid=1", 11);
	assert_int_equal(stk_event__ts(e), 1000001000);
	assert_int_equal(stk_event__cpu(e), 1);
	assert_int_equal(stk_event__tid(e), 65);
	assert_int_equal(stk_event__flags(e), 0x2d);
	assert_int_equal(stk_event__preempt_count(e), 0x12);
	assert_int_equal(stk_event__marks(e), 0);
	e = next_event(r, "other", "a b-c", "", 12);
	assert_int_equal(stk_event__marks(e), STK_MARK_NO_IRQFLAG);
	next_event(r, "sched_wakeup", "<idle>", "unknown", 0);
	next_event(r, "sched_wakeup", "<idle>", "without", 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_string_equal(stk_reader__meta(r, "source"), "fsmb");
	assert_string_equal(stk_reader__meta(r, "import.lost"), "2");
	assert_int_equal(stk_reader__counter(r, stk_reader__type(r, 0), STK_C_RECORDED), 3);

	assert_int_equal(stk_reader__frames(r, 1, frames, 3), 3);
	assert_string_equal(frames[0].sym, "one");
	assert_int_equal(frames[0].off, 0x11);
	assert_int_equal(frames[0].size, 0x20);
	assert_string_equal(frames[1].sym, "two");
	/* A return address after the last call of its function. */
	assert_string_equal(frames[2].sym, "four");
	assert_int_equal(frames[2].off, 0x10);
}

/* Frames by name, by name and offset, with the address, and those that kallsyms does not have. */
static const char full[] = "sh-65 [001] d..1. 1.000001: wakeup: a\n"
			   "sh-65 [001] d..1. 1.000001: <stack trace>\n"
			   " => one\n"
			   " => three+0x1/0x10\n"
			   " => [FTRACE TRAMPOLINE]\n"
			   " => gone\n"
			   " => elsewhere+0x12/0x34 [mod]\n"
			   " => 0xffffffff81000041\n"
			   " => two <ffffffff81000025>\n"
			   "sh-65 [001] d..1. 1.000002: wakeup: b\n"
			   "sh-65 [001] d..1. 1.000002: <stack_id 11>\n"
			   "sh-65 [001] d..1. 1.000003: wakeup: c\n"
			   "sh-65 [001] d..1. 1.000003: <stack trace>\n"
			   " => one\n"
			   " => three+0x1/0x10\n"
			   " => [FTRACE TRAMPOLINE]\n"
			   " => gone\n"
			   " => elsewhere+0x12/0x34 [mod]\n"
			   " => 0xffffffff81000041\n"
			   " => two <ffffffff81000025>\n"
			   "sh-65 [001] d..1. 1.000004: <stack trace>\n"
			   " => gone\n"
			   " => huge+0x12/0x100000\n"
			   " => beyond+0x40/0x34\n"
			   " => later+0x1/0x2 [gone] <ffffffffc0000001>\n";

static void expect_frame(const struct stk_frame *f, uint64_t ip, const char *sym, uint64_t off,
			 const char *mod)
{
	assert_int_equal(f->kind, STK_FRAME_KERNEL);
	assert_int_equal(f->ip, ip);
	assert_string_equal(f->sym, sym);
	assert_int_equal(f->off, off);
	if (mod)
		assert_string_equal(f->mod, mod);
	else
		assert_null(f->mod);
}

static void test_full_stacks(void **state)
{
	_cleanup_(free_reader) struct stk_reader *r = NULL;
	_cleanup_free_ char *map = NULL;
	struct import_fsmb_result result;
	struct export_fsmb_result exported;
	const struct stk_event *e, *c;
	struct stk_frame frames[8];
	struct stk_stack s;
	size_t len;

	import_trace(full, &result);
	assert_string_equal(warnings, "");
	assert_int_equal(result.stacks, 2);
	assert_int_equal(result.text_stacks, 2);
	assert_int_equal(result.events, 4);
	assert_int_equal(result.events_with_stack, 4);
	assert_int_equal(stk_reader__open(in_dir("stk"), NULL, &r), 0);
	e = next_event(r, "wakeup", "sh", "a", 13); /* 11 and 12 are ids of the map */
	assert_int_equal(stk_reader__frames(r, stk_event__kstack(e), frames, 8), 7);
	expect_frame(&frames[0], K(0), "one", 0, NULL);
	expect_frame(&frames[1], K(0x31), "three", 1, NULL);
	expect_frame(&frames[2], 0x7fffffff, "[FTRACE TRAMPOLINE]", 0, NULL);
	expect_frame(&frames[3], 0xffff800000000000, "gone", 0, NULL);
	assert_int_equal(frames[3].size, 0);
	expect_frame(&frames[4], 0xffff800000100012, "elsewhere", 0x12, "mod");
	assert_int_equal(frames[4].size, 0x34);
	expect_frame(&frames[5], K(0x41), "four", 1, NULL);
	expect_frame(&frames[6], K(0x25), "two", 5, NULL);
	assert_int_equal(stk_reader__stack(r, stk_event__kstack(e), &s), 0);
	assert_int_equal(s.end, STK_END_COMPLETE);
	next_event(r, "wakeup", "sh", "b", 11);
	c = next_event(r, "wakeup", "sh", "c", 13);
	assert_int_equal(stk_event__kstack(c), 3);
	e = next_event(r, "unnamed", "sh", "<stack trace>", 14);
	assert_int_equal(stk_reader__frames(r, stk_event__kstack(e), frames, 8), 4);
	expect_frame(&frames[1], 0xffff800000200000, "huge", 0, NULL);
	expect_frame(&frames[2], 0xffff800000300000, "beyond", 0, NULL);
	expect_frame(&frames[3], 0xffffffffc0000001, "later", 1, "gone");
	assert_int_equal(stk_reader__next(r, &e), 0);
	/* the exported map is the imported one */
	assert_int_equal(input__read(in_dir("map"), &map, &len), 0);
	assert_int_equal(export_to(in_dir("stk"), in_dir("again"), &exported), 0);
	assert_int_equal(exported.of_text, 2);
	expect_file(in_dir("again"), map, len);
}

/* A stack in the text that is deeper than a recording's, and a line for the table of names. */
static void test_deep_text(void **state)
{
	static char text[65536];
	_cleanup_(free_reader) struct stk_reader *r = NULL;
	struct import_fsmb_result result;
	const struct stk_event *e;
	struct stk_stack s;
	size_t len;
	int i;

	len = (size_t)sprintf(text,
			      "a-1 [000] ..... 1.0: x: y\na-1 [000] ..... 1.0: <stack trace>\n");
	for (i = 0; i < STK_MAX_DEPTH + 10; i++)
		len += (size_t)sprintf(text + len, " => f%d\n", i);
	import_trace(text, &result);
	assert_int_equal(stk_reader__open(in_dir("stk"), NULL, &r), 0);
	e = next_event(r, "x", "a", "y", 13);
	assert_int_equal(stk_reader__stack(r, stk_event__kstack(e), &s), 0);
	assert_true(s.depth >= STK_MAX_DEPTH - 2 && s.depth <= STK_MAX_DEPTH);
	assert_int_equal(s.end, STK_END_TRUNCATED);
}

static bool may_miss(struct stk_reader *r, uint32_t cpu, uint64_t from_us, uint64_t to_us)
{
	struct stk_span s = {
		.cpu = cpu, .tid = STK_ANY_TASK, .from = from_us * 1000, .to = to_us * 1000
	};

	return stk_reader__may_miss(r, &s);
}

/* A loss in the text lies strictly between the two events of its CPU around it. */
static void test_lost(void **state)
{
	_cleanup_(free_reader) struct stk_reader *r = NULL;
	struct import_fsmb_result result;
	const struct stk_event *e;
	struct stk_loss loss;

	import_trace("a-1 [000] d..1. 0.000010: in: 1\n"
		     "a-1 [000] d..1. 0.000020: out: 1\n"
		     "b-2 [001] d..1. 0.000025: in: 2\n"
		     "CPU:0 [LOST 7 EVENTS]\n"
		     "a-1 [000] d..1. 0.000040: in: 3\n"
		     "b-2 [001] d..1. 0.000040: out: 2\n"
		     "CPU:1 [LOST EVENTS]\n"
		     "a-1 [000] d..1. 0.000050: out: 3\n"
		     "b-2 [001] d..1. 0.000060: in: 4\n"
		     "CPU:any [LOST 2 EVENTS]\n"
		     "b-2 [001] d..1. 0.000070: out: 4\n",
		     &result);
	assert_int_equal(result.lost, 10);
	assert_int_equal(stk_reader__open(in_dir("stk"), NULL, &r), 0);
	while (stk_reader__next(r, &e) == 1)
		;
	assert_false(may_miss(r, STK_ANY_CPU, 10, 20));
	assert_true(may_miss(r, 0, 20, 40));
	assert_true(may_miss(r, STK_ANY_CPU, 25, 30));
	assert_false(may_miss(r, 1, 25, 39));
	/* both CPUs have an event at 40: their order is unknown */
	assert_true(may_miss(r, 0, 40, 50));
	assert_true(may_miss(r, 1, 40, 60));
	assert_false(may_miss(r, 0, 41, 50));
	assert_true(may_miss(r, 1, 60, 70));
	assert_true(may_miss(r, 0, 51, 70));
	assert_int_equal(stk_reader__next_loss(r, UINT64_MAX, &loss), 1);
	assert_null(loss.type);
	assert_int_equal(loss.cpu, 0);
	assert_int_equal(loss.count, 7);
	assert_int_equal(loss.first_ts, 20001);
	assert_int_equal(loss.last_ts, 40000);
	assert_int_equal(stk_reader__next_loss(r, UINT64_MAX, &loss), 1);
	assert_int_equal(loss.cpu, 1);
	assert_int_equal(loss.count, 0);
}

/* Lost on any CPU, before the set of CPUs is known. */
static void test_lost_first(void **state)
{
	_cleanup_(free_reader) struct stk_reader *r = NULL;
	struct import_fsmb_result result;
	const struct stk_event *e;

	import_trace("a-1 [000] d..1. 0.000010: in: 1\n"
		     "CPU:any [LOST 2 EVENTS]\n"
		     "a-1 [000] d..1. 0.000020: out: 1\n"
		     "b-2 [001] d..1. 0.000050: in: 2\n"
		     "b-2 [001] d..1. 0.000060: out: 2\n",
		     &result);
	assert_int_equal(stk_reader__open(in_dir("stk"), NULL, &r), 0);
	while (stk_reader__next(r, &e) == 1)
		;
	assert_true(may_miss(r, 0, 10, 20));
	assert_true(may_miss(r, 1, 20, 40));
	assert_false(may_miss(r, STK_ANY_CPU, 50, 60));
}

/* A ring that was overwritten: the events of one CPU start later than those of another. */
static void test_overwritten(void **state)
{
	_cleanup_(free_reader) struct stk_reader *r = NULL;
	struct import_fsmb_result result;
	const struct stk_event *e;

	import_trace("# entries-in-buffer/entries-written: 4/40   #P:2\n"
		     "a-1 [000] d..1. 0.000010: in: 1\n"
		     "a-1 [000] d..1. 0.000030: out: 1\n"
		     "b-2 [001] d..1. 0.000050: in: 2\n"
		     "b-2 [001] d..1. 0.000060: out: 2\n",
		     &result);
	assert_int_equal(stk_reader__open(in_dir("stk"), NULL, &r), 0);
	while (stk_reader__next(r, &e) == 1)
		;
	assert_false(may_miss(r, 0, 10, 30));
	assert_true(may_miss(r, STK_ANY_CPU, 10, 30));
	assert_false(may_miss(r, STK_ANY_CPU, 50, 60));
}

/*
 * The frames of a module that was unloaded do not get the names of what is there now, but for those
 * that another stack has.  The kernel's frames do.
 */
static void test_gone(void **state)
{
	static unsigned char map[512];
	static const char syms[] = "ffffffff81000000 T kernel\nffffffff81000100 T end\n"
				   "ffffffffc0000000 t old\t[mod]\nffffffffc0000100 t now\t[mod]\n"
				   "ffffffffc0000200 t end\t[mod]\n";
	const uint64_t mod = 0xffffffffc0000000ULL;
	uint64_t gone[] = { mod + 0x11, mod + 0x111, K(0x11), mod + 0x141 };
	uint64_t live[] = { mod + 0x111 };
	const struct import_fsmb_opts opts = { .map = in_dir("map"),
					       .kallsyms = in_dir("syms"),
					       .output = in_dir("stk"),
					       .force = true };
	_cleanup_(free_reader) struct stk_reader *r = NULL;
	struct import_fsmb_result result;
	const struct stk_event *e;
	struct stk_frame frames[4];
	size_t len = 0;

	add_stack(map, &len, 1, 1, 4, gone);
	add_stack(map, &len, 2, 1, 1, live);
	set32(map + 16 + offsetof(struct fsmb_stack, flags), FSMB_STACK_GONE);
	add_trailer(map, &len);
	put_file(opts.map, map, len);
	put_file(opts.kallsyms, syms, strlen(syms));
	warnings[0] = '\0';
	assert_int_equal(import_fsmb(&opts, &result), 0);
	assert_non_null(strstr(warnings, ": 1 stack of unloaded modules: "));
	assert_int_equal(result.gone, 1);
	assert_int_equal(result.frames, 4);
	assert_int_equal(result.frames_named, 2);
	assert_int_equal(stk_reader__open(in_dir("stk"), NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_int_equal(stk_reader__frames(r, 1, frames, 4), 4);
	assert_int_equal(frames[0].ip, mod + 0x11);
	assert_null(frames[0].sym);
	assert_int_equal(frames[3].ip, mod + 0x141);
	assert_null(frames[3].sym); /* in a function that the other stack names */
	assert_string_equal(frames[1].sym, "now");
	assert_string_equal(frames[2].sym, "kernel");
	assert_int_equal(stk_reader__frames(r, 2, frames, 4), 1);
	assert_string_equal(frames[0].sym, "now");
	assert_string_equal(frames[0].mod, "mod");
}

/* Import truncates a stack that is deeper than a recording allows, with a warning. */
static void test_deep_map(void **state)
{
	static unsigned char map[16384];
	const struct import_fsmb_opts opts = { .map = in_dir("map"),
					       .output = in_dir("stk"),
					       .force = true };
	_cleanup_(free_reader) struct stk_reader *r = NULL;
	struct import_fsmb_result result;
	const struct stk_event *e;
	uint64_t deep[STK_MAX_DEPTH + 2];
	struct stk_stack s;
	size_t len = 0, i;

	for (i = 0; i < ARRAY_SIZE(deep); i++)
		deep[i] = K(8 * i);
	add_stack(map, &len, 5, 1, ARRAY_SIZE(deep), deep);
	add_stack(map, &len, 6, 1, 2, deep);
	put_file(opts.map, map, len);
	warnings[0] = '\0';
	assert_int_equal(import_fsmb(&opts, &result), 0);
	assert_non_null(strstr(warnings, ": truncated 1 stack to 512 frames\n"));
	assert_int_equal(result.deep, 1);
	assert_int_equal(result.stacks, 2);
	assert_int_equal(stk_reader__open(in_dir("stk"), NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_int_equal(stk_reader__stack(r, 1, &s), 0);
	assert_int_equal(s.id, 5);
	assert_int_equal(s.depth, STK_MAX_DEPTH);
	assert_int_equal(s.end, STK_END_TRUNCATED);
	assert_int_equal(stk_reader__stack(r, 2, &s), 0);
	assert_int_equal(s.end, STK_END_COMPLETE);
}

static void test_no_events(void **state)
{
	_cleanup_(free_reader) struct stk_reader *r = NULL;
	struct import_fsmb_result result;
	const struct stk_event *e;

	import_trace("# tracer: nop\n", &result);
	assert_int_equal(result.events, 0);
	assert_string_equal(warnings, "");
	assert_int_equal(stk_reader__open(in_dir("stk"), NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	assert_int_equal(stk_reader__nr_stacks(r), 2);
}

/* A text longer than a record is cut and marked; the rest of the event is right. */
static void test_long_text(void **state)
{
	static char text[70000];
	_cleanup_(free_reader) struct stk_reader *r = NULL;
	struct import_fsmb_result result;
	const struct stk_event *e;
	size_t len;

	strcpy(text, "a-1 [000] ..... 1.0: x: ");
	len = strlen(text);
	memset(text + len, 'y', sizeof(text) - len - 1);
	import_trace(text, &result);
	assert_int_equal(result.cut, 1);
	assert_int_equal(stk_reader__open(in_dir("stk"), NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 1);
	assert_int_equal(stk_event__marks(e), STK_MARK_CUT);
	stk_event__record(e, &len);
	assert_true(len > 65000 && len <= 65536);
}

static void test_refusal_keeps_output(void **state)
{
	static unsigned char map[256];
	uint64_t user[] = { K(1), 0x00007fff12345678 }, marker[] = { 0x8000000200000001 };
	const struct import_fsmb_opts opts = { .map = in_dir("map"), .output = in_dir("keep") };
	struct import_fsmb_result result;
	size_t len = 0;

	put_file(opts.output, "precious", 8);
	add_stack(map, &len, 1, 1, 2, user);
	put_file(opts.map, map, len);
	warnings[0] = '\0';
	assert_int_equal(import_fsmb(&opts, &result), -EINVAL);
	assert_non_null(strstr(warnings, ": offset 40: 0x7fff12345678 is not a kernel address\n"));
	len = 0;
	add_stack(map, &len, 1, 1, 1, marker);
	put_file(opts.map, map, len);
	assert_int_equal(import_fsmb(&opts, &result), -EINVAL);
	expect_file(opts.output, "precious", 8);
}

static int set_up(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "map", "stk", "again", "syms", "trace", "keep" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		unlink(in_dir(names[i]));
	return rmdir(dir);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture),	    cmocka_unit_test(test_odd_map),
		cmocka_unit_test(test_trailer),	    cmocka_unit_test(test_full_stacks),
		cmocka_unit_test(test_deep_text),   cmocka_unit_test(test_trace),
		cmocka_unit_test(test_lost),	    cmocka_unit_test(test_lost_first),
		cmocka_unit_test(test_overwritten), cmocka_unit_test(test_no_events),
		cmocka_unit_test(test_long_text),   cmocka_unit_test(test_refusal_keeps_output),
		cmocka_unit_test(test_gone),	    cmocka_unit_test(test_deep_map),
	};

	if (argc != 2) {
		fputs("usage: fsmb_round GOLDEN_DIR\n", stderr);
		return 2;
	}
	golden = argv[1];
	log_set_sink(sink, NULL);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
