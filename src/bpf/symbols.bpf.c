// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel symbols in the kernel's own words: what %pS prints.  It is right for modules and BPF
 * programs that came a moment ago, and also where kernel.kptr_restrict hides /proc/kallsyms.
 * Both programs are only ever run by bpf(BPF_PROG_TEST_RUN).
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "wire.h"

char LICENSE[] SEC("license") = "GPL";

__u64 symbol_addrs[WIRE_SYMBOL_BATCH] = {};
char symbol_texts[WIRE_SYMBOL_BATCH][WIRE_SYMBOL_LEN] = {};

SEC("raw_tp")
int name_symbols(void *ctx)
{
	static const char fmt[] = "%pS";
	__u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < WIRE_SYMBOL_BATCH; i++) {
		__u64 addr = symbol_addrs[i];

		if (addr)
			bpf_snprintf(symbol_texts[i], WIRE_SYMBOL_LEN, fmt, &addr, sizeof(addr));
	}
	return 0;
}

/* The stack that leads here: addresses in the kernel's text to start a walk from. */
__u64 anchors[WIRE_ANCHORS] = {};

SEC("raw_tp")
int find_anchors(void *ctx)
{
	bpf_get_stack(ctx, anchors, sizeof(anchors), 0);
	return 0;
}
