// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * trace_bombs DIR: recordings of a few KB with valid checksums that would take gigabytes or minutes
 * from a reader without a budget.  Their contents repeat, so that zstd compresses them well.
 */
#undef NDEBUG /* assert() has side effects here */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "frame.h"
#include "trace/stk.h"
#include "trace/bytes.h"

struct bomb {
	struct bytes_buf out;
	struct bytes_buf raw; /* of the current block */
};

/* ---- blocks ---------------------------------------------------------------------------------- */

static void put_header(struct bomb *b)
{
	uint8_t h[STK_HEADER_SIZE] = { 0 };
	uint16_t major = STK_MAJOR;
	uint32_t size = sizeof(h), crc;

	memcpy(h, STK_MAGIC, 8);
	memcpy(h + 8, &major, sizeof(major));
	memcpy(h + 12, &size, sizeof(size));
	crc = crc32c(0, h, 60);
	memcpy(h + 60, &crc, sizeof(crc));
	bytes_put(&b->out, h, sizeof(h));
}

/* Appends raw compressed by zstd; returns its length. */
static uint32_t pack(struct bytes_buf *out, const struct bytes_buf *raw)
{
	size_t bound = ZSTD_compressBound(raw->len), n;
	uint8_t *p = bytes_buf__room(out, bound);

	assert(p);
	n = ZSTD_compress(p, bound, raw->p, raw->len, 1);
	assert(!ZSTD_isError(n));
	out->len += n;
	return n;
}

static void seal(struct bomb *b, size_t at, struct stk_block_header h)
{
	h.magic = STK_BLOCK_MAGIC;
	h.stored_len = b->out.len - at - sizeof(h);
	h.payload_crc = crc32c(0, b->out.p + at + sizeof(h), h.stored_len);
	h.header_crc = crc32c(0, &h, offsetof(struct stk_block_header, header_crc));
	memcpy(b->out.p + at, &h, sizeof(h));
}

/* Makes a block of raw. */
static void put_block(struct bomb *b, enum stk_block_type type)
{
	struct stk_block_header h = { .type = type,
				      .codec = STK_CODEC_ZSTD,
				      .raw_len = b->raw.len };
	size_t at = b->out.len;

	assert(b->raw.len <= STK_MAX_RAW);
	bytes_put(&b->out, &h, sizeof(h));
	pack(&b->out, &b->raw);
	seal(b, at, h);
	b->raw.len = 0;
}

/* Repeats the block. */
static void repeat(struct bomb *b, size_t at, unsigned int times)
{
	size_t n = b->out.len - at;

	for (unsigned int i = 0; i < times; i++) {
		assert(bytes_buf__room(&b->out, n));
		bytes_put(&b->out, b->out.p + at, n);
	}
}

static void put_string(struct bomb *b, const char *s)
{
	bytes_put_string(&b->raw, s, strlen(s));
}

static void put_bytes(struct bomb *b, uint8_t byte, size_t n)
{
	uint8_t *p = bytes_buf__room(&b->raw, n + 1);

	assert(p);
	memset(p, byte, n);
	b->raw.len += n;
}

/* A type whose record has one column of size bytes after the common fields, none for 0. */
static void put_type(struct bomb *b, uint32_t index, const char *system, const char *name,
		     const char *format, uint32_t size)
{
	bytes_put_varint(&b->raw, index);
	bytes_put_varint(&b->raw, 0);
	put_string(b, system);
	put_string(b, name);
	put_string(b, "");
	put_string(b, format);
	bytes_put_varint(&b->raw, 1);
	bytes_put_varint(&b->raw, !!size);
	if (size) {
		bytes_put_varint(&b->raw, 0);
		bytes_put_varint(&b->raw, size);
	}
	put_block(b, STK_BLOCK_TYPES);
}

#define RECORD 48

/* The same event repeated: an event of type TYPE in task TASK. */
struct kind {
	uint32_t type, task, kstack, ustack;
	uint8_t record[RECORD]; /* of a type with a column; a longer one ends in text */
};

