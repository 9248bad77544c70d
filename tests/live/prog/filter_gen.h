/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random filter expressions for the tests that compare filters: with the kernel's (filter_same),
 * and those of a recorder with those of a reader (tests/unit/query).
 */
#ifndef FILTER_GEN_H
#define FILTER_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/format.h"
#include "symbols/ksyms.h"

#define MAX_EXPR_TEXT 1024

struct record {
	uint16_t type; /* the event's id */
	uint16_t cpu;
	int pid;
	uint32_t len;
	const uint8_t *data;
};

struct event {
	char *system, *name;
	struct ev_format *fmt;
	uint16_t id;
	bool flags_vary; /* differ between instances: uprobes miscount preempt_count */
	struct record *samples; /* borrowed from the sample round */
	size_t nr_samples;
};

struct rng {
	uint64_t state;
};
uint32_t rng__below(struct rng *r, uint32_t n);

struct generator {
	struct rng rng;
	struct ksyms *syms;
	uint32_t nr_cpus;
	bool cpus, function; /* features of this kernel's filters */
	bool not_matches_end; /* [!x] also matches the NUL and bytes after it, as in 6.1 */
	const char *const *comms; /* of the workload */
};
/* A well-formed expression with values from e's samples, into text[MAX_EXPR_TEXT]. */
void generate(struct generator *g, const struct event *e, char *text);
/* Changes the expression, which may then be valid or not. */
void mutate(struct generator *g, char *text);

#endif /* FILTER_GEN_H */
