/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records that ftrace writes in addition to events: full stacks, stack ids of a kernel with a
 * stack map (kernel/README.md), and files of user stacks.
 *
 * Offsets come from events/ftrace/NAME/format; records are not trusted.
 */
#ifndef RECORD_FTRACE_STACKS_H
#define RECORD_FTRACE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ftrace_kind {
	FTRACE_EVENT, /* an event, not one of the records below */
	FTRACE_KERNEL_STACK, /* words: addresses, innermost first */
	FTRACE_USER_STACK, /* words: addresses, innermost first; tgid */
	FTRACE_STACK_ID, /* stack_id */
	FTRACE_STACK_ID_PAIR, /* stack_id on top of below_id */
	FTRACE_STACK_ID_COOKIE, /* stack_id or 0, below_id or 0, cookie */
	FTRACE_USER_STACK_ID, /* cookie, stack_id of the user map, tgid */
	FTRACE_USER_STACK_UNWIND, /* cookie, tgid; words: pairs {file hash, offset} */
	FTRACE_FILE_MAP, /* hash, build id, path */
	FTRACE_NR_KINDS,
};

/* The context in which a record was written: equal for an event and its stacks. */
struct ftrace_context {
	int32_t pid;
	uint8_t flags; /* common_flags: enum trace_flag_type of the kernel */
	uint8_t preempt; /* common_preempt_count: two counts of four bits */
};

#define FTRACE_BUILD_ID_MAX 20

struct ftrace_record {
	enum ftrace_kind kind;
	uint16_t type; /* common_type */
	struct ftrace_context ctx;
	uint32_t stack_id, below_id, tgid;
	uint64_t cookie;
	const void *words; /* u64 in the record, maybe unaligned: see ftrace_record__word() */
	uint32_t nr_words;
	uint32_t hash;
	uint32_t build_id_size; /* 0: the file has none */
	const uint8_t *build_id;
	const char *path; /* in the record, not NUL-terminated */
	uint32_t path_len;
};

/* The layouts of this kernel's records; initialized by = {}, nothing to free. */
struct ftrace_kinds {
	struct ftrace_kind_layout {
		bool known;
		uint16_t type; /* common_type */
		struct ftrace_place {
			uint16_t offset, size; /* size 0: no such field */
		} field[4];
	} of[FTRACE_NR_KINDS];
	struct ftrace_place type, flags, preempt, pid; /* the common fields */
};

/* "kernel_stack", "stack_id", ...: the directory in events/ftrace; NULL for FTRACE_EVENT. */
const char *ftrace_kind__name(enum ftrace_kind kind);
/*
 * Adds the text of events/ftrace/NAME/format for that kind; kinds that the kernel lacks are not
 * added.  -EINVAL: a field is missing or invalid.
 */
int ftrace_kinds__add(struct ftrace_kinds *k, enum ftrace_kind kind, const char *text, size_t len);
/* Adds all kinds that this kernel has, from tracefs.  -ENOENT: it lacks even kernel_stack. */
int ftrace_kinds__load(struct ftrace_kinds *k);

/*
 * Decodes a record of any kind.  -EBADMSG: it is shorter than its format, or claims more words than
 * it has.  A kernel stack ends before a word of all ones, a user stack before a word of zeros, as
 * in the output of `trace`.
 */
int ftrace_kinds__decode(const struct ftrace_kinds *k, const void *rec, size_t len,
			 struct ftrace_record *ret_record);
/* i < nr_words */
uint64_t ftrace_record__word(const struct ftrace_record *r, uint32_t i);

/* One line of the tracefs file `file_map`: hash=0xHASH path=PATH build_id=HEX. */
struct ftrace_file {
	uint32_t hash;
	uint8_t build_id[FTRACE_BUILD_ID_MAX];
	uint32_t build_id_size; /* 0: "none" */
	const char *path; /* in the text, not NUL-terminated */
	size_t path_len;
};

/*
 * Parses the next line of *text and moves *text past it.  Returns 1: a file, 0: the end, -EBADMSG:
 * the line is invalid and was skipped.
 */
int ftrace_file__next(const char **text, struct ftrace_file *ret_file);

#endif /* RECORD_FTRACE_STACKS_H */
