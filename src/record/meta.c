// SPDX-License-Identifier: GPL-2.0-only
/* Writes the metadata of a recording. */
#include "meta.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#include "backend.h"
#include "cleanup.h"
#include "clock.h"
#include "log.h"
#include "memory.h"
#include "opts.h"
#include "record/kernel/cgroup_dir.h"
#include "record/kernel/percpu.h"
#include "record/kernel/task_list.h"
#include "record/kernel/tracefs.h"
#include "record/select/rec_event.h"
#include "slurp.h"
#include "strbuf.h"
#include "symbols/ksyms.h"
#include "trace/write/writer.h"
#include "wire.h"

/* Nothing is written after an error, so callers check err once, at the end. */
struct meta {
	struct stk_writer *w;
	int err;
};

static void put_text(struct meta *m, const char *key, const char *value)
{
	m->err = m->err ?: stk_writer__meta(m->w, key, value);
}

static void put(struct meta *m, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void put(struct meta *m, const char *key, const char *fmt, ...)
{
	char value[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	put_text(m, key, value);
}

static void put_number(struct meta *m, const char *key, uint64_t value)
{
	put(m, key, "%llu", (unsigned long long)value);
}

static void put_left_out(struct meta *m, const char *key, int err)
{
	m->err = m->err ?: stk_writer__meta_left_out(m->w, key, strerror(-err));
}

static void put_strbuf(struct meta *m, const char *key, const struct strbuf *b)
{
	m->err = m->err ?: meta__text(m->w, key, b);
}

/* Writes the first line of a file if it can be read. */
static void put_file(struct meta *m, const char *key, const char *path)
{
	char line[256];

	if (!slurp__line(path, line, sizeof(line)))
		put_text(m, key, line);
}

/* The kernel's own build id, from its ELF notes. */
static void put_build_id(struct meta *m)
{
	_cleanup_free_ char *notes = NULL;
	size_t at = 0, len, i;
	char text[129];

	if (slurp("/sys/kernel/notes", &notes, &len))
		return;
	while (at + sizeof(Elf64_Nhdr) <= len) {
		Elf64_Nhdr h;
		size_t desc;

		memcpy(&h, notes + at, sizeof(h));
		desc = at + sizeof(h) + ((h.n_namesz + 3u) & ~3u);
		if (desc > len || h.n_descsz > len - desc)
			return;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    !memcmp(notes + at + sizeof(h), "GNU", 4) && h.n_descsz <= 64) {
			for (i = 0; i < h.n_descsz; i++)
				sprintf(text + 2 * i, "%02x", (unsigned char)notes[desc + i]);
			put_text(m, "kernel.build_id", text);
			return;
		}
		at = desc + ((h.n_descsz + 3u) & ~3u);
	}
}

/* CONFIG_HZ: the coarse clock advances by one tick. */
static void put_hz(struct meta *m)
{
	struct timespec res;

	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &res) && !res.tv_sec && res.tv_nsec)
		put(m, "kernel.hz", "%ld", (1000000000 + res.tv_nsec / 2) / res.tv_nsec);
}

/* The strings that fields of some events point to. */
static void put_printk_formats(struct meta *m)
{
	_cleanup_free_ char *text = NULL;
	int err = tracefs__file("printk_formats", &text);

	if (err && err != -ENOENT)
		put_left_out(m, "printk_formats", err);
	else if (!err && *text)
		put_text(m, "printk_formats", text);
}

static void put_machine(struct meta *m, struct ksyms *syms)
{
	struct utsname u;
	struct ksym text;

	if (!uname(&u)) {
		put_text(m, "kernel.release", u.release);
		put_text(m, "kernel.version", u.version);
		put_text(m, "machine", u.machine);
		put_text(m, "hostname", u.nodename);
	}
	put_build_id(m);
	put_file(m, "boot_id", "/proc/sys/kernel/random/boot_id");
	if (!ksyms__by_name(syms, "_stext", &text)) {
		put(m, "kernel.text", "0x%llx", (unsigned long long)text.start);
		/* less the link address: CONFIG_PHYSICAL_START in __START_KERNEL_map */
		put(m, "kernel.kaslr_offset", "0x%llx",
		    (unsigned long long)(text.start - 0xffffffff81000000));
	}
	put_hz(m);
	put_printk_formats(m);
	put(m, "cpus", "%d", percpu__nr_cpus());
	put_file(m, "cpus.online", "/sys/devices/system/cpu/online");
	put_file(m, "sysctl.kernel.perf_event_max_stack", "/proc/sys/kernel/perf_event_max_stack");
	put_file(m, "sysctl.kernel.kptr_restrict", "/proc/sys/kernel/kptr_restrict");
	put_file(m, "sysctl.kernel.perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid");
	put_file(m, "sysctl.kernel.perf_event_max_sample_rate",
		 "/proc/sys/kernel/perf_event_max_sample_rate");
}

