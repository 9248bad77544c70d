// SPDX-License-Identifier: GPL-2.0-only
/* Plans of event types: what is copied from their records, and what TSDL says about it. */
#include "ctf_event.h"

#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "ctf_tsdl.h"
#include "events/format.h"
#include "log.h"

enum op_kind {
	OP_COPY, /* size bytes at offset: integers and arrays that follow each other */
	OP_STRING, /* an array of char, or a dynamic one */
	OP_STRINGS, /* several strings, each with its NUL */
	OP_SEQUENCE, /* a dynamic array */
};

struct op {
	enum op_kind kind;
	uint32_t offset, size; /* OP_COPY */
	const struct ev_field *field;
};

struct ctf_class {
	const struct stk_event_type *type;
	struct ev_format *format; /* NULL: cannot be parsed */
	struct op *ops;
	uint32_t nr_ops, max_ops;
	uint32_t fixed_size; /* the end of what OP_COPY copies */
	uint8_t *padded; /* so many bytes, for records that are shorter */
	bool used[2]; /* without and with fields */
};

/* ---- the plan -------------------------------------------------------------------------------- */

static bool is_dynamic(const struct ev_field *f)
{
	return f->kind == EV_FIELD_DATA_LOC || f->kind == EV_FIELD_REL_LOC;
}

/* Elements of other sizes are bytes, as in JSON. */
static uint32_t element_size(const struct ev_field *f)
{
	return f->elem_size == 2 || f->elem_size == 4 || f->elem_size == 8 ? f->elem_size : 1;
}

/* Bytes of an integer or an array that are written. */
static uint32_t written_size(const struct ev_field *f)
{
	return f->kind == EV_FIELD_INT ? f->size : f->size / element_size(f) * element_size(f);
}

static enum op_kind kind_of(const struct ctf_class *c, const struct ev_field *f)
{
	if (f->kind != EV_FIELD_INT && f->is_char)
		return is_dynamic(f) && ev_format__is_argv(c->format, f) ? OP_STRINGS : OP_STRING;
	return is_dynamic(f) ? OP_SEQUENCE : OP_COPY;
}

static int add_op(struct ctf_class *c, const struct ev_field *f)
{
	struct op *last = c->nr_ops ? &c->ops[c->nr_ops - 1] : NULL;
	enum op_kind kind = kind_of(c, f);
	uint32_t size = kind == OP_COPY ? written_size(f) : 0;

	if (kind == OP_COPY)
		c->fixed_size = MAX(c->fixed_size, f->offset + size);
	if (kind == OP_COPY && last && last->kind == OP_COPY &&
	    f->offset == last->offset + last->size) {
		last->size += size;
		return 0;
	}
	if (array__grow(&c->ops, c->nr_ops, &c->max_ops))
		return -ENOMEM;
	c->ops[c->nr_ops++] = (struct op){ kind, f->offset, size, f };
	return 0;
}

static int make_plan(struct ctf_class *c)
{
	unsigned int i, nr = ev_format__nr_fields(c->format);
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (!ev_format__field(c->format, i)->is_common)
			err = add_op(c, ev_format__field(c->format, i));
	c->padded = calloc(1, c->fixed_size + 1);
	return err || !c->padded ? -ENOMEM : 0;
}

static void class__free(struct ctf_class *c)
{
	if (!c)
		return;
	ev_format__free(c->format);
	free(c->ops);
	free(c->padded);
	free(c);
}

static void class__freep(struct ctf_class **c)
{
	class__free(*c);
}

static struct ctf_class *new_class(struct ctf_classes *cs, const struct stk_event_type *t)
{
	_cleanup_(class__freep) struct ctf_class *c = calloc(1, sizeof(*c));
	const char *text = stk_event_type__format(t);
	int err;

	if (!c)
		return NULL;
	c->type = t;
	err = ev_format__parse(text, strlen(text), &c->format);
	if (err == -ENOMEM || (!err && make_plan(c)))
		return NULL;
	cs->nr_unparsed += err != 0;
	return take_ptr(c);
}

struct ctf_class *ctf_classes__of(struct ctf_classes *cs, const struct stk_event_type *t)
{
	uint32_t i = stk_event_type__index(t);

	if (i >= cs->nr && array__reach(&cs->v, i, &cs->nr))
		return NULL;
	if (!cs->v[i])
		cs->v[i] = new_class(cs, t);
	return cs->v[i];
}

bool ctf_classes__any(const struct ctf_classes *cs)
{
	uint32_t i;

	for (i = 0; i < cs->nr; i++)
		if (cs->v[i])
			return true;
	return false;
}

uint32_t ctf_class__id(struct ctf_class *c, bool has_fields)
{
	c->used[has_fields] = true;
	return 2 * stk_event_type__index(c->type) + has_fields;
}

void ctf_classes__clear(struct ctf_classes *cs)
{
	uint32_t i;

	for (i = 0; i < cs->nr; i++)
		class__free(cs->v[i]);
	free(cs->v);
}

/* ---- records --------------------------------------------------------------------------------- */

void ctf__put_string(struct strbuf *b, const char *s, size_t n)
{
	strbuf__utf8(b, s, strnlen(s, n));
	strbuf__putc(b, '\0');
}

static void put_length(struct strbuf *b, uint32_t n)
{
	strbuf__add(b, (const char *)&n, sizeof(n));
}

