// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The reader: opens the input, walks the blocks, delivers events.
 */
#include "many.h"

#include <stdarg.h>
#include <stdio.h>

#include "cleanup.h"
#include "huge_pages.h"

int rd_reserve(struct budget *b, void *array, size_t *cap, size_t nr, size_t size)
{
	size_t want = *cap ? 2 * *cap : 64;
	void *p;

	if (nr < *cap)
		return 0;
	if (!budget__take(b, (want - *cap) * size))
		return -ENOBUFS;
	p = realloc(*(void **)array, want * size);
	if (!p)
		return -ENOMEM;
	huge_pages__advise(p, want * size);
	*(void **)array = p;
	*cap = want;
	return 0;
}

void rd_log(const struct stk_reader *r, enum stk_log_level level, const char *fmt, ...)
{
	char msg[512];
	va_list ap;

	if (!r->opts.log)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	r->opts.log(r->opts.log_ctx, level, msg);
}

bool rd_crc_matches(uint32_t want, const void *data, size_t len)
{
#ifdef STK_FUZZ
	(void)want, (void)data, (void)len;
	return true;
#else
	return crc32c(0, data, len) == want;
#endif
}

/* Empties the buffer and makes room for n bytes, so that appending does not grow it. */
static int make_room(struct stk_reader *r, struct bytes_buf *out, size_t n)
{
	if (out->cap >= n)
		return 0;
	budget__give(&r->budget, out->cap);
	bytes_buf__free(out);
	if (!budget__take(&r->budget, n))
		return -ENOBUFS;
	out->p = malloc(n);
	out->cap = out->p ? n : 0;
	if (!out->p)
		budget__give(&r->budget, n);
	return out->p ? 0 : -ENOMEM;
}

int rd_unpack(struct stk_reader *r, uint32_t codec, const uint8_t *stored, size_t stored_len,
	      size_t raw_len, struct bytes_buf *out)
{
	size_t got = stored_len;
	int err;

	out->len = 0;
	if ((codec == STK_CODEC_NONE && raw_len != stored_len) ||
	    (codec != STK_CODEC_NONE && codec != STK_CODEC_ZSTD))
		return -EBADMSG;
	err = make_room(r, out, raw_len + 1);
	if (err)
		return err;
	if (codec == STK_CODEC_NONE) {
		memcpy(out->p, stored, stored_len);
	} else {
		if (!r->zstd)
			r->zstd = ZSTD_createDCtx();
		if (!r->zstd)
			return -ENOMEM;
		got = ZSTD_decompressDCtx(r->zstd, out->p, raw_len, stored, stored_len);
		if (ZSTD_isError(got) || got != raw_len)
			return -EBADMSG;
	}
	out->len = got;
	return 0;
}

/* ---- open and close -------------------------------------------------------------------------- */

static void add_meta_uuid(struct stk_reader *r, const uint8_t *uuid)
{
	static const char digits[] = "0123456789abcdef";
	char *s = arena__alloc(&r->strings, 33);
	const char **value = s ? rd_meta_value(r, (const uint8_t *)"uuid", 4) : NULL;

	if (!value)
		return;
	for (int i = 0; i < 16; i++) {
		s[2 * i] = digits[uuid[i] >> 4];
		s[2 * i + 1] = digits[uuid[i] & 15];
	}
	s[32] = '\0';
	*value = s;
}

static int read_header(struct stk_reader *r)
{
	const uint8_t *p;
	uint16_t major, minor;
	uint32_t size, crc;
	int got = input__need(&r->in, STK_HEADER_SIZE);

	if (got < 0)
		return got;
	if (!got || memcmp(r->in.data, STK_MAGIC, 8))
		return -EINVAL;
	p = r->in.data;
	memcpy(&major, p + 8, sizeof(major));
	memcpy(&minor, p + 10, sizeof(minor));
	memcpy(&size, p + 12, sizeof(size));
	memcpy(&crc, p + 60, sizeof(crc));
	if (major != STK_MAJOR)
		return -ENOTSUP;
	if (size < STK_HEADER_SIZE || size > 65536 || !rd_crc_matches(crc, p, 60))
		return -EINVAL;
	r->minor = minor;
	memcpy(&r->totals.start_wall_ns, p + 32, sizeof(r->totals.start_wall_ns));
	add_meta_uuid(r, p + 16);
	got = input__skip(&r->in, size);
	return got > 0 ? 0 : got < 0 ? got : -EINVAL;
}

