// SPDX-License-Identifier: GPL-2.0-only
/* stackonce cpus: how many events came from each CPU. */
#include <inttypes.h>

#include "analyze/cpus.h"
#include "cleanup.h"
#include "log.h"
#include "ui/reading.h"

struct cpus {
	struct reading rd;
	struct out out;
};

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct cpus, rd, A_RECORDING),
	SELECT_OPTIONS("count only events", "count only these events, several with commas"),
	HELP_OPTION
};
/* clang-format on */

static void cpus__free(struct cpus *c)
{
	reading__free(&c->rd);
}

static int run(int argc, char **argv)
{
	_cleanup_(cpus__free) struct cpus c = { 0 };
	_cleanup_(key_table__clear) struct key_table table = { 0 };
	const struct stk_event *e;
	int code = reading__options(&c.rd, &cmd_cpus, argc, argv);

	code = code ? code : reading__open(&c.rd, STK_WANT_EVENTS);
	if (code)
		return code;
	cpus__init(&table);
	out__open(&c.out, true);
	while (reading__next(&c.rd, &c.out, NULL, NULL, &e) > 0)
		if (cpus__add(&table, e))
			return log_err(CMD_FAILURE, "out of memory");
	for (uint32_t i = 0; i < table.nr; i++)
		strbuf__printf(&c.out.b, "cpu %u  %" PRIu64 " events\n", cpus__cpu(&table, i),
			       cpus__events(&table, i));
	return out__close(&c.out, reading__finish(&c.rd));
}

const struct cmd cmd_cpus = {
	.name = "cpus",
	.summary = "how many events came from each CPU",
	.run = run,
	.options = options,
	.text = "Prints how many events came from each CPU.\n",
};
