// SPDX-License-Identifier: GPL-2.0-only
/* The `trace` text: single lines, then the event that a <stack_id N> line belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "import/trace_events.h"
#include "import/trace_text.h"

static struct trace_line parse_one(const char *text)
{
	struct trace_line l = { 0 };
	struct trace_text t;

	trace_text__init(&t, text, strlen(text));
	assert_true(trace_text__next(&t, &l));
	assert_false(trace_text__next(&t, &(struct trace_line){ 0 }));
	assert_int_equal(l.number, 1);
	return l;
}

static void expect_bytes(const char *p, uint32_t len, const char *want)
{
	assert_int_equal(len, strlen(want));
	assert_memory_equal(p, want, len);
}

static void expect_event(const char *text, const char *comm, uint32_t tid, uint32_t cpu,
			 uint64_t ts, const char *event, const char *rest)
{
	struct trace_line l = parse_one(text);

	assert_int_equal(l.kind, TRACE_LINE_EVENT);
	expect_bytes(l.comm, l.comm_len, comm);
	assert_int_equal(l.tid, tid);
	assert_int_equal(l.cpu, cpu);
	assert_int_equal(l.ts, ts);
	expect_bytes(l.event, l.event_len, event);
	expect_bytes(l.text, l.text_len, rest);
}

static void test_plain(void **state)
{
	expect_event(
		"              sh-65      [001] .....    21.585998: sched_process_fork: comm=sh "
		"pid=65\n",
		"sh", 65, 1, 21585998000, "sched_process_fork", "comm=sh pid=65");
	expect_event("          <idle>-0       [000] d....    21.000001: x: a:  b: c", "<idle>", 0,
		     0, 21000001000, "x", "a:  b: c");
	expect_event("sh-65 [8191] d..1. 21.5: x: ", "sh", 65, 8191, 21500000000, "x", "");
	expect_event("sh-65 [000] 21.123456789: x:", "sh", 65, 0, 21123456789, "x", "");
	expect_event("sh-65 [000] d..1 12345: x: y", "sh", 65, 0, 12345, "x", "y");
	expect_event("sh-65 [000] ..... 1.0: vfs_read <-ksys_read", "sh", 65, 0, 1000000000, "",
		     "vfs_read <-ksys_read");
}

static void test_odd_comms(void **state)
{
	expect_event("     kworker/0:1-11      [000] d.... 1.000000: x: y", "kworker/0:1", 11, 0,
		     1000000000, "x", "y");
	expect_event("   a b-7 c: [d]-12      [000] d.... 1.000000: x: y", "a b-7 c: [d]", 12, 0,
		     1000000000, "x", "y");
	expect_event("             a-1-2       [000] d.... 1.000000: x: y", "a-1", 2, 0, 1000000000,
		     "x", "y");
	expect_event("a-1-2 [000] d.... 1.000000: x: y", "a-1", 2, 0, 1000000000, "x", "y");
	expect_event("               --3       [000] d.... 1.000000: x: y", "-", 3, 0, 1000000000,
		     "x", "y");
	expect_event("    a-1 [0] 1: b-3       [002] d.... 1.000000: x: y", "a-1 [0] 1: b", 3, 2,
		     1000000000, "x", "y");
	expect_event(" #!-3 [000] d.... 1.000000: x: y", "#!", 3, 0, 1000000000, "x", "y");
	/* The same pattern again in the text of the event. */
	expect_event("sh-4 [001] ..... 2.0: x: bb-5 [000] ..... 1.0: y: z", "sh", 4, 1, 2000000000,
		     "x", "bb-5 [000] ..... 1.0: y: z");
}

static void test_tgid(void **state)
{
	struct trace_line l;

	l = parse_one("sh-65      (   64) [000] ..... 1.0: x: y");
	assert_int_equal(l.kind, TRACE_LINE_EVENT);
	assert_int_equal(l.tgid, 64);
	l = parse_one("sh-65      (-------) [000] ..... 1.0: x: y");
	assert_int_equal(l.kind, TRACE_LINE_EVENT);
	assert_int_equal(l.tgid, 0);
	assert_int_equal(parse_one("sh-65 (x) [000] ..... 1.0: x: y").kind, TRACE_LINE_OTHER);
}

static void expect_flags(const char *column, unsigned int flags, unsigned int preempt)
{
	struct trace_line l;
	char text[64];

	snprintf(text, sizeof(text), "sh-65 [000] %s 1.0: x: y", column);
	l = parse_one(text);
	assert_int_equal(l.kind, TRACE_LINE_EVENT);
	assert_int_equal(l.flags, flags);
	assert_int_equal(l.preempt_count, preempt);
	assert_int_equal(l.no_irqflag, column[0] == 'X');
}

