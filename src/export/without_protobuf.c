// SPDX-License-Identifier: GPL-2.0-only
/* Takes the place of perfetto.c and pprof.c in a build without protobuf-c. */
#include <errno.h>

#include "formats.h"
#include "log.h"

static int refuse(const char *format)
{
	log_err(0,
		"this stackonce was built without protobuf-c, which %s needs: install its compiler "
		"and library (on Debian protobuf-c-compiler and libprotobuf-c-dev), then build "
		"again",
		format);
	return -ENOSYS;
}

int export__perfetto(const struct export_source *src, const struct output_opts *opts,
		     struct strbuf *summary)
{
	return refuse("perfetto");
}

int export__pprof(const struct export_source *src, const struct output_opts *opts,
		  struct strbuf *summary)
{
	return refuse("pprof");
}
