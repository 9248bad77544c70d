// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a recording of one event with a user stack in an existing file:
 *   user_recording RECORDING PATH ID OFFSET...
 * ID: the build id in hex, or "none": then the size and time of PATH are stored.  Offsets are in
 * hex, innermost first, and exact.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../common_fields.h"
#include "../writing.h"
#include "frame.h"

#define MAX_OFFSETS 32

static const char format[] = "name: test\nID: 1\n" COMMON "print fmt: \"\"\n";

static unsigned int parse_id(const char *hex, uint8_t *ret_id)
{
	unsigned int n;

	for (n = 0; n < 64 && sscanf(hex + 2 * n, "%2hhx", &ret_id[n]) == 1; n++)
		;
	return n;
}

static void describe(struct stk_file *f, const char *id, uint8_t *buf)
{
	struct stat st;

	if (strcmp(id, "none")) {
		f->id_kind = STK_ID_BUILD_ID;
		f->id_len = parse_id(id, buf);
		f->id = buf;
		return;
	}
	if (stat(f->path, &st))
		err(1, "%s", f->path);
	f->size = st.st_size;
	f->mtime_ns = st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec;
}

int main(int argc, char **argv)
{
	struct stk_file f = { .path = argv[2], .host_path = argv[2], .inode = 1 };
	struct stk_writer_event e = { .ts = 1000, .record = "\0\0\0\0\0\0\0\0", .record_len = 8 };
	uint64_t frames[2 * MAX_OFFSETS];
	struct stk_writer *w;
	unsigned int nr = 0;
	uint8_t id[64];
	uint32_t file;
	int i;

	if (argc < 5 || argc > 4 + MAX_OFFSETS)
		return 2;
	w = begin_recording(argv[1], 1);
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "test", "test", "", format));
	describe(&f, argv[3], id);
	file = add_file(w, f);
	for (i = 4; i < argc; i++) {
		frames[nr++] = FRAME_MARKER(FRAME_EXACT, 0);
		frames[nr++] = FRAME_USER(file, strtoull(argv[i], NULL, 16));
	}
	e.ustack = add_stack(w, frames, nr);
	add_event(w, e);
	end_recording(w, 2000, "done");
	return 0;
}
