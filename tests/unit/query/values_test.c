// SPDX-License-Identifier: GPL-2.0-only
/* Values by name: fields, generic values, names that both have, and events without fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common_fields.h"
#include "cleanup.h"
#include "events/format.h"
#include "frame.h"
#include "query/values.h"
#include "trace/write/writer.h"

/* A field with the name of a generic value, a signed one, a pointer, and an array. */
static const char wake_format[] =
	"name: wake\nID: 1\n" COMMON "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:int prio;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:u8 set[4];\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:void * ptr;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"%s\", REC->comm\n";
static const char bare_format[] = "name: bare\nID: 2\n" COMMON "\nprint fmt: \"\"\n";

struct wake {
	char common[8];
	char comm[8];
	int32_t prio;
	uint8_t set[4];
	uint64_t ptr;
};

static void put(struct stk_writer *w, unsigned int type, uint64_t ts, unsigned int marks)
{
	struct wake r = { .comm = "woken", .prio = -5, .set = { 1, 2, 3, 4 }, .ptr = ~0ull };
	struct stk_writer_event e = {
		.ts = ts, .cpu = 1, .event = type, .marks = marks, .record = &r
	};

	e.record_len = type || marks & STK_MARK_NO_FIELDS ? sizeof(r.common) : sizeof(r);
	assert_int_equal(stk_writer__task(w, 12, 10, "waker", 5, &e.task), 0);
	assert_int_equal(stk_writer__event(w, &e), 0);
}

/* Three events: wake, bare, and wake without its fields. */
static struct stk_reader *recording(void)
{
	const struct stk_writer_opts opts = { .nr_cpus = 2 };
	char path[] = "/tmp/values-XXXXXX";
	struct stk_reader *r;
	struct stk_writer *w;

	assert_int_equal(stk_writer__new(mkstemp(path), &opts, &w), 0);
	assert_int_equal(stk_writer__type(w, STK_KIND_TRACEPOINT, "t", "wake", "", wake_format), 0);
	assert_int_equal(stk_writer__type(w, STK_KIND_TRACEPOINT, "t", "bare", "", bare_format), 1);
	put(w, 0, 100, 0);
	put(w, 1, 200, 0);
	put(w, 0, 300, STK_MARK_NO_FIELDS);
	assert_int_equal(stk_writer__end_round(w, UINT64_MAX, 0), 0);
	assert_int_equal(stk_writer__finish(w, "test", 0), 0);
	stk_writer__free(w);
	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	unlink(path);
	return r;
}

static const struct stk_event *next(struct stk_reader *r)
{
	const struct stk_event *e;

	assert_int_equal(stk_reader__next(r, &e), 1);
	return e;
}

static void check_text(struct event_value v, const char *want)
{
	assert_int_equal(v.type, VALUE_TEXT);
	assert_int_equal(v.len, strlen(want));
	assert_memory_equal(v.text, want, v.len);
}

static void check_number(struct event_value v, enum value_type type, uint64_t want)
{
	assert_int_equal(v.type, type);
	assert_true(v.number == want);
}

static struct event_value get(struct values *v, const char *name, enum value_prefer prefer,
			      const struct stk_event *e)
{
	int nr = values__add(v, name, prefer);

	assert_true(nr >= 0);
	return values__get(v, nr, e);
}

