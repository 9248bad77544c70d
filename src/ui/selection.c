// SPDX-License-Identifier: GPL-2.0-only
/* Selects events by type, fields, task, CPU and time. */
#include "selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "reading.h"

#define MAX_CHOICES 1024 /* as in record */

/* ---- the command line ------------------------------------------------------------------------ */

static int add_choice(struct reading *rd, const char *globs, const char *filter)
{
	struct selection *sel = &rd->sel;

	if (sel->nr_choices == MAX_CHOICES)
		return ui__usage_error(rd->command, "more than %d events are given", MAX_CHOICES);
	if (array__grow(&sel->choices, sel->nr_choices, &sel->max_choices))
		return -ENOMEM;
	sel->choices[sel->nr_choices++] =
		(struct event_choice){ .globs = globs, .filter = filter, .nr = -1 };
	return CMD_OK;
}

/* "a,,b" */
static bool has_empty_item(const char *list)
{
	size_t len = strlen(list);

	return !len || list[0] == ',' || list[len - 1] == ',' || strstr(list, ",,");
}

int selection__take_event(void *into, const struct opt *o, const char *arg)
{
	struct reading *rd = into;

	if (has_empty_item(arg))
		return ui__usage_error(rd->command, "an event name is empty in '%s'", arg);
	rd->sel.has_events = true;
	return add_choice(rd, arg, NULL);
}

int selection__take_filter(void *into, const struct opt *o, const char *arg)
{
	struct reading *rd = into;
	struct selection *sel = &rd->sel;
	struct event_choice *last = sel->nr_choices ? &sel->choices[sel->nr_choices - 1] : NULL;

	sel->has_filter = true;
	if (!sel->has_events)
		return add_choice(rd, NULL, arg);
	if (last->filter)
		return ui__usage_error(
			rd->command,
			"-e '%s' has two filters: join them as (A) && (B) or (A) || (B)",
			last->globs);
	last->filter = arg;
	return CMD_OK;
}

int selection__take_time(void *into, const struct opt *o, const char *arg)
{
	struct selection *sel = &((struct reading *)into)->sel;
	struct time_span span;
	int err;

	err = time_span__parse(arg, &span);
	if (err)
		return err == -ENOMEM ? err : -EINVAL;
	if (array__grow(&sel->times, sel->nr_times, &sel->max_times))
		return -ENOMEM;
	sel->times[sel->nr_times++] = span;
	return CMD_OK;
}

int selection__take_comm(void *into, const struct opt *o, const char *arg)
{
	struct selection *sel = &((struct reading *)into)->sel;

	if (array__grow(&sel->comms, sel->nr_comms, &sel->max_comms))
		return -ENOMEM;
	sel->comms[sel->nr_comms++] = arg;
	return CMD_OK;
}

void selection__complete(struct selection *sel)
{
	sel->any = sel->nr_choices || sel->nr_times || sel->nr_comms || sel->pid.nr ||
		   sel->tid.nr || sel->cpu.nr;
}

int selection__start(struct selection *sel, struct stk_reader *r,
		     const struct event_filter_opts *names)
{
	unsigned int i;
	int err;

	sel->reader = r;
	if (!sel->has_filter)
		return 0;
	event_filters__free(sel->filters);
	err = event_filters__new(r, names, &sel->filters);
	for (i = 0; i < sel->nr_choices && !err; i++) {
		struct event_choice *c = &sel->choices[i];

		if (!c->filter)
			continue;
		c->nr = event_filters__add(sel->filters, c->filter);
		err = MIN(c->nr, 0);
	}
	return err;
}

