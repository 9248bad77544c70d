// SPDX-License-Identifier: GPL-2.0-only
/* Native events: which ones there are, and their fronts. See src/bpf/native.bpf.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attach.h"
#include "cleanup.h"
#include "events/format.h"
#include "kwalk/kwalk.h"
#include "log.h"
#include "programs_priv.h"
#include "record/kernel/native_code.h"
#include "record/kernel/native_masks.h"
#include "record/kernel/native_pages.h"
#include "record/kernel/native_probe.h"
#include "record/kernel/native_rows.h"
#include "record/kernel/tracefs.h"
#include "record/select/rec_event.h"

struct native_front {
	enum native_kind kind;
	struct native_code code; /* NATIVE_FILLED */
};

/*
 * A program of this type gets its own frames from bpf_get_stack(), too, which are removed by the
 * place of the function that called it.
 */
static bool takes_stacks(const struct programs *p)
{
	return !p->opts->kernel_stacks || (p->kwalk && kwalk__walks_raw(p->kwalk));
}

/*
 * The two fronts of an event must know the level of interrupts, and the check of records must also
 * know whether the kernel drops its program.
 */
static bool knows_levels(const struct programs *p)
{
	return percpu_layout__has_levels(&p->layout);
}

/* Whether records of system calls can be filled at one end, looked up when an event needs it. */
struct call_check {
	bool known;
	int err;
	char why[NATIVE_WHY];
};

struct kernel {
	struct btf *btf;
	struct call_check calls[2]; /* entries, exits */
	struct native_pages pages;
};

/* Makes the instructions for an event; without any in ret_code the kernel fills its records. */
static int make(const struct rec_event *e, struct kernel *k, struct native_code *ret_code)
{
	_cleanup_free_ char *text = NULL; /* as the kernel wrote it, unlike e->format */
	char why[NATIVE_WHY] = "";
	int err = tracefs__format(e->system, e->name, &text);

	if (!err)
		err = native_code__make(e->system, e->name, e->fmt, text, k->btf,
					native_code__reader(k->btf), ret_code, why);
	if (!err)
		err = native_pages__set(&k->pages, k->btf, ret_code, why);
	if (err)
		ret_code->nr = 0;
	if (err == -EOPNOTSUPP)
		log_debug("the kernel fills the records of %s:%s: %s", e->system, e->name, why);
	return err == -EOPNOTSUPP || err == -ENOENT ? 0 : err;
}

/* Their records are filled by C code, see src/bpf/native.bpf.h. */
static enum native_kind kind_of_call(const struct rec_event *e)
{
	if (e->kind == STK_KIND_SYSCALL)
		return NATIVE_CALL;
	if (e->kind != STK_KIND_TRACEPOINT || strcmp(e->system, "raw_syscalls"))
		return NATIVE_NONE;
	return !strcmp(e->name, "sys_enter") ? NATIVE_SYS_ENTER :
	       !strcmp(e->name, "sys_exit")  ? NATIVE_SYS_EXIT :
					       NATIVE_NONE;
}

/* Whether it can fill these on the running kernel, which is looked up once for each end. */
static int fits_call(const struct rec_event *e, enum native_kind kind, struct kernel *k,
		     bool *ret_fits)
{
	bool is_exit = kind == NATIVE_SYS_EXIT || e->syscall_exit;
	struct call_check *c = &k->calls[is_exit];

	if (!c->known)
		c->err = native_probe__call(is_exit, k->btf, c->why);
	c->known = true;
	if (c->err)
		log_debug("the kernel fills the records of %s:%s: %s: %s", e->system, e->name,
			  native_rows__call(is_exit)->event, *c->why ? c->why : strerror(-c->err));
	*ret_fits = !c->err;
	return c->err == -ENOMEM ? c->err : 0;
}

/* native: whether events are native that can be. */
static int choose(const struct rec_event *e, struct kernel *k, bool native,
		  struct native_front *ret_front)
{
	enum native_kind call = kind_of_call(e);
	bool fits = false;
	int err;

