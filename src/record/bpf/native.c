// SPDX-License-Identifier: GPL-2.0-only
/* Native events: which ones there are, and their fronts. See src/bpf/native.bpf.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attach.h"
#include "cleanup.h"
#include "log.h"
#include "programs_priv.h"
#include "record/kernel/native_code.h"
#include "record/kernel/native_rows.h"
#include "record/kernel/tracefs.h"
#include "record/select/rec_event.h"

/*
 * A program of this type gets its own frames from bpf_get_stack(), too, which are removed by the
 * place of the function that called it.
 */
static bool takes_stacks(const struct programs *p)
{
	const struct kwalk_settings *s = &p->skel->rodata_kwalk->kwalk_settings;

	return !p->opts->kernel_stacks || (s->raw_at[0] && s->callers[KWALK_RUN].size);
}

/* The two fronts of an event must know the level of interrupts. */
static bool knows_levels(const struct programs *p)
{
	return p->skel->rodata->percpu_preempt_count;
}

static int make(const struct programs *p, const struct rec_event *e, struct btf *btf,
		struct native_code *ret_code)
{
	_cleanup_free_ char *text = NULL;
	char why[NATIVE_WHY] = "";
	int err = tracefs__format(e->system, e->name, &text);

	if (!err)
		err = native_code__make(e->system, e->name, e->fmt, text, btf,
					native_code__reader(btf), ret_code, why);
	if (!err && ret_code->pages_at) {
		snprintf(why, sizeof(why), "the address of the first struct page is unknown");
		err = -EOPNOTSUPP;
	}
	if (!err && ret_code->event->nests && !knows_levels(p)) {
		snprintf(why, sizeof(why), "preempt counts are unknown");
		err = -EOPNOTSUPP;
	}
	if (err)
		ret_code->nr = 0;
	if (err == -EOPNOTSUPP)
		log_debug("the kernel fills the records of %s:%s: %s", e->system, e->name, why);
	return err == -EOPNOTSUPP || err == -ENOENT ? 0 : err;
}

bool programs__is_native(const struct programs *p, unsigned int event)
{
	return p->native && p->native[event].nr;
}

bool native__has_second(const struct programs *p, unsigned int event)
{
	return programs__is_native(p, event) && p->native[event].event->nests;
}

uint64_t native__taken(const struct programs *p, unsigned int event, unsigned int cpu)
{
	return __atomic_load_n(&p->hits[event * p->nr_cpus + cpu].taken, __ATOMIC_ACQUIRE);
}

static void size_maps(struct programs *p)
{
	unsigned int i;

	bpf_map__set_max_entries(p->skel->maps.native_starts, MAX(p->nr_events, 1u));
	for (i = 0; i < p->nr_events; i++)
		if (native__has_second(p, i))
			bpf_map__set_max_entries(p->skel->maps.native_hits,
						 p->nr_events * p->nr_cpus);
}

int native__choose(struct programs *p)
{
	struct btf *btf = rec_events__kernel_types(p->opts->events);
	unsigned int i;
	int err = 0;

	if (p->opts->fields != REC_FIELDS_NATIVE || !takes_stacks(p))
		return 0;
	p->native = calloc(MAX(p->nr_events, 1u), sizeof(*p->native));
	if (!p->native)
		return log_err(-ENOMEM, "allocate the table of native events");
	for (i = 0; i < p->nr_events && !err; i++) {
		const struct rec_event *e = &p->opts->events->v[i];

		if (e->kind == STK_KIND_TRACEPOINT)
			err = make(p, e, btf, &p->native[i]);
	}
	if (err)
		return log_err(err, "make the programs that fill records");
	size_maps(p);
	return 0;
}

int native__load_front(const struct programs *p, unsigned int event, enum wire_role role)
{
	const struct bpf_program *front = p->skel->progs.native;
	_cleanup_free_ struct bpf_insn *insns = NULL;
	size_t nr = bpf_program__insn_cnt(front);
	int err = attach__copy(front, event, &insns), fd;

	if (!err)
		err = attach__set(insns, nr, WIRE_NATIVE_ROLE, role);
	if (!err)
		err = attach__set(insns, nr, WIRE_NATIVE_IRQS, p->native[event].event->irqs);
	if (!err)
		err = native_code__fill_hole(insns, nr, &p->native[event]);
	if (err)
		return err;
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "stk_native", "GPL", insns, nr, NULL);
	return fd < 0 ? -errno : fd;
}
