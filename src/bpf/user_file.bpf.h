/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file map: gives each file from which code is mapped a small id, once.
 *
 * As in the stack map, an entry is complete before one compare-and-swap publishes it, so no CPU
 * ever waits.  A CPU that loses the race wastes one entry.
 */
#ifndef USER_FILE_BPF_H
#define USER_FILE_BPF_H

#include "file_ring.bpf.h"
#include "user_area.bpf.h"

#define FILE_PATH_PARTS 48

static __always_inline u64 key_hash(const struct wire_file_key *key)
{
	const u64 *w = (const u64 *)key;
	u64 h = 0x9e3779b97f4a7c15ull;
	int i;

	for (i = 0; i < 1 + WIRE_KEY_WORDS; i++) {
		h = (h ^ w[i]) * 0xd6e8feb86659fd93ull;
		h ^= h >> 32;
	}
	return h;
}

static __always_inline bool key_equal(const struct wire_file_key *a, const struct wire_file_key *b)
{
	const u64 *x = (const u64 *)a, *y = (const u64 *)b;
	u64 differ = 0;
	int i;

	for (i = 0; i < 1 + WIRE_KEY_WORDS; i++)
		differ |= x[i] ^ y[i];
	return !differ;
}

/*
 * Allocates an entry that is complete but not yet published; 0: no room.  Names have a range of
 * entries of their own, so they cannot use up those of files.
 */
static __always_inline u32 file_new(const struct wire_file_key *key)
{
	struct wire_file *f;
	u32 id;

	if (key->kind == WIRE_KEY_NAME) {
		if (*(volatile u32 *)&user_ctl.nr_names >= WIRE_MAX_NAMES - WIRE_MAX_CPUS)
			return 0;
		id = __sync_fetch_and_add(&user_ctl.nr_names, 1) + WIRE_MAX_FILES;
	} else {
		if (*(volatile u32 *)&user_ctl.nr_files >= WIRE_MAX_FILES - WIRE_MAX_CPUS - 1)
			return 0;
		id = __sync_fetch_and_add(&user_ctl.nr_files, 1) + 1;
	}
	f = bpf_map_lookup_elem(&files, &id);
	if (!f)
		return 0;
	f->key = *key;
	return id;
}

/*
 * Looks for the key in a slot, and puts it there if it is empty.  1: the end of the search; 0: the
 * key may be in the next slot.  A function of its own, so that the verifier follows one slot.
 */
__noinline int file_probe(struct user_walk *u, u32 at, u64 tag)
{
	struct wire_file_key *key;
	struct wire_file *f;
	u64 *slot, v;
	u32 id;

	if (!u)
		return 1;
	key = &u->area.key;
	slot = bpf_map_lookup_elem(&file_slots, &at);
	if (!slot)
		return 1;
	v = *(volatile u64 *)slot;
	if (!v) {
		if (!u->key_new)
			u->key_new = file_new(key);
		id = u->key_new;
		if (!id) {
			u->key_full = 1;
			return 1;
		}
		v = __sync_val_compare_and_swap(slot, 0, tag | id);
		if (!v) {
			u->key_id = id;
			return 1;
		}
	}
	if ((v ^ tag) >> 32)
		return 0;
	id = (u32)v;
	f = bpf_map_lookup_elem(&files, &id);
	if (!f || !key_equal(&f->key, key))
		return 0;
	u->key_id = id;
	u->key_new = 0; /* another CPU may have been first: then our entry is wasted */
	return 1;
}

/*
 * Sets u->key_id to the id of the key u->area.key, 0 if there is no room, and u->key_new to whether
 * the id is new.
 */
