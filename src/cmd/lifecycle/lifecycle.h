/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of stackonce lifecycle. */
#ifndef CMD_LIFECYCLE_H
#define CMD_LIFECYCLE_H

#include "analyze/durations.h"
#include "analyze/lifecycle/lifecycle.h"
#include "ui/column.h"
#include "ui/reading.h"

enum lifecycle_sort { SORT_ZOMBIE, SORT_LIFETIME, SORT_TEARDOWN, SORT_FREE, SORT_TIME };

/* A process or thread that ended, or remains at the end. */
struct kept {
	struct life life; /* owns exec */
	uint64_t key; /* sort key, largest first */
};

int kept__compare(const void *a, const void *b); /* for qsort(3): largest key first */

enum { SPAN_LIFETIME, SPAN_TEARDOWN, SPAN_ZOMBIE, SPAN_UNFREED, NR_SPANS };

struct span_stats {
	struct durations known;
	uint64_t between; /* known as an interval only */
};

struct lifecycle_totals {
	uint64_t ended, status_0, status_other, signals, unknown, uncertain;
	uint64_t reaped, reaped_unseen, freed, gone;
	uint64_t alive, exiting, zombies, unfreed, overdue; /* at the end */
	struct span_stats spans[NR_SPANS];
};

struct lifecycle_cmd {
	struct reading rd;
	struct out out;
	bool tree, threads, stacks, steps;
	uint64_t top;
	enum lifecycle_sort sort;
	struct lifecycle *l;
	struct kept *ended; /* all with --tree; else a heap with the last one in the order on top */
	struct kept *remaining;
	size_t nr_ended, cap_ended, nr_remaining, cap_remaining;
	struct lifecycle_totals processes, thread_totals;
	uint64_t nr_lives, nr_of_pid; /* all lives, and those of --pid, selected or not */
	uint64_t first_ts; /* of the recording */
	int err; /* of a callback */
};

static inline uint64_t life_last(const struct life *l)
{
	return l->freed.to ?: l->reaped.to ?: l->zombie.to ?: l->exit.to;
}
/* Reaped more than LIFE_LEAK_NS before the end and not freed; a leak unless frees were missed. */
bool life_is_overdue(const struct lifecycle_cmd *c, const struct life *l);
bool life_is_leak(const struct lifecycle_cmd *c, const struct life *l);

extern const char *const span_names[NR_SPANS];
struct life_span life_span(const struct life *l, unsigned int which);
/* How long it has been in its state at the end. */
struct life_span life_time_in_state(const struct lifecycle_cmd *c, const struct life *l);
/* A span that has not ended is at least as long as it lasted so far. */
struct life_span life_span_so_far(const struct lifecycle_cmd *c, const struct life *l,
				  unsigned int which);

/* lifecycle_text.c */
void lifecycle__text(struct lifecycle_cmd *c);
void lifecycle__text_tree(struct lifecycle_cmd *c);
void lifecycle__text_step(struct lifecycle_cmd *c, const struct life_step *s);
void lifecycle__text_life(struct lifecycle_cmd *c, const struct life *l); /* one line */
void lifecycle__text_remaining(struct lifecycle_cmd *c, const struct life *l);

/* lifecycle_summary.c */
void lifecycle__summary(struct lifecycle_cmd *c);
void lifecycle__put_durations(struct out *o, const struct durations *d); /* columns */
/* Lines of text, or JSON members: counts, for threads without n, and what did not match. */
void lifecycle__put_totals(struct lifecycle_cmd *c, const struct lifecycle_totals *t,
			   const struct lifecycle_counts *n);
void lifecycle__put_unmatched(struct lifecycle_cmd *c, const struct lifecycle_counts *n);

/* lifecycle_put.c: pieces of text */
void put_span(struct strbuf *b,
	      struct life_span s); /* "1.23 ms", "1.00 ms..4.00 ms", ">3.00 s", "-" */
void put_fate(struct strbuf *b, const struct life *l); /* "exit 3", "SIGTERM" */
void put_signal(struct strbuf *b, int64_t sig);
void put_name(struct strbuf *b, const struct life_name *n); /* "comm[pid]", "?" */

/* lifecycle_json.c; depth -1: not in a tree */
void lifecycle__json_life(struct lifecycle_cmd *c, const struct life *l, int depth);
void lifecycle__json_step(struct lifecycle_cmd *c, const struct life_step *s);
void lifecycle__json_summary(struct lifecycle_cmd *c);

/* lifecycle_tree.c: calls put for each of ended, parents first, with its depth */
int lifecycle__walk(struct lifecycle_cmd *c,
		    void (*put)(struct lifecycle_cmd *c, const struct life *l, int depth));

#endif /* CMD_LIFECYCLE_H */
