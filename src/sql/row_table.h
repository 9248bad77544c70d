/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables that are not events: "stacks", "frames", "files", "types", "losses". */
#ifndef SQL_ROW_TABLE_H
#define SQL_ROW_TABLE_H

#include "recording.h"

/* -ENOMEM, logged. */
int row_tables__register(sqlite3 *db, struct sql_recording *rec);
/* The i-th name; NULL: there are no more. */
const char *row_table__name(unsigned int i);

#endif /* SQL_ROW_TABLE_H */
