/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef STACKMAP_BENCH_H
#define STACKMAP_BENCH_H

enum bench_mode {
	BENCH_NOTHING,
	BENCH_STACK, /* bpf_get_stack() */
	BENCH_STACK32, /* the same with room for 32 frames only */
	BENCH_MAP, /* bpf_get_stack() and stackmap_get() */
	BENCH_DROPIN, /* stackmap_get_stackid() */
	BENCH_STACKID, /* bpf_get_stackid() */
	BENCH_MODES
};

#endif /* STACKMAP_BENCH_H */
