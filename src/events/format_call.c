/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The functions that a print fmt may call: one row of the table each. */
#include "format_parse.h"

#include "array.h"
#include "cleanup.h"

#include <stdlib.h>

static int dynamic_field(struct parser *ps)
{
	int i = parser__field(ps);

	if (i < 0)
		return -1;
	if (ps->f->fields[i].kind != EV_FIELD_DATA_LOC &&
	    ps->f->fields[i].kind != EV_FIELD_REL_LOC) {
		parser__fail(ps, "'%s' is not a dynamic field", ps->f->fields[i].name);
		return -1;
	}
	return i;
}

/* __get_dynamic_array(field), __get_str(field): the address of its data */
static uint32_t call_dyn_addr(struct parser *ps, int arg)
{
	struct node n = { .op = NODE_DYN_ADDR, .class = CLASS_REC, .size = 8, .esize = 1 };
	int field = dynamic_field(ps);

	if (field < 0)
		return 0;
	n.a = field;
	n.esigned = ps->f->fields[field].is_char;
	return node__add(ps, &n);
}

static uint32_t dyn_len(struct parser *ps, uint32_t field)
{
	return node__add(
		ps, &(struct node){ .op = NODE_DYN_LEN, .size = 4, .is_signed = true, .a = field });
}

static uint32_t call_dyn_len(struct parser *ps, int arg)
{
	int field = dynamic_field(ps);

	return field < 0 ? 0 : dyn_len(ps, field);
}

static uint32_t call_bitmask(struct parser *ps, int arg)
{
	struct node n = { .op = NODE_BITMASK, .class = CLASS_TEXT, .size = 8 };
	int field = dynamic_field(ps);

	n.a = field < 0 ? 0 : field;
	return node__add(ps, &n);
}

static void add_symbol(struct parser *ps, const struct symbol *s)
{
	if (!ps->failed && array__append(&ps->f->symbols, &ps->f->nr_symbols, *s))
		parser__fail(ps, FORMAT_NO_MEMORY);
}

/* { value, "name" }; false for an entry without a name, which ends the list for the kernel */
static bool parse_symbol(struct parser *ps, struct symbol *ret_symbol)
{
	bool named;
	uint32_t value;

	parser__expect(ps, "{");
	if (parser__accept(ps, "}"))
		return false;
	value = parser__expr(ps);
	if (!ps->failed && ps->f->nodes[value].op != NODE_CONST)
		parser__fail(ps, "a constant expected");
	parser__expect(ps, ",");
	named = ps->tok.kind == TOKEN_STRING;
	if (named)
		parser__strings(ps, &ret_symbol->name, &ret_symbol->len);
	else
		node__const_value(ps, parser__expr(ps), 0, 0);
	parser__accept(ps, ",");
	parser__expect(ps, "}");
	if (ps->failed)
		return false;
	ret_symbol->value = ps->f->nodes[value].val;
	return named;
}

/* The list of symbols up to the closing parenthesis. */
static void parse_symbols(struct parser *ps, struct node *n)
{
	struct symbol s;
	bool ended = false;

	n->b = ps->f->nr_symbols;
	while (!ps->failed && parser__accept(ps, ",")) {
		if (token__is(&ps->tok, ")"))
			break;
		ended |= !parse_symbol(ps, &s);
		if (!ended)
			add_symbol(ps, &s);
	}
	n->c = ps->f->nr_symbols - n->b;
}

static bool is_scalar(struct parser *ps, uint32_t node)
{
	if (!ps->failed && ps->f->nodes[node].class > CLASS_PTR)
		parser__fail(ps, "a number expected");
	return !ps->failed;
}

static uint32_t call_flags(struct parser *ps, int arg)
{
	struct node n = { .op = NODE_FLAGS, .class = CLASS_TEXT, .size = 8 };
	uint32_t offset = ps->f->pool.len, len = 0;

	n.a = parser__expr(ps);
	is_scalar(ps, n.a);
	parser__expect(ps, ",");
	if (!parser__accept(ps, "NULL"))
		parser__strings(ps, &offset, &len);
	n.val = (uint64_t)len << 32 | offset;
	parse_symbols(ps, &n);
	return node__add(ps, &n);
}

static uint32_t call_symbolic(struct parser *ps, int arg)
{
	struct node n = { .op = NODE_SYMBOLIC, .class = CLASS_TEXT, .size = 8 };

	n.a = parser__expr(ps);
	is_scalar(ps, n.a);
	parse_symbols(ps, &n);
	return node__add(ps, &n);
}

static bool is_bytes(struct parser *ps, uint32_t node)
{
	if (!ps->failed && ps->f->nodes[node].class != CLASS_REC)
		parser__fail(ps, "an address in the record expected");
	return !ps->failed;
}

