/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Internals of a parsed format: an expression is a tree of nodes in one array (children precede
 * their parents, so evaluation cannot loop), a print fmt is an array of ops that refer to nodes.
 */
#ifndef EVENTS_FORMAT_PRIV_H
#define EVENTS_FORMAT_PRIV_H

#include "format.h"
#include "strbuf.h"

#define FORMAT_MAX_TEXT (256u << 10) /* bytes of a format text */
#define FORMAT_MAX_FIELDS 512u
#define FORMAT_MAX_ARGS 128u
#define FORMAT_MAX_NODES 16384u
#define FORMAT_MAX_NESTING 300u /* of the parser, which uses three for each parenthesis */
#define FORMAT_MAX_DEPTH 64u /* of an expression's nodes, constants folded */
#define FORMAT_MAX_COST 4096u /* nodes visited to evaluate one expression */
#define FORMAT_MAX_OUTPUT (64u << 10) /* bytes of one printed event */

enum node_op {
	/* numbers */
	NODE_CONST, /* val */
	NODE_FIELD, /* size bytes at val */
	NODE_LOAD, /* size bytes at the address a */
	NODE_DYN_LEN, /* bytes of the dynamic field a (an index into fields) */
	NODE_NEG,
	NODE_NOT,
	NODE_LNOT,
	NODE_CAST,
	NODE_MUL,
	NODE_DIV,
	NODE_MOD,
	NODE_ADD,
	NODE_SUB,
	NODE_SHL,
	NODE_SHR,
	NODE_LT,
	NODE_GT,
	NODE_LE,
	NODE_GE,
	NODE_EQ,
	NODE_NE,
	NODE_AND,
	NODE_XOR,
	NODE_OR,
	NODE_LAND,
	NODE_LOR,
	NODE_COND, /* a ? b : c, of any type */
	NODE_JIFFIES, /* the kernel's clock at the event */
	NODE_MSECS, /* jiffies_to_msecs(a) */
	NODE_BSWAP, /* size bytes of a in reverse order */
	/* addresses in the record, which evaluate to an offset */
	NODE_FIELD_ADDR, /* the fixed array field a */
	NODE_DYN_ADDR, /* the data of the dynamic field a */
	/* texts */
	NODE_LITERAL, /* pool[val], b bytes */
	NODE_FLAGS, /* a; symbols b .. b+c; pool[val]: delimiter */
	NODE_SYMBOLIC, /* a; symbols b .. b+c */
	NODE_HEX, /* bytes at a, b of them; val: without blanks */
	NODE_ARRAY, /* elements at a, b of them, of c bytes */
	NODE_BITMASK, /* the dynamic field a */
	NODE_WRAP, /* the text b, the text a, the text c */
	NODE_HEX_DUMP, /* bytes at a, b of them, after literal c; val: packed, see below */
};

/* NODE_HEX_DUMP's val: prefix type, bytes per row, bytes per group, whether with characters. */
#define DUMP_PACK(type, row, group, ascii) \
	((type) | (row) << 8 | (group) << 16 | (uint64_t)(ascii) << 24)
#define DUMP_TYPE(v) ((v)&0xff)
#define DUMP_ROW(v) ((v) >> 8 & 0xff)
#define DUMP_GROUP(v) ((v) >> 16 & 0xff)
#define DUMP_ASCII(v) ((v) >> 24 & 1)

enum node_class {
	CLASS_INT,
	CLASS_PTR, /* an address of the recorded kernel */
	CLASS_REC, /* an address in the record */
	CLASS_TEXT, /* the output of a print helper */
};

struct node {
	uint8_t op; /* enum node_op */
	uint8_t class; /* enum node_class */
	uint8_t size; /* bytes of the value: 1, 2, 4, 8 */
	bool is_signed;
	uint8_t esize; /* CLASS_PTR, CLASS_REC: size of the target; esigned: its sign */
	bool esigned;
	bool is_const;
	uint16_t depth;
	uint32_t cost;
	uint32_t a, b, c;
	uint64_t val;
};

struct symbol {
	uint64_t value;
	uint32_t name, len; /* pool */
};

enum plan_op {
	OP_LITERAL, /* pool[lit], lit_len bytes */
	OP_INT, /* %d %i %u %x %X %o */
	OP_CHAR,
	OP_TEXT, /* %s of a text or of bytes in the record */
	OP_STRING_PTR, /* %s of a kernel address */
	OP_PTR, /* %p %px %pK and the hashed ones: the address */
	OP_SYMBOL, /* %pS %ps %pB */
	OP_MEM, /* %pI4 and all others that print memory of the record */
	OP_PROBE_IP, /* %lx of a probe's address: the kernel prints the symbol, or 0x%lx */
	OP_SYSCALL_STRING, /* a system call's pointer argument with a companion string */
};

