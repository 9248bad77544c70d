// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translates filters of events to conditions in SQL, where these select the same events.  The
 * expressions have been compiled for the event type, so their syntax is right.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "events/filter.h"
#include "log.h"
#include "report.h"
#include "report_sql.h"

/* One expression, for events of one type. */
struct translation {
	struct report *rp;
	const struct stk_event_type *type;
	const char *expr, *at;
	struct strbuf *out;
	struct strbuf fields; /* " AND field IS NOT NULL" for each that is tested */
	const char *why; /* what cannot be translated; NULL: nothing */
};

/* A comparison: NAME OP VALUE. */
struct comparison {
	char name[64];
	char op[3];
	bool is_text;
	char *text; /* the value, or the digits of a number */
	const struct ev_field *field; /* NULL: a generic value */
	enum value_name generic;
};

static int refuse(struct translation *tr, const char *why)
{
	tr->why = tr->why ?: why;
	return -EOPNOTSUPP;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static int take_name(struct translation *tr, struct comparison *c)
{
	static const char *const prefixes[] = { "field.", "task.", "event." };
	size_t len = 0, i, prefix = 0;

	while (is_name(tr->at[len]))
		len++;
	if (!len || len >= sizeof(c->name))
		return refuse(tr, "a name that is too long");
	memcpy(c->name, tr->at, len);
	c->name[len] = '\0';
	tr->at += len;
	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(c->name, prefixes[i], strlen(prefixes[i])))
			prefix = strlen(prefixes[i]);
	if (strchr(c->name + prefix, '.'))
		return refuse(tr, ".function or .ustring");
	return 0;
}

static bool is_stack_id(const char *name)
{
	return !strcmp(name, "stack_id") || !strcmp(name, "event.stack_id");
}

static int find_name(struct translation *tr, struct comparison *c)
{
	int nr, err;

	c->generic = NR_VALUE_NAMES;
	if (is_stack_id(c->name))
		return 0;
	nr = values__add(tr->rp->c.values, c->name, VALUE_PREFER_FIELD);
	err = nr < 0 ? nr : values__source(tr->rp->c.values, nr, tr->type, &c->field, &c->generic);
	return err && err != -ENOMEM ? refuse(tr, "a name that is no column") : err;
}

static int take_operand(struct translation *tr, struct comparison *c)
{
	static const char *const ops[] = { "==", "!=", "<=", ">=", "<", ">", "&", "~" };
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(ops) && strncmp(tr->at, ops[i], strlen(ops[i])); i++)
		;
	if (i == ARRAY_SIZE(ops))
		return refuse(tr, "sets of CPUs");
	strcpy(c->op, ops[i]);
	tr->at += strlen(c->op);
	tr->at += strspn(tr->at, " \t\n");
	c->is_text = *tr->at == '"' || *tr->at == '\'';
	if (c->is_text) {
		len = strcspn(tr->at + 1, (char[]){ *tr->at, '\0' });
		c->text = strndup(tr->at + 1, len);
		tr->at += len + 1 + !!tr->at[len + 1];
		return c->text ? 0 : -ENOMEM;
	}
	len = *tr->at == '-';
	while (isalnum((unsigned char)tr->at[len]))
		len++;
	c->text = strndup(tr->at, len);
	tr->at += len;
	if (*tr->at == '{')
		return refuse(tr, "sets of CPUs");
	return c->text ? 0 : -ENOMEM;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static const char *sql_op(const char *op)
{
	return !strcmp(op, "==") ? "=" : !strcmp(op, "!=") ? "<>" : op;
}

/* column is SQL of size bytes; with 8 and no sign, it is the same bits with one. */
static int put_number(struct translation *tr, const struct comparison *c, const char *column,
		      unsigned int size, bool is_signed)
{
	bool is_negative = *c->text == '-';
	uint64_t v = strtoull(c->text + is_negative, NULL, 0);
	uint64_t max = size == 8 ? UINT64_MAX : (1ULL << size * 8) - 1;

	if (is_signed ? v > max / 2 + is_negative : v > max || is_negative)
		return refuse(tr, "with a number that the field cannot have");
	v = is_negative ? -v : v;
	if (!strcmp(c->op, "&"))
		strbuf__printf(tr->out, "%s & %" PRId64 " <> 0", column, (int64_t)v);
	else if (size == 8 && !is_signed && (*c->op == '<' || *c->op == '>'))
		strbuf__printf(tr->out, "ucmp(%s, %" PRId64 ") %s 0", column, (int64_t)v, c->op);
	else
		strbuf__printf(tr->out, "%s %s %" PRId64, column, sql_op(c->op), (int64_t)v);
	return 0;
}

/*
 * How a field of `whole` bytes (0: the string as it is) matches a pattern.  The kernel compares
 * the end of a pattern with that of the array, which SQL does not have.
 */
