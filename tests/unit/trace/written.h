/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Recordings with files and stacks, written and read back.  Any error fails the test. */
#ifndef TEST_TRACE_WRITTEN_H
#define TEST_TRACE_WRITTEN_H

#include "gen.h"
#include "stackonce.h"
#include "trace/stk.h"

struct stk_writer *begin(struct gen_file *f);
/* Opens the recording and reads all of it. */
struct stk_reader *read_back(struct stk_writer *w, struct gen_file *f);
void done(struct stk_reader *r, struct gen_file *f);

/* These return the number of the object. */
uint32_t add_file(struct stk_writer *w, struct stk_file file);
uint32_t add_path(struct stk_writer *w, const char *path);
uint32_t add_stack(struct stk_writer *w, const uint64_t *frames, unsigned int nr);
/* Of the first event type, without fields. */
void add_event(struct stk_writer *w, uint64_t ts, uint32_t ustack);

struct stk_file get_file(const struct stk_reader *r, uint32_t number);
/* The innermost frame of a stack. */
struct stk_frame first_frame(struct stk_reader *r, uint32_t stack);

/* The i-th name of a file. */
void expect_path(const struct stk_reader *r, uint32_t file, unsigned int i, const char *path,
		 const char *host_path);
/* Of the block at pos of a recording. */
struct stk_block_header header_at(const uint8_t *p, size_t pos);

#endif /* TEST_TRACE_WRITTEN_H */
