// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../writing.h"
#include "kernel_events.h"

static void put_loss(struct stk_writer *w, uint64_t first_ts, uint64_t last_ts, uint32_t event,
		     uint32_t cpu, uint64_t count)
{
	struct stk_writer_loss loss = { first_ts, last_ts, event, cpu, count };

	ok(stk_writer__loss(w, &loss));
}

void make_losses(const char *path)
{
	struct stk_writer *w = begin_recording(path, 2);
	uint32_t five, six;

	add_types(w);
	five = add_task(w, 5, 5, "five");
	six = add_task(w, 6, 6, "six");
	put_switch(w, 1000, 0, five, 0, 0, "five", "six");
	put_switch(w, 1500, 1, six, 0, 0, "six", "five");
	put_loss(w, 1600, 1900, EV_SWITCH, 0, 34);
	put_switch(w, 2000, 0, six, 0, 0, "six", "five");
	put_loss(w, 2100, 3500, EV_EXEC, 1, 1);
	put_loss(w, 2200, 2300, STK_WRITER_ANY, 1, 0);
	put_loss(w, 2400, 2500, EV_SAMPLE, 1, 2); /* taken and lost */
	put_loss(w, 2400, 2600, EV_SAMPLE, STK_WRITER_ANY, 3); /* not taken */
	put_switch(w, 3000, 1, five, 0, 0, "five", "six");
	ok(stk_writer__end_round(w, 3000, 0));
	put_loss(w, 3100, 3200, STK_WRITER_ANY, STK_WRITER_ANY, 7);
	put_switch(w, 4000, 0, five, 0, 0, "five", "six");
	put_loss(w, 4100, 5000, EV_SWITCH, STK_WRITER_ANY, 0);
	end_recording(w, 5000, "done");
}
