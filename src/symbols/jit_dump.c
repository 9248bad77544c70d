// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a jitdump.  Runtimes append to it while they run, so a torn record at its end is not an
 * error.
 */
#include "jit_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"

#define MAGIC 0x4a695444u /* "JiTD" in this machine's byte order */
#define VERSION 1

enum { JIT_CODE_LOAD = 0, JIT_CODE_MOVE = 1, JIT_CODE_CLOSE = 3 };

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

/* A code index with, for a load, its name or, for a move, the function that needs the name. */
struct code_index {
	uint64_t code_index;
	uint32_t function;
};

struct dump {
	struct jit_symbols *s;
	int fd;
	struct code_index *loads, *moves;
	size_t nr_loads, nr_moves;
};

static void dump_done(struct dump *d)
{
	free(d->loads);
	free(d->moves);
}

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

static int add_load(struct dump *d, const char *body, size_t len)
{
	size_t name_len = strnlen(body + MIN(len, sizeof(struct dump_load)),
				  len - MIN(len, sizeof(struct dump_load)));
	struct dump_load load;
	uint32_t name;
	int err;

	memcpy(&load, body, MIN(len, sizeof(load)));
	/* A name without its NUL is too long, or torn by the end of the file. */
	if (!name_len || (sizeof(load) + name_len == len && name_len < JIT_MAX_NAME) ||
	    !is_range(load.code_addr, load.code_size)) {
		d->s->bad++;
		return 0;
	}
	err = jit_symbols__put_name(d->s, body + sizeof(load), name_len, &name);
	err = err ?: jit_symbols__put(d->s, load.code_addr, load.code_addr + load.code_size, name);
	if (!err)
		err = array__append(&d->loads, &d->nr_loads,
				    (struct code_index){ load.code_index, d->s->nr - 1 });
	return err;
}

/* The name is looked up when all loads are known; the position in the order is fixed here. */
static int add_move(struct dump *d, const char *body, size_t len)
{
	struct dump_move move;
	int err;

	memcpy(&move, body, MIN(len, sizeof(move)));
	if (len < sizeof(move) || !is_range(move.new_code_addr, move.code_size)) {
		d->s->bad++;
		return 0;
	}
	err = jit_symbols__put(d->s, move.new_code_addr, move.new_code_addr + move.code_size,
			       JIT_NO_NAME);
	if (!err)
		err = array__append(&d->moves, &d->nr_moves,
				    (struct code_index){ move.code_index, d->s->nr - 1 });
	return err;
}

static int add_records(struct dump *d, uint64_t at)
{
	/* the rest of a load with a longer name need not be read */
	char buf[sizeof(struct dump_record) + sizeof(struct dump_load) + JIT_MAX_NAME + 1];
	struct dump_record record;
	int err = 0;

	while (!err) {
		char *body = buf + sizeof(record);
		size_t len;

		err = read_at(d->fd, at, buf, sizeof(buf), &len);
		if (err || len < sizeof(record))
			break;
		memcpy(&record, buf, sizeof(record));
		if (record.id == JIT_CODE_CLOSE)
			break;
		if (record.total_size < sizeof(record)) {
			d->s->bad++;
			break;
		}
		len = MIN(len, (size_t)record.total_size) - sizeof(record);
		if (record.id == JIT_CODE_LOAD)
			err = add_load(d, body, len);
		else if (record.id == JIT_CODE_MOVE)
			err = add_move(d, body, len);
		at += record.total_size;
	}
	return err;
}

static int index_compare(const void *pa, const void *pb)
{
	const struct code_index *a = pa, *b = pb;

	return CMP(a->code_index, b->code_index) ?: CMP(a->function, b->function);
}

/* A move has the name of the last load with the same index before it. */
static void name_moves(struct dump *d)
{
	if (d->nr_loads)
		qsort(d->loads, d->nr_loads, sizeof(*d->loads), index_compare);
	for (size_t i = 0; i < d->nr_moves; i++) {
		const struct code_index *move = &d->moves[i];
		size_t low = array__bisect(d->nr_loads, k, index_compare(&d->loads[k], move) < 0);

		if (low && d->loads[low - 1].code_index == move->code_index)
			d->s->v[move->function].name = d->s->v[d->loads[low - 1].function].name;
		else
			d->s->bad++;
	}
}

int jit_symbols__add_dump(struct jit_symbols *s, int fd)
{
	_cleanup_(dump_done) struct dump d = { .s = s, .fd = fd };
	struct dump_header header;
	size_t len;
	int err = read_at(fd, 0, &header, sizeof(header), &len);

	if (err)
		return err;
	if (len < sizeof(header) || header.magic != MAGIC || header.version != VERSION ||
	    header.total_size < sizeof(header))
		return -EINVAL;
	err = add_records(&d, header.total_size);
	if (d.nr_moves)
		name_moves(&d);
	return jit_symbols__settle(s) ?: err;
}
