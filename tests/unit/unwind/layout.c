// SPDX-License-Identifier: GPL-2.0-only
/* How functions are combined into a table, and how code is found in a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "frames.h"

static void overlapping(void **state)
{
	common_cie();
	fde(0x400, 64, BYTES(0x0e, 48)); /* not in order */
	fde(0x100, 0x100, BYTES(0x0e, 16, 0x02, 0x88, 0x0e, 56));
	fde(0x180, 0x20, BYTES(0x0e, 24)); /* inside another one, which ends here */
	fde(0x300, 64, BYTES(0x0e, 32));
	fde(0x300, 128, BYTES(0x0e, 40)); /* of two, the first */
	fde(0x500, 0, BYTES(0x0e, 40));
	make_eh();
	assert_rule(0x100, 0x180, SP(2, 0, 0));
	assert_rule(0x180, 0x1a0, SP(3, 0, 0));
	assert_rule(0x1a0, 0x300, NONE);
	assert_rule(0x300, 0x340, SP(4, 0, 0));
	assert_rule(0x400, 0x440, SP(6, 0, 0));
	assert_int_equal(rule_at(0x500), NONE);
}

static void padding(void **state)
{
	common_cie();
	fde(0x100, 0x39, BYTES(0x0e, 16));
	fde(0x140, 0x20, BYTES(0x0e, 24)); /* behind padding */
	fde(0x169, 0x17, BYTES(0x0e, 32)); /* a gap below 16 bytes, but before unaligned code */
	fde(0x190, 0x10, BYTES(0x0e, 40)); /* aligned, but a gap of 16 bytes may be a function */
	fde(0x1a0, 0x10, BYTES(0x0e, 48)); /* adjacent */
	make_eh();
	assert_rule(0x100, 0x140, SP(2, 0, 0));
	assert_rule(0x140, 0x160, SP(3, 0, 0));
	assert_rule(0x160, 0x169, NONE);
	assert_rule(0x169, 0x180, SP(4, 0, 0));
	assert_rule(0x180, 0x190, NONE);
	assert_rule(0x190, 0x1a0, SP(5, 0, 0));
	assert_rule(0x1a0, 0x1b0, SP(6, 0, 0));
}

static void outside_of_code(void **state)
{
	common_cie();
	fde(0x100, 64, BYTES(0x0e, 16));
	fde(0x10000000, 64, BYTES(0x0e, 24));
	fde(-0x401000ull, 64, BYTES(0x0e, 24)); /* a function that the linker dropped */
	fde(0x7000, 0x100000, BYTES(0x0e, 32)); /* cut at the end of the code */
	make_eh();
	assert_rule(0x100, 0x140, SP(2, 0, 0));
	assert_int_equal(rule_at(0x7000), SP(4, 0, 0));
	assert_int_equal(unwind__find(table, 0), NONE);
	assert_int_equal(unwind__find(table, UINT64_MAX), NONE);
}

/* Each page has a first row; a page that equals its neighbour costs nothing. */
static void pages(void **state)
{
	const uint64_t *entries;

	common_cie();
	fde(0x0ff0, 0x3020, BYTES(0x0e, 16, 0x03, 0x10, 0x20, 0x0e, 24));
	make_eh();
	entries = (const uint64_t *)table->words;
	assert_int_equal(table->nr_pages, 5);
	assert_rule(0xff0, 0x3000, SP(2, 0, 0));
	assert_rule(0x3000, 0x4010, SP(3, 0, 0));
	assert_int_equal(entries[0] >> 32, 2);
	assert_int_equal(entries[1], entries[2]);
	assert_int_equal(entries[1] >> 32, 1);
	assert_int_equal(entries[3] >> 32, 1);
	assert_int_equal(entries[4] >> 32, 2);
	assert_int_equal(table->words[(uint32_t)entries[3]], UNW_ROW(0, SP(3, 0, 0)));
}

