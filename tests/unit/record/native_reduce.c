// SPDX-License-Identifier: GPL-2.0-only
/*
 * native_reduce BTF FORMATS OUT: of a kernel's types and of the formats in a directory (files
 * SYSTEM.EVENT.format), writes what the rows of native events need to OUT.btf and OUT.formats.  In
 * structs, only the members of the rows are left; in print fmts, only the first line of a table.
 */
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>

#include "cleanup.h"
#include "record/kernel/native_rows.h"
#include "slurp.h"

#define MAX_NEEDED 256

static struct btf *from, *to;
static int *made; /* by id in from: the id in to, 0: not yet */
static struct {
	uint32_t type, member;
} needed[MAX_NEEDED];
static size_t nr_needed;
static int depth; /* of structs that are being copied */

static bool is_needed(uint32_t type, uint32_t member)
{
	for (size_t i = 0; i < nr_needed; i++)
		if (needed[i].type == type && needed[i].member == member)
			return true;
	return false;
}

static void need(uint32_t type, uint32_t member)
{
	if (is_needed(type, member))
		return;
	if (nr_needed == MAX_NEEDED)
		errx(1, "more than %d members are needed", MAX_NEEDED);
	needed[nr_needed].type = type;
	needed[nr_needed++].member = member;
}

static uint32_t plain(uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(from, id);

	while (btf_is_mod(t) || btf_is_typedef(t) || btf_is_ptr(t) || btf_is_array(t)) {
		id = btf_is_array(t) ? btf_array(t)->type : t->type;
		t = btf__type_by_id(from, id);
	}
	return id;
}

/* Marks the members on the way to this one; returns its type, or 0. */
static uint32_t mark(uint32_t type, const char *name, size_t len)
{
	const struct btf_type *t = btf__type_by_id(from, type);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *its = btf__name_by_offset(from, m->name_off);
		uint32_t inner = plain(m->type), found = 0;

		if (strlen(its) == len && !memcmp(its, name, len))
			found = inner;
		else if (!*its && btf_is_composite(btf__type_by_id(from, inner)))
			found = mark(inner, name, len);
		if (found) {
			need(type, i);
			return found;
		}
	}
	return 0;
}

static void mark_path(uint32_t type, const char *path)
{
	while (type && *path && btf_is_composite(btf__type_by_id(from, type))) {
		size_t len = strcspn(path, ".-");

		type = mark(type, path, len);
		path += len;
		path += strspn(path, ".->");
	}
}

static int copy(uint32_t id);

static int copy_struct(const struct btf_type *t, uint32_t id, const char *name)
{
	int types[64], nr = 0, new;

	depth++;
	for (uint32_t i = 0; i < btf_vlen(t); i++)
		if (is_needed(id, i) && nr < 64)
			types[nr++] = copy(btf_members(t)[i].type);
	depth--;
	new = btf_is_union(t) ? btf__add_union(to, name, t->size) :
				btf__add_struct(to, name, t->size);
	nr = 0;
	for (uint32_t i = 0; i < btf_vlen(t); i++)
		if (is_needed(id, i) && nr < 64)
			btf__add_field(to, btf__name_by_offset(from, btf_members(t)[i].name_off),
				       types[nr++], btf_member_bit_offset(t, i),
				       btf_member_bitfield_size(t, i));
	return new;
}

static int copy_proto(const struct btf_type *t)
{
	int types[16], nr = btf_vlen(t), new;

	if (nr > 16)
		errx(1, "a function has %d parameters", nr);
	for (int i = 0; i < nr; i++)
		types[i] = copy(btf_params(t)[i].type);
	new = btf__add_func_proto(to, 0);
	for (int i = 0; i < nr; i++)
		btf__add_func_param(to, "", types[i]);
	return new;
}

/* Of the constants only those by which rows find flags. */
static bool is_flag(const char *name)
{
	return !strcmp(name, "_SLAB_ACCOUNT") || !strcmp(name, "___GFP_ACCOUNT_BIT");
}

static int copy_enum(const struct btf_type *t, const char *name)
{
	int new = btf__add_enum(to, name, t->size);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *its = btf__name_by_offset(from, btf_enum(t)[i].name_off);

		if (is_flag(its))
			btf__add_enum_value(to, its, btf_enum(t)[i].val);
	}
	return new;
}

/* Members that are pointers to functions may lead back to their struct. */
static int copy_pointer(const struct btf_type *t)
{
	bool is_function = btf_is_func_proto(btf__type_by_id(from, t->type));

	return btf__add_ptr(to, depth && is_function ? 0 : copy(t->type));
}

static int copy_new(const struct btf_type *t, uint32_t id)
{
	const char *name = btf__name_by_offset(from, t->name_off);

	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		return btf__add_int(to, name, t->size, btf_int_encoding(t));
	case BTF_KIND_PTR:
		return copy_pointer(t);
	case BTF_KIND_CONST:
		return btf__add_const(to, copy(t->type));
	case BTF_KIND_VOLATILE:
		return btf__add_volatile(to, copy(t->type));
	case BTF_KIND_TYPEDEF:
		return btf__add_typedef(to, name, copy(t->type));
	case BTF_KIND_ARRAY:
		return btf__add_array(to, copy(btf_array(t)->index_type), copy(btf_array(t)->type),
				      btf_array(t)->nelems);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_struct(t, id, name);
	case BTF_KIND_FUNC_PROTO:
		return copy_proto(t);
	case BTF_KIND_ENUM:
		return copy_enum(t, name);
	}
	return 0; /* void: no row needs it */
}

