// SPDX-License-Identifier: GPL-2.0-only
/* As src/record/bpf/programs.c loads the recorder, but for one event and for any object. */
#include "path_object.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "kwalk/kwalk.h"
#include "record/bpf/attach.h"
#include "record/bpf/event_ring.h"
#include "record/kernel/native_code.h"
#include "record/kernel/native_rows.h"
#include "record/kernel/percpu.h"
#include "record/kernel/tracefs.h"
#include "record/select/rec_event.h"

#define MAX_ATTACHED 4

struct path_object {
	struct bpf_object *obj;
	const struct rec_event *event;
	struct btf *btf; /* of the kernel */
	unsigned int nr_cpus, nr_attached;
	struct event_counts *counts;
	struct event_ring *rings; /* by CPU, of one part each */
	char *cpus; /* a struct wire_cpu each */
	uint8_t *bss;
	struct attached {
		const struct bpf_program *program;
		struct bpf_link *link; /* of a TRACEPOINT program */
		int prog_fd, link_fd; /* of a raw one */
	} attached[MAX_ATTACHED];
};

static struct bpf_map *find_map(const struct path_object *o, const char *name)
{
	struct bpf_map *m;

	/* The names of .bss and .rodata begin with that of the object. */
	bpf_object__for_each_map(m, o->obj)
	{
		const char *is = bpf_map__name(m);
		size_t n = strlen(is), want = strlen(name);

		if (!strcmp(is, name) || (*name == '.' && n > want && !strcmp(is + n - want, name)))
			return m;
	}
	errx(1, "the object has no map %s", name);
}

static void *map_whole(const struct path_object *o, const char *name, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(find_map(o, name)), 0);

	if (p == MAP_FAILED)
		err(1, "map %s", name);
	return p;
}

/* The offset of a variable in a section. */
static size_t offset_of(const struct path_object *o, const char *section, const char *name)
{
	const struct btf *btf = bpf_object__btf(o->obj);
	int id = btf__find_by_name_kind(btf, section, BTF_KIND_DATASEC), i;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	for (i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_var_secinfo *v = btf_var_secinfos(t) + i;

		if (!strcmp(btf__name_by_offset(btf, btf__type_by_id(btf, v->type)->name_off),
			    name))
			return v->offset;
	}
	errx(1, "the object has no variable %s", name);
}

#define SET(o, name, type, value)                                                              \
	(*(type *)((uint8_t *)bpf_map__initial_value(find_map(o, ".rodata"), &(size_t){ 0 }) + \
		   offset_of(o, ".rodata", name)) = (value))
#define BSS(o, name, type) ((type *)((o)->bss + offset_of(o, ".bss", name)))

static struct wire_rings ring_layout(uint64_t size)
{
	return (struct wire_rings){ .bytes = size, .nr_parts = 1, .mask = size - 8 };
}

static void size_rings(struct path_object *o, uint64_t size)
{
	const struct wire_rings layout = ring_layout(size);
	struct bpf_map *parts = find_map(o, "ring_parts");

	if (size > WIRE_RING_PART)
		errx(1, "rings have at most %u bytes here", WIRE_RING_PART);
	SET(o, "ring_layout", struct wire_rings, layout);
	bpf_map__set_value_size(bpf_map__inner_map(parts), event_ring__part_bytes(&layout));
	bpf_map__set_max_entries(parts, o->nr_cpus);
}

static void set_settings(struct path_object *o, const struct path_setup *s,
			 const struct percpu_layout *l)
{
	SET(o, "nr_cpus", uint32_t, o->nr_cpus);
	SET(o, "self_tgid", uint32_t, getpid());
	SET(o, "kernel_stacks", bool, s->kernel_stacks);
	SET(o, "user_stacks", bool, false);
	SET(o, "sample_event", uint32_t, UINT32_MAX);
	SET(o, "percpu_preempt_count", uint32_t, l->preempt_count);
	SET(o, "percpu_prog_active", uint32_t, l->prog_active);
	if (l->perf_recursion != UINT32_MAX) {
		SET(o, "percpu_perf_recursion", uint32_t, l->perf_recursion);
		SET(o, "perf_recursion_size", uint32_t, l->perf_recursion_size);
	}
	bpf_map__set_max_entries(find_map(o, "counts"), o->nr_cpus);
	bpf_map__set_max_entries(find_map(o, "scratches"), o->nr_cpus);
	bpf_map__set_max_entries(find_map(o, "handovers"), o->nr_cpus);
	bpf_map__set_max_entries(find_map(o, "native_hits"), o->nr_cpus);
	size_rings(o, s->ring);
	bpf_map__set_autocreate(find_map(o, "__bpf_usdt_specs"), false);
	bpf_map__set_autocreate(find_map(o, "__bpf_usdt_ip_to_spec_id"), false);
}

