// SPDX-License-Identifier: GPL-2.0-only
/* Prints the question as a query for stackonce sql, which has a table for each event type. */
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "report_sql.h"
#include "ui/need.h"

void sql__put_quoted(struct strbuf *b, const char *s, char quote)
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

/* Whether the stacks of an event give the value: these are grouped by anyway. */
static bool is_of_frames(enum value_name name)
{
	return name == VALUE_SYM || name == VALUE_CALLER || name == VALUE_FILE;
}

/* The names of the keys, and `end` if there are any; of_frames: those that stacks give, too. */
static void put_keys(struct report *rp, bool of_frames, const char *end, struct strbuf *b)
{
	unsigned int i, nr = 0;

	for (i = 0; i < rp->c.nr_keys; i++) {
		if (!of_frames && is_of_frames(rp->c.keys[i].generic))
			continue;
		strbuf__puts(b, nr++ ? ", " : "");
		sql__put_quoted(b, rp->c.keys[i].name, '"');
	}
	strbuf__puts(b, nr ? end : "");
}

/* "_kstack, _ustack", or one of them. */
static void put_stacks(const struct report *rp, struct strbuf *b)
{
	strbuf__puts(b, rp->c.spec.stacks & STACKS_KERNEL ? "_kstack" : "");
	strbuf__puts(b, rp->c.spec.stacks == (STACKS_KERNEL | STACKS_USER) ? ", " : "");
	strbuf__puts(b, rp->c.spec.stacks & STACKS_USER ? "_ustack" : "");
}

void sql__put_frame_name(struct strbuf *b, enum value_name name, unsigned int stacks)
{
	const char *value = name == VALUE_FILE ?
				    "coalesce(mod, CASE kind WHEN 'kernel' THEN '[kernel]' "
				    "ELSE '[unknown]' END)" :
				    "coalesce(sym, coalesce(mod || '+', '') || hex(ip))";
	bool is_caller = name == VALUE_CALLER, both = stacks == (STACKS_KERNEL | STACKS_USER);

	strbuf__puts(b, both ? "coalesce(" : "");
	if (stacks & STACKS_KERNEL)
		strbuf__printf(b, "(SELECT %s FROM frames WHERE stack = _kstack AND nr = %d)",
			       value, is_caller);
	strbuf__puts(b, both ? ", " : "");
	if (stacks & STACKS_USER)
		strbuf__printf(b, "(SELECT %s FROM frames WHERE stack = _ustack AND nr = %s)",
			       value,
			       !is_caller ? "0" :
			       !both	  ? "1" :
					    "NOT EXISTS (SELECT 1 FROM frames WHERE stack = "
					    "_kstack)");
	strbuf__puts(b, both ? ")" : "");
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

	return !values__source(rp->c.values, nr, t, &field, &generic) && field;
}

/* Whether events of the type have the weight: a field of that name may be a string elsewhere. */
static bool has_weight(struct report *rp, const struct stk_event_type *t)
{
	const struct ev_field *field;
	enum value_name generic;

	return !values__source(rp->c.values, rp->c.spec.weight, t, &field, &generic) && field &&
	       field->kind == EV_FIELD_INT;
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

/* SQL's patterns are those of fnmatch(3), but a negated set begins with ^. */
static void put_glob(struct strbuf *b, const char *glob)
{
	_cleanup_free_ char *text = strdup(glob);
	char *set = text;

	b->failed |= !text;
	while (set && (set = strstr(set, "[!")))
		set[1] = '^';
	sql__put_quoted(b, text ?: "", '\'');
}

static void put_comm(struct strbuf *b, const char *globs)
{
	const char *at;
	size_t len;

	for (at = globs;; at += len + 1) {
		_cleanup_free_ char *glob = NULL;

		len = strcspn(at, ",");
		glob = strndup(at, len);
		b->failed |= !glob;
		strbuf__puts(b, at == globs ? "_comm GLOB " : " OR _comm GLOB ");
		put_glob(b, glob ?: "");
		if (glob && strchr(glob, '[')) {
			strbuf__puts(b, " OR _comm = "); /* a name may look like a pattern */
			sql__put_quoted(b, glob, '\'');
		}
		if (glob && glob__matches(glob, "<idle>") > 0)
			strbuf__puts(b, " OR _tid = 0");
		if (!at[len])
			break;
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

	if (rp->c.weight_name && !value_name__is_generic(rp->c.weight_name))
		return has_weight(rp, t);
	for (i = 0; i < rp->c.nr_keys; i++)
		if (rp->c.keys[i].generic == NR_VALUE_NAMES && has_field(rp, rp->c.spec.keys[i], t))
			return true;
	return false;
}

/* The types that have no table of their own, as a list of names, and what they have in common. */
struct other_types {
	unsigned int nr;
	struct strbuf names, condition;
};

static void add_other_type(struct other_types *o, const struct stk_event_type *t,
			   const struct strbuf *condition)
{
	_cleanup_free_ char *name = event__full_name(t);

	o->names.failed |= !name;
	if (!o->nr && condition->len)
		strbuf__add(&o->condition, condition->s, condition->len);
	strbuf__puts(&o->names, o->nr++ ? ", " : "");
	sql__put_quoted(&o->names, name ?: "", '\'');
}

static bool is_same(const struct strbuf *a, const struct strbuf *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->s, b->s, a->len));
}

