// SPDX-License-Identifier: GPL-2.0-only
/* Writes the metadata of a recording. */
#include "meta.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "cleanup.h"
#include "clock.h"
#include "log.h"
#include "opts.h"
#include "record/kernel/percpu.h"
#include "record/kernel/task_list.h"
#include "record/kernel/tracefs.h"
#include "record/select/rec_event.h"
#include "strbuf.h"
#include "symbols/ksyms.h"
#include "trace/write/writer.h"

static int put(struct stk_writer *w, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int put(struct stk_writer *w, const char *key, const char *fmt, ...)
{
	char value[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	return stk_writer__meta(w, key, value);
}

/* The first line of a file, if it can be read. */
static int put_file(struct stk_writer *w, const char *key, const char *path)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[256];

	if (!f || !fgets(line, sizeof(line), f))
		return 0;
	line[strcspn(line, "\n")] = '\0';
	return stk_writer__meta(w, key, line);
}

/* The kernel's own build id, from its ELF notes. */
static int put_build_id(struct stk_writer *w)
{
	_cleanup_close_ int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	char notes[4096], text[129];
	size_t at = 0, len, i;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, notes, sizeof(notes));
	len = n < 0 ? 0 : n;
	while (at + sizeof(Elf64_Nhdr) <= len) {
		Elf64_Nhdr h;
		size_t desc;

		memcpy(&h, notes + at, sizeof(h));
		desc = at + sizeof(h) + ((h.n_namesz + 3u) & ~3u);
		if (desc > len || h.n_descsz > len - desc)
			return 0;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    !memcmp(notes + at + sizeof(h), "GNU", 4) && h.n_descsz <= 64) {
			for (i = 0; i < h.n_descsz; i++)
				sprintf(text + 2 * i, "%02x", (unsigned char)notes[desc + i]);
			return stk_writer__meta(w, "kernel.build_id", text);
		}
		at = desc + ((h.n_descsz + 3u) & ~3u);
	}
	return 0;
}

/* One tick of the kernel, which the coarse clock moves by. */
static int put_hz(struct stk_writer *w)
{
	struct timespec res;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &res) || res.tv_sec || !res.tv_nsec)
		return 0;
	return put(w, "kernel.hz", "%ld", (1000000000 + res.tv_nsec / 2) / res.tv_nsec);
}

/* Strings that fields of some events point to. */
static int put_printk_formats(struct stk_writer *w)
{
	_cleanup_free_ char *text = NULL;

	if (tracefs__file("printk_formats", &text) || !*text)
		return 0;
	return stk_writer__meta(w, "printk_formats", text);
}

static int put_machine(struct stk_writer *w, struct ksyms *syms)
{
	struct utsname u;
	struct ksym text;
	int err = 0;

	if (!uname(&u)) {
		err = put(w, "kernel.release", "%s", u.release);
		err = err ? err : put(w, "kernel.version", "%s", u.version);
		err = err ? err : put(w, "machine", "%s", u.machine);
		err = err ? err : put(w, "hostname", "%s", u.nodename);
	}
	err = err ? err : put_build_id(w);
	err = err ? err : put_file(w, "boot_id", "/proc/sys/kernel/random/boot_id");
	if (!err && !ksyms__by_name(syms, "_stext", &text)) {
		err = put(w, "kernel.text", "0x%llx", (unsigned long long)text.start);
		/* the address it is linked for: CONFIG_PHYSICAL_START in __START_KERNEL_map */
		err = err ? err :
			    put(w, "kernel.kaslr_offset", "0x%llx",
				(unsigned long long)(text.start - 0xffffffff81000000));
	}
	err = err ? err : put_hz(w);
	err = err ? err : put_printk_formats(w);
	err = err ? err : put(w, "cpus", "%d", percpu__nr_cpus());
	err = err ? err : put_file(w, "cpus.online", "/sys/devices/system/cpu/online");
	err = err ? err :
		    put_file(w, "sysctl.kernel.perf_event_max_stack",
			     "/proc/sys/kernel/perf_event_max_stack");
	err = err ? err :
		    put_file(w, "sysctl.kernel.kptr_restrict", "/proc/sys/kernel/kptr_restrict");
	err = err ? err :
		    put_file(w, "sysctl.kernel.perf_event_paranoid",
			     "/proc/sys/kernel/perf_event_paranoid");
	err = err ? err :
		    put_file(w, "sysctl.kernel.perf_event_max_sample_rate",
			     "/proc/sys/kernel/perf_event_max_sample_rate");
	return err;
}

