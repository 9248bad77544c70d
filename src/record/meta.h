/* SPDX-License-Identifier: GPL-2.0-only */
/* Metadata of a recording: the machine, and how it was made.  Keys: stk-format(5). */
#ifndef RECORD_META_H
#define RECORD_META_H

#include <stddef.h>
#include <stdint.h>

struct ksyms;
struct backend_costs;
struct memory_plan;
struct rec_events;
struct recorder_opts;
struct stk_writer;
struct strbuf;

int meta__write(struct stk_writer *w, const struct recorder_opts *opts,
		const struct memory_plan *memory);

/* If the memory for the text was short, the recording says instead that it lacks the key. */
int meta__text(struct stk_writer *w, const char *key, const struct strbuf *text);

/*
 * Writes the task list; when: "start" or "end".  Does nothing unless events of process lifecycles
 * are recorded.  A list that cannot be read is left out, and the recording says so.  meanwhile:
 * see task_list.h; its error is returned.
 */
int meta__tasks(struct stk_writer *w, const struct recorder_opts *opts, const char *when,
		int (*meanwhile)(void *ctx), void *ctx);

struct meta_number {
	const char *key;
	uint64_t value;
};
int meta__numbers(struct stk_writer *w, const struct meta_number *rows, size_t nr);

/* CPU time of this process, ns. */
uint64_t meta__cpu_ns(void);
/* What the recording itself cost, to help users decide whether it suits production. */
int meta__costs(struct stk_writer *w, const struct backend_costs *costs, uint64_t start_cpu_ns);

#endif /* RECORD_META_H */
