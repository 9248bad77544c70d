/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* C types and constants that print fmts name: what the 64-bit kernel's headers say of them. */
#include "format_priv.h"

#include "cleanup.h"

#include <string.h>

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

/*
 * Enum constants that kernels leave unresolved in their print fmts and that are part of an ABI or
 * have not moved since they exist.  Others have to be resolved by whoever has the kernel's type
 * information: ev_format__resolve().
 */
static const struct {
	const char *name;
	uint32_t value;
} constants[] = {
	{ "NULL", 0 },			{ "false", 0 },
	{ "true", 1 },
	/* include/net/tcp_states.h */
	{ "TCP_ESTABLISHED", 1 },	{ "TCP_SYN_SENT", 2 },
	{ "TCP_SYN_RECV", 3 },		{ "TCP_FIN_WAIT1", 4 },
	{ "TCP_FIN_WAIT2", 5 },		{ "TCP_TIME_WAIT", 6 },
	{ "TCP_CLOSE", 7 },		{ "TCP_CLOSE_WAIT", 8 },
	{ "TCP_LAST_ACK", 9 },		{ "TCP_LISTEN", 10 },
	{ "TCP_CLOSING", 11 },		{ "TCP_NEW_SYN_RECV", 12 },
	/* include/uapi/linux/ioprio.h */
	{ "IOPRIO_CLASS_NONE", 0 },	{ "IOPRIO_CLASS_RT", 1 },
	{ "IOPRIO_CLASS_BE", 2 },	{ "IOPRIO_CLASS_IDLE", 3 },
	{ "IOPRIO_CLASS_INVALID", 7 },
	/* include/linux/hrtimer.h */
	{ "HRTIMER_MODE_ABS", 0 },	{ "HRTIMER_MODE_REL", 1 },
	{ "HRTIMER_MODE_ABS_PINNED", 2 }, { "HRTIMER_MODE_REL_PINNED", 3 },
	{ "HRTIMER_MODE_ABS_SOFT", 4 },	{ "HRTIMER_MODE_REL_SOFT", 5 },
	{ "HRTIMER_MODE_ABS_PINNED_SOFT", 6 }, { "HRTIMER_MODE_REL_PINNED_SOFT", 7 },
	{ "HRTIMER_MODE_ABS_HARD", 8 },	{ "HRTIMER_MODE_REL_HARD", 9 },
	{ "HRTIMER_MODE_ABS_PINNED_HARD", 10 }, { "HRTIMER_MODE_REL_PINNED_HARD", 11 },
	/* include/linux/mm_types.h */
	{ "VM_FAULT_OOM", 0x1 },	{ "VM_FAULT_SIGBUS", 0x2 },
	{ "VM_FAULT_MAJOR", 0x4 },	{ "VM_FAULT_HWPOISON", 0x10 },
	{ "VM_FAULT_HWPOISON_LARGE", 0x20 }, { "VM_FAULT_SIGSEGV", 0x40 },
	{ "VM_FAULT_NOPAGE", 0x100 },	{ "VM_FAULT_LOCKED", 0x200 },
	{ "VM_FAULT_RETRY", 0x400 },	{ "VM_FAULT_FALLBACK", 0x800 },
	{ "VM_FAULT_DONE_COW", 0x1000 }, { "VM_FAULT_NEEDDSYNC", 0x2000 },
	{ "VM_FAULT_COMPLETED", 0x4000 },
	{ "FAULT_FLAG_WRITE", 0x1 },	{ "FAULT_FLAG_MKWRITE", 0x2 },
	{ "FAULT_FLAG_ALLOW_RETRY", 0x4 }, { "FAULT_FLAG_RETRY_NOWAIT", 0x8 },
	{ "FAULT_FLAG_KILLABLE", 0x10 }, { "FAULT_FLAG_TRIED", 0x20 },
	{ "FAULT_FLAG_USER", 0x40 },	{ "FAULT_FLAG_REMOTE", 0x80 },
	{ "FAULT_FLAG_INSTRUCTION", 0x100 }, { "FAULT_FLAG_INTERRUPTIBLE", 0x200 },
	{ "FAULT_FLAG_UNSHARE", 0x400 }, { "FAULT_FLAG_ORIG_PTE_VALID", 0x800 },
	{ "FAULT_FLAG_VMA_LOCK", 0x1000 },
	/* include/linux/mmzone.h */
	{ "VMSCAN_THROTTLE_WRITEBACK", 0 }, { "VMSCAN_THROTTLE_ISOLATED", 1 },
	{ "VMSCAN_THROTTLE_NOPROGRESS", 2 }, { "VMSCAN_THROTTLE_CONGESTED", 3 },
	/* include/linux/pm_qos.h */
	{ "PM_QOS_ADD_REQ", 0 },	{ "PM_QOS_UPDATE_REQ", 1 },
	{ "PM_QOS_REMOVE_REQ", 2 },	{ "DEV_PM_QOS_RESUME_LATENCY", 1 },
	{ "DEV_PM_QOS_LATENCY_TOLERANCE", 2 }, { "DEV_PM_QOS_FLAGS", 5 },
	/* include/vdso/clocksource.h */
	{ "VDSO_CLOCKMODE_NONE", 0 },	{ "VDSO_CLOCKMODE_TSC", 1 },
	/*
	 * The start of the array of struct page: a variable.  Its value is not known here, and
	 * the kernel prints what is computed from it hashed.
	 */
	{ "vmemmap_base", 0 },
};

bool c_constant__lookup(const char *name, size_t len, uint64_t *ret_value)
{
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++) {
		if (strlen(constants[i].name) != len || memcmp(constants[i].name, name, len))
			continue;
		*ret_value = constants[i].value;
		return true;
	}
	return false;
}
