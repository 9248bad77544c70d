/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * stackmap_get_stackid() replaces bpf_get_stackid() in a BPF program.  It has its own scratch
 * memory and needs no map argument.  docs/stackmap.md describes its use.
 */
#ifndef STACKID_BPF_H
#define STACKID_BPF_H

#include "scratch.bpf.h"
#include "stackmap.bpf.h"

#define STACKMAP_DEPTH 127 /* frames requested; kernel.perf_event_max_stack may allow fewer */

SCRATCH_DEFINE(stackmap_work, struct stackmap_buf, 2)

/*
 * The id of the current stack: generation << 32 | offset, for stackmap__lookup().  Flags as for
 * bpf_get_stackid(): frames to skip in the low byte, BPF_F_USER_STACK.  The two flags that select
 * the behaviour on collisions are ignored, because no stack is lost to a collision.
 *
 * Negative: what bpf_get_stack() returned, -14 (EFAULT) if there is no stack, -12 (ENOMEM) if the
 * pool is full, -28 (ENOSPC) if the slots are full, -16 (EBUSY) if programs nest deeper than there
 * is scratch memory or if the map is being reset.
 */
static __always_inline __s64 stackmap_get_stackid(void *ctx, __u64 flags)
{
	struct stackmap_work_ref r = stackmap_work_claim();
	long len, id = 0;
	__s64 full;

	if (!r.data)
		return -16;
	len = bpf_get_stack(ctx, r.data->w, STACKMAP_DEPTH * sizeof(__u64),
			    flags & (BPF_F_SKIP_FIELD_MASK | BPF_F_USER_STACK));
	if (len > 0)
		id = stackmap_get(r.data, (__u32)len / sizeof(__u64), 0);
	full = r.data->hint; /* the id with its generation */
	stackmap_work_release(&r);
	if (len <= 0)
		return len ? len : -14;
	if (id == -STACKMAP_EPOOL)
		return -12;
	if (id == -STACKMAP_EPROBE)
		return -28;
	if (id <= 0)
		return -16;
	return full;
}

#endif /* STACKID_BPF_H */
