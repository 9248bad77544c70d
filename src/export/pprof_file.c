// SPDX-License-Identifier: GPL-2.0-only
/* Packs the parts of a profile and compresses them. */
#include "pprof_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "cleanup.h"
#include "output/output.h"
#include "stackonce.h"
#include "strbuf.h"
#include "string_table.h"

#define STRINGS_AT_ONCE 1024

struct pprof_file {
	gzFile gz;
	struct stk_reader *r;
	struct string_table strings;
	uint64_t charged; /* bytes of strings */
	struct strbuf text;
	uint8_t *packed;
	size_t max_packed;
	int err;
};

int pprof_file__new(const struct output *output, struct stk_reader *r, struct pprof_file **ret_file)
{
	_cleanup_(pprof_file__freep) struct pprof_file *f = calloc(1, sizeof(*f));
	_cleanup_close_ int fd = fcntl(output__fd(output), F_DUPFD_CLOEXEC, 3);

	if (!f)
		return -ENOMEM;
	if (fd < 0)
		return -errno;
	f->gz = gzdopen(fd, "wb");
	if (!f->gz)
		return -ENOMEM;
	fd = -1;
	f->r = r;
	/* The first string is empty. */
	pprof_file__string(f, "");
	if (f->err)
		return f->err;
	*ret_file = take_ptr(f);
	return 0;
}

void pprof_file__free(struct pprof_file *f)
{
	if (!f)
		return;
	if (f->gz)
		gzclose(f->gz);
	if (f->r)
		stk_reader__charge(f->r, -(int64_t)f->charged, 0);
	string_table__clear(&f->strings);
	strbuf__free(&f->text);
	free(f->packed);
	free(f);
}

static int charge_strings(struct pprof_file *f)
{
	uint64_t memory = string_table__memory(&f->strings);
	int err = stk_reader__charge(f->r, (int64_t)(memory - f->charged), 1);

	if (!err)
		f->charged = memory;
	return err;
}

/* The string in f->text. */
static int64_t number_text(struct pprof_file *f)
{
	uint32_t number = 0;

	if (!f->err && strbuf__failed(&f->text))
		f->err = -ENOMEM;
	if (!f->err)
		f->err = string_table__intern(&f->strings, f->text.s ?: "", &number);
	if (!f->err)
		f->err = charge_strings(f);
	return f->err ? 0 : number;
}

int64_t pprof_file__string(struct pprof_file *f, const char *s)
{
	strbuf__reset(&f->text);
	strbuf__text(&f->text, s ?: "");
	return number_text(f);
}

int64_t pprof_file__printf(struct pprof_file *f, const char *fmt, ...)
{
	_cleanup_free_ char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n >= 0)
		return pprof_file__string(f, s);
	s = NULL;
	f->err = f->err ?: -ENOMEM;
	return 0;
}

static int reserve(struct pprof_file *f, size_t len)
{
	uint8_t *more;

	if (len <= f->max_packed)
		return 0;
	more = realloc(f->packed, 2 * len);
	if (!more)
		return -ENOMEM;
	f->packed = more;
	f->max_packed = 2 * len;
	return 0;
}

void pprof_file__put(struct pprof_file *f, const Pprof__Profile *part)
{
	size_t len = pprof__profile__get_packed_size(part);

	if (!f->err && len > INT32_MAX)
		f->err = -EFBIG;
	if (!f->err)
		f->err = reserve(f, len);
	if (f->err || !len)
		return;
	pprof__profile__pack(part, f->packed);
	errno = 0;
	if (gzwrite(f->gz, f->packed, len) != (int)len)
		f->err = errno ? -errno : -EIO;
}

static void put_strings(struct pprof_file *f)
{
	char *strings[STRINGS_AT_ONCE];
	uint32_t i, nr = 0;

	for (i = 0; i < f->strings.nr; i++) {
		Pprof__Profile part = PPROF__PROFILE__INIT;

		strings[nr++] = f->strings.v[i].s;
		if (nr < STRINGS_AT_ONCE && i + 1 < f->strings.nr)
			continue;
		part.string_table = strings;
		part.n_string_table = nr;
		pprof_file__put(f, &part);
		nr = 0;
	}
}

int pprof_file__finish(struct pprof_file *f)
{
	put_strings(f);
	errno = 0;
	if (gzclose(take_ptr(f->gz)) != Z_OK && !f->err)
		f->err = errno ? -errno : -EIO;
	return f->err;
}
