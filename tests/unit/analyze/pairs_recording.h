/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes recordings for the tests of pairs, event by event. */
#ifndef PAIRS_RECORDING_H
#define PAIRS_RECORDING_H

#include <stdint.h>

#include "analyze/pairs/pairs.h"
#include "trace/write/writer.h"

enum { BEGIN, FINISH, OTHER, FORK, EXIT, EXEC, NR_TYPES };
enum { HARDIRQ = 0x08, SOFTIRQ = 0x10 };

/* An event.  BEGIN has the fields a, b and s; FINISH has them as c, b and s. */
struct ev {
	uint64_t ts;
	unsigned int type, cpu;
	uint32_t tid, pid; /* pid 0: same as tid */
	uint8_t flags;
	uint16_t marks;
	uint64_t a;
	uint32_t b;
	const char *s, *comm;
	uint32_t stack;
};

struct recording {
	char path[32];
	struct stk_writer *w;
	uint64_t counters[NR_TYPES][STK_NR_COUNTERS];
};

void recording__begin(struct recording *rec);
void recording__put(struct recording *rec, struct ev e);
/* A distinct stack for each nr; 0: no stack. */
uint32_t recording__stack(struct recording *rec, unsigned int nr);
void recording__lose(struct recording *rec, unsigned int type, uint64_t nr);
void recording__round(struct recording *rec, uint64_t end_ts);
void recording__account(struct recording *rec);
/* clean: with the last accounting and the end block. */
void recording__end(struct recording *rec, bool clean);

/* opts->role NULL: BEGIN events are starts, FINISH events ends.  Removes the recording. */
struct stk_reader *recording__pair(struct recording *rec, const struct pairs_opts *opts,
				   struct pairs **ret_pairs, struct pairs_result *ret_result);
/* Checks that all starts and ends are accounted for. */
void check_sums(const struct pairs_counts *c);

#endif /* PAIRS_RECORDING_H */
