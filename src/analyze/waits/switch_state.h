/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state in which a task was switched away from.  The values of sched_switch's prev_state differ
 * between kernels; the event's own print fmt gives their meaning.
 */
#ifndef ANALYZE_SWITCH_STATE_H
#define ANALYZE_SWITCH_STATE_H

#include "events/format.h"

enum switch_state {
	SWITCH_PREEMPTED = 0, /* R, R+: still runnable */
	SWITCH_SLEEP, /* S */
	SWITCH_DISK, /* D */
	SWITCH_STOPPED, /* T */
	SWITCH_TRACED, /* t */
	SWITCH_IDLE, /* I: sleeps without counting as load */
	SWITCH_PARKED, /* P */
	SWITCH_NEW, /* newly created: not switched away from */
	SWITCH_NR_STATES,
	SWITCH_DEAD = SWITCH_NR_STATES, /* X, Z: will not run again */
	SWITCH_UNKNOWN,
};

#define SWITCH_CACHE 16

/* A zeroed struct switch_states is empty. */
struct switch_states {
	struct {
		uint64_t value;
		enum switch_state state;
	} known[SWITCH_CACHE];
	unsigned int nr;
	bool failed; /* for want of memory a state is unknown */
};

/* field: prev_state of format. */
enum switch_state switch_states__of(struct switch_states *s, const struct ev_format *format,
				    const struct ev_field *field, uint64_t value);

#endif /* ANALYZE_SWITCH_STATE_H */
