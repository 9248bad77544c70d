// SPDX-License-Identifier: GPL-2.0-only
/* Decodes the records of stacks, stack ids and files by the offsets in their formats. */
#include "ftrace_stacks.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "events/format.h"
#include "log.h"
#include "record/kernel/tracefs.h"

#define WORD sizeof(uint64_t)

enum part {
	PART_END,
	PART_ID,
	PART_BELOW,
	PART_COOKIE,
	PART_TGID,
	PART_SIZE, /* words that follow */
	PART_WORDS,
	PART_HASH,
	PART_BUILD_ID_SIZE,
	PART_BUILD_ID,
	PART_PATH, /* a string: the rest of the record, or a dynamic one */
};

/* The parts of each kind of record and their field names in its format. */
static const struct {
	const char *name;
	struct {
		enum part part;
		const char *field;
	} parts[4];
} kinds[FTRACE_NR_KINDS] = {
	[FTRACE_KERNEL_STACK] = { "kernel_stack",
				  { { PART_SIZE, "size" }, { PART_WORDS, "caller" } } },
	[FTRACE_USER_STACK] = { "user_stack", { { PART_TGID, "tgid" }, { PART_WORDS, "caller" } } },
	[FTRACE_STACK_ID] = { "stack_id", { { PART_ID, "stack_id" } } },
	[FTRACE_STACK_ID_PAIR] = { "stack_id_pair",
				   { { PART_ID, "stack_id" }, { PART_BELOW, "below_id" } } },
	[FTRACE_STACK_ID_COOKIE] = { "stack_id_cookie",
				     { { PART_ID, "stack_id" },
				       { PART_BELOW, "below_id" },
				       { PART_COOKIE, "cookie" } } },
	[FTRACE_USER_STACK_ID] = { "user_stack_id",
				   { { PART_COOKIE, "cookie" },
				     { PART_ID, "stack_id" },
				     { PART_TGID, "tgid" } } },
	[FTRACE_USER_STACK_UNWIND] = { "user_stack_unwind",
				       { { PART_COOKIE, "cookie" },
					 { PART_TGID, "tgid" },
					 { PART_SIZE, "size" },
					 { PART_WORDS, "caller" } } },
	[FTRACE_FILE_MAP] = { "file_map",
			      { { PART_HASH, "hash" },
				{ PART_BUILD_ID_SIZE, "build_id_size" },
				{ PART_BUILD_ID, "build_id" },
				{ PART_PATH, "path" } } },
};

const char *ftrace_kind__name(enum ftrace_kind kind)
{
	return kinds[kind].name;
}

/* The required size of a field for that part, 0: any. */
static uint32_t size_of(enum part part)
{
	switch (part) {
	case PART_COOKIE:
		return sizeof(uint64_t);
	case PART_WORDS:
	case PART_PATH:
		return 0;
	case PART_BUILD_ID:
		return FTRACE_BUILD_ID_MAX;
	default:
		return sizeof(uint32_t);
	}
}

static int find_place(const struct ev_format *f, const char *name, uint32_t size,
		      struct ftrace_place *ret_place)
{
	const struct ev_field *field = ev_format__find(f, name);

	if (!field || (size && field->size != size) || field->offset > UINT16_MAX ||
	    field->size > UINT16_MAX)
		return log_why(-EINVAL, "format of %s: field '%s' is %s", ev_format__name(f), name,
			       field ? "not of the expected size" : "missing");
	*ret_place = (struct ftrace_place){ field->offset, field->size };
	return 0;
}

static void free_format(struct ev_format **f)
{
	ev_format__free(*f);
}

