/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Prints texts.  Source: the kernel's lib/vsprintf.c and kernel/trace/trace_output.c. */
#include "format_priv.h"

#include "cleanup.h"

#include <ctype.h>

bool printer__full(const struct printer *p)
{
	return p->out->len >= p->limit || strbuf__failed(p->out);
}

static size_t room(const struct printer *p)
{
	return p->out->len < p->limit ? p->limit - p->out->len : 0;
}

static void pad(struct printer *p, char c, int64_t n)
{
	if (n > 0)
		strbuf__pad(p->out, c, MIN((uint64_t)n, room(p)));
}

static void put(struct printer *p, const void *s, size_t n)
{
	strbuf__add(p->out, s, MIN(n, room(p)));
}

/* number() of the kernel: unlike libc, %#x of 0 prints 0x0 */
void printer__number(struct printer *p, uint64_t v, const struct printf_spec *spec)
{
	char digits[24], sign = 0, hex = spec->flags & FMT_UPPER ? 'A' : 'a';
	bool prefix = (spec->flags & FMT_ALT) && spec->base != 10, zero = !v;
	bool left = spec->flags & FMT_LEFT, zeros = (spec->flags & FMT_ZERO) && !left;
	int64_t width = spec->width;
	int n = 0, prec = spec->prec;

	if (spec->flags & FMT_SIGN) {
		sign = (int64_t)v < 0	       ? '-' :
		       spec->flags & FMT_PLUS  ? '+' :
		       spec->flags & FMT_SPACE ? ' ' :
						 0;
		if (sign == '-')
			v = -v;
		width -= sign != 0;
	}
	if (prefix)
		width -= spec->base == 16 ? 2 : !zero;
	do {
		unsigned int digit = v % spec->base;

		digits[n++] = digit < 10 ? '0' + digit : hex + digit - 10;
		v /= spec->base;
	} while (v);
	prec = MAX(prec, n);
	width -= prec;
	if (!zeros && !left)
		pad(p, ' ', width);
	if (sign)
		strbuf__putc(p->out, sign);
	if (prefix && (spec->base == 16 || !zero))
		strbuf__putc(p->out, '0');
	if (prefix && spec->base == 16)
		strbuf__putc(p->out, hex + 'x' - 'a');
	if (zeros)
		pad(p, '0', width);
	pad(p, '0', (int64_t)prec - n);
	while (n)
		strbuf__putc(p->out, digits[--n]);
	if (left)
		pad(p, ' ', width);
}

/* Pads the output since start to the width. */
void printer__widen(struct printer *p, size_t start, const struct printf_spec *spec)
{
	struct strbuf *b = p->out;
	size_t n = b->len - start, more;

	if (spec->width <= 0 || n >= (size_t)spec->width || strbuf__failed(b))
		return;
	more = MIN(spec->width - n, room(p));
	strbuf__pad(b, ' ', more);
	if (spec->flags & FMT_LEFT || strbuf__failed(b))
		return;
	memmove(b->s + start + more, b->s + start, n);
	memset(b->s + start, ' ', more);
}

void printer__string(struct printer *p, const void *s, size_t n, const struct printf_spec *spec)
{
	size_t start = p->out->len;

	put(p, s, spec->prec >= 0 ? MIN(n, (size_t)spec->prec) : n);
	printer__widen(p, start, spec);
}

/* Returns the bytes that an address node points to, and how many of them may be read. */
static const uint8_t *rec_bytes(const struct printer *p, uint32_t node, size_t *ret_len)
{
	const struct node *n = &p->f->nodes[node];
	uint64_t offset = node__eval(p, node), len;

	if (offset >= p->len) {
		*ret_len = 0;
		return p->rec;
	}
	len = p->len - offset;
	if (n->op == NODE_FIELD_ADDR) {
		len = MIN(len, p->f->fields[n->a].size);
	} else if (n->op == NODE_DYN_ADDR) {
		len = MIN(len, ev_field__value(&p->f->fields[n->a], p->rec, p->len) >> 16);
	}
	*ret_len = len;
	return p->rec + offset;
}

