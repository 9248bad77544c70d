/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One sub-buffer ("page") of ftrace's ring buffer, as trace_pipe_raw hands it out: a time, how much
 * was committed, then events that each say how long after the one before they came.  The text of
 * events/header_page tells where the parts are.
 */
#ifndef RECORD_FTRACE_PAGE_H
#define RECORD_FTRACE_PAGE_H

#include <stddef.h>
#include <stdint.h>

/* Of the head of a sub-buffer, in bytes. */
struct ftrace_page_format {
	unsigned int timestamp_offset, timestamp_size;
	unsigned int commit_offset, commit_size;
	unsigned int data_offset, data_size;
};

/* text: of events/header_page.  -EINVAL: not understood. */
int ftrace_page_format__parse(const char *text, struct ftrace_page_format *ret_format);

struct ftrace_page {
	const unsigned char *data, *end;
	uint64_t ts;
	int64_t lost; /* events missing before this sub-buffer; -1: some, nobody knows how many */
};

struct ftrace_page_event {
	uint64_t ts; /* of the instance's clock */
	const void *data; /* starts with struct trace_entry; aligned to 4 bytes */
	size_t len; /* rounded up to 4 by the kernel */
};

/* buf is borrowed.  Damage shows at the first ftrace_page__next(). */
void ftrace_page__open(struct ftrace_page *p, const struct ftrace_page_format *f, const void *buf,
		       size_t len);
/* 1: an event, 0: the end, -EPROTO: damaged from here on. */
int ftrace_page__next(struct ftrace_page *p, struct ftrace_page_event *ret_event);

#endif /* RECORD_FTRACE_PAGE_H */
