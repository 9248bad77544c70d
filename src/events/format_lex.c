/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tokens, literals and type names of a print fmt. */
#include "format_parse.h"

#include "cleanup.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

void parser__fail(struct parser *ps, const char *fmt, ...)
{
	va_list ap;

	if (!ps->failed) {
		va_start(ap, fmt);
		vsnprintf(ps->why, sizeof(ps->why), fmt, ap);
		va_end(ap);
	}
	ps->failed = true;
	ps->pos = ps->end;
	ps->tok = (struct token){ .kind = TOKEN_END, .s = ps->end };
}

static bool is_ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* End of the quoted literal at s, or NULL. */
static const char *quoted_end(const char *s, const char *end)
{
	const char *p;

	for (p = s + 1; p < end; p++) {
		if (*p == '\\')
			p++;
		else if (*p == *s)
			return p + 1;
	}
	return NULL;
}

static size_t punct_len(const char *s, const char *end)
{
	static const char two[][3] = { "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||" };

	for (size_t i = 0; end - s >= 2 && i < ARRAY_SIZE(two); i++)
		if (!memcmp(s, two[i], 2))
			return 2;
	return 1;
}

void parser__next(struct parser *ps)
{
	struct token *t = &ps->tok;
	const char *p = ps->pos;

	while (p < ps->end && isspace((unsigned char)*p))
		p++;
	*t = (struct token){ .kind = TOKEN_END, .s = p };
	if (p >= ps->end) {
		ps->pos = ps->end;
		return;
	}
	if (*p == '"' || *p == '\'') {
		t->kind = *p == '"' ? TOKEN_STRING : TOKEN_CHAR;
		p = quoted_end(p, ps->end);
		if (!p) {
			parser__fail(ps, "unterminated literal");
			return;
		}
	} else if (is_ident(*p)) {
		t->kind = isdigit((unsigned char)*p) ? TOKEN_NUMBER : TOKEN_IDENT;
		while (p < ps->end && is_ident(*p))
			p++;
	} else {
		t->kind = TOKEN_PUNCT;
		p += punct_len(p, ps->end);
	}
	t->len = p - t->s;
	ps->pos = p;
}

bool token__is(const struct token *t, const char *s)
{
	return (t->kind == TOKEN_PUNCT || t->kind == TOKEN_IDENT) && t->len == strlen(s) &&
	       !memcmp(t->s, s, t->len);
}

bool parser__accept(struct parser *ps, const char *s)
{
	if (!token__is(&ps->tok, s))
		return false;
	parser__next(ps);
	return true;
}

void parser__expect(struct parser *ps, const char *s)
{
	if (!parser__accept(ps, s))
		parser__fail(ps, "'%s' expected before '%.*s'", s, (int)MIN(ps->tok.len, 40),
			     ps->tok.s);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

/* The character after the backslash at *p, which is before end; *p moves behind it. */
static char escape(const char **p, const char *end)
{
	static const char from[] = "abefnrtv", to[] = "\a\b\033\f\n\r\t\v";
	const char *s = *p + 1, *known;
	int c = 0, n = 0;

	if (s >= end) {
		*p = end;
		return '\\';
	}
	if (*s == 'x') {
		for (s++; s < end && hex_digit(*s) >= 0; s++)
			c = (c << 4 | hex_digit(*s)) & 0xff;
	} else if (*s >= '0' && *s <= '7') {
		for (; s < end && n < 3 && *s >= '0' && *s <= '7'; s++, n++)
			c = c << 3 | (*s - '0');
	} else {
		known = memchr(from, *s, sizeof(from) - 1);
		c = known ? to[known - from] : *s;
		s++;
	}
	*p = s;
	return (char)c;
}

void parser__strings(struct parser *ps, uint32_t *ret_offset, uint32_t *ret_len)
{
	struct strbuf *pool = &ps->f->pool;
	size_t start = pool->len;

	if (ps->tok.kind != TOKEN_STRING)
		parser__fail(ps, "a string expected before '%.*s'", (int)MIN(ps->tok.len, 40),
			     ps->tok.s);
	while (ps->tok.kind == TOKEN_STRING) {
		const char *p = ps->tok.s + 1, *end = ps->tok.s + ps->tok.len - 1;

		while (p < end)
			strbuf__putc(pool, *p == '\\' ? escape(&p, end) : *p++);
		parser__next(ps);
	}
	if (strbuf__failed(pool))
		parser__fail(ps, FORMAT_NO_MEMORY);
	*ret_offset = start;
	*ret_len = pool->len - start;
}

uint64_t parser__char(struct parser *ps)
{
	const char *p = ps->tok.s + 1, *end = ps->tok.s + ps->tok.len - 1;
	char c = 0;

	if (p < end)
		c = *p == '\\' ? escape(&p, end) : *p++;
	if (p != end)
		parser__fail(ps, "bad character constant");
	parser__next(ps);
	return (uint64_t)(int64_t)c;
}

void parser__number(struct parser *ps, struct node *ret_node)
{
	const char *p = ps->tok.s, *end = p + ps->tok.len;
	bool is_unsigned = false, is_long = false, decimal = *p != '0';
	unsigned int base = 10;
	uint64_t v = 0;

	if (!decimal)
		base = end - p > 1 && (p[1] == 'x' || p[1] == 'X') ? 16 : 8;
	if (base == 16)
		p += 2;
	for (; p < end && hex_digit(*p) >= 0 && hex_digit(*p) < (int)base; p++)
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, hex_digit(*p), &v))
			parser__fail(ps, "number too big");
	for (; p < end && strchr("uUlL", *p); p++) {
		is_unsigned |= *p == 'u' || *p == 'U';
		is_long |= *p == 'l' || *p == 'L';
	}
	if (p < end)
		parser__fail(ps, "bad number");
	else
		parser__next(ps);
	is_long |= v > UINT32_MAX || (!is_unsigned && decimal && v > INT32_MAX);
	is_unsigned |= v > INT64_MAX || (!is_long && v > INT32_MAX);
	*ret_node = (struct node){ .op = NODE_CONST,
				   .size = is_long ? 8 : 4,
				   .is_signed = !is_unsigned,
				   .is_const = true,
				   .val = v };
}

