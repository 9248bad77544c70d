/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moves events, tasks, stacks and their symbols from the rings of an ftrace instance to the writer.
 */
#ifndef RECORD_FTRACE_DRAIN_H
#define RECORD_FTRACE_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/backend.h"
#include "record/ftrace/ring/ftrace_page.h"
#include "record/ftrace/ring/ftrace_stacks.h"

struct ftrace_drain;
struct ftrace_instance;
struct ftrace_tasks;
struct ftrace_users;
struct recorder_opts;

struct ftrace_drain_opts {
	const struct recorder_opts *rec;
	const struct ftrace_instance *instance;
	const struct ftrace_page_format *page;
	const struct ftrace_kinds *kinds;
	struct ftrace_tasks *tasks;
	struct ftrace_users *users; /* NULL: no user stacks */
	struct stk_writer *w;
	unsigned int nr_cpus;
	uint64_t ring_bytes; /* ring size of a CPU, and the limit for one run */
};

/* Borrows everything that the options point to. */
int ftrace_drain__new(const struct ftrace_drain_opts *opts, struct ftrace_drain **ret_drain);
void ftrace_drain__free(struct ftrace_drain *d);

/* Writes the events in the rings; last: all of them, also those whose stacks have not arrived. */
int ftrace_drain__run(struct ftrace_drain *d, bool last);
void ftrace_drain__end_round(struct ftrace_drain *d);

/* Adds the counters of the events to rows of STK_NR_COUNTERS. */
void ftrace_drain__add_counters(const struct ftrace_drain *d,
				uint64_t (*counters)[STK_NR_COUNTERS]);
/*
 * Stacks that the events of a CPU lack.  All but the orphans had no room in its ring; all other
 * records that it dropped were events.
 */
uint64_t ftrace_drain__lost_stacks(const struct ftrace_drain *d, unsigned int cpu);
/* Stacks of a CPU whose events are not in its ring, or had been written without them. */
uint64_t ftrace_drain__orphans(const struct ftrace_drain *d, unsigned int cpu);
void ftrace_drain__stats(const struct ftrace_drain *d, struct backend_stats *ret_stats);

#endif /* RECORD_FTRACE_DRAIN_H */
