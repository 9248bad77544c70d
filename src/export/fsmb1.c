// SPDX-License-Identifier: GPL-2.0-only
/* Writes the stacks of a recording as an FSMB map of version 1. */
#include "formats.h"
#include "fsmb.h"
#include "fsmb_format.h"

int export__fsmb1(const struct export_source *src, const struct output_opts *output,
		  struct strbuf *summary)
{
	return export_fsmb_summed(src, FSMB_VERSION_V1, output, summary);
}
