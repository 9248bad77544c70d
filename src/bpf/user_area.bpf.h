/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the mapping of an address of the current task without the mmap lock, because bpf_find_vma()
 * fails while interrupts are off and while another thread changes mappings.  It reads the maple
 * tree of the mm (since 6.1, d4af56c5c7c6) under RCU, as every BPF program runs, and checks the
 * result: the mapping must contain the address, belong to the mm, and read the same a second time.
 * A node that is being replaced is dead and its first pivot is overwritten; area_find_read() finds
 * its way through such nodes.
 */
#ifndef USER_AREA_BPF_H
#define USER_AREA_BPF_H

#include "user_state.bpf.h"

struct super_block {
	u32 s_dev;
} __attribute__((preserve_access_index));

struct timespec64 {
	s64 tv_sec;
	long tv_nsec;
} __attribute__((preserve_access_index));

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	u32 i_generation;
	s64 i_size;
	s64 i_mtime_sec, i_ctime_sec; /* since 6.11 (3aa63a569c64) */
	u32 i_mtime_nsec, i_ctime_nsec;
	struct timespec64 __i_mtime; /* 6.7 (12cd44023651) */
	struct timespec64 __i_ctime; /* 6.6 (13bc24457850) */
	struct timespec64 i_mtime, i_ctime; /* before */
	void *i_private; /* of kernfs: its node */
} __attribute__((preserve_access_index));

struct qstr {
	u64 hash_len;
	const unsigned char *name;
} __attribute__((preserve_access_index));

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
} __attribute__((preserve_access_index));

struct vfsmount {
	struct dentry *mnt_root;
} __attribute__((preserve_access_index));

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} __attribute__((preserve_access_index));

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} __attribute__((preserve_access_index));

struct file {
	struct inode *f_inode;
	struct path f_path;
	u32 f_mode;
} __attribute__((preserve_access_index));

struct backing_file {
	struct path user_path; /* since 6.7 (def3ae83da02) */
} __attribute__((preserve_access_index));

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	struct file *vm_file;
	struct mm_struct *vm_mm;
} __attribute__((preserve_access_index));

struct maple_tree {
	void *ma_root;
} __attribute__((preserve_access_index));

typedef struct {
	void *vdso;
} __attribute__((preserve_access_index)) mm_context_t;

struct seqcount {
	u32 sequence;
} __attribute__((preserve_access_index));
typedef struct seqcount seqcount_t;

struct mm_struct {
	struct maple_tree mm_mt;
	mm_context_t context;
	unsigned long start_code;
	void *pgd;
	struct uprobes_state uprobes_state;
	seqcount_t mm_lock_seq; /* since 6.13 (db6f8b5ad9f4) a seqcount */
} __attribute__((preserve_access_index));

struct mm_struct___6_4 {
	int mm_lock_seq; /* since 6.4 (5e31275cc997), incremented when the lock is released */
} __attribute__((preserve_access_index));

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
} __attribute__((preserve_access_index));

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
} __attribute__((preserve_access_index));

#define MAPLE_LEAF 1 /* enum maple_type: up to this the slots are entries, above it nodes */
#define MAPLE_ARANGE 3
#define MAPLE_TYPE(entry) ((entry) >> 3 & 15)
#define MAPLE_NODE(entry) ((entry) & ~0xffull)
#define MAPLE_LEVELS 6
#define AREA_ROOT(mm) ((mm) + bpf_core_field_offset(struct mm_struct, mm_mt.ma_root))

#define VM_EXEC 4

/* f_mode bit of a backing file (since 6.7, def3ae83da02); determined at the start. */
u32 fmode_backing = 0;
#define KERNEL_MINOR_BITS 20

/* Since 6.2 (a35b9af4ec2c): reads kernel memory as a type, without a helper call for each word. */
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __weak;

#define CAST(type, address)                                      \
	((const struct type *)bpf_rdonly_cast((void *)(address), \
					      bpf_core_type_id_kernel(struct type)))

/*
 * The same task, for reading pointers to structures.  For each that is read from what
 * bpf_get_current_task_btf() returns, the verifier searches all of the kernel's types for four
 * names, which takes 1 ms.
 */