static int copy(uint32_t id)
{
	if (!id)
		return 0;
	if (!made[id])
		made[id] = copy_new(btf__type_by_id(from, id), id);
	if (made[id] < 0)
		errx(1, "copy type %u: %s", id, strerror(-made[id]));
	return made[id];
}

static bool has_flag(const struct btf_type *t)
{
	for (uint32_t i = 0; btf_is_enum(t) && i < btf_vlen(t); i++)
		if (is_flag(btf__name_by_offset(from, btf_enum(t)[i].name_off)))
			return true;
	return false;
}

/* What is no argument: how memory is read, constants, the running task. */
static void copy_others(void)
{
	int regs = btf__find_by_name_kind(from, "pt_regs", BTF_KIND_STRUCT);

	if (regs < 0)
		errx(1, "the kernel has no struct pt_regs");
	need((uint32_t)regs, 0);
	mark_path((uint32_t)regs, "sp"); /* for checks */
	copy((uint32_t)regs);
	if (btf__find_by_name_kind(from, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0)
		btf__add_func(to, "bpf_rdonly_cast", BTF_FUNC_GLOBAL, btf__add_func_proto(to, 0));
	for (uint32_t i = 1; i < btf__type_cnt(from); i++)
		if (has_flag(btf__type_by_id(from, i)))
			copy(i);
}

/* The prototype of an event; NULL: the kernel does not have it. */
static const struct btf_type *prototype(const char *event, int *ret_typedef)
{
	char name[128];

	snprintf(name, sizeof(name), "btf_trace_%s", event);
	*ret_typedef = btf__find_by_name_kind(from, name, BTF_KIND_TYPEDEF);
	return *ret_typedef < 0 ? NULL : btf__type_by_id(from, plain((uint32_t)*ret_typedef));
}

/* Formats of system calls are in call_formats.h. */
static void copy_call(bool is_exit)
{
	int id;

	if (prototype(native_rows__call(is_exit)->event, &id))
		copy((uint32_t)id);
}

static void mark_event(const struct native_event *e)
{
	int id;
	const struct btf_type *t = prototype(e->event, &id);

	for (const struct native_field *f = e->fields; t && f->field; f++) {
		uint32_t type = 0;

		if (f->arg == NATIVE_CURRENT)
			type = (uint32_t)btf__find_by_name_kind(from, "task_struct",
								BTF_KIND_STRUCT);
		else if ((unsigned int)f->arg + 1 < btf_vlen(t))
			type = plain(btf_params(t)[f->arg + 1].type);
		mark_path(type, f->member ?: "");
	}
}

/* A print fmt with only the first line of each table. */
static void write_text(const char *text, FILE *out)
{
	const char *p = strstr(text, "print fmt: ");

	if (!p)
		errx(1, "a format has no print fmt");
	fwrite(text, 1, (size_t)(p - text), out);
	for (; *p; p++) {
		if (*p != '{') {
			putc(*p, out);
			continue;
		}
		fputs("{ 0, \"\" }", out);
		while (*p == '{') {
			int braces = 0;

			do
				braces += (*p == '{') - (*p == '}');
			while (*p++ && braces);
			p += strspn(p, ", ");
		}
		p--;
	}
}

static void write_format(const struct native_event *e, const char *dir, FILE *out)
{
	_cleanup_free_ char *text = NULL;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.%s.format", dir, e->system, e->event);
	if (slurp(path, &text, NULL))
		return;
	fprintf(out, "system: %s\n", e->system);
	write_text(text, out);
	putc('\n', out);
}

static FILE *create(const char *base, const char *suffix)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.%s", base, suffix);
	f = fopen(path, "w");
	if (!f)
		err(1, "create '%s'", path);
	return f;
}

int main(int argc, char **argv)
{
	const struct native_event *e, *last = NULL;
	const void *raw;
	uint32_t size;
	FILE *formats, *types;
	int id;

	if (argc != 4)
		errx(2, "usage: native_reduce BTF FORMATS OUT");
	from = btf__parse(argv[1], NULL);
	to = btf__new_empty();
	made = from ? calloc(btf__type_cnt(from), sizeof(*made)) : NULL;
	if (!from || !to || !made)
		errx(1, "read '%s'", argv[1]);
	formats = create(argv[3], "formats");
	for (size_t i = 0; (e = native_rows__get(i)); i++)
		mark_event(e);
	copy_others();
	for (size_t i = 0; (e = native_rows__get(i)); last = e, i++) {
		if (last && !strcmp(last->event, e->event))
			continue;
		if (prototype(e->event, &id))
			copy((uint32_t)id);
		write_format(e, argv[2], formats);
	}
	copy_call(false);
	copy_call(true);
	raw = btf__raw_data(to, &size);
	types = create(argv[3], "btf");
	if (!raw || fwrite(raw, 1, size, types) != size || fclose(types) || fclose(formats))
		errx(1, "write '%s'", argv[3]);
	return 0;
}
