// SPDX-License-Identifier: GPL-2.0-only
/* Resolves -e and --filter to event types with formats and filter programs. */
#include "rec_event.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>

#include "array.h"
#include "cleanup.h"
#include "emulated.h"
#include "event_list.h"
#include "events/filter.h"
#include "events/format.h"
#include "log.h"
#include "nearest.h"
#include "perf_names.h"
#include "record/kernel/constants.h"
#include "record/kernel/kernel_types.h"
#include "record/kernel/tracefs.h"
#include "syscall.h"
#include "trace_entry.h"

static int event_new(struct rec_events *l, struct rec_event **ret_event)
{
	if (l->nr == WIRE_MAX_EVENTS)
		return log_why(-E2BIG, "a recording has at most %d events, more are given",
			       WIRE_MAX_EVENTS);
	if (array__grow(&l->v, l->nr, &l->cap))
		return log_why(-ENOMEM, "add an event: out of memory");
	*ret_event = &l->v[l->nr];
	memset(*ret_event, 0, sizeof(**ret_event));
	(*ret_event)->filter = "";
	return 0;
}

static void event_clear(struct rec_event *e)
{
	free(e->system);
	free(e->name);
	free(e->format);
	free(e->prog);
	ev_format__free(e->fmt);
	probe__clear(&e->probe);
}

int rec_events__leave_out(struct rec_events *l, const char *system, const char *name,
			  const char *why)
{
	struct unattached *u;

	if (array__grow(&l->left_out, l->nr_left_out, &l->cap_left_out))
		return -ENOMEM;
	u = &l->left_out[l->nr_left_out];
	if (asprintf(&u->name, "%s:%s", system, name) < 0)
		return -ENOMEM;
	u->why = strdup(why);
	if (!u->why) {
		free(u->name);
		return -ENOMEM;
	}
	l->nr_left_out++;
	return 0;
}

void rec_events__clear(struct rec_events *l)
{
	unsigned int i;

	for (i = 0; i < l->nr; i++)
		event_clear(&l->v[i]);
	for (i = 0; i < l->nr_left_out; i++) {
		free(l->left_out[i].name);
		free(l->left_out[i].why);
	}
	rec_events__forget_types(l);
	free(l->v);
	free(l->left_out);
	memset(l, 0, sizeof(*l));
}

/* Fields that name another task than the running one: those that ftrace's set_event_pid checks. */
static const struct {
	const char *event, *field;
	uint8_t arg; /* argument of the tracepoint that is the task, from 1 */
} pid_fields[] = {
	{ "sched_switch", "prev_pid", 2 }, { "sched_switch", "next_pid", 3 },
	{ "sched_wakeup", "pid", 1 },	   { "sched_wakeup_new", "pid", 1 },
	{ "sched_waking", "pid", 1 },
};

static void describe_pids(struct rec_event *e)
{
	size_t i;

	if (strcmp(e->system, "sched"))
		return;
	for (i = 0; i < ARRAY_SIZE(pid_fields); i++) {
		const struct ev_field *field;

		if (strcmp(e->name, pid_fields[i].event))
			continue;
		field = ev_format__find(e->fmt, pid_fields[i].field);
		if (field && field->size == 4 && field->offset + 4 <= WIRE_MAX_RECORD / 2) {
			e->desc.pid_arg[e->desc.nr_pids] = pid_fields[i].arg;
			e->desc.pid_off[e->desc.nr_pids++] = field->offset;
		}
	}
}

static int describe_dynamic(struct rec_event *e)
{
	unsigned int i;

	for (i = 0; i < ev_format__nr_fields(e->fmt); i++) {
		const struct ev_field *field = ev_format__field(e->fmt, i);

		if (field->kind != EV_FIELD_DATA_LOC && field->kind != EV_FIELD_REL_LOC)
			continue;
		if (e->desc.nr_dyn == WIRE_MAX_DYN || field->offset & 3 ||
		    field->offset > WIRE_MAX_RECORD / 2)
			return -E2BIG;
		e->desc.dyn_off[e->desc.nr_dyn++] =
			field->offset | (field->kind == EV_FIELD_REL_LOC ? 0x8000 : 0);
	}
	return 0;
}

struct btf *rec_events__kernel_types(struct rec_events *l)
{
	if (!l->btf)
		l->btf = kernel_types__load();
	return l->btf;
}

static int describe(struct rec_events *l, struct rec_event *e)
{
	uint32_t fixed = ev_format__fixed_size(e->fmt);

	if (fixed < 8 || fixed > WIRE_MAX_RECORD / 2)
		return -E2BIG;
	e->desc.fixed_size = fixed;
	e->desc.common_type = ev_format__id(e->fmt);
	describe_pids(e);
	return describe_dynamic(e);
}

