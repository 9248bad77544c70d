/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* C types that print fmts name, as the headers of the 64-bit kernel define them. */
#include "format_priv.h"

#include "cleanup.h"

#include <string.h>

/* clang-format off */
static const struct {
	const char *name;
	uint8_t size;
	bool is_signed;
} types[] = {
	{ "u8", 1, false },		{ "s8", 1, true },
	{ "u16", 2, false },		{ "s16", 2, true },
	{ "u32", 4, false },		{ "s32", 4, true },
	{ "u64", 8, false },		{ "s64", 8, true },
	{ "__u8", 1, false },		{ "__s8", 1, true },
	{ "__u16", 2, false },		{ "__s16", 2, true },
	{ "__u32", 4, false },		{ "__s32", 4, true },
	{ "__u64", 8, false },		{ "__s64", 8, true },
	{ "uint8_t", 1, false },	{ "int8_t", 1, true },
	{ "uint16_t", 2, false },	{ "int16_t", 2, true },
	{ "uint32_t", 4, false },	{ "int32_t", 4, true },
	{ "uint64_t", 8, false },	{ "int64_t", 8, true },
	{ "__le16", 2, false },		{ "__be16", 2, false },
	{ "__le32", 4, false },		{ "__be32", 4, false },
	{ "__le64", 8, false },		{ "__be64", 8, false },
	{ "bool", 1, false },		{ "_Bool", 1, false },
	{ "uint", 4, false },		{ "ushort", 2, false },
	{ "ulong", 8, false },		{ "uintptr_t", 8, false },
	{ "size_t", 8, false },		{ "ssize_t", 8, true },
	{ "__kernel_size_t", 8, false }, { "__kernel_ssize_t", 8, true },
	{ "loff_t", 8, true },		{ "off_t", 8, true },
	{ "pid_t", 4, true },		{ "tid_t", 4, false },
	{ "uid_t", 4, false },		{ "gid_t", 4, false },
	{ "dev_t", 4, false },		{ "ino_t", 8, false },
	{ "umode_t", 2, false },	{ "fmode_t", 4, false },
	{ "gfp_t", 4, false },		{ "sector_t", 8, false },
	{ "blkcnt_t", 8, false },	{ "blk_opf_t", 4, false },
	{ "blk_status_t", 1, false },	{ "dma_addr_t", 8, false },
	{ "phys_addr_t", 8, false },	{ "resource_size_t", 8, false },
	{ "pgoff_t", 8, false },	{ "ktime_t", 8, true },
	{ "time64_t", 8, true },	{ "clockid_t", 4, true },
	{ "vm_flags_t", 8, false },	{ "vm_fault_t", 4, false },
	{ "rwf_t", 4, true },		{ "__kernel_rwf_t", 4, true },
	{ "errseq_t", 4, false },	{ "isolate_mode_t", 4, false },
	{ "gpa_t", 8, false },		{ "gva_t", 8, false },
	{ "gfn_t", 8, false },		{ "hpa_t", 8, false },
	{ "xfs_ino_t", 8, false },	{ "xfs_agnumber_t", 4, false },
	{ "xfs_agblock_t", 4, false },	{ "xfs_extlen_t", 4, false },
	{ "xfs_daddr_t", 8, true },	{ "xfs_off_t", 8, true },
	{ "ext4_fsblk_t", 8, false },	{ "ext4_lblk_t", 4, false },
	{ "cpumask_t", 8, false },
};
/* clang-format on */

bool c_type__lookup(const char *name, size_t len, struct c_type *ret_type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strlen(types[i].name) != len || memcmp(types[i].name, name, len))
			continue;
		ret_type->size = types[i].size;
		ret_type->is_signed = types[i].is_signed;
		return true;
	}
	return false;
}
