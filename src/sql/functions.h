/* SPDX-License-Identifier: GPL-2.0-only */
/* SQL functions about stacks, addresses and durations. */
#ifndef SQL_FUNCTIONS_H
#define SQL_FUNCTIONS_H

#include "recording.h"

/* -ENOMEM, logged. */
int sql_functions__register(sqlite3 *db, struct sql_recording *rec);

#endif /* SQL_FUNCTIONS_H */
