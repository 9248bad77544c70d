/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The user-space side of the kernel walk (kwalk.bpf.h): reads the running kernel's unwind rules
 * and gives them to a BPF object; or finds that the kernel follows frame pointers, which needs none.
 *
 *	err = kwalk__new(&k);				// a kernel that can not be walked: an error
 *	skel = prog_bpf__open();
 *	kwalk__prepare(k, skel->obj);
 *	prog_bpf__load(skel);
 *	kwalk__start(k, skel->obj);
 *	... attach, kwalk__refresh(k) now and then, detach, and when done
 *	kwalk__free(k);
 *
 * Without kwalk__prepare(), or with k NULL, the programs work as well: bpf_get_stack() tells all
 * their stacks.  Needs CAP_BPF and CAP_PERFMON, or root, and kernel.kptr_restrict below 2.
 * x86-64, kernels with CONFIG_UNWINDER_ORC (tested with Linux 6.1, 6.12 and 6.18) or
 * CONFIG_UNWINDER_FRAME_POINTER (6.12).
 */
#ifndef KWALK_H
#define KWALK_H

#include <stddef.h>
#include <stdint.h>

#include <bpf/libbpf.h>

#include "kwalk_layout.h"

struct btf;
struct kwalk;

/*
 * -ENOTSUP: the kernel follows no frame pointers and has no ORC tables, or their form is not known;
 * -EPERM: it does not show where things are; -EBADMSG: they are not in order; -ENOMEM.  Details are
 * logged as debug messages.
 */
int kwalk__new(struct kwalk **ret_kwalk);
/* The same for who has read the kernel's BTF anyway, which takes most of the time; NULL: nobody has. */
int kwalk__new_btf(const struct btf *btf, struct kwalk **ret_kwalk);
void kwalk__free(struct kwalk *k); /* NULL is fine */

enum kwalk_unwinder kwalk__unwinder(const struct kwalk *k);

/* Bytes of the tables; next to none with frame pointers. */
size_t kwalk__size(const struct kwalk *k);

/*
 * Before the object is loaded: the sizes of its maps, its settings.  -ENOENT: not one of
 * kwalk.bpf.h.
 */
int kwalk__prepare(const struct kwalk *k, struct bpf_object *obj);

/* Compare the first so many walks of each CPU, then one in 1 << shift; before loading. */
int kwalk__set_checks(struct bpf_object *obj, uint32_t first, uint32_t shift);

/*
 * After it was loaded, before its programs are attached: fills the tables, and attaches the programs
 * that notice when modules come and go.  k is to be freed after the object's programs are detached.
 */
int kwalk__start(struct kwalk *k, struct bpf_object *obj);

/*
 * Now and then while the programs run: reads the rules of modules again if one has come or gone.
 * Until then bpf_get_stack() tells all stacks with frames in modules.  An error is told once.
 */
int kwalk__refresh(struct kwalk *k);

/* What happened so far, of all CPUs. */
int kwalk__counts(const struct bpf_object *obj, struct kwalk_counts *ret_counts);

const char *kwalk_stop__name(enum kwalk_stop stop);

#endif /* KWALK_H */