/* The recording's clock and the wall clock, read together. */
static void put_clock(struct meta *m, const struct recorder_opts *opts)
{
	uint64_t ts = recorder_opts__now(opts), wall = clock_ns(CLOCK_REALTIME);

	put_text(m, "clock", rec_clock__name(opts->clock));
	put_number(m, "clock.ts", ts);
	put_number(m, "clock.wall_ns", wall);
}

static void put_command_line(struct meta *m, const struct recorder_opts *opts)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	for (int i = 0; i < opts->argc; i++)
		strbuf__printf(&b, "%s%s", i ? " " : "", opts->argv[i]);
	put_strbuf(m, "cmdline", &b);
}

static void put_events_left_out(struct meta *m, const struct rec_events *events)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	for (unsigned int i = 0; i < events->nr_left_out; i++)
		strbuf__printf(&b, "%s%s (%s)", i ? ", " : "", events->left_out[i].name,
			       events->left_out[i].why);
	if (events->nr_left_out)
		put_strbuf(m, "events.left_out", &b);
}

/* "0-3,8" */
static void put_selected_cpus(struct meta *m, const struct recorder_opts *o)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	unsigned int first, cpu;

	for (cpu = 0; cpu < WIRE_MAX_CPUS; cpu++) {
		if (!recorder_opts__has_cpu(o, cpu))
			continue;
		first = cpu;
		while (cpu + 1 < WIRE_MAX_CPUS && recorder_opts__has_cpu(o, cpu + 1))
			cpu++;
		strbuf__printf(&b, first < cpu ? "%s%u-%u" : "%s%u", b.len ? "," : "", first, cpu);
	}
	put_strbuf(m, "selected.cpus", &b);
}

/* What the recording is limited to, beside processes: see recorder.c, write_target(). */
static void put_selected(struct meta *m, const struct recorder_opts *o)
{
	_cleanup_(strbuf__free) struct strbuf cgroups = { 0 }, uids = { 0 };
	unsigned int i;

	for (i = 0; i < o->nr_cgroups; i++)
		strbuf__printf(&cgroups, "%s%s", i ? ", " : "", o->cgroups[i].path);
	for (i = 0; i < o->nr_uids; i++)
		strbuf__printf(&uids, "%s%u", i ? "," : "", o->uids[i]);
	if (o->nr_cgroups)
		put_strbuf(m, "selected.cgroups", &cgroups);
	if (o->nr_uids)
		put_strbuf(m, "selected.uids", &uids);
	if (o->cpus)
		put_selected_cpus(m, o);
	if (o->delay_ns)
		put_number(m, "selected.delay_ms", o->delay_ns / 1000000);
}

static bool is_first_with_path(const struct rec_events *l, unsigned int nr)
{
	const struct probe *p = &l->v[nr].probe;
	unsigned int i;

	for (i = nr; i-- > 0;)
		if (l->v[i].probe.path && !strcmp(l->v[i].probe.path, p->path) &&
		    !strcmp(l->v[i].probe.given, p->given))
			return false;
	return true;
}

/* Events are found by the path that was given, too. */
static void put_probe_paths(struct meta *m, const struct rec_events *l)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	unsigned int i;

	for (i = 0; i < l->nr; i++) {
		const struct probe *p = &l->v[i].probe;

		if (p->path && strcmp(p->path, p->given) && is_first_with_path(l, i))
			strbuf__printf(&b, "%s\t%s\n", p->given, p->path);
	}
	if (b.len || strbuf__failed(&b))
		put_strbuf(m, "probe.paths", &b);
}

