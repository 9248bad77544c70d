/* SPDX-License-Identifier: GPL-2.0-only */
/* pairs(START, END, BY, MATCH): a row for each pair of events, see analyze/pairs/pairs.h. */
#ifndef SQL_PAIRS_TABLE_H
#define SQL_PAIRS_TABLE_H

#include "recording.h"

/* -ENOMEM, logged. */
int pairs_table__register(sqlite3 *db, struct sql_recording *rec);

#endif /* SQL_PAIRS_TABLE_H */
