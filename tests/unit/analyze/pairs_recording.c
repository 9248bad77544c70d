// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common_fields.h"
#include "../trace/old_file.h"
#include "frame.h"
#include "pairs_recording.h"

static const char begin_format[] =
	"name: begin\nID: 1\n" COMMON "\tfield:u64 a;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 b;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:char s[12];\toffset:20;\tsize:12;\tsigned:0;\n"
	"\nprint fmt: \"b=%u\", REC->b\n";
static const char finish_format[] =
	"name: finish\nID: 2\n" COMMON "\tfield:u64 c;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 b;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:char s[12];\toffset:20;\tsize:12;\tsigned:0;\n"
	"\nprint fmt: \"b=%u\", REC->b\n";
static const char fork_format[] = "name: sched_process_fork\nID: 3\n" COMMON
				  "\tfield:pid_t child_pid;\toffset:16;\tsize:4;\tsigned:1;\n"
				  "\nprint fmt: \"%d\", REC->child_pid\n";
static const char exec_format[] = "name: sched_process_exec\nID: 4\n" COMMON
				  "\tfield:pid_t old_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"
				  "\nprint fmt: \"%d\", REC->pid\n";
static const char bare_format[] = "name: bare\nID: 5\n" COMMON "\nprint fmt: \"\"\n";

struct record {
	char common[8];
	uint64_t a;
	uint32_t b;
	char s[12];
};

void recording__begin(struct recording *rec)
{
	struct stk_writer_opts opts = { .nr_cpus = 4 };
	const struct {
		const char *system, *name, *format;
	} types[NR_TYPES] = {
		[BEGIN] = { "t", "begin", begin_format },
		[FINISH] = { "t", "finish", finish_format },
		[OTHER] = { "t", "other", bare_format },
		[FORK] = { "sched", "sched_process_fork", fork_format },
		[EXIT] = { "sched", "sched_process_exit", bare_format },
		[EXEC] = { "sched", "sched_process_exec", exec_format },
	};
	int i;

	memset(rec, 0, sizeof(*rec));
	strcpy(rec->path, "/tmp/pairs-XXXXXX");
	assert_int_equal(stk_writer__new(mkstemp(rec->path), &opts, &rec->w), 0);
	for (i = 0; i < NR_TYPES; i++)
		assert_int_equal(stk_writer__type(rec->w, STK_KIND_TRACEPOINT, types[i].system,
						  types[i].name, "", types[i].format),
				 i);
}

void recording__put(struct recording *rec, struct ev e)
{
	const char *comm = e.comm ?: "task";
	struct record r = { .a = e.a, .b = e.b };
	struct stk_writer_event out = { .ts = e.ts,
					.cpu = e.cpu,
					.event = e.type,
					.flags = e.flags,
					.marks = e.marks,
					.kstack = e.stack,
					.record = &r,
					.record_len = sizeof(r) };

	if (e.s)
		memcpy(r.s, e.s, strnlen(e.s, sizeof(r.s)));
	if (e.marks & STK_MARK_NO_FIELDS)
		out.record_len = sizeof(r.common);
	assert_int_equal(
		stk_writer__task(rec->w, e.tid, e.pid ?: e.tid, comm, strlen(comm), &out.task), 0);
	assert_int_equal(stk_writer__event(rec->w, &out), 0);
	rec->counters[e.type][STK_C_HAPPENED]++;
	rec->counters[e.type][STK_C_RECORDED]++;
}

uint32_t recording__stack(struct recording *rec, unsigned int nr)
{
	const uint64_t frame = 0xffffffff81000000ULL + nr;
	uint32_t number;

	assert_int_equal(stk_writer__stack(rec->w, &frame, 1, &number), 0);
	return number;
}

void recording__lose(struct recording *rec, unsigned int type, uint64_t nr)
{
	rec->counters[type][STK_C_HAPPENED] += nr;
	rec->counters[type][STK_C_LOST_RING] += nr;
}

void recording__round(struct recording *rec, uint64_t end_ts)
{
	assert_int_equal(stk_writer__end_round(rec->w, end_ts, 0), 0);
}

void recording__account(struct recording *rec)
{
	assert_int_equal(stk_writer__accounting(rec->w, rec->counters, NR_TYPES), 0);
}

void recording__end(struct recording *rec, bool clean)
{
	recording__round(rec, UINT64_MAX);
	if (clean) {
		recording__account(rec);
		assert_int_equal(stk_writer__finish(rec->w, "done", 0), 0);
	}
	stk_writer__free(rec->w);
	assert_true(old_file__make(rec->path));
}

static unsigned int begin_or_finish(void *ctx, const struct stk_event_type *t)
{
	(void)ctx;
	switch (stk_event_type__index(t)) {
	case BEGIN:
		return PAIRS_START;
	case FINISH:
		return PAIRS_END;
	default:
		return 0;
	}
}

struct stk_reader *recording__pair(struct recording *rec, const struct pairs_opts *opts,
				   struct pairs **ret_pairs, struct pairs_result *ret_result)
{
	struct pairs_opts o = *opts;
	const struct stk_event *e;
	struct stk_reader *r;
	int n;

	o.role = o.role ?: begin_or_finish;
	assert_int_equal(stk_reader__open(rec->path, NULL, &r), 0);
	assert_int_equal(pairs__new(&o, ret_pairs), 0);
	while ((n = stk_reader__next(r, &e)) == 1)
		assert_int_equal(pairs__add(*ret_pairs, r, e), 0);
	assert_int_equal(n, 0);
	assert_int_equal(pairs__finish(*ret_pairs, r, ret_result), 0);
	check_sums(&ret_result->counts);
	unlink(rec->path);
	return r;
}

void check_sums(const struct pairs_counts *c)
{
	assert_int_equal(c->starts, c->paired + c->gap + c->open + c->gone + c->replaced +
					    c->start_late + c->start_unknown + c->start_idle +
					    c->start_over + c->start_unselected);
	assert_int_equal(c->ends, c->paired + c->gap + c->without_start + c->end_late +
					  c->end_unknown + c->end_idle + c->end_unselected);
	assert_true(c->open_gap <= c->open && c->others <= c->paired);
}
