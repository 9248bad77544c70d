/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Compiles a print fmt's format string to ops: the kernel's printf (lib/vsprintf.c), not libc's. */
#include "format_priv.h"

#include "array.h"
#include "cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

struct planner {
	struct ev_format *f;
	const char *s, *end; /* in the pool, which no longer grows */
	const uint32_t *args;
	uint32_t nr_args, arg;
	const char *why;
};

static void add_op(struct planner *pl, const struct op *op)
{
	struct ev_format *f = pl->f;

	if (array__append(&f->ops, &f->nr_ops, *op))
		pl->why = FORMAT_NO_MEMORY;
}

static void add_literal(struct planner *pl, const char *s, size_t n)
{
	struct op op = { .kind = OP_LITERAL, .lit = s - pl->f->pool.s, .lit_len = n };
	struct op *last = pl->f->nr_ops ? &pl->f->ops[pl->f->nr_ops - 1] : NULL;

	if (!n)
		return;
	if (last && last->kind == OP_LITERAL && last->lit + last->lit_len == op.lit)
		last->lit_len += n;
	else
		add_op(pl, &op);
}

static uint32_t next_arg(struct planner *pl)
{
	if (pl->arg < pl->nr_args)
		return pl->args[pl->arg++];
	pl->why = "too few arguments for the format string";
	return 0;
}

static bool is_scalar(const struct planner *pl, uint32_t node)
{
	return !pl->why && pl->f->nodes[node].class <= CLASS_PTR;
}

/* A number or '*', limited to the output of one event. */
static int32_t width_or_prec(struct planner *pl, uint32_t *ret_node, bool *ret_is_arg)
{
	uint32_t n = 0;

	*ret_is_arg = pl->s < pl->end && *pl->s == '*';
	if (*ret_is_arg) {
		pl->s++;
		*ret_node = next_arg(pl);
		if (!is_scalar(pl, *ret_node))
			pl->why = "a number expected for '*'";
		return *ret_node;
	}
	for (; pl->s < pl->end && isdigit((unsigned char)*pl->s); pl->s++)
		n = MIN(n * 10 + (*pl->s - '0'), FORMAT_MAX_OUTPUT);
	return n;
}

static void parse_flags(struct planner *pl, struct op *op)
{
	for (; pl->s < pl->end; pl->s++) {
		switch (*pl->s) {
		case '-':
			op->flags |= FMT_LEFT;
			break;
		case '+':
			op->flags |= FMT_PLUS;
			break;
		case ' ':
			op->flags |= FMT_SPACE;
			break;
		case '#':
			op->flags |= FMT_ALT;
			break;
		case '0':
			op->flags |= FMT_ZERO;
			break;
		default:
			return;
		}
	}
}

/* The number of bytes that printf uses of an integer argument. */
static uint8_t parse_length(struct planner *pl)
{
	uint8_t size = 4;

	for (; pl->s < pl->end && strchr("hlLzjt", *pl->s) && *pl->s; pl->s++)
		size = *pl->s == 'h' ? size / 2 : 8;
	return size ? size : 1;
}

/* The field that an argument is, ignoring casts; -1: not a field. */
static int64_t field_of(const struct ev_format *f, uint32_t node)
{
	const struct node *n = &f->nodes[node];

	while (n->op == NODE_CAST)
		n = &f->nodes[n->a];
	for (uint32_t i = 0; n->op == NODE_FIELD && i < f->nr_fields; i++)
		if (f->fields[i].offset == n->val && f->fields[i].kind == EV_FIELD_INT)
			return i;
	return -1;
}

/* The argument is printed as an address: if it is a field, that holds one. */
static void note_address(struct planner *pl, uint32_t node, enum ev_address address)
{
	int64_t field = field_of(pl->f, node);

	if (field >= 0 && pl->f->fields[field].size == 8)
		pl->f->fields[field].address = MAX(pl->f->fields[field].address, address);
}

/* Whether the print format shows the data of a dynamic field. */
static bool is_printed(const struct ev_format *f, uint32_t field)
{
	for (uint32_t i = 0; i < f->nr_nodes; i++)
		if (f->nodes[i].op == NODE_DYN_ADDR && f->nodes[i].a == field)
			return true;
	return false;
}

/*
 * A pointer argument of a system call with a companion string; the kernel prints it as 0x%08lx, and
 * newer kernels some of the strings themselves.
 */
static bool plan_syscall_string(struct planner *pl, struct op *op)
{
	int64_t field = field_of(pl->f, op->node);

	if (!pl->f->is_syscall || op->base != 16 || field < 0 || !pl->f->extra[field].companion ||
	    is_printed(pl->f, pl->f->extra[field].companion - 1))
		return false;
	op->kind = OP_SYSCALL_STRING;
	op->field = field;
	return true;
}

/*
 * The address of a kprobe or uprobe: the `trace` file has the symbol there, or the address with 0x,
 * and for return probes, contrary to the print fmt, the return address before the probed address.
 */
