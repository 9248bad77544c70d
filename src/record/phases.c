// SPDX-License-Identifier: GPL-2.0-only
/* Measures and logs the parts of the start and of the end of a recording. */
#include "phases.h"

#include <stddef.h>

#include "clock.h"
#include "log.h"
#include "text.h"

static struct phase_time now(void)
{
	return (struct phase_time){
		.wall = clock_ns(CLOCK_MONOTONIC),
		.cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
	};
}

static void report(const struct phases *p, struct phase_time from, const char *what)
{
	log_debug("%s: %s ns, CPU %s ns: %s", p->name, text__number(p->last.wall - from.wall).s,
		  text__number(p->last.cpu - from.cpu).s, what);
}

void phases__begin(struct phases *p, const char *name)
{
	if (!p)
		return;
	p->name = name;
	p->start = p->last = now();
}

void phases__part(struct phases *p, const char *part)
{
	struct phase_time from;

	if (!p || !p->name)
		return;
	from = p->last;
	p->last = now();
	report(p, from, part);
}

void phases__end(struct phases *p, const char *part)
{
	if (!p || !p->name)
		return;
	phases__part(p, part);
	report(p, p->start, "in all");
	p->name = NULL;
}
