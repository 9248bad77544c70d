/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notices when CLOCK_TAI is set during a recording.  The recording's times do not follow, see
 * rec_clock.h.
 */
#ifndef RECORD_CLOCK_STEPS_H
#define RECORD_CLOCK_STEPS_H

#include "rec_clock.h"

struct clock_steps;
struct stk_writer;

/* offset: that of the recording's times.  NULL in ret_steps: this clock cannot be set. */
int clock_steps__new(enum rec_clock clock, const struct rec_offset *offset,
		     struct clock_steps **ret_steps);
void clock_steps__free(struct clock_steps *s);

/*
 * To be called from time to time: if the clock was set since the last call, says so and adds it to
 * the metadata.  now: on the recording's clock.  Accepts NULL.
 */
int clock_steps__check(struct clock_steps *s, struct stk_writer *w, uint64_t now);

#endif /* RECORD_CLOCK_STEPS_H */
