// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Counts task switches by kernel stack. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "stackmap/stackid.bpf.h"

/* Any GPL-compatible string: the kernel reserves bpf_get_stack() for such programs. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} counts SEC(".maps");

__u64 lost;

SEC("raw_tp/sched_switch")
int on_switch(void *ctx)
{
	__s64 id = stackmap_get_stackid(ctx, 0);
	__u64 *count, one = 1;

	if (id < 0) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	count = bpf_map_lookup_elem(&counts, &id);
	if (count)
		__sync_fetch_and_add(count, 1);
	else if (bpf_map_update_elem(&counts, &id, &one, BPF_NOEXIST))
		__sync_fetch_and_add(&lost, 1);
	return 0;
}
