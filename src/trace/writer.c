// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The writer: tables, rounds, output.
 *
 * Tables collect what is new since the last group.  A group is built in memory as tables, then
 * events, then the round marker, so that every table stands before the events that need it, and
 * goes out in one write.
 */
#include "trace/writer.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "frame.h"
#include "log.h"
#include "trace/dict.h"
#include "trace/encode.h"
#include "trace/tree.h"

#define TABLE_SPLIT	(4u << 20)	/* a table block is closed when it gets this big */
#define NODE_SPLIT	(256u << 10)	/* entries of a NODES or STACKS block */
#define BATCH_EVENTS	16384u		/* events of a block, with few CPUs */
#define BATCH_EVENTS_ALL (1u << 20)	/* and of one block of every CPU together */
#define BATCH_EVENTS_MIN 1024u
#define BATCH_BYTES	(1u << 20)	/* and their records */
#define MAX_CPUS	65536u

struct wr_cpu {
	struct enc_event *events;
	uint32_t nr, cap;
	struct wire_buf records;
};

struct wr_stack {
	uint32_t node, generation;
	bool imported;
	uint32_t id;
	uint64_t refs;
};

struct stk_writer {
	int fd;
	int err;			/* sticky */
	bool seekable, fsync, finished;
	struct encoder *enc;
	struct stk_writer_stats stats;
	uint64_t offset;		/* of the file: bytes written */

	struct wire_buf meta, types, tasks, symbols;	/* payloads under way */
	uint64_t prev_symbol;
	struct wire_buf group;		/* finished table blocks */
	struct wire_buf blocks;		/* finished event blocks */
	struct wire_buf scratch;
	uint64_t block_events;		/* in blocks */

	struct stk_layout **layouts;
	uint32_t nr_types, cap_types;
	struct dict task_dict;

	size_t stack_budget;
	struct tree tree;
	uint32_t node_base;		/* file number of the tree's node n is node_base + n */
	uint32_t nodes_written;		/* of the tree's nodes, the root included */
	uint32_t *node_stack;		/* stack number by tree node, 0: none */
	uint32_t cap_node_stack;
	uint32_t generation;
	struct wr_stack *stacks;	/* not yet written */
	uint32_t nr_stacks, cap_stacks;
	uint32_t first_stack;		/* number of stacks[0] */
	uint32_t empty_stack;

	struct wr_cpu *cpus;
	uint32_t nr_cpus, batch_events;
	uint64_t round, max_ts;
};

static int fail(struct stk_writer *w, int err)
{
	if (!w->err)
		w->err = err;
	return w->err;
}

/* ---- open and close ------------------------------------------------------------------------- */

/* Everything in b goes out, or nothing where the file can be cut back. */
static int write_out(struct stk_writer *w, struct wire_buf *b)
{
	size_t done = 0;

	if (b->failed)
		return fail(w, log_err(-ENOMEM, "write recording"));
	while (done < b->len) {
		ssize_t n = write(w->fd, b->p + done, b->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int err = n < 0 ? -errno : -EIO;

			if (done && w->seekable && !ftruncate(w->fd, w->offset))
				lseek(w->fd, w->offset, SEEK_SET);
			return fail(w, log_err(err, "write recording"));
		}
		done += n;
	}
	w->offset += b->len;
	w->stats.bytes += b->len;
	b->len = 0;
	return 0;
}

static int write_header(struct stk_writer *w)
{
	uint16_t version[2] = { STK_MAJOR, STK_MINOR };
	uint32_t size = STK_HEADER_SIZE, crc;
	uint8_t uuid[16], zero[20] = { 0 };
	struct timespec now;
	uint64_t wall;

	clock_gettime(CLOCK_REALTIME, &now);
	wall = now.tv_sec * 1000000000ULL + now.tv_nsec;
	if (getrandom(uuid, sizeof(uuid), 0) != sizeof(uuid))
		return log_err(-errno, "random bytes for the recording's uuid");
	wire_put(&w->group, STK_MAGIC, 8);
	wire_put(&w->group, version, sizeof(version));
	wire_put(&w->group, &size, sizeof(size));
	wire_put(&w->group, uuid, sizeof(uuid));
	wire_put(&w->group, &wall, sizeof(wall));
	wire_put(&w->group, zero, sizeof(zero));
	if (w->group.failed)
		return -ENOMEM;
	crc = crc32c(0, w->group.p, w->group.len);
	wire_put(&w->group, &crc, sizeof(crc));
	return write_out(w, &w->group);
}

