/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sub-buffers of the kernel's trace ring buffer, as per_cpu/cpuN/trace_pipe_raw gives them.
 *
 * Sources: events/header_page and events/header_event of tracefs; kernel/trace/ring_buffer.c
 * (rb_update_event(), ring_buffer_read_page(), check_buffer()) and include/linux/ring_buffer.h.
 * Byte order and bit fields are those of this machine; the bytes themselves are not trusted.
 */
#ifndef RECORD_FTRACE_PAGE_H
#define RECORD_FTRACE_PAGE_H

#include <stddef.h>
#include <stdint.h>

/* Where the head of a sub-buffer keeps what: the text of events/header_page. */
struct ftrace_page_format {
	uint32_t timestamp; /* offset of the u64 */
	uint32_t commit, commit_size; /* a long of the kernel: 4 or 8 bytes */
	uint32_t data; /* offset of the first event */
};

/* One sub-buffer while it is read; len, pos and ts are the decoder's own. */
struct ftrace_page {
	int64_t lost; /* events of this CPU lost before the first one; -1: unknown how many */
	const unsigned char *data; /* borrowed */
	size_t len, pos;
	uint64_t ts;
	int err;
};

struct ftrace_page_event {
	uint64_t ts; /* of the instance's trace_clock */
	const void *data; /* the record, in the format of its common_type; aligned to 4 bytes */
	size_t len; /* may be longer than the record by its padding to 4 bytes */
};

/* -EINVAL: not such a text, or one of a layout this reader does not know; logged. */
int ftrace_page_format__parse(const char *text, struct ftrace_page_format *ret_format);

/*
 * buf holds one sub-buffer of len bytes, as large as buffer_subbuf_size_kb says (or a page where
 * that file is missing), and is borrowed until the last event was read.  A damaged head is told
 * by the first ftrace_page__next().
 */
void ftrace_page__open(struct ftrace_page *p, const struct ftrace_page_format *f, const void *buf,
		       size_t len);

/*
 * 1: an event, in the order of the ring; 0: no more; -EBADMSG: the rest is damaged, which it stays.
 * Discarded events and time stamps are passed over.
 */
int ftrace_page__next(struct ftrace_page *p, struct ftrace_page_event *ret_event);

#endif /* RECORD_FTRACE_PAGE_H */
