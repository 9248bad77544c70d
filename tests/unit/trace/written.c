// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

struct stk_writer *begin(struct gen_file *f)
{
	struct stk_writer_opts opts = { .nr_cpus = 1 };

	return gen_open(f, &opts);
}

/* Opens the recording and reads all of it. */
struct stk_reader *read_back(struct stk_writer *w, struct gen_file *f)
{
	const struct stk_event *e;
	struct stk_reader *r;

	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(f);
	assert_int_equal(stk_reader__open_mem(f->p, f->len, NULL, &r), 0);
	assert_int_equal(stk_reader__next(r, &e), 0);
	return r;
}

void done(struct stk_reader *r, struct gen_file *f)
{
	stk_reader__free(r);
	gen_close(f);
}

uint32_t add_file(struct stk_writer *w, struct stk_file file)
{
	uint32_t number = 0;

	assert_int_equal(stk_writer__file(w, &file, &number), 0);
	return number;
}

uint32_t add_path(struct stk_writer *w, const char *path)
{
	return add_file(w, (struct stk_file){ .path = path, .host_path = "" });
}

uint32_t add_stack(struct stk_writer *w, const uint64_t *frames, unsigned int nr)
{
	uint32_t number = 0;

	assert_int_equal(stk_writer__stack(w, frames, nr, &number), 0);
	return number;
}

void add_event(struct stk_writer *w, uint64_t ts, uint32_t ustack)
{
	uint64_t rec[2] = { 0 };
	struct stk_writer_event e = { .ts = ts, .ustack = ustack, .record = rec, .record_len = 16 };

	assert_int_equal(stk_writer__event(w, &e), 0);
}

struct stk_file get_file(const struct stk_reader *r, uint32_t number)
{
	struct stk_file f = { 0 };

	assert_int_equal(stk_reader__file(r, number, &f), 0);
	assert_int_equal(f.number, number);
	return f;
}

struct stk_frame first_frame(struct stk_reader *r, uint32_t stack)
{
	struct stk_frame out;

	assert_true(stk_reader__frames(r, stack, &out, 1) >= 1);
	return out;
}

void expect_path(const struct stk_reader *r, uint32_t file, unsigned int i, const char *path,
		 const char *host_path)
{
	const char *p, *h;

	assert_int_equal(stk_reader__file_name(r, file, i, &p, &h), 0);
	assert_string_equal(p, path);
	assert_string_equal(h, host_path);
}

struct stk_block_header header_at(const uint8_t *p, size_t pos)
{
	struct stk_block_header h;

	memcpy(&h, p + pos, sizeof(h));
	assert_int_equal(h.magic, STK_BLOCK_MAGIC);
	return h;
}