static int add_cpus(struct stk_writer *w, uint32_t nr)
{
	struct wr_cpu *p;

	if (nr > MAX_CPUS)
		return -EINVAL;
	p = realloc(w->cpus, nr * sizeof(*p));
	if (!p)
		return -ENOMEM;
	memset(p + w->nr_cpus, 0, (nr - w->nr_cpus) * sizeof(*p));
	w->cpus = p;
	w->nr_cpus = nr;
	w->batch_events = MAX(BATCH_EVENTS_MIN, MIN(BATCH_EVENTS, BATCH_EVENTS_ALL / nr));
	return 0;
}

static void stk_writer__freep(struct stk_writer **w)
{
	stk_writer__free(*w);
}

int stk_writer__new(int fd, const struct stk_writer_opts *opts, struct stk_writer **ret_writer)
{
	_cleanup_close_ int owned = fd;
	_cleanup_(stk_writer__freep) struct stk_writer *w = calloc(1, sizeof(*w));
	struct stat st;
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = take_fd(owned);
	w->fsync = opts->fsync;
	w->stack_budget = opts->stack_budget;
	w->first_stack = 1;
	w->nodes_written = 1;
	if (fstat(fd, &st) < 0)
		return log_err(-errno, "stat recording");
	w->seekable = S_ISREG(st.st_mode);
	err = tree__init(&w->tree);
	if (!err)
		err = dict__reset(&w->task_dict, 1024);
	if (!err)
		err = encoder__new(opts->level ? opts->level : 1, &w->enc);
	if (!err)
		err = add_cpus(w, opts->nr_cpus ? opts->nr_cpus : 1);
	if (!err)
		err = write_header(w);
	if (err)
		return err;
	*ret_writer = take_ptr(w);
	return 0;
}

void stk_writer__free(struct stk_writer *w)
{
	if (!w)
		return;
	closep(&w->fd);
	encoder__free(w->enc);
	wire_buf__free(&w->meta);
	wire_buf__free(&w->types);
	wire_buf__free(&w->tasks);
	wire_buf__free(&w->symbols);
	wire_buf__free(&w->group);
	wire_buf__free(&w->blocks);
	wire_buf__free(&w->scratch);
	for (uint32_t i = 0; i < w->nr_types; i++)
		free(w->layouts[i]);
	free(w->layouts);
	dict__free(&w->task_dict);
	tree__free(&w->tree);
	free(w->node_stack);
	free(w->stacks);
	for (uint32_t i = 0; i < w->nr_cpus; i++) {
		free(w->cpus[i].events);
		wire_buf__free(&w->cpus[i].records);
	}
	free(w->cpus);
	free(w);
}

/* ---- tables --------------------------------------------------------------------------------- */

static int close_table(struct stk_writer *w, uint16_t type, struct wire_buf *payload)
{
	int err;

	if (payload->failed)
		return fail(w, -ENOMEM);
	if (!payload->len)
		return 0;
	err = encoder__block(w->enc, type, 0, payload->p, payload->len, &w->group);
	payload->len = 0;
	return err ? fail(w, err) : 0;
}

int stk_writer__meta(struct stk_writer *w, const char *key, const char *value)
{
	size_t nk = strlen(key), nv = strlen(value);

	if (w->err)
		return w->err;
	if (nk > STK_MAX_STRING || nv > STK_MAX_STRING)
		return -E2BIG;
	wire_put_string(&w->meta, key, nk);
	wire_put_string(&w->meta, value, nv);
	if (w->meta.len < TABLE_SPLIT)
		return 0;
	return close_table(w, STK_BLOCK_META, &w->meta);
}

