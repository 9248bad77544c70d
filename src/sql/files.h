/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only files that SQLite can open, whatever a query says: temporary ones, without a name and in
 * total not beyond a limit, and one file that was opened for it.
 */
#ifndef SQL_FILES_H
#define SQL_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "sqlite.h"

#define SQL_FILES_VFS "stackonce"
#define SQL_FILES_SAVE "save" /* the name of the file that was opened */

struct sql_files {
	sqlite3_vfs vfs; /* first */
	uint64_t max; /* bytes of temporary files */
	uint64_t used, peak;
	int save; /* -1: none */
	bool exceeded; /* a temporary file was refused because of max */
	const char *where; /* directory of the temporary files, for messages */
};

/* Registers it with SQLite, which must be loaded; -ENOMEM, logged. */
int sql_files__register(struct sql_files *f, uint64_t max);
void sql_files__unregister(struct sql_files *f);

#endif /* SQL_FILES_H */