void selection__clear(struct selection *sel)
{
	unsigned int i;

	for (i = 0; i < sel->nr_types; i++)
		free(sel->types[i].filters);
	event_filters__free(sel->filters);
	free(sel->types);
	free(sel->choices);
	free(sel->times);
	free(sel->comms);
	num_set__free(&sel->pid);
	num_set__free(&sel->tid);
	num_set__free(&sel->cpu);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Reads the recordings to their ends, but none of their events. */
static int find_last_ts(const char *const *paths, unsigned int nr, uint64_t *ret_ts)
{
	const struct stk_reader_opts opts = { .size = sizeof(opts), .want = STK_WANT_FIELDS };
	const struct stk_event *e;
	struct stk_totals t = { 0 };
	struct stk_reader *r;
	int err;

	err = stk_reader__open_many(paths, nr, &opts, &r);
	if (err)
		return log_err(err, "read '%s' to its end", paths[0]);
	while ((err = stk_reader__next(r, &e)) > 0)
		;
	stk_reader__totals(r, &t);
	stk_reader__free(r);
	/* Where a recording is damaged, it ends. */
	if (err == -ENOMEM)
		return log_err(err, "read '%s' to its end", paths[0]);
	*ret_ts = t.last_ts;
	return 0;
}

bool selection__is_file(const char *path)
{
	struct stat st;

	return !(strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) &&
	       S_ISREG(st.st_mode);
}

static int find_last(const char *const *paths, unsigned int nr, struct time_base *base)
{
	_cleanup_free_ const char **again = calloc(nr, sizeof(*again));
	unsigned int i;

	if (!again)
		return log_err(-ENOMEM, "read '%s' to its end", paths[0]) ?: CMD_FAILURE;
	for (i = 0; i < nr; i++) {
		/* standard input that is a file is read from its beginning */
		again[i] = strcmp(paths[i], "-") ? paths[i] : "/dev/stdin";
		if (selection__is_file(paths[i]))
			continue;
		log_err(0, "--time: a percentage needs a file: where the recording ends is unknown "
			   "as long as it comes from a pipe");
		return CMD_FAILURE;
	}
	return find_last_ts(again, nr, &base->last_ts) ? CMD_FAILURE : CMD_OK;
}

static int find_time(struct time_span *span, const struct time_base *base, const char *path)
{
	int err = time_span__resolve(span, base);

	if (err == -ENODATA)
		log_err(0,
			"--time: '%s' does not say what time of day it was at a time of its clock: "
			"give seconds",
			path);
	else if (err)
		log_err(0, "--time: the span ends before it starts in '%s'", path);
	return err ? CMD_FAILURE : CMD_OK;
}

int selection__find_times(struct selection *sel, const char *const *paths, unsigned int nr_paths,
			  uint64_t first_ts)
{
	unsigned int i;
	int code = CMD_OK;

	sel->base = time_base__of(sel->reader, first_ts);
	for (i = 0; i < sel->nr_times && !code; i++) {
		struct time_span *span = &sel->times[i];

		if (time_span__is_absolute(span))
			continue;
		if (time_span__has(span, TIME_PERCENT) && !sel->base.last_ts)
			code = find_last(paths, nr_paths, &sel->base);
		code = code ?: find_time(span, &sel->base, paths[0]);
	}
	return code;
}

void selection__put_times(const struct selection *sel, struct strbuf *b)
{
	const char *before = " time ";
	unsigned int i;

	for (i = 0; i < sel->nr_times; i++) {
		if (time_span__is_absolute(&sel->times[i]))
			continue;
		strbuf__puts(b, before);
		time_span__put(&sel->times[i], &sel->base, b);
		before = ", ";
	}
}

bool selection__times(const struct selection *sel, uint64_t *ret_from, uint64_t *ret_to)
{
	uint64_t from = UINT64_MAX, to = 0;
	unsigned int i;

	for (i = 0; i < sel->nr_times; i++) {
		if (!time_span__is_absolute(&sel->times[i]))
			return false;
		from = MIN(from, sel->times[i].from);
		to = MAX(to, sel->times[i].to);
	}
	*ret_from = from;
	*ret_to = to;
	return true;
}

/* ---- event types ----------------------------------------------------------------------------- */

bool selection__keep(struct selection *sel, int answer)
{
	if (answer < 0)
		sel->error = sel->error ?: answer;
	return answer > 0;
}

/* By -e alone. */
static int look_at_type(struct selection *sel, const struct stk_event_type *t,
			struct selected_type *ret_type)
{
	struct selected_type s = { .state = sel->has_events ? TYPE_NO : TYPE_YES };
	unsigned int i;
	int got = 0;

	for (i = 0; i < sel->nr_choices && got >= 0; i++) {
		const struct event_choice *c = &sel->choices[i];

		got = c->globs ? event__matches(sel->reader, c->globs, t) : 0;
		if (got <= 0)
			continue;
		if (!c->filter)
			s.state = TYPE_YES;
		else if (s.state != TYPE_YES)
			s.state = TYPE_FILTERED;
		if (c->filter)
			got = array__append(&s.filters, &s.nr_filters, c->nr);
	}
	if (got < 0) {
		free(s.filters);
		return got;
	}
	*ret_type = s;
	return 0;
}

/* NULL: out of memory. */
static struct selected_type *type_of(struct selection *sel, const struct stk_event_type *t)
{
	unsigned int i = stk_event_type__index(t);
	int err = 0;

	if (i >= sel->nr_types)
		err = array__reach(&sel->types, i, &sel->nr_types);
	if (!err && sel->types[i].state == TYPE_UNKNOWN)
		err = look_at_type(sel, t, &sel->types[i]);
	selection__keep(sel, err);
	return err ? NULL : &sel->types[i];
}

bool selection__has_type(struct selection *sel, const struct stk_event_type *t)
{
	const struct selected_type *type = sel->has_events ? type_of(sel, t) : NULL;

	return !sel->has_events || (type && type->state != TYPE_NO);
}

static bool matches(struct selection *sel, unsigned int filter, const struct stk_event *e)
{
	return selection__keep(sel, event_filters__match(sel->filters, filter, e));
}

/* Whether a --filter for all events selects it. */
static bool has_common(struct selection *sel, const struct stk_event *e)
{
	unsigned int i;

	for (i = 0; i < sel->nr_choices && !sel->choices[i].globs; i++)
		if (matches(sel, sel->choices[i].nr, e))
			return true;
	return !i;
}

bool selection__has_event(struct selection *sel, const struct stk_event *e)
{
	const struct selected_type *type;
	unsigned int i;

	if (!sel->nr_choices)
		return true;
	type = type_of(sel, stk_event__type(e));
	if (!type || type->state == TYPE_NO)
		return false;
	for (i = 0; type->state == TYPE_FILTERED && i < type->nr_filters; i++)
		if (matches(sel, type->filters[i], e))
			break;
	if (type->state == TYPE_FILTERED && i == type->nr_filters)
		return false;
	return has_common(sel, e);
}

/* ---- tasks, CPUs, times ---------------------------------------------------------------------- */

bool selection__has_comm(struct selection *sel, const char *comm, bool is_idle)
{
	unsigned int i;
	int got = 0;

	for (i = 0; i < sel->nr_comms && !got; i++)
		got = globs__match(sel->comms[i], comm) ?:
			      is_idle			? globs__match(sel->comms[i], "<idle>") :
							  0;
	return !sel->nr_comms || selection__keep(sel, got);
}

/* The reader has each name once: the same address is the same name. */
static bool comm_selected(struct selection *sel, const struct stk_event *e)
{
	const char *comm = stk_event__comm(e);
	unsigned int i = ((uintptr_t)comm >> 3) % SELECTED_COMMS;
	bool is_idle = !stk_event__tid(e);

	if (sel->last_comms[i].comm != comm || sel->last_comms[i].is_idle != is_idle) {
		sel->last_comms[i].comm = comm;
		sel->last_comms[i].is_idle = is_idle;
		sel->last_comms[i].answer = selection__has_comm(sel, comm, is_idle);
	}
	return sel->last_comms[i].answer;
}

bool selection__has_time(const struct selection *sel, uint64_t from, uint64_t to)
{
	unsigned int i;

	for (i = 0; i < sel->nr_times; i++)
		if (to >= sel->times[i].from && from <= sel->times[i].to)
			return true;
	return !sel->nr_times;
}

bool selection__has_task(const struct selection *sel, uint32_t pid, uint32_t tid)
{
	if (sel->tid.nr && !num_set__has(&sel->tid, tid))
		return false;
	/* script's first column shows the tid: --pid matches it, too. */
	return !sel->pid.nr || num_set__has(&sel->pid, pid) || num_set__has(&sel->pid, tid);
}

bool selection__may_have(struct selection *sel, const struct stk_event *e)
{
	if (!selection__has_type(sel, stk_event__type(e)))
		return false;
	if ((sel->pid.nr || sel->tid.nr) &&
	    !selection__has_task(sel, stk_event__pid(e), stk_event__tid(e)))
		return false;
	return !sel->nr_comms || comm_selected(sel, e);
}

/* What is cheap and decides most comes first. */
bool selection__has(struct selection *sel, const struct stk_event *e)
{
	uint64_t ts = stk_event__ts(e);

	if (!selection__has_time(sel, ts, ts))
		return false;
	if (sel->cpu.nr && !num_set__has(&sel->cpu, stk_event__cpu(e)))
		return false;
	return selection__may_have(sel, e) && selection__has_event(sel, e);
}