__noinline int file_intern(struct user_walk *u)
{
	u32 i, done = 0;
	u64 h;

	if (!u)
		return 0;
	u->key_id = 0;
	u->key_new = 0;
	u->key_full = 0;
	h = key_hash(&u->area.key);
#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_FILE_PROBES && !done; i++)
		done = file_probe(u, ((u32)h + i) & (WIRE_FILE_SLOTS - 1),
				  h & 0xffffffff00000000ull);
	if (done && !u->key_full)
		return 0;
	u->key_new = 0;
	if (u->area.key.kind == WIRE_KEY_NAME)
		note_full(u->event, STK_C_FULL_NAMES);
	else
		note_full(u->event, STK_C_FULL_FILES);
	return 0;
}

/*
 * The path by which the mapping's file was opened.  overlayfs maps a file of a lower layer.  Since
 * 6.7 that file also has the path in the overlay by which it was opened; on older kernels the path
 * in the layer is the only one.
 */
static __always_inline const struct path *area_path(const struct user_area *a)
{
	const struct file *file = (void *)a->file;
	const struct backing_file *backing = (void *)a->file;

	if (bpf_core_field_exists(backing->user_path) &&
	    BPF_CORE_READ(file, f_mode) & fmode_backing)
		return &backing->user_path;
	return &file->f_path;
}

enum path_state {
	PATH_MORE, /* the component is stored; u->dentry and u->mnt are those of the next one */
	PATH_COMPLETE,
	PATH_TOO_LONG,
};

/* Stores a component of a path.  A function of its own, so that the verifier follows only one. */
__noinline int file_event_part(struct user_walk *u)
{
	struct dentry *d, *parent, *root;
	struct wire_file_event *n;
	struct vfsmount *mnt;
	u32 len;
	long r;

	if (!u)
		return PATH_COMPLETE;
	n = &u->file_event;
	d = (void *)u->dentry;
	mnt = (void *)u->mnt;
	parent = BPF_CORE_READ(d, d_parent);
	root = BPF_CORE_READ(mnt, mnt_root);
	if (d == root || d == parent) {
		struct mount *m = (void *)mnt - bpf_core_field_offset(struct mount, mnt);
		struct mount *up = BPF_CORE_READ(m, mnt_parent);

		if (up == m || d != root)
			return PATH_COMPLETE;
		u->dentry = (u64)BPF_CORE_READ(m, mnt_mountpoint);
		u->mnt = (u64)up + bpf_core_field_offset(struct mount, mnt);
		return PATH_MORE;
	}
	len = *(volatile u32 *)&n->len;
	if (len > WIRE_NAME_BYTES - 256)
		return PATH_TOO_LONG;
	r = bpf_probe_read_kernel_str(n->parts + (len & (WIRE_NAME_BYTES - 1)), 256,
				      BPF_CORE_READ(d, d_name.name));
	if (r <= 0)
		return PATH_COMPLETE;
	n->len = len + (u32)r;
	n->nr_parts++;
	u->dentry = (u64)parent;
	return PATH_MORE;
}

/* Stores the path of the mapping's file, from the last component to the root of the namespace. */
__noinline int file_event_path(struct user_walk *u)
{
	const struct path *path;
	u32 state = PATH_MORE, i;

	if (!u)
		return 0;
	u->file_event.len = 0;
	u->file_event.nr_parts = 0;
	path = area_path(&u->area);
	u->dentry = (u64)BPF_CORE_READ(path, dentry);
	u->mnt = (u64)BPF_CORE_READ(path, mnt);
#pragma clang loop unroll(disable)
	for (i = 0; i < FILE_PATH_PARTS && state == PATH_MORE; i++)
		state = file_event_part(u);
	if (state != PATH_COMPLETE) /* an incomplete path is useless */
		u->file_event.len = u->file_event.nr_parts = 0;
	return 0;
}

/* Fills all members of the file event but key and path. */
static __always_inline void file_event_fill(struct user_walk *u, u32 id, bool is_name, u32 tgid,
					    u32 tid)
{
	struct wire_file_event *n = &u->file_event;

	n->file = id;
	n->is_name = is_name;
	n->tgid = tgid;
	n->tid = tid;
	n->ts = now();
	n->start = u->area.start;
	n->end = u->area.end;
	n->offset = u->area.pgoff << UNW_PAGE_SHIFT;
}

