// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../common_fields.h"
#include "../writing.h"
#include "cleanup.h"
#include "frame.h"

static const char a_format[] = "name: a\nID: 1\n" COMMON "\nprint fmt: \"\"\n";
static const char b_format[] = "name: b\nID: 2\n" COMMON "\nprint fmt: \"\"\n";

static uint32_t jit(struct stk_writer *w, const char *name)
{
	const struct stk_file file = { .kind = STK_FILE_JIT, .path = "[jit]", .host_path = "" };
	const struct stk_user_symbol symbol = { name, 0x100, 0x100 };
	uint32_t number = add_file(w, file);

	ok(stk_writer__user_symbols(w, number, &symbol, 1));
	return number;
}

static void add(struct stk_writer *w, uint32_t event, uint64_t ts, uint32_t ustack)
{
	char rec[8] = { 0 };
	const struct stk_writer_event e = {
		.event = event, .ts = ts, .ustack = ustack, .record = rec, .record_len = sizeof(rec)
	};

	add_event(w, e);
}

void make_replaced(const char *path)
{
	uint32_t old, now, stacks[3];
	struct stk_writer *w = begin_recording(path, 1);
	uint64_t i;

	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "code", "a", "", a_format));
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "code", "b", "", b_format));
	old = jit(w, "old");
	now = jit(w, "new");
	for (i = 0; i < ARRAY_SIZE(stacks); i++) {
		const uint64_t frames[] = { FRAME_USER(old, 0x110 + i), FRAME_USER(old, 0x180) };

		stacks[i] = add_stack(w, frames, ARRAY_SIZE(frames));
	}
	for (i = 0; i < 12; i++)
		add(w, i & 1, 100 * i, stacks[i < 6 ? i % 3 : i % 2 ? i % 3 : 2 - i % 3]);
	for (i = 0; i < ARRAY_SIZE(stacks); i++) {
		const struct stk_writer_replaced r = {
			.file = old, .by = now, .offset = 0x10f + i, .ts = 550
		};

		ok(stk_writer__replaced(w, &r));
	}
	end_recording(w, 2000, "done");
}
