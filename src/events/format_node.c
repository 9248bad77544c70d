/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Builds typed nodes: applies C's promotions and conversions, once per format. */
#include "format_parse.h"

#include "array.h"
#include "cleanup.h"

#include <stdlib.h>

/* A numeric operation on constants becomes a constant. */
static void fold(struct parser *ps, struct node *n)
{
	struct printer p = { .f = ps->f };

	if (!n->is_const || n->op == NODE_CONST || n->class == CLASS_TEXT)
		return;
	n->val = node__eval(&p, n - ps->f->nodes);
	n->op = NODE_CONST;
	n->a = n->b = n->c = 0;
	n->cost = n->depth = 1;
}

static void add_child(const struct ev_format *f, struct node *n, uint32_t child)
{
	n->cost += f->nodes[child].cost;
	n->depth = MAX(n->depth, f->nodes[child].depth + 1);
	n->is_const &= f->nodes[child].is_const;
}

/* The number of a, b, c that are nodes. */
static unsigned int nr_children(const struct node *n)
{
	switch (n->op) {
	case NODE_COND:
	case NODE_WRAP:
		return 3;
	case NODE_LOAD:
	case NODE_NEG:
	case NODE_NOT:
	case NODE_LNOT:
	case NODE_CAST:
	case NODE_MSECS:
	case NODE_BSWAP:
	case NODE_FLAGS:
	case NODE_SYMBOLIC:
		return 1;
	case NODE_CONST:
	case NODE_JIFFIES:
	case NODE_FIELD:
	case NODE_DYN_LEN:
	case NODE_FIELD_ADDR:
	case NODE_DYN_ADDR:
	case NODE_LITERAL:
	case NODE_BITMASK:
		return 0;
	default:
		return 2;
	}
}

uint32_t node__add(struct parser *ps, const struct node *n)
{
	struct ev_format *f = ps->f;
	unsigned int children = nr_children(n);
	struct node *node;

	if (ps->failed)
		return 0;
	if (f->nr_nodes >= FORMAT_MAX_NODES) {
		parser__fail(ps, "too many operations");
		return 0;
	}
	if (array__append(&f->nodes, &f->nr_nodes, *n)) {
		parser__fail(ps, FORMAT_NO_MEMORY);
		return 0;
	}
	node = &f->nodes[f->nr_nodes - 1];
	node->cost = node->depth = 1;
	/* a value that depends on the record or the recorded kernel is not constant */
	node->is_const =
		children ? node->op != NODE_LOAD && node->op != NODE_MSECS : node->op == NODE_CONST;
	if (children > 0)
		add_child(f, node, n->a);
	if (children > 1)
		add_child(f, node, n->b);
	if (children > 2)
		add_child(f, node, n->c);
	if (node->cost > FORMAT_MAX_COST || node->depth > FORMAT_MAX_DEPTH) {
		parser__fail(ps, "expression too big");
		return 0;
	}
	fold(ps, node);
	return f->nr_nodes - 1;
}

uint32_t node__const(struct parser *ps, uint64_t v, unsigned int size, bool is_signed)
{
	return node__add(
		ps,
		&(struct node){ .op = NODE_CONST, .size = size, .is_signed = is_signed, .val = v });
}

static bool is_number(struct parser *ps, uint32_t a)
{
	static const char *const names[] = { "number", "pointer", "record address", "text" };
	unsigned int class = ps->f->nr_nodes ? ps->f->nodes[a].class : 0;

	if (!ps->failed && class > CLASS_PTR)
		parser__fail(ps, "a number expected, not a %s", names[class]);
	return !ps->failed;
}

/* Integer promotion: types narrower than int become int. */
static struct c_type promoted(const struct node *n)
{
	struct c_type t = { n->size, n->is_signed };

	if (t.size < 4)
		t = (struct c_type){ 4, true };
	return t;
}

/* The usual arithmetic conversions. */
static struct c_type common_type(const struct node *a, const struct node *b)
{
	struct c_type x = promoted(a), y = promoted(b);

