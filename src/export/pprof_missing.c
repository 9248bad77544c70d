// SPDX-License-Identifier: GPL-2.0-only
/* Takes the place of pprof.c in a build without protobuf-c. */
#include <errno.h>

#include "formats.h"
#include "log.h"

int export__pprof(const struct export_source *src, const struct output_opts *opts,
		  struct strbuf *summary)
{
	log_err(0, "this stackonce was built without protobuf-c, which pprof needs: install its "
		   "compiler and library (on Debian protobuf-c-compiler and libprotobuf-c-dev), "
		   "then build again");
	return -ENOSYS;
}
