/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The head and the fields of a format text; format_parse.c parses the print fmt. */
#include "format_priv.h"

#include "array.h"
#include "cleanup.h"
#include "log.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static void trim(const char **s, size_t *len)
{
	while (*len && isspace((unsigned char)**s)) {
		(*s)++;
		(*len)--;
	}
	while (*len && isspace((unsigned char)(*s)[*len - 1]))
		(*len)--;
}

/* The next line of [*pos, end), trimmed; false at the end. */
static bool next_line(const char **pos, const char *end, const char **ret_line, size_t *ret_len)
{
	const char *nl;

	if (*pos >= end)
		return false;
	nl = memchr(*pos, '\n', end - *pos);
	*ret_line = *pos;
	*ret_len = (nl ? nl : end) - *pos;
	*pos = nl ? nl + 1 : end;
	trim(ret_line, ret_len);
	return true;
}

/* "key:NUMBER;" somewhere in the line */
static bool number_of(const char *s, size_t len, const char *key, uint32_t *ret_value)
{
	const char *p = memmem(s, len, key, strlen(key));
	const char *end = s + len;
	uint64_t v = 0;

	if (!p)
		return false;
	p += strlen(key);
	if (p >= end || !isdigit((unsigned char)*p))
		return false;
	for (; p < end && isdigit((unsigned char)*p); p++) {
		v = v * 10 + (*p - '0');
		if (v > UINT32_MAX)
			return false;
	}
	*ret_value = v;
	return true;
}

/* Splits "TYPE NAME" or "TYPE NAME[N]"; the type gets the brackets. */
static int split_declaration(const char *s, size_t len, char **ret_type, char **ret_name)
{
	const char *bracket, *name_end, *name, *end;
	_cleanup_free_ char *type = NULL, *copy = NULL;

	trim(&s, &len);
	/* a bracket that belongs to the type, as in "__data_loc char[] name", is not at the end */
	bracket = len && s[len - 1] == ']' ? memrchr(s, '[', len) : NULL;
	end = s + len;
	name_end = bracket ? bracket : end;
	for (name = name_end; name > s && (isalnum((unsigned char)name[-1]) || name[-1] == '_');)
		name--;
	if (name == name_end || name == s)
		return -EINVAL;
	copy = strndup(name, name_end - name);
	len = name - s;
	trim(&s, &len);
	if (!len)
		return -EINVAL;
	if (asprintf(&type, "%.*s%.*s", (int)len, s, (int)(end - name_end), name_end) < 0)
		type = NULL;
	if (!copy || !type)
		return -ENOMEM;
	*ret_type = take_ptr(type);
	*ret_name = take_ptr(copy);
	return 0;
}

static bool loc_prefix(const char *type, const char **ret_rest, enum ev_field_kind *ret_kind)
{
	if (!strncmp(type, "__data_loc ", 11))
		*ret_kind = EV_FIELD_DATA_LOC;
	else if (!strncmp(type, "__rel_loc ", 10))
		*ret_kind = EV_FIELD_REL_LOC;
	else
		return false;
	*ret_rest = strchr(type, ' ') + 1;
	return true;
}

/* Whether the element type before the brackets is plain char. */
static bool element_is_char(const char *s, size_t len)
{
	trim(&s, &len);
	if (starts_with(s, len, "const ")) {
		s += 6;
		len -= 6;
	}
	return len == 4 && !memcmp(s, "char", 4);
}

/* Bytes of an element, from the name of its type; 0: unknown. */
static uint32_t element_size(const char *s, size_t len)
{
	static const struct {
		const char *name;
		uint32_t size;
	} words[] = {
		{ "long", 8 }, { "short", 2 },	  { "char", 1 },
		{ "int", 4 },  { "unsigned", 4 }, { "enum", 4 },
	};
	struct c_type t;

	trim(&s, &len);
	if (len && s[len - 1] == '*')
		return 8;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (memmem(s, len, words[i].name, strlen(words[i].name)))
			return words[i].size;
	return c_type__lookup(s, len, &t) ? t.size : 0;
}

