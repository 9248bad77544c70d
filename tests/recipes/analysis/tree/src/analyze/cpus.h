/* SPDX-License-Identifier: GPL-2.0-only */
/* Events by CPU. */
#ifndef ANALYZE_CPUS_H
#define ANALYZE_CPUS_H

#include "key_table.h"
#include "stackonce.h"

/* A table from CPU to number of events. */
void cpus__init(struct key_table *t);
/* -ENOMEM. */
int cpus__add(struct key_table *t, const struct stk_event *e);
uint32_t cpus__cpu(const struct key_table *t, uint32_t number);
uint64_t cpus__events(const struct key_table *t, uint32_t number);

#endif /* ANALYZE_CPUS_H */