static void stk_reader__freep(struct stk_reader **r)
{
	stk_reader__free(*r);
}

int rd_new(const struct stk_reader_opts *opts, struct stk_reader **ret_reader)
{
	_cleanup_(stk_reader__freep) struct stk_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->in.fd = -1;
	r->event.r = r;
	r->nr_tasks = r->nr_stacks = 1;
	r->nr_node_map = r->nr_stack_map = r->nr_info = r->nr_files = 1;
	r->strings.budget = r->users.budget = r->losses.budget = &r->budget;
	if (opts)
		memcpy(&r->opts, opts, MIN(opts->size, sizeof(r->opts)));
	if (!r->opts.want)
		r->opts.want = STK_WANT_EVENTS | STK_WANT_FIELDS;
	r->tasks = calloc(64, sizeof(*r->tasks));
	r->stacks = calloc(64, sizeof(*r->stacks));
	r->info = calloc(64, sizeof(*r->info));
	r->node_map = calloc(64, sizeof(*r->node_map));
	r->stack_map = calloc(64, sizeof(*r->stack_map));
	r->cap_tasks = r->cap_stacks = r->cap_info = r->cap_node_map = r->cap_stack_map = 64;
	if (!r->tasks || !r->stacks || !r->info || !r->node_map || !r->stack_map ||
	    tree__init(&r->tree, &r->budget) || dict__reset(&r->keys, 64))
		return -ENOMEM;
	r->tasks[0].comm = "<unknown>";
	*ret_reader = take_ptr(r);
	return 0;
}

static int open_input(const char *path, const void *data, size_t len,
		      const struct stk_reader_opts *opts, struct stk_reader **ret_reader)
{
	_cleanup_(stk_reader__freep) struct stk_reader *r = NULL;
	int err = rd_new(opts, &r);

	if (err)
		return err;
	if (path) {
		err = input__open(&r->in, path);
		if (err) {
			rd_log(r, STK_LOG_ERROR, "open '%s': %s", path, strerror(-err));
			return err;
		}
		if (r->opts.end && r->in.seekable)
			r->in.end = r->opts.end;
	} else {
		input__open_mem(&r->in, data, len);
	}
	r->was_live = r->opts.follow && stk_reader__is_live(r);
	if (path) {
		r->path = arena__string(&r->strings, path, strlen(path));
		if (!r->path)
			return -ENOMEM;
	}
	err = read_header(r);
	if (err) {
		rd_log(r, STK_LOG_ERROR, "'%s': %s", path ? path : "memory",
		       err == -EINVAL  ? "not a stackonce recording" :
		       err == -ENOTSUP ? "recorded by a newer version in an unknown format" :
					 strerror(-err));
		return err;
	}
	*ret_reader = take_ptr(r);
	return 0;
}

int stk_reader__open(const char *path, const struct stk_reader_opts *opts,
		     struct stk_reader **ret_reader)
{
	return path ? open_input(path, NULL, 0, opts, ret_reader) : -EINVAL;
}

int stk_reader__open_mem(const void *data, size_t len, const struct stk_reader_opts *opts,
			 struct stk_reader **ret_reader)
{
	return open_input(NULL, data, len, opts, ret_reader);
}