/* The heads: event i is of kind i % nr, 1 ns after the previous one. */
static void put_heads(struct bomb *b, uint32_t n, const struct kind *kinds, uint32_t nr)
{
	bytes_put_varint(&b->raw, nr);
	for (uint32_t i = 0; i < nr; i++)
		bytes_put_varint(&b->raw, kinds[i].type);
	for (uint32_t i = 0; i < nr; i++)
		bytes_put_varint(&b->raw, kinds[i].task);
	for (uint32_t i = 0; i < nr; i++)
		bytes_put_varint(&b->raw, kinds[i].kstack);
	for (uint32_t i = 0; i < nr; i++)
		bytes_put_varint(&b->raw, kinds[i].ustack);
	put_bytes(b, 0, 3 * nr);
	bytes_put_u8(&b->raw, 2); /* bytes of an event's kind and of its time */
	bytes_put_u8(&b->raw, 1);
	for (uint32_t i = 0; i < n; i++)
		bytes_put_u8(&b->raw, i % nr);
	for (uint32_t i = 0; i < n; i++)
		bytes_put_u8(&b->raw, i % nr >> 8);
	put_bytes(b, 0, 1);
	put_bytes(b, bytes_zigzag(1), n - 1);
}

/* n events; kinds by type, each of another type or all of one; len: of their records. */
static void put_some_events(struct bomb *b, uint32_t cpu, uint64_t ts, uint32_t n,
			    const struct kind *kinds, uint32_t nr, uint32_t len)
{
	struct stk_events_header eh = {
		.count = n, .first_ts = ts, .min_ts = ts, .max_ts = ts + n - 1
	};
	struct stk_block_header h = { .type = STK_BLOCK_EVENTS, .aux = cpu };
	size_t at = b->out.len;

	bytes_put(&b->out, &h, sizeof(h));
	bytes_put(&b->out, &eh, sizeof(eh));
	put_heads(b, n, kinds, nr);
	eh.heads_codec = eh.body_codec = STK_CODEC_ZSTD;
	eh.heads_raw = b->raw.len;
	eh.heads_stored = pack(&b->out, &b->raw);
	b->raw.len = 0;
	for (uint32_t i = 0; i < nr && (!i || kinds[i].type != kinds[i - 1].type); i++) {
		bytes_put_varint(&b->raw, 1);
		put_bytes(b, 0, len > STK_RECORD_HEAD ? 3 : 2);
		bytes_put_varint(&b->raw, len);
		bytes_put(&b->raw, kinds[i].record + STK_RECORD_HEAD,
			  (len < RECORD ? len : RECORD) - STK_RECORD_HEAD);
		put_bytes(b, 'a', len > RECORD ? len - RECORD : 0);
	}
	eh.body_raw = b->raw.len;
	eh.body_stored = pack(&b->out, &b->raw);
	b->raw.len = 0;
	memcpy(b->out.p + at + sizeof(h), &eh, sizeof(eh));
	h.raw_len = b->out.len - at - sizeof(h);
	seal(b, at, h);
}

/* As many as a block may have. */
static void put_events(struct bomb *b, uint32_t cpu, uint64_t ts, const struct kind *kinds,
		       uint32_t nr, uint32_t len)
{
	put_some_events(b, cpu, ts, STK_MAX_BLOCK_EVENTS, kinds, nr, len);
}

static void put_end(struct bomb *b)
{
	put_block(b, STK_BLOCK_END);
}