static int check_pattern(struct translation *tr, const struct comparison *c, size_t whole)
{
	const char *inner = c->text;
	size_t len = strlen(inner);

	if (whole && len >= whole)
		return refuse(tr, "with a string that is longer than the field");
	if (*c->op != '~')
		return 0;
	inner += *inner == '!';
	if (strpbrk(inner, "?[\\"))
		return refuse(tr, "with a pattern that has ?, [ or \\");
	len = strlen(inner);
	if (whole && *inner == '*' && !(len > 1 && memchr(inner + 1, '*', len - 2)))
		return refuse(tr, "the end of an array of characters");
	return 0;
}

/* is_null: a value that is missing is no string, but not a reason to leave out the event. */
static int put_text(struct translation *tr, const struct comparison *c, const char *column,
		    size_t whole, bool is_null)
{
	const char *pattern = c->text;
	bool is_glob = *c->op == '~', inverts = is_glob ? *pattern == '!' : *c->op == '!';
	int err = check_pattern(tr, c, whole);

	if (err)
		return err;
	pattern += is_glob && inverts;
	is_glob = is_glob && !isdigit((unsigned char)*pattern);
	strbuf__puts(tr->out, inverts ? "NOT " : "");
	strbuf__puts(tr->out, is_null && is_glob ? "coalesce(" : "");
	strbuf__puts(tr->out, column);
	strbuf__puts(tr->out, is_glob ? " GLOB " : is_null ? " IS " : " = ");
	sql__put_quoted(tr->out, pattern, '\'');
	strbuf__puts(tr->out, is_null && is_glob ? ", 0)" : "");
	return 0;
}

static int put_field(struct translation *tr, const struct comparison *c)
{
	_cleanup_(strbuf__free) struct strbuf column = { 0 };
	const struct ev_field *f = c->field;

	sql__put_quoted(&column, f->name, '"');
	if (strbuf__failed(&column))
		return -ENOMEM;
	if (!tr->fields.len || !strstr(tr->fields.s, column.s))
		strbuf__printf(&tr->fields, " AND %s IS NOT NULL", column.s);
	if (f->is_common || (f->is_pointer && strstr(f->type, "char")))
		return refuse(tr, "a common field, or a pointer to a string");
	if (c->is_text)
		return put_text(tr, c, column.s, f->kind == EV_FIELD_STRING ? f->size : 0, false);
	if (f->kind != EV_FIELD_INT)
		return refuse(tr, "what is neither a number nor a string");
	return put_number(tr, c, column.s, f->size, f->is_signed);
}

static int put_stack_id(struct translation *tr, const struct comparison *c)
{
	bool is_not = !strcmp(c->op, "!=");
	uint64_t id = strtoull(c->text, NULL, 0);

	if (strcmp(c->op, "==") && !is_not)
		return refuse(tr, "stack ids other than by == and !=");
	strbuf__printf(tr->out,
		       "%s(coalesce(_kstack, 0) = %" PRIu64 " OR coalesce(_ustack, 0) = %" PRIu64
		       ")",
		       is_not ? "NOT " : "", id, id);
	return 0;
}

static bool is_bare(const struct comparison *c)
{
	return !strchr(c->name, '.');
}

static int put_generic(struct translation *tr, const struct comparison *c)
{
	const char *column = c->generic == NR_VALUE_NAMES ? "" : value_names[c->generic].column;
	_cleanup_(strbuf__free) struct strbuf name = { 0 };

	switch (c->generic) {
	case VALUE_EVENT:
		return put_text(tr, c, column, 0, false);
	case VALUE_COMM:
		/* bare, it is compared over the whole array, as in the kernel */
		return put_text(tr, c, column, is_bare(c) ? FILTER_COMM_LEN : 0, false);
	case VALUE_SYM:
	case VALUE_CALLER:
	case VALUE_FILE:
		sql__put_frame_name(&name, c->generic, STACKS_KERNEL | STACKS_USER);
		return strbuf__failed(&name) ? -ENOMEM : put_text(tr, c, name.s, 0, true);
	case VALUE_TIME:
		return put_number(tr, c, column, 8, true);
	case VALUE_CPU:
		if (!strcmp(c->op, "&"))
			return refuse(tr, "the bits of a CPU's number");
		return put_number(tr, c, column, 4, true);
	case VALUE_PID:
	case VALUE_TID:
		return put_number(tr, c, column, 4, false);
	case VALUE_KSTACK:
	case VALUE_USTACK:
		if (c->is_text)
			return refuse(tr, "the names in a stack");
		strbuf__printf(&name, "coalesce(%s, 0)", column);
		return strbuf__failed(&name) ? -ENOMEM : put_number(tr, c, name.s, 4, false);
	case VALUE_HOST:
		return refuse(tr, "the host");
	case NR_VALUE_NAMES:
		break;
	}
	return put_stack_id(tr, c);
}

