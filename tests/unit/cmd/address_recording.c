// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../common_fields.h"
#include "../writing.h"
#include "cleanup.h"

#define ALLOCATION                                                                 \
	COMMON "\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n" \
	       "\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n"

static const char kmalloc_format[] =
	"name: kmalloc\nID: 1\n" ALLOCATION
	"\tfield:size_t bytes_req;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"call_site=%pS ptr=%p bytes_req=%zu\", (void *)REC->call_site, REC->ptr, "
	"REC->bytes_req\n";
static const char kfree_format[] =
	"name: kfree\nID: 2\n" ALLOCATION
	"\nprint fmt: \"call_site=%pS ptr=%p\", (void *)REC->call_site, REC->ptr\n";

void make_addresses(const char *path)
{
	static const char long_name[] = "a_function_of_the_kernel_whose_name_is_longer_than_what_"
					"some_table_of_groups_has_room_for";
	const uint64_t text = 0xffffffff81000000ull, module = 0xffffffffc0200000ull;
	/* two places in one function, a module, a long name, and unknown code */
	const uint64_t sites[] = { text + 0x34, text + 0x56, module + 0x21, text + 0x1012,
				   text + 0x5000 };
	struct {
		char common[8];
		uint64_t call_site, ptr, bytes_req;
	} rec = { .bytes_req = 64 };
	struct stk_writer_event e = { .record = &rec, .record_len = sizeof(rec) };
	struct stk_writer *w = begin_recording(path, 1);
	size_t i;

	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "kmem", "kmalloc", "", kmalloc_format));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "kmem", "kfree", "", kfree_format));
	ok(stk_writer__symbol(w, text, 0x100, "alloc_pipe_info", ""));
	ok(stk_writer__symbol(w, text + 0x1000, 0x100, long_name, ""));
	ok(stk_writer__symbol(w, module, 0x100, "disk_open", "demo_mod"));
	e.task = add_task(w, 7, 7, "alloc");
	for (i = 0; i < 2 * ARRAY_SIZE(sites); i++) {
		rec.ptr = 0xffff888000010000ull + i / 2 * 0x40;
		rec.call_site = i % 2 ? text + 0x78 : sites[i / 2];
		e.event = i % 2;
		e.ts = 1000000 + 1000 * i + (i % 2 ? 10 * (ARRAY_SIZE(sites) - i / 2) : 0);
		add_event(w, e);
	}
	end_recording(w, 2000000, "done");
}
