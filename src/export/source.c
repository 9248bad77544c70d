// SPDX-License-Identifier: GPL-2.0-only
/* What formats share: names of functions, without named_frames.h, and messages. */
#include "source.h"

#include <errno.h>

#include "log.h"
#include "names/user_names.h"

int export__failed(const struct stk_reader *r, const char *path, int err)
{
	const char *recording = stk_reader__path(r);

	if (err != -ENOBUFS)
		return log_err(err, "write '%s'", path);
	return recording ? log_err(err, "export '%s'", recording) :
			   log_err(err, "export the recordings");
}

const char *export_source__function(const struct export_source *src, const struct stk_frame *f)
{
	return user_names__of_frame(src->names, f);
}