/*
 * The events of a type with keys and weight as columns; NULL: those of types, "" for all types.
 * condition: " AND ...", or empty.
 */
static void put_source(struct report *rp, struct strbuf *b, const struct stk_event_type *t,
		       const struct strbuf *types, const struct strbuf *condition)
{
	_cleanup_free_ char *table = t ? event__full_name(t) : strdup("events");
	const char *weight = rp->c.weight_name ? field_name(rp->c.weight_name) : NULL;
	bool any = false;
	unsigned int i;

	b->failed |= !table;
	strbuf__puts(b, "  SELECT ");
	for (i = 0; i < rp->c.nr_keys; i++) {
		if (is_of_frames(rp->c.keys[i].generic))
			continue;
		if (rp->c.keys[i].generic != NR_VALUE_NAMES)
			strbuf__puts(b, value_names[rp->c.keys[i].generic].column);
		else if (t && has_field(rp, rp->c.spec.keys[i], t))
			sql__put_quoted(b, field_name(rp->c.keys[i].name), '"');
		else
			strbuf__puts(b, "NULL");
		strbuf__puts(b, " AS ");
		sql__put_quoted(b, rp->c.keys[i].name, '"');
		strbuf__puts(b, ", ");
	}
	put_stacks(rp, b);
	if (weight && value_name__is_generic(rp->c.weight_name))
		weight = value_names[values__generic(rp->c.values, rp->c.spec.weight)].column;
	if (weight) {
		strbuf__puts(b, ", ");
		sql__put_quoted(b, weight, '"');
		strbuf__puts(b, " AS _value");
	}
	strbuf__puts(b, " FROM ");
	sql__put_quoted(b, table ?: "", '"');
	if (!t && types->len) {
		begin_condition(b, &any);
		strbuf__puts(b, "_event IN (");
		strbuf__add(b, types->s, types->len);
		strbuf__puts(b, "))");
	}
	put_selection(rp, b, &any);
	if (weight) {
		begin_condition(b, &any);
		sql__put_quoted(b, weight, '"');
		strbuf__puts(b, " >= 0)");
	}
	if (condition->len) {
		const size_t skip = any ? 0 : strlen(" AND");

		strbuf__puts(b, any ? "" : " WHERE");
		strbuf__add(b, condition->s + skip, condition->len - skip);
	}
	strbuf__putc(b, '\n');
}

/* The SELECT of a type, unless it is one of the others; an exit code. */
static int put_type(struct report *rp, struct strbuf *b, const struct stk_event_type *t,
		    struct other_types *others, unsigned int *nr)
{
	bool by_field = rp->c.weight_name && !value_name__is_generic(rp->c.weight_name);
	struct sql_condition c = { 0 };
	int code = report__sql_condition(rp, t, &c);

	if (code || !c.is_selected) {
		/* nothing of it */
	} else if (is_separate(rp, t) || (!by_field && c.has_fields) ||
		   (!by_field && others->nr && !is_same(&others->condition, &c.text))) {
		strbuf__puts(b, (*nr)++ ? "  UNION ALL\n" : "");
		put_source(rp, b, t, NULL, &c.text);
	} else if (!by_field) {
		add_other_type(others, t, &c.text);
	}
	b->failed |= strbuf__failed(&c.text);
	strbuf__free(&c.text);
	return code;
}

/* One SELECT for each type that has what is asked for, and one for the others. */
static int put_sources(struct report *rp, struct strbuf *b, unsigned int *ret_nr)
{
	struct other_types others = { 0 };
	unsigned int i, nr = 0;
	int code = CMD_OK;

	for (i = 0; i < stk_reader__nr_types(rp->rd.reader) && !code; i++)
		if (is_selected(rp, stk_reader__type(rp->rd.reader, i)))
			code = put_type(rp, b, stk_reader__type(rp->rd.reader, i), &others, &nr);
	if (others.nr && !code) {
		if (!nr && !rp->rd.sel.has_events && !rp->rd.sel.has_filter)
			strbuf__reset(&others.names);
		strbuf__puts(b, nr++ ? "  UNION ALL\n" : "");
		put_source(rp, b, NULL, &others.names, &others.condition);
	}
	b->failed |= strbuf__failed(&others.names) || strbuf__failed(&others.condition);
	strbuf__free(&others.names);
	strbuf__free(&others.condition);
	*ret_nr = nr;
	return code;
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

	return sums[rp->c.spec.how];
}

/* What the lists of stacks are ordered by; percentiles by that of their heaviest stack. */
static const char *list_of(const struct report *rp)
{
	if (!rp->c.weight_name)
		return "sum(_count)";
	return rp->c.spec.how == WEIGH_SUM ? "sum(_weight)" : "max(_weight)";
}

