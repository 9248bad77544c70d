// SPDX-License-Identifier: GPL-2.0-only
/* How formats that have no named_frames.h name a function. */
#include "source.h"

#include "names/user_names.h"

const char *export_source__function(const struct export_source *src, const struct stk_frame *f)
{
	return src->names && f->sym && f->kind == STK_FRAME_USER ?
		       user_names__function(src->names, f->sym) :
		       f->sym;
}