/* Adds fields to sys_enter_X for the strings that arguments point to; ftrace does not fill them. */
static int describe_syscall(struct rec_event *e, bool native)
{
	const char *name = e->name + strlen("sys_enter_");
	struct ev_syscall_string strings[EV_SYSCALL_ARGS];
	unsigned int nr = 0, i;
	char *text;
	int err;

	e->kind = STK_KIND_SYSCALL;
	e->syscall_exit = !strncmp(e->name, "sys_exit_", 9);
	if (e->syscall_exit)
		name = e->name + strlen("sys_exit_");
	e->syscall_nr = syscall__number(name);
	if (e->syscall_nr < 0)
		return e->syscall_nr;
	if (e->syscall_exit || native)
		return 0;
	err = ev_format__syscall_text(e->format, strlen(e->format), &text, strings, &nr);
	if (err)
		return err;
	free(e->format);
	e->format = text;
	nr = MIN(nr, (unsigned int)WIRE_MAX_STRINGS);
	for (i = 0; i < nr; i++) {
		e->desc.string_arg[i] = strings[i].arg | (strings[i].is_argv ? 0x80 : 0);
		e->desc.string_loc[i] = strings[i].offset;
	}
	e->desc.nr_strings = nr;
	return 0;
}

static int compile_filter(struct rec_event *e, const char *filter,
			  const struct filter_features *features)
{
	_cleanup_free_ struct filter_prog *prog = malloc(sizeof(*prog));
	char why[FILTER_ERROR_SIZE] = "";
	int err;

	if (!prog)
		return -ENOMEM;
	err = filter__compile(e->fmt, filter, features, prog, why, sizeof(why));
	if (err) {
		log_err(0, "filter '%s' of %s:%s: %s", filter, e->system, e->name, why);
		return err;
	}
	e->filter = filter;
	e->prog = take_ptr(prog);
	e->desc.flags |= DESC_FILTER;
	return 0;
}

/*
 * Replaces names of enum constants in the format by numbers, which readers need.  If that fails the
 * format is not changed, and its events are printed field by field.
 */
static int resolve_constants(struct rec_events *l, struct rec_event *e)
{
	struct ev_format *fmt;
	unsigned int nr;
	char *text;
	int err;

	if (!rec_events__kernel_types(l))
		return errno == ENOMEM ? -ENOMEM : 0;
	err = ev_format__resolve(e->format, strlen(e->format), constants__lookup, l->btf, &text,
				 &nr);
	if (err)
		return err;
	err = ev_format__parse(text, strlen(text), &fmt);
	if (err) {
		free(text);
		return err;
	}
	ev_format__free(e->fmt);
	free(e->format);
	e->fmt = fmt;
	e->format = text;
	return 0;
}

/* For a tracepoint that the kernel lacks. */
static int fill_emulated(struct rec_event *e, const char *full)
{
	e->emulated = emulated__find(full);
	if (!e->emulated)
		return -ENOENT;
	e->kind = STK_KIND_EMULATED;
	e->desc.emulated = e->emulated->id;
	e->desc.flags |= e->emulated->is_return ? DESC_RETURN : 0;
	e->format = strdup(e->emulated->format);
	return e->format ? 0 : -ENOMEM;
}

/* Fills a new event.  -ENOMEM concerns all; other errors only leave it out under a glob. */
static int event_fill(struct rec_events *l, struct rec_event *e, const char *full,
		      const char **ret_why)
{
	const char *colon = strchr(full, ':');
	int err;

	e->system = strndup(full, colon - full);
	e->name = strdup(colon + 1);
	if (!e->system || !e->name)
		return -ENOMEM;
	*ret_why = "its format cannot be read";
	err = tracefs__format(e->system, e->name, &e->format);
	if (err == -ENOENT && !l->native)
		err = fill_emulated(e, full);
	if (err)
		return err;
	if (!strcmp(e->system, "syscalls")) {
		*ret_why = "the number of its system call is unknown";
		err = describe_syscall(e, l->native);
		if (err)
			return err;
	}
	*ret_why = "its format cannot be parsed";
	err = ev_format__parse(e->format, strlen(e->format), &e->fmt);
	if (err)
		return err;
	if (e->kind == STK_KIND_SYSCALL && !l->native && !ev_format__fits_syscall(e->fmt)) {
		*ret_why = "its fields are not those of a system call";
		return -EOPNOTSUPP;
	}
	if (!ev_format__compiled(e->fmt)) {
		err = resolve_constants(l, e);
		if (err)
			return err;
	}
	*ret_why = "its record is too large or has too many dynamic fields";
	return describe(l, e);
}

