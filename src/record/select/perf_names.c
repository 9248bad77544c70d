// SPDX-License-Identifier: GPL-2.0-only
/* Source: perf-list(1). */
#include "perf_names.h"

#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "record/kernel/feature_table.h"

static const char *const hardware[] = {
	"branch-instructions",
	"branches",
	"branch-misses",
	"bus-cycles",
	"cache-misses",
	"cache-references",
	"cpu-cycles",
	"cycles",
	"instructions",
	"ref-cycles",
	"stalled-cycles-backend",
	"stalled-cycles-frontend",
};

static const struct {
	const char *name, *instead;
} software[] = {
	{ "context-switches", "-e sched:sched_switch" },
	{ "cs", "-e sched:sched_switch" },
	{ "cpu-clock", "-F HZ" },
	{ "task-clock", "-F HZ" },
	{ "cpu-migrations", "-e sched:sched_migrate_task" },
	{ "migrations", "-e sched:sched_migrate_task" },
	{ "faults", "-e 'exceptions:page_fault_*'" },
	{ "page-faults", "-e 'exceptions:page_fault_*'" },
	{ "major-faults", "-e 'exceptions:page_fault_*'" },
	{ "minor-faults", "-e 'exceptions:page_fault_*'" },
};

/* Without a modifier such as ":u". */
static bool is_name(const char *spec, const char *name)
{
	size_t len = strcspn(spec, ":");

	return strlen(name) == len && !strncmp(spec, name, len);
}

static bool is_hardware(const char *spec)
{
	static const char *const caches[] = { "L1-dcache-", "L1-icache-", "LLC-",
					      "dTLB-",	    "iTLB-",	  "branch-load" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hardware); i++)
		if (is_name(spec, hardware[i]))
			return true;
	for (i = 0; i < ARRAY_SIZE(caches); i++)
		if (!strncmp(spec, caches[i], strlen(caches[i])))
			return true;
	return false;
}

char *perf_names__explain(const char *spec, bool has_hardware)
{
	char *message = NULL;
	int n = 0;
	size_t i;

	if (is_hardware(spec))
		n = asprintf(&message,
			     has_hardware ?
				     "'%s' is a hardware event of perf, not a tracepoint: -F HZ "
				     "takes timer samples by the cycle counter" :
				     "'%s' is a hardware event, and there are no hardware events "
				     "on this machine: -F HZ takes timer samples by the clock",
			     spec);
	for (i = 0; i < ARRAY_SIZE(software) && !message; i++)
		if (is_name(spec, software[i].name))
			n = asprintf(&message, "'%s' is an event of perf, not a tracepoint: use %s",
				     spec, software[i].instead);
	return n < 0 ? NULL : message;
}

bool perf_names__complain(const char *spec)
{
	_cleanup_free_ char *message =
		perf_names__explain(spec, is_hardware(spec) && features__cycles());

	if (message)
		log_msg(STK_LOG_ERROR, 0, "%s", message);
	return message;
}
