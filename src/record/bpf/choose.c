// SPDX-License-Identifier: GPL-2.0-only
/* Selects the BPF programs to load: only those in use, because verifying a program takes time. */
#include <errno.h>
#include <bpf/libbpf.h>

#include "log.h"
#include "programs_priv.h"
#include "record/kernel/feature_table.h"
#include "record/kernel/program_stack.h"
#include "record/select/rec_event.h"

/* Function probes have one recorder program per kind of attachment. */
static void choose_probes(struct programs *p)
{
	bool functions = false, user = false, usdt = false, filtered = false, multi;
	struct record_bpf *s = p->skel;
	unsigned int i;

	for (i = 0; i < p->nr_events; i++) {
		const struct rec_event *e = &p->opts->events->v[i];
		bool is_probe = true;

		if (e->kind == STK_KIND_FUNCTION || e->kind == STK_KIND_EMULATED)
			functions = true;
		else if (e->kind == STK_KIND_USER_FUNCTION)
			user = true;
		else if (e->kind == STK_KIND_USDT)
			usdt = true;
		else
			is_probe = false;
		filtered = filtered || (is_probe && e->prog);
	}
	if ((user || usdt) && program_stack__probe(NULL, 0) == -EOPNOTSUPP)
		log_warn("this kernel lets probes in programs overwrite each other's stack when "
			 "they are preempted: their fields and stacks may be wrong, and the kernel "
			 "may crash; 'stackonce doctor' has the remedy");
	multi = functions && features__kprobe_multi();
	s->rodata->probe_filters = filtered;
	bpf_program__set_autoload(s->progs.probe_multi, multi);
	bpf_program__set_autoload(s->progs.probe, user || (functions && !multi));
	bpf_program__set_autoload(s->progs.probe_usdt, usdt);
	bpf_program__set_autoload(s->progs.count_function, functions);
	bpf_map__set_autocreate(s->maps.__bpf_usdt_specs, usdt);
	bpf_map__set_autocreate(s->maps.__bpf_usdt_ip_to_spec_id, usdt);
	bpf_map__set_autocreate(s->maps.saved_calls, functions || user);
}

void programs__choose(struct programs *p)
{
	bool enter[2] = { 0 }, exit[2] = { 0 }, tracepoints[2] = { 0 }, counted = false;
	struct record_bpf *s = p->skel;
	bool nested;
	unsigned int i;

	for (i = 0; i < p->nr_events; i++) {
		const struct rec_event *e = &p->opts->events->v[i];
		bool filtered = e->prog;

		if (programs__is_native(p, i))
			continue;
		tracepoints[filtered] |= e->kind == STK_KIND_TRACEPOINT;
		counted |= e->kind == STK_KIND_TRACEPOINT && !native__kind(p, i);
		enter[filtered] |= e->kind == STK_KIND_SYSCALL && !e->syscall_exit;
		exit[filtered] |= e->kind == STK_KIND_SYSCALL && e->syscall_exit;
	}
	/*
	 * one recorder program serves all tracepoints, and one each all system call entries and
	 * exits
	 */
	bpf_program__set_autoload(s->progs.record, tracepoints[0] && !tracepoints[1]);
	bpf_program__set_autoload(s->progs.record_filtered, tracepoints[1]);
	bpf_program__set_autoload(s->progs.count, counted);
	bpf_program__set_autoload(s->progs.record_sys_enter, enter[0] && !enter[1]);
	bpf_program__set_autoload(s->progs.record_sys_enter_filtered, enter[1]);
	bpf_program__set_autoload(s->progs.count_sys_enter, enter[0] || enter[1]);
	bpf_program__set_autoload(s->progs.record_sys_exit, exit[0] && !exit[1]);
	bpf_program__set_autoload(s->progs.record_sys_exit_filtered, exit[1]);
	bpf_program__set_autoload(s->progs.count_sys_exit, exit[0] || exit[1]);
	nested = counted || enter[0] || enter[1] || exit[0] || exit[1];
	bpf_program__set_autoload(s->progs.nested, nested);
	native__choose_programs(p, nested);
	bpf_program__set_autoload(s->progs.sample, p->opts->sample_hz);
	bpf_program__set_autoload(s->progs.follow, recorder_opts__selects_tasks(p->opts));
	bpf_program__set_autoload(s->progs.remember, programs__selects_owners(p));
	bpf_program__set_autoload(s->progs.locate_cgroup, p->opts->nr_cgroups);
	bpf_program__set_autoload(s->progs.begin_command, p->opts->command);
	bpf_program__set_autoload(s->progs.snapshot, p->user_stacks);
	bpf_program__set_autoload(s->progs.begin_program, p->user_stacks);
	bpf_program__set_autoload(s->progs.locate_pages, p->user_stacks);
	choose_probes(p);
	bpf_map__set_autocreate(s->maps.kwalk_counts, false);
	bpf_program__set_autoload(s->progs.kwalk_module_load, p->kwalk);
	bpf_program__set_autoload(s->progs.kwalk_module_free, p->kwalk);
	bpf_program__set_autoload(s->progs.locate, true);
	bpf_program__set_autoload(s->progs.calibrate, true);
	bpf_program__set_autoload(s->progs.calibrate_signal, true);
}
