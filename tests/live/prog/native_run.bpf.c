// SPDX-License-Identifier: GPL-2.0-only
/* A program with the hole, and memory of the kernel that the arguments of a test may point to. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/native_hole.bpf.h"
#include "native_run.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct run);
} runs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8[OBJECTS]);
} objects SEC(".maps");

SEC("raw_tp")
int fill(void *ctx)
{
	__u32 zero = 0;
	struct run *r = bpf_map_lookup_elem(&runs, &zero);

	if (r)
		r->size = native_fill(r->rec, ctx);
	return 0;
}

SEC("raw_tp")
int addresses(void *ctx)
{
	__u32 zero = 0;
	struct run *r = bpf_map_lookup_elem(&runs, &zero);
	void *o = bpf_map_lookup_elem(&objects, &zero);

	if (!r || !o)
		return 0;
	r->task = bpf_get_current_task();
	r->objects = (__u64)o;
	return 0;
}
