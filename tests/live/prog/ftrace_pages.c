// SPDX-License-Identifier: GPL-2.0-only
/*
 * ftrace_pages BYTES FILE CPU [FILE CPU]...: prints the sub-buffers, of BYTES each, that
 * trace_pipe_raw has now, one record per line: CPU, microseconds rounded as in `trace`, pid and
 * common_type; for stacks also the addresses, for other records their size.  Prints "lost CPU N"
 * where events were lost.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "prog.h"
#include "record/ftrace/ring/ftrace_page.h"
#include "record/ftrace/ring/ftrace_stacks.h"
#include "record/kernel/tracefs.h"

static void put_record(const char *cpu, uint64_t ts, const struct ftrace_record *r, size_t len)
{
	uint32_t i;

	printf("%s %" PRIu64 " %d %u", cpu, (ts + 500) / 1000, r->ctx.pid, r->type);
	for (i = 0; i < r->nr_words; i++)
		printf(" %016" PRIx64, ftrace_record__word(r, i));
	if (r->kind == FTRACE_EVENT)
		printf(" %zu", len);
	putchar('\n');
}

static void put_page(const struct ftrace_kinds *kinds, const struct ftrace_page_format *format,
		     const void *buf, size_t len, const char *cpu)
{
	struct ftrace_page_event ev;
	struct ftrace_record r;
	struct ftrace_page p;
	int more;

	ftrace_page__open(&p, format, buf, len);
	if (p.lost)
		printf("lost %s %" PRId64 "\n", cpu, p.lost);
	while ((more = ftrace_page__next(&p, &ev)) > 0) {
		if (ftrace_kinds__decode(kinds, ev.data, ev.len, &r))
			errx(1, "cpu %s: a damaged record", cpu);
		put_record(cpu, ev.ts, &r, ev.len);
	}
	if (more)
		errx(1, "cpu %s: a damaged page", cpu);
}

int main(int argc, char **argv)
{
	unsigned long bytes = arg_number(argc, argv, 1, 0, 1 << 20);
	struct ftrace_page_format format;
	struct ftrace_kinds kinds = {};
	char *text, *buf;
	ssize_t n;
	int i;

	if (argc < 4 || argc % 2 || !bytes)
		errx(2, "usage: ftrace_pages BYTES FILE CPU [FILE CPU]...");
	if (tracefs__file("events/header_page", &text) ||
	    ftrace_page_format__parse(text, &format) || ftrace_kinds__load(&kinds))
		errx(1, "no formats");
	buf = malloc(bytes);
	if (!buf)
		err(1, "malloc");
	for (i = 2; i < argc; i += 2) {
		int fd = open(argv[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC);

		if (fd < 0)
			err(1, "open '%s'", argv[i]);
		while ((n = read(fd, buf, bytes)) > 0)
			put_page(&kinds, &format, buf, n, argv[i + 1]);
		if (n < 0 && errno != EAGAIN)
			err(1, "read '%s'", argv[i]);
		close(fd);
	}
	free(buf);
	free(text);
	return 0;
}
