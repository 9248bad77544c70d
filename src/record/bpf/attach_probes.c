// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches to functions: to kernel functions by kprobe.multi, which takes any number of them at
 * once, or otherwise by single kprobes, and a counter to each by fentry or fexit if the kernel has
 * them.  The recorder is not attached by fentry, because that needs a program for each function,
 * and a recorder program takes the verifier a quarter of a second.
 */
#include "attach_probes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "array.h"
#include "attach.h"
#include "cleanup.h"
#include "log.h"
#include "programs_priv.h"
#include "record/kernel/feature_table.h"
#include "record/select/emulated.h"
#include "record/select/rec_event.h"
#include "slurp.h"
#include "symbols/ksyms.h"

/* Each counter is a program and a trampoline, so events of globs have none. */
#define MAX_COUNTERS 64

/* A kernel function of an event. */
struct target {
	const char *function;
	uint64_t address; /* 0: unknown */
	uint64_t cookie;
	unsigned int event;
	unsigned int group; /* targets that share a link */
	bool is_return, is_save;
};

struct targets {
	struct target *v;
	unsigned int nr, cap;
};

static int add_target(struct targets *l, const struct target *t)
{
	if (array__grow(&l->v, l->nr, &l->cap))
		return -ENOMEM;
	l->v[l->nr++] = *t;
	return 0;
}

/* A function may occur only once in a link, so an emulated event has links of its own. */
static int add_emulated(const struct programs *p, struct targets *l, unsigned int event)
{
	const struct emulated *y = p->opts->events->v[event].emulated;
	unsigned int i, before = l->nr;
	struct ksym sym;
	int err = 0;

	for (i = 0; i < EMULATED_FUNCTIONS && !err; i++) {
		struct target t = {
			.function = y->functions[i].name,
			.cookie = event | (uint64_t)i << WIRE_PROBE_VARIANT,
			.event = event,
			.group = 2 + 2 * event,
		};

		if (y->functions[i].instead &&
		    !ksyms__by_name(p->opts->syms, y->functions[i].instead, &sym))
			continue;
		if (!t.function || ksyms__by_name(p->opts->syms, t.function, &sym))
			continue;
		t.address = sym.start;
		if (y->is_return) {
			t.is_save = true;
			t.cookie |= WIRE_PROBE_SAVE;
			err = add_target(l, &t);
			t.is_save = false;
			t.cookie ^= WIRE_PROBE_SAVE | WIRE_PROBE_TAKE;
			t.group++;
			t.is_return = true;
		}
		if (!err)
			err = add_target(l, &t);
	}
	if (!err && l->nr == before)
		return log_why(
			-ENOENT,
			"%s:%s: this kernel has none of the functions of this emulated event",
			y->system, y->name);
	return err;
}

static int collect(const struct programs *p, struct targets *l)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < p->nr_events && !err; i++) {
		const struct rec_event *e = &p->opts->events->v[i];

		if (e->kind == STK_KIND_EMULATED) {
			err = add_emulated(p, l, i);
		} else if (e->kind == STK_KIND_FUNCTION) {
			struct target t = {
				.function = e->probe.function,
				.address = e->probe.address,
				.cookie = i,
				.event = i,
				.group = e->probe.how == PROBE_RETURN,
				.is_return = e->probe.how == PROBE_RETURN,
			};

			err = add_target(l, &t);
		}
	}
	return err;
}

static int compare_targets(const void *a, const void *b)
{
	const struct target *x = a, *y = b;

	return CMP(x->group, y->group) ?: CMP(x->cookie, y->cookie);
}

static struct attached_probe *probe_add(struct programs *p, unsigned int event)
{
	struct attached_probe probe = { .event = event, .count_prog = -1, .count_link = -1 };

	return array__append(&p->probes, &p->nr_probes, probe) ? NULL :
								 &p->probes[p->nr_probes - 1];
}

