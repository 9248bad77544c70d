/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In what state a task was switched away from.  The numbers of sched_switch's prev_state differ
 * between kernels; what they mean is in the event's own print fmt.
 */
#ifndef ANALYZE_SWITCH_STATE_H
#define ANALYZE_SWITCH_STATE_H

#include "events/format.h"

enum switch_state {
	SWITCH_PREEMPTED = 0, /* R, R+: could have gone on */
	SWITCH_SLEEP, /* S */
	SWITCH_DISK, /* D */
	SWITCH_STOPPED, /* T */
	SWITCH_TRACED, /* t */
	SWITCH_IDLE, /* I: sleeps without counting as load */
	SWITCH_PARKED, /* P */
	SWITCH_NEW, /* was just made: no switch at all */
	SWITCH_NR_STATES,
	SWITCH_DEAD = SWITCH_NR_STATES, /* X, Z: will not run again */
	SWITCH_UNKNOWN,
};

#define SWITCH_CACHE 16

/* Begins as zeros. */
struct switch_states {
	struct {
		uint64_t value;
		enum switch_state state;
	} known[SWITCH_CACHE];
	unsigned int nr;
};

/* field: prev_state of format. */
enum switch_state switch_states__of(struct switch_states *s, const struct ev_format *format,
				    const struct ev_field *field, uint64_t value);

#endif /* ANALYZE_SWITCH_STATE_H */
