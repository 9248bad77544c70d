// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../writing.h"
#include "kernel_events.h"

void make_aliases(const char *path)
{
	const uint64_t one[] = { TEXT + 0x7c, TEXT + 0x1012 }, two[] = { TEXT + 0x2034 };
	struct stk_writer *w = begin_recording(path, 1);
	uint32_t a, b, c;

	ok(stk_writer__meta(w, "source", "fsmb"));
	add_symbols(w);
	add_types(w);
	ok(stk_writer__stack_imported(w, one, 2, 160, 1, &a));
	ok(stk_writer__stack_imported(w, two, 1, 928, 930, &b));
	ok(stk_writer__stack_imported(w, one, 2, 1511, 7, &c));
	put_switch(w, 1000, 0, add_task(w, 5, 5, "five"), a, 0, "five", "six");
	put_switch(w, 2000, 0, add_task(w, 5, 5, "five"), c, 0, "five", "six");
	put_switch(w, 3000, 0, add_task(w, 5, 5, "five"), b, 0, "five", "six");
	end_recording(w, 4000, "imported");
}