static __always_inline u32 *file_ring_flag(u32 cpu)
{
	return &file_ring_flags[cpu & (WIRE_MAX_CPUS - 1)];
}

/* Sends a file event for a new file or a new name of one; false: the ring is full or busy. */
static __always_inline bool file_event_send(struct user_walk *u, u32 id, bool is_name)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct wire_file_event *n = &u->file_event;
	u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&file_rings, &cpu);

	if (!ring)
		return false;
	file_event_fill(u, id, is_name, pid_tgid >> 32, (u32)pid_tgid);
	if (u->area.file)
		file_event_path(u);
	else
		n->len = n->nr_parts = 0;
	return file_ring_send(file_ring_flag(cpu), ring, n);
}

/* Whether the file is seen by this name on this mount for the first time. */
static __always_inline bool file_name_is_new(struct user_walk *u, struct wire_file *f, u32 id)
{
	const struct path *path = area_path(&u->area);
	const struct dentry *d = BPF_CORE_READ(path, dentry);

	if (*(volatile u32 *)&f->nr_names >= WIRE_FILE_NAMES)
		return false;
	u->file_event.key = u->area.key;
	u->area.key.kind = WIRE_KEY_NAME;
	u->area.key.dev = 0;
	u->area.key.w[0] = id;
	u->area.key.w[1] = (u64)d;
	u->area.key.w[2] = (u64)BPF_CORE_READ(d, d_parent);
	u->area.key.w[3] = BPF_CORE_READ(d, d_name.hash_len);
	u->area.key.w[4] = (u64)BPF_CORE_READ(path, mnt);
	u->area.key.w[5] = 0;
	file_intern(u);
	u->area.key = u->file_event.key;
	if (!u->key_new)
		return false;
	__sync_fetch_and_add(&f->nr_names, 1);
	return true;
}

/*
 * The id of the file of u->area, 0 if there is no room for it.  Sends a file event if the file or
 * its name is new.
 */
__noinline int file_id(struct user_walk *u, u64 addr)
{
	const struct task_struct *task = task_plain((void *)bpf_get_current_task_btf());
	struct wire_file *f;
	u32 id, is_new;

	if (!u)
		return 0;
	if (!u->area.file) {
		__builtin_memset(&u->area.key, 0, sizeof(u->area.key));
		if (task->mm && (u64)task->mm->context.vdso == u->area.start) {
			u->area.key.kind = WIRE_KEY_VDSO;
		} else {
			u->area.key.kind = WIRE_KEY_JIT;
			u->area.key.w[0] = addr >> WIRE_JIT_BITS | (u64)task->self_exec_id << 32;
			u->area.key.w[1] = task->tgid;
			u->area.key.w[2] = BPF_CORE_READ(task, group_leader, start_boottime);
		}
	}
	file_intern(u);
	id = u->key_id;
	is_new = u->key_new;
	f = bpf_map_lookup_elem(&files, &id);
	if (!id || !f)
		return 0;
	u->file_event.key = u->area.key;
	f->used = user_ctl.epoch;
	/* sending takes time: leave the rest to later events */
	if (!u->file_events_left || file_ring_busy(file_ring_flag(bpf_get_smp_processor_id())))
		return id;
	if (u->area.file && file_name_is_new(u, f, id) && !is_new) {
		u->file_events_left--;
		if (!file_event_send(u, id, true)) /* the name is not sent again */
			note_full(u->event, STK_C_FULL_NAMES);
	}
	if (u->file_events_left && !f->announced &&
	    !__sync_val_compare_and_swap(&f->announced, 0, 1)) {
		u->file_events_left--;
		if (!file_event_send(u, id, false))
			f->announced = 0;
	}
	return id;
}

#endif /* USER_FILE_BPF_H */
