// SPDX-License-Identifier: GPL-2.0-only
/* Compares what an answer needs with the event types of the recording. */
#include "need.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "event_list.h"
#include "events/filter.h"
#include "events/format.h"
#include "log.h"
#include "presets.h"
#include "reading.h"

#define MAX_LISTED 40 /* names in one message */

/* A list of names in a message, each once. */
struct names {
	struct strbuf text;
	unsigned int nr;
};

static bool is_listed(const struct names *l, const char *name)
{
	const char *at = l->text.s;
	size_t len = strlen(name);

	for (; at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (!strncmp(at, name, len) && (at[len] == ',' || !at[len]))
			return true;
	}
	return false;
}

static void add_name(struct names *l, const char *name)
{
	if (is_listed(l, name))
		return;
	l->nr++;
	if (l->nr <= MAX_LISTED)
		strbuf__printf(&l->text, "%s%s", l->nr > 1 ? ", " : "", name);
	else if (l->nr == MAX_LISTED + 1)
		strbuf__puts(&l->text, " and more");
}

static const char *list_text(const struct names *l)
{
	return l->text.s ?: "none";
}

/* True when out of memory: no message is better than a wrong one. */
static bool has_type(const struct reading *rd, const char *globs)
{
	unsigned int i, nr = stk_reader__nr_types(rd->reader);

	for (i = 0; i < nr; i++)
		if (event__matches(rd->reader, globs, stk_reader__type(rd->reader, i)))
			return true;
	return false;
}

/* The entries for which the recording has no event type, separated by commas; NULL: none. */
static const char *missing(const struct reading *rd, const char *const *globs, struct strbuf *b)
{
	for (; *globs && !rd->code; globs++) /* what a damaged recording lacked is unknown */
		if (!has_type(rd, *globs))
			strbuf__printf(b, "%s%s", b->len ? "," : "", *globs);
	return b->s;
}

/* An answer from several events puts together what may have happened on several CPUs. */
static void warn_cpus(const struct reading *rd)
{
	const char *cpus = stk_reader__meta(rd->reader, "selected.cpus");

	if (cpus)
		log_warn(
			"'%s' has the events of CPUs %s only: what began or ended on another CPU is "
			"missing, or seems to take longer; record without -C",
			rd->path, cpus);
}

int need__events(const struct reading *rd, const char *const *globs, const char *how)
{
	int code = need__counted(rd, globs, how);

	if (!code)
		warn_cpus(rd);
	return code;
}

int need__counted(const struct reading *rd, const char *const *globs, const char *how)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	const char *lacks = missing(rd, globs, &b);

	if (!lacks)
		return CMD_OK;
	if (how)
		log_err(0, "'%s' lacks the events %s: record with 'stackonce record %s'", rd->path,
			lacks, how);
	else
		log_err(0, "'%s' lacks the events %s: record with \"stackonce record -e '%s'\"",
			rd->path, lacks, lacks);
	return CMD_FAILURE;
}

void need__useful(const struct reading *rd, const char *const *globs, const char *how,
		  const char *unknown)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	const char *lacks = missing(rd, globs, &b);

	if (lacks)
		log_warn("'%s' lacks the events %s: %s; record with 'stackonce record %s'",
			 rd->path, lacks, unknown, how);
}

/* ---- -e -------------------------------------------------------------------------------------- */

static const char *list_types(const struct reading *rd, struct names *l)
{
	unsigned int i, nr = stk_reader__nr_types(rd->reader);

	for (i = 0; i < nr; i++) {
		_cleanup_free_ char *name = event__full_name(stk_reader__type(rd->reader, i));

		add_name(l, name ?: "");
	}
	return list_text(l);
}

/* Counts the globs of one -e, and lists those that match no event type. */
static void check_globs(const struct reading *rd, const char *globs, struct names *missing,
			unsigned int *found)
{
	_cleanup_free_ char *copy = strdup(globs);
	char *glob, *rest = copy;

	while ((glob = event_list__next(&rest))) {
		if (has_type(rd, glob))
			++*found;
		else
			add_name(missing, glob);
	}
}

int need__selected(const struct reading *rd)
{
	const struct selection *sel = &rd->sel;
	struct names types = { 0 }, missing = { 0 };
	unsigned int i, found = 0;

	for (i = 0; i < sel->nr_choices && !rd->code; i++)
		if (sel->choices[i].globs)
			check_globs(rd, sel->choices[i].globs, &missing, &found);
	if (missing.nr && found)
		log_warn("'%s' has no event '%s'", rd->path, list_text(&missing));
	else if (missing.nr)
		log_err(0, "'%s' has no event '%s'; it has: %s", rd->path, list_text(&missing),
			list_types(rd, &types));
	strbuf__free(&types.text);
	strbuf__free(&missing.text);
	return missing.nr && !found ? CMD_FAILURE : CMD_OK;
}

