// SPDX-License-Identifier: GPL-2.0-only
/* Loads SQLite: most commands do without it, and so can most machines. */
#include "sqlite.h"

#include <dlfcn.h>
#include <errno.h>

#include "log.h"

#define LIBRARY "libsqlite3.so.0"
#define OLDEST 3038000 /* sqlite3_vtab_in(), sqlite3_vtab_distinct(), sqlite3_error_offset() */

const sqlite3_api_routines *sqlite3_api;

typedef int (*auto_extension_fn)(void (*entry)(void));
typedef void (*reset_fn)(void);
typedef int (*open_fn)(const char *path, sqlite3 **ret_db, int flags, const char *vfs);

/* SQLite passes the table to each extension of a new connection. */
static int take_functions(sqlite3 *db, char **error, const sqlite3_api_routines *functions)
{
	sqlite3_api = functions;
	return SQLITE_OK;
}

static void ask_for_functions(void *library)
{
	auto_extension_fn add = (auto_extension_fn)dlsym(library, "sqlite3_auto_extension");
	reset_fn reset = (reset_fn)dlsym(library, "sqlite3_reset_auto_extension");
	open_fn open_db = (open_fn)dlsym(library, "sqlite3_open_v2");
	sqlite3 *db = NULL;

	if (!add || !reset || !open_db || add((void (*)(void))take_functions))
		return;
	open_db(":memory:", &db, SQLITE_OPEN_READWRITE, NULL);
	reset();
	if (sqlite3_api)
		sqlite3_close(db);
}

int sqlite__load(void)
{
	void *library;

	if (sqlite3_api)
		return 0;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return log_why(-EOPNOTSUPP,
			       LIBRARY " cannot be loaded: install SQLite (Debian: libsqlite3-0)");
	ask_for_functions(library);
	if (sqlite3_api && sqlite3_libversion_number() >= OLDEST)
		return 0;
	sqlite3_api = NULL;
	return log_why(-EOPNOTSUPP, "%s is too old: SQLite 3.38 or newer is needed", LIBRARY);
}
