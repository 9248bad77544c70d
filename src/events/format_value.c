/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Values of single fields: raw, as text, as JSON. */
#include "format_priv.h"

#include "cleanup.h"

uint64_t ev_field__value(const struct ev_field *field, const void *rec, size_t len)
{
	if (field->offset > len || len - field->offset < field->size || field->size > 8)
		return 0;
	return value__load((const uint8_t *)rec + field->offset, field->size, field->is_signed);
}

static bool is_dynamic(const struct ev_field *fd)
{
	return fd->kind == EV_FIELD_DATA_LOC || fd->kind == EV_FIELD_REL_LOC;
}

const void *ev_field__bytes(const struct ev_field *fd, const void *rec, size_t len, size_t *ret_len)
{
	uint64_t offset = fd->offset, size = fd->size;

	*ret_len = 0;
	if (is_dynamic(fd)) {
		uint32_t loc = ev_field__value(fd, rec, len);

		offset = loc & 0xffff;
		size = loc >> 16;
		if (fd->kind == EV_FIELD_REL_LOC)
			offset += fd->offset + fd->size;
	}
	if (offset > len || len - offset < size)
		return NULL;
	*ret_len = size;
	return (const uint8_t *)rec + offset;
}

bool field__is_argv(const struct ev_field *field)
{
	const char *star = strchr(field->type, '*');

	return star && strchr(star + 1, '*');
}

/* Prints the contents of a C string literal: escapes quotes, backslashes and control bytes. */
static void put_quoted(struct strbuf *out, const char *s, size_t n)
{
	static const char from[] = "\n\r\t\"\\", to[] = "nrt\"\\";

	strbuf__putc(out, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = s[i];
		const char *known = c ? strchr(from, c) : NULL;

		if (known) {
			strbuf__putc(out, '\\');
			strbuf__putc(out, to[known - from]);
		} else if (c < 0x20 || c == 0x7f) {
			strbuf__puts(out, "\\x");
			strbuf__hex(out, c, 2);
		} else {
			strbuf__putc(out, c);
		}
	}
	strbuf__putc(out, '"');
}

/* Calls put for each NUL-terminated string in the n bytes at s; the last one may lack its NUL. */
static void put_list(struct strbuf *out, const char *s, size_t n, const char *separator,
		     void (*put)(struct strbuf *, const char *, size_t))
{
	strbuf__putc(out, '[');
	for (size_t i = 0, len; i < n; i += len + 1) {
		len = strnlen(s + i, n - i);
		if (i)
			strbuf__puts(out, separator);
		put(out, s + i, len);
	}
	strbuf__putc(out, ']');
}

void printer__syscall_string(struct printer *p, const struct ev_field *field, bool is_argv)
{
	size_t len;
	const char *s = ev_field__bytes(field, p->rec, p->len, &len);

	if (!s)
		return;
	if (is_argv)
		put_list(p->out, s, len, ", ", put_quoted);
	else
		put_quoted(p->out, s, strnlen(s, len));
}

static void print_elements(const struct ev_field *fd, const uint8_t *s, size_t len,
			   struct strbuf *out, char open, char close)
{
	uint32_t size = fd->elem_size;

	if (size != 2 && size != 4 && size != 8)
		size = 1;
	strbuf__putc(out, open);
	for (size_t i = 0; i + size <= len; i += size) {
		uint64_t v = value__load(s + i, size, fd->is_signed);

		if (i)
			strbuf__putc(out, ',');
		if (fd->is_signed)
			strbuf__s64(out, v);
		else
			strbuf__u64(out, v);
	}
	strbuf__putc(out, close);
}

void ev_field__print_address(const struct ev_field *field, const struct ev_print_ctx *ctx,
			     uint64_t addr, struct strbuf *out)
{
	if (field->address >= EV_FUNCTION && ctx && ctx->symbol &&
	    ctx->symbol(ctx->symbol_ctx, addr, field->address == EV_CODE, out))
		return;
	strbuf__puts(out, "0x");
	strbuf__hex(out, addr, 0);
}

static void print_number(const struct ev_field *fd, const struct ev_print_ctx *ctx, uint64_t v,
			 struct strbuf *out)
{
	if (fd->address) {
		ev_field__print_address(fd, ctx, v, out);
	} else if (fd->is_signed) {
		strbuf__s64(out, v);
	} else {
		strbuf__u64(out, v);
	}
}

