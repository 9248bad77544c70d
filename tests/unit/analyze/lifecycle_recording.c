// SPDX-License-Identifier: GPL-2.0-only
#include "lifecycle_recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "trace/write/writer.h"

#define MAX_REPORTED 8192
#define CLONE_THREAD_FLAG 0x10000

static const struct {
	const char *system, *name;
	const char *fields[3], *text; /* 8-byte numbers from offset 8, 16-byte string at 32 */
} types[] = {
	[FORK] = { "sched", "sched_process_fork", { "child_pid" }, "child_comm" },
	[NEWTASK] = { "task", "task_newtask", { "pid", "clone_flags" }, "comm" },
	[EXEC] = { "sched", "sched_process_exec", { "pid", "old_pid" }, "filename" },
	[EXIT] = { "sched", "sched_process_exit", { "pid", "group_dead" }, NULL },
	[FREE] = { "sched", "sched_process_free", { "pid" }, "comm" },
	[SWITCH] = { "sched", "sched_switch", { "prev_pid", "prev_state" }, NULL },
	[RENAME] = { "task", "task_rename", { "pid" }, "newcomm" },
	[SENT] = { "signal", "signal_generate", { "sig", "pid", "result" }, NULL },
	[SIGNAL] = { "signal", "signal_deliver", { "sig", "sa_handler" }, NULL },
	[EXIT_GROUP] = { "syscalls", "sys_enter_exit_group", { "error_code" }, NULL },
	[EXIT_CALL] = { "syscalls", "sys_enter_exit", { "error_code" }, NULL },
	[CLONED] = { "syscalls", "sys_exit_clone", { "ret" }, NULL },
	[WAIT4] = { "syscalls", "sys_enter_wait4", { "upid", "options" }, NULL },
	[WAIT4_RET] = { "syscalls", "sys_exit_wait4", { "ret" }, NULL },
	[WAITID] = { "syscalls", "sys_enter_waitid", { "which", "upid", "options" }, NULL },
	[WAITID_RET] = { "syscalls", "sys_exit_waitid", { "ret" }, NULL },
	[PROCESS_WAIT] = { "sched", "sched_process_wait", { "pid" }, NULL },
};

struct recording {
	char path[32];
	struct stk_writer *w;
	int types[NR_EV];
	uint64_t counters[NR_EV][STK_NR_COUNTERS];
	unsigned int nr_types;
	uint32_t stack;
	uint64_t ts;
};

static struct life lives[MAX_REPORTED];
static unsigned int nr_lives;
struct lifecycle_counts counts;
struct life_gap gaps[64];
unsigned int nr_gaps;

static void add_type(struct recording *r, enum ev kind, bool group_dead, bool old_name)
{
	char format[1024];
	unsigned int i;
	int len;

	len = snprintf(format, sizeof(format), "name: %s\nID: %u\nformat:\n", types[kind].name,
		       kind + 1);
	if (kind == RENAME && old_name)
		len += snprintf(format + len, sizeof(format) - len,
				"\tfield:char oldcomm[16];\toffset:8;\tsize:16;\tsigned:0;\n");
	for (i = 0; i < 3 && types[kind].fields[i] && (kind != RENAME || !old_name); i++)
		if (group_dead || strcmp(types[kind].fields[i], "group_dead") != 0)
			len += snprintf(format + len, sizeof(format) - len,
					"\tfield:long %s;\toffset:%u;\tsize:8;\tsigned:1;\n",
					types[kind].fields[i], 8 + 8 * i);
	if (types[kind].text)
		len += snprintf(format + len, sizeof(format) - len,
				"\tfield:char %s[16];\toffset:32;\tsize:16;\tsigned:0;\n",
				types[kind].text);
	snprintf(format + len, sizeof(format) - len, "\nprint fmt: \"\"\n");
	r->types[kind] = stk_writer__type(r->w, STK_KIND_TRACEPOINT, types[kind].system,
					  types[kind].name, "", format);
	assert_int_equal(r->types[kind], r->nr_types++);
}

