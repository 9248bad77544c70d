// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which sched events can be recorded from their arguments, by format text and kernel types: those
 * of three releases, and unusual ones.  For the feature that doctor shows, the calls that read the
 * running kernel's format and types are replaced.
 */
#undef _FORTIFY_SOURCE /* it defines open() inline */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>
#include <cmocka.h>
#include <bpf/btf.h>

#include "../common_fields.h"
#include "events/format.h"
#include "record/kernel/nested_fields.h"
#include "record/kernel/tracefs.h"
#include "wire.h"

#define HEAD(name) "name: " name "\nID: 300\n" COMMON
#define FIELD(type, offset, size) \
	"\tfield:" type ";\toffset:" #offset ";\tsize:" #size ";\tsigned:0;\n"
#define TAIL "\nprint fmt: \"pid=%d\", REC->pid\n"

static const char free_6_12[] = HEAD("sched_process_free") FIELD("char comm[16]", 8, 16)
	FIELD("pid_t pid", 24, 4) FIELD("int prio", 28, 4) TAIL;
static const char free_6_18[] = HEAD("sched_process_free") FIELD("__data_loc char[] comm", 8, 4)
	FIELD("pid_t pid", 12, 4) FIELD("int prio", 16, 4) TAIL;
static const char free_more[] = HEAD("sched_process_free") FIELD("char comm[16]", 8, 16)
	FIELD("pid_t pid", 24, 4) FIELD("int prio", 28, 4) FIELD("int age", 32, 4) TAIL;
static const char free_wide[] = HEAD("sched_process_free") FIELD("char comm[16]", 8, 16)
	FIELD("long pid", 24, 8) FIELD("int prio", 32, 4) TAIL;
static const char free_long[] = HEAD("sched_process_free") FIELD("char comm[32]", 8, 32)
	FIELD("pid_t pid", 40, 4) FIELD("int prio", 44, 4) TAIL;
static const char exit_6_18[] = HEAD("sched_process_exit") FIELD("char comm[16]", 8, 16)
	FIELD("pid_t pid", 24, 4) FIELD("int prio", 28, 4) FIELD("bool group_dead", 32, 1) TAIL;

static struct btf *types;
static int task_ptr, number, other_ptr;

/* btf_trace_NAME: handlers of (void *, ...). */
static void declare(const char *name, const int *args, unsigned int nr)
{
	char typedef_name[64];
	int proto = btf__add_func_proto(types, 0), ptr;
	unsigned int i;

	assert_true(proto > 0);
	assert_int_equal(btf__add_func_param(types, "", other_ptr), 0);
	for (i = 0; i < nr; i++)
		assert_int_equal(btf__add_func_param(types, "", args[i]), 0);
	ptr = btf__add_ptr(types, proto);
	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	assert_true(btf__add_typedef(types, typedef_name, ptr) > 0);
}

static int setup(void **state)
{
	types = btf__new_empty();
	assert_non_null(types);
	number = btf__add_int(types, "int", 4, BTF_INT_SIGNED);
	task_ptr = btf__add_ptr(types, btf__add_struct(types, "task_struct", 8));
	other_ptr = btf__add_ptr(types, btf__add_struct(types, "other", 8));
	return 0;
}

static int teardown(void **state)
{
	btf__free(types);
	return 0;
}

static const char *describe(const char *event, const char *text, struct event_desc *desc)
{
	struct ev_format *fmt;
	const char *unknown;

	memset(desc, 0, sizeof(*desc));
	assert_int_equal(ev_format__parse(text, strlen(text), &fmt), 0);
	desc->fixed_size = (uint16_t)ev_format__fixed_size(fmt);
	unknown = nested_fields__describe("sched", event, fmt, types, desc);
	assert_int_equal(!unknown, !!(desc->flags & DESC_FILLED));
	/* names point into the format */
	unknown = unknown ? strdup(unknown) : NULL;
	ev_format__free(fmt);
	return unknown;
}

