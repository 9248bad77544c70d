/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Presets: what to record for a question, and which command answers it.  `record --preset`,
 * `latency --preset` and `list --presets` share the table.
 */
#ifndef UI_PRESETS_H
#define UI_PRESETS_H

#include <stdbool.h>

#define PRESET_EVENTS 24

struct preset_event {
	const char *spec; /* as for -e */
	const char *filter; /* as for --filter; NULL: none */
	bool optional; /* left out where this kernel does not have it */
};

struct preset {
	const char *name;
	const char *summary; /* a line, for people */
	const char *answer; /* the command that reads it: "latency --preset rmap" */
	bool user_stacks; /* wanted also system-wide */
	bool include_self; /* the recorder is one of the tasks that switch, wait and reap */
	struct preset_event events[PRESET_EVENTS]; /* to a NULL spec */
	/* latency: NULL where the preset is no pair */
	const char *start, *end; /* globs, several with commas */
	const char *match; /* as for latency --match; NULL: by thread */
	const char *by; /* as for latency --by; NULL: one group */
	const char *start_if; /* as latency --start-if; NULL: none */
	bool single; /* as latency --single */
};

extern const struct preset presets[]; /* to one without a name */
#define PRESET_WORDS WORDS_OF(presets)

/* NULL when there is none. */
const struct preset *preset__find(const char *name);

#endif /* UI_PRESETS_H */