/* The stacks with the names that their frames give; returns the name of that table. */
static const char *put_named(struct report *rp, struct strbuf *b)
{
	unsigned int i, nr = 0;

	for (i = 0; i < rp->c.nr_keys; i++) {
		if (!is_of_frames(rp->c.keys[i].generic))
			continue;
		strbuf__puts(b, nr++ ? ",\n    " : "named AS (\n  SELECT *, ");
		sql__put_frame_name(b, rp->c.keys[i].generic, rp->c.spec.stacks);
		strbuf__puts(b, " AS ");
		sql__put_quoted(b, rp->c.keys[i].name, '"');
	}
	strbuf__puts(b, nr ? "\n  FROM stacks\n), " : "");
	return nr ? "named" : "stacks";
}

static void put_lists(struct report *rp, struct strbuf *b)
{
	const char *from = put_named(rp, b);

	strbuf__printf(b, "lists AS (\n  SELECT *, %s OVER (PARTITION BY ", list_of(rp));
	put_keys(rp, true, "", b);
	strbuf__puts(b, ") AS _list,\n    row_number() OVER (PARTITION BY ");
	put_keys(rp, true, "", b);
	strbuf__printf(b, " ORDER BY %s DESC) AS _nr\n  FROM %s\n)\n",
		       rp->c.weight_name ? "_weight" : "_count", from);
}

static void put_query(struct report *rp, struct strbuf *b, const struct strbuf *sources)
{
	uint64_t top = rp->top == UINT64_MAX ? STACKS_TOP : rp->top;
	unsigned int i;

	strbuf__puts(b, "WITH selected AS (\n");
	strbuf__add(b, sources->s, sources->len);
	strbuf__puts(b, "), stacks AS (\n  SELECT ");
	put_keys(rp, false, ", ", b);
	put_stacks(rp, b);
	strbuf__puts(b, ", count(*) AS _count");
	if (rp->c.weight_name)
		strbuf__printf(b, ", %s AS _weight", sum_of(rp));
	strbuf__puts(b, "\n  FROM selected GROUP BY ");
	put_keys(rp, false, ", ", b);
	put_stacks(rp, b);
	strbuf__puts(b, "\n), ");
	put_lists(rp, b);
	strbuf__puts(b, "SELECT ");
	put_keys(rp, true, ", ", b);
	put_stacks(rp, b);
	strbuf__printf(b, ", _count AS count%s FROM lists",
		       rp->c.weight_name ? ", _weight AS weight" : "");
	if (top)
		strbuf__printf(b, " WHERE _nr <= %" PRIu64, top);
	/* keys by position: a name would mean the column count, if a field has that name */
	strbuf__puts(b, "\nORDER BY _list DESC, ");
	for (i = 1; i <= rp->c.nr_keys; i++)
		strbuf__printf(b, "%u, ", i);
	strbuf__puts(b, "_nr;\n");
}

/* A query has the columns of one recording. */
static int check_columns(const struct report *rp)
{
	unsigned int i;

	if (rp->rd.nr_paths > 1)
		return ui__usage_error(rp->rd.command, "--print-sql: a query is about one "
						       "recording: give one FILE");
	for (i = 0; i < rp->c.nr_keys; i++)
		if (rp->c.keys[i].generic == VALUE_HOST)
			return ui__usage_error(rp->rd.command,
					       "--print-sql: a query is about one recording, whose "
					       "events have one host: leave out '%s' of --by",
					       rp->c.keys[i].name);
	for (i = 0; i < rp->rd.sel.nr_comms; i++)
		if (strchr(rp->rd.sel.comms[i], '\\') || strstr(rp->rd.sel.comms[i], "[:"))
			return ui__usage_error(rp->rd.command,
					       "--print-sql: a pattern in SQL has neither \\ nor "
					       "classes of characters: --comm '%s'",
					       rp->rd.sel.comms[i]);
	if (rp->c.spec.weighed && rp->c.spec.how == WEIGH_HIST)
		return ui__usage_error(rp->rd.command,
				       "--print-sql: a histogram is no value of a column: give "
				       "--weigh %s:sum",
				       rp->c.weight_name);
	return CMD_OK;
}

/* The event types are known once the recording has been read. */
static int read_types(struct report *rp)
{
	const struct stk_event *e;

	while (reading__next(&rp->rd, &rp->out, NULL, NULL, &e))
		;
	return counting__check(&rp->c) ?: reading__finish(&rp->rd);
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
	unsigned int nr = 0;

	code = code ?: put_sources(rp, &sources, &nr);
	if (!code && rp->rd.sel.error) {
		log_err(rp->rd.sel.error, "select events of '%s'", rp->rd.path);
		code = CMD_FAILURE;
	}
	if (code)
		return code;
	/* without events, times that refer to them are unknown */
	if (!nr || (rp->rd.sel.nr_times && !rp->rd.begun)) {
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
