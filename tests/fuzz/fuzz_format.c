/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: an event format and a record in it, both hostile.  Input: the format text, a NUL,
 * the record.
 */
#include "events/format.h"
#include "strbuf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The largest text of one event: 64 KiB, and a little for each field. */
#define MAX_PRINT (64u << 10)

static bool put_symbol(void *ctx, uint64_t addr, bool with_offset, struct strbuf *out)
{
	if (!(addr & 1))
		return false;
	strbuf__puts(out, with_offset ? "symbol+0x1/0x2" : "symbol");
	return true;
}

static const char *find_string(void *ctx, uint64_t addr)
{
	return addr & 1 ? "a string" : NULL;
}

static bool constant(void *ctx, const char *name, int64_t *ret_value)
{
	*ret_value = name[0] & 1 ? INT64_MIN : 1;
	return !(name[0] & 2);
}

/* Uses every function that takes a record. */
static void use_record(const struct ev_format *f, const uint8_t *rec, size_t len)
{
	const struct ev_print_ctx ctx = {
		.symbol = put_symbol, .string = find_string, .long_size = 8, .hz = len % 1000
	};
	struct strbuf out = { 0 };

	ev_format__print(f, &ctx, rec, len, &out);
	if (out.len > MAX_PRINT)
		abort();
	ev_format__print(f, NULL, rec, len, &out);
	strbuf__reset(&out);
	ev_format__json(f, rec, len, &out);
	for (unsigned int i = 0; i < ev_format__nr_fields(f); i++) {
		const struct ev_field *fd = ev_format__field(f, i);

		strbuf__reset(&out);
		ev_format__print_field(f, fd, &ctx, rec, len, &out);
		if (!ev_format__find(f, fd->name))
			abort();
	}
	strbuf__free(&out);
}

static void use_text(const char *text, size_t len, const uint8_t *rec, size_t rec_len)
{
	struct ev_syscall_string strings[EV_SYSCALL_ARGS];
	struct ev_format *f;
	unsigned int nr;
	char *other;

	if (!ev_format__parse(text, len, &f)) {
		use_record(f, rec, rec_len);
		ev_format__free(f);
	}
	if (!ev_format__resolve(text, len, constant, NULL, &other, &nr))
		free(other);
	if (ev_format__syscall_text(text, len, &other, strings, &nr))
		return;
	/* a valid format must stay valid */
	if (ev_format__parse(other, strlen(other), &f))
		abort();
	use_record(f, rec, rec_len);
	ev_format__free(f);
	free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, '\0', size);
	size_t len = nul ? (size_t)(nul - data) : size, rec_len = nul ? size - len - 1 : 0;
	char *text = malloc(len ? len : 1);
	uint8_t *rec = malloc(rec_len ? rec_len : 1);

	/* exact copies, so that the sanitizer detects a read beyond either end */
	if (text && rec) {
		memcpy(text, data, len);
		if (rec_len)
			memcpy(rec, nul + 1, rec_len);
		use_text(text, len, rec, rec_len);
	}
	free(text);
	free(rec);
	return 0;
}