	if (x.size == y.size)
		return (struct c_type){ x.size, x.is_signed && y.is_signed };
	return x.size > y.size ? x : y;
}

uint32_t node__unary(struct parser *ps, enum node_op op, uint32_t a)
{
	struct node n = { .op = op, .size = 4, .is_signed = true, .a = a };
	struct c_type t;

	if (ps->failed)
		return 0;
	if (op == NODE_LNOT && ps->f->nodes[a].class <= CLASS_PTR)
		return node__add(ps, &n);
	if (!is_number(ps, a))
		return 0;
	t = promoted(&ps->f->nodes[a]);
	n.size = t.size;
	n.is_signed = t.is_signed;
	return node__add(ps, &n);
}

/* pointer + number, in units of the pointer's target */
static uint32_t pointer_add(struct parser *ps, enum node_op op, uint32_t a, uint32_t b)
{
	const struct node ptr = ps->f->nodes[a];
	struct node n = { .op = op,
			  .class = ptr.class,
			  .size = 8,
			  .esize = ptr.esize,
			  .esigned = ptr.esigned,
			  .a = a };
	struct node scale = { .op = NODE_MUL, .size = 8, .is_signed = true, .a = b };

	if (!ptr.esize) {
		parser__fail(ps, "arithmetic on a pointer to an unknown type");
		return 0;
	}
	if (!is_number(ps, b))
		return 0;
	scale.b = node__const(ps, ptr.esize, 8, true);
	n.b = node__add(ps, &scale);
	return node__add(ps, &n);
}

uint32_t node__binary(struct parser *ps, enum node_op op, uint32_t a, uint32_t b)
{
	struct node n = { .op = op, .a = a, .b = b };
	const struct node *x, *y;
	struct c_type t;

	if (ps->failed)
		return 0;
	x = &ps->f->nodes[a];
	y = &ps->f->nodes[b];
	if ((op == NODE_ADD || op == NODE_SUB) &&
	    (x->class == CLASS_PTR || x->class == CLASS_REC) && y->class == CLASS_INT)
		return pointer_add(ps, op, a, b);
	if (op == NODE_ADD && y->class != CLASS_INT && x->class == CLASS_INT)
		return node__binary(ps, op, b, a);
	if (!is_number(ps, a) || !is_number(ps, b))
		return 0;
	t = op == NODE_SHL || op == NODE_SHR ? promoted(x) : common_type(x, y);
	n.size = t.size;
	n.is_signed = t.is_signed;
	if (op == NODE_LAND || op == NODE_LOR || (op >= NODE_LT && op <= NODE_NE)) {
		n.esize = t.size;
		n.esigned = t.is_signed;
		n.size = 4;
		n.is_signed = true;
	}
	return node__add(ps, &n);
}

uint32_t node__cond(struct parser *ps, uint32_t a, uint32_t b, uint32_t c)
{
	struct node n = { .op = NODE_COND, .a = a, .b = b, .c = c, .size = 8 };
	const struct node *x, *y;
	struct c_type t;

	if (ps->failed || !is_number(ps, a))
		return 0;
	x = &ps->f->nodes[b];
	y = &ps->f->nodes[c];
	n.class = x->class == y->class ? x->class : CLASS_TEXT;
	if (n.class == CLASS_INT) {
		t = common_type(x, y);
		n.size = t.size;
		n.is_signed = t.is_signed;
	} else if (MAX(x->class, y->class) == CLASS_PTR) {
		n.class = CLASS_PTR; /* a pointer or 0 */
		n.esize = MAX(x->esize, y->esize);
	} else if (n.class == CLASS_REC) {
		n.esize = x->esize;
		n.esigned = x->esigned;
	}
	return node__add(ps, &n);
}

