/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Constants that kernels leave as names in their print fmts. */
#include "format_priv.h"

#include "cleanup.h"

struct constant {
	const char *name;
	uint32_t value;
};

/* clang-format off */

/*
 * Enum constants that kernels leave unresolved in their print fmts and that are part of an ABI or
 * have never changed.  Others must be resolved where the kernel's type information is available:
 * ev_format__resolve().
 */
static const struct constant constants[] = {
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
	{ "VM_FAULT_MAJOR", 0x4 },	{ "VM_FAULT_WRITE", 0x8 },
	{ "VM_FAULT_HWPOISON", 0x10 },	{ "VM_FAULT_HWPOISON_LARGE", 0x20 },
	{ "VM_FAULT_SIGSEGV", 0x40 },
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
	/* arch/x86/include/asm/vmx.h, by the processor's manual */
	{ "VMXERR_VMLAUNCH_NONCLEAR_VMCS", 4 },
	{ "VMXERR_VMRESUME_NONLAUNCHED_VMCS", 5 },
	{ "VMXERR_VMRESUME_AFTER_VMXOFF", 6 },
	{ "VMXERR_ENTRY_INVALID_CONTROL_FIELD", 7 },
	{ "VMXERR_ENTRY_INVALID_HOST_STATE_FIELD", 8 },
	{ "VMXERR_ENTRY_EVENTS_BLOCKED_BY_MOV_SS", 26 },
	/* fs/btrfs/delayed-ref.h, fs/btrfs/qgroup.h */
	{ "BTRFS_ADD_DELAYED_REF", 1 },	{ "BTRFS_DROP_DELAYED_REF", 2 },
	{ "BTRFS_ADD_DELAYED_EXTENT", 3 }, { "BTRFS_UPDATE_DELAYED_HEAD", 4 },
	{ "QGROUP_RESERVE", 1 << 0 },	{ "QGROUP_RELEASE", 1 << 1 },
	{ "QGROUP_FREE", 1 << 2 },
	/*
	 * The start of the array of struct page: a variable.  Its value is unknown here, and the
	 * kernel prints what it computes from it hashed.
	 */
	{ "vmemmap_base", 0 },
};

/* clang-format on */

static const struct constant *find(const struct constant *table, size_t n, const char *name,
				   size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(table[i].name) == len && !memcmp(table[i].name, name, len))
			return &table[i];
	return NULL;
}

bool c_constant__lookup(const char *name, size_t len, uint64_t *ret_value)
{
	const struct constant *c = find(constants, ARRAY_SIZE(constants), name, len);

	if (!c)
		return false;
	*ret_value = c->value;
	return true;
}
