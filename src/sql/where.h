/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Conditions of a statement that a scan of events applies itself.  They may let too many events
 * through, never too few: SQLite checks each row once more, by its own rules of comparison.
 *
 * A plan, made in xBestIndex and carried to xFilter as a text, has two characters for each
 * condition: its column and its operator.
 */
#ifndef SQL_WHERE_H
#define SQL_WHERE_H

#include "recording.h"

/* The columns that all tables of events have, in this order. */
enum event_column {
	EVENT_TS,
	EVENT_CPU,
	EVENT_PID,
	EVENT_TID,
	EVENT_COMM,
	EVENT_EVENT,
	EVENT_KSTACK,
	EVENT_USTACK,
	NR_EVENT_COLUMNS,
};

#define WHERE_MAX 16 /* conditions; more are left to SQLite */

struct where_plan {
	char text[2 * WHERE_MAX + 1];
	unsigned int nr;
	double share; /* of the events, that pass */
};

/*
 * Claims the usable conditions of info on columns from `first` on, and numbers their values from 1
 * on.
 */
void where_plan__make(struct where_plan *plan, sqlite3_index_info *info, int first);

struct where_numbers {
	bool any; /* the column has a condition */
	int64_t *v; /* sorted */
	unsigned int nr;
};

struct where_text {
	char op;
	char *text;
};

#define WHERE_CACHE 256

struct sql_where {
	bool none; /* no event can pass */
	uint64_t from, to; /* ns, both included */
	struct where_numbers cpu, pid, tid, kstack, ustack;
	bool *types; /* by index; NULL: all */
	struct where_text *comms; /* any of those of one condition */
	unsigned int nr_comms;
	struct {
		const char *comm; /* of the reader */
		bool passes;
	} cache[WHERE_CACHE];
};

/* values: those of the plan's conditions.  An SQLite code. */
int sql_where__begin(struct sql_where *w, struct sql_recording *rec, const char *plan,
		     sqlite3_value **values);
/* Of this event type only. */
int sql_where__only_type(struct sql_where *w, const struct sql_recording *rec, unsigned int type);
bool sql_where__passes(struct sql_where *w, const struct sql_scan *s, const struct stk_event *e);
/*
 * Lets the reader of a scan that was just opened leave out what cannot pass; both must live until
 * the scan is closed.
 */
void sql_where__select(struct sql_where *w, struct sql_scan *s);
void sql_where__clear(struct sql_where *w);

#endif /* SQL_WHERE_H */
