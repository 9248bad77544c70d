/* SPDX-License-Identifier: GPL-2.0-only */
/* Recordings of futex calls and switches, event by event, for the tests of waits. */
#ifndef WAITS_RECORDING_H
#define WAITS_RECORDING_H

#include <stdint.h>

#include "stackonce.h"
#include "trace/write/writer.h"

enum { FUTEX_IN, FUTEX_OUT, WAKING, SWITCH, WAKEUP_NEW, NR_TYPES };
enum { HARDIRQ = 0x08 };

struct ev {
	uint64_t ts;
	unsigned int type, cpu;
	uint32_t tid, pid; /* pid 0: the same */
	uint8_t flags;
	uint16_t marks;
	/*
	 * FUTEX_IN: uaddr, op, val, uaddr2.  FUTEX_OUT: ret.  WAKING, WAKEUP_NEW: pid.
	 * SWITCH: prev_state, next_pid.
	 */
	uint64_t f[4];
	uint32_t stack; /* a user stack of its own for every number but 0 */
};

struct recording {
	char path[32];
	struct stk_writer *w;
	uint64_t counters[NR_TYPES][STK_NR_COUNTERS];
	uint32_t last_stack; /* number of the stack of the last event that had one */
	bool is_new; /* says when and where events were lost */
};

void recording__begin(struct recording *rec);
void recording__put(struct recording *rec, struct ev e);
/* Says where events were lost; else the recording is an old one, that only counts. */
void recording__loss(struct recording *rec, struct stk_writer_loss loss);
/* Ends a round in which so many events of that type were lost. */
void recording__lose(struct recording *rec, unsigned int type, uint64_t nr, uint64_t end_ts);
/* The end, after which the file is complete. */
void recording__close(struct recording *rec, uint64_t end_ts);
/* The same; the recording, whose file is removed. */
struct stk_reader *recording__open(struct recording *rec, uint64_t end_ts);

#endif /* WAITS_RECORDING_H */
