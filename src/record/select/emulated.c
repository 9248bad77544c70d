// SPDX-License-Identifier: GPL-2.0-only
/* The table of emulated events. */
#include "emulated.h"

#include <string.h>

#include "cleanup.h"
#include "trace_entry.h"

#define RMAP_FIELDS WIRE_RMAP_FIELDS(FORMAT_FIELD)
#define RMAP_FORMAT                                                    \
	"ID: 0\n" TRACE_ENTRY_FORMAT RMAP_FIELDS "\n"                  \
	"print fmt: \"folio=%p rwc=%p page_type=%s locked=%s\", "      \
	"(void *)(unsigned long)REC->folio_addr, "                     \
	"(void *)(unsigned long)REC->rwc_addr, __get_str(page_type), " \
	"REC->locked ? \"true\" : \"false\"\n"

/*
 * rmap_walk() and rmap_walk_locked() are inlined into their callers, which then jump to one of
 * these functions.  Newer kernels inline rmap_walk_file(), too, which calls __rmap_walk_file().
 */
#define RMAP_FUNCTIONS                                                             \
	.functions = {                                                             \
		[WIRE_RMAP_ANON] = { "rmap_walk_anon", NULL },                     \
		[WIRE_RMAP_FILE] = { "rmap_walk_file", NULL },                     \
		[WIRE_RMAP_KSM] = { "rmap_walk_ksm", NULL },                       \
		[WIRE_RMAP_FILE_PAGES] = { "__rmap_walk_file", "rmap_walk_file" }, \
	}

const struct emulated emulated_events[] = {
	{ "rmap", "rmap_walk_start", "name: rmap_walk_start\n" RMAP_FORMAT, WIRE_RMAP_WALK, false,
	  RMAP_FUNCTIONS },
	{ "rmap", "rmap_walk_end", "name: rmap_walk_end\n" RMAP_FORMAT, WIRE_RMAP_WALK, true,
	  RMAP_FUNCTIONS },
};

const size_t nr_emulated_events = ARRAY_SIZE(emulated_events);

const struct emulated *emulated__find(const char *full)
{
	size_t i, n;

	for (i = 0; i < nr_emulated_events; i++) {
		n = strlen(emulated_events[i].system);
		if (!strncmp(full, emulated_events[i].system, n) && full[n] == ':' &&
		    !strcmp(full + n + 1, emulated_events[i].name))
			return &emulated_events[i];
	}
	return NULL;
}