static void put_strings(struct strbuf *b, const char *s, size_t n)
{
	size_t i, len, at = b->len;
	uint32_t nr = 0;

	put_length(b, 0);
	for (i = 0; i < n; i += len + 1, nr++) {
		len = strnlen(s + i, n - i);
		ctf__put_string(b, s + i, len);
	}
	if (!strbuf__failed(b))
		memcpy(b->s + at, &nr, sizeof(nr));
}

static void put_sequence(struct strbuf *b, const struct ev_field *f, const char *s, size_t n)
{
	uint32_t size = element_size(f), nr = n / size;

	put_length(b, nr);
	if (nr)
		strbuf__add(b, s, (size_t)nr * size);
}

/* A record that is too short: integers and arrays that are not wholly in it are zero. */
static const uint8_t *pad(struct ctf_class *c, const uint8_t *rec, size_t len)
{
	unsigned int i, nr = ev_format__nr_fields(c->format);

	memset(c->padded, 0, c->fixed_size);
	for (i = 0; i < nr; i++) {
		const struct ev_field *f = ev_format__field(c->format, i);

		if (!f->is_common && kind_of(c, f) == OP_COPY && f->offset <= len &&
		    len - f->offset >= f->size)
			memcpy(c->padded + f->offset, rec + f->offset, written_size(f));
	}
	return c->padded;
}

void ctf_class__put(struct ctf_class *c, struct strbuf *b, const void *rec, size_t len)
{
	const uint8_t *fixed = !c->format || len >= c->fixed_size ? rec : pad(c, rec, len);
	const char *s;
	uint32_t i;
	size_t n;

	for (i = 0; i < c->nr_ops; i++) {
		const struct op *op = &c->ops[i];

		if (op->kind == OP_COPY) {
			strbuf__add(b, (const char *)fixed + op->offset, op->size);
			continue;
		}
		s = ev_field__bytes(op->field, rec, len, &n) ?: "";
		if (op->kind == OP_STRING)
			ctf__put_string(b, s, n);
		else if (op->kind == OP_STRINGS)
			put_strings(b, s, n);
		else
			put_sequence(b, op->field, s, n);
	}
}

/* ---- TSDL ------------------------------------------------------------------------------------ */

static void put_length_name(struct strbuf *b, struct tsdl_names *names, const char *field,
			    struct strbuf *ret_name)
{
	_cleanup_(strbuf__free) struct strbuf wanted = { 0 };
	const char *name;

	strbuf__printf(&wanted, "_%s_length", field);
	name = strbuf__failed(&wanted) ? NULL : tsdl_names__add(names, wanted.s);
	b->failed |= !name;
	strbuf__reset(ret_name);
	strbuf__puts(ret_name, name ?: "");
	strbuf__printf(b, "\t\tu32 %s;\n", name ?: "");
}

static void put_field(struct strbuf *b, struct tsdl_names *names, const struct ctf_class *c,
		      const struct ev_field *f)
{
	_cleanup_(strbuf__free) struct strbuf length = { 0 };
	enum op_kind kind = kind_of(c, f);
	uint32_t size = f->kind == EV_FIELD_INT ? f->size : element_size(f);
	bool is_hex = f->address || (f->kind == EV_FIELD_INT && f->is_pointer);
	const char *name;

	if (kind == OP_STRINGS || kind == OP_SEQUENCE)
		put_length_name(b, names, f->name, &length);
	name = tsdl_names__add(names, f->name);
	b->failed |= !name || strbuf__failed(&length);
	strbuf__printf(b, "\t\t%s %s",
		       kind == OP_STRING || kind == OP_STRINGS ?
			       "string" :
			       tsdl__integer(size, f->is_signed, is_hex),
		       name ?: "");
	if (kind == OP_STRINGS || kind == OP_SEQUENCE)
		strbuf__printf(b, "[%s]", length.s ?: "");
	else if (kind == OP_COPY && f->kind != EV_FIELD_INT)
		strbuf__printf(b, "[%u]", f->size / size);
	strbuf__puts(b, ";\n");
}

static void put_fields(struct strbuf *b, const struct ctf_class *c)
{
	_cleanup_(tsdl_names__clear) struct tsdl_names names = { 0 };
	unsigned int i, nr = c->format ? ev_format__nr_fields(c->format) : 0;

	for (i = 0; i < nr; i++)
		if (!ev_format__field(c->format, i)->is_common)
			put_field(b, &names, c, ev_format__field(c->format, i));
}

static void put_class(struct strbuf *b, const struct ctf_class *c, bool has_fields)
{
	_cleanup_(strbuf__free) struct strbuf name = { 0 };

	strbuf__printf(&name, "%s:%s", stk_event_type__system(c->type),
		       stk_event_type__name(c->type));
	b->failed |= strbuf__failed(&name);
	strbuf__puts(b, "\nevent {\n\tname = ");
	tsdl__string(b, name.s ?: "");
	strbuf__printf(b, ";\n\tid = %u;\n\tstream_id = 1;\n\tfields := struct {\n",
		       2 * stk_event_type__index(c->type) + has_fields);
	if (has_fields)
		put_fields(b, c);
	strbuf__puts(b, "\t};\n};\n");
}

void ctf_classes__tsdl(const struct ctf_classes *cs, struct strbuf *b)
{
	uint32_t i;
	int has_fields;

	for (i = 0; i < cs->nr; i++)
		for (has_fields = 0; has_fields < 2; has_fields++)
			if (cs->v[i] && cs->v[i]->used[has_fields])
				put_class(b, cs->v[i], has_fields);
}
