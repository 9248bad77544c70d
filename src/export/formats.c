// SPDX-License-Identifier: GPL-2.0-only
/* The table of export formats. */
#include "formats.h"

const struct export_format export_formats[] = {
#define EXPORT_FORMAT(name, summary) { #name, summary, export__##name },
#include "formats.def"
#undef EXPORT_FORMAT
	{ 0 },
};