static int add_layout(struct stk_writer *w, const char *format)
{
	struct stk_layout parsed, *l;
	size_t size;

	if (w->nr_types == w->cap_types) {
		uint32_t cap = w->cap_types ? 2 * w->cap_types : 64;
		struct stk_layout **p = realloc(w->layouts, cap * sizeof(struct stk_layout *));

		if (!p)
			return -ENOMEM;
		w->layouts = p;
		w->cap_types = cap;
	}
	stk_layout__from_format(format, &parsed);
	size = offsetof(struct stk_layout, col) + parsed.nr * sizeof(parsed.col[0]);
	l = malloc(size);
	if (!l)
		return -ENOMEM;
	memcpy(l, &parsed, size);
	w->layouts[w->nr_types++] = l;
	return 0;
}

int stk_writer__type(struct stk_writer *w, enum stk_event_kind kind, const char *system,
		     const char *name, const char *filter, const char *format)
{
	const char *strings[4] = { system, name, filter ? filter : "", format ? format : "" };
	uint32_t end = STK_RECORD_HEAD;
	const struct stk_layout *l;
	int err;

	if (w->err)
		return w->err;
	for (int i = 0; i < 4; i++)
		if (strlen(strings[i]) > STK_MAX_STRING)
			return -E2BIG;
	err = add_layout(w, strings[3]);
	if (err)
		return fail(w, err);
	l = w->layouts[w->nr_types - 1];
	wire_put_varint(&w->types, w->nr_types - 1);
	wire_put_varint(&w->types, kind);
	for (int i = 0; i < 4; i++)
		wire_put_string(&w->types, strings[i], strlen(strings[i]));
	wire_put_varint(&w->types, l->id);
	wire_put_varint(&w->types, l->nr);
	for (uint32_t i = 0; i < l->nr; i++) {
		wire_put_varint(&w->types, l->col[i].offset - end);
		wire_put_varint(&w->types, l->col[i].size);
		end = l->col[i].offset + l->col[i].size;
	}
	if (w->types.len >= TABLE_SPLIT) {
		err = close_table(w, STK_BLOCK_TYPES, &w->types);
		if (err)
			return err;
	}
	return w->nr_types - 1;
}

int stk_writer__task(struct stk_writer *w, uint32_t tid, uint32_t tgid, const char *comm,
		     size_t len, uint32_t *ret_task)
{
	struct wire_buf *keys = &w->task_dict.keys;
	uint32_t ids[2] = { tid, tgid }, known = w->task_dict.nr;
	size_t off = keys->len;
	int64_t nr;

	if (w->err)
		return w->err;
	len = strnlen(comm, MIN(len, STK_MAX_STRING));
	wire_put(keys, ids, sizeof(ids));
	wire_put(keys, comm, len);
	nr = dict__intern(&w->task_dict, off);
	if (nr < 0)
		return fail(w, nr);
	if (nr == known) {
		wire_put_varint(&w->tasks, nr + 1);
		wire_put_varint(&w->tasks, tid);
		wire_put_varint(&w->tasks, tgid);
		wire_put_string(&w->tasks, comm, len);
		if (w->tasks.len >= TABLE_SPLIT) {
			int err = close_table(w, STK_BLOCK_TASKS, &w->tasks);

			if (err)
				return err;
		}
	}
	*ret_task = nr + 1;
	return 0;
}

int stk_writer__symbol(struct stk_writer *w, uint64_t start, uint64_t size, const char *name,
		       const char *module)
{
	size_t nn = strlen(name), nm = module ? strlen(module) : 0;

	if (w->err)
		return w->err;
	if (nn > STK_MAX_STRING || nm > STK_MAX_STRING)
		return -E2BIG;
	if (!w->symbols.len)
		w->prev_symbol = 0;
	wire_put_svarint(&w->symbols, start - w->prev_symbol);
	wire_put_varint(&w->symbols, size);
	wire_put_string(&w->symbols, name, nn);
	wire_put_string(&w->symbols, module, nm);
	w->prev_symbol = start;
	if (w->symbols.len < TABLE_SPLIT)
		return 0;
	return close_table(w, STK_BLOCK_SYMBOLS, &w->symbols);
}

/* ---- stacks --------------------------------------------------------------------------------- */

