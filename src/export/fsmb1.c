// SPDX-License-Identifier: GPL-2.0-only
/* Writes the stacks of a recording as an FSMB map of version 1. */
#include "formats.h"
#include "fsmb.h"
#include "fsmb_format.h"

int export__fsmb1(struct stk_reader *r, const struct output_opts *output, struct strbuf *summary)
{
	return export_fsmb_summed(r, FSMB_VERSION_V1, output, summary);
}
