// SPDX-License-Identifier: GPL-2.0-only
/* Looks up arguments of tracepoints and members of structs in BTF. */
#include "native_types.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/btf.h>

#include "strbuf.h"

#define MAX_CHAIN 32 /* typedefs and qualifiers around one type, structs around one member */
#define MAX_OFFSET (1u << 20) /* of a member; no struct of the rows is as large */

/* The type without qualifiers and typedefs; NULL: void, or no such type. */
static const struct btf_type *plain(const struct btf *btf, uint32_t id, uint32_t *ret_id)
{
	unsigned int i;

	for (i = 0; id && i < MAX_CHAIN; i++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (!t)
			return NULL;
		if (!btf_is_mod(t) && !btf_is_typedef(t)) {
			if (ret_id)
				*ret_id = id;
			return t;
		}
		id = t->type;
	}
	return NULL;
}

static bool is_number(const struct btf_type *t)
{
	return btf_is_int(t) || btf_is_any_enum(t);
}

static bool is_signed(const struct btf_type *t)
{
	return btf_is_int(t) ? btf_int_encoding(t) & BTF_INT_SIGNED :
			       btf_is_any_enum(t) && BTF_INFO_KFLAG(t->info);
}

static bool is_register_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static int pointer_arg(const struct btf *btf, const struct btf_type *t, struct native_arg *ret_arg,
		       struct strbuf *text)
{
	uint32_t id = 0;

	t = plain(btf, t->type, &id);
	*ret_arg = (struct native_arg){ .size = 8 };
	if (!t || !(btf_is_struct(t) || btf_is_int(t))) {
		strbuf__puts(text, "void *");
		return 0;
	}
	ret_arg->pointee = id;
	strbuf__printf(text, "%s%s *", btf_is_struct(t) ? "struct " : "",
		       btf__name_by_offset(btf, t->name_off));
	return 0;
}

static int one_arg(const struct btf *btf, uint32_t id, struct native_arg *ret_arg,
		   struct strbuf *text)
{
	const struct btf_type *t = plain(btf, id, NULL);

	if (t && btf_is_ptr(t))
		return pointer_arg(btf, t, ret_arg, text);
	if (!t || !is_number(t) || !is_register_size(t->size))
		return -EINVAL;
	*ret_arg = (struct native_arg){
		.size = t->size,
		.is_signed = is_signed(t),
		.is_bool = btf_is_int(t) && btf_int_encoding(t) & BTF_INT_BOOL,
	};
	strbuf__printf(text, "%s%s", btf_is_int(t) ? "" : "enum ",
		       btf__name_by_offset(btf, t->name_off));
	return 0;
}

/* Handlers of a tracepoint are called with (void *data, ...). */
int native_types__args(const struct btf *btf, const char *event,
		       struct native_arg ret_args[NATIVE_MAX_ARGS], struct strbuf *text)
{
	const struct btf_type *t;
	unsigned int i;
	char name[128];
	int id, err;

	snprintf(name, sizeof(name), "btf_trace_%s", event);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	t = id < 0 ? NULL : plain(btf, (uint32_t)id, NULL);
	t = t && btf_is_ptr(t) ? plain(btf, t->type, NULL) : NULL;
	if (!t || !btf_is_func_proto(t))
		return -ENOENT;
	if (btf_vlen(t) < 1 || btf_vlen(t) > NATIVE_MAX_ARGS + 1)
		return -EINVAL;
	for (i = 1; i < btf_vlen(t); i++) {
		strbuf__puts(text, i > 1 ? ", " : "");
		err = one_arg(btf, btf_params(t)[i].type, &ret_args[i - 1], text);
		if (err)
			return err;
	}
	return (int)i - 1;
}

/* Finds a member by its name, in anonymous members, too; adds its offset. */
static int find_member(const struct btf *btf, const struct btf_type *t, const char *name,
		       size_t len, unsigned int depth, uint32_t *off, uint32_t *ret_type)
{
	unsigned int i;

	for (i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *its = btf__name_by_offset(btf, m->name_off);
		uint32_t bits = btf_member_bit_offset(t, i), inner = *off + bits / 8;
		const struct btf_type *mt;

		if (!its || bits % 8 || btf_member_bitfield_size(t, i) || inner > MAX_OFFSET)
			continue;
		if (strlen(its) == len && len && !memcmp(its, name, len)) {
			*off = inner;
			*ret_type = m->type;
			return 0;
		}
		mt = *its ? NULL : plain(btf, m->type, NULL);
		if (mt && btf_is_composite(mt) && depth < MAX_CHAIN &&
		    !find_member(btf, mt, name, len, depth + 1, &inner, ret_type)) {
			*off = inner;
			return 0;
		}
	}
	return -ENOENT;
}

static bool is_char(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = plain(btf, id, NULL);

	return t && btf_is_int(t) && t->size == 1 &&
	       !strcmp(btf__name_by_offset(btf, t->name_off), "char");
}

static void classify(const struct btf *btf, const struct btf_type *t, struct native_place *p)
{
	p->kind = NATIVE_OTHER;
	p->size = 8;
	if (btf_is_ptr(t)) {
		p->kind = is_char(btf, t->type) ? NATIVE_CHAR_POINTER : NATIVE_NUMBER;
	} else if (btf_is_array(t) && is_char(btf, btf_array(t)->type)) {
		p->kind = NATIVE_CHARS;
		p->size = btf_array(t)->nelems;
	} else if (is_number(t) && is_register_size(t->size)) {
		p->kind = NATIVE_NUMBER;
		p->size = t->size;
		p->is_signed = is_signed(t);
	}
}

/* The struct in which the next component of a path is looked up; it is at the offset p->off. */
static const struct btf_type *step(const struct btf *btf, const struct btf_type *t, bool is_arrow,
				   struct native_place *p)
{
	if (is_arrow) {
		if (!btf_is_ptr(t) || p->nr == NATIVE_MAX_STEPS)
			return NULL;
		p->off[p->nr++] = 0;
		return plain(btf, t->type, NULL);
	}
	return btf_is_array(t) ? plain(btf, btf_array(t)->type, NULL) : t;
}

int native_types__member(const struct btf *btf, uint32_t type, const char *path,
			 struct native_place *ret_place)
{
	const struct btf_type *t = plain(btf, type, NULL);
	struct native_place p = { .nr = 1 };
	bool is_arrow;

	while (t && *path) {
		size_t len = strcspn(path, ".-");
		uint32_t member;

		if (!btf_is_composite(t) ||
		    find_member(btf, t, path, len, 0, &p.off[p.nr - 1], &member))
			return -ENOENT;
		t = plain(btf, member, NULL);
		path += len;
		if (!t || !*path)
			break;
		is_arrow = *path == '-';
		t = step(btf, t, is_arrow, &p);
		path += is_arrow ? 2 : 1;
	}
	if (!t)
		return -ENOENT;
	classify(btf, t, &p);
	*ret_place = p;
	return 0;
}

uint32_t native_types__function(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);

	return id < 0 ? 0 : (uint32_t)id;
}

uint32_t native_types__any_word(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "pt_regs", BTF_KIND_STRUCT);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	if (!t || !btf_vlen(t) || btf_member_bit_offset(t, 0))
		return 0;
	t = plain(btf, btf_members(t)[0].type, NULL);
	return t && btf_is_int(t) && t->size == 8 ? (uint32_t)id : 0;
}