static void classify(struct ev_field *fd)
{
	const char *elem = fd->type, *bracket = strrchr(fd->type, '[');
	bool dynamic = loc_prefix(fd->type, &elem, &fd->kind);
	size_t len = bracket && bracket > elem ? (size_t)(bracket - elem) : strlen(elem);
	unsigned long n = bracket ? strtoul(bracket + 1, NULL, 10) : 0;

	fd->is_pointer = !bracket && !dynamic && len && elem[len - 1] == '*';
	fd->is_common = !strncmp(fd->name, "common_", 7);
	fd->is_char = (bracket || dynamic) && element_is_char(elem, len);
	fd->is_cpumask = dynamic && memmem(elem, len, "cpumask", 7);
	fd->elem_size = 1;
	if (dynamic) {
		fd->elem_size = MAX(element_size(elem, len), 1u);
		fd->size = 4;
		return;
	}
	fd->kind = EV_FIELD_INT;
	if (!bracket && (fd->size == 1 || fd->size == 2 || fd->size == 4 || fd->size == 8)) {
		fd->elem_size = fd->size;
		fd->address = fd->is_pointer ? EV_ADDRESS : EV_NO_ADDRESS;
		return;
	}
	fd->kind = fd->is_char ? EV_FIELD_STRING : EV_FIELD_ARRAY;
	if (!fd->is_char && bracket)
		fd->elem_size = n && n <= fd->size && fd->size % n == 0 ?
					fd->size / n :
					MAX(element_size(elem, len), 1u);
}

static int add_field(struct ev_format *f, const char *line, size_t len)
{
	const char *semicolon = memchr(line, ';', len);
	struct ev_field fd = { 0 };
	uint32_t is_signed = 0;
	char *type = NULL, *name = NULL;
	int err;

	if (f->nr_fields == FORMAT_MAX_FIELDS)
		return -E2BIG;
	if (!semicolon || !number_of(semicolon, line + len - semicolon, "offset:", &fd.offset) ||
	    !number_of(semicolon, line + len - semicolon, "size:", &fd.size))
		return -EINVAL;
	number_of(semicolon, line + len - semicolon, "signed:", &is_signed);
	if (fd.offset > FORMAT_MAX_OUTPUT || fd.size > FORMAT_MAX_OUTPUT)
		return -ERANGE;
	err = split_declaration(line + 6, semicolon - line - 6, &type, &name);
	if (err)
		return err;
	fd.type = type;
	fd.name = name;
	fd.is_signed = is_signed;
	classify(&fd);
	if (array__append(&f->fields, &f->nr_fields, fd)) {
		free(type);
		free(name);
		return -ENOMEM;
	}
	f->fixed_size = MAX(f->fixed_size, fd.offset + fd.size);
	return 0;
}

/* Whether s is the string recorded for the pointer argument name: a dynamic field __NAME_val. */
static bool is_string_of(const struct ev_field *s, const char *name)
{
	size_t n = strlen(name);

	return s->kind == EV_FIELD_DATA_LOC && s->is_char && strlen(s->name) == n + 6 &&
	       !strncmp(s->name, "__", 2) && !memcmp(s->name + 2, name, n) &&
	       !strcmp(s->name + 2 + n, "_val");
}

static void find_companion(struct ev_format *f, uint32_t field)
{
	for (uint32_t i = 0; i < f->nr_fields; i++) {
		if (!is_string_of(&f->fields[i], f->fields[field].name))
			continue;
		f->extra[field].companion = i + 1;
		f->extra[i].hidden = true;
	}
}

/* Computes what all records share: the strings of a system call's arguments, names as JSON. */
static int add_extra(struct ev_format *f)
{
	f->extra = calloc(f->nr_fields, sizeof(*f->extra));
	if (!f->extra)
		return -ENOMEM;
	f->is_syscall = !strncmp(f->name, "sys_enter_", 10);
	for (uint32_t i = 0; i < f->nr_fields; i++) {
		struct field_extra *x = &f->extra[i];

		x->hidden |= f->fields[i].is_common;
		if (f->is_syscall && f->fields[i].is_pointer)
			find_companion(f, i);
		x->json = f->pool.len;
		strbuf__json(&f->pool, f->fields[i].name, strlen(f->fields[i].name));
		strbuf__putc(&f->pool, ':');
		x->json_len = f->pool.len - x->json;
	}
	return strbuf__failed(&f->pool) ? -ENOMEM : 0;
}