struct recording *begin(uint32_t without)
{
	const uint64_t frames[] = { 0xffffffff81000010ULL };
	struct stk_writer_opts opts = { .nr_cpus = 1 };
	struct recording *r = calloc(1, sizeof(*r));
	unsigned int i;

	assert_non_null(r);
	strcpy(r->path, "/tmp/lifecycle-XXXXXX");
	assert_int_equal(stk_writer__new(mkstemp(r->path), &opts, &r->w), 0);
	for (i = 0; i < NR_EV; i++) {
		r->types[i] = -1;
		if (!(without & 1u << i))
			add_type(r, i, !(without & NO_GROUP_DEAD), without & OLD_NAME);
	}
	assert_int_equal(stk_writer__stack(r->w, frames, 1, &r->stack), 0);
	return r;
}

void meta(struct recording *r, const char *key, const char *value)
{
	assert_int_equal(stk_writer__meta(r->w, key, value), 0);
}

static void put(struct recording *r, uint64_t ts, uint32_t pid, uint32_t tid, enum ev kind,
		const void *record, unsigned int marks)
{
	struct stk_writer_event e = { .ts = ts * 1000,
				      .event = r->types[kind],
				      .kstack = r->stack,
				      .marks = marks,
				      .record = record,
				      .record_len = record ? 48 : 8 };
	char comm[16];

	if (r->types[kind] < 0)
		return;
	snprintf(comm, sizeof(comm), "comm-%u", pid);
	assert_int_equal(stk_writer__task(r->w, tid, pid, comm, strlen(comm), &e.task), 0);
	if (!record)
		e.record = "\0\0\0\0\0\0\0\0";
	assert_int_equal(stk_writer__event(r->w, &e), 0);
	r->ts = MAX(r->ts, ts * 1000);
}

void ev(struct recording *r, uint64_t ts, uint32_t pid, uint32_t tid, enum ev kind, int64_t a,
	int64_t b, int64_t c, const char *text)
{
	struct {
		char common[8];
		int64_t v[3];
		char text[16];
	} rec = { .v = { a, b, c } };

	if (text)
		memcpy(rec.text, text, strnlen(text, 16));
	put(r, ts, pid, tid, kind, &rec, 0);
}

void no_fields(struct recording *r, uint64_t ts, uint32_t pid, enum ev kind)
{
	put(r, ts, pid, pid, kind, NULL, STK_MARK_NO_FIELDS);
}

void lose(struct recording *r, enum ev kind, uint64_t first, uint64_t last)
{
	struct stk_writer_loss loss = { .first_ts = first * 1000,
					.last_ts = last * 1000,
					.event = r->types[kind],
					.cpu = 1,
					.count = 1 };

	assert_int_equal(stk_writer__loss(r->w, &loss), 0);
}

void count(struct recording *r, enum ev kind, unsigned int counter, uint64_t n)
{
	r->counters[r->types[kind]][counter] = n;
}

/* ---- common sequences ------------------------------------------------------------------------ */

void born(struct recording *r, uint64_t ts, uint32_t parent, uint32_t pid, uint32_t ns_pid)
{
	char comm[16];

	snprintf(comm, sizeof(comm), "comm-%u", pid);
	ev(r, ts, parent, parent, NEWTASK, pid, 0, 0, comm);
	ev(r, ts, parent, parent, FORK, pid, 0, 0, comm);
	ev(r, ts, parent, parent, CLONED, ns_pid, 0, 0, NULL);
}

void thread(struct recording *r, uint64_t ts, uint32_t pid, uint32_t tid)
{
	ev(r, ts, pid, pid, NEWTASK, tid, CLONE_THREAD_FLAG, 0, "thread");
	ev(r, ts, pid, pid, FORK, tid, 0, 0, "thread");
	ev(r, ts, pid, pid, CLONED, tid, 0, 0, NULL);
}

void ends(struct recording *r, uint64_t ts, uint32_t pid, int code, int state)
{
	ev(r, ts, pid, pid, EXIT_GROUP, code, 0, 0, NULL);
	ev(r, ts + 1, pid, pid, EXIT, pid, 1, 0, NULL);
	ev(r, ts + 2, pid, pid, SWITCH, pid, state, 0, NULL);
}

