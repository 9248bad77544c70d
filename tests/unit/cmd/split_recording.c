// SPDX-License-Identifier: GPL-2.0-only
/*
 * Splits a recording into PARTS that together hold what it holds:
 *
 *   split_recording HOW PARTS FILE OUT
 *
 * writes OUT.0, OUT.1, ..., and OUT.whole, which differs from FILE only in its metadata.
 *
 * cpu       the events of each CPU in one part, and the accounting in the first one
 * time      the rounds one after another; each part continues the one before
 * hosts     copies with another boot id and host name each
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "trace/bytes.h"
#include "trace/stk.h"

#define UUID_AT 16
#define WALL_AT 32
#define BOOT "01234567-89ab-cdef-0123-456789abcdef"
#define MAX_PARTS 64

enum how { BY_CPU, BY_TIME, HOSTS, NR_HOW };
static const char *const ways[NR_HOW] = { "cpu", "time", "hosts" };

struct split {
	enum how how;
	int nr_parts;
	const uint8_t *data;
	size_t len;
	uint64_t nr_rounds;
	const char *out;
};

static void die(const char *what)
{
	fprintf(stderr, "split_recording: %s\n", what);
	exit(1);
}

static uint8_t *read_file(const char *path, size_t *ret_len)
{
	uint8_t *data = malloc(STK_MAX_RAW);
	FILE *f = fopen(path, "re");

	if (!f || !data)
		die(path);
	*ret_len = fread(data, 1, STK_MAX_RAW, f);
	fclose(f);
	if (*ret_len < STK_HEADER_SIZE || *ret_len == STK_MAX_RAW)
		die("not a recording of this size");
	return data;
}

static void put_string(struct bytes_buf *b, const char *s)
{
	bytes_put_varint(b, strlen(s));
	bytes_put(b, s, strlen(s));
}

static void put_block(FILE *f, uint16_t type, const struct bytes_buf *payload)
{
	struct stk_block_header h = {
		.magic = STK_BLOCK_MAGIC,
		.type = type,
		.codec = STK_CODEC_NONE,
		.stored_len = payload->len,
		.raw_len = payload->len,
		.payload_crc = crc32c(0, payload->p, payload->len),
	};

	h.header_crc = crc32c(0, &h, offsetof(struct stk_block_header, header_crc));
	fwrite(&h, sizeof(h), 1, f);
	fwrite(payload->p, payload->len, 1, f);
}

static void uuid_of(const struct split *s, int part, uint8_t *uuid)
{
	memcpy(uuid, s->data + UUID_AT, 16);
	uuid[0] = part + 1;
}

static void put_header(const struct split *s, int part, FILE *f)
{
	uint8_t header[STK_HEADER_SIZE];
	uint32_t crc;

	memcpy(header, s->data, sizeof(header));
	uuid_of(s, part, header + UUID_AT);
	crc = crc32c(0, header, 60);
	memcpy(header + 60, &crc, sizeof(crc));
	fwrite(header, sizeof(header), 1, f);
}

static void put_continues(const struct split *s, int part, struct bytes_buf *b)
{
	char hex[33];
	uint8_t uuid[16];

	uuid_of(s, part - 1, uuid);
	for (int i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", uuid[i]);
	put_string(b, "continues");
	put_string(b, hex);
}

static void put_host(int part, struct bytes_buf *b)
{
	char text[64];

	snprintf(text, sizeof(text), "host-%d", part);
	put_string(b, "hostname");
	put_string(b, text);
	snprintf(text, sizeof(text), "boot of host-%d", part);
	put_string(b, "boot_id");
	put_string(b, text);
	put_string(b, "kernel.build_id");
	put_string(b, "00112233445566778899aabbccddeeff00112233");
	put_string(b, "kernel.text");
	put_string(b, "0xffffffff81000000");
	put_string(b, "clock.ts");
	put_string(b, "1000");
	snprintf(text, sizeof(text), "%d", 5000000 + part);
	put_string(b, "clock.wall_ns");
	put_string(b, text);
}

/* part nr_parts is the whole. */
static void put_meta(const struct split *s, int part, FILE *f)
{
	struct bytes_buf b = { 0 };

	if (s->how == HOSTS) {
		put_host(part, &b);
	} else {
		put_string(&b, "boot_id");
		put_string(&b, BOOT);
	}
	if (s->how == BY_TIME && part && part < s->nr_parts)
		put_continues(s, part, &b);
	put_block(f, STK_BLOCK_META, &b);
	bytes_buf__free(&b);
}

static bool is_wanted(const struct split *s, int part, const struct stk_block_header *h,
		      uint64_t round)
{
	int of = s->nr_rounds ? round * s->nr_parts / s->nr_rounds : 0;

	if (part == s->nr_parts || s->how == HOSTS)
		return true;
	switch (h->type) {
	case STK_BLOCK_EVENTS:
		return s->how == BY_CPU ? (int)h->aux % s->nr_parts == part : of == part;
	case STK_BLOCK_LOSSES:
		return s->how == BY_CPU ? !part : of == part;
	case STK_BLOCK_ROUND:
		return s->how == BY_CPU || of == part;
	case STK_BLOCK_ACCOUNTING:
		return part == (s->how == BY_CPU ? 0 : s->nr_parts - 1);
	default:
		return true;
	}
}

/* Returns the number of rounds. */
static uint64_t put_blocks(const struct split *s, int part, FILE *f)
{
	struct stk_block_header h;
	uint64_t round = 0;
	bool met = false;

	for (size_t at = STK_HEADER_SIZE; s->len - at >= sizeof(h);
	     at += sizeof(h) + h.stored_len) {
		memcpy(&h, s->data + at, sizeof(h));
		if (h.magic != STK_BLOCK_MAGIC || h.stored_len > s->len - at - sizeof(h))
			die("damaged");
		/* behind the recording's own metadata, which it corrects */
		if (f && !met && h.type != STK_BLOCK_META && h.type != STK_BLOCK_META_PART) {
			put_meta(s, part, f);
			met = true;
		}
		if (f && is_wanted(s, part, &h, MIN(round, s->nr_rounds - 1)))
			fwrite(s->data + at, sizeof(h) + h.stored_len, 1, f);
		round += h.type == STK_BLOCK_ROUND;
	}
	return round;
}

static void put_part(const struct split *s, int part)
{
	_cleanup_free_ char *path = NULL;
	FILE *f;

	if ((part < s->nr_parts ? asprintf(&path, "%s.%d", s->out, part) :
				  asprintf(&path, "%s.whole", s->out)) < 0)
		die("no memory");
	f = fopen(path, "we");
	if (!f)
		die(path);
	put_header(s, part, f);
	put_blocks(s, part, f);
	if (fclose(f))
		die(path);
}

int main(int argc, char **argv)
{
	struct split s = { .nr_parts = argc == 5 ? atoi(argv[2]) : 0 };

	if (s.nr_parts < 1 || s.nr_parts > MAX_PARTS)
		die("usage: split_recording HOW PARTS FILE OUT");
	while (s.how < NR_HOW && strcmp(argv[1], ways[s.how]) != 0)
		s.how++;
	if (s.how == NR_HOW)
		die("HOW is cpu, time or hosts");
	s.data = read_file(argv[3], &s.len);
	s.out = argv[4];
	s.nr_rounds = put_blocks(&s, 0, NULL);
	for (int i = 0; i <= s.nr_parts; i++)
		put_part(&s, i);
	free((void *)s.data);
	return 0;
}
