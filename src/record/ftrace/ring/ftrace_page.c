// SPDX-License-Identifier: GPL-2.0-only
/* Decodes a page of the ring buffer record by record. */
#include "ftrace_page.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

/* The kernel's struct ring_buffer_event, whose bit fields are user space ABI. */
struct event_head {
	uint32_t type_len : 5;
	uint32_t time_delta : 27;
};

enum {
	TYPE_LONG = 0, /* a u32 with the length follows */
	TYPE_PADDING = 29,
	TYPE_TIME_EXTEND = 30,
	TYPE_TIME_STAMP = 31,
};

#define HEAD_SIZE sizeof(uint32_t)
#define DELTA_BITS 27
#define STAMP_BITS 59 /* of an absolute time stamp: the upper bits are those of the current time */

/* Flags at the upper end of a sub-buffer's commit count. */
#define MISSED_EVENTS (1u << 31) /* events were lost before the first one */
#define MISSED_STORED (1u << 30) /* their number follows the last event, a long */
#define COMMIT_MASK (~(MISSED_EVENTS | MISSED_STORED))

#define MAX_DATA_OFFSET 256 /* of the first event: 16 on all kernels so far */

/* Parses the line "field: TYPE NAME;	offset:N;	size:N; ..." of the text. */
static int find_field(const char *text, const char *name, uint32_t *ret_offset, uint32_t *ret_size)
{
	size_t len = strlen(name);
	const char *p, *at, *end;

	for (p = strstr(text, "field:"); p; p = strstr(p + 1, "field:")) {
		end = strchr(p, ';');
		if (!end)
			break;
		if ((size_t)(end - p) <= len)
			continue;
		at = end - len;
		if (memcmp(at, name, len) || (at[-1] != ' ' && at[-1] != '\t'))
			continue;
		if (sscanf(end, "; offset:%9u; size:%9u;", ret_offset, ret_size) == 2)
			return 0;
		break;
	}
	return log_why(-EINVAL, "header_page lacks the field '%s'", name);
}

int ftrace_page_format__parse(const char *text, struct ftrace_page_format *ret_format)
{
	struct ftrace_page_format f = { 0 };
	uint32_t size;
	int err;

	err = find_field(text, "timestamp", &f.timestamp, &size);
	if (!err && size != sizeof(uint64_t))
		err = log_why(-EINVAL, "header_page has a timestamp of %u bytes instead of 8",
			      size);
	if (!err)
		err = find_field(text, "commit", &f.commit, &f.commit_size);
	if (!err && f.commit_size != 4 && f.commit_size != 8)
		err = log_why(-EINVAL, "header_page has a commit of %u bytes instead of 4 or 8",
			      f.commit_size);
	if (!err)
		err = find_field(text, "data", &f.data, &size);
	if (err)
		return err;
	if (f.data > MAX_DATA_OFFSET || f.data % HEAD_SIZE || f.timestamp + 8 > f.data ||
	    f.commit + f.commit_size > f.data)
		return log_why(-EINVAL, "header_page has overlapping fields");
	*ret_format = f;
	return 0;
}

static uint32_t get32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t get64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t get_long(const unsigned char *p, uint32_t size)
{
	return size == sizeof(uint64_t) ? get64(p) : get32(p);
}

/* The number of lost events; -1: unknown, as the kernel had no room for it after the last event. */
static int64_t count_lost(const struct ftrace_page *p, const struct ftrace_page_format *f,
			  uint32_t flags, size_t room)
{
	uint64_t n;

	if (!(flags & MISSED_EVENTS))
		return 0;
	if (!(flags & MISSED_STORED) || room - p->len < f->commit_size)
		return -1;
	n = get_long(p->data + p->len, f->commit_size);
	return n && n <= INT64_MAX ? (int64_t)n : -1;
}

void ftrace_page__open(struct ftrace_page *p, const struct ftrace_page_format *f, const void *buf,
		       size_t len)
{
	uint32_t commit;
	size_t room;

	memset(p, 0, sizeof(*p));
	if (len < f->data) {
		p->err = -EBADMSG;
		return;
	}
	p->data = (const unsigned char *)buf + f->data;
	p->ts = get64((const unsigned char *)buf + f->timestamp);
	p->clock_offset = f->clock_offset;
	room = len - f->data;
	/* MISSED_EVENTS is the sign of an int in the kernel: of 64 bits, the upper 32 repeat it */
	commit = (uint32_t)get_long((const unsigned char *)buf + f->commit, f->commit_size);
	if ((commit & COMMIT_MASK) > room) {
		p->err = -EBADMSG;
		return;
	}
	p->len = commit & COMMIT_MASK;
	p->lost = count_lost(p, f, commit, room);
}

/* Whether the page holds n bytes after the head of the event at pos. */
static bool has(const struct ftrace_page *p, size_t n)
{
	return p->len - p->pos >= HEAD_SIZE && p->len - p->pos - HEAD_SIZE >= n;
}

/* An absolute time stamp lacks the upper bits: they are as before, or one more after a wrap. */
static uint64_t whole_stamp(uint64_t stamp, uint64_t before)
{
	uint64_t ts = stamp | (before >> STAMP_BITS << STAMP_BITS);

	if (before >> STAMP_BITS && ts < before)
		ts += 1ULL << STAMP_BITS;
	return ts;
}

/* Decodes one entry and moves past it: 1: an event, 0: padding or a time stamp, -EBADMSG. */
static int step(struct ftrace_page *p, struct ftrace_page_event *ret_event)
{
	const unsigned char *at = p->data + p->pos, *body = at + HEAD_SIZE;
	struct event_head head;
	uint64_t stamp;
	size_t size; /* after the head */
	bool is_long;

	if (!has(p, 0))
		return -EBADMSG;
	memcpy(&head, at, sizeof(head));
	if (head.type_len == TYPE_PADDING && !head.time_delta) {
		p->pos = p->len; /* the rest of the page is unused */
		return 0;
	}
	is_long = head.type_len == TYPE_LONG || head.type_len >= TYPE_PADDING;
	if (is_long && !has(p, sizeof(uint32_t)))
		return -EBADMSG;
	if (head.type_len == TYPE_TIME_EXTEND || head.type_len == TYPE_TIME_STAMP) {
		stamp = ((uint64_t)get32(body) << DELTA_BITS) + head.time_delta;
		if (head.type_len == TYPE_TIME_EXTEND)
			p->ts += stamp;
		else
			p->ts = whole_stamp(stamp, p->ts);
		p->pos += HEAD_SIZE + sizeof(uint32_t);
		return 0;
	}
	size = is_long ? get32(body) : head.type_len * sizeof(uint32_t);
	if (!has(p, size) || size % sizeof(uint32_t) || !size)
		return -EBADMSG;
	p->pos += HEAD_SIZE + size;
	if (head.type_len == TYPE_PADDING) {
		/* A discarded event.  1 stands for 0, which would mark the rest as unused. */
		p->ts += head.time_delta == 1 ? 0 : head.time_delta;
		return 0;
	}
	p->ts += head.time_delta;
	*ret_event = (struct ftrace_page_event){
		.ts = p->ts + p->clock_offset,
		.data = is_long ? body + sizeof(uint32_t) : body,
		.len = is_long ? size - sizeof(uint32_t) : size,
	};
	return 1;
}

int ftrace_page__next(struct ftrace_page *p, struct ftrace_page_event *ret_event)
{
	int r = p->err;

	while (!r && p->pos < p->len)
		r = step(p, ret_event);
	if (r < 0)
		p->err = r;
	return r;
}
