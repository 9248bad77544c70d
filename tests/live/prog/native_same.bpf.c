// SPDX-License-Identifier: GPL-2.0-only
/* Records that are filled from arguments, compared with those of the kernel. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
#define barrier() asm volatile("" ::: "memory")

#include "bpf/native_check.bpf.h"
#include "native_same.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct native_check_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CHECKS);
	__type(key, u32);
	__type(value, struct native_check);
} checks SEC(".maps");

SEC("raw_tp")
int front(void *ctx)
{
	u32 event, zero = 0;
	struct native_check_cpu *c = bpf_map_lookup_elem(&cpus, &zero);
	struct native_check *n;

	asm volatile("%0 = %1" : "=r"(event) : "i"(WIRE_COUNT_EVENT));
	n = bpf_map_lookup_elem(&checks, &event);
	if (c && n && !c->is_comparing)
		native_check_leave(c, n, event, ctx);
	return 0;
}

SEC("tracepoint")
int check(void *ctx)
{
	u32 event = bpf_get_attach_cookie(ctx), zero = 0;
	struct native_check_cpu *c = bpf_map_lookup_elem(&cpus, &zero);
	struct native_check *n = bpf_map_lookup_elem(&checks, &event);

	if (c && n)
		native_check_hit(c, n, event, ctx);
	return 0;
}
