// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a jitdump.  Runtimes append to it while they run, so a torn record at its end is not an
 * error, and the file may be read piece by piece.
 */
#include "jit_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "seeded_hash.h"

#define MAGIC 0x4a695444u /* "JiTD" in this machine's byte order */
#define VERSION 1
#define FLAG_ARCH_TIMESTAMP 1 /* times are the processor's time stamp counter, not nanoseconds */

#define MAX_FRAMES (1u << 20) /* bytes of .eh_frame of one function */
#define MAX_ALL_FRAMES (256u << 20)
#define MAX_PIECES (1u << 15) /* records of a growing dump that are read at once */

enum { JIT_CODE_LOAD = 0, JIT_CODE_MOVE = 1, JIT_CODE_CLOSE = 3, JIT_CODE_UNWINDING_INFO = 4 };

struct dump_header {
	uint32_t magic, version, total_size, elf_mach, pad, pid;
	uint64_t timestamp, flags;
};

struct dump_record {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct dump_load {
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
	/* name, NUL, code */
};

struct dump_move {
	uint32_t pid, tid;
	uint64_t vma, old_code_addr, new_code_addr, code_size, code_index;
};

/* For the next LOAD. */
struct dump_unwinding {
	uint64_t size, header_size, mapped_size;
	/* .eh_frame, then header_size bytes of .eh_frame_hdr; size is that of both */
};

/* One record, or its beginning: the rest of a load with a longer name need not be read. */
struct piece {
	struct dump_record record;
	char body[sizeof(struct dump_load) + JIT_MAX_NAME + 1];
	size_t len; /* bytes of body */
	uint64_t ts; /* 0: unknown */
};

/* Reads up to len bytes; *ret_len: the number read. */
static int read_at(int fd, uint64_t at, void *buf, size_t len, size_t *ret_len)
{
	size_t done = 0;

	*ret_len = 0;
	while (done < len) {
		ssize_t n = pread(fd, (char *)buf + done, len - done, at + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += n;
	}
	*ret_len = done;
	return 0;
}

static bool is_range(uint64_t start, uint64_t size)
{
	return size && size <= UINT64_MAX - start;
}

/* ---- functions by code index ----------------------------------------------------------------- */

static struct jit_loaded *find_loaded(struct jit_symbols *s, uint64_t code_index,
				      uint64_t *ret_hash)
{
	uint32_t i;

	s->seed = s->seed ?: seeded_hash__seed();
	*ret_hash = seeded_hash__u64(s->seed, s->seed, code_index);
	index__for_each(&s->by_code_index, *ret_hash, i)
		if (s->loaded[i].code_index == code_index)
			return &s->loaded[i];
	return NULL;
}

/* The last function added is the one with this code index. */
static int note_loaded(struct jit_symbols *s, uint64_t code_index)
{
	uint64_t hash;
	struct jit_loaded *l = find_loaded(s, code_index, &hash);

	if (!l) {
		if (array__grow(&s->loaded, s->nr_loaded, &s->cap_loaded) ||
		    index__add(&s->by_code_index, hash, s->nr_loaded))
			return -ENOMEM;
		l = &s->loaded[s->nr_loaded++];
		l->code_index = code_index;
	}
	l->function = s->nr - 1;
	return 0;
}

/* ---- records --------------------------------------------------------------------------------- */

/* perf writes .eh_frame behind the code, at a multiple of eight bytes from its start. */
static struct jit_frames frames_at(struct jit_frames frames, uint64_t start, uint64_t size)
{
	frames.vaddr = start + ((size + 7) & ~7ull);
	return frames;
}

static int put(struct jit_symbols *s, const struct jit_function *f)
{
	int err = jit_symbols__put(s, f);

	if (!err)
		s->nr_framed += f->frames.len != 0;
	return err;
}

static int add_load(struct jit_symbols *s, const struct piece *p)
{
	size_t head = MIN(p->len, sizeof(struct dump_load));
	size_t name_len = strnlen(p->body + head, p->len - head);
	struct jit_frames frames = s->pending;
	struct jit_function f = { .ts = p->ts };
	struct dump_load load;
	int err;

	s->pending.len = 0;
	memcpy(&load, p->body, head);
	/* A name without its NUL is too long, or torn by the end of the file. */
	if (!name_len || (sizeof(load) + name_len == p->len && name_len < JIT_MAX_NAME) ||
	    !is_range(load.code_addr, load.code_size)) {
		s->bad++;
		return 0;
	}
	f.start = load.code_addr;
	f.end = f.start + load.code_size;
	f.frames = frames_at(frames, f.start, load.code_size);
	err = jit_symbols__put_name(s, p->body + sizeof(load), name_len, &f.name);
	err = err ?: put(s, &f);
	return err ?: note_loaded(s, load.code_index);
}

/* The function keeps its name, and its frames if all of it was moved. */
static int add_move(struct jit_symbols *s, const struct piece *p)
{
	struct jit_function f = { .ts = p->ts, .name = JIT_NO_NAME };
	const struct jit_function *was;
	const struct jit_loaded *l;
	struct dump_move move;
	uint64_t hash;

	memcpy(&move, p->body, MIN(p->len, sizeof(move)));
	if (p->len < sizeof(move) || !is_range(move.new_code_addr, move.code_size)) {
		s->bad++;
		return 0;
	}
	f.start = move.new_code_addr;
	f.end = f.start + move.code_size;
	l = find_loaded(s, move.code_index, &hash);
	if (l) {
		was = &s->v[l->function];
		f.name = was->name;
		if (was->end - was->start == move.code_size)
			f.frames = frames_at(was->frames, f.start, move.code_size);
	}
	s->bad += !l;
	return put(s, &f);
}

static int add_unwinding(struct jit_symbols *s, const struct piece *p, int fd)
{
	struct dump_unwinding u;
	size_t len, got;
	int err;

	s->pending.len = 0;
	memcpy(&u, p->body, MIN(p->len, sizeof(u)));
	if (p->len < sizeof(u) || u.header_size > u.size ||
	    u.size > p->record.total_size - sizeof(p->record) - sizeof(u) || u.size > MAX_FRAMES) {
		s->bad++;
		return 0;
	}
	len = u.size - u.header_size;
	if (s->frames_len + len > MAX_ALL_FRAMES)
		return -EFBIG;
	if (array__reserve(&s->frames, s->frames_len + len, &s->frames_cap))
		return -ENOMEM;
	err = read_at(fd, s->at + sizeof(p->record) + sizeof(u), s->frames + s->frames_len, len,
		      &got);
	if (err || got < len)
		return err;
	s->pending = (struct jit_frames){ .at = s->frames_len, .len = len };
	s->frames_len += len;
	return 0;
}

static int add_record(struct jit_symbols *s, const struct piece *p, int fd)
{
	switch (p->record.id) {
	case JIT_CODE_LOAD:
		return add_load(s, p);
	case JIT_CODE_MOVE:
		return add_move(s, p);
	case JIT_CODE_UNWINDING_INFO:
		return add_unwinding(s, p, fd);
	}
	return 0;
}

/* 1: a record was read; 0: the file has no further one, or only its beginning. */
static int read_piece(const struct jit_symbols *s, int fd, bool whole, struct piece *p)
{
	struct stat st;
	size_t len;
	int err = read_at(fd, s->at, p, sizeof(p->record) + sizeof(p->body), &len);

	if (err || len < sizeof(p->record))
		return err;
	if (whole && (fstat(fd, &st) || (uint64_t)st.st_size < s->at ||
		      st.st_size - s->at < p->record.total_size))
		return 0;
	p->len = MIN(len, MAX((size_t)p->record.total_size, sizeof(p->record)));
	p->len -= sizeof(p->record);
	p->ts = s->counts_cycles ? 0 : p->record.timestamp;
	return 1;
}

static int read_header(struct jit_symbols *s, int fd)
{
	struct dump_header header;
	size_t len;
	int err = read_at(fd, 0, &header, sizeof(header), &len);

	if (err)
		return err;
	if (len < sizeof(header) || header.magic != MAGIC || header.version != VERSION ||
	    header.total_size < sizeof(header))
		return -EINVAL;
	s->at = header.total_size;
	s->counts_cycles = header.flags & FLAG_ARCH_TIMESTAMP;
	return 0;
}

int jit_symbols__read_dump(struct jit_symbols *s, int fd, bool whole)
{
	int err = s->at ? 0 : read_header(s, fd), got = 1;
	unsigned int nr = 0;
	struct piece p;

	while (!err && !s->closed && !(whole && nr++ == MAX_PIECES)) {
		got = read_piece(s, fd, whole, &p);
		if (got <= 0)
			return got;
		if (p.record.total_size < sizeof(p.record)) {
			s->bad++;
			s->closed = true;
		} else if (p.record.id == JIT_CODE_CLOSE) {
			s->closed = true;
		} else {
			err = add_record(s, &p, fd);
			s->at += p.record.total_size;
		}
	}
	return err;
}

int jit_symbols__add_dump(struct jit_symbols *s, int fd)
{
	int err = jit_symbols__read_dump(s, fd, false);

	if (err && !s->at)
		return err;
	return jit_symbols__settle(s) ?: err;
}
