// SPDX-License-Identifier: GPL-2.0-only
/* The reader of FSMB stack maps: what it reads, and what it rejects at which offset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <byteswap.h>
#include <cmocka.h>
#include <errno.h>

#include "../last_message.h"
#include "fsmb_format.h"
#include "import/fsmb_map.h"
#include "stackonce.h"

#define K(n) (0xffffffff81000000ULL + (n))

struct image {
	unsigned char bytes[16384];
	size_t len;
	bool swap, v1;
};

static void put32(struct image *im, uint32_t v)
{
	v = im->swap ? bswap_32(v) : v;
	memcpy(im->bytes + im->len, &v, sizeof(v));
	im->len += sizeof(v);
}

static void put_head(struct image *im, uint32_t nr)
{
	put32(im, im->v1 ? FSMB_MAGIC_V1 : FSMB_MAGIC);
	put32(im, im->v1 ? 1 : 2);
	put32(im, nr);
	put32(im, 0);
}

static void put_stack(struct image *im, uint32_t id, uint32_t refs, uint64_t first, uint32_t nr)
{
	uint32_t i;

	put32(im, id);
	put32(im, nr);
	put32(im, refs);
	put32(im, 0);
	for (i = 0; i < nr; i++) {
		uint64_t ip = im->swap ? bswap_64(first + i) : first + i;

		memcpy(im->bytes + im->len, &ip, sizeof(ip));
		im->len += sizeof(ip);
	}
}

/* Three stacks, the third with the frames of the first, one of them empty. */
static void put_sample(struct image *im)
{
	put_head(im, 4);
	put_stack(im, 700, 5, K(10), 3);
	put_stack(im, 20, 0xffffffff, K(11), 3);
	put_stack(im, 0xfffffffe, 7, K(10), 3);
	put_stack(im, 0, 1, 0, 0);
}

static void check_sample(const struct image *im, bool swapped)
{
	struct fsmb_map *m = NULL;
	uint64_t frames[3];
	uint32_t index = 99;

	assert_int_equal(fsmb_map__parse("map", im->bytes, im->len, &m), 0);
	assert_int_equal(fsmb_map__nr(m), 4);
	assert_int_equal(fsmb_map__nr_duplicates(m), 1);
	assert_int_equal(fsmb_map__swapped(m), swapped);
	assert_int_equal(fsmb_map__version(m), im->v1 ? 1 : 2);
	assert_int_equal(fsmb_map__entry(m, 0)->id, 700);
	assert_int_equal(fsmb_map__entry(m, 1)->refs, 0xffffffff);
	assert_int_equal(fsmb_map__entry(m, 2)->id, 0xfffffffe);
	assert_int_equal(fsmb_map__entry(m, 2)->first, 0);
	assert_int_equal(fsmb_map__entry(m, 1)->first, 1);
	assert_int_equal(fsmb_map__entry(m, 3)->nr, 0);
	fsmb_map__frames(m, 1, frames);
	assert_true(frames[0] == K(11) && frames[1] == K(12) && frames[2] == K(13));
	assert_int_equal(fsmb_map__offset(m, 1), 16 + 16 + 24);
	assert_int_equal(fsmb_map__find(m, 0xfffffffe, &index), 0);
	assert_int_equal(index, 2);
	assert_int_equal(fsmb_map__find(m, 0, &index), 0);
	assert_int_equal(index, 3);
	assert_int_equal(fsmb_map__find(m, 21, &index), -ENOENT);
	assert_int_equal(index, 3);
	fsmb_map__free(m);
}

static void test_native(void **state)
{
	struct image im = { 0 };

	put_sample(&im);
	check_sample(&im, false);
}

static void test_swapped(void **state)
{
	struct image im = { .swap = true };

	put_sample(&im);
	check_sample(&im, true);
}

/* The form of the proposal's fourth version, in both byte orders. */
static void test_version_1(void **state)
{
	struct image im = { .v1 = true }, swapped = { .v1 = true, .swap = true };

	put_sample(&im);
	assert_memory_equal(im.bytes, "BMSF", 4);
	check_sample(&im, false);
	put_sample(&swapped);
	check_sample(&swapped, true);
}

static void test_empty(void **state)
{
	struct image im = { 0 };
	struct fsmb_map *m;

	put_head(&im, 0);
	assert_int_equal(fsmb_map__parse("map", im.bytes, im.len, &m), 0);
	assert_int_equal(fsmb_map__nr(m), 0);
	fsmb_map__free(m);
}

static void expect_refused(const struct image *im, const char *msg)
{
	struct fsmb_map *m = (void *)1;
	void *copy = malloc(im->len ? im->len : 1); /* exact: detects reads past it */

	memcpy(copy, im->bytes, im->len);
	last_message[0] = '\0';
	assert_int_equal(fsmb_map__parse("map", copy, im->len, &m), -EINVAL);
	assert_string_equal(last_message, msg);
	assert_int_equal(last_level, STK_LOG_ERROR);
	assert_ptr_equal(m, (void *)1);
	free(copy);
}

