/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Recordings with losses: how tests write and ask them. */
#ifndef LOSSES_H
#define LOSSES_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "gen.h"
#include "stackonce.h"
#include "trace/stk.h"

#define NR_TYPES 4u
#define NR_CPUS 3u
#define NOWHERE 1000000000ull

static inline struct stk_writer *begin(struct gen_file *f)
{
	struct stk_writer_opts opts = { .nr_cpus = NR_CPUS };
	struct stk_writer *w = gen_open(f, &opts);

	for (unsigned int i = 0; i < NR_TYPES; i++)
		assert_int_equal(stk_writer__type(w, STK_KIND_SAMPLE, "s", "t", "", ""), (int)i);
	return w;
}

static inline void add_marked(struct stk_writer *w, uint32_t type, uint32_t cpu, uint64_t ts,
			      unsigned int marks)
{
	uint64_t rec[2] = { 0, ts };
	struct stk_writer_event e = { .ts = ts,
				      .cpu = cpu,
				      .event = type,
				      .marks = marks,
				      .record = rec,
				      .record_len = marks ? 8 : 16 };

	assert_int_equal(stk_writer__event(w, &e), 0);
}

static inline void add(struct stk_writer *w, uint32_t cpu, uint64_t ts)
{
	add_marked(w, 0, cpu, ts, 0);
}

static inline void lose(struct stk_writer *w, uint32_t event, uint32_t cpu, uint64_t first,
			uint64_t last, uint64_t count)
{
	struct stk_writer_loss loss = { first, last, event, cpu, count };

	assert_int_equal(stk_writer__loss(w, &loss), 0);
}

static inline void end_round(struct stk_writer *w, uint64_t end_ts)
{
	assert_int_equal(stk_writer__end_round(w, end_ts, end_ts + 1), 0);
}

static inline void end(struct stk_writer *w, struct gen_file *f)
{
	assert_int_equal(stk_writer__finish(w, "done", 0), 0);
	stk_writer__free(w);
	gen_load(f);
}

static inline struct stk_reader *open_mem(const struct gen_file *f)
{
	struct stk_reader *r;

	assert_int_equal(stk_reader__open_mem(f->p, f->len, NULL, &r), 0);
	return r;
}

/* The reader cannot seek in a pipe. */
static inline struct stk_reader *open_pipe(const struct gen_file *f, int *ret_write_end)
{
	struct stk_reader *r;
	char path[32];
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_true(f->len < 65536);
	assert_int_equal(write(fds[1], f->p, f->len), f->len);
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	*ret_write_end = fds[0];
	return r;
}

static inline bool may_miss(struct stk_reader *r, uint32_t type, uint32_t cpu, uint64_t from,
			    uint64_t to)
{
	struct stk_span s = {
		.type = type == STK_WRITER_ANY ? NULL : stk_reader__type(r, type),
		.cpu = cpu,
		.tid = STK_ANY_TASK,
		.from = from,
		.to = to,
	};

	assert_true(type == STK_WRITER_ANY || s.type);
	return stk_reader__may_miss(r, &s);
}

static inline uint64_t read_one(struct stk_reader *r)
{
	const struct stk_event *e;
	int got = stk_reader__next(r, &e);

	assert_true(got >= 0);
	return got ? stk_event__ts(e) : 0;
}

#endif /* LOSSES_H */
