/* SPDX-License-Identifier: GPL-2.0-only */
/* From the CPUs' rings to the writer: events, tasks, stacks and the symbols they need. */
#ifndef RECORD_DRAIN_H
#define RECORD_DRAIN_H

#include <stddef.h>
#include <stdint.h>

struct drain;
struct ksyms;
struct programs;
struct rec_events;
struct stk_writer;

/*
 * All arguments are borrowed.  Event i of events must be event i of the writer and the programs.
 */
int drain__new(struct programs *p, const struct rec_events *events, struct ksyms *syms,
	       struct stk_writer *w, struct drain **ret_drain);
void drain__free(struct drain *d);

/* Hands the events that are in the rings to the writer, at most a ring's worth of each CPU. */
int drain__run(struct drain *d);
/* The writer has ended a round. */
void drain__end_round(struct drain *d);

struct drain_stats {
	uint64_t events; /* handed to the writer */
	uint64_t fullest; /* bytes found in the fullest ring by the last run */
	uint64_t horizon; /* the last run left events from this time on; UINT64_MAX: none */
	uint64_t unresolved; /* stack ids the map did not know: a fault of ours if not 0 */
};
void drain__stats(const struct drain *d, struct drain_stats *ret_stats);

#endif /* RECORD_DRAIN_H */
