// SPDX-License-Identifier: GPL-2.0-only
/* Probes what filters need to select the same events as the running kernel's own filters. */
#include "filter_features.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "events/filter.h"
#include "events/filter_function.h"
#include "slurp.h"
#include "symbols/ksyms.h"
#include "tracefs.h"

struct function_source {
	struct filter_functions *kallsyms; /* NULL: out of memory */
	struct ksyms *syms; /* used if kallsyms hides addresses */
};

static int function_range(void *ctx, const char *name, uint64_t addr, uint64_t *ret_start,
			  uint64_t *ret_end)
{
	struct function_source *src = ctx;
	struct ksym sym;
	int err = -ENODATA;

	if (src->kallsyms)
		err = filter_functions__range(src->kallsyms, name, addr, ret_start, ret_end);
	if (err != -ENODATA)
		return err;
	err = name ? ksyms__by_name(src->syms, name, &sym) : ksyms__find(src->syms, addr, &sym);
	if (err)
		return err;
	*ret_start = sym.start;
	*ret_end = sym.start + sym.size;
	return 0;
}

/* The kernel's nr_cpu_ids: one more than the highest possible CPU; there may be gaps below. */
static uint32_t nr_cpu_ids(void)
{
	char text[256];
	const char *last;

	if (slurp__line("/sys/devices/system/cpu/possible", text, sizeof(text)))
		return 1;
	last = text + strlen(text);
	while (last > text && !strchr("-,", last[-1]))
		last--;
	return strtoul(last, NULL, 10) + 1;
}

void filter_features__probe(struct ksyms *syms, struct filter_features *ret_features)
{
	struct function_source *src = calloc(1, sizeof(*src));

	*ret_features = (struct filter_features){
		/* every kernel has this event, with an address-sized field */
		.function = !tracefs__try_filter("raw_syscalls", "sys_enter",
						 "id.function == schedule"),
		.cpus = !tracefs__try_filter("sched", "sched_switch", "CPU & CPUS{0}"),
		.common_cpu = !tracefs__try_filter("sched", "sched_switch", "common_cpu == 0"),
		.stacktrace = !tracefs__try_filter("sched", "sched_switch", "stacktrace == 0"),
		.dangling_op = !tracefs__try_filter("sched", "sched_switch", "common_pid == 1 &&"),
		.nr_cpus = nr_cpu_ids(),
	};
	if (!src)
		return;
	src->syms = syms;
	if (filter_functions__new("/proc/kallsyms", &src->kallsyms))
		src->kallsyms = NULL;
	ret_features->function_range = function_range;
	ret_features->function_ctx = src;
}

void filter_features__clear(struct filter_features *features)
{
	struct function_source *src = features->function_ctx;

	if (src)
		filter_functions__free(src->kallsyms);
	free(src);
	*features = (struct filter_features){ 0 };
}
