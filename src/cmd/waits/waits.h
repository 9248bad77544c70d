/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What futex and offcpu share.  Both need the events of everybody, to see who wakes whom: of the
 * options that select, --event says which events are read, and the others which waits count.
 */
#ifndef CMD_WAITS_H
#define CMD_WAITS_H

#include "analyze/durations.h"
#include "analyze/waits/wait_task.h"
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

/* "# 12 TEXT", nothing for 0: what could not be matched. */
void waits__note(struct waits *w, uint64_t nr, const char *text);
/* Frames, one a line: the kernel's, then the program's in the look of script. */
void waits__put_stack(struct waits *w, const char *indent, uint32_t kstack, uint32_t ustack);
/* "comm-tid" */
void waits__put_task(struct strbuf *b, const char *comm, uint32_t tid);

/* "KEY":VALUE with a comma before it. */
void waits__json_u64(struct strbuf *b, const char *key, uint64_t v);
void waits__json_string(struct strbuf *b, const char *key, const char *s);
void waits__json_stack(struct waits *w, const char *key, uint32_t number);
/* "tid", "pid", "comm". */
void waits__json_task(struct strbuf *b, const struct wait_task *task);
/* "frames" of both stacks, with --stacks. */
void waits__json_frames(struct waits *w, uint32_t kstack, uint32_t ustack);
/* How the stack ends: "complete", null for none. */
void waits__json_end(struct waits *w, const char *key, uint32_t number);
/* "sum_ns", "min_ns", "p50_ns", "p99_ns", "max_ns", "exact". */
void waits__json_durations(struct strbuf *b, const struct durations *d);

#endif /* CMD_WAITS_H */
