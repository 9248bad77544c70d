// SPDX-License-Identifier: GPL-2.0-only
/* The filter evaluator as BPF, for one program and one input at a time. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "events/filter_eval.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct filter_prog);
} progs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct filter_input);
} inputs SEC(".maps");

/* Strings of the workload; user space maps these pages for as long as it runs. */
char strings[4096] = "";

int result = 0;
__u64 took_ns = 0;

SEC("syscall")
int eval(void *ctx)
{
	__u32 zero = 0;
	struct filter_prog *p = bpf_map_lookup_elem(&progs, &zero);
	struct filter_input *in = bpf_map_lookup_elem(&inputs, &zero);

	if (!p || !in)
		return 1;
	result = filter_eval(p, in);
	return 0;
}

static long eval_again(__u32 i, void *ctx)
{
	__u32 zero = 0;
	struct filter_prog *p = bpf_map_lookup_elem(&progs, &zero);
	struct filter_input *in = bpf_map_lookup_elem(&inputs, &zero);

	if (!p || !in)
		return 1;
	result = filter_eval(p, in);
	return 0;
}

static long eval_not(__u32 i, void *ctx)
{
	__u32 zero = 0;
	struct filter_prog *p = bpf_map_lookup_elem(&progs, &zero);
	struct filter_input *in = bpf_map_lookup_elem(&inputs, &zero);

	if (!p || !in)
		return 1;
	result = in->len;
	return 0;
}

/* ns of 100000 evaluations, less those of the loop. */
SEC("syscall")
int cost(void *ctx)
{
	__u64 start = bpf_ktime_get_ns(), empty, full;

	bpf_loop(100000, eval_not, (void *)0, 0);
	empty = bpf_ktime_get_ns() - start;
	start = bpf_ktime_get_ns();
	bpf_loop(100000, eval_again, (void *)0, 0);
	full = bpf_ktime_get_ns() - start;
	took_ns = full > empty ? full - empty : 0;
	return 0;
}