static int keep_link(struct programs *p, unsigned int event, struct bpf_link *link)
{
	struct attached_probe *a;

	if (!link)
		return -errno;
	a = probe_add(p, event);
	if (!a) {
		bpf_link__destroy(link);
		return -ENOMEM;
	}
	a->link = link;
	return 0;
}

/* Attaches one link to all targets of a group. */
static int attach_multi(struct programs *p, const struct target *t, unsigned int nr)
{
	_cleanup_free_ unsigned long *addrs = calloc(nr, sizeof(*addrs));
	_cleanup_free_ const char **names = calloc(nr, sizeof(*names));
	_cleanup_free_ __u64 *cookies = calloc(nr, sizeof(*cookies));
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .cnt = nr, .retprobe = t->is_return);
	bool all_known = true;
	unsigned int i;

	if (!addrs || !names || !cookies)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		addrs[i] = t[i].address;
		names[i] = t[i].function;
		cookies[i] = t[i].cookie;
		all_known = all_known && t[i].address;
	}
	opts.cookies = cookies;
	if (all_known)
		opts.addrs = addrs;
	else
		opts.syms = names;
	return keep_link(p, t->event,
			 bpf_program__attach_kprobe_multi_opts(p->skel->progs.probe_multi, NULL,
							       &opts));
}

static int attach_one(struct programs *p, const struct target *t)
{
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .bpf_cookie = t->cookie, .retprobe = t->is_return);

	return keep_link(p, t->event,
			 bpf_program__attach_kprobe_opts(p->skel->progs.probe, t->function, &opts));
}

/* Logs why a function cannot be probed; a locked down kernel refuses all of them. */
static int explain(const struct programs *p, const struct target *t, int err)
{
	const struct rec_event *e = &p->opts->events->v[t->event];
	char mode[128] = "[none]";

	if (features__kprobes())
		return log_err(err, "attach to %s:%s (function %s)", e->system, e->name,
			       t->function);
	slurp__line("/sys/kernel/security/lockdown", mode, sizeof(mode));
	log_err(0,
		"%s:%s: this kernel refuses probes on its functions%s; run 'stackonce doctor' for "
		"details; tracepoints and u: probes are not affected",
		e->system, e->name,
		strstr(mode, "[none]") ? " or has none (CONFIG_KPROBES)" :
					 ", as it is locked down (kernel_lockdown(7))");
	return err;
}

static int attach_group(struct programs *p, const struct target *t, unsigned int nr)
{
	struct rec_events *l = p->opts->events;
	unsigned int i, failed = 0;
	int err, last = 0;

	if (bpf_program__fd(p->skel->progs.probe_multi) >= 0) {
		err = attach_multi(p, t, nr);
		if (!err || nr == 1)
			return err ? explain(p, t, err) : 0;
		if (err == -EPERM)
			return explain(p, t, err);
	}
	/* one by one, to find out which functions the kernel refuses */
	for (i = 0; i < nr; i++) {
		struct rec_event *e = &l->v[t[i].event];

		err = bpf_program__fd(p->skel->progs.probe_multi) >= 0 ? attach_multi(p, &t[i], 1) :
									 attach_one(p, &t[i]);
		if (!err)
			continue;
		if (!e->globbed)
			return explain(p, &t[i], err);
		last = err;
		failed++;
		err = rec_events__leave_out(l, e->system, e->name, strerror(-last));
		if (err)
			return err;
	}
	return failed == nr ? explain(p, t, last) : 0;
}

