/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Parses the print fmt's C expressions by precedence climbing. */
#include "format_parse.h"

#include "cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Bounds the nesting: the text is untrusted and the parser recurses. */
static bool enter(struct parser *ps)
{
	if (++ps->depth > FORMAT_MAX_NESTING)
		parser__fail(ps, "nested too deep");
	return !ps->failed;
}

static int field_index(const struct ev_format *f, const char *name, size_t len)
{
	for (uint32_t i = 0; i < f->nr_fields; i++)
		if (strlen(f->fields[i].name) == len && !memcmp(f->fields[i].name, name, len))
			return i;
	return -1;
}

int parser__field(struct parser *ps)
{
	struct token t = ps->tok;
	int i;

	if (parser__accept(ps, "(")) {
		if (!enter(ps))
			return -1;
		i = parser__field(ps);
		ps->depth--;
		parser__expect(ps, ")");
		return ps->failed ? -1 : i;
	}
	i = t.kind == TOKEN_IDENT ? field_index(ps->f, t.s, t.len) : -1;
	if (i < 0)
		parser__fail(ps, "no field '%.*s'", (int)MIN(t.len, 60), t.s);
	else
		parser__next(ps);
	return i;
}

/* The local variable of that name, the innermost first; UINT32_MAX: none. */
static uint32_t find_local(const struct parser *ps, const struct token *t)
{
	for (unsigned int i = ps->nr_locals; i-- > 0;)
		if (ps->locals[i].len == t->len && !memcmp(ps->locals[i].name, t->s, t->len))
			return ps->locals[i].node;
	return UINT32_MAX;
}

static uint32_t parse_identifier(struct parser *ps)
{
	struct token t = ps->tok;
	uint64_t v;

	parser__next(ps);
	if (token__is(&t, "REC")) {
		int field;

		/* (REC)->field: the caller, which opened the '(', consumes the ')' */
		parser__expect(ps, "->");
		field = parser__field(ps);
		return field < 0 ? 0 : node__field(ps, field);
	}
	if (parser__accept(ps, "(")) {
		uint32_t node = parser__call(ps, &t);

		if (node == UINT32_MAX) {
			parser__fail(ps, "unknown function '%.*s'", (int)MIN(t.len, 60), t.s);
			return 0;
		}
		return node;
	}
	if (find_local(ps, &t) != UINT32_MAX)
		return find_local(ps, &t);
	if (token__is(&t, "jiffies")) {
		ps->f->needs_jiffies = true;
		return node__add(ps, &(struct node){ .op = NODE_JIFFIES, .size = 8 });
	}
	if (c_constant__lookup(t.s, t.len, &v))
		return node__const(ps, v, 8, true);
	parser__fail(ps, "unknown identifier '%.*s'", (int)MIN(t.len, 60), t.s);
	return 0;
}

/* type name = expr; in a statement expression, after the type */
static void parse_declaration(struct parser *ps, const struct type_name *type)
{
	struct token name = ps->tok;
	uint32_t node;

	if (name.kind != TOKEN_IDENT || ps->nr_locals == PARSER_MAX_LOCALS) {
		parser__fail(ps, "unsupported declaration");
		return;
	}
	parser__next(ps);
	parser__expect(ps, "=");
	node = node__cast(ps, parser__expr(ps), type);
	parser__expect(ps, ";");
	if (ps->failed || ps->nr_locals == PARSER_MAX_LOCALS)
		return;
	ps->locals[ps->nr_locals].name = name.s;
	ps->locals[ps->nr_locals].len = name.len;
	ps->locals[ps->nr_locals++].node = node;
}

/* ({ declarations; value; }), after the "({" */
static uint32_t parse_statements(struct parser *ps)
{
	unsigned int outer = ps->nr_locals;
	uint32_t node = 0;

	while (!ps->failed && !token__is(&ps->tok, "}")) {
		struct parser saved = *ps;
		struct type_name type;

		if (find_local(ps, &ps->tok) == UINT32_MAX && parser__type(ps, &type) &&
		    ps->tok.kind == TOKEN_IDENT) {
			parse_declaration(ps, &type);
			continue;
		}
		ps->pos = saved.pos;
		ps->tok = saved.tok;
		node = parser__expr(ps);
		parser__expect(ps, ";");
	}
	parser__expect(ps, "}");
	parser__expect(ps, ")");
	ps->nr_locals = outer;
	return node;
}