static void test_flags(void **state)
{
	expect_flags(".....", 0, 0);
	expect_flags("d....", 0x01, 0);
	expect_flags("D....", 0x81, 0);
	expect_flags("b....", 0x80, 0);
	expect_flags("X....", 0, 0);
	expect_flags(".N...", 0x24, 0);
	expect_flags(".n...", 0x04, 0);
	expect_flags(".p...", 0x20, 0);
	expect_flags(".l...", 0x02, 0);
	expect_flags(".b...", 0x06, 0);
	expect_flags(".L...", 0x22, 0);
	expect_flags(".B...", 0x26, 0);
	expect_flags("..h..", 0x08, 0);
	expect_flags("..s..", 0x10, 0);
	expect_flags("..H..", 0x18, 0);
	expect_flags("..z..", 0x40, 0);
	expect_flags("..Z..", 0x48, 0);
	expect_flags("...f.", 0, 0x0f);
	expect_flags("...21", 0, 0x12);
	expect_flags("dNh3", 0x2d, 3);
}

static void test_other_lines(void **state)
{
	struct trace_line l;

	assert_int_equal(parse_one("# tracer: nop").kind, TRACE_LINE_COMMENT);
	assert_int_equal(parse_one("\n").kind, TRACE_LINE_COMMENT);
	assert_int_equal(parse_one("##### CPU 1 buffer started ####").kind, TRACE_LINE_COMMENT);
	assert_int_equal(parse_one("        pingpong-76   ").kind, TRACE_LINE_OTHER);
	assert_int_equal(parse_one("sh-65 [8192] ..... 1.0: x: y").kind, TRACE_LINE_OTHER);
	assert_int_equal(parse_one("sh-99999999999 [000] ..... 1.0: x: y").kind, TRACE_LINE_OTHER);
	assert_int_equal(parse_one("sh-1 [000] ..... 1.0123456789: x: y").kind, TRACE_LINE_OTHER);
	assert_int_equal(parse_one("sh-1 [000] ..... 99999999999999999999.0: x").kind,
			 TRACE_LINE_OTHER);
	assert_int_equal(parse_one("a-much-too-long-comm-1 [000] ..... 1.0: x").kind,
			 TRACE_LINE_OTHER);
	assert_int_equal(parse_one("# entries-in-buffer/entries-written: 10/10   #P:2").kind,
			 TRACE_LINE_COMMENT);
	l = parse_one("# entries-in-buffer/entries-written: 10/25   #P:2");
	assert_int_equal(l.kind, TRACE_LINE_LOST);
	assert_int_equal(l.lost, 15);
	l = parse_one("CPU:1 [LOST 99 EVENTS]");
	assert_int_equal(l.kind, TRACE_LINE_LOST);
	assert_int_equal(l.lost, 99);
	assert_int_equal(parse_one("CPU:1 [LOST EVENTS]").lost, 1);
}

static void test_stack_id_line(void **state)
{
	struct trace_line l =
		parse_one("   sh-65      [001] .....    21.586375: <stack_id 20497>\n");

	assert_int_equal(l.kind, TRACE_LINE_STACK_ID);
	assert_int_equal(l.stack_id, 20497);
	assert_int_equal(l.cpu, 1);
	assert_int_equal(parse_one("a-1 [0] 1.0: <stack_id 4294967295>").stack_id, UINT32_MAX);
	assert_true(parse_one("a-1 [0] 1.0: <stack_id 4294967296>").stack_id == UINT64_MAX);
	assert_true(parse_one("a-1 [0] 1.0: <stack_id -1>").stack_id == UINT64_MAX);
	assert_int_equal(parse_one("a-1 [0] 1.0: x: <stack_id 5>").kind, TRACE_LINE_EVENT);
}

static void trace_events__freep(struct trace_events **t)
{
	trace_events__free(*t);
}

static struct trace_events *parse_all(const char *text)
{
	struct trace_events *t = NULL;

	assert_int_equal(trace_events__parse("trace", text, strlen(text), &t), 0);
	return t;
}

static void expect_stack(const struct trace_events *t, size_t i, const char *text, uint32_t id)
{
	const struct trace_event *e = trace_events__get(t, i);

	expect_bytes(e->text, e->text_len, text);
	assert_int_equal(e->has_stack, id != 0);
	if (id)
		assert_int_equal(e->stack_id, id);
}

