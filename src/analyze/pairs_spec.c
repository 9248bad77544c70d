// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "pairs_priv.h"

#define DEFAULT_MATCH "tid,context"

static const char too_many_names[] = "too many names with | between them";

/* "a|b" */
static const char *parse_side(char *text, struct spec_side *side)
{
	char *name;

	while ((name = strsep(&text, "|"))) {
		if (!*name)
			return "a name is empty";
		if (side->nr == SPEC_ALTERNATIVES)
			return too_many_names;
		side->names[side->nr++] = name;
	}
	return NULL;
}

/* "a|b=c"; text stays split up. */
static const char *parse_match(char *text, struct spec *s)
{
	char *part, *start, *end;
	const char *why;

	while ((part = strsep(&text, ","))) {
		if (s->nr_match == PAIRS_MAX_MATCH)
			return "there are too many fields to match";
		start = strsep(&part, "=");
		end = part;
		if (end && strchr(end, '='))
			return "there are two = in a part";
		why = parse_side(start, &s->start[s->nr_match]);
		if (!why && end)
			why = parse_side(end, &s->end[s->nr_match]);
		else if (!why)
			s->end[s->nr_match] = s->start[s->nr_match];
		if (why)
			return why;
		s->nr_match++;
	}
	return NULL;
}

static const char *parse_by(char *text, struct spec *s)
{
	char *name;

	while ((name = strsep(&text, ","))) {
		if (!*name)
			return "a name is empty";
		if (s->nr_by == PAIRS_MAX_BY)
			return "there are too many fields to group by";
		s->by[s->nr_by++] = name;
	}
	return NULL;
}

int spec__parse(const char *match, const char *by, struct spec *ret_spec, const char **ret_why)
{
	struct spec s = { 0 };
	const char *why;
	size_t len;

	match = match ?: DEFAULT_MATCH;
	len = strlen(match) + 1;
	s.text = malloc(len + strlen(by ?: "") + 1);
	if (!s.text)
		return -ENOMEM;
	strcpy(s.text, match);
	strcpy(s.text + len, by ?: "");
	why = parse_match(s.text, &s);
	if (!why && by)
		why = parse_by(s.text + len, &s);
	if (why) {
		free(s.text);
		*ret_why = why;
		return -EINVAL;
	}
	*ret_spec = s;
	return 0;
}

void spec__free(struct spec *s)
{
	freep(&s->text);
	s->text = NULL;
}

const char *pairs__check(const char *match, const char *by)
{
	struct spec s = { 0 };
	const char *why = NULL;

	if (spec__parse(match, by, &s, &why) == -ENOMEM)
		why = "out of memory";
	spec__free(&s);
	return why;
}

/* A name that no field of an event is looked up for. */
static bool is_header_name(const char *name)
{
	return !strcmp(name, "tid") || !strcmp(name, "cpu") || !strcmp(name, "context") ||
	       !strcmp(name, "event");
}

static bool side_wants_fields(const struct spec_side *side)
{
	unsigned int i;

	for (i = 0; i < side->nr; i++)
		if (!is_header_name(side->names[i]))
			return true;
	return false;
}

bool pairs__wants_fields(const char *match, const char *by)
{
	struct spec s = { 0 };
	const char *why;
	bool wants = false;
	unsigned int i;

	if (spec__parse(match, by, &s, &why))
		return true;
	for (i = 0; i < s.nr_match; i++)
		wants = wants || side_wants_fields(&s.start[i]) || side_wants_fields(&s.end[i]);
	for (i = 0; i < s.nr_by; i++)
		wants = wants || !is_header_name(s.by[i]);
	spec__free(&s);
	return wants;
}