#define FMT_LEFT 1u
#define FMT_PLUS 2u
#define FMT_SPACE 4u
#define FMT_ALT 8u
#define FMT_ZERO 16u
#define FMT_SIGN 32u /* %d */
#define FMT_UPPER 64u
#define FMT_WIDTH_ARG 128u /* width is a node */
#define FMT_PREC_ARG 256u /* prec is a node */

struct op {
	uint8_t kind; /* enum plan_op */
	uint8_t size; /* OP_INT: bytes that printf uses of the value */
	uint8_t base;
	uint16_t flags;
	int32_t width; /* -1: none */
	int32_t prec; /* -1: none */
	uint32_t node;
	uint32_t lit, lit_len; /* pool: OP_LITERAL's text; OP_MEM, OP_SYMBOL: letters after %p */
	uint32_t field; /* OP_SYSCALL_STRING: the argument; OP_PROBE_IP: the address */
};

/* Data of a field that only printing uses. */
struct field_extra {
	uint32_t companion; /* index of the string field for this pointer, plus 1 */
	uint32_t json, json_len; /* pool: "name": with its quotes */
	bool hidden; /* common, or a companion: not shown on its own */
};

struct ev_format {
	char *name;
	uint32_t id, fixed_size;
	struct ev_field *fields;
	struct field_extra *extra; /* per field */
	uint32_t nr_fields;
	bool compiled, is_syscall;
	bool needs_jiffies; /* printed as fields if the caller does not provide jiffies */
	char *why; /* why it is not compiled */
	struct node *nodes;
	uint32_t nr_nodes;
	struct symbol *symbols;
	uint32_t nr_symbols;
	struct op *ops;
	uint32_t nr_ops;
	struct strbuf pool; /* decoded string literals */
};

/* The state of printing one event. */
struct printer {
	const struct ev_format *f;
	const struct ev_print_ctx *ctx;
	const uint8_t *rec;
	size_t len;
	struct strbuf *out;
	size_t limit; /* maximum of out->len for the event */
};

struct printf_spec {
	uint32_t flags;
	uint8_t base;
	int width, prec;
};

/* Why a print fmt is not compiled if that is no property of the text. */
#define FORMAT_NO_MEMORY "out of memory"

/* format_parse.c: compiles the text after "print fmt: ", or sets f->why it cannot.  -ENOMEM. */
int format_parse_print(struct ev_format *f, const char *text, size_t len);

/* format_type.c */
struct c_type {
	uint8_t size;
	bool is_signed;
};
bool c_type__lookup(const char *name, size_t len, struct c_type *ret_type);
bool c_constant__lookup(const char *name, size_t len, uint64_t *ret_value);

/* format_plan.c: compiles pool[fmt], len bytes, and the arguments to ops; NULL, or why not. */
const char *format_plan(struct ev_format *f, uint32_t fmt, uint32_t len, const uint32_t *args,
			uint32_t nr_args);

/* format_eval.c */
uint64_t node__eval(const struct printer *p, uint32_t node);
uint64_t value__norm(uint64_t v, unsigned int size, bool is_signed);
uint64_t value__load(const uint8_t *p, unsigned int size, bool is_signed);

/* format_text.c */
void printer__number(struct printer *p, uint64_t v, const struct printf_spec *spec);
void printer__widen(struct printer *p, size_t start, const struct printf_spec *spec);
void printer__string(struct printer *p, const void *s, size_t n, const struct printf_spec *spec);
void printer__text(struct printer *p, uint32_t node, int prec);
void printer__bitmask(struct printer *p, uint64_t offset, uint64_t nr_bits);
bool printer__full(const struct printer *p);

/* format_ptr.c */
/* Whether the n letters at s, after %p, are a conversion that prints memory. */
bool mem_letters__known(const char *s, size_t n);
void printer__mem(struct printer *p, uint64_t offset, const char *letters, size_t n,
		  const struct printf_spec *spec);

/* format_value.c */
void printer__fields(struct printer *p);
void printer__syscall_string(struct printer *p, const struct ev_field *field, bool is_argv);
bool field__is_argv(const struct ev_field *field);

static inline bool starts_with(const char *s, size_t len, const char *prefix)
{
	return len >= strlen(prefix) && !memcmp(s, prefix, strlen(prefix));
}

#endif /* EVENTS_FORMAT_PRIV_H */
