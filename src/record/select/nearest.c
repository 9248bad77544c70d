// SPDX-License-Identifier: GPL-2.0-only
/* Finds the names that are most similar to a mistyped one. */
#include "nearest.h"

#include <errno.h>
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

unsigned int nearest__find(const char *name, const char *const *all, size_t nr_all,
			   size_t ret_near[NEAREST_SHOWN])
{
	unsigned int dist[NEAREST_SHOWN], nr = 0, k;
	size_t i;

	for (i = 0; i < nr_all; i++) {
		unsigned int d;

		if (i && !strcmp(all[i - 1], all[i]))
			continue;
		d = distance(name, all[i]);
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
	return nr;
}

static int complain(const char *message, const char *const *shown, const size_t *near,
		    unsigned int nr)
{
	log_msg(STK_LOG_ERROR, 0, "%s%s%s%s%s%s%s", message,
		nr ? "; nearest: " : "; there are none", nr ? shown[near[0]] : "",
		nr > 1 ? ", " : "", nr > 1 ? shown[near[1]] : "", nr > 2 ? ", " : "",
		nr > 2 ? shown[near[2]] : "");
	return -ENOENT;
}

int nearest__complain_name(const char *message, const char *name, const char *const *all,
			   size_t nr_all)
{
	size_t near[NEAREST_SHOWN];

	return complain(message, all, near, nearest__find(name, all, nr_all, near));
}

int nearest__complain(const char *spec, char **all, size_t nr_all)
{
	_cleanup_free_ const char **names = calloc(nr_all + 1, sizeof(*names));
	_cleanup_free_ char *message = NULL;
	size_t near[NEAREST_SHOWN], i;

	if (asprintf(&message, "no event matches '%s'", spec) < 0)
		message = NULL;
	if (!names || !message)
		return -ENOMEM;
	for (i = 0; i < nr_all; i++)
		names[i] = strchr(spec, ':') ? all[i] : strchr(all[i], ':') + 1;
	return complain(message, (const char *const *)all, near,
			nearest__find(spec, names, nr_all, near));
}