	if (call) {
		err = native ? fits_call(e, call, k, &fits) : 0;
		ret_front->kind = fits ? call : NATIVE_NONE;
		return err;
	}
	if (e->kind != STK_KIND_TRACEPOINT)
		return 0;
	err = make(e, k, &ret_front->code);
	if (ret_front->code.nr)
		ret_front->kind = native ? NATIVE_FILLED : NATIVE_BESIDE;
	return err;
}

enum native_kind native__kind(const struct programs *p, unsigned int event)
{
	return p->native ? p->native[event].kind : NATIVE_NONE;
}

uint32_t native__flags(const struct programs *p, unsigned int event)
{
	switch (native__kind(p, event)) {
	case NATIVE_NONE:
		return 0;
	case NATIVE_BESIDE:
		return DESC_BESIDE;
	case NATIVE_FILLED:
		return DESC_NATIVE;
	default:
		return DESC_NATIVE | DESC_CALL;
	}
}

bool programs__is_native(const struct programs *p, unsigned int event)
{
	return native__kind(p, event) > NATIVE_BESIDE;
}

bool programs__has_second(const struct programs *p, unsigned int event)
{
	return native__kind(p, event) == NATIVE_FILLED && p->native[event].code.event->nests;
}

uint64_t native__taken(const struct programs *p, unsigned int event)
{
	uint64_t sum = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < p->nr_cpus; cpu++)
		sum += __atomic_load_n(&p->hits[event * p->nr_cpus + cpu].taken, __ATOMIC_ACQUIRE);
	return sum;
}

bool native__is_exit(const struct programs *p, unsigned int event)
{
	return native__kind(p, event) == NATIVE_SYS_EXIT || p->opts->events->v[event].syscall_exit;
}

unsigned int native__check(const struct programs *p, unsigned int event)
{
	return native__kind(p, event) == NATIVE_FILLED ? event :
							 p->nr_events + native__is_exit(p, event);
}

void native__masks(const struct programs *p, unsigned int event, struct native_check *ret_check)
{
	if (native__kind(p, event) == NATIVE_FILLED)
		native_masks__make(p->native[event].code.event, p->opts->events->v[event].fmt,
				   ret_check);
	else
		native_masks__make_call(native__is_exit(p, event), ret_check);
}

static void size_maps(struct programs *p)
{
	unsigned int i;

	bpf_map__set_max_entries(p->skel->maps.native_checks, p->nr_events + 2);
	bpf_map__set_max_entries(p->skel->maps.native_check_cpus, p->nr_cpus);
	for (i = 0; i < p->nr_events; i++)
		if (programs__has_second(p, i))
			bpf_map__set_max_entries(p->skel->maps.native_hits,
						 p->nr_events * p->nr_cpus);
}

int native__choose(struct programs *p)
{
	struct kernel k = { .btf = rec_events__kernel_types(p->opts->events) };
	bool native = p->opts->fields != REC_FIELDS_KERNEL && takes_stacks(p) && knows_levels(p);
	unsigned int i;
	int err = 0;

	if (!knows_levels(p) && p->opts->fields == REC_FIELDS_NATIVE)
		return log_why(-EOPNOTSUPP, "record with --fields native: " NATIVE_NO_LEVELS);
	if (!native && p->opts->fields == REC_FIELDS_NATIVE)
		return log_why(-EOPNOTSUPP,
			       "record with --fields native: this needs "
			       "--kernel-unwind orc or --no-kernel-stacks: %s",
			       p->kernel_walk_reason ?: "unknown callers of programs");
	p->native = calloc(MAX(p->nr_events, 1u), sizeof(*p->native));
	if (!p->native)
		return log_err(-ENOMEM, "allocate the table of native events");
	for (i = 0; i < p->nr_events && !err; i++)
		err = choose(&p->opts->events->v[i], &k, native, &p->native[i]);
	if (err)
		return log_err(err, "make the programs that fill records");
	size_maps(p);
	err = old_way__new(p);
	return err ? log_err(err, "allocate the table of native events") : 0;
}

