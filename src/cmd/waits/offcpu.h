/* SPDX-License-Identifier: GPL-2.0-only */
/* The offcpu command: offcpu.c reads, offcpu_put.c prints text and offcpu_json.c prints JSON. */
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

/* Print the columns of a group, and those of states and stacks, in text and JSON. */
void offcpu__put_columns(struct out *o, const struct offcpu_group *g);
void offcpu__put_time(struct out *o, const struct offcpu_time *time);
/* Prints the counts of what could not be matched. */
void offcpu__put_notes(struct offcpu *oc);
void offcpu__put_text(struct offcpu *oc);
void offcpu__put_json(struct offcpu *oc);

#endif /* CMD_OFFCPU_H */
