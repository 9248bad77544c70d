/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes sub-buffers of the kernel's trace ring buffer, as read from per_cpu/cpuN/trace_pipe_raw.
 *
 * Sources: events/header_page and events/header_event of tracefs; kernel/trace/ring_buffer.c
 * (rb_update_event(), ring_buffer_read_page(), check_buffer()) and include/linux/ring_buffer.h.
 * Byte order and bit fields are those of this machine; the bytes themselves are not trusted.
 */
#ifndef RECORD_FTRACE_PAGE_H
#define RECORD_FTRACE_PAGE_H

#include <stddef.h>
#include <stdint.h>

/* The layout of the head of a sub-buffer, from events/header_page. */
struct ftrace_page_format {
	uint32_t timestamp; /* offset of the u64 */
	uint32_t commit, commit_size; /* a long in the kernel: 4 or 8 bytes */
	uint32_t data; /* offset of the first event */
	uint64_t clock_offset; /* to be added to times of the trace_clock */
};

/* A sub-buffer being decoded; len, pos and ts are private to the decoder. */
struct ftrace_page {
	int64_t lost; /* events of this CPU lost before the first one; -1: unknown how many */
	const unsigned char *data; /* borrowed */
	size_t len, pos;
	uint64_t ts, clock_offset;
	int err;
};

struct ftrace_page_event {
	uint64_t ts; /* of the instance's trace_clock, plus the offset */
	const void *data; /* the record, in the format of its common_type; aligned to 4 bytes */
	size_t len; /* includes padding of the record to 4 bytes */
};

/* -EINVAL, logged: the text is invalid or describes an unknown layout. */
int ftrace_page_format__parse(const char *text, struct ftrace_page_format *ret_format);

/*
 * buf is one sub-buffer of len bytes, the size in buffer_subbuf_size_kb (or a page if that file
 * does not exist).  It is borrowed until the last event has been read.  The first call of
 * ftrace_page__next() reports a damaged head.
 */
void ftrace_page__open(struct ftrace_page *p, const struct ftrace_page_format *f, const void *buf,
		       size_t len);

/*
 * Returns 1 and the next event in the order of the ring; 0: no more events; -EBADMSG: the rest of
 * the page is damaged, also in later calls.  Discarded events and time stamps are skipped.
 */
int ftrace_page__next(struct ftrace_page *p, struct ftrace_page_event *ret_event);

#endif /* RECORD_FTRACE_PAGE_H */
