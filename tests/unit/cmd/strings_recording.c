// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../common_fields.h"
#include "../writing.h"

/* A format that needs the recording's metadata. */
void make_strings(const char *path)
{
	static const char format[] = "name: note\nID: 5\n" COMMON
				     "\tfield:const char * s;\toffset:8;\tsize:8;\tsigned:0;\n"
				     "\tfield:unsigned long t;\toffset:16;\tsize:8;\tsigned:0;\n"
				     "\nprint fmt: \"%s for %u ms\", REC->s, "
				     "jiffies_to_msecs(REC->t)\n";
	static const char unknown[] =
		"name: unknown\nID: 6\n" COMMON "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;\n"
		"\nprint fmt: \"x=%d\", no_such_helper(REC->x)\n";
	static const char age[] = "name: age\nID: 7\n" COMMON
				  "\tfield:const char * s;\toffset:8;\tsize:8;\tsigned:0;\n"
				  "\tfield:unsigned long t;\toffset:16;\tsize:8;\tsigned:0;\n"
				  "\nprint fmt: \"age=%lu\", (jiffies - REC->t) / 1000\n";
	struct {
		char common[8];
		uint64_t s, t;
	} rec = { .t = 10 };
	struct stk_writer *w = begin_recording(path, 1);
	unsigned int i;
	uint32_t t;

	ok(stk_writer__meta(w, "printk_formats",
			    "0xffffffff82000010 : \"first\"\n"
			    "nonsense\n"
			    "0xffffffff82000008 : \"a \\\"quote\\\", a \\\\ and a \\tline\\n\"\n"
			    "0xffffffff82000020 : \"cut"));
	ok(stk_writer__meta(w, "kernel.hz", "1000"));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "test", "note", "", format));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "test", "unknown", "", unknown));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "test", "age", "", age));
	ok(stk_writer__meta(w, "clock", "mono"));
	ok(stk_writer__meta(w, "clock.steps", "-2000000000 at 1500, 10 at 4000000000"));
	t = add_task(w, 1, 1, "t");
	for (i = 0; i < 2; i++)
		add_event(w, (struct stk_writer_event){ .ts = 100 * (i + 1),
							.event = 1,
							.task = t,
							.record = &rec,
							.record_len = 12 });
	for (i = 0; i < 4; i++) {
		rec.s = 0xffffffff82000008ULL + 8 * i;
		add_event(w, (struct stk_writer_event){ .ts = 1000 * (i + 1),
							.task = t,
							.record = &rec,
							.record_len = sizeof(rec) });
	}
	/* Jiffies at 5 s are 5 s after their start, which is -300 s. */
	rec.t = (uint32_t)(-300 * 1000) + 2000;
	add_event(w, (struct stk_writer_event){ .ts = 5000000000,
						.event = 2,
						.task = t,
						.record = &rec,
						.record_len = sizeof(rec) });
	end_recording(w, 6000000000, "done");
}