/* __print_hex(address, bytes); arg: without blanks */
static uint32_t call_hex(struct parser *ps, int arg)
{
	struct node n = { .op = NODE_HEX, .class = CLASS_TEXT, .size = 8, .val = arg };

	n.a = parser__expr(ps);
	is_bytes(ps, n.a);
	parser__expect(ps, ",");
	n.b = parser__expr(ps);
	is_scalar(ps, n.b);
	return node__add(ps, &n);
}

/* __print_array(address, elements, bytes per element) */
static uint32_t call_array(struct parser *ps, int arg)
{
	struct node n = { .op = NODE_ARRAY, .class = CLASS_TEXT, .size = 8 };

	n.a = parser__expr(ps);
	is_bytes(ps, n.a);
	parser__expect(ps, ",");
	n.b = parser__expr(ps);
	is_scalar(ps, n.b);
	parser__expect(ps, ",");
	n.c = node__const_value(ps, parser__expr(ps), 1, 255);
	return node__add(ps, &n);
}

/* __print_dynamic_array(field, bytes per element) */
static uint32_t call_dynamic_array(struct parser *ps, int arg)
{
	struct node n = { .op = NODE_ARRAY, .class = CLASS_TEXT, .size = 8 };
	int field = dynamic_field(ps);

	parser__expect(ps, ",");
	n.c = node__const_value(ps, parser__expr(ps), 1, 255);
	if (ps->failed)
		return 0;
	n.a = node__add(ps, &(struct node){ .op = NODE_DYN_ADDR,
					    .class = CLASS_REC,
					    .size = 8,
					    .esize = 1,
					    .a = field });
	n.b = node__binary(ps, NODE_DIV, dyn_len(ps, field), node__const(ps, n.c, 8, false));
	return node__add(ps, &n);
}

/* __print_hex_dump(prefix, prefix type, row, group, address, bytes, with characters) */
static uint32_t call_hex_dump(struct parser *ps, int arg)
{
	struct node n = { .op = NODE_HEX_DUMP, .class = CLASS_TEXT, .size = 8 };
	struct node literal = { .op = NODE_LITERAL, .class = CLASS_TEXT, .size = 8 };
	uint64_t type, row, group;

	parser__strings(ps, &literal.a, &literal.b);
	literal.val = literal.a;
	n.c = node__add(ps, &literal);
	parser__expect(ps, ",");
	/* DUMP_PREFIX_NONE, _ADDRESS, _OFFSET, as numbers or names */
	type = parser__accept(ps, "DUMP_PREFIX_NONE") ?
		       0 :
	       parser__accept(ps, "DUMP_PREFIX_ADDRESS") ?
		       1 :
	       parser__accept(ps, "DUMP_PREFIX_OFFSET") ?
		       2 :
		       (uint64_t)node__const_value(ps, parser__expr(ps), 0, 2);
	parser__expect(ps, ",");
	row = node__const_value(ps, parser__expr(ps), 0, 255);
	parser__expect(ps, ",");
	group = node__const_value(ps, parser__expr(ps), 0, 255);
	parser__expect(ps, ",");
	n.a = parser__expr(ps);
	is_bytes(ps, n.a);
	parser__expect(ps, ",");
	n.b = parser__expr(ps);
	is_scalar(ps, n.b);
	parser__expect(ps, ",");
	n.val = DUMP_PACK(type, row, group, node__const_value(ps, parser__expr(ps), 0, 1));
	return node__add(ps, &n);
}

static const struct type_name type_u64 = { .class = CLASS_INT, .size = 8 };
static const struct type_name type_u32 = { .class = CLASS_INT, .size = 4 };
static const struct type_name type_long = { .class = CLASS_INT, .size = 8, .is_signed = true };

/* __print_ns_to_secs(ns) and, if arg is set, __print_ns_without_secs(ns) */
static uint32_t call_ns(struct parser *ps, int arg)
{
	uint32_t ns = node__cast(ps, parser__expr(ps), &type_u64);
	uint32_t second = node__const(ps, 1000000000, 8, false);

	if (arg)
		return node__cast(ps, node__binary(ps, NODE_MOD, ns, second), &type_u32);
	return node__binary(ps, NODE_DIV, ns, second);
}

static uint32_t call_msecs(struct parser *ps, int arg)
{
	struct node n = { .op = NODE_MSECS, .size = 4 };

	n.a = node__cast(ps, parser__expr(ps), &type_u64);
	n.a = node__add(ps, &n);
	return n.a;
}

static uint32_t call_expect(struct parser *ps, int arg)
{
	uint32_t node = node__cast(ps, parser__expr(ps), &type_long);

	parser__expect(ps, ",");
	parser__expr(ps);
	return node;
}

static uint32_t call_constant_p(struct parser *ps, int arg)
{
	uint32_t node = parser__expr(ps);

	if (ps->failed)
		return 0;
	return node__const(ps, ps->f->nodes[node].is_const, 4, true);
}

/* Swaps the byte order of arg bytes. */
static uint32_t call_swap(struct parser *ps, int arg)
{
	struct node n = { .op = NODE_BSWAP, .size = arg };
	const struct type_name type = { .class = CLASS_INT, .size = arg };

	n.a = node__cast(ps, parser__expr(ps), &type);
	return node__add(ps, &n);
}

