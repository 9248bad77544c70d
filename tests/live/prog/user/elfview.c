// SPDX-License-Identifier: GPL-2.0-only
#include "elfview.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const void *at(const struct elfview *v, uint64_t off, uint64_t len)
{
	return off <= v->len && len <= v->len - off ? v->data + off : NULL;
}

static const Elf64_Ehdr *header(const struct elfview *v)
{
	return (const Elf64_Ehdr *)v->data;
}

static const Elf64_Phdr *segment(const struct elfview *v, unsigned int i)
{
	return at(v, header(v)->e_phoff + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr));
}

static const Elf64_Shdr *section(const struct elfview *v, unsigned int i)
{
	if (i >= header(v)->e_shnum)
		return NULL;
	return at(v, header(v)->e_shoff + i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

uint64_t elfview__offset(const struct elfview *v, uint64_t addr)
{
	const Elf64_Phdr *p;

	for (unsigned int i = 0; i < header(v)->e_phnum && (p = segment(v, i)); i++)
		if (p->p_type == PT_LOAD && addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz)
			return addr - p->p_vaddr + p->p_offset;
	return 0;
}

uint64_t elfview__address(const struct elfview *v, uint64_t off)
{
	const Elf64_Phdr *p;

	for (unsigned int i = 0; i < header(v)->e_phnum && (p = segment(v, i)); i++)
		if (p->p_type == PT_LOAD && p->p_flags & PF_X && off >= p->p_offset &&
		    off - p->p_offset < p->p_filesz)
			return off - p->p_offset + p->p_vaddr;
	return 0;
}

static void find_build_id(struct elfview *v)
{
	const Elf64_Phdr *p;

	for (unsigned int i = 0; i < header(v)->e_phnum && (p = segment(v, i)); i++) {
		uint64_t off = p->p_offset, end = p->p_offset + p->p_filesz;
		const Elf64_Nhdr *n;

		while (p->p_type == PT_NOTE && off < end && (n = at(v, off, sizeof(*n)))) {
			uint64_t desc = off + sizeof(*n) + ((n->n_namesz + 3) & ~3ull);

			if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
			    n->n_descsz <= sizeof(v->id) && at(v, desc, n->n_descsz) &&
			    !memcmp(at(v, off + sizeof(*n), 4), "GNU", 4)) {
				v->id_len = n->n_descsz;
				memcpy(v->id, at(v, desc, n->n_descsz), n->n_descsz);
				return;
			}
			off = desc + ((n->n_descsz + 3) & ~3ull);
		}
	}
}

static void add_function(struct elfview *v, const char *name, uint64_t start, uint64_t size)
{
	if (!(v->nr_functions & (v->nr_functions - 1))) {
		size_t n = v->nr_functions ? v->nr_functions * 2 : 1;

		v->functions = realloc(v->functions, n * sizeof(*v->functions));
		if (!v->functions)
			abort();
	}
	v->functions[v->nr_functions++] = (struct elfview_function){ name, start, size };
}

static void add_table(struct elfview *v, const Elf64_Shdr *s)
{
	const Elf64_Shdr *strings = section(v, s->sh_link);
	uint64_t i;

	for (i = 0; strings && i < s->sh_size / sizeof(Elf64_Sym); i++) {
		const Elf64_Sym *sym = at(v, s->sh_offset + i * sizeof(*sym), sizeof(*sym));
		uint64_t off;

		if (!sym)
			return;
		off = elfview__offset(v, sym->st_value);
		if ((ELF64_ST_TYPE(sym->st_info) == STT_FUNC ||
		     ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC) &&
		    sym->st_shndx != SHN_UNDEF && off && sym->st_name < strings->sh_size &&
		    at(v, strings->sh_offset, strings->sh_size))
			add_function(v, at(v, strings->sh_offset + sym->st_name, 1), off,
				     sym->st_size);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct elfview_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void find_sections(struct elfview *v)
{
	const Elf64_Shdr *names = section(v, header(v)->e_shstrndx), *s, *symtab = NULL,
			 *dynsym = NULL;

	for (unsigned int i = 0; (s = section(v, i)); i++) {
		const char *name = names ? at(v, names->sh_offset + s->sh_name, 8) : NULL;

		if (s->sh_type == SHT_SYMTAB)
			symtab = s;
		if (s->sh_type == SHT_DYNSYM)
			dynsym = s;
		if (name && !strncmp(name, ".plt", 4) && v->nr_plts < 4) {
			v->plt_start[v->nr_plts] = s->sh_offset;
			v->plt_end[v->nr_plts++] = s->sh_offset + s->sh_size;
		}
	}
	if (symtab)
		add_table(v, symtab);
	else if (dynsym)
		add_table(v, dynsym);
	if (v->nr_functions)
		qsort(v->functions, v->nr_functions, sizeof(*v->functions), by_start);
}

struct elfview *elfview__from_fd(int fd, const char *path)
{
	struct elfview *v = calloc(1, sizeof(*v));
	struct stat st;

	if (!v || fstat(fd, &st) || (size_t)st.st_size < sizeof(Elf64_Ehdr)) {
		free(v);
		return NULL;
	}
	v->path = strdup(path);
	v->dev = st.st_dev;
	v->ino = st.st_ino;
	v->len = st.st_size;
	v->data = mmap(NULL, v->len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (v->data == MAP_FAILED || memcmp(v->data, ELFMAG, SELFMAG) ||
	    v->data[EI_CLASS] != ELFCLASS64) {
		elfview__free(v);
		return NULL;
	}
	find_build_id(v);
	find_sections(v);
	return v;
}

struct elfview *elfview__open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elfview *v;

	if (fd < 0)
		return NULL;
	v = elfview__from_fd(fd, path);
	close(fd);
	return v;
}

void elfview__free(struct elfview *v)
{
	if (!v)
		return;
	if (v->data && v->data != MAP_FAILED)
		munmap(v->data, v->len);
	free(v->functions);
	free(v->path);
	free(v);
}

const struct elfview_function *elfview__named(const struct elfview *v, const char *name)
{
	for (size_t i = 0; i < v->nr_functions; i++)
		if (!strcmp(v->functions[i].name, name))
			return &v->functions[i];
	return NULL;
}

/* The cold part of a function is elsewhere, as "NAME.cold". */
static const struct elfview_function *whole(const struct elfview *v,
					    const struct elfview_function *f)
{
	const char *cold = strstr(f->name, ".cold");
	char name[512];
	const struct elfview_function *of;

	if (!cold || cold - f->name >= (ptrdiff_t)sizeof(name))
		return f;
	memcpy(name, f->name, cold - f->name);
	name[cold - f->name] = 0;
	of = elfview__named(v, name);
	while (of && of > v->functions && of[-1].start == of->start)
		of--;
	return of ? of : f;
}

bool elfview__in_plt(const struct elfview *v, uint64_t off)
{
	for (unsigned int i = 0; i < v->nr_plts; i++)
		if (off >= v->plt_start[i] && off < v->plt_end[i])
			return true;
	return false;
}

const struct elfview_function *elfview__function(const struct elfview *v, uint64_t off)
{
	const struct elfview_function *f;
	size_t lo = 0, hi = v->nr_functions;

	if (elfview__in_plt(v, off))
		return NULL;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (v->functions[mid].start <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	f = &v->functions[lo - 1];
	while (f > v->functions && f[-1].start == f->start)
		f--;
	if (f->size && off - f->start >= f->size)
		return NULL;
	return whole(v, f);
}

/* FF /2: length of the instruction by its ModRM byte, 0 if it is not a call. */
static unsigned int indirect_call_len(const uint8_t *p)
{
	uint8_t mod = p[1] >> 6, rm = p[1] & 7;
	unsigned int len = 2;

	if (p[0] != 0xff || (p[1] >> 3 & 7) != 2)
		return 0;
	if (mod == 3)
		return len;
	if (rm == 4)
		len++;
	if (mod == 1)
		len += 1;
	else if (mod == 2 || (!mod && rm == 5) || (!mod && rm == 4 && (p[2] & 7) == 5))
		len += 4;
	return len;
}

bool elfview__after_call(const struct elfview *v, uint64_t off, uint64_t *ret_target)
{
	const uint8_t *p;
	int32_t rel;

	*ret_target = 0;
	p = off >= 5 ? at(v, off - 5, 5) : NULL;
	if (p && p[0] == 0xe8) {
		memcpy(&rel, p + 1, 4);
		*ret_target = elfview__offset(v, elfview__address(v, off - 1) + 1 + rel);
		if (*ret_target)
			return true;
	}
	for (unsigned int len = 2; len <= 7 && len <= off; len++) {
		p = at(v, off - len, len);
		if (p && indirect_call_len(p) == len)
			return true;
	}
	return false;
}
