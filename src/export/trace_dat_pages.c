// SPDX-License-Identifier: GPL-2.0-only
/* Pages of the kernel's ring buffer, and the temporary file in which they wait. */
#include "trace_dat_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "output/output.h"
#include "temporary.h"

/* An entry begins with a word: its length or type in the low 5 bits, then 27 bits of time. */
#define TYPE_BITS 5
#define TYPE_TIME_EXTEND 30 /* the next word has the upper bits of the time */
#define SMALL_MAX (28 * 4) /* bytes of data whose length the first word has; else the next one */
#define DELTA_BITS 27
#define MAX_DELTA (1ull << (DELTA_BITS + 32)) /* what TIME_EXTEND can say */
/* Flags of the length in the head of a page. */
#define MISSED_EVENTS (1u << 31) /* before this page */
#define MISSED_STORED (1u << 30) /* their number follows the data */
#define MISSED_SIZE 8 /* bytes of it */

#define CHUNK_SIZE 65536
#define WORK_BYTES 4 /* of padding that cost 1 */

/* In the temporary file ahead of the pages. */
struct chunk_head {
	uint64_t next; /* 0: none */
	uint32_t page_size, len;
};

static int failed(const struct trace_dat_pages *p, int err)
{
	return log_err(err, "write a temporary file of the export");
}

static int charge(struct trace_dat_pages *p, uint64_t memory)
{
	int err = stk_reader__charge(p->reader, (int64_t)memory, 0);

	p->memory += err ? 0 : memory;
	return err;
}

/* ---- the temporary file ---------------------------------------------------------------------- */

/* Offset 0 stands for no chunk. */
static int open_file(struct trace_dat_pages *p)
{
	p->end = sizeof(uint64_t);
	p->fd = output__open_temporary(p->output);
	return MIN(p->fd, 0);
}

/* Moves the pages of a CPU to the file, behind its last chunk there. */
static int flush(struct trace_dat_pages *p, struct trace_dat_cpu *c)
{
	struct chunk_head head = { .page_size = c->page_size, .len = c->len };
	int err = p->fd < 0 ? open_file(p) : 0;

	if (err)
		return err;
	err = temporary__write(p->fd, &head, sizeof(head), p->end);
	err = err ?: temporary__write(p->fd, c->chunk, c->len, p->end + sizeof(head));
	if (!err && c->last_chunk)
		err = temporary__write(p->fd, &p->end, sizeof(p->end),
				       c->last_chunk + offsetof(struct chunk_head, next));
	if (err)
		return failed(p, err);
	c->first_chunk = c->first_chunk ?: p->end;
	c->last_chunk = p->end;
	p->end += sizeof(head) + c->len;
	c->len = c->page_at = 0;
	return 0;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void end_page(struct trace_dat_cpu *c)
{
	char *page = c->chunk + c->page_at, *end = c->chunk + c->len;
	uint64_t commit = c->len - c->page_at - TRACE_DAT_PAGE_HEAD;

	if (c->page_is_lost)
		commit |= MISSED_EVENTS | (c->page_lost ? MISSED_STORED : 0);
	memcpy(page + 8, &commit, sizeof(commit));
	memset(end, 0, page + c->page_size - end);
	if (c->page_lost)
		memcpy(end, &c->page_lost, sizeof(c->page_lost));
	c->page_at += c->page_size;
	c->len = c->page_at;
}

/* Room for one more page in the chunk. */
static int grow_chunk(struct trace_dat_pages *p, struct trace_dat_cpu *c)
{
	uint32_t old = c->cap;

	if (array__reserve(&c->chunk, c->len + (size_t)c->page_size, &c->cap))
		return log_err(-ENOMEM, "export");
	return charge(p, c->cap - old);
}

static int begin_page(struct trace_dat_pages *p, struct trace_dat_cpu *c, uint64_t ts)
{
	int err = 0;

	if (c->len && (c->page_size != p->page_size || c->len + c->page_size > CHUNK_SIZE))
		err = flush(p, c);
	c->page_size = p->page_size;
	err = err ?: grow_chunk(p, c);
	if (err)
		return err;
	if (!c->nr_pages && p->lost_anywhere)
		c->is_lost = c->lost_unknown = true;
	memcpy(c->chunk + c->page_at, &ts, sizeof(ts));
	c->len = c->page_at + TRACE_DAT_PAGE_HEAD;
	c->last_ts = ts;
	c->nr_pages++;
	c->page_is_lost = c->is_lost;
	c->page_lost = c->lost_unknown ? 0 : c->lost;
	c->is_lost = c->lost_unknown = false;
	c->lost = 0;
	return 0;
}

/* Bytes of an entry with its head: the word, that of the length, and the data. */
static size_t entry_size(size_t padded)
{
	return 4 + (padded > SMALL_MAX ? 4 : 0) + padded;
}

/* Whether an entry of this size must begin a page. */
static bool begins_page(const struct trace_dat_cpu *c, uint64_t ts, size_t size)
{
	size_t extend = (ts - c->last_ts) >> DELTA_BITS ? 8 : 0;

	return c->len == c->page_at || c->is_lost || ts < c->last_ts ||
	       ts - c->last_ts >= MAX_DELTA ||
	       c->len + extend + size + MISSED_SIZE > c->page_at + (size_t)c->page_size;
}

/* A page that holds the entry; a page that only losses demand costs work. */
static int make_room(struct trace_dat_pages *p, struct trace_dat_cpu *c, uint64_t ts, size_t size)
{
	int err = 0;

	if (!begins_page(c, ts, size))
		return 0;
	while (p->page_size < TRACE_DAT_PAGE_HEAD + size + MISSED_SIZE)
		p->page_size *= 2;
	p->nr_back += ts < c->last_ts;
	if (c->len != c->page_at) {
		if (c->is_lost || ts < c->last_ts)
			err = stk_reader__charge(p->reader, 0, c->page_size / WORK_BYTES);
		end_page(c);
	}
	return err ?: begin_page(p, c, ts);
}

static void put_word(struct trace_dat_cpu *c, uint32_t word)
{
	memcpy(c->chunk + c->len, &word, sizeof(word));
	c->len += sizeof(word);
}

static int reach_cpu(struct trace_dat_pages *p, uint32_t cpu)
{
	uint32_t old = p->nr_cpus;

	if (cpu < old)
		return 0;
	if (array__reach(&p->cpus, cpu, &p->nr_cpus))
		return log_err(-ENOMEM, "export");
	return charge(p, (uint64_t)(p->nr_cpus - old) * sizeof(*p->cpus));
}

int trace_dat_pages__add(struct trace_dat_pages *p, uint32_t cpu, uint64_t ts, size_t len,
			 char **ret_data)
{
	size_t padded = (len + 3) / 4 * 4;
	struct trace_dat_cpu *c;
	uint32_t word;
	uint64_t delta;
	char *data;
	int err = reach_cpu(p, cpu);

	if (err)
		return err;
	c = &p->cpus[cpu];
	err = make_room(p, c, ts, entry_size(padded));
	if (err)
		return err;
	p->nr_used = MAX(p->nr_used, cpu + 1);
	delta = ts - c->last_ts;
	c->last_ts = ts;
	word = padded > SMALL_MAX ? 0 : padded / 4;
	if (delta >> DELTA_BITS) {
		put_word(c, (uint32_t)(delta << TYPE_BITS) | TYPE_TIME_EXTEND);
		put_word(c, delta >> DELTA_BITS);
		delta = 0;
	}
	put_word(c, (uint32_t)delta << TYPE_BITS | word);
	if (padded > SMALL_MAX)
		put_word(c, padded + sizeof(uint32_t));
	data = c->chunk + c->len;
	c->len += padded;
	if (padded)
		memset(data + padded - 4, 0, 4);
	*ret_data = data;
	return 0;
}

static void add_loss(struct trace_dat_cpu *c, uint64_t count)
{
	c->is_lost = true;
	c->lost += count;
	c->nr_lost += count ?: 1;
	c->lost_unknown |= !count;
}

int trace_dat_pages__lost(struct trace_dat_pages *p, uint32_t cpu, uint64_t count)
{
	uint32_t i;
	int err;

	if (cpu != STK_ANY_CPU) {
		err = reach_cpu(p, cpu);
		if (!err)
			add_loss(&p->cpus[cpu], count);
		return err;
	}
	/* it may have been on any CPU, so none has a number to show */
	p->lost_anywhere = true;
	for (i = 0; i < p->nr_used; i++)
		p->cpus[i].is_lost = p->cpus[i].lost_unknown = true;
	return stk_reader__charge(p->reader, 0, p->nr_used);
}

/* ---- sections -------------------------------------------------------------------------------- */

void trace_dat_pages__finish(struct trace_dat_pages *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_used; i++)
		if (p->cpus[i].len != p->cpus[i].page_at)
			end_page(&p->cpus[i]);
}

