// SPDX-License-Identifier: GPL-2.0-only
#include "filter_features.h"

#include <bpf/libbpf.h>

#include "events/filter.h"
#include "symbols/ksyms.h"
#include "tracefs.h"

static int function_range(void *ctx, const char *name, uint64_t addr, uint64_t *ret_start,
			  uint64_t *ret_end)
{
	struct ksym sym;
	int err;

	err = name ? ksyms__by_name(ctx, name, &sym) : ksyms__find(ctx, addr, &sym);
	if (err)
		return err;
	*ret_start = sym.start;
	*ret_end = sym.start + sym.size;
	return 0;
}

void filter_features__probe(struct ksyms *syms, struct filter_features *ret_features)
{
	int cpus = libbpf_num_possible_cpus();

	*ret_features = (struct filter_features){
		/* an event with an address-sized field that every kernel has */
		.function = !tracefs__try_filter("raw_syscalls", "sys_enter",
						 "id.function == schedule"),
		.cpus = !tracefs__try_filter("sched", "sched_switch", "CPU & CPUS{0}"),
		.common_cpu = !tracefs__try_filter("sched", "sched_switch", "common_cpu == 0"),
		.stacktrace = !tracefs__try_filter("sched", "sched_switch", "stacktrace == 0"),
		.dangling_op = !tracefs__try_filter("sched", "sched_switch", "common_pid == 1 &&"),
		.nr_cpus = cpus > 0 ? cpus : 1,
		.function_range = function_range,
		.function_ctx = syms,
	};
}