/* ---- --filter -------------------------------------------------------------------------------- */

/* How a filter applies to the event types that it is for. */
struct filter_use {
	unsigned int applies;
	struct names lacking; /* types to which it cannot be applied */
	char why[FILTER_ERROR_SIZE]; /* the first of them cannot be tested */
};

static int check_filter(struct reading *rd, const struct event_choice *c, struct filter_use *ret)
{
	unsigned int i, nr = stk_reader__nr_types(rd->reader);
	char why[FILTER_ERROR_SIZE];

	for (i = 0; i < nr; i++) {
		const struct stk_event_type *t = stk_reader__type(rd->reader, i);
		_cleanup_free_ char *name = NULL;
		int err;

		if (c->globs ? !event__matches(rd->reader, c->globs, t) :
			       !selection__has_type(&rd->sel, t))
			continue;
		err = event_filters__check(rd->sel.filters, c->nr, t, why, sizeof(why));
		if (err == -ENOMEM || err == -ENOBUFS)
			return err;
		ret->applies += !err;
		if (!err)
			continue;
		if (!ret->lacking.nr)
			strcpy(ret->why, why);
		name = event__full_name(t);
		add_name(&ret->lacking, name ?: "");
	}
	return 0;
}

static int judge_filter(struct reading *rd, const struct event_choice *c, bool at_end)
{
	struct filter_use use = { 0 };
	int err = check_filter(rd, c, &use), code = CMD_OK;

	if (err) {
		code = CMD_FAILURE;
		log_err(err, "compile the filter '%s'", c->filter);
	} else if (use.lacking.nr && !use.applies) {
		code = CMD_FAILURE;
		log_err(0, "filter '%s' of %s: %s", c->filter, list_text(&use.lacking), use.why);
	} else if (use.lacking.nr && at_end) {
		use.why[strcspn(use.why, ",")] = '\0'; /* without the fields of one type */
		log_warn("filter '%s' selects no events of %s: %s", c->filter,
			 list_text(&use.lacking), use.why);
	}
	strbuf__free(&use.lacking.text);
	return code;
}

int need__filters(struct reading *rd, bool at_end)
{
	const struct selection *sel = &rd->sel;
	uint64_t untested;
	unsigned int i;
	int code = CMD_OK;

	if (!sel->has_filter || rd->code)
		return CMD_OK;
	for (i = 0; i < sel->nr_choices && !code; i++)
		if (sel->choices[i].filter)
			code = judge_filter(rd, &sel->choices[i], at_end);
	for (i = 0; i < rd->nr_paths && selection__is_file(rd->paths[i]); i++)
		;
	if (!code && !at_end && event_filters__user_names(sel->filters) && i < rd->nr_paths)
		log_warn("a filter tests names of user stacks, but '%s' is a pipe, in which they "
			 "follow the events: only names in files of this machine match",
			 rd->paths[i]);
	untested = event_filters__untested(sel->filters);
	if (untested && at_end)
		log_warn("'%s': events recorded without the fields that a filter tests are not "
			 "selected: %" PRIu64,
			 rd->path, untested);
	return code;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void add_fields(struct names *l, const struct ev_format *format)
{
	unsigned int i;

	for (i = 0; i < ev_format__nr_fields(format); i++)
		if (strncmp(ev_format__field(format, i)->name, "common_", 7))
			add_name(l, ev_format__field(format, i)->name);
}

int need__field(struct reading *rd, const char *name)
{
	unsigned int i, nr = stk_reader__nr_types(rd->reader);
	struct names fields = { 0 };
	bool found = false;
	int err = 0;

	for (i = 0; i < nr && !found && err != -ENOMEM; i++) {
		const struct stk_event_type *t = stk_reader__type(rd->reader, i);
		const char *text = stk_event_type__format(t);
		struct ev_format *format;

		if (!selection__has_type(&rd->sel, t))
			continue;
		err = *text ? ev_format__parse(text, strlen(text), &format) : -EINVAL;
		if (err)
			continue;
		found = ev_format__find(format, name);
		add_fields(&fields, format);
		ev_format__free(format);
	}
	if (err == -ENOMEM)
		log_err(err, "look up the field '%s'", name);
	else if (!found)
		log_err(0, "no %sevent in '%s' has a field '%s'; the fields are: %s",
			rd->sel.has_events ? "selected " : "", rd->path, name, list_text(&fields));
	strbuf__free(&fields.text);
	return found ? CMD_OK : CMD_FAILURE;
}

/* ---- selected tasks -------------------------------------------------------------------------- */

void need__all_tasks(const struct reading *rd, const struct preset *p)
{
	const char *target = stk_reader__meta(rd->reader, "target");

	if (p && p->needs_all && target && strcmp(target, "all"))
		log_warn("'%s' has the events of selected tasks only, but %s: record with "
			 "'stackonce record -a --preset %s'",
			 rd->path, p->needs_all, p->name);
}