static __always_inline const struct task_struct *task_plain(const struct task_struct *task)
{
	return bpf_rdonly_cast ? CAST(task_struct, task) : task;
}

/* 1: the pivot is below the address, and not 0. */
#define AREA_BELOW(pivot, addr) ((((pivot) - (addr)) & ~(pivot) & -(pivot)) >> 63)

/* Counts the pivots below the address, up to the first one that is not below it or is 0. */
#define AREA_PASS(i)                                                    \
	do {                                                            \
		u64 pivot = AREA_PIVOT(i);                              \
		run &= AREA_BELOW(pivot, addr);                         \
		slot += run;                                            \
		/* one at a time, or the compiler spills most pivots */ \
		asm volatile("" : "+r"(slot), "+r"(run));               \
	} while (0)

#define AREA_COUNT()                \
	do {                        \
		AREA_PASS(0);       \
		AREA_PASS(1);       \
		AREA_PASS(2);       \
		AREA_PASS(3);       \
		AREA_PASS(4);       \
		AREA_PASS(5);       \
		AREA_PASS(6);       \
		AREA_PASS(7);       \
		AREA_PASS(8);       \
		slot_arange = slot; \
		AREA_PASS(9);       \
		AREA_PASS(10);      \
		AREA_PASS(11);      \
		AREA_PASS(12);      \
		AREA_PASS(13);      \
		AREA_PASS(14);      \
	} while (0)

/* All ones if they are equal, else 0; without a branch, which would double what is verified. */
static __always_inline u64 area_equal(u64 a, u64 b)
{
	u64 x = a ^ b;

	asm volatile("" : "+r"(x));
	return ((x | -x) >> 63) - 1;
}

/* The address of the node's slot that covers the address. */
static __always_inline u64 area_slot(u64 entry, u64 slot, u64 slot_arange)
{
	u64 arange = area_equal(MAPLE_TYPE(entry), MAPLE_ARANGE);
	u64 range_at = bpf_core_field_offset(struct maple_range_64, slot) + slot * 8;
	u64 arange_at = bpf_core_field_offset(struct maple_arange_64, slot) + slot_arange * 8;

	return MAPLE_NODE(entry) + (range_at ^ ((range_at ^ arange_at) & arange));
}

/* Reads a word of kernel memory, as the first pivot of a node that begins just before it. */
static __always_inline u64 area_word(const void *address)
{
	return CAST(maple_range_64, address - bpf_core_field_offset(struct maple_range_64, pivot))
		->pivot[0];
}

/* Whether the root of the tree is a node; if it is not, there is at most one mapping. */
static __always_inline bool area_is_node(u64 root)
{
	return (root & 3) == 2 && root >= 4096;
}

/* From a node to its entry for the address.  The verifier follows it once, not for each level. */
__noinline u64 area_down_cast(u64 entry, u64 addr)
{
	const struct maple_range_64 *node;
	u64 run = 1, slot = 0, slot_arange;

	if (!bpf_rdonly_cast)
		return 0;
	node = CAST(maple_range_64, MAPLE_NODE(entry));
#define AREA_PIVOT(i) (node->pivot[i])
	AREA_COUNT();
#undef AREA_PIVOT
	return area_word((void *)area_slot(entry, slot, slot_arange));
}

/*
 * The tree's entry for the address; after a dead node it may be another, which area_read() rejects.
 */
static __always_inline u64 area_find_cast(u64 mm, u64 addr)
{
	u64 entry = area_word((void *)AREA_ROOT(mm));
	int level;

	if (!area_is_node(entry))
		return 0;
#pragma clang loop unroll(disable)
	for (level = 0; level < MAPLE_LEVELS; level++) {
		u32 type = MAPLE_TYPE(entry);

		entry = area_down_cast(entry, addr);
		if (type <= MAPLE_LEAF)
			return entry;
	}
	return 0;
}

/*
 * If the node is dead, which is its own parent then (ma_dead_node()), sets its first pivot as the
 * lowest bit of u->guess says if two slots may cover the address.  Without branches, see
 * area_equal().
 */
