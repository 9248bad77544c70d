// SPDX-License-Identifier: GPL-2.0-only
/* Prints a recording's user stacks or files as text, for scripts to compare. */
#include "checks.h"

#include <err.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static void put_frame(struct recview *r, const struct recview_event *e, unsigned int i)
{
	const struct stk_frame *fr = &e->frames[i];
	struct stk_file f;

	if (!fr->file || stk_reader__file(r->files, fr->file, &f))
		printf(" unknown+0x%llx", (unsigned long long)fr->ip);
	else if (f.kind == STK_FILE_JIT)
		printf(" jit+0x%llx", (unsigned long long)(f.base + fr->ip));
	else
		printf(" %s+0x%llx", f.path, (unsigned long long)fr->ip);
	if (fr->guessed)
		printf("?");
}

static void put_files(struct recview *r)
{
	const char *path, *host_path;
	struct stk_file f;

	for (uint32_t n = 1; n <= stk_reader__nr_files(r->files); n++) {
		if (stk_reader__file(r->files, n, &f))
			continue;
		printf("%u %u:%u %llu ", n, f.dev_major, f.dev_minor, (unsigned long long)f.inode);
		for (unsigned int i = 0; i < f.id_len; i++)
			printf("%02x", f.id[i]);
		printf("%s flags %u", f.id_kind == STK_ID_NONE ? "-" : "", f.flags);
		for (unsigned int i = 0; i < f.nr_names; i++)
			if (!stk_reader__file_name(r->files, n, i, &path, &host_path))
				printf(" %s|%s", path, host_path);
		printf("\n");
	}
}

/*
 * dump RECORDING EVENT COMM: prints "TS PID TID COMM EVENT END DEPTH FRAME..." per event whose name
 * and task match the globs; frames are PATH+0xOFFSET, innermost first, guesses with a question
 * mark.
 * dump RECORDING files: prints "NUMBER DEVICE INODE ID flags N PATH|HOST-PATH..." per file.
 */
int check_dump(int argc, char **argv)
{
	struct recview r;
	struct recview_event e;

	if (argc < 3)
		errx(2, "usage: ucheck dump RECORDING files|EVENT COMM");
	recview__open(&r, argv[1]);
	if (argc == 3) {
		put_files(&r);
		recview__close(&r);
		return 0;
	}
	while (recview__next(&r, &e)) {
		if (fnmatch(argv[2], e.name, 0) || fnmatch(argv[3], e.comm, 0))
			continue;
		printf("%llu %u %u %s %s %s %u", (unsigned long long)e.ts, e.pid, e.tid, e.comm,
		       e.name, e.none ? "none" : stk_stack_end_name(e.end), e.depth);
		for (unsigned int i = 0; i < e.depth; i++)
			put_frame(&r, &e, i);
		printf("\n");
	}
	recview__close(&r);
	return 0;
}