int ftrace_kinds__add(struct ftrace_kinds *k, enum ftrace_kind kind, const char *text, size_t len)
{
	_cleanup_(free_format) struct ev_format *f = NULL;
	struct ftrace_kinds new = *k;
	struct ftrace_kind_layout *l = &new.of[kind];
	const struct ev_field *words;
	unsigned int i;
	int err;

	err = ev_format__parse(text, len, &f);
	err = err ?: find_place(f, "common_type", 2, &new.type);
	err = err ?: find_place(f, "common_flags", 1, &new.flags);
	err = err ?: find_place(f, "common_preempt_count", 1, &new.preempt);
	err = err ?: find_place(f, "common_pid", 4, &new.pid);
	for (i = 0; !err && i < ARRAY_SIZE(l->field) && kinds[kind].parts[i].part; i++)
		err = find_place(f, kinds[kind].parts[i].field, size_of(kinds[kind].parts[i].part),
				 &l->field[i]);
	if (err)
		return err;
	words = ev_format__find(f, "caller");
	if (words && words->elem_size != WORD)
		return log_why(-EINVAL,
			       "the format of ftrace:%s has words of %u bytes instead of 8",
			       kinds[kind].name, words->elem_size);
	l->known = true;
	l->type = ev_format__id(f);
	*k = new;
	return 0;
}

int ftrace_kinds__load(struct ftrace_kinds *k)
{
	enum ftrace_kind kind;
	int err;

	for (kind = FTRACE_EVENT + 1; kind < FTRACE_NR_KINDS; kind++) {
		_cleanup_free_ char *text = NULL;

		err = tracefs__format("ftrace", kinds[kind].name, &text);
		if (!err)
			err = ftrace_kinds__add(k, kind, text, strlen(text));
		if (err && (err != -ENOENT || kind == FTRACE_KERNEL_STACK))
			return err;
	}
	return 0;
}

static bool inside(struct ftrace_place at, size_t len)
{
	return at.size && (size_t)at.offset + at.size <= len;
}

/* The value of an integer field, which must be inside the record. */
static uint64_t get(const unsigned char *rec, struct ftrace_place at)
{
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} v;

	memcpy(&v, rec + at.offset, at.size);
	return at.size == 1 ? v.u8 : at.size == 2 ? v.u16 : at.size == 4 ? v.u32 : v.u64;
}

uint64_t ftrace_record__word(const struct ftrace_record *r, uint32_t i)
{
	uint64_t v;

	memcpy(&v, (const unsigned char *)r->words + i * WORD, WORD);
	return v;
}

/* Takes up to `most` words from a field on; addresses end where the kernel ends printing them. */
static int take_words(struct ftrace_record *r, const unsigned char *rec, size_t len,
		      struct ftrace_place at, uint32_t most)
{
	bool counted = most != UINT32_MAX;
	uint64_t end;

	if (at.offset > len || (counted && most > (len - at.offset) / WORD))
		return -EBADMSG;
	r->words = rec + at.offset;
	if (!counted)
		most = MIN(at.size, len - at.offset) / WORD;
	if (r->kind == FTRACE_USER_STACK_UNWIND) {
		r->nr_words = most;
		return most % 2 ? -EBADMSG : 0;
	}
	end = r->kind == FTRACE_USER_STACK ? 0 : UINT64_MAX;
	while (r->nr_words < most && ftrace_record__word(r, r->nr_words) != end)
		r->nr_words++;
	return 0;
}

/*
 * A field without a size extends to the end of the record.  A dynamic string is a u32, length << 16
 * | offset from the start of the record; the length includes the NUL.
 */
static int take_path(struct ftrace_record *r, const unsigned char *rec, size_t len,
		     struct ftrace_place at)
{
	uint32_t loc, offset = at.offset, size = at.size;

	if (size == sizeof(loc) && inside(at, len)) {
		loc = get(rec, at);
		offset = loc & 0xffff;
		size = loc >> 16;
	}
	if (offset > len || size > len - offset)
		return -EBADMSG;
	if (!at.size)
		size = len - offset;
	r->path = (const char *)rec + offset;
	r->path_len = strnlen(r->path, size);
	return 0;
}

static int take(struct ftrace_record *r, enum part part, const unsigned char *rec, size_t len,
		struct ftrace_place at, uint32_t *size)
{
	uint64_t v;

