// SPDX-License-Identifier: GPL-2.0-only
/* Prints the question as a query for stackonce sql, which has a table for each event type. */
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "report.h"
#include "ui/need.h"

/* Text between two quotes, which are doubled in it. */
static void put_quoted(struct strbuf *b, const char *s, char quote)
{
	strbuf__putc(b, quote);
	for (; *s; s++) {
		if (*s == quote)
			strbuf__putc(b, quote);
		strbuf__putc(b, *s);
	}
	strbuf__putc(b, quote);
}

static const char *field_name(const char *name)
{
	return strncmp(name, "field.", 6) ? name : name + 6;
}

/* The names of the keys, each followed by a comma. */
static void put_keys(struct report *rp, struct strbuf *b)
{
	unsigned int i;

	for (i = 0; i < rp->spec.nr_keys; i++) {
		put_quoted(b, rp->keys[i].name, '"');
		strbuf__puts(b, ", ");
	}
}

/* "_kstack, _ustack", or one of them. */
static void put_stacks(const struct report *rp, struct strbuf *b)
{
	strbuf__puts(b, rp->spec.stacks & STACKS_KERNEL ? "_kstack" : "");
	strbuf__puts(b, rp->spec.stacks == (STACKS_KERNEL | STACKS_USER) ? ", " : "");
	strbuf__puts(b, rp->spec.stacks & STACKS_USER ? "_ustack" : "");
}

/* ---- which events ---------------------------------------------------------------------------- */

static bool is_selected(struct report *rp, const struct stk_event_type *t)
{
	return selection__has_type(&rp->rd.sel, t);
}

static bool has_field(struct report *rp, unsigned int nr, const struct stk_event_type *t)
{
	const struct ev_field *field;
	enum value_name generic;

	return !values__source(rp->values, nr, t, &field, &generic) && field;
}

/* "COLUMN BETWEEN 1 AND 2 OR COLUMN = 7" */
static void put_set(struct strbuf *b, const char *column, const struct num_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		const struct num_range *r = &set->ranges[i];

		strbuf__puts(b, i ? " OR " : "");
		if (r->first == r->last)
			strbuf__printf(b, "%s = %" PRIu64, column, r->first);
		else
			strbuf__printf(b, "%s BETWEEN %" PRIu64 " AND %" PRIu64, column, r->first,
				       r->last);
	}
}

static void put_comm(struct strbuf *b, const char *globs)
{
	size_t len;

	for (; *globs; globs += len + !!globs[len]) {
		_cleanup_free_ char *glob = NULL;

		len = strcspn(globs, ",");
		glob = strndup(globs, len);
		b->failed |= !glob;
		strbuf__puts(b, "_comm GLOB ");
		put_quoted(b, glob ?: "", '\'');
		if (glob && glob__matches(glob, "<idle>") > 0)
			strbuf__puts(b, " OR _tid = 0");
		strbuf__puts(b, globs[len] ? " OR " : "");
	}
}

/* A condition in parentheses, after WHERE or AND. */
static void begin_condition(struct strbuf *b, bool *any)
{
	strbuf__puts(b, *any ? " AND (" : " WHERE (");
	*any = true;
}

static void put_times(struct strbuf *b, const struct selection *sel)
{
	unsigned int i;

	for (i = 0; i < sel->nr_times; i++)
		strbuf__printf(b, "%s_ts BETWEEN %" PRIu64 " AND %" PRIu64, i ? " OR " : "",
			       MIN(sel->times[i].from, (uint64_t)INT64_MAX),
			       MIN(sel->times[i].to, (uint64_t)INT64_MAX));
}

static void put_selection(struct report *rp, struct strbuf *b, bool *any)
{
	const struct selection *sel = &rp->rd.sel;
	unsigned int i;

	if (sel->nr_times) {
		begin_condition(b, any);
		put_times(b, sel);
		strbuf__putc(b, ')');
	}
	if (sel->pid.nr) {
		begin_condition(b, any);
		put_set(b, "_pid", &sel->pid);
		strbuf__puts(b, " OR ");
		put_set(b, "_tid", &sel->pid);
		strbuf__putc(b, ')');
	}
	if (sel->tid.nr) {
		begin_condition(b, any);
		put_set(b, "_tid", &sel->tid);
		strbuf__putc(b, ')');
	}
	if (sel->cpu.nr) {
		begin_condition(b, any);
		put_set(b, "_cpu", &sel->cpu);
		strbuf__putc(b, ')');
	}
	for (i = 0; i < sel->nr_comms; i++) {
		if (i)
			strbuf__puts(b, " OR ");
		else
			begin_condition(b, any);
		put_comm(b, sel->comms[i]);
	}
	if (i)
		strbuf__putc(b, ')');
}

