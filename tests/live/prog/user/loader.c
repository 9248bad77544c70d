// SPDX-License-Identifier: GPL-2.0-only
#include "loader.h"

#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elfview.h"
#include "tag.h"

#define PAGE 4096ull

static void take_segments(struct loader *l, const struct elfview *v)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)v->data;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(v->data + h->e_phoff);

	for (unsigned int i = 0; i < h->e_phnum && l->nr < 8; i++) {
		uint64_t skew = p[i].p_vaddr & (PAGE - 1);

		if (p[i].p_type != PT_LOAD)
			continue;
		l->segments[l->nr].addr = p[i].p_vaddr - skew;
		l->segments[l->nr].off = p[i].p_offset - skew;
		l->segments[l->nr].len = (p[i].p_filesz + skew + PAGE - 1) & ~(PAGE - 1);
		l->segments[l->nr].prot = (p[i].p_flags & PF_R ? PROT_READ : 0) |
					  (p[i].p_flags & PF_W ? PROT_WRITE : 0) |
					  (p[i].p_flags & PF_X ? PROT_EXEC : 0);
		l->nr++;
	}
}

void loader__open(struct loader *l, const char *layout, const char *contents)
{
	struct elfview *v = elfview__open(layout);
	const struct elfview_function *enter = v ? elfview__named(v, "tag_enter") : NULL;

	if (!enter)
		errx(1, "'%s' is not a tagged library", layout);
	memset(l, 0, sizeof(*l));
	l->enter = elfview__address(v, enter->start);
	take_segments(l, v);
	elfview__free(v);
	l->fd = open(contents, O_RDONLY | O_CLOEXEC);
	if (l->fd < 0)
		err(1, "open '%s'", contents);
}

void loader__close(struct loader *l)
{
	close(l->fd);
}

static void must_be(void *got, void *wanted)
{
	if (got != wanted)
		err(1, "mapping at %p", wanted);
}

loader_fn loader__map(const struct loader *l, char *base)
{
	for (uint64_t i = 0; i < l->nr; i++)
		must_be(mmap(base + l->segments[i].addr, l->segments[i].len, l->segments[i].prot,
			     MAP_PRIVATE | MAP_FIXED, l->fd, (off_t)l->segments[i].off),
			base + l->segments[i].addr);
	return (loader_fn)(uintptr_t)(base + l->enter);
}

loader_fn loader__copy(const struct loader *l, char *base, uint64_t tag)
{
	must_be(mmap(base, LOADER_SPAN, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		base);
	for (uint64_t i = 0; i < l->nr; i++)
		if (pread(l->fd, base + l->segments[i].addr, l->segments[i].len,
			  (off_t)l->segments[i].off) < 0)
			err(1, "read a library");
	if (tag__set(base, LOADER_SPAN, tag) || mprotect(base, LOADER_SPAN, PROT_READ | PROT_EXEC))
		err(1, "make a copy executable");
	return (loader_fn)(uintptr_t)(base + l->enter);
}

loader_fn loader__move(const struct loader *l, char *base, char *to)
{
	for (uint64_t i = 0; i < l->nr; i++)
		must_be(mremap(base + l->segments[i].addr, l->segments[i].len, l->segments[i].len,
			       MREMAP_MAYMOVE | MREMAP_FIXED, to + l->segments[i].addr),
			to + l->segments[i].addr);
	return (loader_fn)(uintptr_t)(to + l->enter);
}

void loader__protect(const struct loader *l, char *base)
{
	for (uint64_t i = 0; i < l->nr; i++) {
		if (!(l->segments[i].prot & PROT_EXEC))
			continue;
		if (mprotect(base + l->segments[i].addr, l->segments[i].len,
			     PROT_READ | PROT_WRITE) ||
		    mprotect(base + l->segments[i].addr, l->segments[i].len, PROT_READ | PROT_EXEC))
			err(1, "mprotect");
	}
}
