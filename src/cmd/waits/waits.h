/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by futex and offcpu.  Both need the events of all tasks to match wakers with waits.  The
 * options -e and --filter select the events that are read, and the other options select waits.
 */
#ifndef CMD_WAITS_H
#define CMD_WAITS_H

#include "analyze/durations.h"
#include "analyze/waits/wait_stack.h"
#include "analyze/waits/wait_task.h"
#include "ui/column.h"
#include "ui/flames.h"
#include "ui/reading.h"

struct waits {
	struct reading rd;
	struct out out;
	bool stacks;
	uint64_t top; /* groups; 0: all, or WAITS_TOP_DEFAULT */
};

#define WAITS_TOP_DEFAULT UINT64_MAX /* --top was not given */

/* clang-format off */
#define WAITS_OPTIONS(stacks_text, flamegraph_text, what) \
	{ "--top N", "print N lines, 0: all (default 20, with --json all)", \
	  OPT_NUMBER(struct waits, top, 0, UINT32_MAX) }, \
	{ "--stacks", stacks_text, OPT_FLAG(struct waits, stacks) }, \
	FLAMEGRAPH_OPTIONS(flamegraph_text), \
	SELECT_OPTIONS(what, "read only these events"), \
	FULL_OPTION("print all frames of kernel stacks, and path and build id of the files of " \
		    "user frames"), \
	NAMES_OPTIONS
/* clang-format on */

/* Like reading__options(); w is the first member of the command's struct. */
int waits__options(struct waits *w, const struct cmd *cmd, int argc, char **argv);
void waits__free(struct waits *w);

bool waits__selected(struct waits *w, const struct wait_task *task, uint64_t ts, unsigned int cpu);
/* Number of groups to print, of nr. */
uint32_t waits__top(const struct waits *w, uint32_t nr);

/* Warns if the recording lacks the wakeups; how and unknown as for need__useful(). */
void waits__need_wakers(const struct waits *w, const char *how, const char *unknown);

/* Prints the line "# NR TEXT" unless nr is 0 or text is NULL; or the JSON member key. */
void waits__note(struct waits *w, const char *key, uint64_t nr, const char *text);
/*
 * Columns "sum", "p50", "p99" (not in text if width is 0) and "max", and in JSON "min" and "exact".
 */
void waits__durations(struct out *o, const struct durations *d, int width);
/* "comm-tid" */
void waits__put_task(struct strbuf *b, const char *comm, uint32_t tid);

/* The frames of the part of a kernel stack, of all of it with --full; returns their number. */
unsigned int waits__frames(struct waits *w, uint32_t kstack, enum wait_part part,
			   struct stk_frame *ret_frames);
/* A line for each of these frames, then for those of the user stack. */
void waits__put_stacks(struct waits *w, const char *indent, uint32_t kstack, enum wait_part part,
		       uint32_t ustack);

/* Members "tid", "pid", "comm". */
void waits__json_task(struct json *j, const struct wait_task *task);
/* "kstack", "ustack" and, with --stacks, "frames". */
void waits__json_stacks(struct waits *w, uint32_t kstack, enum wait_part part, uint32_t ustack);
/* "ustack_end": "complete" or the reason; null: no user stack. */
void waits__json_end(struct waits *w, uint32_t ustack);

#endif /* CMD_WAITS_H */
