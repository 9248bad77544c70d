// SPDX-License-Identifier: GPL-2.0-only
/* Looks in the kernel's types for what happens to the stack of a preempted program. */
#include "program_stack.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <bpf/btf.h>

#include "slurp.h"

#define PREEMPT "/sys/kernel/debug/sched/preempt"

static bool has_function(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

static bool has_member(const struct btf *btf, const char *type, const char *name)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;
	unsigned int i;

	for (i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_members(t)[i].name_off), name))
			return true;
	return false;
}

bool program_stack__is_kept(const struct btf *btf, const char *preempt, const char *version)
{
	/*
	 * Where the JIT compiler gives programs a private stack (7d1cd70d4b16).  The verifier's
	 * part of it is in kernels whose compiler does not, such as Debian's 6.12.117.
	 */
	if (!has_member(btf, "bpf_prog_aux", "priv_stack_ptr"))
		return true;
	/* the condition of preempt_guard() in probe.bpf.h */
	if (has_member(btf, "bpf_subprog_info", "might_sleep") &&
	    has_function(btf, "bpf_preempt_disable") && has_function(btf, "bpf_preempt_enable"))
		return true;
	if (!*preempt)
		return !strstr(version, "PREEMPT");
	return strstr(preempt, "(none)") || strstr(preempt, "(voluntary)");
}

int program_stack__probe(char *ret_detail, size_t len)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct utsname u = { 0 };
	char preempt[64] = "";
	bool kept;

	if (!btf)
		return -errno;
	slurp__line(PREEMPT, preempt, sizeof(preempt));
	uname(&u);
	kept = program_stack__is_kept(btf, preempt, u.version);
	btf__free(btf);
	return kept ? 0 : -EOPNOTSUPP;
}
