/* SPDX-License-Identifier: GPL-2.0-only */
/* How programs write recordings for tests: an error ends the program and names the failed call. */
#ifndef WRITING_H
#define WRITING_H

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "trace/write/writer.h"

#define ok(call) ok__check(call, #call)

static inline int ok__check(int result, const char *call)
{
	if (result < 0)
		errx(1, "%s: %s", call, strerror(-result));
	return result;
}

static inline struct stk_writer *begin_recording(const char *path, unsigned int nr_cpus)
{
	struct stk_writer_opts opts = { .nr_cpus = nr_cpus };
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644);
	struct stk_writer *w;

	if (fd < 0)
		err(1, "%s", path);
	ok(stk_writer__new(fd, &opts, &w));
	return w;
}

/* Ends the last round at that time, and the recording for that reason. */
static inline void end_recording(struct stk_writer *w, uint64_t end_ts, const char *reason)
{
	ok(stk_writer__end_round(w, end_ts, 0));
	ok(stk_writer__finish(w, reason, 0));
	stk_writer__free(w);
}

static inline uint32_t add_task(struct stk_writer *w, uint32_t tid, uint32_t tgid, const char *comm)
{
	uint32_t number;

	ok(stk_writer__task(w, tid, tgid, comm, strlen(comm), &number));
	return number;
}

static inline uint32_t add_stack(struct stk_writer *w, const uint64_t *frames, unsigned int nr)
{
	uint32_t number;

	ok(stk_writer__stack(w, frames, nr, &number));
	return number;
}

static inline uint32_t add_file(struct stk_writer *w, struct stk_file file)
{
	uint32_t number;

	ok(stk_writer__file(w, &file, &number));
	return number;
}

static inline void add_event(struct stk_writer *w, struct stk_writer_event event)
{
	ok(stk_writer__event(w, &event));
}

#endif /* WRITING_H */