/* Parses everything before the print fmt; *pos moves behind it. */
static int parse_head(struct ev_format *f, const char **pos, const char *end)
{
	const char *line;
	size_t len;
	int err;

	while (next_line(pos, end, &line, &len)) {
		if (starts_with(line, len, "name:") && !f->name) {
			const char *s = line + 5;
			size_t n = len - 5;

			trim(&s, &n);
			f->name = strndup(s, n);
			if (!f->name)
				return -ENOMEM;
		} else if (starts_with(line, len, "ID:")) {
			const char *s = line + 3;
			size_t n = len - 3;
			uint64_t id = 0;

			for (trim(&s, &n); n && isdigit((unsigned char)*s) && id <= UINT32_MAX;
			     s++, n--)
				id = id * 10 + (*s - '0');
			if (n || id > UINT32_MAX)
				return -EINVAL;
			f->id = id;
		} else if (starts_with(line, len, "field:")) {
			err = add_field(f, line, len);
			if (err)
				return err;
		} else if (starts_with(line, len, "print fmt:")) {
			*pos = line + 10;
			return 0;
		}
	}
	*pos = end;
	return 0;
}

static void ev_format__freep(struct ev_format **f)
{
	ev_format__free(*f);
}

int ev_format__parse(const char *text, size_t len, struct ev_format **ret_format)
{
	_cleanup_(ev_format__freep) struct ev_format *f = NULL;
	const char *pos = text, *end = text + len;
	int err;

	if (len > FORMAT_MAX_TEXT)
		return log_why(-E2BIG,
			       "an event format of %zu bytes is too long, at most %u are read", len,
			       FORMAT_MAX_TEXT);
	f = calloc(1, sizeof(*f));
	if (!f)
		return log_err(-ENOMEM, "event format");
	err = parse_head(f, &pos, end);
	if (!err && (!f->name || !*f->name || !f->nr_fields))
		err = -EINVAL;
	if (!err)
		err = add_extra(f);
	if (!err)
		err = format_parse_print(f, pos, end - pos);
	if (err == -ENOMEM)
		return log_err(err, "event format");
	if (err)
		return log_why(err,
			       "event format '%.64s' cannot be parsed: its events have no fields",
			       f->name ?: "");
	f->compiled = !f->why;
	if (f->why)
		log_debug("print fmt of '%.64s' not compiled: %s", f->name, f->why);
	*ret_format = take_ptr(f);
	return 0;
}

void ev_format__free(struct ev_format *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->nr_fields; i++) {
		free((char *)f->fields[i].name);
		free((char *)f->fields[i].type);
	}
	free(f->fields);
	free(f->extra);
	free(f->name);
	free(f->why);
	free(f->nodes);
	free(f->symbols);
	free(f->ops);
	strbuf__free(&f->pool);
	free(f);
}

const char *ev_format__name(const struct ev_format *f)
{
	return f->name;
}

uint32_t ev_format__id(const struct ev_format *f)
{
	return f->id;
}

bool ev_format__compiled(const struct ev_format *f)
{
	return f->compiled;
}

const char *ev_format__why(const struct ev_format *f)
{
	return f->why;
}

uint32_t ev_format__fixed_size(const struct ev_format *f)
{
	return f->fixed_size;
}

unsigned int ev_format__nr_fields(const struct ev_format *f)
{
	return f->nr_fields;
}

const struct ev_field *ev_format__field(const struct ev_format *f, unsigned int i)
{
	return i < f->nr_fields ? &f->fields[i] : NULL;
}

const struct ev_field *ev_format__find(const struct ev_format *f, const char *name)
{
	for (uint32_t i = 0; i < f->nr_fields; i++)
		if (!strcmp(f->fields[i].name, name))
			return &f->fields[i];
	return NULL;
}
