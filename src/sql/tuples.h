/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Distinct combinations of the generic values of events, with the number of events of each: what
 * counts by stack, task, event type or CPU need.  Their number does not grow with the events.
 */
#ifndef SQL_TUPLES_H
#define SQL_TUPLES_H

#include "index.h"
#include "where.h"

/* By enum event_column; the time is not part of it, names are numbers, stacks are ranks. */
struct sql_tuple {
	uint32_t v[NR_EVENT_COLUMNS];
	uint64_t count;
};

struct sql_tuples {
	unsigned int columns; /* a bit for each column that distinguishes tuples */
	struct sql_tuple *v;
	unsigned int nr, max;
	struct index index;
	uint64_t seed, charged;
};

uint64_t sql_tuple__hash(uint64_t seed, const struct sql_tuple *tuple);

/* Reads the events to the end.  An SQLite code, with the message in vt. */
int sql_tuples__read(struct sql_tuples *t, struct sql_scan *s, struct sql_where *w,
		     unsigned int columns, sqlite3_vtab *vt);

struct sql_order {
	uint8_t column; /* enum event_column */
	bool descending;
};
/* Sorts them as SQLite sorts the values of these columns, nr of them. */
void sql_tuples__sort(struct sql_tuples *t, const struct sql_recording *rec,
		      const struct sql_order *by, unsigned int nr);
void sql_tuples__clear(struct sql_tuples *t);

#endif /* SQL_TUPLES_H */
