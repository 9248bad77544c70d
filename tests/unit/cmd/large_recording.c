// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../writing.h"
#include "cleanup.h"
#include "kernel_events.h"

/* A stack is a path in a tree that gets narrower towards its root, like the stacks of a kernel. */
static unsigned int large_stack(uint64_t i, uint64_t *frames)
{
	unsigned int depth = 8 + i % 17, k;

	for (k = 0; k < depth; k++)
		frames[k] = TEXT +
			    (((i >> (depth - k < 12 ? 12 - (depth - k) : 0)) * 31 + k) % 4096) *
				    0x1000 +
			    0x100;
	return depth;
}

void make_large(const char *path, uint64_t nr_events, uint64_t nr_stacks)
{
	struct stk_writer *w = begin_recording(path, 4);
	uint64_t c[3][STK_NR_COUNTERS] = { 0 }, frames[32], i;
	uint32_t *stacks = calloc(nr_stacks, sizeof(*stacks)), tasks[64];
	uint64_t seed = 42, ts = 1000000000;
	char name[32];

	if (!stacks)
		errx(1, "no memory");
	add_meta(w);
	add_types(w);
	for (i = 0; i < 4096; i++) {
		snprintf(name, sizeof(name), "kernel_function_%" PRIu64, i);
		ok(stk_writer__symbol(w, TEXT + i * 0x1000, 0x800, name, ""));
	}
	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		snprintf(name, sizeof(name), "task-%" PRIu64, i);
		tasks[i] = add_task(w, 1000 + i, 1000 + i, name);
	}
	for (i = 0; i < nr_stacks; i++)
		stacks[i] = add_stack(w, frames, large_stack(i, frames));
	for (i = 0; i < nr_events; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		ts += seed >> 54;
		put_switch(w, ts, seed >> 40 & 3, tasks[seed >> 42 & 63],
			   stacks[(seed >> 33) % nr_stacks], 0, "prev-task", "next-task");
		if (i % 100000 == 99999)
			ok(stk_writer__end_round(w, ts, 1790000000000000000ULL + ts));
	}
	ok(stk_writer__end_round(w, ts + 1, 1790000000000000000ULL + ts));
	c[EV_SWITCH][STK_C_HAPPENED] = c[EV_SWITCH][STK_C_RECORDED] = nr_events;
	c[EV_SWITCH][STK_C_STACK_NEW] = nr_stacks;
	c[EV_SWITCH][STK_C_STACK_HIT] = nr_events - nr_stacks;
	ok(stk_writer__accounting(w, c, 3));
	ok(stk_writer__finish(w, "done", 0));
	stk_writer__free(w);
	free(stacks);
}