static __always_inline void area_revive(struct user_walk *u, u64 addr)
{
	u64 *node = u->pivots, dead = area_equal(MAPLE_NODE(node[0]), MAPLE_NODE(u->entry));
	u64 two = dead & (AREA_BELOW(node[2], addr) - 1), guess = u->guess;
	u64 pivot = addr - 1 + (two & ~guess & 1);

	node[1] ^= (node[1] ^ pivot) & dead;
	u->dead |= dead & 1;
	u->guess = guess >> (two & 1);
}

/* From u->entry, a node, to its entry for the address; not 0: failed.  Followed once, too. */
__noinline int area_down(struct user_walk *u, u64 addr, u32 level)
{
	u64 run = 1, slot = 0, slot_arange, at;

	if (!u || bpf_probe_read_kernel(u->pivots, sizeof(u->pivots), (void *)MAPLE_NODE(u->entry)))
		return 1;
	area_revive(u, addr);
#define AREA_PIVOT(i) (u->pivots[1 + (i)])
	AREA_COUNT();
#undef AREA_PIVOT
	at = area_slot(u->entry, slot, slot_arange);
	if (level < USER_LEVELS)
		u->link.at[level] = at;
	return bpf_probe_read_kernel(&u->entry, 8, (void *)at) != 0;
}

/*
 * Looks the entry up with bpf_probe_read_kernel() and handles dead nodes; sets u->dead if it met
 * one.  The first pivot of a dead node may be overwritten by a list link (struct maple_topiary).
 * If two slots may then cover the address, the lowest bit of guess selects one, the next bit that
 * of the next level.
 */
static __always_inline u64 area_find_read(struct user_walk *u, u64 addr, u32 guess)
{
	u32 level;

	u->dead = 0;
	u->guess = guess;
	u->link.vma = 0;
	for (level = 0; level < USER_LEVELS; level++)
		u->link.at[level] = 0;
	if (bpf_probe_read_kernel(&u->entry, 8, (void *)AREA_ROOT(u->mm)) ||
	    !area_is_node(u->entry))
		return 0;
#pragma clang loop unroll(disable)
	for (level = 0; level < MAPLE_LEVELS; level++) {
		u32 type = MAPLE_TYPE(u->entry);

		if (area_down(u, addr, level))
			return 0;
		if (type <= MAPLE_LEAF) {
			u->link.vma = level < USER_LEVELS ? u->entry : 0;
			return u->entry;
		}
	}
	return 0;
}

/* Since 6.13 (4e40eff0b573) bit 31 says that the time has been queried. */
#define CTIME_NSEC 0x7fffffff

#define READ_TIMESPEC(inode, field) \
	(BPF_CORE_READ(inode, field.tv_sec) * 1000000000ll + BPF_CORE_READ(inode, field.tv_nsec))

/* Sets the times of the key: mtime, and ctime, which programs cannot set back. */
static __always_inline void area_times(struct user_area *a, const struct inode *inode)
{
	if (bpf_core_field_exists(inode->i_mtime_sec)) {
		a->key.w[3] = BPF_CORE_READ(inode, i_mtime_sec) * 1000000000ll +
			      BPF_CORE_READ(inode, i_mtime_nsec);
		a->key.w[5] = BPF_CORE_READ(inode, i_ctime_sec) * 1000000000ll +
			      (BPF_CORE_READ(inode, i_ctime_nsec) & CTIME_NSEC);
		return;
	}
	if (bpf_core_field_exists(inode->__i_mtime))
		a->key.w[3] = READ_TIMESPEC(inode, __i_mtime);
	else
		a->key.w[3] = READ_TIMESPEC(inode, i_mtime);
	if (bpf_core_field_exists(inode->__i_ctime))
		a->key.w[5] = READ_TIMESPEC(inode, __i_ctime);
	else
		a->key.w[5] = READ_TIMESPEC(inode, i_ctime);
}

static __always_inline void area_key_read(struct user_area *a)
{
	const struct file *file = (void *)a->file;
	const struct inode *inode = BPF_CORE_READ(file, f_inode);

	a->key.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	a->key.w[0] = BPF_CORE_READ(inode, i_ino);
	a->key.w[1] = BPF_CORE_READ(inode, i_generation);
	a->key.w[2] = (u64)inode;
	a->key.w[4] = BPF_CORE_READ(inode, i_size);
	area_times(a, inode);
}