uint64_t trace_dat_pages__section_size(const struct trace_dat_pages *p, uint32_t cpu)
{
	return cpu < p->nr_used ? p->cpus[cpu].nr_pages * p->page_size : 0;
}

/* The pages of a chunk, each filled up to the size of the largest. */
static int write_chunk(const struct trace_dat_pages *p, const char *chunk, uint32_t page_size,
		       uint32_t len)
{
	static const char zeros[TRACE_DAT_PAGE_MIN];
	uint32_t at, more;
	int err = 0;

	if (page_size == p->page_size)
		return output__write(p->output, chunk, len);
	for (at = 0; at < len && !err; at += page_size) {
		err = output__write(p->output, chunk + at, page_size);
		for (more = page_size; more < p->page_size && !err; more += sizeof(zeros))
			err = output__write(p->output, zeros, sizeof(zeros));
	}
	return err;
}

static int write_chunks(const struct trace_dat_pages *p, const struct trace_dat_cpu *c)
{
	_cleanup_free_ char *chunk = malloc(MAX(CHUNK_SIZE, p->page_size));
	struct chunk_head head = { .next = c->first_chunk };
	int err = chunk ? 0 : -ENOMEM;
	uint64_t at;

	while (head.next && !err) {
		at = head.next;
		err = temporary__read(p->fd, &head, sizeof(head), at);
		err = err ?: temporary__read(p->fd, chunk, head.len, at + sizeof(head));
		err = err ?: write_chunk(p, chunk, head.page_size, head.len);
	}
	return err;
}

int trace_dat_pages__write(const struct trace_dat_pages *p, uint32_t cpu)
{
	const struct trace_dat_cpu *c = &p->cpus[cpu];

	return write_chunks(p, c) ?: write_chunk(p, c->chunk, c->page_size, c->len);
}

void trace_dat_pages__clear(struct trace_dat_pages *p)
{
	uint32_t i;

	for (i = 0; i < p->nr_cpus; i++)
		free(p->cpus[i].chunk);
	free(p->cpus);
	closep(&p->fd);
	if (p->memory)
		stk_reader__charge(p->reader, -(int64_t)p->memory, 0);
}