uint32_t node__cast(struct parser *ps, uint32_t a, const struct type_name *t)
{
	struct node n;

	if (ps->failed || t->is_auto)
		return a;
	n = ps->f->nodes[a];
	if (n.class == CLASS_TEXT && t->class == CLASS_PTR)
		return a; /* (char *)__print_...() */
	if (n.class == CLASS_REC && t->class == CLASS_PTR) {
		n.esize = t->esize;
		n.esigned = t->esigned;
		return node__add(ps, &n);
	}
	if (!is_number(ps, a))
		return 0;
	if (t->is_bool)
		return node__binary(ps, NODE_NE, a, node__const(ps, 0, 4, true));
	n = (struct node){ .op = NODE_CAST,
			   .class = t->class,
			   .size = t->size,
			   .is_signed = t->is_signed,
			   .esize = t->esize,
			   .esigned = t->esigned,
			   .a = a };
	return node__add(ps, &n);
}

uint32_t node__field(struct parser *ps, uint32_t field)
{
	const struct ev_field *fd = &ps->f->fields[field];
	struct node n = { .size = 8 };

	switch (fd->kind) {
	case EV_FIELD_INT:
		n.op = NODE_FIELD;
		n.class = fd->is_pointer && fd->size == 8 ? CLASS_PTR : CLASS_INT;
		n.size = fd->size;
		n.is_signed = fd->is_signed;
		n.val = fd->offset;
		break;
	case EV_FIELD_STRING:
	case EV_FIELD_ARRAY:
		n.op = NODE_FIELD_ADDR;
		n.class = CLASS_REC;
		n.esize = fd->elem_size <= 8 ? fd->elem_size : 0;
		n.esigned = fd->is_signed;
		n.a = field;
		break;
	default: /* REC->__data_loc_x is the location itself, which no print fmt uses */
		parser__fail(ps, "dynamic field '%s' used as a value", fd->name);
		return 0;
	}
	return node__add(ps, &n);
}

uint32_t node__deref(struct parser *ps, uint32_t a)
{
	const struct node *ptr;
	struct node n = { .op = NODE_LOAD, .a = a };

	if (ps->failed)
		return 0;
	ptr = &ps->f->nodes[a];
	n.size = ptr->esize;
	n.is_signed = ptr->esigned;
	if (ptr->class != CLASS_REC || (n.size != 1 && n.size != 2 && n.size != 4 && n.size != 8)) {
		parser__fail(ps, "dereference of an address outside the record");
		return 0;
	}
	return node__add(ps, &n);
}

uint32_t node__address(struct parser *ps, uint32_t a)
{
	const struct node *x;
	struct node n = { .op = NODE_FIELD_ADDR, .class = CLASS_REC, .size = 8 };

	if (ps->failed)
		return 0;
	x = &ps->f->nodes[a];
	if (x->op == NODE_LOAD)
		return x->a;
	if (x->op == NODE_FIELD_ADDR || x->op == NODE_DYN_ADDR)
		return a; /* &array */
	for (uint32_t i = 0; x->op == NODE_FIELD && i < ps->f->nr_fields; i++) {
		if (ps->f->fields[i].offset != x->val || ps->f->fields[i].kind != EV_FIELD_INT)
			continue;
		n.a = i;
		n.esize = x->size;
		n.esigned = x->is_signed;
		return node__add(ps, &n);
	}
	parser__fail(ps, "address of an operand outside the record");
	return 0;
}

uint32_t node__size(struct parser *ps, uint32_t a)
{
	const struct node *x;

	if (ps->failed)
		return 0;
	x = &ps->f->nodes[a];
	if (x->class == CLASS_TEXT)
		parser__fail(ps, "sizeof of a text");
	return node__const(ps, x->op == NODE_FIELD_ADDR ? ps->f->fields[x->a].size : x->size, 8,
			   false);
}

int64_t node__const_value(struct parser *ps, uint32_t a, int64_t min, int64_t max)
{
	const struct node *n;

	if (ps->failed)
		return min;
	n = &ps->f->nodes[a];
	if (n->op != NODE_CONST || (int64_t)n->val < min || (int64_t)n->val > max) {
		parser__fail(ps, "a small constant expected");
		return min;
	}
	return (int64_t)n->val;
}
