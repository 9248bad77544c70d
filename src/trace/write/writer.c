// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The writer: tables, rounds, output.
 *
 * Tables collect what is new since the last group.  A group is built in memory as tables, then
 * events, then the round marker, so that every table precedes the events that need it.  It is
 * written in one write.
 */
#include "writer_priv.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "clock.h"
#include "log.h"
#include "seeded_hash.h"

#define BATCH_EVENTS 16384u /* events per block, with few CPUs */
#define BATCH_EVENTS_ALL (256u << 10) /* limit for the blocks of all CPUs together */
#define BATCH_EVENTS_MIN 1024u
#define BATCH_BYTES (1u << 20) /* of records per block */
#define EVENT_BYTES 40 /* of an event without its record, where a reader holds it */

/* ---- open and close -------------------------------------------------------------------------- */

/*
 * Whether to retry a write after errno.  A process that shares the pipe may have made it
 * non-blocking: wait nevertheless.
 */
static bool should_retry(struct stk_writer *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLOUT };

	if (errno == EAGAIN && poll(&p, 1, -1) >= 0)
		return true;
	return errno == EINTR && !(w->give_up && w->give_up(w->give_up_ctx));
}

/* Writes all of b, or, where the file can be truncated, nothing on failure. */
static int write_bytes(struct stk_writer *w, struct bytes_buf *b)
{
	size_t done = 0;

	if (b->failed)
		return -ENOMEM;
	while (done < b->len) {
		ssize_t n = write(w->fd, b->p + done, b->len - done);

		if (n < 0 && should_retry(w))
			continue;
		if (n <= 0) {
			int err = n < 0 ? -errno : -EIO;

			w->torn = done && (!w->seekable || ftruncate(w->fd, w->offset) ||
					   lseek(w->fd, w->offset, SEEK_SET) < 0);
			return err;
		}
		done += n;
	}
	w->offset += b->len;
	w->stats.bytes += b->len;
	b->len = 0;
	return 0;
}

static int write_out(struct stk_writer *w, struct bytes_buf *b)
{
	int err = write_bytes(w, b);

	return err ? wr_fail(w, log_err(err, "write recording")) : 0;
}

static int write_header(struct stk_writer *w)
{
	uint16_t version[2] = { STK_MAJOR, STK_MINOR };
	uint32_t size = STK_HEADER_SIZE, crc;
	uint8_t uuid[16], zero[20] = { 0 };
	uint64_t wall = clock_ns(CLOCK_REALTIME);

	if (getrandom(uuid, sizeof(uuid), 0) != sizeof(uuid))
		return log_err(-errno, "get random bytes for the recording's uuid");
	bytes_put(&w->group, STK_MAGIC, 8);
	bytes_put(&w->group, version, sizeof(version));
	bytes_put(&w->group, &size, sizeof(size));
	bytes_put(&w->group, uuid, sizeof(uuid));
	bytes_put(&w->group, &wall, sizeof(wall));
	bytes_put(&w->group, zero, sizeof(zero));
	if (w->group.failed)
		return -ENOMEM;
	crc = crc32c(0, w->group.p, w->group.len);
	bytes_put(&w->group, &crc, sizeof(crc));
	return write_out(w, &w->group);
}

