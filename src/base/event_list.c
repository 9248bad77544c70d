// SPDX-License-Identifier: GPL-2.0-only
/* Splits lists of events at the commas between them. */
#include "event_list.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/*
 * The length of the name at s of "operator<", "operator()" and the like, which have no brackets; 0:
 * another name.
 */
static size_t operator_len(const char *list, const char *s)
{
	const size_t word = strlen("operator");

	if (strncmp(s, "operator", word) ||
	    (s > list && (isalnum((unsigned char)s[-1]) || s[-1] == '_')))
		return 0;
	return word + (strncmp(s + word, "()", 2) ? strspn(s + word, "<>=-") : 2);
}

static size_t first_len(const char *list)
{
	unsigned int depth = 0;
	size_t len = 0;

	while (list[len] && (depth || list[len] != ',')) {
		size_t skip = operator_len(list, list + len);

		if (list[len] == '(' || list[len] == '<')
			depth++;
		else if (depth && (list[len] == ')' || list[len] == '>'))
			depth--;
		len += skip ?: 1;
	}
	/* a bracket that is not closed does not count */
	return depth ? strcspn(list, ",") : len;
}

char *event_list__next(char **rest)
{
	char *item = *rest, *end;

	if (!item)
		return NULL;
	end = item + first_len(item);
	*rest = *end ? end + 1 : NULL;
	*end = '\0';
	return item;
}