static __always_inline void area_key_cast(struct user_area *a)
{
	const struct inode *inode = CAST(file, a->file)->f_inode;

	a->key.dev = inode->i_sb->s_dev;
	a->key.w[0] = inode->i_ino;
	a->key.w[1] = inode->i_generation;
	a->key.w[2] = (u64)inode;
	a->key.w[4] = inode->i_size;
	if (bpf_core_field_exists(inode->i_mtime_sec)) {
		a->key.w[3] = inode->i_mtime_sec * 1000000000ll + inode->i_mtime_nsec;
		a->key.w[5] =
			inode->i_ctime_sec * 1000000000ll + (inode->i_ctime_nsec & CTIME_NSEC);
	} else {
		area_times(a, inode);
	}
}

/*
 * A copy by one call instead of one for each member.  The type may be larger in another kernel, but
 * what is needed is in front.
 */
#define VMA_BYTES                                                                                \
	(bpf_core_type_size(struct vm_area_struct) < sizeof(((struct user_walk *)0)->vma_copy) ? \
		 bpf_core_type_size(struct vm_area_struct) :                                     \
		 sizeof(((struct user_walk *)0)->vma_copy))
#define VMA_WORD(u, member) \
	(*(u64 *)((char *)(u)->vma_copy + bpf_core_field_offset(struct vm_area_struct, member)))

/* Reads the mapping into u->area; false: it is not of the mm, or does not contain the address. */
static __always_inline bool area_read(struct user_walk *u, u64 vma, u64 addr)
{
	struct user_area *a = &u->area;
	u64 mm;

	if (bpf_rdonly_cast) {
		const struct vm_area_struct *v = CAST(vm_area_struct, vma);

		a->start = v->vm_start;
		a->end = v->vm_end;
		a->pgoff = v->vm_pgoff;
		a->flags = v->vm_flags;
		a->file = (u64)v->vm_file;
		mm = (u64)v->vm_mm;
	} else {
		if (bpf_probe_read_kernel(u->vma_copy, VMA_BYTES, (void *)vma))
			return false;
		a->start = VMA_WORD(u, vm_start);
		a->end = VMA_WORD(u, vm_end);
		a->pgoff = VMA_WORD(u, vm_pgoff);
		a->flags = VMA_WORD(u, vm_flags);
		a->file = VMA_WORD(u, vm_file);
		mm = VMA_WORD(u, vm_mm);
	}
	return mm == u->mm && a->start <= addr && addr < a->end;
}

/*
 * Address minus offset in the file; 0, which keeps addresses, for unknown files.  Offsets in JIT
 * memory are the low bits of the address.
 */
static __always_inline u64 area_delta(const struct user_area *a, u32 id)
{
	if (!id)
		return 0;
	if (a->file)
		return a->start - (a->pgoff << UNW_PAGE_SHIFT);
	if (a->key.kind == WIRE_KEY_JIT)
		return a->start & ~((1ULL << FRAME_OFFSET_BITS) - 1);
	return a->key.kind == WIRE_KEY_VDSO ? a->start : 0;
}

/* A mapping of JIT memory ends where its window does: the next one has another table. */
static __always_inline void area_window(struct user_area *a, u64 addr)
{
	u64 start = addr & ~((1ULL << WIRE_JIT_BITS) - 1);

	if (a->start < start)
		a->start = start;
	if (a->end - start > 1ULL << WIRE_JIT_BITS)
		a->end = start + (1ULL << WIRE_JIT_BITS);
}

/*
 * Guesses for three levels of dead nodes with two candidate slots each.  These occur in 6.1, but
 * were not observed in 6.12 and later; the verifier follows each guess.
 */
#define AREA_GUESSES 8

/*
 * Finds the mapping of the address and reads it into u->area; 0: not mapped.  Inlined, because the
 * deepest chain of calls has as many as the kernel allows.
 */
