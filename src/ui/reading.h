/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the reading commands: FILE, --follow, the selection of events, the loop. */
#ifndef UI_READING_H
#define UI_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "selection.h"
#include "ui.h"
#include "names/user_names.h"

/* clang-format off */
/*
 * Option rows that several commands share.  type is the command's struct; rd, a struct reading, is
 * its first member, and the rows set members of it.
 */
#define READING_OPTIONS_OF(type, rd, text, operand) \
	{ "-i, --input FILE", text, OPT_FN(reading__take_path) }, \
	{ operand, NULL, OPT_FN(reading__take_path), \
	  .at = 0 * sizeof(char[offsetof(type, rd) ? -1 : 1]) }
#define READING_OPTIONS(type, rd, text) READING_OPTIONS_OF(type, rd, text, "[FILE...]")
#define A_RECORDING "the recording (default standard input or trace.stk)"
/* For commands that read one recording. */
#define READING_OPTIONS_ONE(type, rd, text) READING_OPTIONS_OF(type, rd, text, "[FILE]")

#define JSON_OPTION(text) \
	{ "--json", text, OPT_FLAG(struct reading, json) }
#define FOLLOW_OPTION(text) \
	{ "--follow", text, OPT_FLAG(struct reading, follow) }

/* Selections; `what` names what is selected, such as "only events". */
#define TIME_OPTION(what) \
	{ "--time A,B", \
	  what " from A to B: '12.5,13', '+1,' since the start, '20%,30%' or '14:03,14:05'", \
	  OPT_FN(selection__take_time), \
	  .expects = "A,B with A before B, or A, or ,B, in seconds, as +1.5, 20% or 14:03:20" }
#define EVENT_OPTION(text) \
	{ "-e, --event EVENTS", text, OPT_FN(selection__take_event) }, \
	{ "--filter EXPR", "filter for the -e before it, or for all events", \
	  OPT_FN(selection__take_filter) }
#define PID_OPTION(text) \
	{ "--pid PIDS", text, OPT_SET(struct reading, sel.pid, UINT32_MAX), \
	  .expects = "a list of process ids" }
#define COMM_OPTION(text) \
	{ "--comm GLOBS", text, OPT_FN(selection__take_comm) }
#define SELECT_OPTIONS(what, events) \
	TIME_OPTION(what), \
	EVENT_OPTION(events), \
	PID_OPTION(what " in these processes or threads"), \
	{ "--tid TIDS", what " in these threads", OPT_SET(struct reading, sel.tid, UINT32_MAX), \
	  .expects = "a list of thread ids" }, \
	COMM_OPTION(what " in tasks with this name"), \
	{ "--cpu CPUS", what " on these CPUs: 0-3,8", \
	  OPT_SET(struct reading, sel.cpu, UINT32_MAX), .expects = "a list of CPUs like 0-3,8" }

#define SYSROOT_OPTION(text) \
	{ "--sysroot DIR", text, OPT_TEXT(struct reading, names.sysroot) }
#define DEBUG_OPTIONS \
	SYSROOT_OPTION("search for files under DIR"), \
	{ "--debug-dir DIR", "search for debug files in DIR, not in /usr/lib/debug", \
	  OPT_FN(reading__take_debug_dir) }, \
	{ "--debuginfod", "query the servers in $DEBUGINFOD_URLS, too", \
	  OPT_FLAG(struct reading, names.debuginfod) }
#define NAMES_OPTIONS \
	{ "--no-demangle", "do not demangle the names of C++ and Rust functions", \
	  OPT_FLAG(struct reading, names.no_demangle) }, \
	{ "--no-symbols", "use only the names in the recording", \
	  OPT_FLAG(struct reading, names.no_symbols) }, \
	DEBUG_OPTIONS
#define FULL_OPTION(text) \
	{ "--full", text, OPT_FLAG(struct reading, names.full) }
#define FULL_FILES_OPTION \
	FULL_OPTION("print path and build id of the files of user frames")
#define INLINE_OPTION \
	{ "--inline", "print inlined user functions and source lines", \
	  OPT_FLAG(struct reading, names.inlines) }

#define FORCE_OPTION(text) \
	{ "--force", text, OPT_FLAG(struct reading, force) }
#define FLAMEGRAPH_OPTIONS(text) \
	{ "--flamegraph OUT.svg", text, OPT_TEXT(struct reading, flamegraph) }, \
	FORCE_OPTION("replace OUT.svg even if it is a recording")
