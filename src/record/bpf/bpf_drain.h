/* SPDX-License-Identifier: GPL-2.0-only */
/* From the CPUs' rings to the writer: events, tasks, stacks and the symbols they need. */
#ifndef RECORD_DRAIN_H
#define RECORD_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stackonce-counters.h"

struct backend_stats;
struct drain;
struct files;
struct ksyms;
struct programs;
struct rec_events;
struct stk_writer;

struct drain_opts {
	struct programs *programs;
	const struct rec_events *events; /* in the order of the writer's and the programs' */
	struct ksyms *syms;
	struct stk_writer *w;
	struct files *files; /* NULL: no user stacks */
	bool user_fp_only;
};

/* All that the options point to is borrowed. */
int drain__new(const struct drain_opts *opts, struct drain **ret_drain);
void drain__free(struct drain *d);

/* Hands the events that are in the rings to the writer, at most a ring's worth of each CPU. */
int drain__run(struct drain *d);
/* The writer has ended a round. */
void drain__end_round(struct drain *d);

/* Adds how the user stacks that were unwound here end, to rows of STK_NR_COUNTERS. */
void drain__add_ends(const struct drain *d, uint64_t (*counters)[STK_NR_COUNTERS]);

void drain__stats(const struct drain *d, struct backend_stats *ret_stats);

#endif /* RECORD_DRAIN_H */
