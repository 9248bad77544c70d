/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Internals of the print fmt parser.  Errors are sticky: the first one is kept in why, the parser
 * then sees only the end of the text, and callers get nodes that are never used.
 */
#ifndef EVENTS_FORMAT_PARSE_H
#define EVENTS_FORMAT_PARSE_H

#include "format_priv.h"

enum token_kind { TOKEN_END, TOKEN_IDENT, TOKEN_NUMBER, TOKEN_STRING, TOKEN_CHAR, TOKEN_PUNCT };

struct token {
	enum token_kind kind;
	const char *s; /* as written; strings and characters with their quotes */
	size_t len;
};

#define PARSER_MAX_LOCALS 16

struct parser {
	struct ev_format *f;
	const char *pos, *end;
	struct token tok; /* the next one */
	unsigned int depth;
	struct {
		const char *name;
		size_t len;
		uint32_t node;
	} locals[PARSER_MAX_LOCALS]; /* variables of statement expressions */
	unsigned int nr_locals;
	bool failed;
	char why[128];
};

/* A type as written in a cast, a declaration or sizeof. */
struct type_name {
	uint8_t class; /* CLASS_INT or CLASS_PTR */
	uint8_t size;
	bool is_signed;
	bool is_bool;
	bool is_auto; /* __auto_type: the type of the value */
	uint8_t esize; /* CLASS_PTR; 0: unknown */
	bool esigned;
};

/* format_lex.c */
void parser__fail(struct parser *ps, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void parser__next(struct parser *ps);
bool token__is(const struct token *t, const char *s);
bool parser__accept(struct parser *ps, const char *s);
void parser__expect(struct parser *ps, const char *s);
bool parser__type(struct parser *ps, struct type_name *ret_type);
/* One or more string literals in a row, decoded into the pool. */
void parser__strings(struct parser *ps, uint32_t *ret_offset, uint32_t *ret_len);
uint64_t parser__char(struct parser *ps);
void parser__number(struct parser *ps, struct node *ret_node);

/* format_node.c: each returns the index of a new node, folded if its operands are constant */
uint32_t node__const(struct parser *ps, uint64_t v, unsigned int size, bool is_signed);
uint32_t node__add(struct parser *ps, const struct node *n);
uint32_t node__unary(struct parser *ps, enum node_op op, uint32_t a);
uint32_t node__binary(struct parser *ps, enum node_op op, uint32_t a, uint32_t b);
uint32_t node__cond(struct parser *ps, uint32_t a, uint32_t b, uint32_t c);
uint32_t node__cast(struct parser *ps, uint32_t a, const struct type_name *t);
uint32_t node__field(struct parser *ps, uint32_t field);
uint32_t node__deref(struct parser *ps, uint32_t a);
uint32_t node__address(struct parser *ps, uint32_t a);
uint32_t node__size(struct parser *ps, uint32_t a);
int64_t node__const_value(struct parser *ps, uint32_t a, int64_t min, int64_t max);

/* format_parse.c */
uint32_t parser__expr(struct parser *ps); /* with ?: but without a comma */
int parser__field(struct parser *ps); /* parses a field name: its index, or -1 */

/* format_call.c: parses a call after "name("; UINT32_MAX if the function is unknown */
uint32_t parser__call(struct parser *ps, const struct token *name);

#endif /* EVENTS_FORMAT_PARSE_H */
