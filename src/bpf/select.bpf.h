/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPUs and tasks are recorded.  A task must pass all selections that were given.  The
 * verifier knows `selections`, so it removes the code of those that were not given.
 */
#ifndef SELECT_BPF_H
#define SELECT_BPF_H

#include "state.bpf.h"

/* Set before load. */
const volatile u32 selections = 0; /* enum wire_selection */
const volatile u64 selected_cpus[WIRE_MAX_CPUS / 64] = {};
const volatile u32 nr_cgroups = 0, nr_uids = 0;
const volatile u32 uids[WIRE_MAX_UIDS] = {};

/* Set before arming. */
struct wire_cgroup cgroups[WIRE_MAX_CGROUPS] = {};

/* One bit per thread id. */
ARRAY_MMAPABLE(pids, 1, u64);
/* One bit per thread id: at its exit the task passed the selection of cgroups and users. */
ARRAY(ended, 1, u64);

static __always_inline bool bit_of(void *map, u32 tid)
{
	u32 word = tid >> 6;
	u64 *bits = bpf_map_lookup_elem(map, &word);

	return bits && *(volatile u64 *)bits >> (tid & 63) & 1;
}

static __always_inline void set_bit_of(void *map, u32 tid, bool value)
{
	u32 word = tid >> 6;
	u64 *bits = bpf_map_lookup_elem(map, &word);

	if (bits && value)
		__sync_fetch_and_or(bits, 1ULL << (tid & 63));
	else if (bits)
		__sync_fetch_and_and(bits, ~(1ULL << (tid & 63)));
}

static __always_inline bool cpu_selected(void)
{
	u32 cpu = bpf_get_smp_processor_id() & (WIRE_MAX_CPUS - 1);

	return selected_cpus[cpu >> 6] >> (cpu & 63) & 1;
}

/* ---- cgroups and users ----------------------------------------------------------------------- */

struct kernfs_node {
	u64 id;
	void *priv;
} __attribute__((preserve_access_index));

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup
		*ancestors[1]; /* since 6.1 (7f203bc89eb6); by level, the cgroup itself last */
} __attribute__((preserve_access_index));

struct css_set {
	struct cgroup *dfl_cgrp; /* of cgroup v2 */
} __attribute__((preserve_access_index));

typedef struct {
	u32 val;
} kuid_t;

struct cred {
	kuid_t uid;
} __attribute__((preserve_access_index));

/* A member of a kernel structure, read from its address. */
#define LOAD(pointer, member) ((__typeof__((pointer)->member))kwalk_load((u64) & (pointer)->member))

/*
 * The level of a cgroup never changes, and neither do its ancestors: the one at the level of a
 * selected cgroup is that cgroup, or the task is not below it.  Ids are not reused.
 */
static __noinline bool in_cgroups(u64 task)
{
	struct task_struct *t = (void *)task;
	struct css_set *set = LOAD(t, cgroups);
	struct cgroup *c = LOAD(set, dfl_cgrp), *at;
	s32 level = LOAD(c, level);
	struct kernfs_node *kn;
	u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_MAX_CGROUPS; i++) {
		if (i >= nr_cgroups)
			break;
		if (cgroups[i].level > level)
			continue;
		at = (void *)kwalk_load((u64)&c->ancestors[0] + (u64)cgroups[i].level * 8);
		kn = LOAD(at, kn);
		if (LOAD(kn, id) == cgroups[i].id)
			return true;
	}
	return false;
}

/* The real user id, which programs with the set-user-ID bit keep. */
static __noinline bool has_uid(u64 task)
{
	struct task_struct *t = (void *)task;
	const struct cred *cred = LOAD(t, real_cred);
	u32 uid = kwalk_load((u64)&cred->uid), i;

#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_MAX_UIDS; i++) {
		if (i >= nr_uids)
			break;
		if (uids[i] == uid)
			return true;
	}
	return false;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* The counter of the selection, by cgroup or user, that leaves the task out; 0: none does. */
static __always_inline u32 owner_excluded(u32 by, const struct task_struct *task)
{
	if (by & WIRE_SELECT_CGROUPS && !in_cgroups((u64)task))
		return STK_C_FILTERED_CGROUP;
	if (by & WIRE_SELECT_UIDS && !has_uid((u64)task))
		return STK_C_FILTERED_UID;
	return 0;
}

/* The same by all selections of tasks. */
static __always_inline u32 task_excluded(u32 by, const struct task_struct *task, u32 tid)
{
	if (by & WIRE_SELECT_IDS && !bit_of(&pids, tid))
		return STK_C_FILTERED_PID;
	return owner_excluded(by, task);
}

/* Whether it is the recorder, or the child that will become the command. */
static __always_inline bool is_self(u32 tid, u32 tgid)
{
	return self_tgid && (tgid == self_tgid || tid == *(volatile u32 *)&ctl.held);
}

struct xarray {
	void *xa_head;
} __attribute__((preserve_access_index));

struct xa_node {
	u8 shift;
	void *slots[64];
} __attribute__((preserve_access_index));

struct idr {
	struct xarray idr_rt;
} __attribute__((preserve_access_index));

struct pid_namespace {
	struct idr idr;
} __attribute__((preserve_access_index));

u64 initial_pids = 0; /* address of the initial struct pid_namespace, see `locate` */

#define XA_LEVELS 4 /* 6 bits each: PID_MAX_LIMIT needs 22 */
#define XA_IS_NODE(entry) (((entry)&3) == 2 && (entry) > 4096) /* include/linux/xarray.h */

/*
 * The address of the task with this id; 0: it has none any more.  The kernel frees nodes and tasks
 * after a grace period, so what a program finds stays valid while the program runs.
 */
static __noinline u64 task_of(u32 tid)
{
	struct pid_namespace *ns = (void *)initial_pids;
	u64 entry = ns ? (u64)LOAD(ns, idr.idr_rt.xa_head) : 0, link;
	struct pid *pid;
	struct xa_node *node;
	u32 i, slot;

#pragma clang loop unroll(disable)
	for (i = 0; i < XA_LEVELS && XA_IS_NODE(entry); i++) {
		node = (void *)(entry - 2);
		slot = tid >> ((u32)LOAD(node, shift) & 31);
		/* only the uppermost node can have too few slots for the id */
		if (!i && slot > 63)
			return 0;
		entry = kwalk_load((u64)&node->slots[0] + (slot & 63) * 8);
	}
	pid = (void *)entry;
	if (!i || !pid || entry & 3)
		return 0;
	link = (u64)LOAD(pid, tasks[0].first);
	return link ? link - bpf_core_field_offset(struct task_struct, pid_links) : 0;
}

/* Whether the task that an event names passes all selections. */
static __noinline bool tid_selected(u32 tid)
{
	u32 by = selections;
	u64 task;

	if (by & WIRE_SELECT_IDS && !bit_of(&pids, tid))
		return false;
	if (!(by & WIRE_SELECT_OWNERS))
		return true;
	task = task_of(tid);
	if (!task)
		return bit_of(&ended, tid);
	if (is_self(tid, kwalk_load((u64) & ((struct task_struct *)task)->tgid)))
		return false;
	return !owner_excluded(by, (void *)task);
}

#endif /* SELECT_BPF_H */
