/* SPDX-License-Identifier: GPL-2.0-only */
/* Task names as numbers: the same name has one, wherever it came from. */
#ifndef ANALYZE_COMM_NAMES_H
#define ANALYZE_COMM_NAMES_H

#include "analyze/key_table.h"

void comm_names__init(struct key_table *t);
/* comm lives as long as the table.  -ENOMEM. */
int comm_names__number(struct key_table *t, const char *comm, uint32_t *ret_number);
const char *comm_names__get(const struct key_table *t, uint32_t number);

#endif /* ANALYZE_COMM_NAMES_H */
