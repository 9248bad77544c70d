// SPDX-License-Identifier: GPL-2.0-only
/* Probes the features that user stacks require. */
#include "user_features.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/btf.h>

#include "cleanup.h"

static void free_btf(struct btf **btf)
{
	btf__free(*btf);
}

#define _cleanup_btf_ _cleanup_(free_btf)

/* The type id of a member, also of an anonymous one's; 0: none. */
static uint32_t member_type(const struct btf *btf, uint32_t id, const char *name)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	unsigned int i;

	if (!t || !btf_is_composite(t))
		return 0;
	for (i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *member = btf__name_by_offset(btf, m->name_off);
		uint32_t found = strcmp(member, name) ? 0 : m->type;

		if (!found && !*member)
			found = member_type(btf, m->type, name);
		if (found)
			return found;
	}
	return 0;
}

static uint32_t mm_member(const struct btf *btf, const char *name)
{
	int mm = btf__find_by_name_kind(btf, "mm_struct", BTF_KIND_STRUCT);

	return mm < 0 ? 0 : member_type(btf, mm, name);
}

int probe_user_mappings(char *ret_detail, size_t len)
{
	_cleanup_btf_ struct btf *btf = btf__load_vmlinux_btf();
	bool cast;

	if (!btf)
		return -errno;
	if (!mm_member(btf, "mm_mt"))
		return -EOPNOTSUPP;
	cast = btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	snprintf(ret_detail, len,
		 cast ? "maple tree, read as typed memory" :
			"maple tree, read by bpf_probe_read_kernel()");
	return 0;
}

int probe_user_changes(char *ret_detail, size_t len)
{
	_cleanup_btf_ struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *t;
	uint32_t id;

	if (!btf)
		return -errno;
	id = mm_member(btf, "mm_lock_seq");
	if (!id)
		return -EOPNOTSUPP;
	t = btf__type_by_id(btf, btf__resolve_type(btf, id));
	snprintf(ret_detail, len, "mm_lock_seq, %s",
		 t && btf_is_composite(t) ? "a sequence count" : "counted by unlocking");
	return 0;
}

int probe_user_snapshot(char *ret_detail, size_t len)
{
	_cleanup_btf_ struct btf *btf = btf__load_vmlinux_btf();

	if (!btf)
		return -errno;
	return btf__find_by_name_kind(btf, "bpf_iter__task_vma", BTF_KIND_STRUCT) > 0 ? 0 :
											-EOPNOTSUPP;
}

int probe_map_files(char *ret_detail, size_t len)
{
	_cleanup_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char path[80];

	if (!maps || fscanf(maps, "%lx-%lx", &start, &end) != 2)
		return -EIO;
	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", start, end);
	return access(path, R_OK) ? -errno : 0;
}