/* A function that returns its argument. */
static uint32_t call_same(struct parser *ps, int arg)
{
	return parser__expr(ps);
}

static uint32_t add_literal(struct parser *ps, const char *s)
{
	struct node n = { .op = NODE_LITERAL,
			  .class = CLASS_TEXT,
			  .size = 8,
			  .b = strlen(s),
			  .val = ps->f->pool.len };

	strbuf__puts(&ps->f->pool, s);
	return node__add(ps, &n);
}

/* include/linux/edac.h: the name of an enum hw_event_mc_err_type */
static uint32_t call_mc_event_error_type(struct parser *ps, int arg)
{
	static const char *const names[] = { "Corrected", "Uncorrected", "Deferred", "Fatal" };
	struct node n = { .op = NODE_SYMBOLIC, .class = CLASS_TEXT, .size = 8 };
	struct symbol s;
	uint32_t type = node__cast(ps, parser__expr(ps), &type_u32);

	n.a = type;
	n.b = ps->f->nr_symbols;
	n.c = ARRAY_SIZE(names);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		s = (struct symbol){ i, ps->f->pool.len, strlen(names[i]) };
		strbuf__puts(&ps->f->pool, names[i]);
		add_symbol(ps, &s);
	}
	type = node__binary(ps, NODE_LT, type, node__const(ps, ARRAY_SIZE(names), 4, false));
	return node__cond(ps, type, node__add(ps, &n), add_literal(ps, "Info"));
}

/* drivers/nvme/host/trace.c: "disk=NAME, ", or an empty string without a name; of (p, name) */
static uint32_t call_nvme_disk_name(struct parser *ps, int arg)
{
	struct node n = { .op = NODE_WRAP, .class = CLASS_TEXT, .size = 8 };
	uint32_t name;

	parser__expect(ps, "p");
	parser__expect(ps, ",");
	name = parser__expr(ps);
	if (!is_bytes(ps, name))
		return 0;
	n.a = name;
	n.b = add_literal(ps, "disk=");
	n.c = add_literal(ps, ", ");
	return node__cond(ps, node__deref(ps, name), node__add(ps, &n), add_literal(ps, ""));
}

static const struct {
	const char *name;
	uint32_t (*parse)(struct parser *ps, int arg);
	int arg;
} calls[] = {
	{ "__get_str", call_dyn_addr, 0 },
	{ "__get_rel_str", call_dyn_addr, 0 },
	{ "__get_dynamic_array", call_dyn_addr, 0 },
	{ "__get_rel_dynamic_array", call_dyn_addr, 0 },
	{ "__get_sockaddr", call_dyn_addr, 0 },
	{ "__get_rel_sockaddr", call_dyn_addr, 0 },
	{ "__get_dynamic_array_len", call_dyn_len, 0 },
	{ "__get_rel_dynamic_array_len", call_dyn_len, 0 },
	{ "__get_bitmask", call_bitmask, 0 },
	{ "__get_rel_bitmask", call_bitmask, 0 },
	{ "__get_cpumask", call_bitmask, 0 },
	{ "__get_rel_cpumask", call_bitmask, 0 },
	{ "__print_flags", call_flags, 0 },
	{ "__print_flags_u64", call_flags, 0 },
	{ "__print_symbolic", call_symbolic, 0 },
	{ "__print_symbolic_u64", call_symbolic, 0 },
	{ "__print_hex", call_hex, 0 },
	{ "__print_hex_str", call_hex, 1 },
	{ "__print_array", call_array, 0 },
	{ "__print_dynamic_array", call_dynamic_array, 0 },
	{ "__print_hex_dump", call_hex_dump, 0 },
	{ "__print_ns_to_secs", call_ns, 0 },
	{ "__print_ns_without_secs", call_ns, 1 },
	{ "jiffies_to_msecs", call_msecs, 0 },
	{ "__builtin_expect", call_expect, 0 },
	{ "__builtin_constant_p", call_constant_p, 0 },
	{ "__builtin_bswap16", call_swap, 2 },
	{ "__builtin_bswap32", call_swap, 4 },
	{ "__builtin_bswap64", call_swap, 8 },
	{ "__fswab16", call_swap, 2 },
	{ "__fswab32", call_swap, 4 },
	{ "__fswab64", call_swap, 8 },
	{ "ktime_to_ns", call_same, 0 },
	{ "mc_event_error_type", call_mc_event_error_type, 0 },
	{ "nvme_trace_disk_name", call_nvme_disk_name, 0 },
};

uint32_t parser__call(struct parser *ps, const struct token *name)
{
	uint32_t node;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (!token__is(name, calls[i].name))
			continue;
		node = calls[i].parse(ps, calls[i].arg);
		parser__expect(ps, ")");
		return ps->failed ? 0 : node;
	}
	return UINT32_MAX;
}
