// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../writing.h"
#include "kernel_events.h"

void make_flags(const char *path)
{
	struct stk_writer *w = begin_recording(path, 1);
	unsigned int flags;
	uint32_t t;

	add_types(w);
	t = add_task(w, 1, 1, "flags");
	for (flags = 0; flags < 512; flags++)
		add_event(w,
			  (struct stk_writer_event){ .ts = 1000 * (flags + 1),
						     .event = EV_SAMPLE,
						     .task = t,
						     .flags = flags,
						     .preempt_count = flags * 7,
						     .marks = flags & 256 ? STK_MARK_NO_IRQFLAG : 0,
						     EMPTY_RECORD });
	end_recording(w, 1000000, "done");
}
