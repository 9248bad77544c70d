// SPDX-License-Identifier: GPL-2.0-only
/* libdebuginfod is loaded only on demand, as it pulls in an HTTP client. */
#include "debug_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"

#define LIBRARY "libdebuginfod.so.1"

/* Declared as in elfutils' debuginfod.h. */
typedef struct debuginfod_client debuginfod_client;
typedef debuginfod_client *(*begin_fn)(void);
typedef void (*end_fn)(debuginfod_client *client);
typedef int (*find_fn)(debuginfod_client *client, const unsigned char *id, int id_len, char **path);

static int query_servers(void *library, const uint8_t *id, unsigned int id_len, bool debug)
{
	begin_fn begin = (begin_fn)dlsym(library, "debuginfod_begin");
	end_fn end = (end_fn)dlsym(library, "debuginfod_end");
	find_fn find = (find_fn)dlsym(library, debug ? "debuginfod_find_debuginfo" :
						       "debuginfod_find_executable");
	debuginfod_client *client;
	int fd;

	if (!begin || !end || !find)
		return -EOPNOTSUPP;
	client = begin();
	if (!client)
		return -ENOMEM;
	fd = find(client, id, id_len, NULL);
	end(client);
	return fd;
}

static bool has_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[strspn(urls, " ")];
}

/* Never unloaded: libcurl does not support it. */
static void *load(void)
{
	return dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

const char *debuginfod__unusable(void)
{
	if (!has_servers())
		return "no server is set, DEBUGINFOD_URLS must name one or several, such as "
		       "https://debuginfod.elfutils.org";
	return load() ? NULL : LIBRARY " cannot be loaded, is it installed?";
}

int debuginfod__open(const uint8_t *id, unsigned int id_len, bool debug, int *ret_fd)
{
	void *library;
	int fd;

	if (!has_servers() || !id_len)
		return -ENOENT;
	library = load();
	fd = library ? query_servers(library, id, id_len, debug) : -EOPNOTSUPP;
	if (fd == -EOPNOTSUPP)
		log_debug("%s is unusable", LIBRARY);
	if (fd < 0)
		return -ENOENT;
	*ret_fd = fd;
	return 0;
}