/* clang-format on */

int reading__take_path(void *into, const struct opt *o, const char *arg);
int reading__take_debug_dir(void *into, const struct opt *o, const char *arg);

struct reading {
	const char *command;
	const char **paths; /* FILE and -i; after reading__options() the recordings to read */
	unsigned int nr_paths;
	const char *path; /* after reading__options(): the recording, or "FILE and N more" */
	char *several; /* holds path */
	bool is_default; /* no path was given */
	bool one_boot; /* tasks are known by their ids: recordings of several boots are refused */
	bool json, follow;
	bool no_notes; /* no lines "# ..." in text */
	bool only_one; /* several recordings are refused */
	bool only_files; /* standard input cannot be the recording */
	bool every; /* reading__next() returns events that are not selected, too */
	bool only_events; /* it applies -e and --filter only: the rest selects something else */
	const char *flamegraph; /* --flamegraph; NULL: not given */
	bool force; /* the output may replace a recording */
	struct selection sel;
	struct event_filter_opts filter_names;
	bool begun; /* an event was read, so the event types are known */
	bool by_count; /* reading__next_counted() need not read events one by one */
	struct user_names names;
	struct stk_reader *reader;
	struct output *picture; /* the file of flamegraph */
	int code; /* CMD_FAILURE once damage to the recording was found */
	bool live; /* a recorder was writing it when it was opened */
	bool at_end; /* all of the recording has been read */
	int error; /* why it could not be read to its end, or 0 */
};

/*
 * Parses the command line of a reading command into its struct, whose first member is rd; returns
 * as options__parse() does.
 */
int reading__options(struct reading *rd, const struct cmd *cmd, int argc, char **argv);
/* Reads only recording number i of those given; before reading__open(). */
void reading__choose(struct reading *rd, unsigned int i);
/*
 * Opens the recording and the file of --flamegraph; want as in struct stk_reader_opts.  Returns
 * CMD_OK, or CMD_FAILURE after a message.
 */
int reading__open(struct reading *rd, unsigned int want);

/*
 * The next selected event: 1, or 0 at the end.  Damage (after a message, with rd->code set), a
 * write error of o and, while following, Ctrl-C also return 0.  While following a recording that
 * has nothing new, calls idle (which may be NULL), flushes o and waits.
 */
int reading__next(struct reading *rd, struct out *o, void (*idle)(void *ctx), void *ctx,
		  const struct stk_event **ret_event);
/*
 * Like stk_reader__next(), for the selected events; -ECANCELED, after a message and with rd->code
 * set: the options cannot be applied to the recording.
 */
int reading__next_selected(struct reading *rd, const struct stk_event **ret_event);
/* What reading__next() does at the end, or at the error err: logs it, and sets at_end and code. */
void reading__end(struct reading *rd, int err);
/*
 * The same for commands that count: *ret_event stands for *ret_count events that differ only in
 * time and fields, as stk_reader__next_counted() says.
 */
int reading__next_counted(struct reading *rd, struct out *o, void (*idle)(void *ctx), void *ctx,
			  const struct stk_event **ret_event, uint64_t *ret_count);
/* Whether the options select this event. */
bool reading__selected(struct reading *rd, const struct stk_event *e);
/* Whether a selected event may be among the lost ones, whose tasks are unknown. */
bool reading__loss_selected(struct reading *rd, const struct stk_loss *loss);
/* Whether the recording is in progress, or was when it was opened. */
bool reading__is_live(const struct reading *rd);
/* Whether the recordings that are read have the same metadata under these keys, ended by NULL. */
bool reading__agree(const struct reading *rd, const char *const *keys);
/* Warns about damage and a missing end of the recording; returns the exit code. */
int reading__finish(struct reading *rd);
void reading__free(struct reading *rd);

/* "system:name", owned by the caller; NULL when out of memory. */
char *event__full_name(const struct stk_event_type *t);
/*
 * Whether one of the globs in a list (event_list.h) matches "system:name", the name alone, or the
 * former with the path of a program as it was given to record, or is the name of the system: 1, 0
 * or -ENOMEM.
 */
int event__matches(const struct stk_reader *r, const char *list, const struct stk_event_type *t);

/* Comm as ftrace prints it: "<idle>" for the idle task. */
static inline const char *event_comm(const struct stk_event *e)
{
	return stk_event__tid(e) ? stk_event__comm(e) : "<idle>";
}

#endif /* UI_READING_H */