static __always_inline u64 area_get(struct user_walk *u, u64 addr)
{
	u32 guess;
	u64 vma;

	if (bpf_rdonly_cast) {
		u->link.vma = 0;
		vma = area_find_cast(u->mm, addr);
		if (vma >= 4096 && area_read(u, vma, addr))
			return vma;
	}
#pragma clang loop unroll(disable)
	for (guess = 0; guess < (bpf_rdonly_cast ? 2 : AREA_GUESSES); guess++) {
		vma = area_find_read(u, addr, guess);
		if (vma >= 4096 && area_read(u, vma, addr))
			return vma;
		if (!u->dead)
			break;
	}
	return 0;
}

/* Without a file, the placeholder of one covers as many addresses as it has offsets. */
static __always_inline void area_limit(struct user_area *a, u64 addr)
{
	u64 start = addr & ~((1ULL << FRAME_OFFSET_BITS) - 1);

	if (a->start < start)
		a->start = start;
	if (a->end - start > 1ULL << FRAME_OFFSET_BITS)
		a->end = start + (1ULL << FRAME_OFFSET_BITS);
}

/*
 * Whether a mapping is where it was found, which is a word for each level of the tree instead of a
 * search; fills u->area, without the key.  This is for kernels that do not say whether mappings
 * have changed.  The root is the tree's, so each node on the way is part of the tree if the slot
 * before leads to it.  A node or mapping that is removed meanwhile was part of it when the walk
 * began, and what it then says is what it said then.
 */
__noinline int area_linked(struct user_walk *u, const struct user_link *link, u64 addr)
{
	u32 i;

	if (!u || !link || !link->vma)
		return 0;
	u->entry = u->root;
#pragma clang loop unroll(full)
	for (i = 0; i < USER_LEVELS; i++) {
		u64 at = link->at[i];

		if (!at)
			break;
		if ((at & ~0xffull) != MAPLE_NODE(u->entry) ||
		    bpf_probe_read_kernel(&u->entry, 8, (void *)at))
			return 0;
	}
	if (u->entry != link->vma || !area_read(u, link->vma, addr))
		return 0;
	if (!u->area.file)
		area_limit(&u->area, addr);
	return 1;
}

/* Fills u->area and its key for an address; 0: found. */
__noinline int area_find(struct user_walk *u, u64 addr)
{
	struct user_area *a;
	u64 vma;

	if (!u)
		return 1;
	a = &u->area;
	vma = area_get(u, addr);
	if (!vma)
		return 1;
	__builtin_memset(&a->key, 0, sizeof(a->key));
	if (!a->file) {
		area_limit(a, addr);
	} else {
		/* not on the stack: in 6.1 the deepest call chain has less than 32 bytes left */
		u->seen_file = a->file;
		u->seen_start = a->start;
		u->seen_pgoff = a->pgoff;
		a->key.kind = WIRE_KEY_FILE;
		if (bpf_rdonly_cast)
			area_key_cast(a);
		else
			area_key_read(a);
		/*
		 * the mapping may have been freed and its memory reused for another one or a file
		 */
		if (area_get(u, addr) != vma || a->file != u->seen_file ||
		    a->start != u->seen_start || a->pgoff != u->seen_pgoff)
			return 1;
	}
	return 0;
}

/*
 * A number that changes with the current task's mappings; *ret_stable false: they may change
 * without it, as on 6.1.
 */
static __always_inline u32 area_seq(const struct task_struct *task, bool *ret_stable)
{
	const struct mm_struct *mm = task_plain(task)->mm;
	const struct mm_struct___6_4 *old = (void *)mm;
	u32 seq;

	*ret_stable = true;
	if (bpf_core_field_exists(mm->mm_lock_seq.sequence)) {
		seq = mm->mm_lock_seq.sequence;
		*ret_stable = !(seq & 1); /* odd: mappings are being changed */
		return seq;
	}
	if (bpf_core_field_exists(old->mm_lock_seq))
		return bpf_rdonly_cast ? old->mm_lock_seq : BPF_CORE_READ(old, mm_lock_seq);
	*ret_stable = false;
	return 0;
}

#endif /* USER_AREA_BPF_H */
