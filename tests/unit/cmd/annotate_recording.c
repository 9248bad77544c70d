// SPDX-License-Identifier: GPL-2.0-only
#include "recordings.h"

#include "../common_fields.h"
#include "../writing.h"
#include "cleanup.h"
#include "frame.h"

#define TEXT 0xffffffff81000000ULL
#define MODULE 0xffffffffc0200000ULL
#define EXACT FRAME_MARKER(FRAME_EXACT, 0)
#define KERNEL(offset) (TEXT + (offset))

enum { APP = 1, COPY };

static const char format[] = "name: cpu_clock\nID: 0\n" COMMON "\nprint fmt: \"\"\n";

/* `copy` is in the kernel, in a module and, twice, in each of the files; `walk` is recursive. */
static const struct sample {
	unsigned int count, nr_kernel, nr_user;
	uint64_t kernel[4], user[8];
} samples[] = {
	/* interrupted in the program, in two instructions of one function */
	{ 5, 0, 3, { 0 }, { EXACT, FRAME_USER(APP, 0x1010), FRAME_USER(APP, 0x1305) } },
	{ 3, 0, 3, { 0 }, { EXACT, FRAME_USER(APP, 0x1024), FRAME_USER(APP, 0x1305) } },
	/* the same place, but as the call of another function */
	{ 2,
	  0,
	  4,
	  { 0 },
	  { EXACT, FRAME_USER(APP, 0x1204), FRAME_USER(APP, 0x1010), FRAME_USER(APP, 0x1305) } },
	/* the other function of that name, and the other file */
	{ 4, 0, 3, { 0 }, { EXACT, FRAME_USER(APP, 0x1108), FRAME_USER(APP, 0x1310) } },
	{ 1, 0, 2, { 0 }, { EXACT, FRAME_USER(COPY, 0x1010) } },
	/* interrupted in the kernel, called from the program */
	{ 6,
	  3,
	  2,
	  { EXACT, KERNEL(0x30), KERNEL(0x1020) },
	  { FRAME_USER(APP, 0x1030), FRAME_USER(APP, 0x1305) } },
	{ 1, 3, 1, { EXACT, MODULE + 0x11, KERNEL(0x1020) }, { FRAME_USER(APP, 0x1030) } },
	/* recursion, with a guess */
	{ 7,
	  0,
	  7,
	  { 0 },
	  { EXACT, FRAME_USER(APP, 0x1204), FRAME_USER(APP, 0x1220), FRAME_USER(APP, 0x1220),
	    FRAME_MARKER(FRAME_GUESS, 0), FRAME_USER(APP, 0x1228), FRAME_USER(APP, 0x1305) } },
};

static void add_names(struct stk_writer *w)
{
	static const uint8_t ids[2][20] = { "\x11\x22\x33", "\x44\x55\x66" };
	const struct stk_user_symbol symbols[] = { { "copy", 0x1000, 0x40 },
						   { "copy", 0x1100, 0x40 },
						   { "_ZN4tree4walkEi", 0x1200, 0x40 },
						   { "main", 0x1300, 0x40 } };
	uint32_t number;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		struct stk_file f = { .path = i ? "/srv/old/app" : "/usr/bin/app",
				      .host_path = "",
				      .inode = 1 + i,
				      .id_kind = STK_ID_BUILD_ID,
				      .id = ids[i],
				      .id_len = 20 };

		number = add_file(w, f);
		ok(stk_writer__user_symbols(w, number, symbols, ARRAY_SIZE(symbols)));
	}
	ok(stk_writer__symbol(w, TEXT, 0x100, "copy", ""));
	ok(stk_writer__symbol(w, TEXT + 0x1000, 0x100, "do_syscall_64", ""));
	ok(stk_writer__symbol(w, MODULE, 0x100, "copy", "demo_mod"));
}

void make_annotate(const char *path)
{
	struct stk_writer_event e = { .ts = 1000000,
				      .record = "\0\0\0\0\0\0\0\0",
				      .record_len = 8 };
	struct stk_writer *w = begin_recording(path, 1);
	unsigned int i, k;

	ok(stk_writer__type(w, STK_KIND_SAMPLE, "sample", "cpu_clock", "", format));
	add_names(w);
	e.task = add_task(w, 7, 7, "app");
	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct sample *s = &samples[i];

		e.kstack = e.ustack = 0;
		if (s->nr_kernel)
			e.kstack = add_stack(w, s->kernel, s->nr_kernel);
		e.ustack = add_stack(w, s->user, s->nr_user);
		for (k = 0; k < s->count; k++, e.ts += 1000)
			add_event(w, e);
	}
	end_recording(w, 2000000, "done");
}