static void print_flags(struct printer *p, const struct node *n)
{
	const struct symbol *s = &p->f->symbols[n->b];
	const char *pool = p->f->pool.s;
	uint64_t flags = node__eval(p, n->a);
	uint32_t delim = (uint32_t)n->val, delim_len = n->val >> 32;
	bool first = true;

	for (uint32_t i = 0; i < n->c && flags; i++) {
		if ((flags & s[i].value) != s[i].value)
			continue;
		flags &= ~s[i].value;
		if (!first)
			put(p, pool + delim, delim_len);
		first = false;
		put(p, pool + s[i].name, s[i].len);
	}
	if (!flags)
		return;
	if (!first)
		put(p, pool + delim, delim_len);
	strbuf__add(p->out, "0x", 2);
	strbuf__hex(p->out, flags, 0);
}

static void print_symbolic(struct printer *p, const struct node *n)
{
	const struct symbol *s = &p->f->symbols[n->b];
	uint64_t v = node__eval(p, n->a);

	for (uint32_t i = 0; i < n->c; i++) {
		if (s[i].value != v)
			continue;
		if (!s[i].len)
			break; /* the kernel treats an empty name like a missing one */
		put(p, p->f->pool.s + s[i].name, s[i].len);
		return;
	}
	strbuf__add(p->out, "0x", 2);
	strbuf__hex(p->out, v, 0);
}

/* Bytes at the address n->a; count: requested by the event, *ret_have: present in the record. */
static const uint8_t *counted_bytes(const struct printer *p, const struct node *n,
				    unsigned int size, uint64_t *ret_count, size_t *ret_have)
{
	uint64_t offset = node__eval(p, n->a);

	*ret_count = value__norm(node__eval(p, n->b), 4, true);
	if ((int64_t)*ret_count < 0)
		*ret_count = 0;
	*ret_have = offset < p->len ? (p->len - offset) / size : 0;
	return p->rec + (offset < p->len ? offset : 0);
}

static void print_hex(struct printer *p, const struct node *n)
{
	size_t have;
	uint64_t count;
	const uint8_t *s = counted_bytes(p, n, 1, &count, &have);

	for (uint64_t i = 0; i < count && !printer__full(p); i++) {
		if (i && !n->val)
			strbuf__putc(p->out, ' ');
		strbuf__hex(p->out, i < have ? s[i] : 0, 2);
	}
}

static void print_array(struct printer *p, const struct node *n)
{
	unsigned int size = n->c == 1 || n->c == 2 || n->c == 4 || n->c == 8 ? n->c : 1;
	size_t have;
	uint64_t count;
	const uint8_t *s = counted_bytes(p, n, size, &count, &have);

	strbuf__putc(p->out, '{');
	if (size != n->c && count) {
		/* the kernel reports the bad size once and continues with bytes */
		strbuf__printf(p->out, "BAD SIZE:%u 0x%x", n->c, have ? *s : 0);
		count *= n->c;
	}
	for (uint64_t i = size != n->c; i < count && !printer__full(p); i++) {
		if (i)
			strbuf__putc(p->out, ',');
		strbuf__add(p->out, "0x", 2);
		strbuf__hex(p->out, i < have ? value__load(s + i * size, size, false) : 0, 0);
	}
	strbuf__putc(p->out, '}');
}

/* %*pb: groups of 32 bits, the highest first */
void printer__bitmask(struct printer *p, uint64_t offset, uint64_t nr_bits)
{
	unsigned int bits = nr_bits % 32 ? nr_bits % 32 : 32;

	for (uint64_t i = (nr_bits + 31) / 32; i-- > 0 && !printer__full(p); bits = 32) {
		uint32_t v = 0;

		for (unsigned int b = 0; b < 4; b++) {
			uint64_t at = offset + i * 4 + b;

			v |= at < p->len ? (uint32_t)p->rec[at] << b * 8 : 0;
		}
		if (bits < 32)
			v &= (1u << bits) - 1;
		strbuf__hex(p->out, v, (bits + 3) / 4);
		if (i)
			strbuf__putc(p->out, ',');
	}
}

static void print_field_bitmask(struct printer *p, const struct node *n)
{
	const struct ev_field *fd = &p->f->fields[n->a];
	uint32_t loc = ev_field__value(fd, p->rec, p->len);
	uint64_t offset = loc & 0xffff;

	if (fd->kind == EV_FIELD_REL_LOC)
		offset += fd->offset + fd->size;
	printer__bitmask(p, offset, (uint64_t)(loc >> 16) * 8);
}