/* The properties collected from the words of an arithmetic type. */
struct type_words {
	int words, longs, shorts, chars, is_unsigned, is_signed, is_void;
};

static bool type_word(struct type_words *w, const struct token *t)
{
	int *count = token__is(t, "unsigned") ? &w->is_unsigned :
		     token__is(t, "signed")   ? &w->is_signed :
		     token__is(t, "long")     ? &w->longs :
		     token__is(t, "short")    ? &w->shorts :
		     token__is(t, "char")     ? &w->chars :
		     token__is(t, "void")     ? &w->is_void :
		     token__is(t, "int")      ? &w->words :
						NULL;

	if (!count)
		return false;
	if (*count < 4)
		(*count)++;
	w->words++;
	return true;
}

static bool is_qualifier(const struct token *t)
{
	static const char *const words[] = { "const",	 "volatile", "static",	 "__user",
					     "__rcu",	 "__force",  "__percpu", "__iomem",
					     "__seg_gs", "restrict" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (token__is(t, words[i]))
			return true;
	return false;
}

/* A type that only the format knows, because a field has it. */
static bool field_type(const struct parser *ps, const struct token *t, struct c_type *ret_type)
{
	for (uint32_t i = 0; i < ps->f->nr_fields; i++) {
		const struct ev_field *field = &ps->f->fields[i];

		if (field->kind != EV_FIELD_INT || strlen(field->type) != t->len ||
		    memcmp(field->type, t->s, t->len))
			continue;
		ret_type->size = field->size;
		ret_type->is_signed = field->is_signed;
		return true;
	}
	return false;
}

/* struct, union, enum or a typedef; *ret_known: whether its size is known. */
static bool named_type(struct parser *ps, struct c_type *ret_type, bool *ret_known)
{
	bool tag = token__is(&ps->tok, "struct") || token__is(&ps->tok, "union");

	*ret_known = true;
	if (parser__accept(ps, "enum")) {
		*ret_type = (struct c_type){ .size = 4 };
	} else if (tag) {
		parser__next(ps);
		/* the elements of the kernel's page array */
		*ret_known = token__is(&ps->tok, "page");
		*ret_type = (struct c_type){ .size = 64 };
	} else if (ps->tok.kind != TOKEN_IDENT) {
		return false;
	} else if (!c_type__lookup(ps->tok.s, ps->tok.len, ret_type) &&
		   !field_type(ps, &ps->tok, ret_type)) {
		*ret_known = false;
	}
	if (ps->tok.kind != TOKEN_IDENT)
		return false;
	parser__next(ps);
	return true;
}

/*
 * Parses a type name if the next tokens form one.  If it returns false, the position is undefined.
 * An unknown name counts as a type only before a '*'.
 */
bool parser__type(struct parser *ps, struct type_name *ret_type)
{
	struct type_words w = { 0 };
	struct c_type c = { .size = 4, .is_signed = true };
	bool known = true, pointer = false, is_bool = false, is_auto = false;
	unsigned int stars = 0;

	while (is_qualifier(&ps->tok))
		parser__next(ps);
	while (type_word(&w, &ps->tok) || is_qualifier(&ps->tok))
		parser__next(ps);
	if (w.words) {
		c.size = w.longs ? 8 : w.shorts ? 2 : w.chars || w.is_void ? 1 : 4;
		c.is_signed = !w.is_unsigned && !w.is_void;
	} else {
		is_bool = token__is(&ps->tok, "bool") || token__is(&ps->tok, "_Bool");
		is_auto = token__is(&ps->tok, "__auto_type");
		if (!named_type(ps, &c, &known))
			return false;
	}
	for (; token__is(&ps->tok, "*") || is_qualifier(&ps->tok); parser__next(ps)) {
		stars += token__is(&ps->tok, "*");
		pointer = stars > 0;
	}
	if (!pointer && !is_auto && (!known || w.is_void))
		return false;
	*ret_type = (struct type_name){
		.class = pointer ? CLASS_PTR : CLASS_INT,
		.size = pointer ? 8 : c.size,
		.is_signed = !pointer && c.is_signed,
		.is_bool = is_bool && !pointer,
		.is_auto = is_auto && !pointer,
		.esize = stars > 1 ? 8 :
			 known	   ? c.size :
				     0,
		.esigned = stars == 1 && c.is_signed,
	};
	return true;
}
