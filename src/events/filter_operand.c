// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What a comparison compares: a field, or a value that every event has. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "filter_priv.h"

static enum operand_type operand_type_of(const struct ev_field *f,
					 const struct filter_features *features)
{
	bool data_loc = f->kind == EV_FIELD_DATA_LOC, rel_loc = f->kind == EV_FIELD_REL_LOC;
	bool is_char = strstr(f->type, "char");
	bool array =
		f->kind == EV_FIELD_STRING || f->kind == EV_FIELD_ARRAY || strchr(f->type, '[');

	if (f->is_common)
		return OPERAND_NUMBER;
	if (data_loc && is_char)
		return OPERAND_DATA_LOC;
	if (data_loc && features->cpus && strstr(f->type, "cpumask_t"))
		return OPERAND_CPUMASK;
	if (rel_loc && is_char)
		return OPERAND_REL_LOC;
	if (!data_loc && array && is_char)
		return OPERAND_FIXED_STRING;
	if (!strcmp(f->type, "char *") || !strcmp(f->type, "const char *"))
		return OPERAND_POINTER;
	return OPERAND_NUMBER;
}

/* The names that every event has besides its fields. */
static bool find_generic(const struct filter_features *features, const char *name,
			 struct operand *ret)
{
	if (!strcmp(name, "CPU") || !strcmp(name, "cpu") ||
	    (features->common_cpu && !strcmp(name, "common_cpu"))) {
		*ret = (struct operand){ .type = OPERAND_CPU,
					 .offset = FILTER_INPUT_CPU,
					 .is_signed = true };
		return true;
	}
	if (!strcmp(name, "COMM") || !strcmp(name, "comm")) {
		*ret = (struct operand){ .type = OPERAND_COMM, .offset = FILTER_INPUT_COMM };
		return true;
	}
	if (features->stacktrace && (!strcmp(name, "stacktrace") || !strcmp(name, "STACKTRACE"))) {
		*ret = (struct operand){ .type = OPERAND_STACKTRACE };
		return true;
	}
	return false;
}

/* Names all fields of the event, as many as fit into a line. */
static int unknown_field(struct filter_compiler *c, size_t start, const char *name)
{
	const struct ev_format *fmt = c->fmt;
	char fields[1024] = "";
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < ev_format__nr_fields(fmt) && len < sizeof(fields); i++) {
		const struct ev_field *f = ev_format__field(fmt, i);

		if (!f->is_common)
			len += snprintf(fields + len, sizeof(fields) - len, "%s%s", len ? ", " : "",
					f->name);
	}
	if (!len)
		return filter__fail(c, -EINVAL, start, "unknown field '%s', the event has none",
				    name);
	return filter__fail(c, -EINVAL, start, "unknown field '%s', the fields are: %s%s", name,
			    fields, len < sizeof(fields) ? "" : "...");
}

static size_t word_len(const char *s)
{
	size_t len = 0;

	while (filter__isalnum(s[len]) || s[len] == '_')
		len++;
	return len;
}

#define FIELD_PREFIX "field."

static bool is_word(const char *s, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(s, word, len);
}

/* The length of the name at s, which has a dot in it if names with one are known. */
static size_t name_len(const struct filter_compiler *c, const char *s)
{
	size_t len = word_len(s), more = s[len] == '.' ? word_len(s + len + 1) : 0;
	const char *word = s + len + 1;
	char name[8] = "";

	if (!c->features->names || !more || len >= sizeof(name))
		return len;
	memcpy(name, s, len);
	if (strcmp(name, "field") && strcmp(name, "task") && strcmp(name, "event"))
		return len;
	/* A field of that name, as a string in user space or as the address of a function. */
	if ((is_word(word, more, "ustring") || is_word(word, more, "function")) &&
	    ev_format__find(c->fmt, name))
		return len;
	return len + 1 + more;
}

static bool find_value(const struct filter_features *features, const char *name,
		       struct operand *ret)
{
	const struct filter_names *names = features->names;
	struct filter_value v = {};

	if (!names || !names->find(names->ctx, name, &v))
		return false;
	switch (v.type) {
	case FILTER_VALUE_CPU:
		return find_generic(features, "CPU", ret);
	case FILTER_VALUE_TEST:
		*ret = (struct operand){
			.type = OPERAND_TEST, .offset = v.offset, .size = 4, .test = v
		};
		return true;
	default:
		*ret = (struct operand){ .type = OPERAND_NUMBER,
					 .offset = v.offset,
					 .size = v.size };
		return true;
	}
}

static int use_field(struct filter_compiler *c, size_t start, const struct ev_field *f,
		     struct operand *ret)
{
	if (f->offset > FILTER_REC_MAX || f->size > FILTER_REC_MAX - f->offset)
		return filter__fail(c, -E2BIG, start, "field '%s' lies beyond byte %d", f->name,
				    FILTER_REC_MAX);
	*ret = (struct operand){ .type = operand_type_of(f, c->features),
				 .offset = FILTER_INPUT_REC + f->offset,
				 .size = f->size,
				 .is_signed = f->is_signed,
				 .copy = ev_format__companion(c->fmt, f),
				 .is_code = f->address >= EV_FUNCTION };
	c->prog->min_len = MAX(c->prog->min_len, f->offset + f->size);
	return 0;
}

int filter__parse_operand(struct filter_compiler *c, size_t *pos, struct operand *ret_operand)
{
	size_t start = *pos, len = name_len(c, c->expr + start);
	const struct ev_field *f = NULL;
	char name[128];
	const char *field = name;

	if (!len)
		return filter__fail(c, -EINVAL, start, "expected a field name");
	if (len >= sizeof(name))
		return filter__fail(c, -EINVAL, start, "unknown field, its name is too long");
	memcpy(name, c->expr + start, len);
	name[len] = '\0';
	*pos += len;
	if (strchr(name, '.'))
		field = strncmp(name, FIELD_PREFIX, strlen(FIELD_PREFIX)) ?
				NULL :
				name + strlen(FIELD_PREFIX);
	if (field)
		f = ev_format__find(c->fmt, field);
	if (f)
		return use_field(c, start, f, ret_operand);
	if ((field == name && find_generic(c->features, name, ret_operand)) ||
	    (field != name + strlen(FIELD_PREFIX) && find_value(c->features, name, ret_operand)))
		return 0;
	return unknown_field(c, start, field ? field : name);
}
