/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What futex and offcpu share.  Both need the events of everybody, to see who wakes whom: of the
 * options that select, --event says which events are read, and the others which waits count.
 */
#ifndef CMD_WAITS_H
#define CMD_WAITS_H

#include "analyze/durations.h"
#include "analyze/waits/wait_task.h"
#include "ui/column.h"
#include "ui/flames.h"
#include "ui/reading.h"

struct waits {
	struct reading rd;
	struct out out;
	struct selection which;
	bool stacks, has_top;
	uint64_t top; /* groups; 0: all */
};

/* Values of the options that both have; a command's own start at OPT_WAITS_OWN. */
enum { OPT_WAITS_TOP = OPT_OWN, OPT_WAITS_STACKS, OPT_WAITS_OWN };

/* clang-format off */
#define WAITS_OPTIONS \
	READING_OPTIONS, \
	SELECT_OPTIONS, \
	NAMES_OPTIONS, \
	{ "top", required_argument, NULL, OPT_WAITS_TOP }, \
	{ "stacks", no_argument, NULL, OPT_WAITS_STACKS }, \
	FLAMEGRAPH_OPTIONS
/* clang-format on */

/* For what the command does not know itself: as reading__option(). */
int waits__option(struct waits *w, int c, const char *arg);
/* The command line: as reading__options(), then FILE, and what is selected. */
int waits__options(struct waits *w, int argc, char **argv, const struct option *longopts,
		   int (*take)(void *ctx, int c, const char *arg), void *ctx);
void waits__free(struct waits *w);

bool waits__selected(const struct waits *w, const struct wait_task *task, uint64_t ts,
		     unsigned int cpu);
/* How many of nr groups to print. */
uint32_t waits__top(const struct waits *w, uint32_t nr);

/* "# 12 TEXT", nothing for 0 or without a text; or a member: what could not be matched, and the like. */
void waits__note(struct waits *w, const char *key, uint64_t nr, const char *text);
/* Columns "sum", "min", "p50", "p99", "max", "exact"; "min" and "exact" are in JSON only, "max" is always shown. */
void waits__durations(struct out *o, const struct durations *d, int width);
/* "comm-tid" */
void waits__put_task(struct strbuf *b, const char *comm, uint32_t tid);

/* Members "tid", "pid", "comm". */
void waits__json_task(struct json *j, const struct wait_task *task);
/* "kstack", "ustack" and, with --stacks, "frames". */
void waits__json_stacks(struct waits *w, uint32_t kstack, uint32_t ustack);
/* "ustack_end": "complete" and the like, null for none. */
void waits__json_end(struct waits *w, uint32_t ustack);

#endif /* CMD_WAITS_H */