/* Whether the type has a table of its own in the query: it has a field that is asked for. */
static bool is_separate(struct report *rp, const struct stk_event_type *t)
{
	unsigned int i;

	if (rp->weight_name && !value_name__is_generic(rp->weight_name))
		return has_field(rp, rp->spec.weight, t);
	for (i = 0; i < rp->spec.nr_keys; i++)
		if (rp->keys[i].generic == NR_VALUE_NAMES && has_field(rp, rp->spec.keys[i], t))
			return true;
	return false;
}

/* The names of the selected types that are not separate. */
static unsigned int put_other_types(struct report *rp, struct strbuf *b)
{
	unsigned int i, nr = 0;

	for (i = 0; i < stk_reader__nr_types(rp->rd.reader); i++) {
		const struct stk_event_type *t = stk_reader__type(rp->rd.reader, i);
		_cleanup_free_ char *name = NULL;

		if (!is_selected(rp, t) || is_separate(rp, t))
			continue;
		name = event__full_name(t);
		b->failed |= !name;
		strbuf__puts(b, nr++ ? ", " : "");
		put_quoted(b, name ?: "", '\'');
	}
	return nr;
}

/* The events of a type with keys and weight as columns; NULL: those of types, "" for all types. */
static void put_source(struct report *rp, struct strbuf *b, const struct stk_event_type *t,
		       const struct strbuf *types)
{
	_cleanup_free_ char *table = t ? event__full_name(t) : strdup("events");
	const char *weight = rp->weight_name ? field_name(rp->weight_name) : NULL;
	bool any = false;
	unsigned int i;

	b->failed |= !table;
	strbuf__puts(b, "  SELECT ");
	for (i = 0; i < rp->spec.nr_keys; i++) {
		if (rp->keys[i].generic != NR_VALUE_NAMES)
			strbuf__puts(b, value_names[rp->keys[i].generic].column);
		else if (t && has_field(rp, rp->spec.keys[i], t))
			put_quoted(b, field_name(rp->keys[i].name), '"');
		else
			strbuf__puts(b, "NULL");
		strbuf__puts(b, " AS ");
		put_quoted(b, rp->keys[i].name, '"');
		strbuf__puts(b, ", ");
	}
	put_stacks(rp, b);
	if (weight && value_name__is_generic(rp->weight_name))
		weight = value_names[values__generic(rp->values, rp->spec.weight)].column;
	if (weight) {
		strbuf__puts(b, ", ");
		put_quoted(b, weight, '"');
		strbuf__puts(b, " AS _value");
	}
	strbuf__puts(b, " FROM ");
	put_quoted(b, table ?: "", '"');
	if (!t && types->len) {
		begin_condition(b, &any);
		strbuf__puts(b, "_event IN (");
		strbuf__add(b, types->s, types->len);
		strbuf__puts(b, "))");
	}
	put_selection(rp, b, &any);
	if (weight) {
		begin_condition(b, &any);
		put_quoted(b, weight, '"');
		strbuf__puts(b, " >= 0)");
	}
	strbuf__putc(b, '\n');
}

/* One SELECT for each type that has what is asked for, and one for the others; returns how many. */
static unsigned int put_sources(struct report *rp, struct strbuf *b)
{
	bool by_field = rp->weight_name && !value_name__is_generic(rp->weight_name);
	_cleanup_(strbuf__free) struct strbuf others = { 0 };
	unsigned int i, nr = 0;

	for (i = 0; i < stk_reader__nr_types(rp->rd.reader); i++) {
		const struct stk_event_type *t = stk_reader__type(rp->rd.reader, i);

		if (!is_selected(rp, t) || !is_separate(rp, t))
			continue;
		strbuf__puts(b, nr++ ? "  UNION ALL\n" : "");
		put_source(rp, b, t, NULL);
	}
	if (by_field || !put_other_types(rp, &others))
		return nr;
	if (!nr && !rp->rd.sel.has_events)
		strbuf__reset(&others);
	strbuf__puts(b, nr ? "  UNION ALL\n" : "");
	put_source(rp, b, NULL, &others);
	b->failed |= strbuf__failed(&others);
	return nr + 1;
}

/* ---- the query ------------------------------------------------------------------------------- */

static const char *sum_of(const struct report *rp)
{
	static const char *const sums[] = {
		[WEIGH_SUM] = "sum(_value)",
		[WEIGH_AVG] = "avg(_value)",
		[WEIGH_P50] = "percentile(_value, 50)",
		[WEIGH_P99] = "percentile(_value, 99)",
		[WEIGH_MAX] = "max(_value)",
	};

	return sums[rp->spec.how];
}

/* What the lists of stacks are ordered by; percentiles by that of their heaviest stack. */
static const char *list_of(const struct report *rp)
{
	if (!rp->weight_name)
		return "sum(_count)";
	return rp->spec.how == WEIGH_SUM ? "sum(_weight)" : "max(_weight)";
}

