// SPDX-License-Identifier: GPL-2.0-only
/* Strings, integers and names in TSDL. */
#include "ctf_tsdl.h"

#include "cleanup.h"

void tsdl__string(struct strbuf *b, const char *s)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	size_t i;

	strbuf__text(&text, s);
	b->failed |= strbuf__failed(&text);
	strbuf__putc(b, '"');
	for (i = 0; i < text.len && !text.failed; i++) {
		if (text.s[i] == '"' || text.s[i] == '\\')
			strbuf__putc(b, '\\');
		strbuf__putc(b, text.s[i]);
	}
	strbuf__putc(b, '"');
}

static const char *const integers[3][4] = {
	{ "u8", "u16", "u32", "u64" },
	{ "s8", "s16", "s32", "s64" },
	{ "x8", "x16", "x32", "x64" },
};

const char *tsdl__integer(uint32_t size, bool is_signed, bool is_hex)
{
	return integers[is_hex ? 2 : is_signed][size == 8 ? 3 : size == 4 ? 2 : size == 2];
}

void tsdl__types(struct strbuf *b)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(integers); i++)
		for (j = 0; j < ARRAY_SIZE(integers[i]); j++)
			strbuf__printf(b,
				       "typealias integer { size = %u; align = 8; signed = %s; "
				       "base = %s; } := %s;\n",
				       8u << j, i == 1 ? "true" : "false",
				       i == 2 ? "hexadecimal" : "decimal", integers[i][j]);
}

static void put_identifier(struct strbuf *b, const char *name)
{
	strbuf__putc(b, '_');
	for (; *name; name++)
		strbuf__putc(b, (*name >= '0' && *name <= '9') || (*name >= 'a' && *name <= 'z') ||
						(*name >= 'A' && *name <= 'Z') ?
					*name :
					'_');
}

const char *tsdl_names__add(struct tsdl_names *n, const char *name)
{
	struct strbuf *b = &n->last;
	uint32_t nr = 2, number;
	size_t len;
	int is_new;

	strbuf__reset(b);
	put_identifier(b, name);
	len = b->len;
	for (;; nr++) {
		is_new = strbuf__failed(b) ?
				 -1 :
				 string_table__number(&n->known, b->s, b->len, UINT32_MAX, &number);
		if (is_new)
			return is_new > 0 ? b->s : NULL;
		b->len = len;
		strbuf__printf(b, "_%u", nr);
	}
}

void tsdl_names__clear(struct tsdl_names *n)
{
	string_table__clear(&n->known);
	strbuf__free(&n->last);
}
