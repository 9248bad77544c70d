// SPDX-License-Identifier: GPL-2.0-only
/* Reads the operation and the arguments of a futex call from its event. */
#include "futex_call.h"

#include <linux/futex.h>

#include "cleanup.h"

/* Missing in older headers. */
#define FLAG_PRIVATE FUTEX_PRIVATE_FLAG
#define OP_LOCK_PI2 13
#define OP_MASK 0x7f

/* libc's mutexes while locked with waiters: 2, or the owner's tid with this bit set. */
#define MUTEX_CONTENDED 2
#define MUTEX_WAITERS 0x80000000u

const struct event_role futex_roles[] = {
	{ ROLE_FUTEX, "syscalls", "sys_enter_futex", { "uaddr", "op", "val", "uaddr2" } },
	{ ROLE_FUTEX + 1, "syscalls", "sys_exit_futex", { "ret" } },
	{ ROLE_FUTEX_WAIT, "syscalls", "sys_enter_futex_wait", { "uaddr", "flags", "val" } },
	{ ROLE_FUTEX_WAIT + 1, "syscalls", "sys_exit_futex_wait", { "ret" } },
	{ ROLE_FUTEX_WAKE, "syscalls", "sys_enter_futex_wake", { "uaddr", "flags", "nr" } },
	{ ROLE_FUTEX_WAKE + 1, "syscalls", "sys_exit_futex_wake", { "ret" } },
	{ ROLE_FUTEX_REQUEUE, "syscalls", "sys_enter_futex_requeue", { "flags" } },
	{ ROLE_FUTEX_REQUEUE + 1, "syscalls", "sys_exit_futex_requeue", { "ret" } },
	{ ROLE_FUTEX_WAITV, "syscalls", "sys_enter_futex_waitv", { "flags" } },
	{ ROLE_FUTEX_WAITV + 1, "syscalls", "sys_exit_futex_waitv", { "ret" } },
	{ ROLE_WAKING, "sched", "sched_waking", { "pid" } },
};
const unsigned int nr_futex_roles = ARRAY_SIZE(futex_roles);

static void set_value(struct futex_args *a, uint32_t val)
{
	a->locked = val == MUTEX_CONTENDED || val & MUTEX_WAITERS;
}

static bool futex_args(const struct event_known *known, const struct stk_event *e,
		       struct futex_args *a)
{
	uint64_t address, op, val, address2 = 0;

	if (!event_fields__u64(known->fields[0], e, &address) ||
	    !event_fields__u64(known->fields[1], e, &op) ||
	    !event_fields__u64(known->fields[2], e, &val))
		return false;
	event_fields__u64(known->fields[3], e, &address2);
	a->address = address;
	a->shared = !(op & FUTEX_PRIVATE_FLAG);
	switch (op & OP_MASK) {
	case FUTEX_LOCK_PI:
	case OP_LOCK_PI2:
		a->pi = true;
		a->does = FUTEX_DOES_WAIT;
		break;
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		a->does = FUTEX_DOES_WAIT;
		set_value(a, val);
		break;
	case FUTEX_UNLOCK_PI:
		a->pi = a->unlocks = true;
		a->does = FUTEX_DOES_WAKE;
		break;
	case FUTEX_WAKE_OP:
		a->address2 = address2;
		a->does = FUTEX_DOES_WAKE;
		break;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		a->does = FUTEX_DOES_WAKE;
		a->unlocks = (uint32_t)val == 1;
		break;
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_CMP_REQUEUE_PI:
		a->does = FUTEX_DOES_WAKE;
		a->requeues = true;
		a->address2 = address2;
		break;
	default:
		a->does = FUTEX_DOES_OTHER;
		break;
	}
	return true;
}

bool futex_call__args(const struct event_known *known, const struct stk_event *e,
		      struct futex_args *ret_args)
{
	const bool has_address = known->role == ROLE_FUTEX_WAIT || known->role == ROLE_FUTEX_WAKE;
	struct futex_args a = { .does = FUTEX_DOES_WAIT };
	uint64_t flags, val = 0;

	if (known->role == ROLE_FUTEX) {
		if (!futex_args(known, e, &a))
			return false;
		*ret_args = a;
		return true;
	}
	/* Calls on several futexes have addresses and their flags in user memory. */
	if (!event_fields__u64(known->fields[has_address], e, &flags) ||
	    (has_address && (!event_fields__u64(known->fields[0], e, &a.address) ||
			     !event_fields__u64(known->fields[2], e, &val))))
		return false;
	a.shared = has_address && !(flags & FLAG_PRIVATE);
	if (known->role == ROLE_FUTEX_WAIT)
		set_value(&a, val);
	if (known->role == ROLE_FUTEX_WAKE || known->role == ROLE_FUTEX_REQUEUE)
		a.does = FUTEX_DOES_WAKE;
	a.unlocks = known->role == ROLE_FUTEX_WAKE && val == 1;
	*ret_args = a;
	return true;
}

bool futex_call__result(const struct event_known *known, const struct stk_event *e,
			int64_t *ret_result)
{
	uint64_t ret;

	if (!event_fields__u64(known->fields[0], e, &ret))
		return false;
	*ret_result = (int64_t)ret;
	return true;
}