static int put_comparison(struct translation *tr)
{
	struct comparison c = { .text = NULL };
	int err = take_name(tr, &c);

	tr->at += strspn(tr->at, " \t\n");
	err = err ?: take_operand(tr, &c) ?: find_name(tr, &c);
	if (!err)
		err = c.field ? put_field(tr, &c) : put_generic(tr, &c);
	free(c.text);
	return err;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static int put_expr(struct translation *tr)
{
	int err = 0;

	while (!err && *(tr->at += strspn(tr->at, " \t\n"))) {
		char c = *tr->at;

		if (c == '(' || c == ')') {
			strbuf__putc(tr->out, c);
			tr->at++;
		} else if (c == '!') {
			strbuf__puts(tr->out, "NOT ");
			tr->at++;
		} else if (!strncmp(tr->at, "&&", 2) || !strncmp(tr->at, "||", 2)) {
			strbuf__puts(tr->out, c == '&' ? " AND " : " OR ");
			tr->at += 2;
		} else {
			err = put_comparison(tr);
		}
	}
	return err;
}

/* Appends "(EXPR) AND FIELD IS NOT NULL": events without a field that it tests are not selected. */
static int put_filter(struct report *rp, const struct stk_event_type *t, const char *expr,
		      struct strbuf *b, bool *ret_has_fields)
{
	struct translation tr = { .rp = rp, .type = t, .expr = expr, .at = expr, .out = b };
	int err;

	strbuf__putc(b, '(');
	err = put_expr(&tr);
	strbuf__putc(b, ')');
	if (tr.fields.len)
		strbuf__add(b, tr.fields.s, tr.fields.len);
	b->failed |= strbuf__failed(&tr.fields);
	*ret_has_fields |= tr.fields.len > 0;
	strbuf__free(&tr.fields);
	if (err == -EOPNOTSUPP)
		return ui__usage_error(rp->rd.command,
				       "--print-sql: the filter '%s' compares %s, which no "
				       "condition in SQL does exactly: leave out --filter, and add "
				       "a condition to WHERE",
				       expr, tr.why);
	if (err)
		log_err(err, "translate the filter '%s'", expr);
	return err ? CMD_FAILURE : CMD_OK;
}

static bool matches(struct report *rp, const char *globs, const struct stk_event_type *t)
{
	return selection__keep(&rp->rd.sel, event__matches(rp->rd.reader, globs, t));
}

/* Whether the filter of a choice can be applied to the type. */
static bool applies(struct report *rp, const struct event_choice *c, const struct stk_event_type *t)
{
	char why[FILTER_ERROR_SIZE];
	int err = event_filters__check(rp->rd.sel.filters, c->nr, t, why, sizeof(why));

	return selection__keep(&rp->rd.sel, err == -ENOMEM || err == -ENOBUFS ? err : !err);
}

/*
 * Appends the union of the filters from choice `from` to `to` that can be applied to the type;
 * returns 0 or an exit code.  ret_nr: how many there are, of_all: as --filter without -e.
 */
static int put_union(struct report *rp, const struct stk_event_type *t, bool of_all,
		     struct sql_condition *c, unsigned int *ret_nr)
{
	struct selection *sel = &rp->rd.sel;
	unsigned int i, nr = 0;
	int code = CMD_OK;

	for (i = 0; i < sel->nr_choices && !code; i++) {
		const struct event_choice *one = &sel->choices[i];

		if (!one->globs != of_all || !one->filter)
			continue;
		if ((one->globs && !matches(rp, one->globs, t)) || !applies(rp, one, t))
			continue;
		strbuf__puts(&c->text, nr++ ? " OR " : " AND (");
		code = put_filter(rp, t, one->filter, &c->text, &c->has_fields);
	}
	strbuf__puts(&c->text, nr ? ")" : "");
	*ret_nr = nr;
	return code;
}

/* Whether an -e without a filter selects the type. */
static bool is_unfiltered(struct report *rp, const struct stk_event_type *t)
{
	const struct selection *sel = &rp->rd.sel;
	unsigned int i;

	for (i = 0; i < sel->nr_choices; i++)
		if (sel->choices[i].globs && !sel->choices[i].filter &&
		    matches(rp, sel->choices[i].globs, t))
			return true;
	return !sel->has_events;
}

int report__sql_condition(struct report *rp, const struct stk_event_type *t,
			  struct sql_condition *ret)
{
	const struct selection *sel = &rp->rd.sel;
	bool has_common = sel->nr_choices && !sel->choices[0].globs;
	unsigned int nr = 1;
	int code = CMD_OK;

	ret->is_selected = true;
	if (!sel->has_filter)
		return CMD_OK;
	if (!is_unfiltered(rp, t))
		code = put_union(rp, t, false, ret, &nr);
	ret->is_selected &= nr > 0;
	if (!code && has_common)
		code = put_union(rp, t, true, ret, &nr);
	ret->is_selected &= nr > 0;
	return code;
}
