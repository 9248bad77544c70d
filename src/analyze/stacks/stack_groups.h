/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers the groups of events that have the same values.  A part of stack_counts.h. */
#ifndef ANALYZE_STACK_GROUPS_H
#define ANALYZE_STACK_GROUPS_H

#include "stack_counts.h"

struct stack_groups;

int stack_groups__new(const struct stack_spec *spec, struct stack_groups **ret_groups);
void stack_groups__free(struct stack_groups *g);
/* The group of an event, from 0.  -ENOMEM. */
int stack_groups__of(struct stack_groups *g, const struct stk_event *e, uint32_t *ret_group);
unsigned int stack_groups__nr(const struct stack_groups *g);
/* Sets keys, type and other_types of a group. */
void stack_groups__get(const struct stack_groups *g, uint32_t group, struct stack_group *ret_group);
/* By their keys, as for qsort(3). */
int stack_groups__cmp(const struct stack_groups *g, const struct stack_group *a,
		      const struct stack_group *b);
uint64_t stack_groups__memory(const struct stack_groups *g); /* bytes */

#endif /* ANALYZE_STACK_GROUPS_H */
