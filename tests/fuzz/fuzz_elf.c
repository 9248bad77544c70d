/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: symbols and build id of an ELF file, with MiniDebugInfo and a debug file.  Input: a
 * byte of flags (1: read from a file, 2: with a debug file, whose length follows as a u16), the
 * debug file, the file.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/elf_table.h"
#include "symbols/usyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(int *fd, const uint8_t *data, size_t size)
{
	if (!*fd)
		*fd = memfd_create("elf", MFD_CLOEXEC);
	if (*fd < 0 || ftruncate(*fd, 0) || pwrite(*fd, data, size, 0) != (ssize_t)size)
		abort();
}

static int read_symbols(uint8_t flags, const uint8_t *debug, size_t debug_len, const uint8_t *data,
			size_t size, struct elf_symbols **ret_symbols)
{
	static int fd, debug_fd;

	if (!(flags & 3))
		return elf_symbols__from_image(data, size, ret_symbols);
	fill(&fd, data, size);
	if (flags & 2)
		fill(&debug_fd, debug, debug_len);
	return elf_symbols__from_fd(fd, flags & 2 ? debug_fd : -1, ret_symbols);
}

static void check_find(const struct elf_symbols *s, uint64_t offset)
{
	struct elf_symbol found;

	if (elf_symbols__find(s, offset, &found))
		return;
	if (offset < found.start || offset - found.start >= found.size)
		abort();
	if (found.name < s->names || found.name + strlen(found.name) >= s->names + s->names_len)
		abort();
}

/* The table is sorted, and every answer covers the requested offset. */
static void check(const struct elf_symbols *s, size_t size)
{
	if (!s->nr)
		abort();
	for (size_t i = 0; i < s->nr; i++) {
		const struct elf_function *f = &s->v[i];

		if (!f->size || f->outer > i || f->name >= s->names_len ||
		    f->start + f->size > size)
			abort();
		if (i &&
		    (f->start < f[-1].start || (f->start == f[-1].start && f->size >= f[-1].size)))
			abort();
		check_find(s, f->start);
		check_find(s, f->start + f->size - 1);
		check_find(s, f->start + f->size);
	}
	check_find(s, 0);
	check_find(s, UINT64_MAX);
	free(demangle(s->names + s->v[0].name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_symbols *s;
	size_t debug_len = 0;
	unsigned int len;
	uint8_t id[64], flags;

	if (size < 3)
		return 0;
	flags = data[0];
	if (flags & 2)
		debug_len = data[1] | data[2] << 8;
	data += 3;
	size -= 3;
	if (debug_len > size)
		return 0;
	if (!read_symbols(flags, data, debug_len, data + debug_len, size - debug_len, &s)) {
		check(s, size - debug_len);
		elf_symbols__free(s);
	}
	if (!elf_build_id__from_image(data, size, id, &len) && (!len || len > sizeof(id)))
		abort();
	return 0;
}
