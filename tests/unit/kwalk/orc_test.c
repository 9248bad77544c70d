// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Compiles synthetic ORC tables and looks up each address as the kernel would. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "orc.h"

#define TEXT 0xffffffff81000000ull
#define MAX 600

/* struct orc_entry as of 6.4, 6.3 and 6.1. */
static const struct orc_layout since_6_4 = {
	.sp_reg = { 0, 4 }, .bp_reg = { 4, 4 }, .type = { 8, 3 }, .signal = { 11, 1 }
};
static const struct orc_layout of_6_3 = { .sp_reg = { 0, 4 },
					  .bp_reg = { 4, 4 },
					  .type = { 8, 2 },
					  .signal = { 10, 1 },
					  .end = { 11, 1 } };
static const struct orc_layout of_6_1 = {
	.sp_reg = { 0, 4 }, .bp_reg = { 4, 4 }, .type = { 8, 2 }, .end = { 10, 1 }
};

struct made {
	struct orc_tables t;
	int32_t ips[MAX];
	uint8_t entries[MAX][ORC_ENTRY_SIZE];
};

static void begin(struct made *m, const struct orc_layout *layout, uint64_t size)
{
	memset(m, 0, sizeof(*m));
	m->t = (struct orc_tables){ .layout = layout,
				    .ips = m->ips,
				    .ips_at = TEXT + (64 << 20),
				    .entries = m->entries,
				    .text = TEXT,
				    .text_end = TEXT + size };
}

static void add(struct made *m, uint64_t at, int16_t sp, int16_t bp, uint16_t bits)
{
	size_t i = m->t.nr++;

	m->ips[i] = (int32_t)(TEXT + at - (m->t.ips_at + 4 * i));
	memcpy(m->entries[i], &sp, 2);
	memcpy(m->entries[i] + 2, &bp, 2);
	memcpy(m->entries[i] + 4, &bits, 2);
}

/* The search of kwalk.bpf.h, as a linear search. */
static uint32_t find(const struct orc_compiled *c, uint64_t at)
{
	const struct kwalk_block *b = &c->index[at >> KWALK_BLOCK_SHIFT];
	uint32_t i, rule = KWALK_RULE_NONE;

	assert_true((at >> KWALK_BLOCK_SHIFT) < c->nr_blocks);
	assert_true((uint64_t)b->first + b->more < c->nr_rows);
	assert_int_equal(c->rows[b->first].offset, 0);
	for (i = b->first; i <= b->first + b->more; i++) {
		assert_true(i == b->first || c->rows[i].offset > c->rows[i - 1].offset);
		if (c->rows[i].offset <= (at & (KWALK_BLOCK - 1)))
			rule = c->rows[i].rule;
	}
	return rule;
}

#define CALL_SP(offset) KWALK_RULE(KWALK_CALL_SP, offset, 0)
#define SP 5u
#define BITS(sp_reg, bp_reg, type) ((sp_reg) | (bp_reg) << 4 | (type) << 8)

static void test_forms(void **state)
{
	static const struct {
		const struct orc_layout *layout;
		int16_t sp, bp;
		uint16_t bits;
		uint32_t rule;
	} cases[] = {
		{ &since_6_4, 16, 0, BITS(5, 0, 2), CALL_SP(16) },
		{ &since_6_4, 16, -16, BITS(4, 1, 2), KWALK_RULE(KWALK_CALL_BP, 16, -2) },
		{ &since_6_4, 0, 0, BITS(9, 0, 2), KWALK_RULE(KWALK_CALL_SP_IND, 0, 0) },
		{ &since_6_4, -8, -8, BITS(8, 4, 2),
		  KWALK_RULE(KWALK_CALL_BP_IND, -8, -1) | KWALK_RULE_BP_REL },
		{ &since_6_4, 24, 0, BITS(5, 0, 3) | 1 << 11,
		  KWALK_RULE(KWALK_REGS_SP, 24, 0) | KWALK_RULE_SIGNAL },
		{ &since_6_4, 24, 0, BITS(9, 0, 3), KWALK_RULE(KWALK_REGS_SP_IND, 24, 0) },
		{ &since_6_4, 8, 0, BITS(5, 0, 4), KWALK_RULE(KWALK_IRET_SP, 8, 0) },
		{ &since_6_4, 0, 0, BITS(0, 0, 1), KWALK_RULE(KWALK_END, 0, 0) },
		{ &since_6_4, 0, 0, BITS(5, 0, 0), KWALK_RULE_NONE },
		{ &since_6_4, 8, 0, BITS(6, 0, 2), KWALK_RULE_NONE }, /* r10 */
		{ &since_6_4, 8, 0, BITS(4, 0, 4), KWALK_RULE_NONE }, /* the five words at rbp */
		{ &since_6_4, 8, 0, BITS(5, 0, 7), KWALK_RULE_NONE },
		{ &since_6_4, 8, -12, BITS(5, 1, 2), KWALK_RULE_NONE }, /* not of words */
		{ &since_6_4, 8, -1032, BITS(5, 1, 2), KWALK_RULE_NONE }, /* too far for a rule */
		{ &since_6_4, 8, 0, BITS(5, 1, 2), KWALK_RULE_NONE }, /* at the CFA */
		{ &since_6_4, 8, -16, BITS(5, 4, 2), KWALK_RULE_NONE }, /* by rbp */
		{ &of_6_3, 16, 0, BITS(5, 0, 0), CALL_SP(16) },
		{ &of_6_3, 16, 0, BITS(5, 0, 0) | 1 << 10, KWALK_RULE_NONE }, /* interrupted call */
		{ &of_6_3, 0, 0, BITS(0, 0, 0) | 1 << 11, KWALK_RULE(KWALK_END, 0, 0) },
		{ &of_6_1, 16, 0, BITS(5, 0, 0), CALL_SP(16) },
		{ &of_6_1, 0, 0, BITS(5, 0, 1),
		  KWALK_RULE(KWALK_REGS_SP, 0, 0) | KWALK_RULE_SIGNAL },
		{ &of_6_1, 0, 0, BITS(0, 0, 0) | 1 << 10, KWALK_RULE(KWALK_END, 0, 0) },
		{ &of_6_1, 0, 0, BITS(0, 0, 0), KWALK_RULE_NONE },
	};
	struct orc_compiled c;
	struct made m;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(&m, cases[i].layout, 4096);
		add(&m, 0, cases[i].sp, cases[i].bp, cases[i].bits);
		assert_int_equal(orc__compile(&m.t, &c), 0);
		if (find(&c, 0) != cases[i].rule || find(&c, 4095) != cases[i].rule)
			fail_msg("case %zu: %x, not %x", i, find(&c, 0), cases[i].rule);
		orc_compiled__free(&c);
	}
}

