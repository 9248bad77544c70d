// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides whether the programs walk kernel stacks themselves (src/kwalk) or call bpf_get_stack().
 */
#include <errno.h>
#include <string.h>
#include <sys/param.h>
#include <bpf/libbpf.h>

#include "kwalk/kwalk.h"
#include "log.h"
#include "programs_priv.h"
#include "record/select/rec_event.h"

static const char *reason(int err)
{
	switch (err) {
	case -ENOTSUP:
		return "this kernel has neither frame pointers nor ORC unwind rules of a known "
		       "format";
	case -EPERM:
		return "kernel.kptr_restrict hides the addresses of text and unwind rules";
	default:
		return strerror(-err);
	}
}

int programs__prepare_walk(struct programs *p)
{
	const struct btf *btf = rec_events__kernel_types(p->opts->events);
	int err = 0;

	if (!p->opts->kernel_stacks)
		p->kernel_walk_reason = "no kernel stacks are recorded";
	else if (p->opts->kernel_unwind == REC_UNWIND_KERNEL)
		p->kernel_walk_reason = "--kernel-unwind kernel";
	else
		err = kwalk__new_btf(btf, &p->kwalk);
	if (err && p->opts->kernel_unwind == REC_UNWIND_ORC)
		return log_why(-EOPNOTSUPP, "--kernel-unwind orc: %s", reason(err));
	if (err)
		p->kernel_walk_reason = reason(err);
	if (!p->kwalk)
		return kwalk__prepare_reads(btf, p->skel->obj);
	return kwalk__prepare(p->kwalk, p->skel->obj);
}

int programs__start_walk(struct programs *p)
{
	return kwalk__start(p->kwalk, p->skel->obj);
}

struct programs_unverified programs__unverified(const struct programs *p, unsigned int event)
{
	struct programs_unverified u = { .from = UINT64_MAX, .to = p->skel->bss->ctl.walk_ended };
	unsigned int cpu;

	for (cpu = 0; cpu < p->nr_cpus && u.to; cpu++) {
		const struct event_counts *e = &p->counts[event * p->nr_cpus + cpu];
		uint64_t agreed = __atomic_load_n(&e->agreed, __ATOMIC_ACQUIRE);
		uint64_t walked = __atomic_load_n(&e->c[STK_C_WALKED], __ATOMIC_ACQUIRE) +
				  __atomic_load_n(&e->remembered, __ATOMIC_ACQUIRE);

		if (walked == agreed)
			continue;
		u.stacks += walked - agreed;
		u.from = MIN(u.from, e->agreed_ts);
	}
	return u;
}

struct programs_difference programs__difference(const struct programs *p, unsigned int event,
						unsigned int cpu)
{
	const struct event_counts *e = &p->counts[event * p->nr_cpus + cpu];

	return (struct programs_difference){ e->differed_walked, e->differed_kernel };
}

const char *programs__kernel_walk_reason(const struct programs *p)
{
	return p->kernel_walk_reason;
}

const char *programs__unwinder(const struct programs *p)
{
	return kwalk__unwinder(p->kwalk) == KWALK_FRAME_POINTERS ? "frame_pointers" : "orc";
}