static void save(struct bomb *b, const char *dir, const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.stk", dir, name);
	f = fopen(path, "w");
	assert(f && !b->out.failed && !b->raw.failed);
	assert(fwrite(b->out.p, 1, b->out.len, f) == b->out.len && !fclose(f));
	printf("%s: %zu bytes\n", name, b->out.len);
	bytes_buf__free(&b->out);
	bytes_buf__free(&b->raw);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Nodes without a parent, all different. */
static void nodes(const char *dir, const char *name, uint32_t n)
{
	struct bomb b = { 0 };

	put_header(&b);
	bytes_put_varint(&b.raw, 1);
	bytes_put_varint(&b.raw, n);
	put_bytes(&b, bytes_zigzag(16), n);
	put_bytes(&b, 0, n);
	put_block(&b, STK_BLOCK_NODES);
	put_end(&b);
	save(&b, dir, name);
}

/* The same key repeated, with large values. */
static void meta(const char *dir)
{
	struct bomb b = { 0 };

	put_header(&b);
	for (int i = 0; i < 60; i++) {
		put_string(&b, "key");
		bytes_put_varint(&b.raw, STK_MAX_STRING);
		put_bytes(&b, 'a' + i % 2, STK_MAX_STRING);
	}
	put_block(&b, STK_BLOCK_META);
	repeat(&b, STK_HEADER_SIZE, 39);
	put_end(&b);
	save(&b, dir, "meta");
}

/* As many keys as are accepted, then the last one repeated. */
static void keys(const char *dir)
{
	struct bomb b = { 0 };
	char key[16];

	put_header(&b);
	for (int i = 0; i < 4090; i++) {
		snprintf(key, sizeof(key), "k%04d", i);
		put_string(&b, key);
		put_string(&b, "");
	}
	put_block(&b, STK_BLOCK_META);
	for (int i = 0; i < 2 << 20; i++) {
		put_string(&b, "k4089");
		put_string(&b, "");
	}
	put_block(&b, STK_BLOCK_META);
	put_end(&b);
	save(&b, dir, "keys");
}

/* Empty stacks, each imported with its own number. */
static void stacks(const char *dir, const char *name, uint32_t n)
{
	struct bomb b = { 0 };

	put_header(&b);
	bytes_put_varint(&b.raw, 1);
	bytes_put_varint(&b.raw, n);
	bytes_put_varint(&b.raw, 0);
	bytes_put_varint(&b.raw, 1);
	put_bytes(&b, 0, 3 * (size_t)n);
	put_block(&b, STK_BLOCK_STACKS);
	put_end(&b);
	save(&b, dir, name);
}

/* A file with a build id, or without one if len is 0. */
static void put_file(struct bomb *b, uint32_t number, const char *id, size_t len)
{
	bytes_put_varint(&b->raw, number);
	bytes_put_varint(&b->raw, 0);
	bytes_put_varint(&b->raw, 0);
	put_string(b, "/bin/sh");
	put_string(b, "");
	put_bytes(b, 0, 5);
	bytes_put_varint(&b->raw, len ? 1 : 0);
	bytes_put_string(&b->raw, id, len);
	put_bytes(b, 0, 3);
}

/* Omitted numbers, up to the limit of a table. */
static void gap(const char *dir)
{
	struct bomb b = { 0 };

	put_header(&b);
	put_file(&b, 1u << 20, "", 0);
	put_block(&b, STK_BLOCK_FILES);
	put_end(&b);
	save(&b, dir, "gap");
}

/* Only work: stacks that become aliases of one another. */
static void aliases(const char *dir)
{
	struct bomb b = { 0 };

	put_header(&b);
	put_bytes(&b, 1, STK_MAX_RAW);
	put_block(&b, STK_BLOCK_ALIASES);
	repeat(&b, STK_HEADER_SIZE, 199);
	put_end(&b);
	save(&b, dir, "aliases");
}

/* Symbols of one file, repeated. */
static void user_symbols(const char *dir)
{
	struct bomb b = { 0 };
	uint32_t n = (4u << 20) - 1;

	put_header(&b);
	put_file(&b, 1, "", 0);
	put_block(&b, STK_BLOCK_FILES);
	bytes_put_varint(&b.raw, 1);
	bytes_put_varint(&b.raw, n);
	put_bytes(&b, 0, 3 * (size_t)n);
	put_block(&b, STK_BLOCK_USER_SYMBOLS);
	put_end(&b);
	save(&b, dir, "user_symbols");
}

/*
 * Two files of the same build.  Their hash does not change if the number of the second is hashed,
 * too, however often.
 */
static void same_hash(const char *dir)
{
	static const char id[] = { 0x52, (char)0xf6, 0x70, 0x03, 0x01, 0x00 };
	struct bomb b = { 0 };

	put_header(&b);
	put_file(&b, 1, id, sizeof(id));
	put_file(&b, 48, id, sizeof(id));
	put_block(&b, STK_BLOCK_FILES);
	put_end(&b);
	save(&b, dir, "same_hash");
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Some commands refuse recordings without it. */
static void put_uuid(struct bomb *b)
{
	put_string(b, "uuid");
	put_string(b, "00112233445566778899aabbccddeeff");
	put_block(b, STK_BLOCK_META);
}

static void put_tasks(struct bomb *b)
{
	for (uint32_t i = 1; i <= 2; i++) {
		bytes_put_varint(&b->raw, i);
		bytes_put_varint(&b->raw, 6 + i);
		bytes_put_varint(&b->raw, 6 + i);
		put_string(b, "sh");
	}
	put_block(b, STK_BLOCK_TASKS);
}

/* Blocks of maximal size: one per CPU at the same time, or of one CPU in sequence. */
static void ticks(const char *dir, const char *name, bool one_cpu)
{
	static const struct kind tick = { .task = 1 };
	struct bomb b = { 0 };

	put_header(&b);
	put_uuid(&b);
	put_tasks(&b);
	put_type(&b, 0, "s", "tick", "", 0);
	for (uint32_t i = 0; i < 64; i++)
		put_events(&b, one_cpu ? 0 : i, 1000 + one_cpu * i * STK_MAX_BLOCK_EVENTS, &tick, 1,
			   STK_RECORD_HEAD);
	put_end(&b);
	save(&b, dir, name);
}

#define TEXT 16384
#define STRING(x) STRING_(x)
#define STRING_(x) #x

/* Many events with one long record. */
static void texts(const char *dir)
{
	static const struct kind text = { .task = 1,
					  .record = { [STK_RECORD_HEAD... RECORD - 1] = 'a' } };
	struct bomb b = { 0 };

	put_header(&b);
	put_uuid(&b);
	put_tasks(&b);
	put_type(&b, 0, "s", "text",
		 "name: text\nID: 1\nformat:\n"
		 "\tfield:char text[" STRING(TEXT) "];\toffset:8;\tsize:" STRING(
			 TEXT) ";\tsigned:0;\n\nprint fmt: \"\"\n",
		 TEXT);
	put_events(&b, 0, 1000, &text, 1, STK_RECORD_HEAD + TEXT);
	put_end(&b);
	save(&b, dir, "texts");
}

#define CHAIN 500
#define LEAVES 10000u

static void put_deep_stacks(struct bomb *b)
{
	bytes_put_varint(&b->raw, 1);
	bytes_put_varint(&b->raw, CHAIN + LEAVES);
	bytes_put_svarint(&b->raw, 0xffffffff81000000);
	put_bytes(b, bytes_zigzag(16), CHAIN + LEAVES - 1);
	put_bytes(b, 0, 1);
	put_bytes(b, 1, CHAIN - 1);
	for (uint32_t i = 1; i <= LEAVES; i++)
		bytes_put_varint(&b->raw, i);
	put_block(b, STK_BLOCK_NODES);
	bytes_put_varint(&b->raw, 1);
	bytes_put_varint(&b->raw, LEAVES);
	bytes_put_varint(&b->raw, 0);
	bytes_put_varint(&b->raw, 0);
	for (uint32_t i = 1; i <= LEAVES; i++)
		bytes_put_varint(&b->raw, CHAIN + i);
	put_block(b, STK_BLOCK_STACKS);
}

/* Deep stacks that differ only in the innermost function, each with all the callers above it. */
static void callers(const char *dir)
{
	static const struct kind tick = { .task = 1 };
	static struct kind kinds[LEAVES];
	struct bomb b = { 0 };

	for (uint32_t i = 0; i < LEAVES; i++) {
		kinds[i] = tick;
		kinds[i].kstack = i + 1;
	}
	put_header(&b);
	put_uuid(&b);
	put_tasks(&b);
	put_type(&b, 0, "s", "tick", "", 0);
	put_deep_stacks(&b);
	put_events(&b, 0, 1000, kinds, LEAVES, STK_RECORD_HEAD);
	put_end(&b);
	save(&b, dir, "callers");
}

static void put_replaced(struct bomb *b, uint32_t n)
{
	put_bytes(b, 0, 4 * (size_t)n);
	put_block(b, STK_BLOCK_REPLACED);
}

static void put_round(struct bomb *b, uint64_t number, uint64_t end_ts)
{
	uint64_t v[4] = { number, end_ts, number };

	bytes_put(&b->raw, v, sizeof(v));
	put_block(b, STK_BLOCK_ROUND);
}

/* Much generated code was replaced, and with each round a bit more: the table is sorted again. */
static void replaced(const char *dir)
{
	static const struct kind tick = { .task = 1, .ustack = 1 };
	struct bomb b = { 0 };

	put_header(&b);
	put_tasks(&b);
	put_type(&b, 0, "s", "tick", "", 0);
	bytes_put_varint(&b.raw, 1);
	bytes_put_varint(&b.raw, 1);
	bytes_put_svarint(&b.raw, FRAME_USER(1, 0x10));
	bytes_put_varint(&b.raw, 0);
	put_block(&b, STK_BLOCK_NODES);
	bytes_put_varint(&b.raw, 1);
	bytes_put_varint(&b.raw, 1);
	put_bytes(&b, 0, 2);
	bytes_put_varint(&b.raw, 1);
	put_block(&b, STK_BLOCK_STACKS);
	put_replaced(&b, 1u << 20);
	for (uint64_t i = 1; i <= 40; i++) {
		put_replaced(&b, 1);
		put_some_events(&b, 0, i, 1, &tick, 1, STK_RECORD_HEAD);
		put_round(&b, i, i + 1);
	}
	put_end(&b);
	save(&b, dir, "replaced");
}

/* Many symbols of the kernel, and with each round one before them: they are sorted again. */
static void symbols(const char *dir)
{
	struct bomb b = { 0 };
	uint32_t n = 600000;

	put_header(&b);
	put_tasks(&b);
	put_type(&b, 0, "s", "tick", "", 0);
	put_deep_stacks(&b);
	for (uint32_t i = 0; i < n; i++) {
		bytes_put_svarint(&b.raw, 16);
		put_bytes(&b, 0, 3);
	}
	put_block(&b, STK_BLOCK_SYMBOLS);
	for (uint64_t i = 1; i <= 40; i++) {
		const struct kind tick = { .task = 1, .kstack = i };

		bytes_put_svarint(&b.raw, 1);
		put_bytes(&b, 0, 3);
		put_block(&b, STK_BLOCK_SYMBOLS);
		put_some_events(&b, 0, i, 1, &tick, 1, STK_RECORD_HEAD);
		put_round(&b, i, i + 1);
	}
	put_end(&b);
	save(&b, dir, "symbols");
}

#define FORMAT_FORK                                                       \
	"name: sched_process_fork\nID: 1\nformat:\n"                      \
	"\tfield:char parent_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t parent_pid;\toffset:24;\tsize:4;\tsigned:1;\n"     \
	"\tfield:char child_comm[16];\toffset:28;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t child_pid;\toffset:44;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n"
#define FORMAT_END                                                 \
	"name: sched_process_exit\nID: 2\nformat:\n"               \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n"

/*
 * A task forks children that exit at once; each child reuses the PID of the previous one.  At the
 * end all are freed.
 */
static void forks(const char *dir, const char *name, bool frees)
{
	const struct kind births[] = { { .type = 0, .task = 1, .record[44] = 8 },
				       { .type = 1, .task = 2, .record[24] = 8 } };
	const struct kind free = { .type = 2, .task = 1, .record[24] = 8 };
	struct bomb b = { 0 };

	put_header(&b);
	put_tasks(&b);
	put_type(&b, 0, "sched", "sched_process_fork", FORMAT_FORK, RECORD - STK_RECORD_HEAD);
	put_type(&b, 1, "sched", "sched_process_exit", FORMAT_END, RECORD - STK_RECORD_HEAD);
	put_type(&b, 2, "sched", "sched_process_free", FORMAT_END, RECORD - STK_RECORD_HEAD);
	put_events(&b, 0, 1000, births, 2, RECORD);
	if (frees)
		put_events(&b, 0, 1000 + STK_MAX_BLOCK_EVENTS, &free, 1, RECORD);
	for (uint64_t i = 1; i < 4 && !frees; i++)
		put_events(&b, 0, 1000 + i * STK_MAX_BLOCK_EVENTS, births, 2, RECORD);
	put_end(&b);
	save(&b, dir, name);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: trace_bombs DIR\n");
		return 2;
	}
	/* one beyond the limit for unpacked data, one within it */
	nodes(argv[1], "nodes", 30u << 20);
	nodes(argv[1], "many_nodes", 7u << 20);
	meta(argv[1]);
	keys(argv[1]);
	stacks(argv[1], "stacks", 20u << 20);
	stacks(argv[1], "many_stacks", 5u << 20);
	gap(argv[1]);
	aliases(argv[1]);
	user_symbols(argv[1]);
	ticks(argv[1], "cpus", false);
	ticks(argv[1], "many", true);
	texts(argv[1]);
	callers(argv[1]);
	replaced(argv[1]);
	same_hash(argv[1]);
	symbols(argv[1]);
	forks(argv[1], "forks", false);
	forks(argv[1], "frees", true);
	return 0;
}
