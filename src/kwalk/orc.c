// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Compiles the kernel's ORC tables, and those of modules, to pages of rules. */
#include "orc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"

/* ---- the layout ------------------------------------------------------------------------------ */

#define BITS_AT 32 /* of struct orc_entry: behind sp_offset and bp_offset, 16 bits each */

static struct orc_field *field_of(struct orc_layout *l, const char *name)
{
	return !strcmp(name, "sp_reg") ? &l->sp_reg :
	       !strcmp(name, "bp_reg") ? &l->bp_reg :
	       !strcmp(name, "type")   ? &l->type :
	       !strcmp(name, "signal") ? &l->signal :
	       !strcmp(name, "end")    ? &l->end :
					 NULL;
}

/* Whether the member has the offset that a known form of the entry gives it. */
static bool read_member(const struct btf *btf, const struct btf_type *t, unsigned int i,
			struct orc_layout *l)
{
	const char *name = btf__name_by_offset(btf, btf_members(t)[i].name_off);
	unsigned int at = btf_member_bit_offset(t, i), bits = btf_member_bitfield_size(t, i);
	struct orc_field *field = name ? field_of(l, name) : NULL;

	if (name && !strcmp(name, "sp_offset"))
		return at == 0;
	if (name && !strcmp(name, "bp_offset"))
		return at == 16;
	if (!field)
		return !name || !*name; /* padding; any other member is unknown */
	if (at < BITS_AT || !bits || at + bits > BITS_AT + 16)
		return false;
	*field = (struct orc_field){ .shift = at - BITS_AT, .bits = bits };
	return true;
}

static bool is_known(const struct orc_layout *l)
{
	if (l->sp_reg.bits != 4 || l->bp_reg.bits != 4)
		return false;
	return l->type.bits == 3 ? !l->end.bits && l->signal.bits == 1 :
				   l->type.bits == 2 && l->end.bits == 1 && l->signal.bits <= 1;
}

int orc_layout__read(const struct btf *btf, struct orc_layout *ret_layout)
{
	struct orc_layout l = { 0 };
	const struct btf_type *t;
	unsigned int i;
	int id = btf__find_by_name_kind(btf, "orc_entry", BTF_KIND_STRUCT);

	t = id > 0 ? btf__type_by_id(btf, id) : NULL;
	if (!t || t->size != ORC_ENTRY_SIZE)
		return log_msg(STK_LOG_DEBUG, -ENOTSUP,
			       "read the kernel's unwind rules: no struct orc_entry of %d bytes",
			       ORC_ENTRY_SIZE);
	for (i = 0; i < btf_vlen(t); i++)
		if (!read_member(btf, t, i, &l))
			return log_msg(STK_LOG_DEBUG, -ENOTSUP,
				       "read the kernel's unwind rules: unknown struct orc_entry");
	if (!is_known(&l))
		return log_msg(STK_LOG_DEBUG, -ENOTSUP,
			       "read the kernel's unwind rules: unknown struct orc_entry");
	*ret_layout = l;
	return 0;
}

int orc_header__check(const uint8_t header[ORC_HEADER_SIZE])
{
	static const uint8_t known[][ORC_HEADER_SIZE] = {
		/* seen in 6.12 and 6.18 */
		{ 0xfe, 0x5d, 0x32, 0xbf, 0x58, 0x1b, 0xd6, 0x3b, 0x2c, 0xa9,
		  0xa5, 0xc6, 0x5b, 0xa5, 0xa6, 0x25, 0xea, 0xb3, 0xfe, 0x24 },
	};
	char text[2 * ORC_HEADER_SIZE + 1];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!memcmp(header, known[i], ORC_HEADER_SIZE))
			return 0;
	for (i = 0; i < ORC_HEADER_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", header[i]);
	return log_msg(STK_LOG_DEBUG, -ENOTSUP,
		       "read the kernel's unwind rules: they have the unknown form %s", text);
}

/* ---- an entry -------------------------------------------------------------------------------- */

/* ORC_REG_* and ORC_TYPE_* of the kernel's orc_types.h; the types are those since 6.4. */
enum orc_reg {
	REG_UNDEFINED,
	REG_PREV_SP,
	REG_DX,
	REG_DI,
	REG_BP,
	REG_SP,
	REG_R10,
	REG_R13,
	REG_BP_INDIRECT,
	REG_SP_INDIRECT,
};

