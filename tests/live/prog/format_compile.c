/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * format_compile [MAX-FALLBACKS [FILE...]]: parses every event format of this machine, or the named
 * ones, and lists the print fmts that do not compile, with the reason.
 * Exit status: 1 if a file is not a format or more than MAX-FALLBACKS (100) fall back.
 */
#include "events/format.h"
#include "record/kernel/constants.h"
#include "cleanup.h"

#include <bpf/btf.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 20];
static struct btf *types;

static int check(const char *path, unsigned int *nr, unsigned int *nr_fallback)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *resolved = NULL;
	struct ev_format *f;
	unsigned int nr_names;
	size_t len;
	int err;

	if (!file && errno == ENOENT)
		return 0; /* a probe that was removed */
	if (!file) {
		perror(path);
		return -errno;
	}
	len = fread(text, 1, sizeof(text), file);
	if (ferror(file) && errno == ENODEV)
		return 0; /* the same, after it was opened */
	if (ferror(file)) {
		perror(path);
		return -EIO;
	}
	err = ev_format__parse(text, len, &f);
	if (!err && !ev_format__compiled(f) && types) {
		err = ev_format__resolve(text, len, constants__lookup, types, &resolved, &nr_names);
		ev_format__free(f);
		if (!err)
			err = ev_format__parse(resolved, strlen(resolved), &f);
	}
	if (err) {
		printf("FAIL %s: %d\n", path, err);
		return err;
	}
	(*nr)++;
	if (!ev_format__compiled(f)) {
		(*nr_fallback)++;
		printf("fallback %s: %s\n", ev_format__name(f), ev_format__why(f));
	}
	ev_format__free(f);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int nr = 0, nr_fallback = 0, max = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	glob_t g = { 0 };
	int bad = 0;

	types = btf__load_vmlinux_btf();
	if (!types)
		puts("no BTF: constants are printed as names");
	if (argc > 2) {
		for (int i = 2; i < argc; i++)
			bad += check(argv[i], &nr, &nr_fallback) != 0;
	} else {
		if (glob("/sys/kernel/tracing/events/*/*/format", 0, NULL, &g)) {
			puts("SKIP: no tracefs here, or not root");
			return 77;
		}
		for (size_t i = 0; i < g.gl_pathc; i++)
			bad += check(g.gl_pathv[i], &nr, &nr_fallback) != 0;
		globfree(&g);
	}
	btf__free(types);
	printf("%u formats, %u compiled, %u fall back, %d unreadable\n", nr, nr - nr_fallback,
	       nr_fallback, bad);
	return bad || nr_fallback > max;
}