static int put_nodes(struct stk_writer *w)
{
	struct tree *t = &w->tree;
	struct wire_buf *b = &w->scratch;
	int err;

	while (w->nodes_written < t->nr) {
		uint32_t first = w->nodes_written, n = MIN(t->nr - first, NODE_SPLIT);
		uint64_t prev = 0;

		b->len = 0;
		wire_put_varint(b, (uint64_t)w->node_base + first);
		wire_put_varint(b, n);
		for (uint32_t i = first; i < first + n; i++) {
			wire_put_svarint(b, t->nodes[i].frame - prev);
			prev = t->nodes[i].frame;
		}
		for (uint32_t i = first; i < first + n; i++) {
			uint32_t parent = t->nodes[i].parent;

			wire_put_varint(b, parent ? i - parent : 0);
		}
		err = close_table(w, STK_BLOCK_NODES, b);
		if (err)
			return err;
		w->nodes_written += n;
	}
	return 0;
}

static int put_stacks(struct stk_writer *w)
{
	struct wire_buf *b = &w->scratch;
	uint32_t done = 0, n;
	int err;

	while (done < w->nr_stacks) {
		const struct wr_stack *s = &w->stacks[done];

		for (n = 1; done + n < w->nr_stacks && n < NODE_SPLIT; n++)
			if (s[n].imported != s->imported || s[n].generation != s->generation)
				break;
		b->len = 0;
		wire_put_varint(b, w->first_stack + done);
		wire_put_varint(b, n);
		wire_put_varint(b, s->generation);
		wire_put_varint(b, s->imported);
		for (uint32_t i = 0; i < n; i++) {
			wire_put_varint(b, s[i].node);
			if (!s->imported)
				continue;
			wire_put_varint(b, s[i].id);
			wire_put_varint(b, s[i].refs);
		}
		err = close_table(w, STK_BLOCK_STACKS, b);
		if (err)
			return err;
		done += n;
	}
	w->first_stack += w->nr_stacks;
	w->nr_stacks = 0;
	return 0;
}

/* Write what the tree holds and grow it anew. */
static int restart_tree(struct stk_writer *w)
{
	int err = put_nodes(w);

	if (!err)
		err = put_stacks(w);
	if (err)
		return err;
	w->node_base += w->tree.nr - 1;
	tree__clear(&w->tree);
	w->nodes_written = 1;
	if (w->cap_node_stack)
		memset(w->node_stack, 0, w->cap_node_stack * sizeof(*w->node_stack));
	return 0;
}

static int add_path(struct stk_writer *w, const uint64_t *frames, unsigned int nr,
		    uint32_t *ret_node)
{
	int64_t node = 0;
	int err;

	if (nr > 2 * STK_MAX_DEPTH)
		return -E2BIG;
	if (w->stack_budget && tree__memory(&w->tree) > w->stack_budget) {
		err = restart_tree(w);
		if (err)
			return err;
	}
	for (unsigned int i = nr; i-- > 0;) {
		node = tree__child(&w->tree, node, frames[i]);
		if (node < 0)
			return fail(w, node);
	}
	if ((uint64_t)w->node_base + w->tree.nr > UINT32_MAX)
		return fail(w, log_err(-EOVERFLOW, "too many caller tree nodes"));
	w->stats.nodes = w->node_base + w->tree.nr - 1;
	*ret_node = node;
	return 0;
}

static int add_stack(struct stk_writer *w, struct wr_stack s, uint32_t *ret_number)
{
	if (w->nr_stacks == w->cap_stacks) {
		uint32_t cap = w->cap_stacks ? 2 * w->cap_stacks : 256;
		struct wr_stack *p = realloc(w->stacks, cap * sizeof(*p));

		if (!p)
			return fail(w, -ENOMEM);
		w->stacks = p;
		w->cap_stacks = cap;
	}
	if ((uint64_t)w->first_stack + w->nr_stacks >= UINT32_MAX)
		return fail(w, log_err(-EOVERFLOW, "too many stacks"));
	s.node = s.node ? w->node_base + s.node : 0;
	s.generation = w->generation;
	w->stacks[w->nr_stacks++] = s;
	w->stats.stacks++;
	*ret_number = w->first_stack + w->nr_stacks - 1;
	return 0;
}

