/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Executes a plan's ops, once per printed event. */
#include "format_priv.h"

#include "cleanup.h"

static void print_text(struct printer *p, const struct op *op, const struct printf_spec *spec)
{
	size_t start = p->out->len;

	printer__text(p, op->node, spec->prec);
	if (spec->prec >= 0 && p->out->len - start > (size_t)spec->prec &&
	    !strbuf__failed(p->out)) {
		p->out->len = start + spec->prec;
		p->out->s[p->out->len] = '\0';
	}
	printer__widen(p, start, spec);
}

/* %p: the address; the kernel prints a hash of it unless the option hash-ptr is off */
static void print_ptr(struct printer *p, const struct op *op, struct printf_spec *spec)
{
	spec->base = 16;
	if (spec->width < 0) {
		spec->width = 16;
		spec->flags |= FMT_ZERO;
	}
	printer__number(p, node__eval(p, op->node), spec);
}

static void print_symbol(struct printer *p, const struct op *op, const struct printf_spec *spec)
{
	uint64_t addr = node__eval(p, op->node);
	char letter = p->f->pool.s[op->lit];
	size_t start = p->out->len;

	if (!p->ctx || !p->ctx->symbol ||
	    !p->ctx->symbol(p->ctx->symbol_ctx, addr, letter != 's' && letter != 'f', p->out)) {
		strbuf__add(p->out, "0x", 2);
		strbuf__hex(p->out, addr, 0);
	}
	if (spec->prec >= 0 && p->out->len - start > (size_t)spec->prec && !strbuf__failed(p->out))
		p->out->len = start + spec->prec;
	printer__widen(p, start, spec);
}

static void print_probe_ip(struct printer *p, const struct op *op)
{
	const struct ev_field *field = &p->f->fields[op->field];
	uint64_t addr = ev_field__value(field, p->rec, p->len);
	bool with_offset = strcmp(field->name, "__probe_func");

	if (addr >> 63 && p->ctx && p->ctx->symbol &&
	    p->ctx->symbol(p->ctx->symbol_ctx, addr, with_offset, p->out))
		return;
	strbuf__add(p->out, "0x", 2);
	strbuf__hex(p->out, addr, 0);
}

static void print_char(struct printer *p, const struct op *op, const struct printf_spec *spec)
{
	size_t start = p->out->len;

	strbuf__putc(p->out, (char)node__eval(p, op->node));
	printer__widen(p, start, spec);
}

static void print_syscall_string(struct printer *p, const struct op *op, struct printf_spec *spec)
{
	const struct ev_format *f = p->f;
	const struct ev_field *string = &f->fields[f->extra[op->field].companion - 1];
	size_t len = 0;

	if (ev_field__bytes(string, p->rec, p->len, &len) && len) {
		printer__syscall_string(p, string, field__is_argv(&f->fields[op->field]));
		return;
	}
	strbuf__add(p->out, f->pool.s + op->lit, op->lit_len);
	printer__number(p, node__eval(p, op->node), spec);
}

static void spec__init(const struct printer *p, const struct op *op, struct printf_spec *spec)
{
	int64_t v;

	spec->flags = op->flags;
	spec->base = op->base;
	spec->width = op->width;
	spec->prec = op->prec;
	if (op->flags & FMT_WIDTH_ARG) {
		v = (int32_t)node__eval(p, op->width);
		if (v < 0)
			spec->flags |= FMT_LEFT;
		spec->width = MIN(v < 0 ? -v : v, (int64_t)FORMAT_MAX_OUTPUT);
	}
	if (op->flags & FMT_PREC_ARG) {
		v = (int32_t)node__eval(p, op->prec);
		spec->prec = v < 0 ? 0 : MIN(v, (int64_t)FORMAT_MAX_OUTPUT);
	}
}

static void print_op(struct printer *p, const struct op *op)
{
	struct printf_spec spec;

	spec__init(p, op, &spec);
	switch (op->kind) {
	case OP_INT:
		printer__number(
			p, value__norm(node__eval(p, op->node), op->size, op->flags & FMT_SIGN),
			&spec);
		break;
	case OP_CHAR:
		print_char(p, op, &spec);
		break;
	case OP_TEXT:
	case OP_STRING_PTR:
		print_text(p, op, &spec);
		break;
	case OP_PTR:
		print_ptr(p, op, &spec);
		break;
	case OP_SYMBOL:
		print_symbol(p, op, &spec);
		break;
	case OP_PROBE_IP:
		print_probe_ip(p, op);
		break;
	case OP_MEM:
		printer__mem(p, node__eval(p, op->node), p->f->pool.s + op->lit, op->lit_len,
			     &spec);
		break;
	case OP_SYSCALL_STRING:
		print_syscall_string(p, op, &spec);
		break;
	}
}

/* The common cases: plain %d, %u, %x and %08lx without any of the above. */
static bool print_fast(struct printer *p, const struct op *op)
{
	uint64_t v;

	if (op->kind == OP_TEXT && op->width < 0 && op->prec < 0) {
		printer__text(p, op->node, -1);
		return true;
	}
	if (op->kind != OP_INT || op->prec >= 0)
		return false;
	if (op->width < 0 && op->base == 10 && !(op->flags & ~FMT_SIGN)) {
		v = value__norm(node__eval(p, op->node), op->size, op->flags & FMT_SIGN);
		if (op->flags & FMT_SIGN)
			strbuf__s64(p->out, v);
		else
			strbuf__u64(p->out, v);
		return true;
	}
	if (op->base == 16 && op->width <= 16 &&
	    ((!op->flags && op->width < 0) || op->flags == FMT_ZERO)) {
		v = value__norm(node__eval(p, op->node), op->size, false);
		strbuf__hex(p->out, v, op->width);
		return true;
	}
	return false;
}

void ev_format__print(const struct ev_format *f, const struct ev_print_ctx *ctx, const void *rec,
		      size_t len, struct strbuf *out)
{
	struct printer p = { .f = f, .ctx = ctx, .rec = rec, .len = len, .out = out };

	p.limit = out->len + FORMAT_MAX_OUTPUT;
	if (!f->compiled || (f->needs_jiffies && !(ctx && ctx->jiffies))) {
		printer__fields(&p);
	} else {
		for (uint32_t i = 0; i < f->nr_ops && out->len < p.limit; i++) {
			const struct op *op = &f->ops[i];

			if (op->kind == OP_LITERAL)
				strbuf__add(out, f->pool.s + op->lit, op->lit_len);
			else if (!print_fast(&p, op))
				print_op(&p, op);
		}
	}
	if (out->len > p.limit && !strbuf__failed(out)) {
		out->len = p.limit;
		out->s[out->len] = '\0';
	}
}
