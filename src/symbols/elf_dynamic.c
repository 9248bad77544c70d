// SPDX-License-Identifier: GPL-2.0-only
/* The dynamic segment gives the place and number of symbols in a file without section headers. */
#include "elf_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define MAX_DYNAMIC 4096 /* entries that are read */
#define CHUNK 1024

struct dynamic {
	uint64_t symtab, strtab, strsz, hash, gnu_hash; /* addresses and a size; 0: absent */
};

static int dynamic_read(const struct elf_file *f, const Elf64_Phdr *phdr, struct dynamic *ret)
{
	size_t word = f->is64 ? 8 : 4;
	uint64_t nr = MIN(phdr->p_filesz / (2 * word), (uint64_t)MAX_DYNAMIC);
	_cleanup_free_ char *raw = NULL;
	int err = elf_file__load(f, phdr->p_offset, nr * 2 * word, &raw);

	for (uint64_t i = 0; i < nr && !err; i++) {
		uint64_t tag = 0, value = 0;

		memcpy(&tag, raw + 2 * i * word, word);
		memcpy(&value, raw + (2 * i + 1) * word, word);
		if (tag == DT_NULL)
			break;
		if (tag == DT_SYMTAB)
			ret->symtab = value;
		else if (tag == DT_STRTAB)
			ret->strtab = value;
		else if (tag == DT_STRSZ)
			ret->strsz = value;
		else if (tag == DT_HASH)
			ret->hash = value;
		else if (tag == DT_GNU_HASH)
			ret->gnu_hash = value;
	}
	return err;
}

/* A chain ends with an odd word; the end of the last symbol's chain is the end of the table. */
static int chain_end(const struct elf_file *f, uint64_t off, uint64_t end, uint64_t *ret_nr)
{
	uint32_t chunk[CHUNK];
	uint64_t nr = 0;

	while (off < end) {
		size_t len = MIN((end - off) / 4, (uint64_t)CHUNK);

		if (!len || elf_file__read(f, off, chunk, len * 4))
			break;
		for (size_t i = 0; i < len; i++) {
			nr++;
			if (chunk[i] & 1) {
				*ret_nr = nr;
				return 0;
			}
		}
		off += len * 4;
	}
	return -ENOENT;
}

/* DT_GNU_HASH: the bucket with the highest index starts the last chain. */
static int count_gnu(const struct elf_file *f, uint64_t addr, uint64_t *ret_nr)
{
	uint32_t head[4] = { 0 }, *buckets, highest = 0; /* buckets, first symbol, bloom, shift */
	_cleanup_free_ char *raw = NULL;
	uint64_t off, end, nr;
	int err;

	if (!elf_file__offset(f, addr, &off, &end) || end - off < sizeof(head) ||
	    elf_file__read(f, off, head, sizeof(head)))
		return -ENOENT;
	off += sizeof(head) + (uint64_t)head[2] * (f->is64 ? 8 : 4);
	err = elf_file__load(f, off, (uint64_t)head[0] * 4, &raw);
	if (err)
		return err;
	buckets = (uint32_t *)raw;
	for (uint32_t i = 0; i < head[0]; i++)
		highest = MAX(highest, buckets[i]);
	if (highest < head[1]) {
		*ret_nr = head[1]; /* imports only */
		return 0;
	}
	off += (uint64_t)head[0] * 4 + (uint64_t)(highest - head[1]) * 4;
	err = chain_end(f, off, end, &nr);
	if (!err)
		*ret_nr = highest + nr;
	return err;
}

static int count_symbols(const struct elf_file *f, const struct dynamic *d, uint64_t *ret_nr)
{
	uint64_t off, end;
	uint32_t head[2] = { 0 }; /* buckets, chains: one per symbol */

	if (d->gnu_hash)
		return count_gnu(f, d->gnu_hash, ret_nr);
	if (!d->hash || !elf_file__offset(f, d->hash, &off, &end) || end - off < sizeof(head) ||
	    elf_file__read(f, off, head, sizeof(head)))
		return -ENOENT;
	*ret_nr = head[1];
	return 0;
}

int elf_dynamic__find_symbols(const struct elf_file *f, struct elf_dynsym *ret_dynsym)
{
	const Elf64_Phdr *phdr = NULL;
	struct elf_dynsym found;
	struct dynamic d = { 0 };
	uint64_t end, str_end;
	int err;

	for (unsigned int i = 0; i < f->nr_phdrs && !phdr; i++) {
		if (f->phdrs[i].p_type == PT_DYNAMIC)
			phdr = &f->phdrs[i];
	}
	if (!phdr)
		return -ENOENT;
	err = dynamic_read(f, phdr, &d);
	if (err)
		return err;
	if (!d.symtab || !d.strtab || !elf_file__offset(f, d.symtab, &found.off, &end) ||
	    !elf_file__offset(f, d.strtab, &found.str_off, &str_end))
		return -ENOENT;
	err = count_symbols(f, &d, &found.nr);
	if (err)
		return err;
	found.nr = MIN(found.nr, (end - found.off) / elf_file__sym_size(f));
	found.str_len = MIN(d.strsz, str_end - found.str_off);
	*ret_dynsym = found;
	return 0;
}
