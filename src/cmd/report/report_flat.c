// SPDX-License-Identifier: GPL-2.0-only
/* Prints the flat profile of a group: functions, libraries or source lines. */
#include <string.h>

#include "analyze/stacks/call_profile.h"
#include "cleanup.h"
#include "log.h"
#include "report.h"
#include "ui/column.h"

#define FUNCTIONS_TOP 30 /* functions of a profile without --top */
#define LEAST_NAME 24 /* columns of a name, however narrow the terminal is */

/* Right-aligned in width; a time has its unit in text only. */
static void put_weight(struct report *rp, const char *name, int width, uint64_t weight)
{
	struct out *o = &rp->out;

	if (rp->c.weight_is_ns && !o->json.depth && !o->heads)
		strbuf__printf(&o->b, "%*s", width, text__ns(weight).s);
	else
		column__number(o, name, width, weight);
}

static void put_columns(struct report *rp, const struct stack_group *g,
			const struct call_function *f)
{
	bool weighed = rp->c.weight_name, shares = counting__has_shares(&rp->c);
	uint64_t whole = g->amount;
	struct out *o = &rp->out;

	if (weighed)
		put_weight(rp, "weight", 16, f->weight);
	column__number(o, "count", weighed ? 0 : 10, f->count);
	if (shares)
		column__percent(o, "percent", 9, f->weight, whole);
	if (weighed)
		put_weight(rp, "self_weight", 16, f->self_weight);
	column__number(o, "self", weighed ? 0 : 10, f->self);
	if (shares)
		column__percent(o, "self_percent", 14, f->self_weight, whole);
}

static void put_heads(struct report *rp, const struct stack_group *g)
{
	static const char *const names[] = {
		[UNIT_FUNCTION] = "function", [UNIT_LIBRARY] = "library", [UNIT_LINE] = "line"
	};

	rp->out.heads = true;
	put_columns(rp, g, &(struct call_function){ 0 });
	rp->out.heads = false;
	strbuf__printf(&rp->out.b, "  %s\n", names[rp->unit]);
}

/* Cuts a name that began at `from` to what fits in the line, unless --full asks for all of it. */
static void cut_name(struct report *rp, size_t line, size_t from)
{
	struct strbuf *b = &rp->out.b;
	size_t before = from - line, room;

	room = rp->out.width > before + LEAST_NAME ? rp->out.width - before : LEAST_NAME;
	if (rp->rd.names.full || b->failed || b->len - from <= room)
		return;
	b->len = from + room - strlen("...");
	/* not within a character of several bytes */
	while (b->len > from && (b->s[b->len] & 0xc0) == 0x80)
		b->len--;
	strbuf__puts(b, "...");
}

static void put_row(struct report *rp, const struct stack_group *g, const struct call_function *f)
{
	struct strbuf *b = &rp->out.b;
	size_t line, from;

	out__paint(&rp->out, OUT_NUMBER);
	line = b->len;
	put_columns(rp, g, f);
	from = b->len;
	out__paint(&rp->out, OUT_PLAIN);
	line += b->len - from; /* the escape sequence takes no room */
	strbuf__puts(b, "  ");
	from = b->len;
	report__put_function(rp, &f->frame, f->guesses, f->count);
	cut_name(rp, line, from);
	strbuf__putc(b, '\n');
}

static void put_row_json(struct report *rp, const struct stack_group *g,
			 const struct call_function *f)
{
	json__record(&rp->out.json, "profile");
	report__put_key(rp, g);
	put_columns(rp, g, f);
	report__json_function(rp, &f->frame, &f->key, f->guesses);
	json__end(&rp->out.json);
}

static bool is_wanted(const struct report *rp, const struct stack_group *g,
		      const struct call_function *f)
{
	if (rp->no_children && !f->self)
		return false;
	return !report__too_small(rp, g, rp->no_children ? f->self_weight : f->weight);
}

/* What is left out, and events without a stack. */
static void put_rest(struct report *rp, const struct stack_group *g, unsigned int rest,
		     uint64_t no_stack)
{
	struct strbuf *b = &rp->out.b;

	if (rest)
		strbuf__printf(b, "%10s more: see --top and --min\n", text__number(rest).s);
	if (no_stack)
		strbuf__printf(b, "%10s of %s without a stack\n", text__number(no_stack).s,
			       text__count(g->count, "event").s);
	strbuf__putc(b, '\n');
}

int report__put_flat(struct report *rp, const struct stack_group *g)
{
	uint64_t top = rp->top == UINT64_MAX ? FUNCTIONS_TOP : rp->top ?: UINT64_MAX;
	_cleanup_(call_profile__freep) struct call_profile *profile = NULL;
	const struct call_function *f;
	unsigned int nr, i, put = 0, none = 0;
	int err;

	err = call_profile__new(rp->rd.reader, g,
				rp->no_children ? PROFILE_BY_SELF : PROFILE_BY_WEIGHT,
				report__frames, rp, &profile);
	if (err)
		return log_err(err, "sum up the stacks");
	f = call_profile__functions(profile, &nr);
	if (!rp->rd.json)
		put_heads(rp, g);
	for (i = 0; i < nr; i++)
		none += rp->no_children && !f[i].self;
	for (i = 0; i < nr && put < top && !out__drain(&rp->out); i++) {
		if (!is_wanted(rp, g, &f[i]))
			continue;
		put++;
		if (rp->rd.json)
			put_row_json(rp, g, &f[i]);
		else
			put_row(rp, g, &f[i]);
	}
	if (!rp->rd.json)
		put_rest(rp, g, nr - none - put, call_profile__no_stack(profile));
	return 0;
}
