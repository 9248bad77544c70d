// SPDX-License-Identifier: GPL-2.0-only
/* Describes arguments and return values of kernel functions from BTF. */
#include "probe_types.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>

#include "array.h"
#include "cleanup.h"
#include "strbuf.h"

#define MAX_CHAIN 32 /* pointers to pointers, modifiers */

struct function_type {
	const char *name;
	uint32_t id;
};

/* The functions of one BTF by name. */
struct function_types {
	const struct btf *btf;
	struct function_type *v;
	size_t nr;
};

struct probe_types {
	struct btf *kernel, *module; /* module: the last one used */
	struct function_types of_kernel, of_module;
	char *module_name;
};

static int compare(const void *pa, const void *pb)
{
	const struct function_type *a = pa, *b = pb;
	int by_name = strcmp(a->name, b->name);

	return by_name ? by_name : a->id < b->id ? -1 : a->id > b->id;
}

/* Lists the functions from type id `first` on; lower ids belong to the base BTF. */
static int functions_load(struct function_types *t, const struct btf *btf, uint32_t first)
{
	uint32_t end = btf__type_cnt(btf), id;

	t->btf = btf;
	t->nr = 0;
	t->v = calloc(end - first + 1, sizeof(*t->v));
	if (!t->v)
		return -ENOMEM;
	for (id = first; id < end; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		if (btf_is_func(type))
			t->v[t->nr++] =
				(struct function_type){ btf__name_by_offset(btf, type->name_off),
							id };
	}
	qsort(t->v, t->nr, sizeof(*t->v), compare);
	return 0;
}

int probe_types__load(struct probe_types **ret_types)
{
	struct probe_types *t = calloc(1, sizeof(*t));
	int err = 0;

	if (!t)
		return -ENOMEM;
	t->kernel = btf__load_vmlinux_btf();
	if (!t->kernel && errno == ENOMEM)
		err = -ENOMEM;
	if (t->kernel)
		err = functions_load(&t->of_kernel, t->kernel, 1);
	if (err)
		probe_types__free(t);
	else
		*ret_types = t;
	return err;
}

static void forget_module(struct probe_types *t)
{
	free(t->of_module.v);
	memset(&t->of_module, 0, sizeof(t->of_module));
	btf__free(t->module);
	t->module = NULL;
	free(t->module_name);
	t->module_name = NULL;
}

void probe_types__free(struct probe_types *t)
{
	if (!t)
		return;
	forget_module(t);
	free(t->of_kernel.v);
	btf__free(t->kernel);
	free(t);
}

/* A module without BTF is cached as one without functions. */
static const struct function_types *functions_of(struct probe_types *t, const char *module)
{
	if (!*module || !t->kernel)
		return &t->of_kernel;
	if (t->module_name && !strcmp(t->module_name, module))
		return &t->of_module;
	forget_module(t);
	t->module_name = strdup(module);
	t->module = btf__load_module_btf(module, t->kernel);
	if (t->module && functions_load(&t->of_module, t->module, btf__type_cnt(t->kernel)))
		forget_module(t);
	return &t->of_module;
}

/* NULL: unknown or ambiguous. */
static const struct btf_type *find_prototype(const struct function_types *t, const char *function)
{
	size_t low = array__bisect(t->nr, i, strcmp(t->v[i].name, function) < 0);
	const struct btf_type *type;

	if (low == t->nr || strcmp(t->v[low].name, function) ||
	    (low + 1 < t->nr && !strcmp(t->v[low + 1].name, function)))
		return NULL;
	type = btf__type_by_id(t->btf, btf__type_by_id(t->btf, t->v[low].id)->type);
	return type && btf_is_func_proto(type) ? type : NULL;
}

/* Names of types in BTF, and the names that tracefs uses. */
static const char *usual_name(const char *name)
{
	static const char *const names[][2] = {
		{ "long unsigned int", "unsigned long" },
		{ "long int", "long" },
		{ "long long unsigned int", "unsigned long long" },
		{ "long long int", "long long" },
		{ "short unsigned int", "unsigned short" },
		{ "short int", "short" },
		{ "_Bool", "bool" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i][0], name))
			return names[i][1];
	return name;
}

/* Writes a type such as "const struct file *"; a pointer to an unnamed type is "void *". */
static bool put_type(struct strbuf *b, const struct btf *btf, uint32_t id)
{
	unsigned int stars = 0, i;
	bool is_const = false;
	const char *name;
	const struct btf_type *t;

	for (i = 0; id && i < MAX_CHAIN; i++) {
		t = btf__type_by_id(btf, id);
		if (btf_is_ptr(t)) {
			stars++;
			is_const = false;
		} else if (btf_is_const(t)) {
			is_const = true;
		} else if (!btf_is_mod(t) || btf_is_typedef(t)) {
			break;
		}
		id = t->type;
	}
	if (i == MAX_CHAIN)
		return false;
	t = btf__type_by_id(btf, id);
	name = id ? btf__name_by_offset(btf, t->name_off) : "void";
	if (!*name && !stars)
		return false;
	strbuf__puts(b, is_const ? "const " : "");
	if (*name && (btf_is_struct(t) || (btf_is_fwd(t) && !btf_kflag(t))))
		strbuf__puts(b, "struct ");
	else if (*name && (btf_is_union(t) || btf_is_fwd(t)))
		strbuf__puts(b, "union ");
	else if (*name && btf_is_any_enum(t))
		strbuf__puts(b, "enum ");
	strbuf__puts(b, *name ? usual_name(name) : "void");
	strbuf__puts(b, stars ? " " : "");
	strbuf__pad(b, '*', stars);
	return true;
}

