// SPDX-License-Identifier: GPL-2.0-only
#include "synthetic.h"

#include <string.h>

#include "cleanup.h"

#define COMMON_FIELDS                                                                  \
	"ID: 0\nformat:\n"                                                             \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* As the tracepoints proposed for mm/rmap.c have it. */
#define RMAP_FIELDS                                                                            \
	COMMON_FIELDS "\tfield:unsigned long folio_addr;\toffset:8;\tsize:8;\tsigned:0;\n"     \
		      "\tfield:unsigned long rwc_addr;\toffset:16;\tsize:8;\tsigned:0;\n"      \
		      "\tfield:__data_loc char[] page_type;\toffset:24;\tsize:4;\tsigned:0;\n" \
		      "\tfield:bool locked;\toffset:28;\tsize:1;\tsigned:0;\n\n"               \
		      "print fmt: \"folio=%p rwc=%p page_type=%s locked=%s\", "                \
		      "(void *)(unsigned long)REC->folio_addr, "                               \
		      "(void *)(unsigned long)REC->rwc_addr, __get_str(page_type), "           \
		      "REC->locked ? \"true\" : \"false\"\n"

/*
 * rmap_walk() and rmap_walk_locked() are inlined into their callers, which then jump to one of
 * these: so it is these that are probed.  Newer kernels inline rmap_walk_file(), too,
 * and have __rmap_walk_file() below it.
 */
#define RMAP_FUNCTIONS                                                             \
	.functions = {                                                             \
		[WIRE_RMAP_ANON] = { "rmap_walk_anon", NULL },                     \
		[WIRE_RMAP_FILE] = { "rmap_walk_file", NULL },                     \
		[WIRE_RMAP_KSM] = { "rmap_walk_ksm", NULL },                       \
		[WIRE_RMAP_FILE_PAGES] = { "__rmap_walk_file", "rmap_walk_file" }, \
	}

const struct synthetic synthetics[] = {
	{ "rmap", "rmap_walk_start", "name: rmap_walk_start\n" RMAP_FIELDS, WIRE_RMAP_WALK, false,
	  RMAP_FUNCTIONS },
	{ "rmap", "rmap_walk_end", "name: rmap_walk_end\n" RMAP_FIELDS, WIRE_RMAP_WALK, true,
	  RMAP_FUNCTIONS },
};

const size_t nr_synthetics = ARRAY_SIZE(synthetics);

const struct synthetic *synthetic__find(const char *full)
{
	size_t i, n;

	for (i = 0; i < nr_synthetics; i++) {
		n = strlen(synthetics[i].system);
		if (!strncmp(full, synthetics[i].system, n) && full[n] == ':' &&
		    !strcmp(full + n + 1, synthetics[i].name))
			return &synthetics[i];
	}
	return NULL;
}
