/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Evaluates expressions for a record, with C's conversions on the recorded 64-bit machine. */
#include "format_priv.h"

#include <string.h>

/* Converts v to that type: cut to size bytes and sign- or zero-extended to 64 bits. */
uint64_t value__norm(uint64_t v, unsigned int size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case 2:
		return is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 4:
		return is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	default:
		return v;
	}
}

uint64_t value__load(const uint8_t *p, unsigned int size, bool is_signed)
{
	uint64_t v = 0;
	uint32_t v4;
	uint16_t v2;

	switch (size) {
	case 1:
		return value__norm(*p, 1, is_signed);
	case 2:
		memcpy(&v2, p, 2);
		return value__norm(v2, 2, is_signed);
	case 4:
		memcpy(&v4, p, 4);
		return value__norm(v4, 4, is_signed);
	case 8:
		memcpy(&v, p, 8);
		return v;
	default:
		return 0;
	}
}

static uint64_t load(const struct printer *p, uint64_t offset, unsigned int size, bool is_signed)
{
	if (offset > p->len || p->len - offset < size)
		return 0;
	return value__load(p->rec + offset, size, is_signed);
}

/* Division as in C, except that operands which trap there give 0. */
static uint64_t divide(const struct node *n, uint64_t a, uint64_t b)
{
	if (!b)
		return 0;
	if (!n->is_signed)
		return n->op == NODE_DIV ? a / b : a % b;
	if ((int64_t)b == -1)
		return n->op == NODE_DIV ? -a : 0;
	return n->op == NODE_DIV ? (uint64_t)((int64_t)a / (int64_t)b) :
				   (uint64_t)((int64_t)a % (int64_t)b);
}

static bool compare(const struct node *n, uint64_t a, uint64_t b)
{
	a = value__norm(a, n->esize, n->esigned);
	b = value__norm(b, n->esize, n->esigned);
	switch (n->op) {
	case NODE_EQ:
		return a == b;
	case NODE_NE:
		return a != b;
	case NODE_LT:
		return n->esigned ? (int64_t)a < (int64_t)b : a < b;
	case NODE_GT:
		return n->esigned ? (int64_t)a > (int64_t)b : a > b;
	case NODE_LE:
		return n->esigned ? (int64_t)a <= (int64_t)b : a <= b;
	default:
		return n->esigned ? (int64_t)a >= (int64_t)b : a >= b;
	}
}

static uint64_t binary(const struct printer *p, const struct node *n)
{
	uint64_t a = node__eval(p, n->a), b = node__eval(p, n->b), v;

	if (n->op >= NODE_LT && n->op <= NODE_NE)
		return compare(n, a, b);
	a = value__norm(a, n->size, n->is_signed);
	if (n->op == NODE_SHL || n->op == NODE_SHR) {
		b &= n->size * 8 - 1;
		v = n->op == NODE_SHL ? a << b :
		    n->is_signed      ? (uint64_t)((int64_t)a >> b) :
					a >> b;
		return value__norm(v, n->size, n->is_signed);
	}
	b = value__norm(b, n->size, n->is_signed);
	switch (n->op) {
	case NODE_MUL:
		v = a * b;
		break;
	case NODE_ADD:
		v = a + b;
		break;
	case NODE_SUB:
		v = a - b;
		break;
	case NODE_AND:
		v = a & b;
		break;
	case NODE_XOR:
		v = a ^ b;
		break;
	case NODE_OR:
		v = a | b;
		break;
	default:
		v = divide(n, a, b);
	}
	return value__norm(v, n->size, n->is_signed);
}

static uint64_t byte_swap(uint64_t v, unsigned int size)
{
	return size == 2 ? __builtin_bswap16(v) :
	       size == 4 ? __builtin_bswap32(v) :
			   __builtin_bswap64(v);
}

/* Offset of a dynamic field's data; the record's length if the data is not in the record. */
static uint64_t dyn_offset(const struct printer *p, const struct ev_field *field)
{
	uint64_t loc = load(p, field->offset, 4, false), offset = loc & 0xffff;

	if (field->kind == EV_FIELD_REL_LOC)
		offset += field->offset + field->size;
	return offset < p->len ? offset : p->len;
}

static uint64_t msecs(const struct printer *p, uint64_t jiffies)
{
	uint32_t hz = p->ctx && p->ctx->hz ? p->ctx->hz : 250;

	return (uint32_t)(1000 % hz ? jiffies * 1000 / hz : jiffies * (1000 / hz));
}

uint64_t node__eval(const struct printer *p, uint32_t node)
{
	const struct node *n = &p->f->nodes[node];

	switch (n->op) {
	case NODE_CONST:
		return n->val;
	case NODE_FIELD:
		return load(p, n->val, n->size, n->is_signed);
	case NODE_LOAD:
		return load(p, node__eval(p, n->a), n->size, n->is_signed);
	case NODE_FIELD_ADDR:
		return p->f->fields[n->a].offset;
	case NODE_DYN_ADDR:
		return dyn_offset(p, &p->f->fields[n->a]);
	case NODE_DYN_LEN:
		return load(p, p->f->fields[n->a].offset + 2, 2, false);
	case NODE_NEG:
		return value__norm(-node__eval(p, n->a), n->size, n->is_signed);
	case NODE_NOT:
		return value__norm(~node__eval(p, n->a), n->size, n->is_signed);
	case NODE_LNOT:
		return !node__eval(p, n->a);
	case NODE_CAST:
		return value__norm(node__eval(p, n->a), n->size, n->is_signed);
	case NODE_LAND:
		return node__eval(p, n->a) && node__eval(p, n->b);
	case NODE_LOR:
		return node__eval(p, n->a) || node__eval(p, n->b);
	case NODE_COND:
		return value__norm(node__eval(p, node__eval(p, n->a) ? n->b : n->c), n->size,
				   n->is_signed);
	case NODE_JIFFIES:
		return p->ctx ? p->ctx->jiffies : 0;
	case NODE_MSECS:
		return msecs(p, node__eval(p, n->a));
	case NODE_BSWAP:
		return byte_swap(node__eval(p, n->a), n->size);
	case NODE_LITERAL:
	case NODE_FLAGS:
	case NODE_SYMBOLIC:
	case NODE_HEX:
	case NODE_ARRAY:
	case NODE_BITMASK:
	case NODE_WRAP:
	case NODE_HEX_DUMP:
		return 0;
	default:
		return binary(p, n);
	}
}
