/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fuzz target: a perf-PID.map and a jitdump, added to one table.  Input: the length of the map as a
 * u16, the map, the dump.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/jit_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(const uint8_t *data, size_t size)
{
	static int fd;

	if (!fd)
		fd = memfd_create("jit", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	return fd;
}

/* The answer must be the last function that was added at the address. */
static void check_find(const struct jit_symbols *s, uint64_t addr)
{
	const struct jit_function *last = NULL;
	struct elf_symbol found;

	for (size_t i = 0; i < s->nr; i++) {
		if (s->v[i].start <= addr && addr < s->v[i].end)
			last = &s->v[i];
	}
	if (last && last->name == JIT_NO_NAME)
		last = NULL;
	if (jit_symbols__find(s, addr, &found)) {
		if (last)
			abort();
		return;
	}
	if (!last || found.start != last->start || found.size != last->end - last->start ||
	    found.name != s->names + last->name || strlen(found.name) > JIT_MAX_NAME)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_symbols *s;
	size_t map_len;

	if (size < 2)
		return 0;
	map_len = data[0] | data[1] << 8;
	data += 2;
	size -= 2;
	if (map_len > size)
		return 0;
	if (jit_symbols__new(&s) || jit_symbols__add_map(s, file_of(data, map_len)))
		abort();
	jit_symbols__add_dump(s, file_of(data + map_len, size - map_len));
	for (size_t i = 0; i < s->nr && i < 64; i++) {
		check_find(s, s->v[i].start - 1);
		check_find(s, s->v[i].start);
		check_find(s, s->v[i].end - 1);
		check_find(s, s->v[i].end);
	}
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].frames.len > s->frames_len - s->v[i].frames.at)
			abort();
	jit_symbols__free(s);
	return 0;
}