enum orc_type {
	TYPE_UNDEFINED,
	TYPE_END,
	TYPE_CALL,
	TYPE_REGS,
	TYPE_REGS_PARTIAL,
};

struct entry {
	int16_t sp_offset, bp_offset;
	unsigned int sp_reg, bp_reg, type, signal;
};

static unsigned int get(uint16_t bits, struct orc_field f)
{
	return bits >> f.shift & ((1u << f.bits) - 1);
}

static struct entry read_entry(const struct orc_layout *l, const uint8_t *p)
{
	struct entry e;
	uint16_t bits;

	memcpy(&e.sp_offset, p, 2);
	memcpy(&e.bp_offset, p + 2, 2);
	memcpy(&bits, p + 4, 2);
	e.sp_reg = get(bits, l->sp_reg);
	e.bp_reg = get(bits, l->bp_reg);
	e.type = get(bits, l->type);
	e.signal = get(bits, l->signal);
	if (l->type.bits == 3)
		return e;
	/* Before 6.4.  Without `signal`, every type but a call was interrupted. */
	e.type = e.sp_reg == REG_UNDEFINED ? (get(bits, l->end) ? TYPE_END : TYPE_UNDEFINED) :
					     e.type + TYPE_CALL;
	if (!l->signal.bits)
		e.signal = e.type != TYPE_CALL;
	return e;
}

static enum kwalk_kind kind_of(const struct entry *e)
{
	static const enum kwalk_kind calls[] = {
		[REG_SP] = KWALK_CALL_SP,
		[REG_BP] = KWALK_CALL_BP,
		[REG_SP_INDIRECT] = KWALK_CALL_SP_IND,
		[REG_BP_INDIRECT] = KWALK_CALL_BP_IND,
	};
	bool known = e->sp_reg == REG_SP || e->sp_reg == REG_BP || e->sp_reg == REG_SP_INDIRECT ||
		     e->sp_reg == REG_BP_INDIRECT;

	if (e->type == TYPE_END)
		return KWALK_END;
	if (!known)
		return KWALK_UNKNOWN;
	if (e->type == TYPE_CALL)
		return calls[e->sp_reg];
	if (e->type == TYPE_REGS)
		return calls[e->sp_reg] + KWALK_REGS_SP - KWALK_CALL_SP;
	return e->type == TYPE_REGS_PARTIAL && e->sp_reg == REG_SP ? KWALK_IRET_SP : KWALK_UNKNOWN;
}

/* How rbp was saved, as bits of a rule; false: a rule cannot express it. */
static bool bp_of(const struct entry *e, enum kwalk_kind kind, uint32_t *ret_bits)
{
	bool fits = !(e->bp_offset % 8) && e->bp_offset >= -1024 && e->bp_offset <= 1016;

	*ret_bits = KWALK_RULE(0, 0, e->bp_offset / 8);
	if (e->bp_reg == REG_UNDEFINED) {
		*ret_bits = 0;
		return true;
	}
	if (e->bp_reg == REG_BP && kind == KWALK_CALL_BP_IND) {
		*ret_bits |= KWALK_RULE_BP_REL;
		return fits;
	}
	return e->bp_reg == REG_PREV_SP && fits && e->bp_offset;
}

