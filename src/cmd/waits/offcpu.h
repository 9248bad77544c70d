/* SPDX-License-Identifier: GPL-2.0-only */
/* The offcpu command: reading in offcpu.c, the table in offcpu_put.c, JSON in offcpu_json.c. */
#ifndef CMD_OFFCPU_H
#define CMD_OFFCPU_H

#include "analyze/waits/offcpu.h"
#include "waits.h"

struct offcpu {
	struct waits w;
	struct offcpu_opts opts;
	unsigned int states; /* --state: 1 << enum switch_state; 0: all */
	struct offcpu_analysis *analysis;
	const struct offcpu_result *result;
};

const char *offcpu__state(enum switch_state state);

/* A row for each column of the groups, and those that states and stacks have, too. */
void offcpu__put_columns(struct out *o, const struct offcpu_group *g);
void offcpu__put_time(struct out *o, const struct offcpu_time *time);
/* What could not be matched. */
void offcpu__put_notes(struct offcpu *oc);
void offcpu__put_text(struct offcpu *oc);
void offcpu__put_json(struct offcpu *oc);

#endif /* CMD_OFFCPU_H */