static void expect_frame(const char *line, const char *name, const char *mod, uint64_t offset,
			 uint64_t size, uint64_t address)
{
	struct trace_frame f;

	trace_text__frame(line, strlen(line), &f);
	expect_bytes(f.name, f.name_len, name);
	assert_int_equal(f.mod_len, strlen(mod));
	if (f.mod_len)
		expect_bytes(f.mod, f.mod_len, mod);
	assert_int_equal(f.has_offset, offset || size);
	assert_int_equal(f.offset, offset);
	assert_int_equal(f.size, size);
	assert_int_equal(f.has_address, address != 0);
	assert_true(f.address == address);
}

static void test_frames(void **state)
{
	struct trace_line l = parse_one("sh-65 [001] ..... 21.5: <stack trace>\n");

	assert_int_equal(l.kind, TRACE_LINE_STACK);
	assert_int_equal(l.cpu, 1);
	l = parse_one(" => vfs_read\n");
	assert_int_equal(l.kind, TRACE_LINE_FRAME);
	expect_bytes(l.text, l.text_len, "vfs_read");
	assert_int_equal(parse_one(" => ").kind, TRACE_LINE_FRAME);
	assert_int_equal(parse_one(" =>").kind, TRACE_LINE_OTHER);
	expect_frame("vfs_read", "vfs_read", "", 0, 0, 0);
	expect_frame("vfs_read+0x12/0x345", "vfs_read", "", 0x12, 0x345, 0);
	expect_frame("f+0x12/0x345 [ext4]", "f", "ext4", 0x12, 0x345, 0);
	expect_frame("f+0x12/0x345 [ext4] <ffffffffc0001012>", "f", "ext4", 0x12, 0x345,
		     0xffffffffc0001012);
	expect_frame("f <ffffffff81000001>", "f", "", 0, 0, 0xffffffff81000001);
	expect_frame("0xffffffff81000001", "", "", 0, 0, 0xffffffff81000001);
	expect_frame("[unknown/kretprobe'd]", "[unknown/kretprobe'd]", "", 0, 0, 0);
	/* not what a kernel prints: a name */
	expect_frame("f [ext4]", "f [ext4]", "", 0, 0, 0);
	expect_frame("f+0x/0x1", "f+0x/0x1", "", 0, 0, 0);
	expect_frame("f+0x12", "f+0x12", "", 0, 0, 0);
	expect_frame("f+0x11111111111111111/0x1", "f+0x11111111111111111/0x1", "", 0, 0, 0);
	expect_frame("f <11112222333344445>", "f <11112222333344445>", "", 0, 0, 0);
	expect_frame("f <>", "f <>", "", 0, 0, 0);
	expect_frame("", "", "", 0, 0, 0);
	expect_frame("]", "]", "", 0, 0, 0);
	expect_frame("[]", "[]", "", 0, 0, 0);
	expect_frame("0x", "0x", "", 0, 0, 0);
}

static void test_attach_frames(void **state)
{
	_cleanup_(trace_events__freep) struct trace_events *t =
		parse_all("a-1 [000] ..... 1.0: x: one\n"
			  "a-1 [000] ..... 1.0: <stack trace>\n"
			  " => a\n"
			  " => b\n"
			  "##### CPU 1 buffer started ####\n"
			  " => belongs to nothing\n"
			  "b-2 [001] ..... 1.1: <stack trace>\n"
			  " => c\n"
			  "b-2 [001] ..... 1.2: <user stack trace>\n"
			  " =>  <00007f0000000000>\n");
	const struct trace_event *e = trace_events__get(t, 0);

	assert_int_equal(trace_events__nr(t), 3);
	expect_bytes(e->frames, (uint32_t)e->frames_len, "a\n => b");
	e = trace_events__get(t, 1);
	expect_bytes(e->text, e->text_len, "<stack trace>");
	expect_bytes(e->frames, (uint32_t)e->frames_len, "c");
	assert_null(trace_events__get(t, 2)->frames);
	assert_int_equal(trace_events__counts(t)->other_lines, 2);
	assert_int_equal(trace_events__counts(t)->orphan_ids, 0);
}

