// SPDX-License-Identifier: GPL-2.0-only
/* Keeps copies of events until their user stacks have arrived. */
#include "ftrace_held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"

void ftrace_held__clear(struct ftrace_held *h)
{
	size_t i;

	for (i = 0; i < h->nr; i++)
		free(h->v[i].data);
	free(h->v);
	*h = (struct ftrace_held){ 0 };
}

int ftrace_held__add(struct ftrace_held *h, unsigned int cpu, const struct ftrace_matched *m)
{
	struct ftrace_held_event e = { .cpu = cpu, .m = *m };

	if (array__grow(&h->v, h->nr, &h->cap))
		return -ENOMEM;
	e.data = malloc(MAX(m->len, (size_t)1));
	if (!e.data)
		return -ENOMEM;
	memcpy(e.data, m->data, m->len);
	e.m.data = e.data;
	h->v[h->nr++] = e;
	return 0;
}

int ftrace_held__walk(struct ftrace_held *h,
		      int (*fn)(void *ctx, unsigned int cpu, const struct ftrace_matched *m),
		      void *ctx, uint64_t *ret_oldest)
{
	uint64_t oldest = UINT64_MAX;
	size_t i, kept = 0;
	int n = 0;

	for (i = 0; i < h->nr; i++) {
		n = n < 0 ? n : fn(ctx, h->v[i].cpu, &h->v[i].m);
		if (n > 0) {
			free(h->v[i].data);
			continue;
		}
		oldest = MIN(oldest, h->v[i].m.ts);
		h->v[kept++] = h->v[i];
	}
	h->nr = kept;
	*ret_oldest = oldest;
	return MIN(n, 0);
}