static void want_known(const char *event, const char *text, unsigned int nr,
		       const struct wire_fill *fills)
{
	struct event_desc desc;

	assert_null(describe(event, text, &desc));
	assert_int_equal(desc.nr_fills, nr);
	assert_memory_equal(desc.fill, fills, nr * sizeof(*fills));
}

static void want_unknown(const char *event, const char *text, const char *what)
{
	struct event_desc desc;
	char *unknown = (char *)describe(event, text, &desc);

	assert_non_null(unknown);
	assert_string_equal(unknown, what);
	free(unknown);
}

static void known(void **state)
{
	static const struct wire_fill fixed[] = { { WIRE_FILL_COMM, 1, 8 },
						  { WIRE_FILL_PID, 1, 24 },
						  { WIRE_FILL_PRIO, 1, 28 },
						  { WIRE_FILL_BYTE, 2, 32 } };
	static const struct wire_fill dynamic[] = { { WIRE_FILL_COMM_LOC, 1, 8 },
						    { WIRE_FILL_PID, 1, 12 },
						    { WIRE_FILL_PRIO, 1, 16 } };

	declare("sched_process_free", (int[]){ task_ptr }, 1);
	declare("sched_process_exit", (int[]){ task_ptr, number }, 2);
	want_known("sched_process_free", free_6_12, 3, fixed);
	want_known("sched_process_free", free_6_18, 3, dynamic);
	want_known("sched_process_exit", exit_6_18, 4, fixed);
}

static void fields(void **state)
{
	declare("sched_process_free", (int[]){ task_ptr }, 1);
	want_unknown("sched_process_free", free_more, "age");
	want_unknown("sched_process_free", free_wide, "pid");
	want_unknown("sched_process_free", free_long, "comm");
}

static void arguments(void **state)
{
	struct ev_format *fmt;
	struct event_desc desc = { .fixed_size = 32 };

	want_unknown("sched_process_free", free_6_12, "its arguments"); /* no BTF type */
	declare("sched_process_free", (int[]){ other_ptr }, 1);
	want_unknown("sched_process_free", free_6_12, "its arguments");
	declare("sched_process_exit", (int[]){ task_ptr }, 1); /* no argument for group_dead */
	want_unknown("sched_process_exit", exit_6_18, "its arguments");
	assert_int_equal(ev_format__parse(free_6_12, sizeof(free_6_12) - 1, &fmt), 0);
	assert_string_equal(nested_fields__describe("sched", "sched_process_free", fmt, NULL,
						    &desc),
			    "its arguments");
	ev_format__free(fmt);
	assert_false(nested_fields__expected("sched", "sched_process_hang"));
	assert_false(nested_fields__expected("task", "sched_process_free"));
}

/* ---- the feature ----------------------------------------------------------------------------- */

static const char switch_odd[] = HEAD("sched_switch") FIELD("char prev_comm[16]", 8, 16)
	FIELD("pid_t prev_pid", 24, 4) FIELD("int prev_mood", 28, 4) TAIL;

int statfs(const char *path, struct statfs *st)
{
	*st = (struct statfs){ .f_type = TRACEFS_MAGIC };
	return strcmp(path, TRACEFS_ROOT) ? -1 : 0;
}

int open(const char *path, int flags, ...)
{
	int fd;

	if (strcmp(path, TRACEFS_ROOT "/events/sched/sched_switch/format"))
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
	fd = memfd_create("format", MFD_CLOEXEC);
	assert_int_equal(write(fd, switch_odd, strlen(switch_odd)), strlen(switch_odd));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

struct btf *btf__load_vmlinux_btf(void)
{
	struct btf *btf = types;

	types = NULL;
	return btf;
}

static void feature(void **state)
{
	char detail[64] = "";

	declare("sched_switch", (int[]){ number, task_ptr, task_ptr, number }, 4);
	assert_int_equal(nested_fields__probe(detail, sizeof(detail)), -EOPNOTSUPP);
	assert_string_equal(detail, "sched_switch: prev_mood");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(known, setup, teardown),
		cmocka_unit_test_setup_teardown(fields, setup, teardown),
		cmocka_unit_test_setup_teardown(arguments, setup, teardown),
		cmocka_unit_test_setup_teardown(feature, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
