/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What precedes the pages in a trace.dat file of version 6, see trace-cmd.dat.v6(5): formats,
 * functions, tasks, options, and where the section of each CPU lies.
 */
#ifndef EXPORT_TRACE_DAT_HEAD_H
#define EXPORT_TRACE_DAT_HEAD_H

#include <stdint.h>

#include "index.h"
#include "strbuf.h"
#include "trace_dat_events.h"
#include "trace_dat_pages.h"
#include "trace_dat_stacks.h"

struct trace_dat_task {
	uint32_t tid;
	const char *comm; /* the last one; borrowed from the reader */
};

struct trace_dat_tasks {
	struct trace_dat_task *v;
	uint32_t nr, max;
	struct index index;
	uint64_t seed;
	uint64_t memory; /* charged */
};

/* Notes the task of the event.  -ENOMEM, -ENOBUFS. */
int trace_dat_tasks__add(struct trace_dat_tasks *t, struct stk_reader *r,
			 const struct stk_event *e);
void trace_dat_tasks__clear(struct trace_dat_tasks *t, struct stk_reader *r);

/*
 * Appends everything up to the first page, whose place in the file is a multiple of the size of
 * pages.
 */
void trace_dat_head__put(struct strbuf *b, const struct stk_reader *r,
			 const struct trace_dat_types *types, struct trace_dat_stacks *stacks,
			 const struct trace_dat_tasks *tasks, const struct trace_dat_pages *pages);

#endif /* EXPORT_TRACE_DAT_HEAD_H */
