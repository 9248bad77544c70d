// SPDX-License-Identifier: GPL-2.0-only
/* The table of export formats. */
#include "formats.h"

const struct export_format export_formats[] = {
#define EXPORT_FORMAT_AS(name_, word, summary_, ...) \
	{ .name = word, .summary = summary_, .run = export__##name_, ##__VA_ARGS__ },
#include "formats.def"
	{ 0 },
};
