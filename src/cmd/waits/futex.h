/* SPDX-License-Identifier: GPL-2.0-only */
/* The futex command: futex.c reads, futex_put.c prints text and futex_json.c prints JSON. */
#ifndef CMD_FUTEX_H
#define CMD_FUTEX_H

#include "analyze/waits/futex.h"
#include "waits.h"

struct futex {
	struct waits w;
	struct futex_opts opts;
	struct futex_analysis *analysis;
	const struct futex_result *result;
	struct futex_waker *wakers; /* of the current group */
	uint32_t max_wakers;
};

/* The waits of a group that were woken from one call site by tasks with one comm. */
struct futex_waker {
	const struct futex_stacks *first;
	struct stk_frame frame; /* the call site; STK_FRAME_UNKNOWN: no user stack */
	uint64_t count, sum;
	uint64_t guesses; /* of count: the frame is a guess */
};

/* Fills fx->wakers for g, most frequent first.  -ENOMEM. */
int futex__wakers(struct futex *fx, const struct futex_group *g, uint32_t *ret_nr);
const char *futex__kind(const struct futex_address *a);

/* Prints the columns of a group, in text and JSON. */
void futex__put_columns(struct out *o, const struct futex_group *g);
/* Prints the counts of what could not be matched. */
void futex__put_notes(struct futex *fx);
void futex__put_text(struct futex *fx);
void futex__put_json(struct futex *fx);

#endif /* CMD_FUTEX_H */