/* Attaches a copy of `count_function` to this function. */
static int attach_counter(struct programs *p, const struct target *t)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = t->is_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY);
	struct attached_probe *a;
	struct ksym sym;
	int id, fd;

	/* only vmlinux BTF is searched, not the BTF of modules */
	if (ksyms__by_name(p->opts->syms, t->function, &sym) || *sym.module)
		return -ENOENT;
	id = libbpf_find_vmlinux_btf_id(t->function, opts.expected_attach_type);
	if (id <= 0)
		return -ENOENT;
	opts.attach_btf_id = id;
	fd = attach__load_counter(p->skel->progs.count_function, BPF_PROG_TYPE_TRACING, t->event,
				  &opts);
	if (fd < 0)
		return fd;
	a = probe_add(p, t->event);
	if (!a) {
		close(fd);
		return -ENOMEM;
	}
	a->count_prog = fd;
	a->count_link = bpf_raw_tracepoint_open(NULL, fd);
	return a->count_link < 0 ? -errno : 0;
}

/* An event has an independent counter only if all of its functions have one. */
static void attach_counters(struct programs *p, const struct targets *l)
{
	unsigned int i, nr = 0;
	int err;

	for (i = 0; i < l->nr; i++) {
		const struct target *t = &l->v[i];
		const struct rec_event *e = &p->opts->events->v[t->event];
		struct attached *a = &p->attached[t->event];
		bool glob;

		if (t->is_save || a->no_counter)
			continue;
		glob = e->globbed && e->kind == STK_KIND_FUNCTION;
		err = glob || nr == MAX_COUNTERS ? -E2BIG : attach_counter(p, t);
		if (!err) {
			nr++;
			continue;
		}
		log_debug("%s is not counted by fentry: %s", t->function, strerror(-err));
		a->no_counter = true;
		attach__drop_counters(p, t->event);
	}
}

static int attach_functions(struct programs *p)
{
	struct targets l = { 0 };
	unsigned int i, n;
	int err;

	err = collect(p, &l);
	if (!err && l.nr) {
		qsort(l.v, l.nr, sizeof(*l.v), compare_targets);
		attach_counters(p, &l);
	}
	for (i = 0; i < l.nr && !err; i += n) {
		for (n = 1; i + n < l.nr && l.v[i + n].group == l.v[i].group; n++)
			;
		err = attach_group(p, &l.v[i], n);
	}
	free(l.v);
	return err;
}

/* ---- programs -------------------------------------------------------------------------------- */

static int attach_user(struct programs *p, unsigned int event)
{
	const struct probe *probe = &p->opts->events->v[event].probe;
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = event,
		    .retprobe = probe->how == PROBE_USER_RETURN);
	LIBBPF_OPTS(bpf_uprobe_opts, count, .bpf_cookie = event | WIRE_PROBE_COUNT);
	int err = 0;

	if (opts.retprobe)
		err = keep_link(p, event,
				bpf_program__attach_uprobe_opts(p->skel->progs.probe, -1,
								probe->path, probe->offset,
								&count));
	if (err)
		return err;
	return keep_link(p, event,
			 bpf_program__attach_uprobe_opts(p->skel->progs.probe, -1, probe->path,
							 probe->offset, &opts));
}

static int attach_usdt(struct programs *p, unsigned int event)
{
	const struct probe *probe = &p->opts->events->v[event].probe;
	LIBBPF_OPTS(bpf_usdt_opts, opts, .usdt_cookie = event);

	return keep_link(p, event,
			 bpf_program__attach_usdt(p->skel->progs.probe_usdt, -1, probe->path,
						  probe->provider, probe->name, &opts));
}

int attach_probes__all(struct programs *p)
{
	struct rec_events *l = p->opts->events;
	unsigned int i;
	int err;

	for (i = 0; i < p->nr_events; i++) {
		struct rec_event *e = &l->v[i];

		if (e->kind == STK_KIND_USER_FUNCTION)
			err = attach_user(p, i);
		else if (e->kind == STK_KIND_USDT)
			err = attach_usdt(p, i);
		else
			continue;
		if (err && !e->globbed)
			return log_err(err, "attach to %s:%s", e->system, e->name);
		if (err)
			err = rec_events__leave_out(l, e->system, e->name, strerror(-err));
		if (err)
			return err;
	}
	return attach_functions(p);
}
