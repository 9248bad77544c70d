// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a recording of one event with a user stack in an existing file:
 *   user_recording RECORDING PATH ID OFFSET...
 * ID: the build id in hex, or "none": then the size and time of PATH are stored.  Offsets are in
 * hex, innermost first, and exact.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frame.h"
#include "trace/write/writer.h"

#define MAX_OFFSETS 32

static const char format[] =
	"name: test\nID: 1\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

static int ok(int err, const char *what)
{
	if (err < 0) {
		fprintf(stderr, "user_recording: %s: %s\n", what, strerror(-err));
		exit(1);
	}
	return err;
}

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
	ok(stat(f->path, &st) ? -errno : 0, f->path);
	f->size = st.st_size;
	f->mtime_ns = st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec;
}

int main(int argc, char **argv)
{
	struct stk_writer_opts opts = { .nr_cpus = 1 };
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
	ok(stk_writer__new(open(argv[1], O_CREAT | O_TRUNC | O_RDWR, 0644), &opts, &w), argv[1]);
	ok(stk_writer__type(w, STK_KIND_TRACEPOINT, "test", "test", "", format), "type");
	describe(&f, argv[3], id);
	ok(stk_writer__file(w, &f, &file), "file");
	for (i = 4; i < argc; i++) {
		frames[nr++] = FRAME_MARKER(FRAME_EXACT, 0);
		frames[nr++] = FRAME_USER(file, strtoull(argv[i], NULL, 16));
	}
	ok(stk_writer__stack(w, frames, nr, &e.ustack), "stack");
	ok(stk_writer__event(w, &e), "event");
	ok(stk_writer__end_round(w, 2000, 0), "round");
	ok(stk_writer__finish(w, "done", 0), "finish");
	stk_writer__free(w);
	return 0;
}
