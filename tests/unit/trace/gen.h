/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Recordings for the tests of src/trace: written to a temporary file, then read as memory. */
#ifndef TEST_TRACE_GEN_H
#define TEST_TRACE_GEN_H

#include <stddef.h>
#include <stdint.h>

#include "trace/write/writer.h"

/* A format with a string, integers of every size, a gap (offsets 29-31) and a dynamic string. */
#define GEN_FORMAT_ALL                                                                 \
	"name: all\nID: 311\nformat:\n"                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                   \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"                     \
	"\tfield:u32 a;\toffset:24;\tsize:4;\tsigned:0;\n"                             \
	"\tfield:u8 b;\toffset:28;\tsize:1;\tsigned:0;\n"                              \
	"\tfield:u64 c;\toffset:32;\tsize:8;\tsigned:0;\n"                             \
	"\tfield:u16 d;\toffset:40;\tsize:2;\tsigned:0;\n"                             \
	"\tfield:__data_loc char[] e;\toffset:44;\tsize:4;\tsigned:1;\n\n"             \
	"print fmt: \"%s\", REC->comm\n"

#define GEN_FORMAT_SWITCH                                                              \
	"name: sched_switch\nID: 316\nformat:\n"                                       \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                   \
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"                \
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"                    \
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"                     \
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"                   \
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"               \
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"                    \
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"                   \
	"print fmt: \"%s\", REC->prev_comm\n"

/* A recording as memory. */
struct gen_file {
	uint8_t *p;
	size_t len;
	int fd;
};

/* A writer on an unlinked temporary file; f->fd is a second descriptor for it. */
struct stk_writer *gen_open(struct gen_file *f, const struct stk_writer_opts *opts);
/* Reads the present contents of the file to f->p. */
void gen_load(struct gen_file *f);
void gen_close(struct gen_file *f);

/* xorshift: the same numbers on every machine. */
uint64_t gen_random(uint64_t *state);

#endif /* TEST_TRACE_GEN_H */
