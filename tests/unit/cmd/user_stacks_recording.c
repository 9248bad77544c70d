// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../writing.h"
#include "cleanup.h"
#include "frame.h"
#include "kernel_events.h"
#include "user_files.h"

/* A stack for each stack end, and other cases. */
static const struct user_stack {
	unsigned int nr;
	uint64_t frames[12];
} user_stacks[] = {
	/* a sleep: from libc to _start */
	{ 5,
	  { FRAME_USER(LIBC, 0xd0f5a), FRAME_USER(APP, 0x11c4), FRAME_USER(APP, 0x1131),
	    FRAME_USER(LIBC, 0x271ca), FRAME_USER(APP, 0x1065) } },
	/* a timer interrupt at the first byte of a function, called from JIT code, then guesses */
	{ 8,
	  { FRAME_MARKER(FRAME_EXACT, 0), FRAME_USER(VDSO, 0xc60), FRAME_USER(JIT, 0x1234),
	    FRAME_MARKER(FRAME_GUESS, 0), FRAME_USER(JIT, 0x1400), FRAME_USER(JIT, 0x5000),
	    FRAME_USER(LIBC, 0x271ca), FRAME_MARKER(FRAME_END, STK_END_FALLBACK) } },
	/* an unreadable file, and memory without a file */
	{ 4,
	  { FRAME_USER(LIBC, 0x856a0), FRAME_USER(GONE, 0x2222), FRAME_USER(0, 0x7ffff00321ULL),
	    FRAME_MARKER(FRAME_END, STK_END_NO_TABLE) } },
	/* without stored symbols; the end of a function is not part of it */
	{ 5,
	  { FRAME_USER(PLUGIN, 0x1500), FRAME_USER(PLUGIN, 0x4010), FRAME_USER(APP, 0x1280),
	    FRAME_USER(APP, 0x1281), FRAME_MARKER(FRAME_END, STK_END_UNREADABLE) } },
	{ 4,
	  { FRAME_USER(APP, 0x1310), FRAME_USER(APP, 0x1200), FRAME_USER(APP, 0x11f0),
	    FRAME_MARKER(FRAME_END, STK_END_TRUNCATED) } },
	{ 2, { FRAME_USER(LIBC, 0x30010), FRAME_MARKER(FRAME_END, STK_END_AT_LIMIT) } },
	{ 1, { FRAME_MARKER(FRAME_END, STK_END_FAILED) } },
};

static void add_user_accounting(struct stk_writer *w)
{
	static const uint64_t counters[3][STK_NR_COUNTERS] = {
		[EV_SWITCH][STK_C_HAPPENED] = 9,	 [EV_SWITCH][STK_C_RECORDED] = 9,
		[EV_SWITCH][STK_C_STACK_NEW] = 1,	 [EV_SWITCH][STK_C_STACK_HIT] = 8,
		[EV_SWITCH][STK_C_USTACK_NEW] = 6,	 [EV_SWITCH][STK_C_USTACK_HIT] = 1,
		[EV_SWITCH][STK_C_USTACK_DEFERRED] = 1,	 [EV_SWITCH][STK_C_USTACK_NONE] = 1,
		[EV_SWITCH][STK_C_USTACK_COMPLETE] = 2,	 [EV_SWITCH][STK_C_USTACK_FALLBACK] = 1,
		[EV_SWITCH][STK_C_USTACK_NO_TABLE] = 1,	 [EV_SWITCH][STK_C_USTACK_UNREADABLE] = 1,
		[EV_SWITCH][STK_C_USTACK_TRUNCATED] = 2, [EV_SWITCH][STK_C_USTACK_FAILED] = 1,
		[EV_SWITCH][STK_C_FULL_FILES] = 1200,	 [EV_SAMPLE][STK_C_FULL_NAMES] = 3,
		[EV_SAMPLE][STK_C_HAPPENED] = 2,	 [EV_SAMPLE][STK_C_RECORDED] = 2,
		[EV_SAMPLE][STK_C_STACK_EMPTY] = 2,	 [EV_SAMPLE][STK_C_USTACK_HIT] = 2,
		[EV_SAMPLE][STK_C_USTACK_COMPLETE] = 1,	 [EV_SAMPLE][STK_C_USTACK_FALLBACK] = 1,
		[EV_SAMPLE][STK_C_SAMPLE_EXPECTED] = 2,
	};

	ok(stk_writer__accounting(w, counters, 3));
}

void make_user(const char *path)
{
	static const char *const unwind[][2] = {
		{ "unwind.tables_loaded", "4" },
		{ "unwind.refused", "2" },
		{ "unwind.not_kept", "5" },
	};
	const uint64_t kernel[] = { TEXT + 0x7c, TEXT + 0x1012, TEXT + 0x4078 };
	struct stk_writer *w = begin_recording(path, 2);
	struct stk_writer_event e = { .cpu = 1, .event = EV_SAMPLE, EMPTY_RECORD };
	struct switch_record rec = { .prev_comm = "demo",
				     .prev_pid = 4321,
				     .prev_prio = 120,
				     .prev_state = 1,
				     .next_comm = "swapper/1",
				     .next_prio = 120 };
	uint64_t ts = 1000000000;
	uint32_t k, t;
	size_t i;

	add_meta(w);
	for (i = 0; i < ARRAY_SIZE(unwind); i++)
		ok(stk_writer__meta(w, unwind[i][0], unwind[i][1]));
	add_types(w);
	add_symbols(w);
	add_files(w);
	t = add_task(w, 4321, 4300, "demo");
	k = add_stack(w, kernel, 3);
	for (i = 0; i < ARRAY_SIZE(user_stacks) + 2; i++, ts += 1000) {
		const struct user_stack *u = &user_stacks[i % ARRAY_SIZE(user_stacks)];

		add_event(w, (struct stk_writer_event){
				     .ts = ts,
				     .event = EV_SWITCH,
				     .task = t,
				     .kstack = k,
				     .ustack = i == 8 ? 0 : add_stack(w, u->frames, u->nr),
				     .record = &rec,
				     .record_len = sizeof(rec) });
	}
	e.task = t;
	for (i = 0; i < 2; i++) {
		e.ts = ts += 500;
		e.ustack = add_stack(w, user_stacks[i].frames, user_stacks[i].nr);
		add_event(w, e);
	}
	ok(stk_writer__end_round(w, ts + 1, 1790000001000000000ULL));
	add_user_accounting(w);
	add_user_symbols(w);
	ok(stk_writer__finish(w, "exited", 0));
	stk_writer__free(w);
}
