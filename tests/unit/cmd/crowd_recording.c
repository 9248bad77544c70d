// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../writing.h"
#include "kernel_events.h"

#define TASKS 6000

/* Each task has one event, the last ten have two. */
void make_crowd(const char *path)
{
	struct stk_writer *w = begin_recording(path, 1);
	struct stk_writer_event e = { .event = EV_SAMPLE, EMPTY_RECORD };
	uint32_t i;

	add_types(w);
	for (i = 0; i < TASKS; i++) {
		e.task = add_task(w, 100 + i, 100 + i, "brief");
		e.ts += 1000;
		ok(stk_writer__event(w, &e));
		if (i >= TASKS - 10)
			ok(stk_writer__event(w, &e));
	}
	end_recording(w, e.ts, "done");
}