void native__choose_programs(struct programs *p, bool nested)
{
	bool kinds[NATIVE_CALL + 1] = { 0 }, calls[2] = { 0 }, filtered = false;
	bool checked = false, any, entries, exits;
	struct record_bpf *s = p->skel;
	unsigned int i;

	for (i = 0; i < p->nr_events; i++) {
		const struct rec_event *e = &p->opts->events->v[i];
		enum native_kind kind = native__kind(p, i);

		if (!kind)
			continue;
		kinds[kind] = true;
		checked |= programs__is_native(p, i);
		calls[e->syscall_exit] |= kind == NATIVE_CALL;
		filtered |= e->prog != NULL;
	}
	entries = calls[0] || kinds[NATIVE_SYS_ENTER];
	exits = calls[1] || kinds[NATIVE_SYS_EXIT];
	any = nested || checked || kinds[NATIVE_BESIDE];
	bpf_program__set_autoload(s->progs.native, kinds[NATIVE_FILLED] || kinds[NATIVE_BESIDE]);
	bpf_program__set_autoload(s->progs.native_sys_enter, kinds[NATIVE_SYS_ENTER]);
	bpf_program__set_autoload(s->progs.native_sys_exit, kinds[NATIVE_SYS_EXIT]);
	bpf_program__set_autoload(s->progs.native_call_enter, calls[0]);
	bpf_program__set_autoload(s->progs.native_call_exit, calls[1]);
	bpf_program__set_autoload(s->progs.check_kernel, checked);
	bpf_program__set_autoload(s->progs.check_compare, checked);
	bpf_program__set_autoload(s->progs.check_front, kinds[NATIVE_FILLED]);
	bpf_program__set_autoload(s->progs.check_sys_enter, entries);
	bpf_program__set_autoload(s->progs.check_sys_exit, exits);
	bpf_program__set_autoload(s->progs.native_filter, filtered);
	bpf_program__set_autoload(s->progs.native_end, any);
	bpf_program__set_autoload(s->progs.native_slow, any && p->opts->kernel_stacks);
	bpf_program__set_autoload(s->progs.native_user, any && p->user_stacks);
	bpf_program__set_autoload(s->progs.calibrate_raw, any);
	bpf_program__set_autoload(s->progs.take_old_way, checked);
	bpf_program__set_autoload(s->progs.end_call, entries || exits);
}

/* Sets what distinguishes the copies of the front with instructions made for the event. */
static int set_filled(struct bpf_insn *insns, size_t nr, const struct native_code *code,
		      enum wire_role role)
{
	int err = attach__set(insns, nr, WIRE_NATIVE_ROLE, role);

	if (!err)
		err = attach__set(insns, nr, WIRE_NATIVE_IRQS, code->event->irqs);
	return err ?: native_code__fill_hole(insns, nr, code);
}

static int load(const char *name, const struct bpf_insn *insns, size_t nr)
{
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, name, "GPL", insns, nr, NULL);

	return fd < 0 ? -errno : fd;
}

int native__load_front(const struct programs *p, unsigned int event, enum wire_role role)
{
	const struct native_front *f = &p->native[event];
	const struct bpf_program *front =
		f->kind == NATIVE_SYS_ENTER ? p->skel->progs.native_sys_enter :
		f->kind == NATIVE_SYS_EXIT  ? p->skel->progs.native_sys_exit :
					      p->skel->progs.native;
	_cleanup_free_ struct bpf_insn *insns = NULL;
	size_t nr = bpf_program__insn_cnt(front);
	int err = attach__copy(front, event, &insns);

	if (!err && f->code.nr)
		err = set_filled(insns, nr, &f->code, role);
	return err ?: load("stk_native", insns, nr);
}

int native__load_check(const struct programs *p, unsigned int event)
{
	const struct native_front *f = &p->native[event];
	const struct bpf_program *check = f->kind == NATIVE_FILLED ? p->skel->progs.check_front :
					  native__is_exit(p, event) ?
								     p->skel->progs.check_sys_exit :
								     p->skel->progs.check_sys_enter;
	_cleanup_free_ struct bpf_insn *insns = NULL;
	size_t nr = bpf_program__insn_cnt(check);
	int err = attach__copy(check, native__check(p, event), &insns);

	if (!err && f->kind == NATIVE_FILLED)
		err = native_code__fill_hole(insns, nr, &f->code);
	return err ?: load("stk_check", insns, nr);
}
