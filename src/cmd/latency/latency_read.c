// SPDX-License-Identifier: GPL-2.0-only
/* Reads the pairs of a recording, for latency and for diff. */
#include "latency.h"

#include <errno.h>

#include "log.h"
#include "ui/need.h"

void latency__free(struct latency *l)
{
	pair_query__free(&l->query);
	reading__free(&l->rd);
}

int latency__read(struct latency *l)
{
	struct pair_query *q = &l->query;
	const struct stk_event *e;
	int err;

	err = pair_query__start(q, &l->rd, l->top,
				!l->rd.flamegraph ? PAIRS_NO_STACKS :
				l->of_end	  ? PAIRS_END_STACKS :
						    PAIRS_START_STACKS);
	while (!err && reading__next(&l->rd, &l->out, NULL, NULL, &e))
		err = pair_query__add(q, e);
	err = err ?: pair_query__check(q) ?: pairs__finish(q->pairs, l->rd.reader, &l->res);
	if (err && err != -ENOENT)
		log_err(err, "match starts and ends");
	if (!err && !l->res.nr_groups)
		need__all_tasks(&l->rd, q->preset);
	return err;
}