static void plan_probe_ip(struct planner *pl, struct op *op)
{
	static const char func[] = "__probe_func", ret[] = "__probe_ret_ip";
	const struct ev_field *fields = pl->f->fields, *other;
	int64_t field = field_of(pl->f, op->node);

	if (field < 0 || op->base != 16 || op->width >= 0 ||
	    strncmp(fields[field].name, "__probe_", 8))
		return;
	note_address(pl, op->node, strcmp(fields[field].name, func) ? EV_CODE : EV_FUNCTION);
	other = ev_format__find(pl->f, strcmp(fields[field].name, func) ? func : ret);
	op->kind = OP_PROBE_IP;
	op->field = other && strcmp(fields[field].name, "__probe_ip") ? other - fields : field;
}

static void plan_int(struct planner *pl, struct op *op, char conversion)
{
	struct op *last;

	op->kind = OP_INT;
	op->base = conversion == 'o' ? 8 : conversion == 'x' || conversion == 'X' ? 16 : 10;
	op->flags |= conversion == 'X' ? FMT_UPPER : 0;
	op->flags |= conversion == 'd' || conversion == 'i' ? FMT_SIGN : 0;
	op->node = next_arg(pl);
	if (!is_scalar(pl, op->node)) {
		pl->why = pl->why ? pl->why : "a number expected";
		return;
	}
	last = pl->f->nr_ops ? &pl->f->ops[pl->f->nr_ops - 1] : NULL;
	plan_probe_ip(pl, op);
	/* the "0x" before the address moves into the op, because a string has no 0x */
	if (plan_syscall_string(pl, op) && last && last->kind == OP_LITERAL && last->lit_len >= 2 &&
	    !memcmp(pl->f->pool.s + last->lit + last->lit_len - 2, "0x", 2)) {
		last->lit_len -= 2;
		op->lit = last->lit + last->lit_len;
		op->lit_len = 2;
	}
	add_op(pl, op);
}

static void plan_string(struct planner *pl, struct op *op)
{
	const struct node *n;

	op->node = next_arg(pl);
	if (pl->why)
		return;
	n = &pl->f->nodes[op->node];
	op->kind = n->class <= CLASS_PTR ? OP_STRING_PTR : OP_TEXT;
	add_op(pl, op);
}

/* All letters and digits after %p belong to it, known or not. */
static void plan_pointer(struct planner *pl, struct op *op)
{
	const char *s = pl->s;
	const struct node *n;

	while (pl->s < pl->end && isalnum((unsigned char)*pl->s))
		pl->s++;
	op->lit = s - pl->f->pool.s;
	op->lit_len = pl->s - s;
	op->node = next_arg(pl);
	if (pl->why)
		return;
	n = &pl->f->nodes[op->node];
	if (n->class == CLASS_TEXT)
		pl->why = "a pointer expected";
	else if (n->class == CLASS_REC && !mem_letters__known(s, op->lit_len))
		pl->why = "%p of an address in the record";
	else if (n->class != CLASS_REC && mem_letters__known(s, op->lit_len))
		pl->why = "%p of memory that is not in the record";
	else if (op->lit_len && strchr("dDVrRgGCe", *s))
		pl->why = "%p of a kernel object";
	op->kind = n->class == CLASS_REC	      ? OP_MEM :
		   op->lit_len && strchr("SsBFf", *s) ? OP_SYMBOL :
							OP_PTR;
	if (pl->why)
		return;
	if (op->kind != OP_MEM)
		note_address(pl, op->node,
			     op->kind == OP_PTR ? EV_ADDRESS :
			     strchr("sf", *s)	? EV_FUNCTION :
						  EV_CODE);
	add_op(pl, op);
}

static void plan_conversion(struct planner *pl)
{
	struct op op = { .width = -1, .prec = -1 };
	uint32_t node = 0;
	bool is_arg;
	char c;

	parse_flags(pl, &op);
	if (pl->s < pl->end && (*pl->s == '*' || isdigit((unsigned char)*pl->s))) {
		op.width = width_or_prec(pl, &node, &is_arg);
		op.flags |= is_arg ? FMT_WIDTH_ARG : 0;
	}
	if (pl->s < pl->end && *pl->s == '.') {
		pl->s++;
		op.prec = width_or_prec(pl, &node, &is_arg);
		op.flags |= is_arg ? FMT_PREC_ARG : 0;
	}
	op.size = parse_length(pl);
	c = pl->s < pl->end ? *pl->s++ : '\0';
	switch (c) {
	case '%':
		add_literal(pl, pl->s - 1, 1);
		break;
	case 'c':
		op.kind = OP_CHAR;
		op.node = next_arg(pl);
		if (!is_scalar(pl, op.node))
			pl->why = "a character expected";
		else
			add_op(pl, &op);
		break;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		plan_int(pl, &op, c);
		break;
	case 's':
		plan_string(pl, &op);
		break;
	case 'p':
		plan_pointer(pl, &op);
		break;
	default:
		pl->why = "unknown conversion in the format string";
	}
}

const char *format_plan(struct ev_format *f, uint32_t fmt, uint32_t len, const uint32_t *args,
			uint32_t nr_args)
{
	struct planner pl = { .f = f,
			      .s = f->pool.s + fmt,
			      .end = f->pool.s + fmt + len,
			      .args = args,
			      .nr_args = nr_args };

	while (!pl.why && pl.s < pl.end) {
		const char *percent = memchr(pl.s, '%', pl.end - pl.s);

		add_literal(&pl, pl.s, (percent ? percent : pl.end) - pl.s);
		pl.s = percent ? percent + 1 : pl.end;
		if (percent)
			plan_conversion(&pl);
	}
	return pl.why;
}
