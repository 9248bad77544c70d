// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a recording that a CTF trace has difficulties with:
 *   ctf_recording late FILE EVENTS  so many events on one CPU, each older than the one before
 *   ctf_recording fields FILE       fields of all kinds, and names that are keywords, or no names
 *   ctf_recording cpus FILE EVENTS  an event on each of so many CPUs
 *   ctf_recording packets FILE      records of up to 64 KiB, and losses on a CPU without events
 *   ctf_recording times FILE        the largest times, and an invalid wall clock
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common_fields.h"
#include "cleanup.h"
#include "trace/write/writer.h"

static const char plain_format[] =
	"name: plain\nID: 1\n" COMMON "\tfield:int number;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"%d\", REC->number\n";

static const char fields_format[] =
	"name: fields\nID: 2\n" COMMON "\tfield:int struct;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:u8 event;\toffset:12;\tsize:1;\tsigned:0;\n"
	"\tfield:s8 same;\toffset:13;\tsize:1;\tsigned:1;\n"
	"\tfield:short _ids_length;\toffset:14;\tsize:2;\tsigned:1;\n"
	"\tfield:unsigned long call_site;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:void * ptr;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:char text[8];\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:u8 mac[6];\toffset:40;\tsize:6;\tsigned:0;\n"
	"\tfield:s16 pair[2];\toffset:46;\tsize:4;\tsigned:1;\n"
	"\tfield:struct odd odd[2];\toffset:50;\tsize:6;\tsigned:0;\n"
	"\tfield:__data_loc long[] ids;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] name;\toffset:60;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc u8[] bytes;\toffset:64;\tsize:4;\tsigned:0;\n"
	"\tfield:char none[0];\toffset:68;\tsize:0;\tsigned:0;\n"
	"\tfield:int no_ints[0];\toffset:68;\tsize:0;\tsigned:1;\n"
	"\tfield:s64 last;\toffset:72;\tsize:8;\tsigned:1;\n"
	"\nprint fmt: \"%pS\", (void *)REC->call_site\n";

/* The same name twice, and what becomes of it. */
static const char names_format[] =
	"name: names\nID: 3\n" COMMON "\tfield:int twice;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:int twice;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:int twice_2;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:int end;\toffset:20;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"\"\n";

static const char call_format[] =
	"name: sys_enter_execve\nID: 4\n" COMMON
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:const char * filename;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:const char *const * argv;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] __filename_val;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] __argv_val;\toffset:36;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"filename: 0x%08lx, argv: 0x%08lx\", ((unsigned long)(REC->filename)), "
	"((unsigned long)(REC->argv))\n";

static const char large_format[] =
	"name: large\nID: 5\n" COMMON
	"\tfield:__data_loc u8[] data;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc u8[] again;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

struct fields_record {
	char common[8];
	int32_t number;
	uint8_t event;
	int8_t same;
	int16_t ids_length;
	uint64_t call_site, ptr;
	char text[8];
	uint8_t mac[6];
	int16_t pair[2];
	uint8_t odd[6];
	uint32_t ids, name, bytes, none;
	int64_t last;
	int64_t id_values[3];
	char name_text[8], byte_values[4];
} __attribute__((packed));

struct call_record {
	char common[8];
	int32_t nr, pad;
	uint64_t filename, argv;
	uint32_t filename_val, argv_val;
	char text[32];
};

struct large_record {
	char common[8];
	uint32_t data, again;
	uint8_t bytes[65000];
};

#define LOC(type, field, size) ((uint32_t)(size) << 16 | offsetof(type, field))

static int ok(int err, const char *what)
{
	if (err < 0) {
		fprintf(stderr, "ctf_recording: %s: %s\n", what, strerror(-err));
		exit(1);
	}
	return err;
}

static void put(struct stk_writer *w, uint32_t type, uint64_t ts, uint32_t cpu, const void *record,
		size_t len, unsigned int marks)
{
	struct stk_writer_event e = { .ts = ts,
				      .event = type,
				      .cpu = cpu,
				      .marks = marks,
				      .record = record,
				      .record_len = len };

	ok(stk_writer__task(w, 7, 7, "seven", 5, &e.task), "task");
	ok(stk_writer__event(w, &e), "event");
}

/* With a stack of its own. */
static void put_plain(struct stk_writer *w, uint64_t ts, uint32_t cpu, int32_t number)
{
	const uint64_t frame = 0xffffffff81000000 + number;
	int32_t record[3] = { 0, 0, number };
	struct stk_writer_event e = {
		.ts = ts, .cpu = cpu, .record = record, .record_len = sizeof(record)
	};

	ok(stk_writer__task(w, 7, 7, "seven", 5, &e.task), "task");
	ok(stk_writer__stack(w, &frame, 1, &e.kstack), "stack");
	ok(stk_writer__event(w, &e), "event");
}

static void end_round(struct stk_writer *w, uint64_t ts)
{
	ok(stk_writer__end_round(w, ts, ts), "round");
}

/* Each round after the first two is older than what was read before. */
static void put_late(struct stk_writer *w, int nr)
{
	int i;

	put_plain(w, 1000000, 0, -1);
	put_plain(w, 1000000, 1, -1);
	end_round(w, 1000000);
	end_round(w, 2000000);
	for (i = 0; i < nr; i++) {
		put_plain(w, 900000 - 1000 * i, 0, i);
		put_plain(w, 3000000 + i, 1, i);
		end_round(w, 3000000 + i);
	}
	put_plain(w, 4000000, 0, -2);
	end_round(w, 5000000);
	end_round(w, 6000000);
}