void waits(struct recording *r, uint64_t ts, uint32_t pid, uint32_t number)
{
	ev(r, ts, pid, pid, WAIT4, -1, 0, 0, NULL);
	ev(r, ts + 1, pid, pid, WAIT4_RET, number, 0, 0, NULL);
}

void wait_id(struct recording *r, uint64_t ts, uint32_t pid, int which, uint32_t number,
	     int options)
{
	ev(r, ts, pid, pid, WAITID, which, number, options, NULL);
	ev(r, ts + 1, pid, pid, WAITID_RET, 0, 0, 0, NULL);
}

void freed(struct recording *r, uint64_t ts, uint32_t tid, const char *comm)
{
	char text[16];

	snprintf(text, sizeof(text), "comm-%u", tid);
	ev(r, ts, 0, 0, FREE, tid, 0, 0, comm ?: text);
}

/* ---- results --------------------------------------------------------------------------------- */

static void on_life(void *ctx, const struct life *l)
{
	assert_true(nr_lives < MAX_REPORTED);
	lives[nr_lives] = *l;
	lives[nr_lives++].exec = NULL;
}

static void on_step(void *ctx, const struct life_step *s)
{
	assert_true(s->self.pid);
}

void read_back(struct recording *r)
{
	const struct lifecycle_opts opts = { on_life, on_life, on_step, NULL };
	struct stk_reader *reader;
	const struct stk_event *e;
	struct lifecycle *l;

	assert_int_equal(stk_writer__end_round(r->w, r->ts + 1, 0), 0);
	assert_int_equal(stk_writer__accounting(r->w, r->counters, r->nr_types), 0);
	assert_int_equal(stk_writer__finish(r->w, "done", 0), 0);
	stk_writer__free(r->w);
	assert_int_equal(stk_reader__open(r->path, NULL, &reader), 0);
	nr_lives = 0;
	assert_int_equal(lifecycle__new(reader, &opts, &l), 0);
	while (stk_reader__next(reader, &e) == 1)
		assert_int_equal(lifecycle__add(l, e), 0);
	assert_int_equal(lifecycle__finish(l), 0);
	lifecycle__counts(l, &counts);
	for (nr_gaps = 0; nr_gaps < ARRAY_SIZE(gaps) && lifecycle__gap(l, nr_gaps, &gaps[nr_gaps]);)
		nr_gaps++;
	lifecycle__free(l);
	stk_reader__free(reader);
	unlink(r->path);
	free(r);
}

static const struct life *find(uint32_t tid, bool is_thread, unsigned int nth)
{
	unsigned int i;

	for (i = 0; i < nr_lives; i++)
		if (lives[i].tid == tid && lives[i].is_thread == is_thread && !nth--)
			return &lives[i];
	fail_msg("%s %u was not reported that often", is_thread ? "thread" : "process", tid);
	return NULL;
}

const struct life *process(uint32_t pid, unsigned int nth)
{
	return find(pid, false, nth);
}

const struct life *reported_thread(uint32_t tid)
{
	return find(tid, true, 0);
}

unsigned int nr_reported(void)
{
	return nr_lives;
}

void assert_at(struct life_time t, uint64_t at)
{
	assert_between(t, at, at);
}

void assert_between(struct life_time t, uint64_t from, uint64_t to)
{
	assert_int_equal(t.from, from * 1000);
	assert_int_equal(t.to, to * 1000);
}

void assert_us(struct life_span s, uint64_t min, uint64_t max)
{
	assert_true(s.any);
	assert_int_equal(s.min, min * 1000);
	assert_int_equal(s.max, max == LIFE_EVER ? max : max * 1000);
}

void assert_exit(const struct life *l, int code)
{
	assert_int_equal(l->how, LIFE_HOW_EXIT);
	assert_int_equal(l->code, code);
	assert_false(l->uncertain);
}

void assert_signal(const struct life *l, int sig)
{
	assert_int_equal(l->how, LIFE_HOW_SIGNAL);
	assert_int_equal(l->code, sig);
	assert_false(l->uncertain);
}
