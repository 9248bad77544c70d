// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwind tables.  The first byte of the input selects the type of the rest: an ELF file, an image
 * as the loader maps it, or one section of a file that is otherwise valid.  If a table is built
 * from it, the table must be valid and small.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/unwind/image.h"
#include "unwind/unwind.h"

#define CODE_LEN 0x3000
#define LIBC_LEN 0x400
#define HEADER_LEN 12

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_IMAGE, FILE_FD, MAPPED, EH_FRAME, DEBUG_FRAME, COMPRESSED, GO, CODE, NR_KINDS };

static void check(int ok)
{
	if (!ok)
		abort();
}

static void check_rule(const struct unwind_table *t, uint32_t rule)
{
	if (!(rule & UNW_ESCAPE))
		return;
	rule &= UNW_ESCAPE - 1;
	check(rule <= UNW_SIGNAL ||
	      (rule >= UNW_ESCAPE_RULES && rule - UNW_ESCAPE_RULES < t->nr_rules));
}

static void check_rules(const struct unwind_table *t)
{
	uint64_t r;

	check(t->rules % 2 == 0 && t->rules + 2 * t->nr_rules <= t->nr_words);
	for (uint32_t i = 0; i < t->nr_rules; i++) {
		memcpy(&r, t->words + t->rules + 2 * i, sizeof(r));
		check(UNW_RULE_CFA(r) <= UNW_CFA_FORK);
	}
}

static void check_page(const struct unwind_table *t, uint32_t page)
{
	uint64_t off = (uint64_t)(t->first_page + page) << UNW_PAGE_SHIFT;
	uint64_t entry = ((const uint64_t *)t->words)[page];
	uint32_t first = (uint32_t)entry, nr = (uint32_t)(entry >> 32) & 0xffff;

	check(!(entry >> 48) && nr && first >= 2 * t->nr_pages && first + nr <= t->rules);
	check(first / UNW_CHUNK_WORDS == (first + nr - 1) / UNW_CHUNK_WORDS);
	check(!UNW_ROW_OFF(t->words[first]));
	for (uint32_t i = first; i < first + nr; i++) {
		uint32_t rule = UNW_ROW_RULE(t->words[i]), at = UNW_ROW_OFF(t->words[i]);

		check_rule(t, rule);
		check(i == first || at > UNW_ROW_OFF(t->words[i - 1]));
		check(unwind__find(t, off + at) == rule);
	}
}

/* Bounds of a table: an entry and a row per page, and a row per byte of unwind information. */
static void check_table(struct unwind_table *t, size_t size)
{
	check(t->nr_words <= 4ull * t->nr_pages + 8 * size + UNW_CHUNK_WORDS + 64);
	check_rules(t);
	for (uint32_t i = 0; i < t->nr_pages; i++)
		check_page(t, i);
	unwind__free(t);
}

static void try_image(const uint8_t *bytes, size_t len, bool mapped, size_t size)
{
	struct unwind_table *t;

	if (!unwind__from_image(bytes, len, mapped, &t))
		check_table(t, size);
}

static void try_fd(const uint8_t *bytes, size_t len)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct unwind_table *t;

	if (fd < 0)
		return;
	if (write(fd, bytes, len) == (ssize_t)len && !unwind__from_fd(fd, &t))
		check_table(t, len);
	close(fd);
}

/* A copy of the exact size, so that the sanitizer detects a read past the end. */
static void try_whole(const uint8_t *data, size_t size, int kind)
{
	uint8_t *copy = malloc(size + !size);

	if (!copy)
		return;
	memcpy(copy, data, size);
	if (kind == FILE_FD)
		try_fd(copy, size);
	else
		try_image(copy, size, kind == MAPPED, size);
	free(copy);
}

static void try_built(struct image *im, size_t size)
{
	image__build(im);
	if (size % 8 == 5)
		try_fd(im->bytes, im->len);
	else
		try_image(im->bytes, im->len, false, size + im->code_len);
	free(im->bytes);
}

/* .eh_frame found by its section, or by the program header only. */
static void try_eh_frame(const uint8_t *data, size_t size)
{
	struct image im = { .code_len = CODE_LEN };
	uint8_t hdr[HEADER_LEN] = { 1, 0x1b, 0x03, 0x3b };
	uint32_t rel;

	image__add(&im, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, data, size);
	image__add(&im, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, hdr, sizeof(hdr));
	rel = (uint32_t)(image__addr(&im, 0) - image__addr(&im, 1) - 4);
	memcpy(hdr + 4, &rel, 4);
	memset(hdr + 8, 0x7f, 4);
	im.hdr = size & 1;
	im.stripped = im.hdr && size & 2;
	try_built(&im, size);
}

static void try_section(const char *name, uint64_t flags, const uint8_t *data, size_t size)
{
	struct image im = { .code_len = CODE_LEN };

	image__add(&im, name, SHT_PROGBITS, flags, data, size);
	try_built(&im, size);
}

/* The code of a libc without tables, and two of its symbols. */
static void try_code(const uint8_t *data, size_t size)
{
	static const char names[] = "\0__libc_start_main";
	static uint8_t code[LIBC_LEN];
	Elf64_Sym syms[3] = { { 0 } };
	struct image im = { .code = code, .code_len = LIBC_LEN, .entry = IMAGE_CODE + 0x10 };

	size = size < LIBC_LEN ? size : LIBC_LEN;
	memset(code, 0xcc, sizeof(code));
	memcpy(code, data, size);
	syms[1] = (Elf64_Sym){
		.st_name = 1, .st_info = STT_FUNC, .st_shndx = 3, .st_value = IMAGE_CODE
	};
	syms[2] = syms[1];
	syms[1].st_size = size / 2;
	syms[2].st_value += size / 2;
	image__add(&im, ".dynstr", SHT_STRTAB, SHF_ALLOC, names, sizeof(names));
	image__add(&im, ".dynsym", SHT_DYNSYM, SHF_ALLOC, syms, sizeof(syms));
	im.sections[1].link = 1;
	image__add_code(&im, ".text");
	try_built(&im, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	size--;
	switch (*data++ % NR_KINDS) {
	case EH_FRAME:
		try_eh_frame(data, size);
		break;
	case DEBUG_FRAME:
		try_section(".debug_frame", 0, data, size);
		break;
	case COMPRESSED:
		try_section(size & 1 ? ".zdebug_frame" : ".debug_frame",
			    size & 1 ? 0 : SHF_COMPRESSED, data, size);
		break;
	case GO:
		try_section(".gopclntab", SHF_ALLOC, data, size);
		break;
	case CODE:
		try_code(data, size);
		break;
	default:
		try_whole(data, size, data[-1] % NR_KINDS);
		break;
	}
	return 0;
}