/* raw_syscalls:sys_enter has a front in C, others the one with a hole. */
static bool has_own_front(const struct rec_event *e)
{
	return !strcmp(e->name, "sys_enter");
}

static const char *name_of(const struct path_object *o, const char *program)
{
	if (strcmp(program, PATH_FRONT))
		return program;
	return has_own_front(o->event) ? "native_sys_enter" : "native";
}

static struct bpf_program *find_program(const struct path_object *o, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(o->obj, name);

	if (!p)
		errx(1, "the object has no program %s", name);
	return p;
}

static void choose(struct path_object *o, const char *const *programs)
{
	struct bpf_program *p;
	size_t i;

	bpf_object__for_each_program(p, o->obj)
	{
		const char *name = bpf_program__name(p);
		bool wanted = !strcmp(name, "locate") || !strncmp(name, "kwalk_module", 12);

		for (i = 0; programs[i]; i++)
			wanted |= !strcmp(name_of(o, programs[i]), name);
		bpf_program__set_autoload(p, wanted);
	}
}

static void create_ring(struct path_object *o, unsigned int cpu, uint64_t size)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct event_ring *r = &o->rings[cpu];
	size_t bytes;
	int fd;

	r->layout = ring_layout(size);
	r->pos = &((struct wire_cpu *)(o->cpus +
				       cpu * bpf_map__value_size(find_map(o, "scratches"))))
			  ->ring;
	bytes = event_ring__part_bytes(&r->layout);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "path_ring", sizeof(uint32_t), bytes, 1, &opts);
	if (fd < 0 || bpf_map_update_elem(bpf_map__fd(find_map(o, "ring_parts")), &cpu, &fd, 0))
		err(1, "create the ring of CPU %u", cpu);
	r->parts = malloc(sizeof(*r->parts));
	if (!r->parts)
		err(1, "map the ring of CPU %u", cpu);
	r->parts[0] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->parts[0] == MAP_FAILED)
		err(1, "map the ring of CPU %u", cpu);
	close(fd);
}

static void locate(struct path_object *o, unsigned int cpu, const struct percpu_layout *l)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
	uint64_t rq;

	if (bpf_prog_test_run_opts(bpf_program__fd(find_program(o, "locate")), &run))
		err(1, "locate CPU %u", cpu);
	rq = BSS(o, "located_rq", uint64_t)[cpu];
	if (!rq || l->runqueues == UINT32_MAX || l->preempt_count == UINT32_MAX ||
	    l->prog_active == UINT32_MAX)
		errx(1, "the per-CPU variables of this kernel are unknown");
	BSS(o, "percpu_base", uint64_t)[cpu] = rq - l->runqueues;
}

struct path_object *path_object__load(const struct path_setup *s)
{
	struct path_object *o = calloc(1, sizeof(*o));
	struct percpu_layout layout;
	uint32_t zero = 0, cpu;

	if (!o || percpu__layout(rec_events__kernel_types(s->events), &layout))
		errx(1, "read the kernel's BTF");
	o->btf = rec_events__kernel_types(s->events);
	o->event = &s->events->v[0];
	o->nr_cpus = percpu__nr_cpus();
	o->rings = calloc(o->nr_cpus, sizeof(*o->rings));
	o->obj = bpf_object__open_file(s->file, NULL);
	if (!o->obj || !o->rings)
		err(1, "open '%s'", s->file);
	set_settings(o, s, &layout);
	choose(o, s->programs);
	if (kwalk__prepare(s->kwalk, o->obj) || bpf_object__load(o->obj) ||
	    kwalk__start(s->kwalk, o->obj))
		err(1, "load '%s'", s->file);
	o->counts = map_whole(o, "counts", o->nr_cpus * sizeof(*o->counts));
	o->cpus = map_whole(o, "scratches",
			    o->nr_cpus * bpf_map__value_size(find_map(o, "scratches")));
	o->bss = map_whole(o, ".bss", bpf_map__value_size(find_map(o, ".bss")));
	for (cpu = 0; cpu < o->nr_cpus; cpu++) {
		locate(o, cpu, &layout);
		create_ring(o, cpu, s->ring);
	}
	if (bpf_map_update_elem(bpf_map__fd(find_map(o, "descs")), &zero, &o->event->desc, 0))
		err(1, "describe the event");
	for (cpu = 0; cpu < o->nr_cpus; cpu++)
		o->counts[cpu].common_type = o->event->desc.common_type;
	BSS(o, "ctl", struct wire_ctl)->armed = 1;
	return o;
}

