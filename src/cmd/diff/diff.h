/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The diff command: diff.c has the options and reads both recordings, diff_put.c prints the rows,
 * diff_flames.c draws, and diff_latency.c compares latencies.
 */
#ifndef CMD_DIFF_H
#define CMD_DIFF_H

#include "analyze/charge.h"
#include "analyze/diff/diff.h"
#include "cmd/latency/latency.h"
#include "ui/reading.h"

/*
 * One of the recordings, with the options of the command line: each reads it into its own struct,
 * so that each has its own selection.
 */
struct diff_reading {
	struct latency l; /* with the struct reading, which must be the first member */
	char *pair; /* START and END of --latency, NUL-terminated; NULL: not given */
	bool is_latency;
	const char *second; /* path of the second recording */
	const char *per, *time_b;
	unsigned int by; /* enum diff_by */
	unsigned int stacks; /* STACKS_...; 0: all */
	uint64_t top, bin_ns;
	bool all;
	uint8_t *by_types; /* by event type: 1: an event of --per, 2: none; 0: unknown yet */
	unsigned int nr_by_types;
	struct side side;
	struct charge charge; /* of side */
};

struct diff_cmd {
	struct diff_reading r[2];
	enum diff_per per;
	struct diff *diff; /* NULL with --latency */
	struct out out;
};

void diff__put_text(struct diff_cmd *c);
void diff__put_json(struct diff_cmd *c);
/* Reads and compares the pairs of --latency; returns an exit code. */
int diff__latency(struct diff_cmd *c);
/* The recordings, and how noise is judged: lines of text, or JSON records. */
void diff__put_recordings(struct diff_cmd *c, bool judged);
/* Writes the flame graph; returns an exit code. */
int diff__put_flames(struct diff_cmd *c);

#endif /* CMD_DIFF_H */
