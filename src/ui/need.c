// SPDX-License-Identifier: GPL-2.0-only
/* Compares what an answer needs with the event types of the recording. */
#include "need.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
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

	for (; at && *at; at = strchr(at, ' '), at += at ? 1 : 0)
		if (!strncmp(at, name, len) && (at[len] == ',' || !at[len]))
			return true;
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

int need__events(const struct reading *rd, const char *const *globs, const char *how)
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

/* ---- --event --------------------------------------------------------------------------------- */

static const char *list_types(const struct reading *rd, struct names *l)
{
	unsigned int i, nr = stk_reader__nr_types(rd->reader);

	for (i = 0; i < nr; i++) {
		_cleanup_free_ char *name = event__full_name(stk_reader__type(rd->reader, i));

		add_name(l, name ?: "");
	}
	return list_text(l);
}

int need__selected(const struct reading *rd)
{
	_cleanup_free_ char *copy = rd->sel.event ? strdup(rd->sel.event) : NULL;
	_cleanup_(strbuf__free) struct strbuf missing = { 0 };
	struct names types = { 0 };
	char *glob, *rest = copy;
	unsigned int nr = 0, found = 0;

	while (!rd->code && (glob = strsep(&rest, ","))) {
		if (has_type(rd, glob))
			found++;
		else
			strbuf__printf(&missing, "%s%s", nr++ ? "," : "", glob);
	}
	if (!nr)
		return CMD_OK;
	if (found)
		log_warn("'%s' has no event '%s'", rd->path, missing.s ?: "");
	else
		log_err(0, "'%s' has no event '%s'; it has: %s", rd->path, missing.s ?: "",
			list_types(rd, &types));
	strbuf__free(&types.text);
	return found ? CMD_OK : CMD_FAILURE;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void add_fields(struct names *l, const struct ev_format *format)
{
	unsigned int i;

	for (i = 0; i < ev_format__nr_fields(format); i++)
		if (strncmp(ev_format__field(format, i)->name, "common_", 7))
			add_name(l, ev_format__field(format, i)->name);
}

int need__field(const struct reading *rd, const char *name)
{
	unsigned int i, nr = stk_reader__nr_types(rd->reader);
	struct names fields = { 0 };
	bool found = false;

	for (i = 0; i < nr && !found; i++) {
		const struct stk_event_type *t = stk_reader__type(rd->reader, i);
		const char *text = stk_event_type__format(t);
		struct ev_format *format;

		if (rd->sel.event && !event__matches(rd->reader, rd->sel.event, t))
			continue;
		if (!*text || ev_format__parse(text, strlen(text), &format))
			continue;
		found = ev_format__find(format, name);
		add_fields(&fields, format);
		ev_format__free(format);
	}
	if (!found)
		log_err(0, "no %sevent in '%s' has a field '%s'; the fields are: %s",
			rd->sel.event ? "selected " : "", rd->path, name, list_text(&fields));
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