/* The recording's clock read beside the wall clock. */
static int put_clock(struct stk_writer *w, const struct recorder_opts *opts)
{
	uint64_t ts = rec_clock__ns(opts->clock), wall = clock_ns(CLOCK_REALTIME);
	int err;

	err = put(w, "clock", "%s", rec_clock__name(opts->clock));
	err = err ? err : put(w, "clock.ts", "%llu", (unsigned long long)ts);
	err = err ? err : put(w, "clock.wall_ns", "%llu", (unsigned long long)wall);
	return err;
}

static int put_command_line(struct stk_writer *w, const struct recorder_opts *opts)
{
	struct strbuf b = { 0 };
	int i, err;

	for (i = 0; i < opts->argc; i++) {
		if (i)
			strbuf__putc(&b, ' ');
		strbuf__puts(&b, opts->argv[i]);
	}
	err = strbuf__failed(&b) ? -ENOMEM : stk_writer__meta(w, "cmdline", b.s ? b.s : "");
	strbuf__free(&b);
	return err;
}

static int put_left_out(struct stk_writer *w, const struct rec_events *events)
{
	struct strbuf b = { 0 };
	unsigned int i;
	int err = 0;

	for (i = 0; i < events->nr_left_out; i++)
		strbuf__printf(&b, "%s%s (%s)", i ? ", " : "", events->left_out[i].name,
			       events->left_out[i].why);
	if (strbuf__failed(&b))
		err = -ENOMEM;
	else if (b.len)
		err = stk_writer__meta(w, "events.left_out", b.s);
	strbuf__free(&b);
	return err;
}

int meta__write(struct stk_writer *w, const struct recorder_opts *opts, struct ksyms *syms,
		const struct rec_events *events)
{
	int err;

	err = put(w, "recorder", "stackonce %s", STACKONCE_VERSION);
	err = err ? err :
		    put(w, "backend", "%s", opts->backend == REC_BACKEND_FTRACE ? "ftrace" : "bpf");
	err = err ? err : put_command_line(w, opts);
	err = err ? err : put_machine(w, syms);
	err = err ? err : put_clock(w, opts);
	err = err ? err : put(w, "limits.max_depth", "%u", opts->max_depth);
	err = err ? err : put(w, "limits.stack_map_bits", "%u", opts->stack_map_bits);
	err = err ? err : put(w, "limits.stack_pool", "%llu", (unsigned long long)opts->stack_pool);
	err = err ? err : put(w, "limits.buffer_size", "%llu", (unsigned long long)opts->buffer_size);
	err = err ? err : put(w, "stack_map.generation", "1");
	err = err ? err : put_left_out(w, events);
	return err;
}

/* ---- while recording, and at its end ----------------------------------------------------------- */

/* Events that tell how processes live and end are recorded. */
static bool wants_tasks(const struct rec_events *l)
{
	unsigned int i;

	for (i = 0; i < l->nr; i++)
		if (!strcmp(l->v[i].system, "sched") && !strncmp(l->v[i].name, "sched_process_", 14))
			return true;
	return false;
}

int meta__tasks(struct stk_writer *w, const struct recorder_opts *opts, const char *when)
{
	uint64_t ts = rec_clock__ns(opts->clock);
	struct strbuf text = { 0 };
	char key[32], value[32];
	int err;

	if (!wants_tasks(opts->events))
		return 0;
	err = task_list__read(&text);
	snprintf(key, sizeof(key), "tasks.%s", when);
	if (!err)
		err = stk_writer__meta(w, key, text.s ? text.s : "");
	strbuf__free(&text);
	snprintf(key, sizeof(key), "tasks.%s_ts", when);
	snprintf(value, sizeof(value), "%llu", (unsigned long long)ts);
	if (!err)
		err = stk_writer__meta(w, key, value);
	return err ? log_err(err, "the tasks that there are") : 0;
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
	char text[32];
	int err = 0;
	size_t i;

	for (i = 0; i < nr && !err; i++) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)rows[i].value);
		err = stk_writer__meta(w, rows[i].key, text);
	}
	return err;
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
	return err ? log_err(err, "write the cost") : 0;
}