/* false: the value is not in a register of its own. */
static bool describe_value(const struct btf *btf, uint32_t id, struct probe_field *ret_field)
{
	int resolved = btf__resolve_type(btf, id);
	const struct btf_type *t = resolved > 0 ? btf__type_by_id(btf, resolved) : NULL;
	struct strbuf b = { 0 };

	if (!t)
		return false;
	memset(ret_field, 0, sizeof(*ret_field));
	ret_field->size = btf_is_ptr(t) ? 8 : t->size;
	if (btf_is_int(t))
		ret_field->is_signed = btf_int_encoding(t) & BTF_INT_SIGNED;
	else if (btf_is_any_enum(t))
		ret_field->is_signed = btf_kflag(t);
	else if (btf_is_ptr(t) || btf_is_composite(t))
		ret_field->is_hex = true;
	else
		return false;
	if (ret_field->size != 1 && ret_field->size != 2 && ret_field->size != 4 &&
	    ret_field->size != 8)
		return false;
	if (!put_type(&b, btf, id) || strbuf__failed(&b) || b.len >= sizeof(ret_field->type)) {
		strbuf__reset(&b);
		strbuf__puts(&b, btf_is_ptr(t) ? "void *" : "unsigned long");
	}
	if (!strbuf__failed(&b))
		strcpy(ret_field->type, b.s);
	strbuf__free(&b);
	return *ret_field->type;
}

static bool is_taken(const struct probe_field *fields, unsigned int nr, const char *name)
{
	for (unsigned int i = 0; i < nr; i++)
		if (!strcmp(fields[i].name, name))
			return true;
	return false;
}

/* Whether a field of a record can have this name. */
static bool is_usable(const char *name)
{
	size_t i;

	if (!*name || isdigit((unsigned char)*name) || !strncmp(name, "common_", 7) ||
	    !strcmp(name, "ip") || strlen(name) + 3 >= sizeof(((struct probe_field *)0)->name))
		return false;
	for (i = 0; name[i]; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return true;
}

/* Names the remaining fields argN; appends '_' while another field has that name. */
static void name_rest(struct probe_field *fields, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		char name[sizeof(fields[i].name)];

		if (*fields[i].name)
			continue;
		snprintf(name, sizeof(name), "arg%u", i + 1);
		while (is_taken(fields, nr, name))
			strcat(name, "_");
		strcpy(fields[i].name, name);
	}
}

static unsigned int describe_arguments(const struct btf *btf, const struct btf_type *proto,
				       struct probe_field *ret_fields)
{
	const struct btf_param *params = btf_params(proto);
	unsigned int nr = 0;

	/* the parameters of a variadic function end with one that has no type */
	while (nr < MIN(btf_vlen(proto), PROBE_ARGS) && params[nr].type &&
	       describe_value(btf, params[nr].type, &ret_fields[nr])) {
		const char *name = btf__name_by_offset(btf, params[nr].name_off);

		if (is_usable(name) && !is_taken(ret_fields, nr, name))
			strcpy(ret_fields[nr].name, name);
		nr++;
	}
	name_rest(ret_fields, nr);
	return nr;
}

/*
 * Values that do not fit in two registers are returned in memory; its address is passed as the
 * first argument.
 */
static bool returns_memory(const struct btf *btf, const struct btf_type *proto)
{
	int id = proto->type ? btf__resolve_type(btf, proto->type) : 0;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	return t && btf_is_composite(t) && t->size > 16;
}

void probe_types__describe(struct probe_types *t, const char *function, const char *module,
			   bool is_return, struct probe_field ret_fields[PROBE_ARGS],
			   unsigned int *ret_nr)
{
	const struct function_types *types = functions_of(t, module);
	const struct btf_type *proto = find_prototype(types, function);

	if (!proto) {
		*ret_nr = is_return ? 1 : PROBE_ARGS;
		probe_fields__unknown(ret_fields, 0, *ret_nr);
	} else if (is_return) {
		*ret_nr = proto->type && describe_value(types->btf, proto->type, &ret_fields[0]);
	} else if (returns_memory(types->btf, proto)) {
		*ret_nr = PROBE_ARGS;
		probe_fields__unknown(ret_fields, 0, *ret_nr);
	} else {
		*ret_nr = describe_arguments(types->btf, proto, ret_fields);
	}
	if (is_return && *ret_nr)
		strcpy(ret_fields[0].name, "ret");
}
