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

static unsigned int find(const char *name, const char *const *all, size_t nr_all,
			 unsigned int (*distance_of)(const char *meant, const char *name),
			 size_t ret_near[NEAREST_SHOWN])
{
	unsigned int dist[NEAREST_SHOWN], nr = 0, k;
	size_t i;

	for (i = 0; i < nr_all; i++) {
		unsigned int d;

		if (i && !strcmp(all[i - 1], all[i]))
			continue;
		d = distance_of(name, all[i]);
		for (k = 0; k < nr && dist[k] <= d; k++)
			;
		if (k == NEAREST_SHOWN)
			continue;
		nr = MIN(nr + 1, (unsigned int)NEAREST_SHOWN);
		memmove(&ret_near[k + 1], &ret_near[k], (nr - 1 - k) * sizeof(*ret_near));
		memmove(&dist[k + 1], &dist[k], (nr - 1 - k) * sizeof(*dist));
		ret_near[k] = i;
		dist[k] = d;
	}
	/* names that are hardly similar help only if there is nothing better */
	while (nr > 1 && dist[nr - 1] > MAX(dist[0], strlen(name) / 2))
		nr--;
	return nr;
}

unsigned int nearest__find(const char *name, const char *const *all, size_t nr_all,
			   size_t ret_near[NEAREST_SHOWN])
{
	return find(name, all, nr_all, name_distance, ret_near);
}

static int complain(const char *message, const char *const *shown, const size_t *near,
		    unsigned int nr)
{
	log_msg(STK_LOG_ERROR, 0, "%s%s%s%s%s%s%s%s", message,
		nr ? "; did you mean " : "; there are none", nr ? shown[near[0]] : "",
		nr > 2 ? ", " :
		nr > 1 ? " or " :
			 "",
		nr > 1 ? shown[near[1]] : "", nr > 2 ? " or " : "", nr > 2 ? shown[near[2]] : "",
		nr ? "?" : "");
	return -ENOENT;
}

int nearest__complain_name(const char *message, const char *name, const char *const *all,
			   size_t nr_all)
{
	size_t near[NEAREST_SHOWN];

	return complain(message, all, near, nearest__find(name, all, nr_all, near));
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

int nearest__complain(const char *spec, char **all, size_t nr_all)
{
	_cleanup_free_ char *message = NULL, *system = nearest_system(spec, all, nr_all);
	size_t near[NEAREST_SHOWN];

	if (asprintf(&message, "no event matches '%s'", spec) < 0) {
		message = NULL;
		return -ENOMEM;
	}
	if (system)
		return complain(message, (const char *[]){ system }, (size_t[]){ 0 }, 1);
	return complain(message, (const char *const *)all, near,
			find(spec, (const char *const *)all, nr_all, event_distance, near));
}