static __attribute__((noinline)) int add_cpus(struct stk_writer *w, uint32_t nr)
{
	struct batch *p;

	if (nr > STK_MAX_CPUS)
		return -EINVAL;
	p = realloc(w->cpus, nr * sizeof(*p));
	if (!p)
		return -ENOMEM;
	w->cpus = p;
	while (w->nr_cpus < nr)
		batch__init(&w->cpus[w->nr_cpus++], w->seed);
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
	bool append;
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = take_fd(owned);
	w->fsync = opts->fsync;
	w->give_up = opts->give_up;
	w->give_up_ctx = opts->give_up_ctx;
	w->stack_budget = opts->stack_budget;
	w->first_stack = w->task_base = 1;
	w->nodes_written = 1;
	w->seed = seeded_hash__seed();
	if (fstat(fd, &st) < 0)
		return log_err(-errno, "stat recording");
	w->seekable = S_ISREG(st.st_mode);
	/* the file may have content already: `record -o - >>FILE` */
	append = fcntl(w->fd, F_GETFL) & O_APPEND;
	w->offset = w->seekable ? lseek(w->fd, 0, append ? SEEK_END : SEEK_CUR) : 0;
	err = tree__init(&w->tree, NULL);
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
	bytes_buf__free(&w->meta);
	bytes_buf__free(&w->types);
	bytes_buf__free(&w->tasks);
	bytes_buf__free(&w->symbols);
	bytes_buf__free(&w->files);
	bytes_buf__free(&w->user_symbols);
	bytes_buf__free(&w->replaced);
	bytes_buf__free(&w->aliases);
	bytes_buf__free(&w->losses);
	strbuf__free(&w->left_out);
	bytes_buf__free(&w->group);
	bytes_buf__free(&w->blocks);
	bytes_buf__free(&w->scratch);
	for (uint32_t i = 0; i < w->nr_types; i++) {
		free(w->event_types[i].layout);
		free(w->event_types[i].key);
	}
	free(w->event_types);
	free(w->handed_in);
	free(w->in_file);
	dict__free(&w->task_dict);
	tree__free(&w->tree);
	free(w->node_stack);
	free(w->stacks);
	for (uint32_t i = 0; i < w->nr_cpus; i++)
		batch__free(&w->cpus[i]);
	free(w->cpus);
	free(w);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Counts the events of a batch that becomes a block. */
static void count_events(struct stk_writer *w, const struct batch *b)
{
	for (uint32_t i = 0; i < b->nr_tuples; i++)
		w->handed_in[batch_tuple__value(&b->tuples[i], BATCH_EVENT)] += b->tuples[i].nr;
	for (uint32_t i = 0; i < b->nr; i++)
		w->max_ts = MAX(w->max_ts, b->events[i].ts);
	w->stats.events += b->nr;
}

static __attribute__((noinline)) int encode_cpu(struct stk_writer *w, uint32_t cpu)
{
	struct batch *b = &w->cpus[cpu];
	struct enc_batch batch = { .cpu = cpu,
				   .round = w->round,
				   .events = b,
				   .types = w->event_types,
				   .nr_types = w->nr_types };
	size_t before = w->blocks.len;
	int err;

	if (!b->nr)
		return 0;
	err = encoder__events(w->enc, &batch, &w->blocks);
	if (err)
		return wr_fail(w, log_err(err, "encode events of cpu %u", cpu));
	w->stats.event_bytes += w->blocks.len - before;
	count_events(w, b);
	batch__clear(b);
	return 0;
}

static bool is_full(const struct stk_writer *w, const struct batch *b)
{
	return b->nr >= w->batch_events || b->record_bytes >= BATCH_BYTES;
}

bool stk_writer__last(const struct stk_writer *w, uint32_t cpu, struct stk_writer_again *ret_again)
{
	return batch__last(&w->cpus[cpu], ret_again);
}

bool stk_writer__again(struct stk_writer *w, uint32_t cpu, const struct stk_writer_again *again,
		       uint64_t ts)
{
	struct batch *b = &w->cpus[cpu];

	return !w->err && !is_full(w, b) && batch__again(b, again, ts);
}

int stk_writer__event(struct stk_writer *w, const struct stk_writer_event *e)
{
	struct batch *b;
	int err;

	if (w->err)
		return w->err;
	if (e->event >= w->nr_types || e->record_len > STK_MAX_RECORD)
		return -EINVAL;
	if (e->cpu >= w->nr_cpus) {
		err = add_cpus(w, e->cpu + 1);
		if (err)
			return err;
	}
	b = &w->cpus[e->cpu];
	if (is_full(w, b)) {
		err = encode_cpu(w, e->cpu);
		if (err)
			return err;
	}
	err = batch__add(b, w->event_types, w->nr_types, e);
	return err ? wr_fail(w, err) : 0;
}

int stk_writer__loss(struct stk_writer *w, const struct stk_writer_loss *loss)
{
	bool any_event = loss->event == STK_WRITER_ANY, any_cpu = loss->cpu == STK_WRITER_ANY;

	if (w->err)
		return w->err;
	if (loss->last_ts < loss->first_ts || (!any_event && loss->event >= w->nr_types) ||
	    (!any_cpu && loss->cpu >= STK_MAX_CPUS))
		return -EINVAL;
	bytes_put_varint(&w->losses, any_event ? 0 : loss->event + 1);
	bytes_put_varint(&w->losses, any_cpu ? 0 : loss->cpu + 1);
	bytes_put_svarint(&w->losses, loss->first_ts - w->prev_loss);
	bytes_put_varint(&w->losses, loss->last_ts - loss->first_ts);
	bytes_put_varint(&w->losses, loss->count);
	w->prev_loss = loss->first_ts;
	return w->losses.failed ? wr_fail(w, -ENOMEM) : 0;
}

size_t stk_writer__pending(const struct stk_writer *w)
{
	size_t sum = w->blocks.len + w->losses.len;

	for (uint32_t i = 0; i < w->nr_cpus; i++)
		sum += w->cpus[i].nr * (uint64_t)EVENT_BYTES + w->cpus[i].record_bytes;
	return sum;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int encode_all(struct stk_writer *w)
{
	int err = w->err;

	for (uint32_t i = 0; i < w->nr_cpus && !err; i++)
		err = encode_cpu(w, i);
	return err;
}

int stk_writer__end_round(struct stk_writer *w, uint64_t end_ts, uint64_t wall_ns)
{
	int err = encode_all(w);
	uint64_t marker[4] = { w->round, end_ts, w->stats.events, wall_ns };

	err = err ?: wr_close_tables(w);
	if (err)
		return err;
	w->prev_loss = 0;
	err = wr_close_table(w, STK_BLOCK_LOSSES, &w->losses);
	if (err)
		return err;
	bytes_put(&w->group, w->blocks.p, w->blocks.len);
	w->blocks.len = 0;
	err = encoder__block(w->enc, STK_BLOCK_ROUND, 0, marker, sizeof(marker), &w->group);
	if (err)
		return wr_fail(w, err);
	err = write_out(w, &w->group);
	if (err)
		return err;
	if (w->nr_types)
		memcpy(w->in_file, w->handed_in, w->nr_types * sizeof(*w->in_file));
	if (w->fsync && fdatasync(w->fd) < 0 && errno != EINVAL && errno != EROFS)
		return wr_fail(w, log_err(-errno, "fsync recording"));
	w->round++;
	return 0;
}

static void put_counters(struct bytes_buf *b, unsigned int event, const uint64_t *counters)
{
	bytes_put_varint(b, event);
	for (int c = 0; c < STK_NR_COUNTERS; c++)
		bytes_put_varint(b, counters[c]);
}

int stk_writer__accounting(struct stk_writer *w, const uint64_t (*counters)[STK_NR_COUNTERS],
			   unsigned int nr_events)
{
	struct bytes_buf *b = &w->scratch;
	int err;

	if (w->err)
		return w->err;
	err = wr_close_tables(w);
	if (err)
		return err;
	b->len = 0;
	bytes_put_varint(b, STK_NR_COUNTERS);
	for (unsigned int i = 0; i < nr_events; i++)
		put_counters(b, i, counters[i]);
	err = wr_close_table(w, STK_BLOCK_ACCOUNTING, b);
	return err ?: write_out(w, &w->group);
}

uint64_t stk_writer__in_file(const struct stk_writer *w, uint32_t event)
{
	return w->round && event < w->nr_types ? w->in_file[event] : 0;
}

int stk_writer__account_failure(struct stk_writer *w, const uint64_t (*counters)[STK_NR_COUNTERS],
				unsigned int nr_events)
{
	struct bytes_buf *b = &w->scratch;
	uint64_t c[STK_NR_COUNTERS];
	int err;

	/* without a round the file has no event types either; a pipe may block */
	if (!w->err || !w->seekable || w->torn || !w->round || nr_events > w->nr_types)
		return -EINVAL;
	b->len = 0;
	bytes_put_varint(b, STK_NR_COUNTERS);
	for (unsigned int i = 0; i < nr_events; i++) {
		uint64_t missing = counters[i][STK_C_RECORDED] -
				   MIN(w->in_file[i], counters[i][STK_C_RECORDED]);

		memcpy(c, counters[i], sizeof(c));
		c[STK_C_RECORDED] -= missing;
		c[STK_C_LOST_WRITE] += missing;
		put_counters(b, i, c);
	}
	w->group.len = 0;
	err = wr_close_table(w, STK_BLOCK_ACCOUNTING, b);
	return err ?: write_bytes(w, &w->group);
}

int stk_writer__finish(struct stk_writer *w, const char *reason, int exit_status)
{
	struct bytes_buf *b = &w->scratch;
	char status[16];
	int n, err;

	if (w->err)
		return w->err;
	if (stk_writer__pending(w)) {
		err = encode_all(w);
		err = err ?: stk_writer__end_round(w, w->max_ts, clock_ns(CLOCK_REALTIME));
		if (err)
			return err;
	}
	err = wr_close_tables(w);
	if (err)
		return err;
	b->len = 0;
	bytes_put_string(b, "reason", strlen("reason"));
	bytes_put_string(b, reason, MIN(strlen(reason), STK_MAX_STRING));
	if (exit_status >= 0) {
		n = snprintf(status, sizeof(status), "%d", exit_status);
		bytes_put_string(b, "exit_status", strlen("exit_status"));
		bytes_put_string(b, status, n);
	}
	err = wr_close_table(w, STK_BLOCK_END, b);
	if (!err)
		err = write_out(w, &w->group);
	if (!err && w->fsync && fsync(w->fd) < 0 && errno != EINVAL && errno != EROFS)
		err = wr_fail(w, log_err(-errno, "fsync recording"));
	return err;
}

void stk_writer__stats(const struct stk_writer *w, struct stk_writer_stats *ret_stats)
{
	*ret_stats = w->stats;
	for (uint32_t i = 0; i < w->nr_cpus; i++)
		ret_stats->events += w->cpus[i].nr;
	ret_stats->merged_bytes = tree__memory(&w->tree);
}
