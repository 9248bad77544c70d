// SPDX-License-Identifier: GPL-2.0-only
/* Looks up enum constants in BTF. */
#include "constants.h"

#include <string.h>
#include <bpf/btf.h>

static bool in_enum(const struct btf *btf, const struct btf_type *t, const char *name,
		    int64_t *ret_value)
{
	unsigned int i;

	for (i = 0; i < btf_vlen(t); i++) {
		const struct btf_enum64 *wide = (const struct btf_enum64 *)(t + 1) + i;
		const struct btf_enum *e = btf_enum(t) + i;
		bool is_wide = btf_is_enum64(t);

		if (strcmp(btf__name_by_offset(btf, is_wide ? wide->name_off : e->name_off), name))
			continue;
		*ret_value = is_wide		     ? (int64_t)btf_enum64_value(wide) :
			     BTF_INFO_KFLAG(t->info) ? (int64_t)e->val :
						       (int64_t)(uint32_t)e->val;
		return true;
	}
	return false;
}

bool constants__lookup(void *ctx, const char *name, int64_t *ret_value)
{
	const struct btf *btf = ctx;
	unsigned int i, nr = btf__type_cnt(btf);

	for (i = 1; i < nr; i++) {
		const struct btf_type *t = btf__type_by_id(btf, i);

		if ((btf_is_enum(t) || btf_is_enum64(t)) && in_enum(btf, t, name, ret_value))
			return true;
	}
	return false;
}
