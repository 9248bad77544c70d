// SPDX-License-Identifier: GPL-2.0-only
/* The table of fields that a program can build from a tracepoint's arguments. */
#include "nested_fields.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>

#include "cleanup.h"
#include "events/format.h"
#include "tracefs.h"
#include "wire.h"

#define ARGUMENTS "its arguments"

/* Types of a tracepoint's arguments, one letter each. */
#define TASK 't' /* struct task_struct * */
#define PID 'p' /* struct pid * */
#define NUMBER 'n' /* an integer or bool */

/* Argument types; a release may have only the first ones. */
static const struct {
	const char *event, *args;
} events[] = {
	{ "sched_switch", "nttn" },    { "sched_waking", "t" },
	{ "sched_wakeup", "t" },       { "sched_wakeup_new", "t" },
	{ "sched_process_free", "t" }, { "sched_process_exit", "tn" },
	{ "sched_process_wait", "p" }, { "sched_process_fork", "tt" },
};

#define ONE(event, field, kind, arg)                \
	{                                           \
		event, field, WIRE_FILL_##kind, arg \
	}
#define TASK_EVENT(event, arg) \
	ONE(event, "comm", COMM, arg), ONE(event, "pid", PID, arg), ONE(event, "prio", PRIO, arg)
#define WAKEUP(event) TASK_EVENT(event, 1), ONE(event, "target_cpu", CPU, 1)

static const struct {
	const char *event, *field;
	uint8_t kind, arg;
} rows[] = {
	ONE("sched_switch", "prev_comm", COMM, 2),
	ONE("sched_switch", "prev_pid", PID, 2),
	ONE("sched_switch", "prev_prio", PRIO, 2),
	ONE("sched_switch", "prev_state", STATE, 4),
	ONE("sched_switch", "next_comm", COMM, 3),
	ONE("sched_switch", "next_pid", PID, 3),
	ONE("sched_switch", "next_prio", PRIO, 3),
	WAKEUP("sched_waking"),
	WAKEUP("sched_wakeup"),
	WAKEUP("sched_wakeup_new"),
	TASK_EVENT("sched_process_free", 1),
	TASK_EVENT("sched_process_exit", 1),
	ONE("sched_process_exit", "group_dead", BYTE, 2),
	ONE("sched_process_wait", "comm", COMM, 0),
	ONE("sched_process_wait", "pid", PID_NR, 1),
	ONE("sched_process_wait", "prio", PRIO, 0),
	ONE("sched_process_fork", "parent_comm", COMM, 1),
	ONE("sched_process_fork", "parent_pid", PID, 1),
	ONE("sched_process_fork", "child_comm", COMM, 2),
	ONE("sched_process_fork", "child_pid", PID, 2),
};

const char *nested_fields__event(size_t i)
{
	return i < ARRAY_SIZE(events) ? events[i].event : NULL;
}

static const char *args_of(const char *system, const char *name)
{
	size_t i;

	if (strcmp(system, "sched"))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (!strcmp(events[i].event, name))
			return events[i].args;
	return NULL;
}

bool nested_fields__expected(const char *system, const char *name)
{
	return args_of(system, name);
}

static const struct btf_type *plain(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static char letter_of(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = plain(btf, id);
	const char *name;

	if (!t || btf_is_int(t))
		return t ? NUMBER : 0;
	if (!btf_is_ptr(t))
		return 0;
	t = plain(btf, t->type);
	if (!t || !btf_is_struct(t))
		return 0;
	name = btf__name_by_offset(btf, t->name_off);
	return !strcmp(name, "task_struct") ? TASK : !strcmp(name, "pid") ? PID : 0;
}

/*
 * How many of these arguments the tracepoint has.  Its handlers are called with (void *data, ...).
 */
static unsigned int known_args(const struct btf *btf, const char *event, const char *args)
{
	const struct btf_type *t;
	unsigned int i;
	char name[64];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", event);
	id = btf ? btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) : -1;
	t = id < 0 ? NULL : plain(btf, (uint32_t)id);
	t = t && btf_is_ptr(t) ? plain(btf, t->type) : NULL;
	if (!t || !btf_is_func_proto(t))
		return 0;
	for (i = 0; args[i] && i + 1 < btf_vlen(t); i++)
		if (letter_of(btf, btf_params(t)[i + 1].type) != args[i])
			break;
	return i;
}

/* Task names are dynamic strings since 6.18. */
static bool is_string_loc(const struct ev_field *f)
{
	return f->kind == EV_FIELD_DATA_LOC && f->is_char && !(f->offset & 3);
}

static bool fits(const struct ev_field *f, enum wire_fill_kind kind)
{
	switch (kind) {
	case WIRE_FILL_COMM:
		return is_string_loc(f) || (f->kind == EV_FIELD_STRING && f->size == 16);
	case WIRE_FILL_BYTE:
		return f->kind == EV_FIELD_INT && f->size == 1;
	case WIRE_FILL_STATE:
		return f->kind == EV_FIELD_INT && f->size == 8 && !(f->offset & 7);
	default:
		return f->kind == EV_FIELD_INT && f->size == 4;
	}
}

/* Index of the row; -1: none. */
static int row_of(const char *event, const struct ev_field *f)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].event, event) && !strcmp(rows[i].field, f->name) &&
		    fits(f, rows[i].kind))
			return (int)i;
	return -1;
}

const char *nested_fields__describe(const char *system, const char *name,
				    const struct ev_format *fmt, const struct btf *btf,
				    struct event_desc *desc)
{
	const char *args = args_of(system, name);
	unsigned int nr_args, i;

	if (!args)
		return name;
	nr_args = known_args(btf, name, args);
	if (!nr_args || desc->fixed_size > WIRE_MAX_FILLED)
		return ARGUMENTS;
	for (i = 0; i < ev_format__nr_fields(fmt); i++) {
		const struct ev_field *f = ev_format__field(fmt, i);
		int row;

		if (f->is_common)
			continue;
		row = row_of(name, f);
		if (row < 0 || desc->nr_fills == WIRE_MAX_FILLS)
			return f->name;
		if (rows[row].arg > nr_args)
			return ARGUMENTS;
		desc->fill[desc->nr_fills++] =
			(struct wire_fill){ .kind = is_string_loc(f) ? WIRE_FILL_COMM_LOC :
								       rows[row].kind,
					    .arg = rows[row].arg,
					    .off = (uint16_t)f->offset };
	}
	desc->nr_fill_args = (uint16_t)nr_args;
	desc->flags |= DESC_FILLED;
	return NULL;
}

static int probe_event(const char *event, const struct btf *btf, char *ret_detail, size_t len)
{
	_cleanup_free_ char *text = NULL;
	struct event_desc desc = { 0 };
	struct ev_format *fmt;
	const char *unknown;
	int err;

	err = tracefs__format("sched", event, &text);
	if (!err)
		err = ev_format__parse(text, strlen(text), &fmt);
	if (err)
		return err;
	desc.fixed_size = (uint16_t)ev_format__fixed_size(fmt);
	unknown = nested_fields__describe("sched", event, fmt, btf, &desc);
	if (unknown)
		snprintf(ret_detail, len, "%s: %s", event, unknown);
	ev_format__free(fmt);
	return unknown ? -EOPNOTSUPP : 0;
}

int nested_fields__probe(char *ret_detail, size_t len)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int err = btf ? 0 : -errno;
	const char *event;
	size_t i;

	for (i = 0; !err && (event = nested_fields__event(i)); i++)
		err = probe_event(event, btf, ret_detail, len);
	btf__free(btf);
	return err;
}