void stk_reader__free(struct stk_reader *r)
{
	if (!r)
		return;
	rd_merge__free(r);
	input__close(&r->in);
	ZSTD_freeDCtx(r->zstd);
	bytes_buf__free(&r->raw);
	bytes_buf__free(&r->heads);
	bytes_buf__free(&r->body);
	rd_many__free(r);
	free(r->meta);
	dict__free(&r->keys);
	free(r->types);
	free(r->tasks);
	tree__free(&r->tree);
	free(r->info);
	free(r->node_map);
	free(r->stacks);
	free(r->stack_map);
	free(r->symbols);
	rd_files__free(r);
	rd_replaced__free(r);
	rd_losses__free(r);
	arena__free(&r->strings);
	free(r);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool all_zero(const uint8_t *p, size_t n)
{
	while (n--)
		if (*p++)
			return false;
	return true;
}

/* Adds an event block to the totals; skipped: its events are not delivered. */
static void count_event_block(struct stk_reader *r, const struct stk_events_header *h, bool skipped)
{
	if (!r->totals.first_ts || h->min_ts < r->totals.first_ts)
		r->totals.first_ts = h->min_ts;
	if (h->max_ts > r->totals.last_ts)
		r->totals.last_ts = h->max_ts;
	if (skipped)
		r->totals.events += h->count;
}

static int take_block(struct stk_reader *r, const struct stk_block_header *h,
		      const uint8_t *payload, uint64_t pos)
{
	struct stk_events_header eh;
	struct bytes_cur c;
	int err;

	if (!rd_crc_matches(h->payload_crc, payload, h->stored_len))
		return -EBADMSG;
	if (h->type == STK_BLOCK_EVENTS) {
		err = h->codec == STK_CODEC_NONE && h->raw_len == h->stored_len ?
			      rd_merge__add(r, h->aux, payload, h->stored_len) :
			      -EBADMSG;
		if (err)
			return err;
		memcpy(&eh, payload, sizeof(eh));
		count_event_block(r, &eh, false);
		return rd_losses__block(r, h, pos, bytes_cur(payload, h->stored_len));
	}
	if (h->raw_len > STK_MAX_RAW)
		return -EBADMSG;
	if (!budget__work(&r->budget, h->raw_len))
		return -ENOBUFS;
	err = rd_unpack(r, h->codec, payload, h->stored_len, h->raw_len, &r->raw);
	if (err)
		return err;
	c = bytes_cur(r->raw.p, r->raw.len);
	err = rd_losses__block(r, h, pos, c);
	return err ?: rd_table(r, h, c);
}

static bool good_header(const struct stk_block_header *h)
{
	return h->magic == STK_BLOCK_MAGIC && h->stored_len <= STK_MAX_RAW &&
	       rd_crc_matches(h->header_crc, h, offsetof(struct stk_block_header, header_crc));
}

bool rd_peek_header(struct stk_reader *r, uint64_t ahead, struct stk_block_header *ret_header)
{
	return input__peek(&r->in, ahead, ret_header, sizeof(*ret_header)) > 0 &&
	       good_header(ret_header);
}

/* take_block(), but a bad block is counted instead of failing. */
static int take_or_count(struct stk_reader *r, const struct stk_block_header *h,
			 const uint8_t *payload, uint64_t pos)
{
	int err;

	r->budget.bytes += sizeof(*h) + h->stored_len;
	err = take_block(r, h, payload, pos);
	if (err && r->budget.exhausted)
		return -ENOBUFS;
	if (err != -EBADMSG)
		return err;
	r->totals.bad_blocks++;
	rd_log(r, STK_LOG_WARN, "skipped bad block of type %u at byte %llu", h->type,
	       (unsigned long long)pos);
	return rd_losses__bad(r, h, r->watermark);
}

static bool about_files(const struct stk_block_header *h)
{
	return h->type == STK_BLOCK_FILES || h->type == STK_BLOCK_USER_SYMBOLS ||
	       h->type == STK_BLOCK_REPLACED;
}

static bool about_stacks(const struct stk_block_header *h)
{
	return h->type == STK_BLOCK_NODES || h->type == STK_BLOCK_STACKS ||
	       h->type == STK_BLOCK_SYMBOLS || h->type == STK_BLOCK_ALIASES;
}

/* The block was taken while looking ahead. */
static bool is_taken(const struct stk_reader *r, const struct stk_block_header *h, uint64_t pos)
{
	return (about_files(h) && pos < r->ahead) || (about_stacks(h) && pos < r->stacks_ahead);
}

/* Takes the wanted blocks from here on; returns where that ended. */
static uint64_t look_ahead(struct stk_reader *r, bool stacks)
{
	struct stk_block_header h;
	struct bytes_buf payload = { 0 };
	uint64_t at = 0;
	int got = 1;

	while (!r->end && got > 0 && rd_peek_header(r, at, &h) && h.type != STK_BLOCK_END) {
		if ((about_files(&h) || (stacks && about_stacks(&h))) &&
		    !is_taken(r, &h, r->in.pos + at)) {
			got = bytes_buf__room(&payload, h.stored_len) ?
				      input__peek(&r->in, at + sizeof(h), payload.p, h.stored_len) :
				      -ENOMEM;
			if (got > 0 && take_or_count(r, &h, payload.p, r->in.pos + at))
				break;
		}
		if (got > 0)
			at += sizeof(h) + h.stored_len;
	}
	bytes_buf__free(&payload);
	return r->in.pos + at;
}

void rd_look_ahead(struct stk_reader *r)
{
	if (r->looked_ahead)
		return;
	r->looked_ahead = true;
	r->ahead = look_ahead(r, false);
}

static void take_stacks_ahead(struct stk_reader *r)
{
	r->stacks_ahead = look_ahead(r, true);
	r->ahead = MAX(r->ahead, r->stacks_ahead);
	r->looked_ahead = true;
}

/*
 * Before the first event in generated code: was any of it replaced?  Then the stacks that this adds
 * are numbered after all others, so that these have the same numbers in each reader.
 */
static void look_for_replaced(struct stk_reader *r)
{
	if (!r->has_jit || r->looked_for_replaced)
		return;
	r->looked_for_replaced = true;
	rd_look_ahead(r);
	if (r->nr_replaced && !r->stacks_ahead)
		take_stacks_ahead(r);
}

/*
 * Before the first event: some stacks were written later than their events.  Where the reader
 * cannot look ahead in the input, these stay unknown until it reads them.
 */
static void look_for_stacks(struct stk_reader *r)
{
	const char *late;

	if (r->looked_for_stacks)
		return;
	r->looked_for_stacks = true;
	late = stk_reader__meta(r, "stacks.late");
	if (!late || strcmp(late, "yes"))
		return;
	take_stacks_ahead(r);
}

/* The payload of the block to bytes `len`; NULL if it is not there (yet). */
static const uint8_t *payload_of(struct stk_reader *r, size_t len)
{
	size_t head = sizeof(struct stk_block_header);

	return input__need(&r->in, head + len) > 0 ? r->in.data + head : NULL;
}

/*
 * Whether the events header of the block is as it was written.  Before minor version 4 it has no
 * checksum of its own.
 */
static bool is_sound(struct stk_reader *r, const struct stk_block_header *h)
{
	size_t len = h->events_crc ? sizeof(struct stk_events_header) : h->stored_len;
	const uint8_t *payload = payload_of(r, len);

	return payload && rd_crc_matches(h->events_crc ?: h->payload_crc, payload, len);
}

/* Whether nothing is wanted of the event block at the read position, judging by its header. */
static bool is_unwanted(struct stk_reader *r, const struct stk_block_header *h,
			struct stk_events_header *ret_events)
{
	size_t len = MIN(h->stored_len, sizeof(*ret_events));
	bool wants_events = r->opts.want & STK_WANT_EVENTS;
	const uint8_t *payload;

	if (wants_events && (!r->selects || len < sizeof(*ret_events)))
		return false;
	payload = payload_of(r, len);
	if (!payload)
		return false;
	memset(ret_events, 0, sizeof(*ret_events));
	memcpy(ret_events, payload, len);
	return !wants_events || (rd_select__excludes(r, h->aux, ret_events) && is_sound(r, h));
}

static int skip_events(struct stk_reader *r, const struct stk_block_header *h,
		       const struct stk_events_header *eh)
{
	uint64_t pos = r->in.pos;
	int err, got = input__skip(&r->in, sizeof(*h) + (uint64_t)h->stored_len);

	if (got <= 0)
		return got;
	r->totals.event_bytes += sizeof(*h) + h->stored_len;
	r->block_seq++;
	if (h->stored_len >= sizeof(*eh))
		count_event_block(r, eh, true);
	err = r->selects ? rd_losses__block(r, h, pos, bytes_cur(eh, sizeof(*eh))) : 0;
	return err ?: 1;
}

/*
 * 1: a block was taken; 0: no block available (so far); negative errno: the input is damaged here.
 */
static int read_block(struct stk_reader *r)
{
	struct stk_events_header eh;
	struct stk_block_header h;
	int err, got = input__need(&r->in, sizeof(h));

	if (got <= 0)
		return got;
	memcpy(&h, r->in.data, sizeof(h));
	if (all_zero(r->in.data, sizeof(h)))
		return 0; /* space that the file system allocated but never wrote */
	if (!good_header(&h)) {
		rd_log(r, STK_LOG_ERROR, "damaged at byte %llu", (unsigned long long)r->in.pos);
		return -EBADMSG;
	}
	if (h.type == STK_BLOCK_EVENTS) {
		look_for_stacks(r);
		look_for_replaced(r);
		if (is_unwanted(r, &h, &eh))
			return skip_events(r, &h, &eh);
	}
	if (h.type >= STK_BLOCK_META && h.type <= STK_BLOCK_META_PART &&
	    !is_taken(r, &h, r->in.pos)) {
		got = input__need(&r->in, sizeof(h) + h.stored_len);
		if (got <= 0)
			return got;
		err = take_or_count(r, &h, r->in.data + sizeof(h), r->in.pos);
		if (err)
			return err;
	}
	got = input__skip(&r->in, sizeof(h) + (uint64_t)h.stored_len);
	if (got > 0 && h.type == STK_BLOCK_EVENTS) {
		r->totals.event_bytes += sizeof(h) + h.stored_len;
		r->block_seq++;
	}
	return got;
}

void rd_read_start(struct stk_reader *r)
{
	int got = 1;

	while (!r->nr_types && !r->totals.last_ts && !r->end && got > 0)
		got = read_block(r);
	if (got < 0)
		r->end = got;
	r->drain = r->end != 0;
}

/* A selection is applied to the whole, where types and stacks have their numbers. */
static int next_of_many(struct stk_reader *r, const struct stk_event **ret_event)
{
	int got;

	while ((got = rd_many__next(r, ret_event)) > 0) {
		if (!r->selects || rd_select__has(r, *ret_event))
			break;
		r->many->late_unselected += (*ret_event)->late;
	}
	return got;
}

/* At the end of what is there.  What a recorder wrote before it ended is there afterwards. */
static bool is_abandoned(const struct stk_reader *r)
{
	return r->was_live && !stk_reader__is_live(r);
}

static int next(struct stk_reader *r, const struct stk_event **ret_event)
{
	int got;

	r->started = true;
	if (r->many)
		return next_of_many(r, ret_event);
	for (;;) {
		/* stk_event__ustack(), for example, cannot return this error itself */
		got = r->budget.exhausted ? -ENOBUFS : r->failed ?: rd_merge__next(r);
		if (got > 0) {
			r->totals.events += r->event_count;
			*ret_event = &r->event;
			return 1;
		}
		if (got < 0)
			r->end = got;
		if (r->end)
			return r->end < 0 ? r->end : 0;
		got = read_block(r);
		if (!got && r->opts.follow && !r->in.ended && r->in.fd >= 0) {
			if (!is_abandoned(r))
				return -EAGAIN;
			r->opts.follow = false;
			continue;
		}
		if (got <= 0)
			r->end = got < 0 ? got : 1;
		r->drain = r->end != 0; /* read_tables.c also sets end */
	}
}

int stk_reader__next(struct stk_reader *r, const struct stk_event **ret_event)
{
	return r->counts ? -EINVAL : next(r, ret_event);
}

static void start_counting(struct stk_reader *r)
{
	r->counts = true;
	r->opts.want &= ~STK_WANT_FIELDS;
	for (uint32_t i = 0; r->many && i < r->many->nr; i++)
		r->many->members[i].r->opts.want &= ~STK_WANT_FIELDS;
}

int stk_reader__next_counted(struct stk_reader *r, const struct stk_event **ret_event,
			     uint64_t *ret_count)
{
	int got;

	if (r->started && !r->counts)
		return -EINVAL;
	if (!r->counts)
		start_counting(r);
	got = next(r, ret_event);
	if (got > 0)
		*ret_count = r->many ? 1 : r->event_count;
	return got;
}

int stk_reader__charge(struct stk_reader *r, int64_t memory, uint64_t work)
{
	struct budget *b = &r->budget;

	if (r->many)
		rd_many__update_budget(r);
	if (!budget__has(b, memory > 0 ? memory : 0, work)) {
		b->exhausted = true;
		return -ENOBUFS;
	}
	b->memory += memory;
	b->work += work;
	return 0;
}