static void put_query(struct report *rp, struct strbuf *b, const struct strbuf *sources)
{
	uint64_t top = rp->top == UINT64_MAX ? STACKS_TOP : rp->top;
	unsigned int i;

	strbuf__puts(b, "WITH selected AS (\n");
	strbuf__add(b, sources->s, sources->len);
	strbuf__puts(b, "), stacks AS (\n  SELECT ");
	put_keys(rp, b);
	put_stacks(rp, b);
	strbuf__puts(b, ", count(*) AS _count");
	if (rp->weight_name)
		strbuf__printf(b, ", %s AS _weight", sum_of(rp));
	strbuf__puts(b, "\n  FROM selected GROUP BY ");
	put_keys(rp, b);
	put_stacks(rp, b);
	strbuf__printf(b, "\n), lists AS (\n  SELECT *, %s OVER (PARTITION BY ", list_of(rp));
	put_keys(rp, b);
	b->len -= strlen(", ");
	strbuf__puts(b, ") AS _list,\n    row_number() OVER (PARTITION BY ");
	put_keys(rp, b);
	b->len -= strlen(", ");
	strbuf__printf(b, " ORDER BY %s DESC) AS _nr\n  FROM stacks\n)\nSELECT ",
		       rp->weight_name ? "_weight" : "_count");
	put_keys(rp, b);
	put_stacks(rp, b);
	strbuf__printf(b, ", _count AS count%s FROM lists",
		       rp->weight_name ? ", _weight AS weight" : "");
	if (top)
		strbuf__printf(b, " WHERE _nr <= %" PRIu64, top);
	/* keys by position: a name would mean the column count, if a field has that name */
	strbuf__puts(b, "\nORDER BY _list DESC, ");
	for (i = 1; i <= rp->spec.nr_keys; i++)
		strbuf__printf(b, "%u, ", i);
	strbuf__puts(b, "_nr;\n");
}

/* Frames are rows of other tables, and not all that selects events can be said in SQL. */
static int check_columns(const struct report *rp)
{
	const struct selection *sel = &rp->rd.sel;
	uint64_t from, to;
	unsigned int i;

	if (rp->rd.nr_paths > 1)
		return ui__usage_error(rp->rd.command, "--print-sql: a query is about one "
						       "recording: give one FILE");
	if (sel->has_filter)
		return ui__usage_error(rp->rd.command,
				       "--print-sql excludes --filter: add a condition to WHERE");
	if (sel->nr_times && !selection__times(sel, &from, &to))
		return ui__usage_error(rp->rd.command,
				       "--print-sql needs --time in seconds of the recording's "
				       "clock");
	for (i = 0; i < rp->spec.nr_keys; i++)
		if (rp->keys[i].generic == VALUE_SYM || rp->keys[i].generic == VALUE_CALLER ||
		    rp->keys[i].generic == VALUE_FILE || rp->keys[i].generic == VALUE_HOST)
			return ui__usage_error(rp->rd.command,
					       "--print-sql: '%s' is no column of events: group by "
					       "others, and join the table 'frames' with them",
					       rp->keys[i].name);
	if (rp->spec.weighed && rp->spec.how == WEIGH_HIST)
		return ui__usage_error(rp->rd.command,
				       "--print-sql: a histogram is no value of a column: give "
				       "--weigh %s:sum",
				       rp->weight_name);
	return CMD_OK;
}

/* The event types are known once the recording has been read. */
static int read_types(struct report *rp)
{
	const struct stk_event *e;

	while (reading__next(&rp->rd, &rp->out, NULL, NULL, &e))
		;
	return report__check_keys(rp) ?: reading__finish(&rp->rd);
}

/* Whether a terminal can show the query as it is. */
static bool is_printable(const struct strbuf *query)
{
	const char *line = query->s ?: "";
	size_t len;

	for (; *line; line += len + !!line[len]) {
		_cleanup_(strbuf__free) struct strbuf safe = { 0 };

		len = strcspn(line, "\n");
		strbuf__safe(&safe, line, len);
		if (safe.len != len)
			return false;
	}
	return true;
}

int report__put_sql(struct report *rp)
{
	_cleanup_(strbuf__free) struct strbuf sources = { 0 }, query = { 0 };
	int code = check_columns(rp) ?: read_types(rp);

	if (code)
		return code;
	if (!put_sources(rp, &sources)) {
		log_err(0, "'%s' has no event that the query could be about", rp->rd.path);
		return CMD_FAILURE;
	}
	put_query(rp, &query, &sources);
	rp->out.b.failed |= strbuf__failed(&sources) || strbuf__failed(&query);
	if (!is_printable(&query)) {
		log_err(0, "'%s' has names with control characters: no query can contain them",
			rp->rd.path);
		return CMD_FAILURE;
	}
	strbuf__add(&rp->out.b, query.s ?: "", query.len);
	return CMD_OK;
}
