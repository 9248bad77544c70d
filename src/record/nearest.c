// SPDX-License-Identifier: GPL-2.0-only
#include "nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"

#define MAX_NAME 128
#define SHOWN 3

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

int nearest__complain(const char *spec, char **all, size_t nr_all)
{
	const char *near[SHOWN] = { NULL };
	unsigned int dist[SHOWN];
	bool full = strchr(spec, ':');
	size_t i, k;

	for (i = 0; i < nr_all; i++) {
		const char *name = full ? all[i] : strchr(all[i], ':') + 1;
		unsigned int d = distance(spec, name);

		for (k = 0; k < SHOWN && near[k] && dist[k] <= d; k++)
			;
		if (k == SHOWN)
			continue;
		memmove(&near[k + 1], &near[k], (SHOWN - 1 - k) * sizeof(*near));
		memmove(&dist[k + 1], &dist[k], (SHOWN - 1 - k) * sizeof(*dist));
		near[k] = all[i];
		dist[k] = d;
	}
	if (!near[0])
		return log_err(-ENOENT, "no event matches '%s', nor is there any", spec);
	log_msg(STK_LOG_ERROR, 0, "no event matches '%s'; nearest: %s%s%s%s%s", spec, near[0],
		near[1] ? ", " : "", near[1] ? near[1] : "", near[2] ? ", " : "",
		near[2] ? near[2] : "");
	return -ENOENT;
}
