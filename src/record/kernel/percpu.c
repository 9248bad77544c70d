// SPDX-License-Identifier: GPL-2.0-only
/* Reads the offsets of per-CPU variables from BTF, and the number of possible CPUs. */
#include "percpu.h"

#include <errno.h>
#include <string.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "log.h"
#include "wire.h"

/* Offset in bytes of a direct member, or UINT32_MAX. */
static uint32_t member_offset(const struct btf *btf, uint32_t type_id, const char *name)
{
	const struct btf_type *t = btf__type_by_id(btf, type_id);
	unsigned int i, j;

	if (!t || !btf_is_composite(t))
		return UINT32_MAX;
	for (i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *member = btf__name_by_offset(btf, m->name_off);
		uint32_t at = btf_member_bit_offset(t, i) / 8;

		if (!strcmp(member, name))
			return at;
		if (*member)
			continue;
		j = member_offset(btf, m->type, name); /* anonymous struct or union */
		if (j != UINT32_MAX)
			return at + j;
	}
	return UINT32_MAX;
}

/* swevent_htable.recursion[] (up to 6.10): its offset and the size of its elements. */
static void find_recursion(const struct btf *btf, uint32_t var_offset, uint32_t type_id,
			   struct percpu_layout *l)
{
	uint32_t at = member_offset(btf, type_id, "recursion");
	const struct btf_type *t = btf__type_by_id(btf, type_id);
	unsigned int i;

	for (i = 0; at != UINT32_MAX && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const struct btf_type *array = btf__type_by_id(btf, m->type);

		if (strcmp(btf__name_by_offset(btf, m->name_off), "recursion") ||
		    !btf_is_array(array))
			continue;
		l->perf_recursion = var_offset + at;
		l->perf_recursion_size = btf__resolve_size(btf, btf_array(array)->type);
	}
}

/* The enum that has this constant is unnamed, so all enums are searched. */
static bool has_lazy_resched(const struct btf *btf)
{
	unsigned int i, j, nr = btf__type_cnt(btf);

	for (i = 1; i < nr; i++) {
		const struct btf_type *t = btf__type_by_id(btf, i);

		for (j = 0; btf_is_enum(t) && j < btf_vlen(t); j++)
			if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[j].name_off),
				    "preempt_dynamic_lazy"))
				return true;
	}
	return false;
}

static void take_variables(const struct btf *btf, const struct btf_type *sec,
			   struct percpu_layout *l)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(sec);
	unsigned int i;

	for (i = 0; i < btf_vlen(sec); i++, v++) {
		const struct btf_type *var = btf__type_by_id(btf, v->type);
		const char *name = btf__name_by_offset(btf, var->name_off);

		if (!strcmp(name, "runqueues")) {
			l->runqueues = v->offset;
		} else if (!strcmp(name, "__preempt_count")) {
			l->preempt_count = v->offset;
		} else if (!strcmp(name, "swevent_htable")) {
			find_recursion(btf, v->offset, var->type, l);
		} else if (!strcmp(name, "bpf_prog_active")) {
			l->prog_active = v->offset;
		} else if (!strcmp(name, "pcpu_hot") && l->preempt_count == UINT32_MAX) {
			uint32_t at = member_offset(btf, var->type, "preempt_count");

			if (at != UINT32_MAX)
				l->preempt_count = v->offset + at;
		}
	}
}

int percpu__layout(const struct btf *btf, struct percpu_layout *ret_layout)
{
	struct percpu_layout l = {
		UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 4, false, false
	};
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);

	if (id < 0 && id != -ENOENT)
		return id;
	if (id > 0)
		take_variables(btf, btf__type_by_id(btf, id), &l);
	l.lazy_resched = has_lazy_resched(btf);
	id = btf__find_by_name_kind(btf, "mm_struct", BTF_KIND_STRUCT);
	l.maple_tree = id > 0 && member_offset(btf, id, "mm_mt") != UINT32_MAX;
	*ret_layout = l;
	return 0;
}

int percpu__nr_cpus(void)
{
	int nr = libbpf_num_possible_cpus();

	if (nr < 0)
		return log_err(nr, "count the CPUs");
	if (nr > WIRE_MAX_CPUS)
		return log_why(-E2BIG, "this machine may have %d CPUs, but only %d are supported",
			       nr, WIRE_MAX_CPUS);
	return nr;
}