static void test_values(void **state)
{
	struct stk_reader *r = recording();
	const struct stk_event *e = next(r);
	struct values *v;

	assert_int_equal(values__new(r, &v), 0);
	check_text(get(v, "comm", VALUE_PREFER_FIELD, e), "woken");
	check_text(get(v, "comm", VALUE_PREFER_GENERIC, e), "waker");
	check_text(get(v, "task.comm", VALUE_PREFER_FIELD, e), "waker");
	check_text(get(v, "field.comm", VALUE_PREFER_GENERIC, e), "woken");
	check_text(get(v, "event", VALUE_PREFER_FIELD, e), "t:wake");
	check_number(get(v, "pid", VALUE_PREFER_FIELD, e), VALUE_U64, 10);
	check_number(get(v, "task.tid", VALUE_PREFER_FIELD, e), VALUE_U64, 12);
	check_number(get(v, "event.cpu", VALUE_PREFER_FIELD, e), VALUE_U64, 1);
	check_number(get(v, "time", VALUE_PREFER_FIELD, e), VALUE_U64, 100);
	check_number(get(v, "prio", VALUE_PREFER_GENERIC, e), VALUE_S64, (uint64_t)-5);
	check_number(get(v, "ptr", VALUE_PREFER_GENERIC, e), VALUE_ADDRESS, ~0ull);
	assert_int_equal(get(v, "set", VALUE_PREFER_GENERIC, e).type, VALUE_BYTES);
	assert_int_equal(get(v, "nosuch", VALUE_PREFER_GENERIC, e).type, VALUE_NONE);
	assert_int_equal(get(v, "field.pid", VALUE_PREFER_GENERIC, e).type, VALUE_NONE);

	e = next(r);
	check_text(get(v, "comm", VALUE_PREFER_FIELD, e), "waker");
	assert_int_equal(get(v, "prio", VALUE_PREFER_FIELD, e).type, VALUE_NONE);

	e = next(r); /* the type has the field, the event does not */
	assert_int_equal(get(v, "comm", VALUE_PREFER_FIELD, e).type, VALUE_NONE);
	check_text(get(v, "task.comm", VALUE_PREFER_FIELD, e), "waker");
	values__free(v);
	stk_reader__free(r);
}

static void test_names(void **state)
{
	struct stk_reader *r = recording();
	const struct stk_event *e = next(r);
	const struct ev_field *field;
	enum value_name name;
	struct values *v;

	assert_int_equal(values__new(r, &v), 0);
	assert_int_equal(values__add(v, "", VALUE_PREFER_FIELD), -EINVAL);
	assert_int_equal(values__add(v, "field.", VALUE_PREFER_FIELD), -EINVAL);
	assert_int_equal(values__add(v, "task.prio", VALUE_PREFER_FIELD), -EINVAL);
	assert_int_equal(values__add(v, "prio", VALUE_PREFER_FIELD), 0);
	assert_int_equal(values__add(v, "cpu", VALUE_PREFER_FIELD), 1);
	/* who asks for each event type again gets the same number, not one more */
	assert_int_equal(values__add(v, "prio", VALUE_PREFER_FIELD), 0);
	assert_int_equal(values__add(v, "cpu", VALUE_PREFER_FIELD), 1);
	assert_int_equal(values__add(v, "cpu", VALUE_PREFER_GENERIC), 2);
	assert_int_equal(values__add(v, "field.cpu", VALUE_PREFER_FIELD), 3);
	assert_int_equal(values__add(v, "event.cpu", VALUE_PREFER_FIELD), 4);
	assert_int_equal(values__source(v, 0, stk_event__type(e), &field, &name), 0);
	assert_string_equal(field->name, "prio");
	assert_int_equal(values__source(v, 1, stk_event__type(e), &field, &name), 0);
	assert_null(field);
	assert_int_equal(name, VALUE_CPU);
	e = next(r);
	assert_int_equal(values__source(v, 0, stk_event__type(e), &field, &name), -ENOENT);
	values__free(v);
	stk_reader__free(r);
}

/* ---- values of stacks ------------------------------------------------------------------------ */

#define TEXT 0xffffffff81000000ull

/* Events with both stacks, a kernel stack of one frame, a user stack alone, and none. */
static struct stk_reader *stack_recording(void)
{
	static const uint64_t deep[] = { TEXT + 0x10, 0xffffffffc0000010ull },
			      flat[] = { TEXT + 0x20 },
			      user[] = { FRAME_USER(1, 0x1010), FRAME_USER(1, 0x5010) };
	const struct stk_user_symbol symbols[] = { { "_Zrun", 0x1000, 0x100 } };
	const struct stk_file file = { .path = "/bin/app", .host_path = "" };
	const struct stk_writer_opts opts = { .nr_cpus = 1 };
	struct stk_writer_event e = { .record = "\0\0\0\0\0\0\0\0", .record_len = 8 };
	uint32_t k[4] = { 0 }, u[4] = { 0 }, nr;
	char path[] = "/tmp/values-XXXXXX";
	struct stk_reader *r;
	struct stk_writer *w;
	int i;