static void test_attach(void **state)
{
	_cleanup_(trace_events__freep) struct trace_events *t =
		parse_all("a-1 [000] ..... 1.0: x: one\n"
			  "b-2 [001] ..... 1.1: x: other cpu\n"
			  "a-1 [000] ..... 1.2: <stack_id 11>\n"
			  "b-2 [001] ..... 1.3: <stack_id 12>\n"
			  /* an interrupt between an event and its stack */
			  "a-1 [000] ..... 2.0: x: outer\n"
			  "a-1 [000] d.h.. 2.1: x: inner\n"
			  "a-1 [000] d.h.. 2.2: <stack_id 13>\n"
			  "a-1 [000] ..... 2.3: <stack_id 14>\n"
			  /* no stack, then one without an event */
			  "a-1 [000] ..... 3.0: x: without\n"
			  "a-1 [000] d.h.. 3.1: <stack_id 15>\n"
			  "c-3 [000] ..... 3.2: <stack_id 15>\n"
			  "a-1 [001] ..... 3.3: <stack_id 15>\n"
			  "a-2 [000] ..... 3.4: <stack_id 15>\n"
			  "a-1 [000] ...1. 3.5: <stack_id 15>\n"
			  /* the latest event without a stack gets it */
			  "a-1 [000] ..... 4.0: x: first\n"
			  "a-1 [000] ..... 4.1: x: second\n"
			  "a-1 [000] ..... 4.2: <stack_id 16>\n"
			  /* a second stack for the same event */
			  "b-2 [001] ..... 5.0: y: twice\n"
			  "b-2 [001] ..... 5.1: <stack_id 17>\n"
			  "b-2 [001] ..... 5.2: <stack_id 18>\n"
			  "b-2 [001] ..... 6.0: y: bad\n"
			  "b-2 [001] ..... 6.1: <stack_id x>\n");

	assert_int_equal(trace_events__nr(t), 9);
	expect_stack(t, 0, "one", 11);
	expect_stack(t, 1, "other cpu", 12);
	expect_stack(t, 2, "outer", 14);
	expect_stack(t, 3, "inner", 13);
	expect_stack(t, 4, "without", 0);
	expect_stack(t, 5, "first", 0);
	expect_stack(t, 6, "second", 16);
	expect_stack(t, 7, "twice", 17);
	expect_stack(t, 8, "bad", 0);
	assert_int_equal(trace_events__counts(t)->orphan_ids, 6);
	assert_int_equal(trace_events__counts(t)->bad_ids, 1);
	assert_int_equal(trace_events__counts(t)->nr_cpus, 2);
	assert_int_equal(trace_events__nr_names(t), 2);
	assert_string_equal(trace_events__name(t, 1), "y");
}

static void test_order_and_counts(void **state)
{
	_cleanup_(trace_events__freep) struct trace_events *t =
		parse_all("# entries-in-buffer/entries-written: 3/7   #P:2\n"
			  "a-1 [000] ..... 2.0: x: second\n"
			  "a-1 [001] ..... 1.0: x: first\n"
			  "a-1 [003] ..... 2.0: x: third\n"
			  " => noise\n"
			  "CPU:1 [LOST 5 EVENTS]\n"
			  "a-1 [00");

	assert_int_equal(trace_events__nr(t), 3);
	expect_stack(t, 0, "first", 0);
	expect_stack(t, 1, "second", 0);
	expect_stack(t, 2, "third", 0);
	assert_false(trace_events__counts(t)->sorted);
	assert_true(trace_events__counts(t)->seconds);
	assert_int_equal(trace_events__counts(t)->lost, 9);
	assert_int_equal(trace_events__counts(t)->other_lines, 2);
	assert_int_equal(trace_events__counts(t)->nr_cpus, 4);
}

static void test_many_names(void **state)
{
	_cleanup_free_ char *text = malloc(1 << 20);
	_cleanup_(trace_events__freep) struct trace_events *t = NULL;
	size_t at = 0;
	int i;

	for (i = 0; i < 10000; i++)
		at += (size_t)sprintf(text + at, "a-1 [000] 1.0: e%d: %d\n", i % 5000, i);
	t = parse_all(text);
	assert_int_equal(trace_events__nr_names(t), 5000);
	for (i = 0; i < 10000; i++) {
		char want[16];

		snprintf(want, sizeof(want), "e%d", i % 5000);
		assert_string_equal(trace_events__name(t, trace_events__get(t, i)->name), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),	      cmocka_unit_test(test_odd_comms),
		cmocka_unit_test(test_tgid),	      cmocka_unit_test(test_flags),
		cmocka_unit_test(test_other_lines),   cmocka_unit_test(test_stack_id_line),
		cmocka_unit_test(test_attach),	      cmocka_unit_test(test_order_and_counts),
		cmocka_unit_test(test_many_names),    cmocka_unit_test(test_frames),
		cmocka_unit_test(test_attach_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