/* Whether the next token starts an operand, so that the (type) before it was a cast. */
static bool starts_operand(const struct token *t)
{
	return t->kind == TOKEN_IDENT || t->kind == TOKEN_NUMBER || t->kind == TOKEN_CHAR ||
	       t->kind == TOKEN_STRING || token__is(t, "(") || token__is(t, "-") ||
	       token__is(t, "~") || token__is(t, "!") || token__is(t, "&") || token__is(t, "*") ||
	       token__is(t, "+");
}

static uint32_t parse_unary(struct parser *ps);

/* A cast, a statement expression or an expression in parentheses, after the '('. */
static uint32_t parse_parenthesis(struct parser *ps, bool *ret_is_cast)
{
	struct parser saved = *ps;
	struct type_name type;
	uint32_t node;

	*ret_is_cast = false;
	if (parser__accept(ps, "{"))
		return parse_statements(ps);
	if (token__is(&ps->tok, "REC")) {
		parser__next(ps);
		if (parser__accept(ps, ")")) {
			int field;

			parser__expect(ps, "->");
			field = parser__field(ps);
			return field < 0 ? 0 : node__field(ps, field);
		}
	} else if (parser__type(ps, &type) && parser__accept(ps, ")") && starts_operand(&ps->tok)) {
		*ret_is_cast = true;
		return node__cast(ps, parse_unary(ps), &type);
	}
	if (ps->failed)
		return 0;
	ps->pos = saved.pos;
	ps->tok = saved.tok;
	node = parser__expr(ps);
	parser__expect(ps, ")");
	return node;
}

static uint32_t parse_sizeof(struct parser *ps)
{
	struct parser saved;
	struct type_name type;
	uint32_t node;

	if (!token__is(&ps->tok, "("))
		return node__size(ps, parse_unary(ps));
	saved = *ps;
	parser__next(ps);
	if (parser__type(ps, &type) && parser__accept(ps, ")"))
		return node__const(ps, type.size, 8, false);
	if (ps->failed)
		return 0;
	ps->pos = saved.pos;
	ps->tok = saved.tok;
	node = parse_unary(ps);
	return node__size(ps, node);
}

static uint32_t parse_primary(struct parser *ps, bool *ret_is_cast)
{
	struct node n;

	*ret_is_cast = false;
	switch (ps->tok.kind) {
	case TOKEN_NUMBER:
		parser__number(ps, &n);
		return node__add(ps, &n);
	case TOKEN_CHAR:
		return node__const(ps, parser__char(ps), 4, true);
	case TOKEN_STRING:
		n = (struct node){ .op = NODE_LITERAL, .class = CLASS_TEXT, .size = 8 };
		parser__strings(ps, &n.a, &n.b);
		n.val = n.a;
		return node__add(ps, &n);
	case TOKEN_IDENT:
		return parse_identifier(ps);
	default:
		if (parser__accept(ps, "("))
			return parse_parenthesis(ps, ret_is_cast);
		parser__fail(ps, "an operand expected before '%.*s'", (int)MIN(ps->tok.len, 40),
			     ps->tok.s);
		return 0;
	}
}

static uint32_t parse_postfix(struct parser *ps)
{
	bool is_cast;
	uint32_t node = parse_primary(ps, &is_cast);

	while (!ps->failed && !is_cast && parser__accept(ps, "[")) {
		uint32_t i = parser__expr(ps);

		parser__expect(ps, "]");
		node = node__deref(ps, node__binary(ps, NODE_ADD, node, i));
	}
	return node;
}