	assert_int_equal(stk_writer__new(mkstemp(path), &opts, &w), 0);
	assert_int_equal(stk_writer__type(w, STK_KIND_TRACEPOINT, "t", "bare", "", bare_format), 0);
	assert_int_equal(stk_writer__symbol(w, TEXT, 0x100, "inner", ""), 0);
	assert_int_equal(stk_writer__symbol(w, 0xffffffffc0000000ull, 0x100, "outer", "mod"), 0);
	assert_int_equal(stk_writer__file(w, &file, &nr), 0);
	assert_int_equal(stk_writer__user_symbols(w, nr, symbols, 1), 0);
	assert_int_equal(stk_writer__stack(w, deep, 2, &k[0]), 0);
	assert_int_equal(stk_writer__stack(w, flat, 1, &k[1]), 0);
	assert_int_equal(stk_writer__stack(w, user, 2, &u[0]), 0);
	u[1] = u[2] = u[0];
	assert_int_equal(stk_writer__task(w, 12, 10, "task", 4, &e.task), 0);
	for (i = 0; i < 4; i++) {
		e.ts = 100 + i;
		e.kstack = k[i];
		e.ustack = u[i];
		assert_int_equal(stk_writer__event(w, &e), 0);
	}
	assert_int_equal(stk_writer__end_round(w, UINT64_MAX, 0), 0);
	assert_int_equal(stk_writer__finish(w, "test", 0), 0);
	stk_writer__free(w);
	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	unlink(path);
	return r;
}

/* Names of C++ are shown without _Z. */
static const char *shown(void *ctx, const char *sym)
{
	return sym + strlen("_Z");
}

/* sym, caller and file of each event; NULL: none. */
static void check_frames(const struct value_frames *frames, const char *const want[4][3])
{
	static const char *const names[] = { "sym", "caller", "file" };
	struct stk_reader *r = stack_recording();
	struct values *v;
	unsigned int i, k;

	assert_int_equal(values__new(r, &v), 0);
	values__set_frames(v, frames);
	for (k = 0; k < ARRAY_SIZE(names); k++)
		assert_int_equal(values__add(v, names[k], VALUE_PREFER_GENERIC), k);
	for (i = 0; i < 4; i++) {
		const struct stk_event *e = next(r);

		for (k = 0; k < ARRAY_SIZE(names); k++) {
			if (want[i][k])
				check_text(values__get(v, k, e), want[i][k]);
			else
				assert_int_equal(values__get(v, k, e).type, VALUE_NONE);
		}
	}
	assert_true(values__memory(v) > 0);
	values__free(v);
	stk_reader__free(r);
}

static void test_frames(void **state)
{
	static const char *const all[4][3] = { { "inner", "outer", "[kernel]" },
					       { "inner", "run", "[kernel]" },
					       { "run", "app+0x5010", "app" },
					       { NULL, NULL, NULL } };
	static const char *const raw_user[4][3] = { { "_Zrun", "app+0x5010", "app" },
						    { "_Zrun", "app+0x5010", "app" },
						    { "_Zrun", "app+0x5010", "app" },
						    { NULL, NULL, NULL } };
	static const char *const kernel[4][3] = { { "inner", "outer", "[kernel]" },
						  { "inner", NULL, "[kernel]" },
						  { NULL, NULL, NULL },
						  { NULL, NULL, NULL } };

	check_frames(&(struct value_frames){ .function = shown }, all);
	check_frames(&(struct value_frames){ .no_kernel = true }, raw_user);
	check_frames(&(struct value_frames){ .no_user = true }, kernel);
}

static void test_generic(void **state)
{
	struct stk_reader *r = recording();
	struct values *v;

	assert_true(value_name__is_generic("comm"));
	assert_true(value_name__is_generic("event.sym"));
	assert_false(value_name__is_generic("field.comm"));
	assert_false(value_name__is_generic("prio"));
	assert_int_equal(values__new(r, &v), 0);
	assert_int_equal(values__add(v, "comm", VALUE_PREFER_GENERIC), 0);
	assert_int_equal(values__add(v, "comm", VALUE_PREFER_FIELD), 1);
	assert_int_equal(values__add(v, "task.comm", VALUE_PREFER_FIELD), 2);
	assert_int_equal(values__add(v, "field.comm", VALUE_PREFER_GENERIC), 3);
	assert_int_equal(values__generic(v, 0), VALUE_COMM);
	assert_int_equal(values__generic(v, 1), NR_VALUE_NAMES);
	assert_int_equal(values__generic(v, 2), VALUE_COMM);
	assert_int_equal(values__generic(v, 3), NR_VALUE_NAMES);
	values__free(v);
	stk_reader__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_generic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
