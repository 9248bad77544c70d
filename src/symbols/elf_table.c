// SPDX-License-Identifier: GPL-2.0-only
/* Collects the functions of a file, merges aliases and completes sizes. */
#include "elf_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"

#define MAX_COMPARE 4096 /* bytes of two names; hostile tables share megabytes of name */

int elf_source__from_fd(int fd, int debug_fd, struct elf_source *ret_source)
{
	_cleanup_(elf_source__done) struct elf_source s = { 0 };
	int err = elf_file__from_fd(fd, &s.exe);

	if (!err)
		err = elf_part__optional(elf_file__load_sections(&s.exe));
	if (!err && debug_fd >= 0) {
		err = elf_file__from_fd(debug_fd, &s.debug);
		s.has_debug = !err;
		err = elf_part__optional(err ?: elf_file__load_sections(&s.debug));
	}
	if (err)
		return err;
	*ret_source = s;
	s = (struct elf_source){ 0 };
	return 0;
}

int elf_source__from_image(const void *image, size_t len, struct elf_source *ret_source)
{
	_cleanup_(elf_source__done) struct elf_source s = { 0 };
	int err = elf_file__from_image(image, len, &s.exe);

	if (!err)
		err = elf_part__optional(elf_file__load_sections(&s.exe));
	if (err)
		return err;
	*ret_source = s;
	s = (struct elf_source){ 0 };
	return 0;
}

void elf_source__done(struct elf_source *s)
{
	elf_file__done(&s->exe);
	elf_file__done(&s->debug);
}

int elf_table__add(struct elf_symbols *s, const struct elf_function *function)
{
	if (s->nr == ELF_TABLE_MAX_FUNCTIONS)
		return -EFBIG;
	if (array__grow(&s->v, s->nr, &s->cap))
		return -ENOMEM;
	s->v[s->nr++] = *function;
	return 0;
}

int elf_table__add_names(struct elf_symbols *s, size_t len, uint32_t *ret_base)
{
	char *names;

	if (len > ELF_FILE_MAX_LOAD || s->names_len + len > 2 * (uint64_t)ELF_FILE_MAX_LOAD)
		return -EFBIG;
	names = realloc(s->names, s->names_len + len + 1);
	if (!names)
		return -ENOMEM;
	names[s->names_len + len] = '\0';
	*ret_base = s->names_len;
	s->names = names;
	s->names_len += len + 1;
	return 0;
}

/* Negative if a is the better name. */
static int name_compare(const struct elf_symbols *s, const struct elf_function *a,
			const struct elf_function *b)
{
	int by_name;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	by_name = strncmp(s->names + a->name, s->names + b->name, MAX_COMPARE);
	if (by_name)
		return by_name;
	return CMP(a->name, b->name);
}

/* By start; then the longest first, functions without a size last; then the better name. */
static int function_compare(const void *pa, const void *pb, void *ctx)
{
	const struct elf_function *a = pa, *b = pb;

	return CMP(a->start, b->start) ?: CMP(b->size, a->size) ?: name_compare(ctx, a, b);
}

/*
 * Keeps one function per start and size.  An alias without a size gets the size of the longest, as
 * it cannot be meant to be shorter.
 */
static void merge_aliases(struct elf_symbols *s)
{
	size_t first = 0, to = 0;

	for (size_t i = 0; i < s->nr; i++) {
		const struct elf_function f = s->v[i];

		if (!i || f.start != s->v[first].start) {
			first = to;
			s->v[to++] = f;
		} else if (!f.size && name_compare(s, &f, &s->v[first]) < 0) {
			s->v[first].name = f.name;
			s->v[first].rank = f.rank;
		} else if (f.size && f.size != s->v[to - 1].size) {
			s->v[to++] = f;
		}
	}
	s->nr = to;
}

/* Functions without a size extend to the next one, but not beyond the function around them. */
static void set_sizes(struct elf_symbols *s)
{
	uint64_t known_end = 0;

	for (size_t i = 0; i < s->nr; i++) {
		struct elf_function *f = &s->v[i];
		uint64_t end = f->start + f->size;

		if (!f->size) {
			end = f->start + f->limit;
			if (f->start < known_end)
				end = MIN(end, known_end);
			if (i + 1 < s->nr)
				end = MIN(end, f[1].start);
			f->size = end - f->start;
		} else {
			known_end = MAX(known_end, end);
		}
	}
}

/* Labels are kept only outside of functions. */
static void drop_labels(struct elf_symbols *s)
{
	uint64_t end = 0;
	size_t to = 0;

	for (size_t i = 0; i < s->nr; i++) {
		struct elf_function f = s->v[i];
		bool label = f.rank & ELF_RANK_LABEL;

		if (!f.size || (label && f.start < end))
			continue;
		if (!label)
			end = MAX(end, f.start + f.size);
		s->v[to++] = f;
	}
	s->nr = to;
}

/*
 * Links each function to the innermost one around it.  A function that ends no later than this one
 * cannot contain anything that this one does not.
 */
static void link_outer(struct elf_symbols *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct elf_function *f = &s->v[i];
		uint32_t outer = i;

		while (outer && s->v[outer - 1].start + s->v[outer - 1].size <= f->start + f->size)
			outer = s->v[outer - 1].outer;
		f->outer = outer;
	}
}

void elf_table__finish(struct elf_symbols *s)
{
	struct elf_function *v;

	if (!s->nr)
		return;
	qsort_r(s->v, s->nr, sizeof(*s->v), function_compare, s);
	merge_aliases(s);
	set_sizes(s);
	drop_labels(s);
	link_outer(s);
	v = realloc(s->v, MAX(s->nr, (size_t)1) * sizeof(*v));
	if (v) {
		s->v = v;
		s->cap = s->nr;
	}
}