/* Writes the instructions that fill the event's record. */
static int fill_front(const struct path_object *o, struct bpf_insn *insns, size_t nr)
{
	const struct rec_event *e = o->event;
	char why[NATIVE_WHY] = "", *text = NULL;
	struct native_code code;
	int r = tracefs__format(e->system, e->name, &text) ?:
			native_code__make(e->system, e->name, e->fmt, text, o->btf,
					  native_code__reader(o->btf), &code, why);

	free(text);
	if (r)
		errx(1, "fill the record of %s: %s", e->name, why);
	return attach__set(insns, nr, WIRE_NATIVE_ROLE, WIRE_ROLE_ONLY)		  ?:
		       attach__set(insns, nr, WIRE_NATIVE_IRQS, code.event->irqs) ?:
		       native_code__fill_hole(insns, nr, &code);
}

static int load_front(const struct path_object *o, const struct bpf_program *p)
{
	size_t nr = bpf_program__insn_cnt(p);
	struct bpf_insn *insns;
	int r = attach__copy(p, 0, &insns);

	if (r)
		return r;
	if (!has_own_front(o->event))
		r = fill_front(o, insns, nr);
	if (!r)
		r = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "path_front", "GPL", insns, nr,
				  NULL);
	free(insns);
	return r;
}

/* The counter program and the fronts of the product are copied for each event. */
static int load_raw(const struct path_object *o, const struct bpf_program *p, const char *name)
{
	int fd;

	if (!strcmp(name, PATH_FRONT))
		fd = load_front(o, p);
	else if (!strcmp(name, "count"))
		fd = attach__load_counter(p, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, NULL);
	else
		return dup(bpf_program__fd(p));
	errno = -MIN(fd, 0);
	return fd;
}

static void set_tail(struct path_object *o, uint32_t tail, const char *program)
{
	int fd = bpf_program__fd(find_program(o, program));

	if (fd >= 0 && bpf_map_update_elem(bpf_map__fd(find_map(o, "tails")), &tail, &fd, 0))
		err(1, "call %s", program);
}

void path_object__set_end(struct path_object *o, const char *program)
{
	set_tail(o, WIRE_TAIL_END, program);
	set_tail(o, WIRE_TAIL_SLOW, "native_slow");
}

void path_object__attach(struct path_object *o, const char *program)
{
	const struct bpf_program *p = find_program(o, name_of(o, program));
	struct attached *a = &o->attached[o->nr_attached++];
	const struct rec_event *e = o->event;

	if (o->nr_attached > MAX_ATTACHED)
		errx(1, "attach %s: too many programs", program);
	a->program = p;
	if (bpf_program__type(p) == BPF_PROG_TYPE_TRACEPOINT) {
		LIBBPF_OPTS(bpf_tracepoint_opts, opts, .bpf_cookie = 0);

		a->link = bpf_program__attach_tracepoint_opts(p, e->system, e->name, &opts);
		a->prog_fd = bpf_program__fd(p);
		if (!a->link)
			err(1, "attach %s", program);
		return;
	}
	a->link = NULL;
	a->prog_fd = load_raw(o, p, program);
	a->link_fd = a->prog_fd < 0 ? -1 : bpf_raw_tracepoint_open(e->name, a->prog_fd);
	if (a->link_fd < 0)
		err(1, "attach %s", program);
}

void path_object__detach(struct path_object *o)
{
	while (o->nr_attached) {
		struct attached *a = &o->attached[--o->nr_attached];

		if (a->link) {
			bpf_link__destroy(a->link);
		} else {
			close(a->link_fd);
			close(a->prog_fd);
		}
	}
}

int path_object__run(const struct path_object *o, const char *program)
{
	uint64_t args[12] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (bpf_prog_test_run_opts(bpf_program__fd(find_program(o, program)), &run))
		err(1, "run %s", program);
	return run.retval;
}

void path_object__runs(const struct path_object *o, uint64_t *ret_runs, uint64_t *ret_ns)
{
	unsigned int i;

	*ret_runs = *ret_ns = 0;
	for (i = 0; i < o->nr_attached; i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);

		if (bpf_obj_get_info_by_fd(o->attached[i].prog_fd, &info, &len))
			err(1, "read the statistics of a program");
		*ret_runs = MAX(*ret_runs, info.run_cnt);
		*ret_ns += info.run_time_ns;
	}
}

struct event_counts *path_object__counts(const struct path_object *o, unsigned int cpu)
{
	return &o->counts[cpu];
}

uint64_t path_object__empty(const struct path_object *o, unsigned int cpu)
{
	struct event_ring *r = &o->rings[cpu];
	uint64_t sum = 0;
	char *records;
	int64_t len;

	while ((len = event_ring__peek(r, UINT32_MAX, &records)) > 0) {
		event_ring__remove(r, records, len);
		sum += len;
	}
	if (len < 0)
		errx(1, "the ring of CPU %u is damaged", cpu);
	return sum;
}