static bool already_there(const struct rec_events *l, const char *full)
{
	const char *colon = strchr(full, ':');
	unsigned int i;

	for (i = 0; i < l->nr; i++)
		if (strlen(l->v[i].system) == (size_t)(colon - full) &&
		    !strncmp(l->v[i].system, full, colon - full) &&
		    !strcmp(l->v[i].name, colon + 1))
			return true;
	return false;
}

/* Events that are defined through tracefs are listed, but have no tracepoint to attach to. */
static const char *not_attachable(const char *full)
{
	if (!strncmp(full, "kprobes:", 8) || !strncmp(full, "uprobes:", 8) ||
	    !strncmp(full, "emulated:", 10) || !strncmp(full, "eprobes:", 8))
		return "not a tracepoint, but defined through tracefs";
	return NULL;
}

/* An event that cannot be recorded is left out under a glob; by name it is an error. */
static int refuse(struct rec_events *l, const char *full, bool glob, const char *why)
{
	const char *colon = strchr(full, ':');
	_cleanup_free_ char *system = strndup(full, colon - full);

	if (!glob)
		return log_why(-EINVAL, "%s is %s", full, why);
	return system ? rec_events__leave_out(l, system, colon + 1, why) : -ENOMEM;
}

static int add_one(struct rec_events *l, const char *full, bool glob, const char *filter,
		   const struct filter_features *features)
{
	const char *why = not_attachable(full);
	struct rec_event *e;
	int err;

	if (why)
		return refuse(l, full, glob, why);
	if (already_there(l, full))
		return glob ? 0 : log_why(-EEXIST, "event %s is specified twice", full);
	err = event_new(l, &e);
	if (err)
		return err;
	e->globbed = glob;
	err = event_fill(l, e, full, &why);
	if (err) {
		event_clear(e);
		if (glob && err != -ENOMEM)
			return refuse(l, full, true, why);
		return log_err(err, "event %s: %s", full, why);
	}
	if (filter && l->native)
		e->filter = filter;
	else if (filter)
		err = compile_filter(e, filter, features);
	if (err)
		event_clear(e);
	else
		l->nr++;
	return err;
}