static void print_value(const struct ev_format *f, const struct ev_field *fd,
			const struct ev_print_ctx *ctx, const void *rec, size_t rec_len,
			struct strbuf *out)
{
	struct printer p = { .f = f, .rec = rec, .len = rec_len, .out = out };
	const uint8_t *s;
	size_t len;

	p.limit = out->len + FORMAT_MAX_OUTPUT;
	if (fd->kind == EV_FIELD_INT) {
		print_number(fd, ctx, ev_field__value(fd, rec, rec_len), out);
		return;
	}
	s = ev_field__bytes(fd, rec, rec_len, &len);
	if (!s)
		return;
	if (fd->is_char)
		strbuf__add(out, (const char *)s, strnlen((const char *)s, len));
	else if (fd->is_cpumask)
		printer__bitmask(&p, s - (const uint8_t *)rec, (uint64_t)len * 8);
	else
		print_elements(fd, s, len, out, '{', '}');
}

const struct ev_field *ev_format__companion(const struct ev_format *f, const struct ev_field *field)
{
	size_t i = field - f->fields;
	uint32_t string = i < f->nr_fields ? f->extra[i].companion : 0;

	return string ? &f->fields[string - 1] : NULL;
}

bool ev_format__is_hidden(const struct ev_format *f, const struct ev_field *field)
{
	return f->extra[field - f->fields].hidden;
}

bool ev_format__is_argv(const struct ev_format *f, const struct ev_field *field)
{
	for (uint32_t i = 0; i < f->nr_fields; i++)
		if (ev_format__companion(f, &f->fields[i]) == field)
			return field__is_argv(&f->fields[i]);
	return false;
}

void ev_format__print_field(const struct ev_format *f, const struct ev_field *field,
			    const struct ev_print_ctx *ctx, const void *rec, size_t len,
			    struct strbuf *out)
{
	const struct ev_field *string = ev_format__companion(f, field);
	size_t n = 0;
	const char *s = string ? ev_field__bytes(string, rec, len, &n) : NULL;

	if (s && n && field__is_argv(field))
		put_list(out, s, n, ", ", put_quoted);
	else if (s && n)
		strbuf__add(out, s, strnlen(s, n));
	else
		print_value(f, field, ctx, rec, len, out);
}

void printer__fields(struct printer *p)
{
	bool first = true;

	for (uint32_t i = 0; i < p->f->nr_fields && !printer__full(p); i++) {
		const struct ev_field *fd = &p->f->fields[i];

		if (p->f->extra[i].hidden)
			continue;
		if (!first)
			strbuf__putc(p->out, ' ');
		first = false;
		strbuf__puts(p->out, fd->name);
		strbuf__putc(p->out, '=');
		ev_format__print_field(p->f, fd, p->ctx, p->rec, p->len, p->out);
	}
}

static void json_value(const struct ev_format *f, const struct ev_field *fd, const void *rec,
		       size_t rec_len, struct strbuf *out)
{
	const struct ev_field *string = ev_format__companion(f, fd);
	size_t len = 0;
	const char *s = string ? ev_field__bytes(string, rec, rec_len, &len) : NULL;

	if (s && len) {
		if (field__is_argv(fd))
			put_list(out, s, len, ",", strbuf__json);
		else
			strbuf__json(out, s, strnlen(s, len));
		return;
	}
	if (fd->kind == EV_FIELD_INT) {
		if (fd->address)
			strbuf__putc(out, '"');
		print_number(fd, NULL, ev_field__value(fd, rec, rec_len), out);
		if (fd->address)
			strbuf__putc(out, '"');
		return;
	}
	s = ev_field__bytes(fd, rec, rec_len, &len);
	if (fd->is_char)
		strbuf__json(out, s ? s : "", s ? strnlen(s, len) : 0);
	else
		print_elements(fd, (const uint8_t *)s, len, out, '[', ']');
}

bool ev_format__is_shown(const struct ev_format *f, const struct ev_field *field)
{
	return !f->extra[field - f->fields].hidden;
}

void ev_format__json(const struct ev_format *f, const void *rec, size_t len, struct strbuf *out)
{
	bool first = true;

	strbuf__putc(out, '{');
	for (uint32_t i = 0; i < f->nr_fields; i++) {
		const struct field_extra *x = &f->extra[i];

		if (x->hidden)
			continue;
		if (!first)
			strbuf__putc(out, ',');
		first = false;
		strbuf__add(out, f->pool.s + x->json, x->json_len);
		json_value(f, &f->fields[i], rec, len, out);
	}
	strbuf__putc(out, '}');
}
