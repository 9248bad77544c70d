/* SPDX-License-Identifier: GPL-2.0-only */
/* What the reading commands share: FILE, --follow, which events are selected, the loop. */
#ifndef UI_READING_H
#define UI_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "ui.h"
#include "user_names.h"

/* clang-format off */
/*
 * Rows of options that commands share.  type is the command's struct and rd its struct reading,
 * which is its first member: these rows say where the members of that are.
 */
#define READING_OPTIONS(type, rd, text) \
	{ "-i, --input FILE", text, OPT_TEXT(struct reading, input) }, \
	{ "[FILE]", NULL, .kind = OPT_KIND_TEXT, \
	  .at = OPT_AT(struct reading, path, const char *) + \
		0 * sizeof(char[offsetof(type, rd) ? -1 : 1]) }
#define A_RECORDING "the recording (default trace.stk, - is standard input)"

#define JSON_OPTION(text) \
	{ "--json", text, OPT_FLAG(struct reading, json) }
#define FOLLOW_OPTION(text) \
	{ "--follow", text, OPT_FLAG(struct reading, follow) }

/* Of what only that is wanted which is selected. */
#define TIME_OPTION(what) \
	{ "--time A,B", what " between these times, in seconds; either may be left out: 12.5, or ,13", \
	  OPT_FN(reading__take_time), \
	  .wants = "seconds as A,B or A, or ,B" }
#define EVENT_OPTION(text) \
	{ "--event EVENTS", text, OPT_TEXT(struct reading, sel.event) }
#define PID_OPTION(text) \
	{ "--pid PIDS", text, OPT_SET(struct reading, sel.pid, UINT32_MAX), \
	  .wants = "a list of process ids" }
#define COMM_OPTION(text) \
	{ "--comm GLOB", text, OPT_TEXT(struct reading, sel.comm) }
#define SELECT_OPTIONS(what, events) \
	TIME_OPTION(what), \
	EVENT_OPTION(events), \
	PID_OPTION(what " in these processes or threads"), \
	{ "--tid TIDS", what " in these threads", OPT_SET(struct reading, sel.tid, UINT32_MAX), \
	  .wants = "a list of thread ids" }, \
	COMM_OPTION(what " in tasks of this name"), \
	{ "--cpu CPUS", what " on these CPUs: 0-3,8", \
	  OPT_SET(struct reading, sel.cpu, UINT32_MAX), .wants = "a list of CPUs like 0-3,8" }

#define SYSROOT_OPTION(text) \
	{ "--sysroot DIR", text, OPT_TEXT(struct reading, names.sysroot) }
#define DEBUG_OPTIONS \
	SYSROOT_OPTION("look for files under DIR"), \
	{ "--debug-dir DIR", "look for debug files there, not in /usr/lib/debug", \
	  OPT_FN(reading__take_debug_dir) }, \
	{ "--debuginfod", "ask the servers in $DEBUGINFOD_URLS, too", \
	  OPT_FLAG(struct reading, names.debuginfod) }
#define NAMES_OPTIONS \
	{ "--no-demangle", "names of C++ and Rust functions as they are in the files", \
	  OPT_FLAG(struct reading, names.no_demangle) }, \
	{ "--no-symbols", "no names but those in the recording", \
	  OPT_FLAG(struct reading, names.no_symbols) }, \
	DEBUG_OPTIONS
#define INLINE_OPTION \
	{ "--inline", "user functions that were inlined, and source lines", \
	  OPT_FLAG(struct reading, names.inlines) }

#define FORCE_OPTION(text) \
	{ "--force", text, OPT_FLAG(struct reading, force) }
#define FLAMEGRAPH_OPTIONS(text) \
	{ "--flamegraph OUT.svg", text, OPT_TEXT(struct reading, flamegraph) }, \
	FORCE_OPTION("even where OUT.svg is a recording")
/* clang-format on */

int reading__take_time(void *into, const struct opt *o, const char *arg);
int reading__take_debug_dir(void *into, const struct opt *o, const char *arg);

/* Which events; all zero selects every one. */
struct selection {
	bool any, has_time;
	uint64_t from, to; /* ns, both included */
	const char *event, *comm; /* globs, NULL: all */
	struct num_set pid, tid, cpu;
	int8_t *types; /* answers per event type: 1 yes, 2 no, 0 not asked */
	unsigned int nr_types;
	const char *last_comm; /* the last answer for --comm */
	bool last_comm_idle, last_comm_answer;
};

struct reading {
	const char *command;
	const char *path; /* FILE, and once the options are read the one that counts */
	const char *input; /* -i */
	bool json, follow;
	bool every; /* reading__next() hands out what is not selected, too */
	const char *flamegraph; /* file of the picture; NULL: no picture is asked for */
	bool force; /* what is written may replace a recording */
	struct selection sel;
	struct user_names names;
	struct stk_reader *reader;
	struct output *picture; /* what becomes of flamegraph */
	int code; /* CMD_FAILURE once the recording turned out damaged */
	bool live; /* a recorder was writing it when it was opened */
	bool at_end; /* all of the recording has been read */
};

/*
 * The command line of a reading command, into its struct, of which rd is the first member: as
 * options__parse().
 */
int reading__options(struct reading *rd, const struct cmd *cmd, int argc, char **argv);
/* want as in struct stk_reader_opts; the picture is begun.  CMD_OK, or CMD_FAILURE after a message. */
int reading__open(struct reading *rd, unsigned int want);

/*
 * The next selected event: 1, or 0 at the end, which is also where the recording is damaged (a
 * message is out and rd->code set), where out cannot be written any more and on Ctrl-C while
 * following.  While following and nothing is new, calls idle (which may be NULL), flushes out and
 * waits.
 */
int reading__next(struct reading *rd, struct out *o, void (*idle)(void *ctx), void *ctx,
		  const struct stk_event **ret_event);
/* Whether the options select this event. */
bool reading__selected(struct reading *rd, const struct stk_event *e);
/* Whether an event that they select may be among the lost ones; the task of these is unknown. */
bool reading__loss_selected(struct reading *rd, const struct stk_loss *loss);
/* Whether the recording goes on, or did so when it was opened. */
bool reading__is_live(const struct reading *rd);
/* Says what is missing from the end of the recording; returns the exit code. */
int reading__finish(struct reading *rd);
void reading__free(struct reading *rd);

/* "system:name", to be freed; NULL when out of memory. */
char *event__full_name(const struct stk_event_type *t);
/* Whether one of the globs is for its full name, or for the name alone. */
bool event__matches(const char *globs, const struct stk_event_type *t);

/* Comm as ftrace prints it: "<idle>" for the idle task. */
static inline const char *event_comm(const struct stk_event *e)
{
	return stk_event__tid(e) ? stk_event__comm(e) : "<idle>";
}

#endif /* UI_READING_H */