/* The maximum number of rows: one for each byte of code. */
static void chunks(void **state)
{
	const unsigned int nr = 4096 * (CODE_PAGES - 1);
	static uint8_t insns[3 * 4096 * CODE_PAGES];
	uint64_t entry;

	for (unsigned int i = 0; i < nr; i++)
		memcpy(insns + 3 * i, (const uint8_t[]){ 0x0e, (i & 1 ? 16 : 24), 0x41 }, 3);
	common_cie();
	fde(0x10, nr, insns, 3 * nr);
	make_eh();
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(rule_at(0x10 + i), SP(i & 1 ? 2 : 3, 0, 0));
	assert_int_equal(rule_at(0x10 + nr), NONE);
	assert_true(table->nr_words > UNW_CHUNK_WORDS);
	for (uint32_t p = 0; p < table->nr_pages; p++) {
		entry = ((const uint64_t *)table->words)[p];
		assert_int_equal((uint32_t)entry / UNW_CHUNK_WORDS,
				 ((uint32_t)entry + (entry >> 32) - 1) / UNW_CHUNK_WORDS);
	}
}

/* More rules of 64 bits than the initial hash has room for. */
static void many_rules(void **state)
{
	uint8_t insns[6 * 500];

	for (unsigned int i = 0; i < 500; i++)
		memcpy(insns + 6 * i,
		       (const uint8_t[]){ 0x0e, (uint8_t)(0x81 | i << 1), (uint8_t)(i >> 6), 0x41,
					  0, 0 },
		       6);
	common_cie();
	fde(0x100, 0x1000, insns, sizeof(insns));
	fde(0x2000, 0x1000, insns, sizeof(insns));
	make_eh();
	assert_int_equal(table->nr_rules, 500);
	for (unsigned int i = 0; i < 500; i++) {
		assert_int_equal(UNW_RULE_OFF(wide_at(0x100 + i)),
				 (1 | (i << 1 & 0x7f)) | i >> 6 << 7);
		assert_int_equal(wide_at(0x100 + i), wide_at(0x2000 + i));
	}
}

/* ---- finding sections ------------------------------------------------------------------------ */

static void hdr_bytes(uint8_t *to, uint64_t eh_addr, uint64_t hdr_addr, uint32_t count)
{
	uint32_t rel = (uint32_t)(eh_addr - (hdr_addr + 4));

	memcpy(to, (const uint8_t[]){ 1, 0x1b, 0x03, 0x3b }, 4);
	memcpy(to + 4, &rel, 4);
	memcpy(to + 8, &count, 4);
}

/* Without section headers: the program header gives the start, the count or a zero the end. */
static void by_program_header(void **state)
{
	struct image im = { .code_len = CODE_PAGES * 4096, .hdr = true, .stripped = true };
	uint8_t hdr[12];

	common_cie();
	fde(0x100, 64, BYTES(0x0e, 16));
	fde(0x200, 64, BYTES(0x0e, 24));
	put_uint(section, 0, 4);
	fde(0x300, 64, BYTES(0x0e, 32));
	image__add(&im, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, section->v, section->len);
	image__add(&im, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, hdr, sizeof(hdr));
	hdr_bytes(hdr, image__addr(&im, 0), image__addr(&im, 1), 3);
	assert_int_equal(make(&im), 0);
	assert_rule(0x100, 0x140, SP(2, 0, 0));
	assert_rule(0x200, 0x240, SP(3, 0, 0));
	assert_int_equal(rule_at(0x300), NONE);
	hdr_bytes(hdr, image__addr(&im, 0), image__addr(&im, 1), 1);
	assert_int_equal(make(&im), 0);
	assert_int_equal(rule_at(0x200), NONE);
	/* section headers take precedence */
	im.stripped = false;
	assert_int_equal(make(&im), 0);
	assert_rule(0x300, 0x340, SP(4, 0, 0));
}

/* Addresses relative to the header. */
static void datarel(void **state)
{
	struct image im = { .code_len = CODE_PAGES * 4096, .hdr = true };
	uint8_t hdr[12];
	int32_t rel;

	cie_full("zR", BYTES(0x3b), BYTES(COMMON));
	fde_enc(0x0b, 0x100, 64, BYTES(0x0e, 16));
	image__add(&im, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, section->v, section->len);
	image__add(&im, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, hdr, sizeof(hdr));
	hdr_bytes(hdr, image__addr(&im, 0), image__addr(&im, 1), 1);
	rel = (int32_t)(IMAGE_CODE + 0x100 - image__addr(&im, 1));
	memcpy(section->v + section->cie + 24 + 8, &rel, 4);
	assert_int_equal(make(&im), 0);
	assert_rule(0x100, 0x140, SP(2, 0, 0));
}

