/* SPDX-License-Identifier: GPL-2.0-only */
/* What the reading commands share: FILE, --follow, which events are selected, the loop. */
#ifndef CMD_READING_H
#define CMD_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "out.h"
#include "ui.h"
#include "user_names.h"

/* Values of the shared options, outside of the single letters. */
enum reading_option {
	OPT_TIME = 0x100,
	OPT_EVENT,
	OPT_PID,
	OPT_TID,
	OPT_COMM,
	OPT_CPU,
	OPT_JSON,
	OPT_FOLLOW,
	OPT_SYSROOT,
	OPT_DEBUG_DIR,
	OPT_DEBUGINFOD,
	OPT_NO_SYMBOLS,
	OPT_NO_DEMANGLE,
	OPT_INLINE,
	OPT_FLAMEGRAPH,
	OPT_FORCE,
	OPT_OWN, /* a command's own long options start here */
};

/* clang-format off */
#define READING_OPTIONS \
	{ "input", required_argument, NULL, 'i' }, \
	{ "json", no_argument, NULL, OPT_JSON }, \
	{ "help", no_argument, NULL, 'h' }

#define FOLLOW_OPTION \
	{ "follow", no_argument, NULL, OPT_FOLLOW }

#define SELECT_OPTIONS \
	{ "time", required_argument, NULL, OPT_TIME }, \
	{ "event", required_argument, NULL, OPT_EVENT }, \
	{ "pid", required_argument, NULL, OPT_PID }, \
	{ "tid", required_argument, NULL, OPT_TID }, \
	{ "comm", required_argument, NULL, OPT_COMM }, \
	{ "cpu", required_argument, NULL, OPT_CPU }

#define SYSROOT_OPTION \
	{ "sysroot", required_argument, NULL, OPT_SYSROOT }

#define DEBUG_OPTIONS \
	SYSROOT_OPTION, \
	{ "debug-dir", required_argument, NULL, OPT_DEBUG_DIR }, \
	{ "debuginfod", no_argument, NULL, OPT_DEBUGINFOD }

#define NAMES_OPTIONS \
	DEBUG_OPTIONS, \
	{ "no-symbols", no_argument, NULL, OPT_NO_SYMBOLS }, \
	{ "no-demangle", no_argument, NULL, OPT_NO_DEMANGLE }

#define INLINE_OPTION \
	{ "inline", no_argument, NULL, OPT_INLINE }

#define FORCE_OPTION \
	{ "force", no_argument, NULL, OPT_FORCE }

#define FLAMEGRAPH_OPTIONS \
	{ "flamegraph", required_argument, NULL, OPT_FLAMEGRAPH }, \
	FORCE_OPTION

/* Their lines of --help: which events the command is about, or which it counts. */
#define SELECT_HELP \
	"      --time A,B       between these times, in seconds of the recording's clock;\n" \
	"                       either may be left out: 12.5, or ,13\n" \
	"      --event GLOB     these events, several with commas: 'sched:*,sys_enter_*'\n" \
	"      --pid LIST       these processes or threads\n" \
	"      --tid LIST       these threads\n" \
	"      --comm GLOB      tasks of this name\n" \
	"      --cpu LIST       on these CPUs: 0-3,8\n"
#define COUNT_HELP \
	"      --time A,B       count only events between these times, in seconds;\n" \
	"                       either may be left out: 12.5, or ,13\n" \
	"      --event GLOB     count only these events, several with commas\n" \
	"      --pid LIST       count only events of these processes or threads\n" \
	"      --tid LIST       count only events of these threads\n" \
	"      --comm GLOB      count only events of tasks of this name\n" \
	"      --cpu LIST       count only events on these CPUs: 0-3,8\n"

#define NAMES_HELP \
	"      --no-demangle    names of C++ and Rust functions as they are in the files\n" \
	"      --no-symbols     no names but those in the recording\n" \
	"      --sysroot DIR    names from files under DIR; --debug-dir DIR, --debuginfod\n"
/* clang-format on */

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
	const char *path;
	bool json, follow;
	bool help; /* --help was given */
	bool every; /* reading__next() hands out what is not selected, too */
	const char *flamegraph; /* file of the picture; NULL: no picture is asked for */
	bool force; /* what is written may replace a recording */
	struct selection sel;
	struct names names;
	struct stk_reader *reader;
	struct output *picture; /* what becomes of flamegraph */
	int code; /* CMD_FAILURE once the recording turned out damaged */
	bool live; /* a recorder was writing it when it was opened */
	bool at_end; /* all of the recording has been read */
};

/*
 * A shared option: CMD_OK when taken, CMD_USAGE after a message.  Call it for what the command
 * does not know itself.
 */
int reading__option(struct reading *rd, int c, const char *arg);
/*
 * All options of a command line, letters being its short ones: take() gets each, but for -h, which
 * sets rd->help and ends it.  CMD_OK, or what take() did not like.
 */
int reading__options(struct reading *rd, int argc, char **argv, const char *letters,
		     const struct option *longopts, int (*take)(void *ctx, int c, const char *arg),
		     void *ctx);
/* The words behind the options: at most FILE, and not besides -i. */
int reading__file(struct reading *rd, int argc, char **argv);
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

#endif /* CMD_READING_H */
