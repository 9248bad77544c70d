// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel symbols as the kernel's %pS prints them.  The result is up to date for modules and BPF
 * programs that were loaded just now, and available even if kernel.kptr_restrict hides
 * /proc/kallsyms.  Both programs are run by bpf(BPF_PROG_TEST_RUN) only.
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

/* The stack of this program: addresses in the kernel's text from which a search can start. */
__u64 anchors[WIRE_ANCHORS] = {};

SEC("raw_tp")
int find_anchors(void *ctx)
{
	bpf_get_stack(ctx, anchors, sizeof(anchors), 0);
	return 0;
}
