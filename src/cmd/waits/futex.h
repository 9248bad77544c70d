/* SPDX-License-Identifier: GPL-2.0-only */
/* The futex command: reading in futex.c, the table in futex_put.c, JSON in futex_json.c. */
#ifndef CMD_FUTEX_H
#define CMD_FUTEX_H

#include "analyze/waits/futex.h"
#include "waits.h"

struct futex {
	struct waits w;
	enum futex_by by;
	struct futex_analysis *analysis;
	const struct futex_result *result;
	struct futex_waker *wakers; /* of the group being printed */
	uint32_t max_wakers;
};

/* Those of a group's waits that were woken from one place by tasks of one name. */
struct futex_waker {
	const struct futex_stacks *first;
	struct stk_frame frame; /* the call site; kind unknown: it has no user stack */
	uint64_t count, sum;
};

/* Most frequent first; -ENOMEM. */
int futex__wakers(struct futex *fx, const struct futex_group *g, uint32_t *ret_nr);
const char *futex__kind(const struct futex_address *a);

/* A row for each column of the groups. */
void futex__put_columns(struct out *o, const struct futex_group *g);
/* What could not be matched. */
void futex__put_notes(struct futex *fx);
void futex__put_text(struct futex *fx);
void futex__put_json(struct futex *fx);

#endif /* CMD_FUTEX_H */