int meta__write(struct stk_writer *w, const struct recorder_opts *opts,
		const struct memory_plan *memory)
{
	struct meta m = { .w = w };

	put_text(&m, "recorder", "stackonce " STACKONCE_VERSION);
	put_text(&m, "backend", opts->backend == REC_BACKEND_FTRACE ? "ftrace" : "bpf");
	put_command_line(&m, opts);
	put_machine(&m, opts->syms);
	put_clock(&m, opts);
	if (opts->sample_hz)
		put_number(&m, "samples.hz", opts->sample_hz);
	put_number(&m, "limits.max_depth", opts->max_depth);
	put_number(&m, "limits.memory", memory->budget);
	put_number(&m, "limits.stack_map_bits", memory->stack_map_bits);
	put_number(&m, "limits.stack_pool", memory->stack_pool);
	put_number(&m, "limits.buffer_size", memory->ring);
	put_text(&m, "stack_map.generation", "1");
	put_selected(&m, opts);
	put_events_left_out(&m, opts->events);
	put_probe_paths(&m, opts->events);
	return m.err;
}

int meta__text(struct stk_writer *w, const char *key, const struct strbuf *text)
{
	return strbuf__failed(text) ? stk_writer__meta_left_out(w, key, strerror(ENOMEM)) :
				      stk_writer__meta(w, key, text->s ?: "");
}

/* ---- during the recording and at its end ----------------------------------------------------- */

/* Whether events of process lifecycles are recorded. */
static bool wants_tasks(const struct rec_events *l)
{
	unsigned int i;

	for (i = 0; i < l->nr; i++)
		if (!strcmp(l->v[i].system, "sched") &&
		    !strncmp(l->v[i].name, "sched_process_", 14))
			return true;
	return false;
}

struct meanwhile {
	int (*call)(void *ctx);
	void *ctx;
	int err;
};

static int call_meanwhile(void *ctx)
{
	struct meanwhile *m = ctx;

	m->err = m->call(m->ctx);
	return m->err;
}

int meta__tasks(struct stk_writer *w, const struct recorder_opts *opts, const char *when,
		int (*meanwhile)(void *ctx), void *ctx)
{
	uint64_t ts = recorder_opts__now(opts);
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	struct meanwhile mw = { .call = meanwhile, .ctx = ctx };
	struct meta m = { .w = w };
	char key[32];
	int err;

	if (!wants_tasks(opts->events))
		return 0;
	err = task_list__read("/proc", &text, call_meanwhile, &mw);
	if (mw.err)
		return mw.err;
	snprintf(key, sizeof(key), "tasks.%s", when);
	if (err) {
		log_warn("the recording has no list of the tasks at its %s: read /proc: %s", when,
			 strerror(-err));
		put_left_out(&m, key, err);
	} else {
		put_strbuf(&m, key, &text);
		snprintf(key, sizeof(key), "tasks.%s_ts", when);
		put_number(&m, key, ts);
	}
	return m.err ? log_err(m.err, "write the task list") : 0;
}

uint64_t meta__cpu_ns(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000000ull +
	       (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000ull;
}

int meta__numbers(struct stk_writer *w, const struct meta_number *rows, size_t nr)
{
	struct meta m = { .w = w };

	for (size_t i = 0; i < nr; i++)
		put_number(&m, rows[i].key, rows[i].value);
	return m.err;
}

int meta__costs(struct stk_writer *w, const struct backend_costs *costs, uint64_t start_cpu_ns)
{
	struct rusage ru;
	int err;

	getrusage(RUSAGE_SELF, &ru);
	const struct meta_number rows[] = {
		{ "cost.start_cpu_ns", start_cpu_ns },
		{ "cost.recorder_cpu_ns", meta__cpu_ns() },
		{ "cost.recorder_peak_bytes", ru.ru_maxrss * 1024ull },
		{ "cost.kernel_map_bytes", costs->map_bytes },
		{ "cost.kernel_program_bytes", costs->prog_bytes },
		{ "cost.load_ns", costs->load_ns },
		{ "cost.attach_ns", costs->attach_ns },
	};

	err = meta__numbers(w, rows, ARRAY_SIZE(rows));
	return err ? log_err(err, "write the costs of the recording") : 0;
}
