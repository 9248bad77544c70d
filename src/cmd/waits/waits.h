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
	bool stacks;
	uint64_t top; /* groups; 0: all, or WAITS_TOP_DEFAULT */
};

#define WAITS_TOP_DEFAULT UINT64_MAX /* --top was not given */

/* clang-format off */
#define WAITS_OPTIONS(stacks_text, picture_text, what) \
	{ "--top N", "N lines, 0: all (default 20; with --json all)", \
	  OPT_NUMBER(struct waits, top, 0, UINT32_MAX) }, \
	{ "--stacks", stacks_text, OPT_FLAG(struct waits, stacks) }, \
	FLAMEGRAPH_OPTIONS(picture_text), \
	SELECT_OPTIONS(what, "read only these events"), \
	NAMES_OPTIONS
/* clang-format on */

/* As reading__options(); w is the first member of the command's struct. */
int waits__options(struct waits *w, const struct cmd *cmd, int argc, char **argv);
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
