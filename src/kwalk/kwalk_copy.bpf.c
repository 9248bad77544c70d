// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Copies kernel memory for the loader: /proc/kcore may be locked down, and /dev/mem always is. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "kwalk_copy.h"

/* bpf_probe_read_kernel() is for programs with a GPL-compatible licence only. */
char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kwalk_copied);
} copied SEC(".maps");

SEC("syscall")
int copy(struct kwalk_copy *c)
{
	__u32 zero = 0, len = c->len;
	struct kwalk_copied *to = bpf_map_lookup_elem(&copied, &zero);

	if (!to || len > sizeof(to->bytes))
		return 1;
	c->err = bpf_probe_read_kernel(to->bytes, len, (void *)c->from);
	return 0;
}
