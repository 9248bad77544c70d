/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Presets: the events to record for a question, and the command that answers it.  The table is for
 * --preset of record, latency and report, and for `list --presets`.
 */
#ifndef UI_PRESETS_H
#define UI_PRESETS_H

#include <stdbool.h>

#define PRESET_EVENTS 24
#define PRESETS_MAX 16 /* given to one command */

struct preset_event {
	const char *spec; /* as for -e */
	const char *filter; /* as for --filter; NULL: none */
	bool optional; /* left out if this kernel lacks it */
};

struct preset {
	const char *name;
	const char *summary; /* one line, for list --presets */
	const char *answer; /* the command that reads it: "latency --preset rmap" */
	bool user_stacks; /* record user stacks also system-wide */
	/* Why the events of selected tasks (-p, a COMMAND) are not enough; NULL: they are. */
	const char *needs_all;
	bool include_self; /* the recorder's own switches, waits and reaps matter, too */
	struct preset_event events[PRESET_EVENTS]; /* ended by a NULL spec */
	/* for latency; NULL if the preset is not a pair */
	const char *start, *end; /* as for latency --start and --end */
	const char *match; /* as for latency --match; NULL: by thread */
	const char *by; /* as for latency --by; NULL: one group */
	const char *start_if; /* as for latency --start-if; NULL: none */
	bool single; /* as for latency --single */
};

extern const struct preset presets[]; /* ended by one whose name is NULL */
#define PRESET_WORDS WORDS_OF(presets)

/* NULL if no preset has this name. */
const struct preset *preset__find(const char *name);
/*
 * Adds the presets of a list of names to the *nr ones, each once; PRESETS_MAX have room.  Returns
 * CMD_OK; CMD_USAGE after a message; or -ENOMEM.
 */
int presets__add(const char *command, const char *names, const struct preset **list,
		 unsigned int *nr);
/* For a name that preset__find() does not know: says which may be meant; returns CMD_USAGE. */
int preset__usage_error(const char *command, const char *name);

#endif /* UI_PRESETS_H */
