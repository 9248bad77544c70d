// SPDX-License-Identifier: GPL-2.0-only
/* What is written to streams side by side is read back, whether it was in the file or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "export/spill.h"
#include "output/output.h"

struct check {
	uint32_t stream;
	uint64_t at; /* bytes read */
};

static char byte_at(uint32_t stream, uint64_t at)
{
	return (char)(stream * 31 + at * 7 + (at >> 13));
}

static int take(void *ctx, const char *data, size_t len)
{
	struct check *c = ctx;
	size_t i;

	for (i = 0; i < len; i++)
		assert_int_equal(data[i], byte_at(c->stream, c->at + i));
	c->at += len;
	return 0;
}

static int refuse(void *ctx, const char *data, size_t len)
{
	(*(int *)ctx)++;
	return -5;
}

static void append(struct spill *s, uint32_t stream, size_t len)
{
	char *data = malloc(len);
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = byte_at(stream, s->v[stream].total + i);
	assert_int_equal(spill__write(s, stream, data, len), 0);
	free(data);
}

static void check_stream(struct spill *s, uint32_t stream)
{
	struct check c = { .stream = stream };

	assert_int_equal(spill__read(s, stream, take, &c), 0);
	assert_int_equal(c.at, s->v[stream].total);
}

static struct output *open_output(void)
{
	const struct output_opts opts = { .path = "spill-test.out" };
	struct output *output;

	assert_int_equal(output__open(&opts, &output), 0);
	return output;
}

static void test_short_streams(void **state)
{
	struct output *output = open_output();
	struct spill s = { .output = output };
	uint32_t i, n;

	for (i = 0; i < 1000; i++) {
		assert_int_equal(spill__add(&s, &n), 0);
		assert_int_equal(n, i);
		append(&s, i, i);
	}
	assert_int_equal(s.fd, 0); /* no file was needed */
	for (i = 0; i < 1000; i++)
		check_stream(&s, i);
	spill__free(&s);
	output__free(output);
}

static void test_chunks(void **state)
{
	struct output *output = open_output();
	struct spill s = { .output = output };
	uint32_t i, n;
	int calls = 0;

	for (i = 0; i < 3; i++)
		assert_int_equal(spill__add(&s, &n), 0);
	for (i = 0; i < 200; i++) {
		append(&s, 0, 24);
		append(&s, 1, 7919);
		append(&s, 2, i == 100 ? 3 * SPILL_CHUNK : 1);
	}
	append(&s, 0, SPILL_PAYLOAD - 200 * 24); /* ends with its chunk */
	assert_int_not_equal(s.fd, 0);
	assert_true(s.v[0].first && !s.v[0].len);
	for (i = 0; i < 3; i++)
		check_stream(&s, i);
	check_stream(&s, 1); /* twice */
	assert_int_equal(spill__read(&s, 1, refuse, &calls), -5);
	assert_int_equal(calls, 1);
	spill__free(&s);
	output__free(output);
}

/* More streams than there is memory for a whole buffer of each. */
static void test_many_streams(void **state)
{
	const uint32_t nr = SPILL_MEMORY / 4096, round = 4100; /* its buffer has 8 KiB */
	struct output *output = open_output();
	struct spill s = { .output = output };
	uint64_t most = 0;
	uint32_t i, n;

	for (i = 0; i < nr; i++) {
		assert_int_equal(spill__add(&s, &n), 0);
		append(&s, i, round);
		most = s.held > most ? s.held : most;
	}
	assert_true(most < SPILL_MEMORY + 2 * SPILL_CHUNK);
	for (i = 0; i < nr; i += 97)
		append(&s, i, round);
	for (i = 0; i < nr; i += 89)
		check_stream(&s, i);
	spill__free(&s);
	output__free(output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_streams),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_many_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
