/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPU time for printing one event: format_print FORMAT-FILE... [ROUNDS].  The record of each format
 * has small numbers and short strings.  Prints ns per event as text and as JSON, and bytes of text.
 */
#include "events/format.h"
#include "cleanup.h"
#include "strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Fills rec, which has size bytes; returns the bytes used. */
static size_t make_record(const struct ev_format *f, unsigned char *rec, size_t size)
{
	size_t len = ev_format__fixed_size(f);
	uint64_t v;

	if (len > size)
		return 0;
	for (unsigned int i = 0; i < ev_format__nr_fields(f); i++) {
		const struct ev_field *fd = ev_format__field(f, i);

		if (fd->kind == EV_FIELD_INT) {
			v = fd->is_pointer ? 0xffff888012345678 : 1000 + i;
			memcpy(rec + fd->offset, &v, fd->size);
		} else if (fd->kind == EV_FIELD_STRING) {
			memcpy(rec + fd->offset, "kworker/u4:2", fd->size < 12 ? fd->size : 12);
		} else if (fd->kind == EV_FIELD_DATA_LOC && size - len >= 16) {
			v = 16u << 16 | len;
			memcpy(rec + fd->offset, &v, 4);
			memcpy(rec + len, "/usr/bin/python", 16);
			len += 16;
		}
	}
	return len;
}

static int measure(const char *path, unsigned long rounds)
{
	static char text[1 << 18];
	unsigned char rec[8192] = { 0 };
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	struct strbuf out = { 0 };
	struct ev_format *f;
	double start, middle, end;
	size_t len, bytes;

	if (!file || ev_format__parse(text, fread(text, 1, sizeof(text), file), &f)) {
		fprintf(stderr, "%s is not an event format\n", path);
		return -EINVAL;
	}
	len = make_record(f, rec, sizeof(rec));
	start = cpu_ns();
	for (unsigned long i = 0; i < rounds; i++) {
		strbuf__reset(&out);
		ev_format__print(f, NULL, rec, len, &out);
	}
	bytes = out.len;
	middle = cpu_ns();
	for (unsigned long i = 0; i < rounds; i++) {
		strbuf__reset(&out);
		ev_format__json(f, rec, len, &out);
	}
	end = cpu_ns();
	printf("%-28s %7.1f ns text %7.1f ns JSON %5zu bytes%s\n", ev_format__name(f),
	       (middle - start) / rounds, (end - middle) / rounds, bytes,
	       ev_format__compiled(f) ? "" : " (not compiled)");
	strbuf__free(&out);
	ev_format__free(f);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long rounds = 1000000;
	char *end;

	if (argc > 1) {
		unsigned long n = strtoul(argv[argc - 1], &end, 10);

		if (!*end && n && n <= 1000000000) {
			rounds = n;
			argc--;
		}
	}
	if (argc < 2) {
		fputs("usage: format_print FORMAT-FILE... [ROUNDS]\n", stderr);
		return 2;
	}
	for (int i = 1; i < argc; i++)
		if (measure(argv[i], rounds))
			return 1;
	return 0;
}