int stk_writer__stack(struct stk_writer *w, const uint64_t *frames, unsigned int nr,
		      uint32_t *ret_number)
{
	uint32_t node, *known;
	int err;

	if (w->err)
		return w->err;
	err = add_path(w, frames, nr, &node);
	if (err)
		return err;
	if (node >= w->cap_node_stack) {
		uint32_t cap = w->tree.cap;
		uint32_t *p = realloc(w->node_stack, cap * sizeof(*p));

		if (!p)
			return fail(w, -ENOMEM);
		memset(p + w->cap_node_stack, 0, (cap - w->cap_node_stack) * sizeof(*p));
		w->node_stack = p;
		w->cap_node_stack = cap;
	}
	known = node ? &w->node_stack[node] : &w->empty_stack;
	if (!*known) {
		err = add_stack(w, (struct wr_stack){ .node = node }, known);
		if (err)
			return err;
	}
	*ret_number = *known;
	return 0;
}

int stk_writer__stack_imported(struct stk_writer *w, const uint64_t *frames, unsigned int nr,
			       uint32_t id, uint64_t refs, uint32_t *ret_number)
{
	struct wr_stack s = { .imported = true, .id = id, .refs = refs };
	int err;

	if (w->err)
		return w->err;
	err = add_path(w, frames, nr, &s.node);
	return err ? err : add_stack(w, s, ret_number);
}

int stk_writer__generation(struct stk_writer *w, uint32_t generation)
{
	w->generation = generation;
	return w->err;
}

/* ---- events --------------------------------------------------------------------------------- */

static int encode_cpu(struct stk_writer *w, uint32_t cpu)
{
	struct wr_cpu *c = &w->cpus[cpu];
	struct enc_batch batch = { .cpu = cpu, .round = w->round, .events = c->events,
				   .nr = c->nr, .records = c->records.p, .layouts = w->layouts,
				   .nr_layouts = w->nr_types };
	size_t before = w->blocks.len;
	int err;

	if (!c->nr)
		return 0;
	err = encoder__events(w->enc, &batch, &w->blocks);
	if (err)
		return fail(w, log_err(err, "encode events of cpu %u", cpu));
	w->stats.event_bytes += w->blocks.len - before;
	w->block_events += c->nr;
	c->nr = 0;
	c->records.len = 0;
	return 0;
}

static int grow_events(struct wr_cpu *c)
{
	uint32_t cap = c->cap ? 2 * c->cap : 256;
	struct enc_event *p = realloc(c->events, cap * sizeof(*p));

	if (!p)
		return -ENOMEM;
	c->events = p;
	c->cap = cap;
	return 0;
}

int stk_writer__event(struct stk_writer *w, const struct stk_writer_event *e)
{
	static const uint8_t zero[STK_RECORD_HEAD];
	uint32_t len = e->record_len;
	struct wr_cpu *c;
	int err;

	if (w->err)
		return w->err;
	if (e->event >= w->nr_types || len > STK_MAX_RECORD)
		return -EINVAL;
	if (e->cpu >= w->nr_cpus) {
		err = add_cpus(w, e->cpu + 1);
		if (err)
			return err;
	}
	c = &w->cpus[e->cpu];
	if (c->nr >= w->batch_events || c->records.len >= BATCH_BYTES) {
		err = encode_cpu(w, e->cpu);
		if (err)
			return err;
	}
	if (c->nr == c->cap && grow_events(c))
		return fail(w, -ENOMEM);
	c->events[c->nr++] = (struct enc_event){
		.ts = e->ts, .event = e->event, .task = e->task, .kstack = e->kstack,
		.ustack = e->ustack, .flags = e->flags, .preempt_count = e->preempt_count,
		.marks = e->marks, .rec_off = c->records.len, .rec_len = MAX(len, sizeof(zero)),
	};
	if (len >= sizeof(zero))
		wire_put(&c->records, e->record, len);
	else
		wire_put(&c->records, zero, sizeof(zero));
	if (c->records.failed)
		return fail(w, -ENOMEM);
	w->max_ts = MAX(w->max_ts, e->ts);
	w->stats.events++;
	return 0;
}