static void test_refusals(void **state)
{
	struct image im = { 0 };

	expect_refused(&im, "map: offset 0: the file ends after 0 of the header's 16 bytes");
	put_head(&im, 0);
	im.len = 15;
	expect_refused(&im, "map: offset 0: the file ends after 15 of the header's 16 bytes");

	im.len = 16;
	im.bytes[0] ^= 1;
	expect_refused(&im, "map: offset 0: not a stack map: magic 0x464d5343, not 0x464d5342 or "
			    "0x46534d42");

	im.len = 0;
	put_head(&im, 0);
	im.bytes[4] = 1;
	expect_refused(&im, "map: offset 4: stack map version 1, with magic 0x464d5342 only 2 "
			    "is supported");
	im.len = 0;
	im.v1 = true;
	put_head(&im, 0);
	im.bytes[4] = 2;
	expect_refused(&im, "map: offset 4: stack map version 2, with magic 0x46534d42 only 1 "
			    "is supported");
	im.v1 = false;

	im.len = 0;
	put_head(&im, 3);
	put_stack(&im, 1, 1, K(1), 2);
	expect_refused(&im, "map: offset 8: no room for 3 stacks, the file ends after 48 bytes");

	im.len = 0;
	put_head(&im, 2);
	put_stack(&im, 1, 1, K(1), 2);
	expect_refused(&im, "map: offset 48: stack 2 of 2: the file ends here");

	im.len = 0;
	put_head(&im, 1);
	put_stack(&im, 1, 1, K(1), 2);
	im.len--;
	expect_refused(&im, "map: offset 20: stack 1 of 1 has 2 frames, but the file ends after 1");

	im.len = 0;
	put_head(&im, 1);
	put_stack(&im, 1, 1, K(1), 0);
	im.bytes[20] = im.bytes[21] = im.bytes[22] = im.bytes[23] = 0xff;
	expect_refused(&im, "map: offset 20: stack 1 of 1 has 4,294,967,295 frames, "
			    "but the file ends after 0");

	im.len = 0;
	put_head(&im, 1);
	put_stack(&im, 1, 1, K(1), 2);
	im.len++;
	expect_refused(&im, "map: offset 48: 1 byte after the last of 1 stack");

	im.len = 0;
	put_head(&im, 2);
	put_stack(&im, 9, 1, K(1), 1);
	put_stack(&im, 9, 1, K(2), 1);
	expect_refused(&im, "map: offset 40: stack id 9 is used at offset 16, too");
}

/* Of a stack that is too deep for a recording, the innermost frames are kept. */
static void test_deep(void **state)
{
	static struct image im;
	uint64_t frames[STK_MAX_DEPTH];
	struct fsmb_map *m = NULL;

	put_head(&im, 3);
	put_stack(&im, 1, 1, K(1), STK_MAX_DEPTH + 1);
	put_stack(&im, 2, 1, K(1), STK_MAX_DEPTH);
	put_stack(&im, 3, 1, K(7), 1);
	last_message[0] = '\0';
	assert_int_equal(fsmb_map__parse("map", im.bytes, im.len, &m), 0);
	assert_string_equal(last_message, "");
	assert_int_equal(fsmb_map__nr_deep(m), 1);
	assert_int_equal(fsmb_map__entry(m, 0)->nr, STK_MAX_DEPTH);
	assert_int_equal(fsmb_map__entry(m, 0)->flags, FSMB_STACK_TRUNCATED);
	assert_int_equal(fsmb_map__entry(m, 1)->flags, 0);
	assert_int_equal(fsmb_map__nr_duplicates(m), 0);
	fsmb_map__frames(m, 0, frames);
	assert_true(frames[0] == K(1) && frames[STK_MAX_DEPTH - 1] == K(STK_MAX_DEPTH));
	fsmb_map__frames(m, 2, frames);
	assert_true(frames[0] == K(7));
	fsmb_map__free(m);
}

/* A map cut at any length is rejected, and never read past its end. */
static void test_every_cut(void **state)
{
	struct image im = { 0 };
	size_t len;

	put_sample(&im);
	for (len = 0; len < im.len; len++) {
		struct fsmb_map *m = NULL;
		void *copy = malloc(len ? len : 1);

		memcpy(copy, im.bytes, len);
		assert_int_equal(fsmb_map__parse("map", copy, len, &m), -EINVAL);
		assert_non_null(strstr(last_message, "map: offset "));
		free(copy);
	}
}

static void test_reserved_warns(void **state)
{
	struct image im = { 0 };
	struct fsmb_map *m;

	put_head(&im, 1);
	put_stack(&im, 1, 1, K(1), 2);
	im.bytes[12] = im.bytes[28] = 1;
	last_message[0] = '\0';
	assert_int_equal(fsmb_map__parse("map", im.bytes, im.len, &m), 0);
	assert_int_equal(last_level, STK_LOG_WARN);
	assert_string_equal(last_message,
			    "map: 2 reserved fields are not 0, their values are ignored");
	fsmb_map__free(m);
}

