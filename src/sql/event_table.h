/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of events: "events", "tuples", and one for each event type. */
#ifndef SQL_EVENT_TABLE_H
#define SQL_EVENT_TABLE_H

#include "recording.h"

/*
 * Makes the tables known to SQLite; -ENOMEM, logged.  Called again after a new snapshot, it adds
 * those of new event types.
 */
int event_tables__register(sqlite3 *db, struct sql_recording *rec);
/* The name of a type's table, which a query quotes; owned by the caller. */
char *event_table__name(const struct sql_recording *rec, unsigned int type);

#endif /* SQL_EVENT_TABLE_H */
