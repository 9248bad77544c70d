/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events by which ftrace tells stacks, and its maps of stacks and files.  All of it is text and
 * bytes of the kernel's, checked as if they were hostile.
 */
#ifndef RECORD_FTRACE_STACKS_H
#define RECORD_FTRACE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ftrace_stack_kind {
	FTRACE_KERNEL_STACK, /* addresses */
	FTRACE_USER_STACK, /* tgid, addresses; eight at most */
	FTRACE_STACK_ID, /* id */
	FTRACE_STACK_ID_PAIR, /* id on top of below_id */
	FTRACE_STACK_ID_COOKIE, /* the same and a cookie; either id may be 0 */
	FTRACE_USER_STACK_ID, /* cookie, id, tgid */
	FTRACE_USER_STACK_UNWIND, /* cookie, tgid, pairs {hash, offset} */
	FTRACE_FILE_MAP, /* hash, build id, path */
	FTRACE_NR_STACK_KINDS
};

/* Name of the event in the system "ftrace". */
const char *ftrace_stack_kind_name(enum ftrace_stack_kind kind);

/* Where the fields are, from events/ftrace/NAME/format. */
struct ftrace_stack_format {
	bool known; /* this kernel has the event */
	uint16_t type; /* common_type */
	uint16_t size; /* bytes of the fixed part */
	uint16_t id, below_id, cookie, tgid, nr, words; /* offsets; 0: there is none */
	uint16_t max_words; /* of an array without a field that tells its length */
	uint16_t hash, build_id_size, build_id, path; /* path: of its __data_loc or text */
};

struct ftrace_stack_formats {
	struct ftrace_stack_format v[FTRACE_NR_STACK_KINDS];
};

/* text: the event's format.  -EINVAL: not understood. */
int ftrace_stack_formats__parse(struct ftrace_stack_formats *f, enum ftrace_stack_kind kind,
				const char *text);

/* What one of these events says; pointers into its record, not aligned. */
struct ftrace_stack_event {
	enum ftrace_stack_kind kind;
	uint32_t id, below_id, tgid;
	uint64_t cookie;
	const void *words; /* of 8 bytes each */
	unsigned int nr; /* of them; a user stack's less the zeros at its end */
	uint32_t hash;
	const uint8_t *build_id;
	unsigned int build_id_len; /* 0: none */
	const char *path; /* path_len bytes, no NUL at the end */
	size_t path_len;
};

/* 1: it is one, 0: it is another event, -EPROTO: damaged. */
int ftrace_stack_formats__decode(const struct ftrace_stack_formats *f, const void *record, size_t len,
				 struct ftrace_stack_event *ret_event);

/* ---- stack_map_bin, user_stack_map_bin --------------------------------------------------------- */

struct ftrace_map_stack {
	uint32_t id;
	bool truncated, user; /* user: words are pairs {hash, offset} */
	const void *words; /* nr of 8 bytes each, not aligned */
	unsigned int nr;
};

struct ftrace_map_reader {
	const unsigned char *at, *end;
	uint32_t left, generation;
};

/* data is borrowed.  -EPROTO: this is not such a file. */
int ftrace_map_reader__open(struct ftrace_map_reader *r, const void *data, size_t len);
/* 1: a stack, 0: the end, -EPROTO: damaged from here on. */
int ftrace_map_reader__next(struct ftrace_map_reader *r, struct ftrace_map_stack *ret_stack);

/* ---- file_map, as text -------------------------------------------------------------------------- */

/* "hash=0x... path=... build_id=..."; kind is FTRACE_FILE_MAP then.  -EINVAL: not such a line. */
int ftrace_file_map__parse_line(const char *line, uint8_t ret_build_id[20],
				struct ftrace_stack_event *ret_event);

#endif /* RECORD_FTRACE_STACKS_H */