	if (part == PART_WORDS)
		return take_words(r, rec, len, at, *size);
	if (part == PART_PATH)
		return take_path(r, rec, len, at);
	if (!inside(at, len))
		return -EBADMSG;
	if (part == PART_BUILD_ID) {
		r->build_id = rec + at.offset;
		return r->build_id_size > at.size ? -EBADMSG : 0;
	}
	v = get(rec, at);
	switch (part) {
	case PART_ID:
		r->stack_id = v;
		break;
	case PART_BELOW:
		r->below_id = v;
		break;
	case PART_COOKIE:
		r->cookie = v;
		break;
	case PART_TGID:
		r->tgid = v;
		break;
	case PART_SIZE:
		*size = MIN(v, UINT32_MAX - 1);
		break;
	case PART_HASH:
		r->hash = v;
		break;
	case PART_BUILD_ID_SIZE:
		r->build_id_size = v;
		break;
	default:
		break;
	}
	return 0;
}

int ftrace_kinds__decode(const struct ftrace_kinds *k, const void *rec, size_t len,
			 struct ftrace_record *ret_record)
{
	struct ftrace_record r = {};
	uint32_t size = UINT32_MAX; /* number of words; UINT32_MAX: not in the record */
	unsigned int i;
	int err;

	if (!inside(k->type, len) || !inside(k->flags, len) || !inside(k->preempt, len) ||
	    !inside(k->pid, len))
		return -EBADMSG;
	r.type = get(rec, k->type);
	r.ctx.flags = get(rec, k->flags);
	r.ctx.preempt = get(rec, k->preempt);
	r.ctx.pid = (int32_t)get(rec, k->pid);
	for (r.kind = FTRACE_NR_KINDS - 1; r.kind > FTRACE_EVENT; r.kind--) {
		if (k->of[r.kind].known && k->of[r.kind].type == r.type)
			break;
	}
	for (i = 0; i < ARRAY_SIZE(kinds[0].parts) && kinds[r.kind].parts[i].part; i++) {
		err = take(&r, kinds[r.kind].parts[i].part, rec, len, k->of[r.kind].field[i],
			   &size);
		if (err)
			return err;
	}
	*ret_record = r;
	return 0;
}

static int hex_digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses "none" or pairs of hex digits up to end. */
static int read_build_id(const char *p, const char *end, struct ftrace_file *file)
{
	int high, low;

	if (end - p == 4 && !memcmp(p, "none", 4))
		return 0;
	if (end - p > 2 * FTRACE_BUILD_ID_MAX || end - p < 2 || (end - p) % 2)
		return -EBADMSG;
	for (; p < end; p += 2) {
		high = hex_digit(p[0]);
		low = hex_digit(p[1]);
		if (high < 0 || low < 0)
			return -EBADMSG;
		file->build_id[file->build_id_size++] = high << 4 | low;
	}
	return 0;
}

static const char *find_last(const char *p, const char *end, const char *what)
{
	size_t n = strlen(what);

	for (end -= MIN(n, (size_t)(end - p)); end > p; end--) {
		if (!strncmp(end, what, n))
			return end;
	}
	return NULL;
}

/* hash=0xHASH path=PATH build_id=HEX; a path may contain spaces and even " build_id=". */
static int read_file(const char *p, const char *end, struct ftrace_file *file)
{
	static const char path[] = " path=", id[] = " build_id=";
	const char *last;
	uint64_t hash;
	char *after;

	if (strncmp(p, "hash=0x", 7) || hex_digit(p[7]) < 0)
		return -EBADMSG;
	hash = strtoull(p + 7, &after, 16);
	last = find_last(p, end, id);
	if (hash > UINT32_MAX || !last || strncmp(after, path, sizeof(path) - 1) ||
	    last < after + sizeof(path) - 1)
		return -EBADMSG;
	file->hash = hash;
	file->path = after + sizeof(path) - 1;
	file->path_len = last - file->path;
	return read_build_id(last + sizeof(id) - 1, end, file);
}

int ftrace_file__next(const char **text, struct ftrace_file *ret_file)
{
	struct ftrace_file file = {};
	const char *line = *text, *end;

	while (*line == '\n' || *line == '#')
		line = *line == '#' ? line + strcspn(line, "\n") : line + 1;
	end = line + strcspn(line, "\n");
	*text = *end ? end + 1 : end;
	if (end == line)
		return 0;
	if (read_file(line, end, &file))
		return -EBADMSG;
	*ret_file = file;
	return 1;
}
