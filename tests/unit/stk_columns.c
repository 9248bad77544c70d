// SPDX-License-Identifier: GPL-2.0-only
/*
 * stk_columns FILE: writes a recording whose records use every column coding, whole and short
 * records, tails of all lengths, nested events and events without fields.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "common_fields.h"
#include "trace/write/writer.h"

#define EVENTS 4000
#define FIXED 40

static const char format[] =
	"name: columns\nID: 700\n" COMMON "\tfield:u64 noise;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:s64 clock;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:u32 count;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:u8 byte;\toffset:28;\tsize:1;\tsigned:0;\n"
	"\tfield:u16 half;\toffset:30;\tsize:2;\tsigned:0;\n"
	"\tfield:u32 same;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] text;\toffset:36;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"%llu\", REC->noise\n";

static uint64_t noise(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* Fills the record of event i; returns its length. */
static uint32_t fill(unsigned char *rec, unsigned int i)
{
	uint64_t n = noise(), clock = 1000000000ull * i + n % 1000 - 500;
	uint32_t count = i * 3, same = i % 5, len = n % 60, loc = (len + 1) << 16 | FIXED;
	uint16_t half = n >> 20;

	memset(rec, 0, 128);
	memcpy(rec + 8, &n, 8);
	memcpy(rec + 16, &clock, 8);
	memcpy(rec + 24, &count, 4);
	rec[28] = n >> 9;
	memcpy(rec + 30, &half, 2);
	memcpy(rec + 32, &same, 4);
	memcpy(rec + 36, &loc, 4);
	for (uint32_t k = 0; k < len; k++)
		rec[FIXED + k] = 'a' + noise() % 26;
	return i % 97 ? FIXED + len + 1 : 8 + n % (FIXED - 8);
}

int main(int argc, char **argv)
{
	const struct stk_writer_opts opts = { .nr_cpus = 2 };
	uint64_t frames[] = { 0xffffffff81000010, 0xffffffff81000020 };
	int fd = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
	struct stk_writer *w;
	unsigned char rec[128];
	uint32_t task;
	int err, event;

	if (fd < 0 || stk_writer__new(fd, &opts, &w))
		return 1;
	event = stk_writer__type(w, STK_KIND_TRACEPOINT, "test", "columns", "", format);
	err = event < 0 ? event : stk_writer__task(w, 7, 6, "maker", 5, &task);
	for (unsigned int i = 0; !err && i < EVENTS; i++) {
		struct stk_writer_event e = {
			.ts = 1000 * i + (i % 10 == 3 ? 5000 : 0),
			.cpu = i & 1,
			.event = event,
			.task = task,
			.flags = i % 3,
			.marks = i % 50 == 9 ? STK_MARK_NO_FIELDS : 0,
			.record = rec,
			.record_len = fill(rec, i),
		};

		frames[0] += i % 11;
		err = stk_writer__stack(w, frames, 2, &e.kstack);
		err = err ? err : stk_writer__event(w, &e);
		if (!err && i % 1000 == 999)
			err = stk_writer__end_round(w, 1000 * i, 0);
	}
	err = err ? err : stk_writer__finish(w, "stopped", 0);
	stk_writer__free(w);
	if (err)
		fprintf(stderr, "stk_columns: %s\n", strerror(-err));
	return err ? 1 : 0;
}
