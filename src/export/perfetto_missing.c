// SPDX-License-Identifier: GPL-2.0-only
/* Takes the place of perfetto.c in a build without protobuf-c. */
#include <errno.h>

#include "formats.h"
#include "log.h"

int export__perfetto(const struct export_source *src, const struct output_opts *opts,
		     struct strbuf *summary)
{
	log_err(0, "this stackonce was built without protobuf-c, which perfetto needs: install its "
		   "compiler and library (on Debian protobuf-c-compiler and libprotobuf-c-dev), "
		   "then build again");
	return -ENOSYS;
}
