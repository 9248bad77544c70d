// SPDX-License-Identifier: GPL-2.0-only
/* Finds the names that are most similar to a mistyped one. */
#include "nearest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"

#define MAX_NAME 128
#define NR_SHOWN 3

/* Levenshtein distance of the first MAX_NAME bytes. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[MAX_NAME + 1], n = strnlen(a, MAX_NAME), m = strnlen(b, MAX_NAME), i, j;

	for (j = 0; j <= m; j++)
		row[j] = j;
	for (i = 1; i <= n; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (j = 1; j <= m; j++) {
			unsigned int above = row[j];
			unsigned int best = diagonal + (a[i - 1] != b[j - 1]);

			best = MIN(best, above + 1);
			row[j] = MIN(best, row[j - 1] + 1);
			diagonal = above;
		}
	}
	return row[m];
}

/* A shorter name is part of too many others. */
#define MIN_PART 3

/*
 * How far name is from the one that was meant.  Names have prefixes that people leave out: a part
 * of the name between underscores is one typing error away, any other part two.
 */
static unsigned int name_distance(const char *meant, const char *name)
{
	size_t len = strlen(meant);
	const char *part = len >= MIN_PART ? strstr(name, meant) : NULL;
	unsigned int d = distance(meant, name);

	for (; part; part = strstr(part + 1, meant)) {
		bool begins = part == name || part[-1] == '_';
		bool ends = !part[len] || part[len] == '_';

		d = MIN(d, begins && ends ? 1u : 2u);
	}
	return d;
}

/* Of "system:name"; what was meant may be one of both. */
static unsigned int event_distance(const char *meant, const char *full)
{
	const char *colon = strchr(full, ':'), *meant_colon = strchr(meant, ':');
	_cleanup_free_ char *system = strndup(full, colon - full), *meant_system = NULL;

	if (!meant_colon)
		return name_distance(meant, colon + 1);
	meant_system = strndup(meant, meant_colon - meant);
	if (!system || !meant_system)
		return MAX_NAME;
	return distance(meant_system, system) + name_distance(meant_colon + 1, colon + 1);
}

/* Names that differ in more letters than this are not similar. */
static unsigned int reach(const char *meant)
{
	unsigned int len = strnlen(meant, MAX_NAME);

	return len <= MIN_PART ? 1 : MAX(len / 3, 2u);
}

/* The most similar names, best first; adjacent equal names count once. */
static unsigned int find(const char *meant, const char *const *all, size_t nr_all,
			 unsigned int (*distance_of)(const char *meant, const char *name),
			 size_t ret_near[NR_SHOWN])
{
	unsigned int dist[NR_SHOWN], nr = 0, k, limit = reach(meant);
	size_t i;

	for (i = 0; i < nr_all; i++) {
		unsigned int d;

		if (i && !strcmp(all[i - 1], all[i]))
			continue;
		d = distance_of(meant, all[i]);
		for (k = 0; k < nr && dist[k] <= d; k++)
			;
		if (k == NR_SHOWN || d > limit)
			continue;
		nr = MIN(nr + 1, (unsigned int)NR_SHOWN);
		memmove(&ret_near[k + 1], &ret_near[k], (nr - 1 - k) * sizeof(*ret_near));
		memmove(&dist[k + 1], &dist[k], (nr - 1 - k) * sizeof(*dist));
		ret_near[k] = i;
		dist[k] = d;
	}
	return nr;
}

/* "; did you mean A, B or C?", or nothing. */
static char *question(const char *const *all, const size_t *near, unsigned int nr)
{
	char *text;

	if (asprintf(&text, "%s%s%s%s%s%s%s", nr ? "; did you mean " : "", nr ? all[near[0]] : "",
		     nr > 2 ? ", " :
		     nr > 1 ? " or " :
			      "",
		     nr > 1 ? all[near[1]] : "", nr > 2 ? " or " : "", nr > 2 ? all[near[2]] : "",
		     nr ? "?" : "") < 0)
		return NULL;
	return text;
}

char *nearest__question(const char *meant, const char *const *all, size_t nr_all)
{
	size_t near[NR_SHOWN];

	return question(all, near, find(meant, all, nr_all, name_distance, near));
}

int nearest__complain_name(const char *message, const char *meant, const char *const *all,
			   size_t nr_all)
{
	_cleanup_free_ char *question = nearest__question(meant, all, nr_all);

	log_msg(STK_LOG_ERROR, 0, "%s%s", message, !nr_all ? "; there are none" : question ?: "");
	return -ENOENT;
}

/* The system whose name is a typing error away; NULL: none.  Owned by the caller. */
static char *nearest_system(const char *meant, char *const *all, size_t nr_all)
{
	char *system = NULL;
	size_t i;

	for (i = 0; i < nr_all && !system && !strchr(meant, ':'); i++) {
		system = strndup(all[i], strcspn(all[i], ":"));
		if (system && distance(meant, system) > 1) {
			free(system);
			system = NULL;
		}
	}
	return system;
}

int nearest__complain(const char *meant, char *const *all, size_t nr_all)
{
	_cleanup_free_ char *system = nearest_system(meant, all, nr_all), *text = NULL;
	const char *const *names = (const char *const *)all;
	size_t near[NR_SHOWN];
	unsigned int nr;

	if (system) {
		text = question((const char *[]){ system }, (size_t[]){ 0 }, 1);
	} else {
		nr = find(meant, names, nr_all, event_distance, near);
		text = nr ? question(names, near, nr) : strdup(": 'stackonce list' prints all");
	}
	log_msg(STK_LOG_ERROR, 0, "no event matches '%s'%s", meant,
		!nr_all ? "; there are none" :
		text	?:
			  "");
	return -ENOENT;
}
