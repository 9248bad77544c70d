/* SPDX-License-Identifier: GPL-2.0-only */
/* Hand-made call frame information, and access to the resulting table. */
#ifndef TESTS_UNWIND_FRAMES_H
#define TESTS_UNWIND_FRAMES_H

#include "image.h"
#include "unwind/unwind.h"

#define CODE_PAGES 8
#define CODE_LEN (CODE_PAGES * 4096)
#define NONE (UNW_ESCAPE | UNW_NONE)
#define END (UNW_ESCAPE | UNW_END)
#define SIGNAL (UNW_ESCAPE | UNW_SIGNAL)
#define SP(words, fp, bx) UNW_SIMPLE(0, words, fp, bx)
#define FP(words, fp, bx) UNW_SIMPLE(1, words, fp, bx)
#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* The start of almost every CIE: CFA = rsp + 8, return address at CFA - 8. */
#define COMMON 0x0c, 7, 8, 0x90, 1

/* ---- sections -------------------------------------------------------------------------------- */

struct section {
	uint8_t v[1 << 20];
	size_t len;
	size_t cie; /* position of the last CIE */
	bool debug; /* conventions of .debug_frame */
	bool wide; /* 64-bit lengths */
};

static struct section *section; /* under construction */
static struct unwind_table *table; /* of the last image */

static inline void put(struct section *s, const void *p, size_t len)
{
	assert_true(s->len + len <= sizeof(s->v));
	memcpy(s->v + s->len, p, len);
	s->len += len;
}

static inline void put_uint(struct section *s, uint64_t v, unsigned int bytes)
{
	put(s, &v, bytes);
}

static inline size_t begin(struct section *s)
{
	size_t at = s->len;

	if (s->wide)
		put_uint(s, 0xffffffff, 4);
	put_uint(s, 0, s->wide ? 8 : 4);
	return at;
}

static inline void end(struct section *s, size_t at)
{
	uint64_t len;

	while (s->len % 4)
		put_uint(s, 0, 1);
	len = s->len - at - (s->wide ? 12 : 4);
	memcpy(s->v + at + (s->wide ? 4 : 0), &len, s->wide ? 8 : 4);
}

/* aug: augmentation data, used if the augmentation has a 'z'. */
static inline void cie_full(const char *augmentation, const uint8_t *aug, size_t aug_len,
			    const uint8_t *insns, size_t len)
{
	struct section *s = section;

	s->cie = begin(s);
	put_uint(s, s->debug ? UINT64_MAX : 0, s->debug && s->wide ? 8 : 4);
	put_uint(s, s->debug ? 4 : 1, 1);
	put(s, augmentation, strlen(augmentation) + 1);
	if (s->debug)
		put_uint(s, 8, 2); /* size of addresses, of segments */
	put_uint(s, 1, 1);
	put_uint(s, 0x78, 1); /* -8 */
	put_uint(s, 16, 1);
	if (*augmentation == 'z') {
		put_uint(s, aug_len, 1);
		put(s, aug, aug_len);
	}
	put(s, insns, len);
	end(s, s->cie);
}

static inline void cie(const uint8_t *insns, size_t len)
{
	cie_full("zR", BYTES(0x1b), insns, len);
}

static inline void common_cie(void)
{
	cie(BYTES(COMMON));
}

/* The address of the section if it is the first one of the image. */
static inline uint64_t section_addr(void)
{
	return image__addr(&(struct image){ .code_len = CODE_PAGES * 4096 }, 0);
}

/* An FDE of the last CIE; start is an offset in the code; enc as in its augmentation. */
static inline void fde_enc(uint8_t enc, uint64_t start, uint64_t len, const uint8_t *insns,
			   size_t insns_len)
{
	static const unsigned int sizes[] = { 8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8 };
	struct section *s = section;
	size_t at = begin(s);
	uint64_t addr = IMAGE_CODE + start;

	put_uint(s, s->debug ? s->cie : s->len - s->cie, s->debug && s->wide ? 8 : 4);
	if ((enc & 0x70) == 0x10)
		addr -= section_addr() + s->len;
	if (enc == 0x50) {
		while ((section_addr() + s->len) % 8)
			put_uint(s, 0, 1);
	}
	put_uint(s, addr, sizes[enc & 15]);
	put_uint(s, len, sizes[enc & 15]);
	if (!s->debug)
		put_uint(s, 0, 1); /* no augmentation data */
	put(s, insns, insns_len);
	end(s, at);
}

static inline void fde(uint64_t start, uint64_t len, const uint8_t *insns, size_t insns_len)
{
	fde_enc(section->debug ? 0 : 0x1b, start, len, insns, insns_len);
}

static inline int set_up(void **state)
{
	section = calloc(1, sizeof(*section));
	return section ? 0 : -1;
}

static inline int tear_down(void **state)
{
	free(section);
	unwind__free(table);
	table = NULL;
	return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

static inline int make(struct image *im)
{
	int err;

	unwind__free(table);
	table = NULL;
	im->code_len = CODE_PAGES * 4096;
	image__build(im);
	err = unwind__from_image(im->bytes, im->len, false, &table);
	free(im->bytes);
	return err;
}

static inline void make_eh(void)
{
	struct image im = { 0 };

	image__add(&im, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, section->v, section->len);
	assert_int_equal(make(&im), 0);
	assert_int_equal(table->sources, UNWIND_EH_FRAME);
	assert_int_equal(table->cfi_bytes, section->len);
}

static inline uint32_t rule_at(uint64_t code_offset)
{
	return unwind__find(table, IMAGE_CODE_OFFSET + code_offset);
}

static inline void assert_rules(uint64_t from, uint64_t to, uint32_t rule)
{
	for (uint64_t i = from; i < to; i++)
		assert_int_equal(rule_at(i), rule);
}

static inline uint64_t wide_at(uint64_t code_offset)
{
	uint32_t rule = rule_at(code_offset);
	uint64_t v;

	assert_true(rule & UNW_ESCAPE);
	rule &= UNW_ESCAPE - 1;
	assert_in_range(rule, UNW_ESCAPE_RULES, UNW_ESCAPE_RULES + table->nr_rules - 1);
	assert_int_equal(table->rules % 2, 0);
	memcpy(&v, table->words + table->rules + 2 * (rule - UNW_ESCAPE_RULES), sizeof(v));
	return v;
}

/* The rule applies from one offset to another, and (except NONE) not before or after. */
static inline void assert_rule(uint64_t from, uint64_t to, uint32_t rule)
{
	assert_rules(from, to, rule);
	if (rule != NONE) {
		assert_int_not_equal(rule_at(from - 1), rule);
		assert_int_not_equal(rule_at(to), rule);
	}
}

#endif /* TESTS_UNWIND_FRAMES_H */
