/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The user-space side of the kernel walk (kwalk.bpf.h).  It reads the running kernel's ORC unwind
 * rules and loads them into a BPF object, or detects that the kernel uses frame pointers, which
 * need no rules.
 *
 *	err = kwalk__new(&k);				// fails on a kernel that cannot be walked
 *	skel = prog_bpf__open();
 *	kwalk__prepare(k, skel->obj);
 *	prog_bpf__load(skel);
 *	kwalk__start(k, skel->obj);
 *	... attach, call kwalk__refresh(k) now and then, detach
 *	kwalk__free(k);
 *
 * Without kwalk__prepare(), or with k NULL, the programs still work: bpf_get_stack() takes all
 * their stacks.  Requires CAP_BPF and CAP_PERFMON, or root, and kernel.kptr_restrict below 2.
 * Supports x86-64, kernels with CONFIG_UNWINDER_ORC (tested with Linux 6.1, 6.12 and 6.18) or
 * CONFIG_UNWINDER_FRAME_POINTER (tested with 6.12).
 */
#ifndef KWALK_H
#define KWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/libbpf.h>

#include "kwalk_layout.h"

struct btf;
struct kwalk;

/*
 * -ENOTSUP: the kernel has neither frame pointers nor ORC tables, or the form of the tables is
 * unknown; -EPERM: it hides the addresses; -EBADMSG: the tables are inconsistent; -ENOMEM.  Details
 * are logged as debug messages.
 */
int kwalk__new(struct kwalk **ret_kwalk);
/*
 * The same for a caller that has already read the kernel's BTF, which takes most of the time.
 * NULL: kwalk__new_btf() reads it.
 */
int kwalk__new_btf(const struct btf *btf, struct kwalk **ret_kwalk);
void kwalk__free(struct kwalk *k); /* NULL is fine */

enum kwalk_unwinder kwalk__unwinder(const struct kwalk *k);

/* Whether it can also walk the stacks of raw tracepoint programs. */
bool kwalk__walks_raw(const struct kwalk *k);

/* Bytes of the tables; almost 0 with frame pointers. */
size_t kwalk__size(const struct kwalk *k);

/*
 * Call before the object is loaded: sets the sizes of its maps and its settings.  -ENOENT: the
 * object does not include kwalk.bpf.h.
 */
int kwalk__prepare(const struct kwalk *k, struct bpf_object *obj);
/*
 * The same for programs that walk no stacks: only kwalk_load() is prepared, which otherwise calls a
 * helper.  btf: the kernel's.
 */
int kwalk__prepare_reads(const struct btf *btf, struct bpf_object *obj);

/* Call before loading: compare the first `first` walks of each CPU, then one in 1 << shift. */
int kwalk__set_checks(struct bpf_object *obj, uint32_t first, uint32_t shift);

/*
 * Call after the object is loaded and before its programs are attached: fills the tables, and
 * attaches the programs that notice when modules are loaded and unloaded.  Free k only after the
 * object's programs are detached.
 */
int kwalk__start(struct kwalk *k, struct bpf_object *obj);

/*
 * Call now and then while the programs run: reads the rules of modules again if one was loaded or
 * unloaded.  Until then bpf_get_stack() takes all stacks with frames in modules.  An error is
 * returned once.
 */
int kwalk__refresh(struct kwalk *k);

/* Sums the counts of all CPUs. */
int kwalk__counts(const struct bpf_object *obj, struct kwalk_counts *ret_counts);

const char *kwalk_stop__name(enum kwalk_stop stop);

#endif /* KWALK_H */
