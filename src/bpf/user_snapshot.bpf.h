/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Entries of the file map that do not originate from recorded events: the mappings of all tasks at
 * the start, by an iterator, and new programs.
 */
#ifndef USER_SNAPSHOT_BPF_H
#define USER_SNAPSHOT_BPF_H

#include "user_file.bpf.h"

/* One entry: only one thread, of the recorder, reads the iterator. */
ARRAY(snapshot_walks, 1, struct user_walk);

static __always_inline struct user_walk *snapshot_walk(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&snapshot_walks, &zero);
}

static __always_inline void snapshot_area(struct user_walk *u, struct vm_area_struct *vma)
{
	struct user_area *a = &u->area;

	u->event = FULL_NO_EVENT;
	a->start = vma->vm_start;
	a->end = vma->vm_end;
	a->pgoff = vma->vm_pgoff;
	a->file = (u64)vma->vm_file;
	__builtin_memset(&a->key, 0, sizeof(a->key));
	a->key.kind = WIRE_KEY_FILE;
	area_key_read(a);
}

static __always_inline bool snapshot_file_event(struct user_walk *u, struct task_struct *task)
{
	struct wire_file *f;
	u32 id = u->key_id;

	f = bpf_map_lookup_elem(&files, &id);
	if (!id || !f)
		return false;
	f->announced = 1;
	u->file_event.key = u->area.key;
	file_event_fill(u, id, false, task->tgid, task->pid);
	file_event_path(u);
	return true;
}

static __always_inline void exec_file_event(struct user_walk *u, u64 addr)
{
	if (!area_find(u, addr) && u->area.flags & VM_EXEC)
		file_id(u, addr);
}

#endif /* USER_SNAPSHOT_BPF_H */