static uint32_t rule_of(const struct orc_layout *l, const uint8_t *p)
{
	struct entry e = read_entry(l, p);
	enum kwalk_kind kind = kind_of(&e);
	uint32_t bp;

	if (kind == KWALK_END)
		return KWALK_RULE(KWALK_END, 0, 0);
	if (kind == KWALK_UNKNOWN || !bp_of(&e, kind, &bp))
		return KWALK_RULE_NONE;
	if (kind == KWALK_CALL_SP || kind == KWALK_CALL_BP)
		return e.signal ? KWALK_RULE_NONE : KWALK_RULE(kind, e.sp_offset, 0) | bp;
	return KWALK_RULE(kind, e.sp_offset, 0) | bp | (e.signal ? KWALK_RULE_SIGNAL : 0);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Rules come in ascending order of address; each applies up to the next one's address. */

static void add_row(struct orc_compiler *c, uint64_t at, uint32_t rule)
{
	struct orc_compiled *o = &c->c;
	uint32_t block = (at - c->t->text) >> KWALK_BLOCK_SHIFT;
	uint32_t offset = (at - c->t->text) & (KWALK_BLOCK - 1);

	if (offset)
		o->index[block].more++;
	else
		o->index[block].first = o->nr_rows;
	o->rows[o->nr_rows++] = (struct kwalk_row){ .offset = offset, .rule = rule };
}

/* The blocks from c->end up to the address start with the current rule. */
static void add_blocks(struct orc_compiler *c, uint64_t to)
{
	for (; c->end < to; c->end += KWALK_BLOCK)
		add_row(c, c->end, c->rule);
}

static void add_rule(struct orc_compiler *c, uint64_t at, uint32_t rule)
{
	struct orc_compiled *o = &c->c;
	uint64_t offset;

	if (at <= c->t->text || rule == c->rule) {
		c->rule = rule;
		return;
	}
	offset = (at - c->t->text) & (KWALK_BLOCK - 1);
	add_blocks(c, at); /* including at's own, unless it starts at `at` */
	c->rule = rule;
	if (!offset)
		return;
	if (o->rows[o->nr_rows - 1].offset == offset)
		o->rows[o->nr_rows - 1].rule = rule;
	else
		add_row(c, at, rule);
}

/* Each entry adds at most one row, and so does each block. */
int orc__bounds(const struct orc_tables *t, uint32_t *ret_blocks, uint32_t *ret_rows)
{
	uint64_t blocks = (t->text_end - t->text + KWALK_BLOCK - 1) >> KWALK_BLOCK_SHIFT;

	if (t->text_end <= t->text || t->text_end > UINT64_MAX - KWALK_BLOCK ||
	    t->text_end - t->text > (uint64_t)KWALK_MAX_BLOCKS << KWALK_BLOCK_SHIFT || !t->nr ||
	    t->nr > ORC_MAX_ENTRIES)
		return log_msg(STK_LOG_DEBUG, -EBADMSG,
			       "read the kernel's unwind rules: %zu entries for %llu bytes of text",
			       t->nr, (unsigned long long)(t->text_end - t->text));
	*ret_blocks = blocks;
	*ret_rows = blocks + t->nr;
	return 0;
}

void orc_compiler__begin(struct orc_compiler *c)
{
	c->rule = KWALK_RULE_NONE; /* before the first entry */
	c->end = c->t->text;
	c->last = 0;
	c->nr = 0;
	c->c.nr_rows = 0;
}

int orc_compiler__add(struct orc_compiler *c, const int32_t *ips, const void *entries, size_t nr)
{
	const struct orc_tables *t = c->t;
	const uint8_t *entry = entries;
	uint64_t at;
	size_t i;

	if (nr > t->nr - c->nr)
		return -EBADMSG;
	for (i = 0; i < nr; i++, c->nr++, entry += ORC_ENTRY_SIZE) {
		at = t->ips_at + 4 * c->nr + (uint64_t)(int64_t)ips[i];
		if (at < c->last)
			return log_msg(STK_LOG_DEBUG, -EBADMSG,
				       "read the kernel's unwind rules: entry %zu is out of order",
				       c->nr);
		c->last = at;
		if (at < t->text_end)
			add_rule(c, at, rule_of(t->layout, entry));
	}
	return 0;
}

void orc_compiler__end(struct orc_compiler *c)
{
	add_blocks(c, c->t->text_end);
}

int orc__compile(const struct orc_tables *t, struct orc_compiled *ret_compiled)
{
	struct orc_compiler c = { .t = t };
	uint32_t blocks, rows;
	int err = orc__bounds(t, &blocks, &rows);

	if (err)
		return err;
	c.c.nr_blocks = blocks;
	c.c.index = calloc(blocks, sizeof(*c.c.index));
	c.c.rows = malloc(rows * sizeof(*c.c.rows));
	if (!c.c.index || !c.c.rows) {
		orc_compiled__free(&c.c);
		return -ENOMEM;
	}
	orc_compiler__begin(&c);
	err = orc_compiler__add(&c, t->ips, t->entries, t->nr);
	if (err) {
		orc_compiled__free(&c.c);
		return err;
	}
	orc_compiler__end(&c);
	*ret_compiled = c.c;
	return 0;
}

void orc_compiled__free(struct orc_compiled *c)
{
	free(c->index);
	free(c->rows);
	*c = (struct orc_compiled){ 0 };
}
