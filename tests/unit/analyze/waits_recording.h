/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes recordings of futex calls and switches, event by event, for the tests of waits. */
#ifndef WAITS_RECORDING_H
#define WAITS_RECORDING_H

#include <stdint.h>

#include "stackonce.h"
#include "trace/write/writer.h"

enum { FUTEX_IN, FUTEX_OUT, WAKING, SWITCH, WAKEUP_NEW, NR_TYPES };
enum { HARDIRQ = 0x08 };
#define STACK_OMITTED UINT32_MAX /* the task is not selected */

struct ev {
	uint64_t ts;
	unsigned int type, cpu;
	uint32_t tid, pid; /* pid 0: same as tid */
	uint8_t flags;
	uint16_t marks;
	/*
	 * FUTEX_IN: uaddr, op, val, uaddr2.  FUTEX_OUT: ret.  WAKING, WAKEUP_NEW: pid.
	 * SWITCH: prev_state, next_pid.
	 */
	uint64_t f[4];
	uint32_t stack; /* a distinct user stack for each number, or STACK_OMITTED; 0: none */
	bool guessed; /* the frame of stack is a guess */
};

struct recording {
	char path[32];
	struct stk_writer *w;
	uint64_t counters[NR_TYPES][STK_NR_COUNTERS];
	uint32_t last_stack; /* stack id of the last event with a stack */
	bool is_new; /* has records of losses, not only counters */
};

void recording__begin(struct recording *rec);
void recording__put(struct recording *rec, struct ev e);
/* Records a loss; without this the recording is an old one that only counts losses. */
void recording__loss(struct recording *rec, struct stk_writer_loss loss);
/* Ends a round in which nr events of that type were lost. */
void recording__lose(struct recording *rec, unsigned int type, uint64_t nr, uint64_t end_ts);
/* Ends the recording and closes the complete file. */
void recording__close(struct recording *rec, uint64_t end_ts);
/* The same, then opens the recording and removes its file. */
struct stk_reader *recording__open(struct recording *rec, uint64_t end_ts);

#endif /* WAITS_RECORDING_H */