static void put_trailer(struct image *im, uint32_t size)
{
	uint64_t text = im->swap ? bswap_64(K(0)) : K(0), boot = im->swap ? bswap_64(99) : 99;

	put32(im, FSMB_TRAILER_MAGIC);
	put32(im, size);
	memcpy(im->bytes + im->len, &text, 8);
	im->len += 8;
	put32(im, 12);
	put32(im, 20);
	memset(im->bytes + im->len, 0xab, 20);
	memset(im->bytes + im->len + 24, 'b', 40); /* not even terminated */
	strcpy((char *)im->bytes + im->len + 64, "6.12.1");
	im->len += 136;
	if (size > FSMB_TRAILER_SIZE) {
		memcpy(im->bytes + im->len, &boot, 8);
		im->len += size - FSMB_TRAILER_SIZE;
	}
}

static void check_trailer(bool swap, bool v1, uint32_t size)
{
	struct image im = { .swap = swap, .v1 = v1 };
	const struct fsmb_trailer *t;
	struct fsmb_map *m = NULL;

	put_head(&im, 4);
	put_stack(&im, 1, 1, K(1), 2);
	put_stack(&im, 2, 1, K(1), 2);
	put_stack(&im, 3, 1, K(1), 2);
	put_stack(&im, 4, 1, K(1), 2);
	im.bytes[swap ? 15 : 12] = 7;
	im.bytes[swap ? 31 : 28] = FSMB_STACK_TRUNCATED;
	im.bytes[swap ? 63 : 60] = FSMB_STACK_USER;
	im.bytes[swap ? 127 : 124] = FSMB_STACK_GONE;
	put_trailer(&im, size);
	last_message[0] = '\0';
	assert_int_equal(fsmb_map__parse("map", im.bytes, im.len, &m), 0);
	assert_string_equal(last_message, "");
	assert_int_equal(fsmb_map__generation(m), 7);
	assert_int_equal(fsmb_map__entry(m, 0)->flags, FSMB_STACK_TRUNCATED);
	assert_int_equal(fsmb_map__entry(m, 1)->flags, FSMB_STACK_USER);
	assert_int_equal(fsmb_map__entry(m, 2)->flags, 0);
	assert_int_equal(fsmb_map__entry(m, 3)->flags, FSMB_STACK_GONE);
	assert_int_equal(fsmb_map__nr_duplicates(m), 0); /* equal words are not enough */
	t = fsmb_map__trailer(m);
	assert_non_null(t);
	assert_true(t->text_base == K(0) && t->page_shift == 12 && t->build_id_size == 20);
	assert_int_equal(t->build_id[19], 0xab);
	assert_int_equal(strlen(t->boot_id), 39);
	assert_string_equal(t->release, "6.12.1");
	assert_int_equal(t->boot_time, size > FSMB_TRAILER_SIZE ? 99 : 0);
	fsmb_map__free(m);
}

static void test_trailer(void **state)
{
	check_trailer(false, false, 160);
	check_trailer(false, false, 168);
	check_trailer(true, false, 168);
	check_trailer(false, false, 200); /* a newer trailer with more fields */
	check_trailer(false, true, 168);
	check_trailer(true, true, 168);
}

static void test_bad_trailer(void **state)
{
	struct image im = { 0 };
	size_t at;

	put_head(&im, 1);
	put_stack(&im, 1, 1, K(1), 2);
	assert_int_equal(im.len, 48);
	put_trailer(&im, 168);
	im.len--;
	expect_refused(&im, "map: offset 48: 167 bytes after the last of 1 stack");
	im.len += 2;
	expect_refused(&im, "map: offset 48: 169 bytes after the last of 1 stack");
	im.len--;
	im.bytes[52] = 8;
	expect_refused(&im, "map: offset 48: 168 bytes after the last of 1 stack");
	im.bytes[52] = 168;
	im.bytes[48]++;
	expect_refused(&im, "map: offset 48: 168 bytes after the last of 1 stack");
	im.bytes[48]--;
	at = 48 + offsetof(struct fsmb_trailer, build_id_size);
	im.bytes[at] = 25;
	expect_refused(&im, "map: offset 68: the build id has 25 bytes");

	im.len = 0;
	put_head(&im, 1);
	put_stack(&im, 1, 1, K(1), 3);
	im.bytes[28] = FSMB_STACK_USER;
	put_trailer(&im, 168);
	expect_refused(
		&im,
		"map: offset 20: stack 1 of 1: a user stack of 3 words, but its frames are pairs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_native),	  cmocka_unit_test(test_swapped),
		cmocka_unit_test(test_empty),	  cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_every_cut), cmocka_unit_test(test_reserved_warns),
		cmocka_unit_test(test_trailer),	  cmocka_unit_test(test_bad_trailer),
		cmocka_unit_test(test_version_1), cmocka_unit_test(test_deep),
	};

	log_set_sink(keep_message, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
