// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz target: ORC tables and addresses of a hostile kernel or kallsyms.  Input: a byte with the
 * form of the entries; the text, its end, and the first address, 8 bytes each; then addresses and
 * entries by turns.
 */
#include <stdlib.h>
#include <string.h>

#include "orc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct orc_layout layouts[] = {
	{ .sp_reg = { 0, 4 }, .bp_reg = { 4, 4 }, .type = { 8, 3 }, .signal = { 11, 1 } },
	{ .sp_reg = { 0, 4 },
	  .bp_reg = { 4, 4 },
	  .type = { 8, 2 },
	  .signal = { 10, 1 },
	  .end = { 11, 1 } },
	{ .sp_reg = { 0, 4 }, .bp_reg = { 4, 4 }, .type = { 8, 2 }, .end = { 10, 1 } },
};

/* Each block has rows of its own, ascending from offset 0, and all rules are known. */
static void check(const struct orc_tables *t, const struct orc_compiled *c)
{
	uint32_t block, i, next = 0;

	if (((uint64_t)c->nr_blocks << KWALK_BLOCK_SHIFT) < t->text_end - t->text)
		abort();
	for (block = 0; block < c->nr_blocks; block++) {
		const struct kwalk_block *b = &c->index[block];

		if (b->first != next || b->more >= c->nr_rows - b->first ||
		    c->rows[b->first].offset)
			abort();
		for (i = 0; i <= b->more; i++) {
			const struct kwalk_row *r = &c->rows[b->first + i];

			if (r->offset >= KWALK_BLOCK || (i && r->offset <= r[-1].offset) ||
			    KWALK_RULE_KIND(r->rule) > KWALK_END)
				abort();
		}
		next = b->first + b->more + 1;
	}
	if (next != c->nr_rows)
		abort();
}

static const uint8_t *take(void *ret, size_t len, const uint8_t *from, size_t *left)
{
	memset(ret, 0, len);
	len = len < *left ? len : *left;
	memcpy(ret, from, len);
	*left -= len;
	return from + len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct orc_tables t = { 0 };
	struct orc_compiled c = { 0 };
	uint8_t form;
	size_t i, nr;
	int32_t *ips;
	uint8_t *entries;

	data = take(&form, 1, data, &size);
	data = take(&t.text, 8, data, &size);
	data = take(&t.text_end, 8, data, &size);
	data = take(&t.ips_at, 8, data, &size);
	if (form < 0xf0) /* else unchanged; a large text takes long */
		t.text_end = t.text + t.text_end % 65536;
	t.layout = &layouts[form % 3];
	nr = size / (4 + ORC_ENTRY_SIZE);
	ips = malloc(nr * 4 + 1);
	entries = malloc(nr * ORC_ENTRY_SIZE + 1);
	for (i = 0; i < nr; i++) {
		data = take(&ips[i], 4, data, &size);
		data = take(entries + i * ORC_ENTRY_SIZE, ORC_ENTRY_SIZE, data, &size);
	}
	t.ips = ips;
	t.entries = entries;
	t.nr = nr;
	if (!orc__compile(&t, &c))
		check(&t, &c);
	orc_compiled__free(&c);
	free(ips);
	free(entries);
	return 0;
}