/* As the loader maps it: without a segment, bytes are not accessible. */
static void mapped(void **state)
{
	struct image im = { .code_len = CODE_PAGES * 4096, .hdr = true };
	uint8_t hdr[12];
	Elf64_Phdr ph;

	common_cie();
	fde(0x100, 64, BYTES(0x41, 0x0e, 16));
	image__add(&im, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, section->v, section->len);
	image__add(&im, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, hdr, sizeof(hdr));
	hdr_bytes(hdr, image__addr(&im, 0), image__addr(&im, 1), 1);
	image__build(&im);
	/* the headers' page is mapped with the code, which has another offset in the file */
	memcpy(&ph, im.bytes + sizeof(Elf64_Ehdr), sizeof(ph));
	ph.p_vaddr -= IMAGE_CODE_OFFSET;
	ph.p_filesz += IMAGE_CODE_OFFSET;
	ph.p_offset = 0x7000;
	memcpy(im.bytes + sizeof(Elf64_Ehdr), &ph, sizeof(ph));
	assert_int_equal(unwind__from_image(im.bytes, im.len, true, &table), 0);
	assert_int_equal(unwind__find(table, 0x7000 + IMAGE_CODE_OFFSET + 0x100), SP(1, 0, 0));
	assert_int_equal(unwind__find(table, 0x7000 + IMAGE_CODE_OFFSET + 0x101), SP(2, 0, 0));
	free(im.bytes);
}

static void no_unwind_information(void **state)
{
	struct image im = { .code_len = 4096 };

	assert_int_equal(make(&im), -ENOENT);
	image__build(&im);
	im.bytes[EI_CLASS] = ELFCLASS32;
	assert_int_equal(unwind__from_image(im.bytes, im.len, false, &table), -ENOEXEC);
	im.bytes[EI_CLASS] = ELFCLASS64;
	im.bytes[18] = EM_AARCH64;
	assert_int_equal(unwind__from_image(im.bytes, im.len, false, &table), -ENOEXEC);
	im.bytes[18] = EM_X86_64;
	im.bytes[16] = ET_REL;
	assert_int_equal(unwind__from_image(im.bytes, im.len, false, &table), -ENOEXEC);
	assert_int_equal(unwind__from_image(im.bytes, 20, false, &table), -ENOEXEC);
	free(im.bytes);
	assert_null(table);
	unwind__free(NULL);
}

/* Wherever a file is cut off, the result is a table or an error, and its rows are right. */
static void cut_off(void **state)
{
	struct image im = { .code_len = 4096, .hdr = true };
	uint8_t hdr[12], *copy;
	struct unwind_table *t;
	int err;

	common_cie();
	fde(0x100, 64, BYTES(0x0e, 16, 0x41, 0x0f, 3, 0x77, 8, 6));
	image__add(&im, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, section->v, section->len);
	image__add(&im, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, hdr, sizeof(hdr));
	hdr_bytes(hdr, image__addr(&im, 0), image__addr(&im, 1), 1);
	image__build(&im);
	for (size_t len = 0; len < im.len; len++) {
		copy = malloc(len + !len);
		assert_non_null(copy);
		memcpy(copy, im.bytes, len);
		err = unwind__from_image(copy, len, false, &t);
		assert_true(!err || err == -ENOEXEC || err == -ENOENT);
		if (!err) {
			assert_int_equal(unwind__find(t, IMAGE_CODE_OFFSET + 0x100), SP(2, 0, 0));
			unwind__free(t);
		}
		free(copy);
	}
	free(im.bytes);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(overlapping),
		T(padding),
		T(outside_of_code),
		T(pages),
		T(chunks),
		T(many_rules),
		T(by_program_header),
		T(datarel),
		T(mapped),
		T(no_unwind_information),
		T(cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
