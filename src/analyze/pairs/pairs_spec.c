// SPDX-License-Identifier: GPL-2.0-only
/* Parses --match, --by and --start-if. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pairs_priv.h"

#define DEFAULT_MATCH "tid,context"

/* "a|b" */
static const char *parse_side(char *text, struct spec_side *side)
{
	char *name;

	while ((name = strsep(&text, "|"))) {
		if (!*name)
			return "a name is empty";
		if (side->nr == SPEC_ALTERNATIVES)
			return "a field has too many alternatives separated by |";
		side->names[side->nr++] = name;
	}
	return NULL;
}

/* "a|b=c"; splits text in place. */
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
			return "a field has two =";
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
	const char *why = NULL;
	char *part;

	while (!why && (part = strsep(&text, ","))) {
		if (s->nr_by == PAIRS_MAX_BY)
			return "there are too many fields to group by";
		why = parse_side(part, &s->by[s->nr_by++]);
	}
	return why;
}

/* "FIELD=VALUE" or "FIELD&MASK=VALUE" */
static const char *parse_if(char *text, struct spec *s)
{
	char *value = strchr(text, '='), *mask, *end;

	if (!value || !value[1])
		return "--start-if must be FIELD=VALUE or FIELD&MASK=VALUE";
	*value++ = '\0';
	errno = 0;
	s->if_value = strtoull(value, &end, 0);
	s->if_mask = UINT64_MAX;
	mask = strchr(text, '&');
	if (!errno && !*end && mask) {
		*mask++ = '\0';
		s->if_mask = strtoull(mask, &end, 0);
	}
	s->if_field = text;
	return errno || *end || end == mask || !*text ?
		       "--start-if must be FIELD=VALUE or FIELD&MASK=VALUE" :
		       NULL;
}

int spec__parse(const char *match, const char *by, const char *start_if, struct spec *ret_spec,
		const char **ret_why)
{
	struct spec s = { 0 };
	const char *why;
	size_t len, by_len;

	match = match ?: DEFAULT_MATCH;
	len = strlen(match) + 1;
	by_len = strlen(by ?: "") + 1;
	s.text = malloc(len + by_len + strlen(start_if ?: "") + 1);
	if (!s.text)
		return -ENOMEM;
	strcpy(s.text, match);
	strcpy(s.text + len, by ?: "");
	strcpy(s.text + len + by_len, start_if ?: "");
	why = parse_match(s.text, &s);
	if (!why && by)
		why = parse_by(s.text + len, &s);
	if (!why && start_if)
		why = parse_if(s.text + len + by_len, &s);
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
	free(s->text);
	s->text = NULL;
}

const char pairs_no_memory[] = "out of memory";

const char *pairs__check(const char *match, const char *by, const char *start_if)
{
	struct spec s = { 0 };
	const char *why = NULL;

	if (spec__parse(match, by, start_if, &s, &why) == -ENOMEM)
		why = pairs_no_memory;
	spec__free(&s);
	return why;
}
