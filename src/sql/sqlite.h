/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SQLite, loaded when a command needs it.  Its functions have their usual names: sqlite3ext.h makes
 * them calls through the table that SQLite gives to extensions.
 */
#ifndef SQL_SQLITE_H
#define SQL_SQLITE_H

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3 /* sqlite3_api: NULL until sqlite__load() */

	/* Loads the library once and logs its errors: -EOPNOTSUPP, -ENOMEM. */
	int
	sqlite__load(void);

#endif /* SQL_SQLITE_H */
