// SPDX-License-Identifier: GPL-2.0-only
/* Prints durations in the unit that fits. */
#include "times.h"

#include <inttypes.h>
#include <stdio.h>

#include "cleanup.h"

void out__ns(struct strbuf *b, uint64_t ns, int width)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
	char text[32];
	unsigned int i;
	double d = 0;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		d = ns / units[i].ns;
		/* 999.6 us is 1.00 ms in three digits */
		if (d >= (i ? 0.9995 : 1))
			break;
	}
	if (i == ARRAY_SIZE(units))
		snprintf(text, sizeof(text), "%" PRIu64 " ns", ns);
	else
		snprintf(text, sizeof(text), "%.*f %s",
			 d < 9.995 ? 2 :
			 d < 99.95 ? 1 :
				     0,
			 d, units[i].name);
	strbuf__printf(b, "%*s", width, text);
}