/* One row of a hex dump, as hex_dump_to_buffer() does: groups, then the characters. */
static void dump_row(struct printer *p, const uint8_t *s, size_t n, unsigned int row,
		     unsigned int group, bool ascii)
{
	size_t start = p->out->len, column;

	for (size_t i = 0; i + group <= n; i += group) {
		if (i)
			strbuf__putc(p->out, ' ');
		strbuf__hex(p->out, value__load(s + i, group, false), group * 2);
	}
	if (!ascii)
		return;
	column = row * 2 + row / group + 1;
	pad(p, ' ', (int64_t)column - (int64_t)(p->out->len - start));
	for (size_t i = 0; i < n; i++)
		strbuf__putc(p->out, s[i] >= 0x20 && s[i] < 0x7f ? s[i] : '.');
}

static void print_hex_dump(struct printer *p, const struct node *n)
{
	const struct node *prefix = &p->f->nodes[n->c];
	unsigned int row = DUMP_ROW(n->val) == 32 ? 32 : 16, group = DUMP_GROUP(n->val), g;
	size_t have;
	uint64_t count;
	const uint8_t *s = counted_bytes(p, n, 1, &count, &have);

	if (group != 2 && group != 4 && group != 8)
		group = 1;
	strbuf__putc(p->out, '\n');
	for (uint64_t i = 0; i < MIN(count, have) && !printer__full(p); i += row) {
		size_t bytes = MIN(MIN(count, have) - i, row);

		put(p, p->f->pool.s + prefix->val, prefix->b);
		if (DUMP_TYPE(n->val) == 2)
			strbuf__printf(p->out, "%.8x: ", (unsigned int)i);
		else if (DUMP_TYPE(n->val) == 1)
			strbuf__printf(p->out, "%016zx: ", (size_t)(s - p->rec) + (size_t)i);
		g = bytes % group ? 1 : group;
		dump_row(p, s + i, bytes, row, g, DUMP_ASCII(n->val));
		strbuf__putc(p->out, '\n');
	}
}

/* %s of a kernel address: the string that was there at recording time, if the caller knows it */
static void string_ptr(struct printer *p, uint64_t addr, const struct printf_spec *spec)
{
	const char *s = NULL;
	size_t start = p->out->len;

	if (p->ctx && p->ctx->string)
		s = p->ctx->string(p->ctx->string_ctx, addr);
	if (!s && addr < 4096)
		s = addr ? "(efault)" : "(null)";
	if (s) {
		printer__string(p, s, strlen(s), spec);
		return;
	}
	strbuf__add(p->out, "0x", 2);
	strbuf__hex(p->out, addr, 0);
	printer__widen(p, start, spec);
}

/* Prints the text of a node; prec limits bytes in the record without a NUL, -1: no limit. */
void printer__text(struct printer *p, uint32_t node, int prec)
{
	const struct node *n = &p->f->nodes[node];
	const struct printf_spec plain = { .width = -1, .prec = -1 };
	const uint8_t *s;
	size_t len;

	while (n->op == NODE_COND) {
		node = node__eval(p, n->a) ? n->b : n->c;
		n = &p->f->nodes[node];
	}
	switch (n->op) {
	case NODE_LITERAL:
		put(p, p->f->pool.s + n->val, strnlen(p->f->pool.s + n->val, n->b));
		return;
	case NODE_FLAGS:
		print_flags(p, n);
		return;
	case NODE_SYMBOLIC:
		print_symbolic(p, n);
		return;
	case NODE_HEX:
		print_hex(p, n);
		return;
	case NODE_ARRAY:
		print_array(p, n);
		return;
	case NODE_BITMASK:
		print_field_bitmask(p, n);
		return;
	case NODE_HEX_DUMP:
		print_hex_dump(p, n);
		return;
	case NODE_WRAP:
		printer__text(p, n->b, -1);
		printer__text(p, n->a, -1);
		printer__text(p, n->c, -1);
		return;
	}
	if (n->class != CLASS_REC) {
		string_ptr(p, node__eval(p, node), &plain);
		return;
	}
	s = rec_bytes(p, node, &len);
	if (prec >= 0)
		len = MIN(len, (size_t)prec);
	put(p, s, strnlen((const char *)s, len));
}