/* "sched:sched_switch", "sched:*", "sched", "sched_switch" */
static bool spec_matches(const char *spec, const char *full)
{
	const char *colon = strchr(full, ':');

	if (strchr(spec, ':'))
		return !fnmatch(spec, full, 0);
	if (!fnmatch(spec, colon + 1, 0))
		return true;
	return strlen(spec) == (size_t)(colon - full) && !strncmp(spec, full, colon - full);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int complain(const char *spec, char **all, size_t nr_all)
{
	if (strchr(spec, ' '))
		log_err(0, "no event matches '%s': separate events by commas", spec);
	else if (!perf_names__complain(spec))
		nearest__complain(spec, all, nr_all);
	return -ENOENT;
}

static int add_spec(struct rec_events *l, const char *spec, const char *filter,
		    const struct filter_features *features, char **all, size_t nr_all)
{
	bool glob = strpbrk(spec, "*?[") || !strchr(spec, ':');
	unsigned int found = 0;
	size_t i;
	int err;

	for (i = 0; i < nr_all; i++) {
		if (!spec_matches(spec, all[i]))
			continue;
		found++;
		err = add_one(l, all[i], glob, filter, features);
		if (err)
			return err;
	}
	/* '*:*' means all tracepoints, not function probes */
	for (i = 0; *spec != '*' && i < nr_emulated_events; i++) {
		char full[128];

		snprintf(full, sizeof(full), "%s:%s", emulated_events[i].system,
			 emulated_events[i].name);
		if (!spec_matches(spec, full) ||
		    bsearch(&(char *){ full }, all, nr_all, sizeof(*all), compare_names))
			continue;
		if (l->native && glob)
			continue;
		if (l->native)
			return log_why(
				-EOPNOTSUPP,
				"%s: this kernel lacks this tracepoint, and emulating it by probes "
				"needs BPF, not ftrace",
				full);
		found++;
		err = add_one(l, full, glob, filter, features);
		if (err)
			return err;
	}
	return found ? 0 : complain(spec, all, nr_all);
}

static enum stk_event_kind probe_kind(enum probe_how how)
{
	if (how == PROBE_USDT)
		return STK_KIND_USDT;
	return how == PROBE_FUNCTION || how == PROBE_RETURN ? STK_KIND_FUNCTION :
							      STK_KIND_USER_FUNCTION;
}

/* Takes ownership of what pe holds. */
static int add_probe(struct rec_events *l, struct probe_event *pe, bool glob, const char *filter,
		     const struct filter_features *features)
{
	_cleanup_free_ char *full = NULL;
	struct rec_event *e;
	int err;

	if (asprintf(&full, "%s:%s", pe->system, pe->event) < 0) {
		full = NULL;
		return -ENOMEM;
	}
	if (already_there(l, full))
		return glob ? 0 : log_why(-EEXIST, "event %s is specified twice", full);
	err = event_new(l, &e);
	if (err)
		return err;
	e->system = take_ptr(pe->system);
	e->name = take_ptr(pe->event);
	e->format = take_ptr(pe->format);
	e->probe = pe->probe;
	pe->probe = (struct probe){ 0 };
	e->globbed = glob;
	e->kind = probe_kind(e->probe.how);
	e->desc.flags |= e->kind == STK_KIND_FUNCTION ? 0 : DESC_USER;
	if (e->probe.how == PROBE_RETURN || e->probe.how == PROBE_USER_RETURN)
		e->desc.flags |= DESC_RETURN;
	e->desc.nr_args = e->probe.nr_args;
	e->desc.fixed_size = 16 + 8 * e->probe.nr_args;
	err = ev_format__parse(e->format, strlen(e->format), &e->fmt);
	if (!err && filter)
		err = compile_filter(e, filter, features);
	if (err)
		event_clear(e);
	else
		l->nr++;
	return err;
}

static int add_probes(struct rec_events *l, const char *spec, const char *filter,
		      const struct filter_features *features)
{
	struct probe_events probes = { 0 };
	unsigned int i;
	int err;

	err = probe__resolve(spec, l->syms, &probes);
	for (i = 0; i < probes.nr && !err; i++)
		err = add_probe(l, &probes.v[i], probes.globbed, filter, features);
	probe_events__clear(&probes);
	return err;
}

int rec_events__add(struct rec_events *l, const char *spec, const char *filter,
		    const struct filter_features *features)
{
	_cleanup_free_ char *copy = strdup(spec);
	char **all, *one, *rest = copy;
	size_t nr_all;
	int err;

	if (!copy)
		return -ENOMEM;
	err = tracefs__events(&all, &nr_all);
	if (err)
		return log_err(err, "read the list of tracepoints in tracefs");
	while (!err && (one = event_list__next(&rest))) {
		if (!*one)
			err = log_why(-EINVAL, "an event name is empty in '%s'", spec);
		else if (probe__is_spec(one) && l->native)
			err = log_why(-EOPNOTSUPP, "%s: function probes need BPF, not ftrace", one);
		else if (probe__is_spec(one))
			err = add_probes(l, one, filter, features);
		else
			err = add_spec(l, one, filter, features, all, nr_all);
	}
	tracefs__free_events(all, nr_all);
	return err;
}

void rec_events__forget_types(struct rec_events *l)
{
	btf__free(l->btf);
	l->btf = NULL;
}

/* Adds an event that is not the kernel's. */
static int add_own(struct rec_events *l, enum stk_event_kind kind, const char *system,
		   const char *name, const char *fields)
{
	struct rec_event *e;
	int err;

	err = event_new(l, &e);
	if (err)
		return err;
	e->kind = kind;
	e->system = strdup(system);
	e->name = strdup(name);
	if (asprintf(&e->format, "name: %s\nID: 0\n" TRACE_ENTRY_FORMAT "%s", name, fields) < 0)
		e->format = NULL;
	if (!e->system || !e->name || !e->format) {
		event_clear(e);
		return -ENOMEM;
	}
	err = ev_format__parse(e->format, strlen(e->format), &e->fmt);
	if (err) {
		event_clear(e);
		return err;
	}
	e->desc.fixed_size = ev_format__fixed_size(e->fmt);
	l->nr++;
	return 0;
}

int rec_events__add_sample(struct rec_events *l, const char *name)
{
	return add_own(l, STK_KIND_SAMPLE, "sample", name,
		       FORMAT_IP "\n"
				 "print fmt: \"ip=%pS\", (void *)REC->ip\n");
}

int rec_events__add_lost(struct rec_events *l)
{
	return add_own(l, STK_KIND_TRACEPOINT, LOST_EVENTS_SYSTEM, LOST_EVENTS_NAME,
		       "print fmt: \"\"\n");
}