static void put_fields(struct stk_writer *w)
{
	struct fields_record r = {
		.number = -5,
		.event = 200,
		.same = -3,
		.ids_length = -1,
		.call_site = 0xffffffff81001234,
		.ptr = 0xffff888000000000,
		.text = "\"\\\377\n",
		.mac = { 1, 2, 3, 4, 5, 255 },
		.pair = { -1, 300 },
		.odd = { 9, 8, 7, 6, 5, 4 },
		.ids = LOC(struct fields_record, id_values, 24),
		.name = LOC(struct fields_record, name_text, 8),
		.bytes = 4 << 16 | (offsetof(struct fields_record, byte_values) -
				    offsetof(struct fields_record, none)),
		.last = INT64_MIN,
		.id_values = { INT64_MAX, -1, 0 },
		.name_text = "n\033[31",
		.byte_values = { 0, 1, 2, 3 },
	};
	struct call_record call = {
		.nr = 59,
		.filename = 0x7f0000001000,
		.argv = 0x7f0000002000,
		.filename_val = LOC(struct call_record, text, 8),
		.argv_val = 14u << 16 | (offsetof(struct call_record, text) + 8),
		.text = "/bin/ls\0ls\0-l\0",
	};
	int32_t names[7] = { 0, 0, 1, 2, 3, 4, 5 };
	size_t len;

	memcpy(call.text + 14, "/etc/xy", 8);
	put(w, 1, 1000, 0, &r, sizeof(r), 0);
	r.ids = r.name = r.bytes = 0;
	put(w, 1, 1001, 0, &r, sizeof(r), 0);
	r.ids = 0xffffffff; /* outside of the record */
	put(w, 1, 1002, 0, &r, sizeof(r), 0);
	put(w, 3, 1003, 0, &call, sizeof(call), 0);
	call.filename_val = call.argv_val = 0;
	put(w, 3, 1004, 0, &call, sizeof(call), 0);
	put(w, 2, 1005, 0, names, sizeof(names), 0);
	/* cut within each field */
	for (len = sizeof(r) - 1; len >= 8; len--)
		put(w, 1, 2900 - len, 1, &r, len, STK_MARK_CUT);
	put(w, 1, 3000, 1, &r, 8, STK_MARK_NO_FIELDS);
}

static void put_packets(struct stk_writer *w)
{
	struct stk_writer_loss loss = {
		.first_ts = 2000, .last_ts = 3000, .event = 4, .cpu = 1, .count = 5
	};
	static struct large_record r;
	unsigned int i;

	for (i = 0; i < sizeof(r.bytes); i++)
		r.bytes[i] = i * 7;
	for (i = 0; i <= sizeof(r.bytes); i += 1000) {
		r.data = LOC(struct large_record, bytes, i);
		r.again = i % 3000 ? 0 : r.data;
		put(w, 4, 1000 + i, 0, &r, offsetof(struct large_record, bytes) + i, 0);
	}
	ok(stk_writer__loss(w, &loss), "loss");
}

static void add_types(struct stk_writer *w)
{
	static const char *const formats[] = { plain_format, fields_format, names_format,
					       call_format, large_format };
	static const char *const names[] = { "plain", "event\";\n}; \"\\", "names",
					     "sys_enter_execve", "large" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		ok(stk_writer__type(w, i == 3 ? STK_KIND_SYSCALL : STK_KIND_TRACEPOINT,
				    i == 3 ? "syscalls" : "odd", names[i], "", formats[i]),
		   "type");
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	int nr = argc > 3 ? atoi(argv[3]) : 0, fd, i;
	struct stk_writer_opts opts = { .nr_cpus = nr > 2 ? (unsigned int)nr : 2 };
	struct stk_writer *w;

	fd = argc > 2 ? open(argv[2], O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644) : -1;
	ok(fd < 0 ? -EINVAL : stk_writer__new(fd, &opts, &w), "create");
	ok(stk_writer__meta(w, "boot_id", "20770efc-480b-4818-9554-6764ff2b7de9"), "meta");
	ok(stk_writer__meta(w, "clock", "mono"), "meta");
	ok(stk_writer__meta(w, "clock.ts", "1000"), "meta");
	ok(stk_writer__meta(w, "clock.wall_ns",
			    strcmp(kind, "times") ? "1790000001234567890" : "-1"),
	   "meta");
	add_types(w);
	if (!strcmp(kind, "late"))
		put_late(w, nr);
	else if (!strcmp(kind, "fields"))
		put_fields(w);
	else if (!strcmp(kind, "packets"))
		put_packets(w);
	for (i = 0; i < nr && !strcmp(kind, "cpus"); i++)
		put_plain(w, 1000 + i, i, i);
	for (i = 0; i < 3 && !strcmp(kind, "times"); i++)
		put_plain(w, (uint64_t[]){ 0, INT64_MAX / 2, UINT64_MAX }[i], i & 1, i);
	end_round(w, UINT64_MAX);
	ok(stk_writer__finish(w, "done", 0), "finish");
	stk_writer__free(w);
	return 0;
}
