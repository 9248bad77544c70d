// SPDX-License-Identifier: GPL-2.0-only
/* Finds the tracer's own frames at the inner end of a kernel stack. */
#include "ftrace_kstack.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "cleanup.h"
#include "symbols/ksyms.h"

#define MAX_OWN 12

/* Functions between the location of an event and the function that walks its stack. */
static bool is_tracer_name(const char *name)
{
	static const char *const beginnings[] = {
		"__traceiter_",
		"trace_event_raw_event_",
		"do_trace_event_raw_event_", /* 6.13: tracepoints that may fault */
		"trace_event_buffer_",
		"trace_buffer_unlock_commit",
		"__trace_stack",
		"__ftrace_trace_stack",
		"ftrace_syscall_",
		"event_trigger",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

void ftrace_kstacks__clear(struct ftrace_kstacks *k)
{
	idmap__clear(&k->tracer);
}

int ftrace_kstacks__own(struct ftrace_kstacks *k, const uint64_t *frames, unsigned int nr)
{
	struct ksym sym;
	unsigned int i;

	for (i = 0; i < nr && i < MAX_OWN; i++) {
		uint32_t *known = idmap__get(&k->tracer, frames[i]);

		if (!known)
			return -ENOMEM;
		/* a return address: the call may be the last instruction of its function */
		if (!*known)
			*known = !ksyms__find(k->syms, frames[i] - 1, &sym) &&
						 is_tracer_name(sym.name) ?
					 2 :
					 1;
		if (*known == 1)
			break;
	}
	return i;
}