size_t stk_writer__pending(const struct stk_writer *w)
{
	size_t sum = w->blocks.len;

	for (uint32_t i = 0; i < w->nr_cpus; i++)
		sum += w->cpus[i].nr * sizeof(struct enc_event) + w->cpus[i].records.len;
	return sum;
}

/* ---- groups --------------------------------------------------------------------------------- */

static int close_tables(struct stk_writer *w)
{
	int err = close_table(w, STK_BLOCK_META, &w->meta);

	if (!err)
		err = close_table(w, STK_BLOCK_TYPES, &w->types);
	if (!err)
		err = close_table(w, STK_BLOCK_TASKS, &w->tasks);
	if (!err)
		err = put_nodes(w);
	if (!err)
		err = put_stacks(w);
	if (!err)
		err = close_table(w, STK_BLOCK_SYMBOLS, &w->symbols);
	return err;
}

int stk_writer__end_round(struct stk_writer *w, uint64_t end_ts, uint64_t wall_ns)
{
	uint64_t marker[4] = { w->round, end_ts, w->stats.events, wall_ns };
	int err;

	if (w->err)
		return w->err;
	for (uint32_t i = 0; i < w->nr_cpus; i++) {
		err = encode_cpu(w, i);
		if (err)
			return err;
	}
	err = close_tables(w);
	if (err)
		return err;
	wire_put(&w->group, w->blocks.p, w->blocks.len);
	w->blocks.len = 0;
	w->block_events = 0;
	err = encoder__block(w->enc, STK_BLOCK_ROUND, 0, marker, sizeof(marker), &w->group);
	if (err)
		return fail(w, err);
	err = write_out(w, &w->group);
	if (err)
		return err;
	if (w->fsync && fdatasync(w->fd) < 0 && errno != EINVAL && errno != EROFS)
		return fail(w, log_err(-errno, "fsync recording"));
	w->round++;
	return 0;
}

int stk_writer__accounting(struct stk_writer *w, const uint64_t (*counters)[STK_NR_COUNTERS],
			   unsigned int nr_events)
{
	struct wire_buf *b = &w->scratch;
	int err;

	if (w->err)
		return w->err;
	err = close_tables(w);
	if (err)
		return err;
	b->len = 0;
	wire_put_varint(b, STK_NR_COUNTERS);
	for (unsigned int i = 0; i < nr_events; i++) {
		wire_put_varint(b, i);
		for (int c = 0; c < STK_NR_COUNTERS; c++)
			wire_put_varint(b, counters[i][c]);
	}
	err = close_table(w, STK_BLOCK_ACCOUNTING, b);
	return err ? err : write_out(w, &w->group);
}

int stk_writer__finish(struct stk_writer *w, const char *reason, int exit_status)
{
	struct wire_buf *b = &w->scratch;
	struct timespec now;
	char status[16];
	int n, err;

	if (w->err)
		return w->err;
	if (stk_writer__pending(w)) {
		clock_gettime(CLOCK_REALTIME, &now);
		err = stk_writer__end_round(w, w->max_ts,
					    now.tv_sec * 1000000000ULL + now.tv_nsec);
		if (err)
			return err;
	}
	err = close_tables(w);
	if (err)
		return err;
	n = snprintf(status, sizeof(status), "%d", exit_status);
	b->len = 0;
	wire_put_string(b, "reason", strlen("reason"));
	wire_put_string(b, reason, MIN(strlen(reason), STK_MAX_STRING));
	wire_put_string(b, "exit_status", strlen("exit_status"));
	wire_put_string(b, status, n);
	err = close_table(w, STK_BLOCK_END, b);
	if (!err)
		err = write_out(w, &w->group);
	if (!err && w->fsync && fsync(w->fd) < 0 && errno != EINVAL && errno != EROFS)
		err = fail(w, log_err(-errno, "fsync recording"));
	return err;
}

void stk_writer__stats(const struct stk_writer *w, struct stk_writer_stats *ret_stats)
{
	*ret_stats = w->stats;
}