static uint32_t parse_unary(struct parser *ps)
{
	uint32_t node;

	if (!enter(ps))
		return 0;
	if (parser__accept(ps, "-"))
		node = node__unary(ps, NODE_NEG, parse_unary(ps));
	else if (parser__accept(ps, "~"))
		node = node__unary(ps, NODE_NOT, parse_unary(ps));
	else if (parser__accept(ps, "!"))
		node = node__unary(ps, NODE_LNOT, parse_unary(ps));
	else if (parser__accept(ps, "+"))
		node = node__binary(ps, NODE_ADD, parse_unary(ps), node__const(ps, 0, 4, true));
	else if (parser__accept(ps, "*"))
		node = node__deref(ps, parse_unary(ps));
	else if (parser__accept(ps, "&"))
		node = node__address(ps, parse_unary(ps));
	else if (parser__accept(ps, "sizeof"))
		node = parse_sizeof(ps);
	else
		node = parse_postfix(ps);
	ps->depth--;
	return node;
}

static const struct {
	char s[3];
	uint8_t level; /* binds tighter when higher */
	uint8_t op;
} binaries[] = {
	{ "*", 10, NODE_MUL },	{ "/", 10, NODE_DIV }, { "%", 10, NODE_MOD }, { "+", 9, NODE_ADD },
	{ "-", 9, NODE_SUB },	{ "<<", 8, NODE_SHL }, { ">>", 8, NODE_SHR }, { "<", 7, NODE_LT },
	{ ">", 7, NODE_GT },	{ "<=", 7, NODE_LE },  { ">=", 7, NODE_GE },  { "==", 6, NODE_EQ },
	{ "!=", 6, NODE_NE },	{ "&", 5, NODE_AND },  { "^", 4, NODE_XOR },  { "|", 3, NODE_OR },
	{ "&&", 2, NODE_LAND }, { "||", 1, NODE_LOR },
};

static uint32_t parse_binary(struct parser *ps, unsigned int level)
{
	uint32_t node;
	size_t i;

	if (!enter(ps))
		return 0;
	node = parse_unary(ps);
	while (!ps->failed && ps->tok.kind == TOKEN_PUNCT) {
		for (i = 0; i < ARRAY_SIZE(binaries); i++)
			if (token__is(&ps->tok, binaries[i].s))
				break;
		if (i == ARRAY_SIZE(binaries) || binaries[i].level < level)
			break;
		parser__next(ps);
		node = node__binary(ps, binaries[i].op, node,
				    parse_binary(ps, binaries[i].level + 1));
	}
	ps->depth--;
	return node;
}

uint32_t parser__expr(struct parser *ps)
{
	uint32_t node, b, c;

	if (!enter(ps))
		return 0;
	node = parse_binary(ps, 1);
	if (parser__accept(ps, "?")) {
		b = token__is(&ps->tok, ":") ? node : parser__expr(ps);
		parser__expect(ps, ":");
		c = parser__expr(ps);
		node = node__cond(ps, node, b, c);
	}
	ps->depth--;
	return node;
}

int format_parse_print(struct ev_format *f, const char *text, size_t len)
{
	struct parser ps = { .f = f, .pos = text, .end = text + len };
	uint32_t fmt, fmt_len, nr_args = 0, args[FORMAT_MAX_ARGS];
	const char *why = NULL;

	parser__next(&ps);
	parser__strings(&ps, &fmt, &fmt_len);
	while (!ps.failed && parser__accept(&ps, ",")) {
		if (nr_args == FORMAT_MAX_ARGS) {
			parser__fail(&ps, "too many arguments");
			break;
		}
		args[nr_args++] = parser__expr(&ps);
	}
	if (!ps.failed && ps.tok.kind != TOKEN_END)
		parser__fail(&ps, "unexpected '%.*s'", (int)MIN(ps.tok.len, 40), ps.tok.s);
	why = ps.failed ? ps.why : format_plan(f, fmt, fmt_len, args, nr_args);
	if (strbuf__failed(&f->pool) || (why && !strcmp(why, FORMAT_NO_MEMORY)))
		return -ENOMEM;
	f->why = why ? strdup(why) : NULL;
	return why && !f->why ? -ENOMEM : 0;
}