/* The rule that the kernel finds: the last entry at or before the address. */
static uint32_t expect(const struct made *m, const uint32_t *rules, uint64_t at)
{
	uint32_t rule = KWALK_RULE_NONE;
	size_t i;

	for (i = 0; i < m->t.nr; i++)
		if (m->t.ips_at + 4 * i + (int64_t)m->ips[i] <= TEXT + at)
			rule = rules[i];
	return rule;
}

static void compare_all(const struct made *m, const uint32_t *rules)
{
	struct orc_compiled c;
	uint64_t at;

	assert_int_equal(orc__compile(&m->t, &c), 0);
	for (at = 0; at < m->t.text_end - TEXT; at++)
		if (find(&c, at) != expect(m, rules, at))
			fail_msg("at %llx: %x, not %x", (unsigned long long)at, find(&c, at),
				 expect(m, rules, at));
	orc_compiled__free(&c);
}

static void test_random(void **state)
{
	uint32_t rules[MAX];
	struct made m;
	uint64_t at, size;
	int round, i, nr;

	srand(7);
	for (round = 0; round < 300; round++) {
		size = 1 + rand() % 3000;
		begin(&m, &since_6_4, size);
		nr = 1 + rand() % 150;
		/*
		 * The first may be before the text, several may share an address, and blocks may be
		 * empty.
		 */
		for (i = 0, at = rand() % 3 ? 0 : (uint64_t)-300; i < nr; i++) {
			int16_t offset = 8 * (1 + rand() % 3);

			rules[i] = CALL_SP(offset);
			add(&m, at, offset, 0, BITS(SP, 0, 2));
			at += rand() % 8 ? rand() % 12 : rand() % 700;
		}
		compare_all(&m, rules);
	}
}

static void test_refused(void **state)
{
	struct orc_compiled c = { .nr_rows = 17 };
	struct made m;

	begin(&m, &since_6_4, 4096);
	assert_int_equal(orc__compile(&m.t, &c), -EBADMSG); /* no entries */
	add(&m, 64, 8, 0, BITS(SP, 0, 2));
	add(&m, 32, 8, 0, BITS(SP, 0, 2));
	assert_int_equal(orc__compile(&m.t, &c), -EBADMSG); /* out of order */
	begin(&m, &since_6_4, 0);
	add(&m, 0, 8, 0, BITS(SP, 0, 2));
	assert_int_equal(orc__compile(&m.t, &c), -EBADMSG); /* no text */
	begin(&m, &since_6_4, ((uint64_t)KWALK_MAX_BLOCKS << KWALK_BLOCK_SHIFT) + 1);
	add(&m, 0, 8, 0, BITS(SP, 0, 2));
	assert_int_equal(orc__compile(&m.t, &c), -EBADMSG); /* too much of it */
	begin(&m, &since_6_4, -1ull - TEXT); /* its number of blocks would overflow */
	add(&m, 0, 8, 0, BITS(SP, 0, 2));
	assert_int_equal(orc__compile(&m.t, &c), -EBADMSG);
	assert_int_equal(c.nr_rows, 17);
}

static void test_header(void **state)
{
	uint8_t header[ORC_HEADER_SIZE] = { 0xfe, 0x5d, 0x32, 0xbf, 0x58, 0x1b, 0xd6,
					    0x3b, 0x2c, 0xa9, 0xa5, 0xc6, 0x5b, 0xa5,
					    0xa6, 0x25, 0xea, 0xb3, 0xfe, 0x24 };

	assert_int_equal(orc_header__check(header), 0);
	header[19]++;
	assert_int_equal(orc_header__check(header), -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
