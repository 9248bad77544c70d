// SPDX-License-Identifier: GPL-2.0-only
/* stackonce record: parses the options. */
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/types.h>

#include "cleanup.h"
#include "log.h"
#include "ui/presets.h"
#include "ui/ui.h"
#include "wire.h"

#define DEFAULT_HZ 99

static int too_many_events(void)
{
	return ui__usage_error("record", "more than %d events are given", RECORD_MAX_EVENT_OPTIONS);
}

static int take_event(void *into, const struct opt *opt, const char *spec)
{
	struct record_options *o = into;

	if (o->nr_events == RECORD_MAX_EVENT_OPTIONS)
		return too_many_events();
	o->events[o->nr_events++].spec = spec;
	return 0;
}

static int take_filter(void *into, const struct opt *opt, const char *filter)
{
	struct record_options *o = into;

	if (!o->nr_events || o->events[o->nr_events - 1].filter)
		return ui__usage_error("record", "--filter must follow the -e that it applies to");
	o->events[o->nr_events - 1].filter = filter;
	return 0;
}

static int take_presets(void *into, const struct opt *opt, const char *names)
{
	struct record_options *o = into;

	return presets__add("record", names, o->presets, &o->nr_presets);
}

static int take_pids(void *into, const struct opt *opt, const char *list)
{
	_cleanup_free_ char *copy = strdup(list);
	struct record_options *o = into;
	char *one, *rest = copy;
	uint64_t pid;
	int err;

	if (!copy)
		return -ENOMEM;
	while ((one = strsep(&rest, ","))) {
		err = parse__u64(one, opt->min, opt->max, &pid);
		if (err)
			return err;
		if (o->rec.nr_pids == RECORD_MAX_PIDS)
			return ui__usage_error("record", "more than %d processes are given",
					       RECORD_MAX_PIDS);
		o->pids[o->rec.nr_pids++] = pid;
	}
	o->rec.pids = o->pids;
	return 0;
}

/* The size of a ring is a power of two, at least a page. */
static int take_buffer(void *into, const struct opt *opt, const char *arg)
{
	uint64_t size, rounded = sysconf(_SC_PAGESIZE);
	struct record_options *o = into;
	int err;

	err = parse__size(arg, 1, 1ull << 30, &size);
	if (err)
		return err;
	while (rounded < size)
		rounded *= 2;
	o->rec.buffer_size = rounded;
	return 0;
}

static int take_clock(void *into, const struct opt *opt, const char *name)
{
	struct record_options *o = into;

	return rec_clock__parse(name, &o->rec.clock);
}

enum { BY_CFI, BY_FP, BY_ANY /* --user-stacks without a value */ };

static int take_user_stacks(void *into, const struct opt *opt, const char *how)
{
	struct record_options *o = into;
	unsigned int walk = BY_ANY;

	if (how && opt__word(opt, how, &walk))
		return -EINVAL;
	o->user_stacks_given = true;
	o->rec.user_stacks = o->rec.user_stacks_required = true;
	o->rec.user_fp_only = walk == BY_FP;
	o->user_cfi_given = walk == BY_CFI;
	return 0;
}

static int take_call_graph(void *into, const struct opt *opt, const char *how)
{
	struct record_options *o = into;

	o->call_graph = true;
	return 0;
}

static int take_no_user_stacks(void *into, const struct opt *opt, const char *arg)
{
	struct record_options *o = into;

	o->user_stacks_given = true;
	o->rec.user_stacks = false;
	return 0;
}

/* clang-format off */
const struct opt record_options[] = {
	{ "-e, --event EVENT,...", "'sched:sched_switch', 'sched:*', 'sched'", OPT_FN(take_event) },
	{ "--filter EXPR", "filter for the -e before it, in the kernel's syntax",
	  OPT_FN(take_filter) },
	{ "--preset NAME,...", "the events for a question, see 'list --presets'",
	  OPT_FN(take_presets), PRESET_WORDS },
	{ "-F, --freq HZ", "take HZ timer samples a second on every CPU",
	  OPT_NUMBER(struct record_options, rec.sample_hz, 1, 100000) },
	{ "--idle", "keep timer samples of idle CPUs",
	  OPT_FLAG(struct record_options, rec.keep_idle) },
	{ "-a, --all-cpus", "record all tasks, also with a COMMAND",
	  OPT_FLAG(struct record_options, all) },
	{ "--include-self", "record stackonce's own events, too",
	  OPT_FLAG(struct record_options, rec.include_self) },
	{ "-p, --pid PID,...", "record only these processes, threads and children",
	  OPT_FN(take_pids), .min = 1, .max = WIRE_PID_WORDS * 64ull - 1,
	  .expects = "process ids" },
	{ "-G, --cgroup PATH", "record only tasks in or below this cgroup (v2)",
	  OPT_FN(record_select__cgroup), .expects = "a path" },
	{ "-u, --uid USER,...", "record only tasks of these users, names or ids",
	  OPT_FN(record_select__uids), .expects = "names or ids of users" },
	{ "-C, --cpu LIST", "record only events of these CPUs, as 0-3,8",
	  OPT_SET(struct record_options, cpus, WIRE_MAX_CPUS - 1) },
	{ "[COMMAND]", NULL, OPT_REST(struct record_options, rec.command) },
	{ "-o, --output FILE", "FILE (trace.stk) or - for stdout; renames an old one",
	  OPT_TEXT(struct record_options, rec.output) },
	{ "--force", "rename FILE even if it is not a recording",
	  OPT_FLAG(struct record_options, rec.force) },
	{ "-D, --delay MS", "begin to record MS ms after the start of COMMAND",
	  OPT_NUMBER(struct record_options, delay_ms, 0, UINT32_MAX) },
	{ "-d, --duration SECONDS", "stop after this time",
	  OPT_SECONDS(struct record_options, rec.duration_ns, UINT64_MAX) },
	{ "-k, --clock CLOCK", "%s", OPT_FN(take_clock), WORDS_OF(rec_clocks) },
	/* for the habit of perf */
	{ "-g, --stacks", NULL, OPT_FLAG(struct record_options, call_graph) },
	{ "--call-graph HOW", NULL, OPT_FN(take_call_graph) },
	{ "--max-depth N", "keep at most N frames of a stack (127)",
	  OPT_NUMBER(struct record_options, rec.max_depth, 1, WIRE_MAX_FRAMES) },
	{ "--no-kernel-stacks", "do not record kernel stacks",
	  OPT_OFF(struct record_options, rec.kernel_stacks) },
	{ "--kernel-unwind HOW", "%s; orc: by BPF programs, faster",
	  OPT_WORD(struct record_options, rec.kernel_unwind),
	  WORDS([REC_UNWIND_AUTO] = "auto", [REC_UNWIND_ORC] = "orc",
		[REC_UNWIND_KERNEL] = "kernel") },
	{ "--fields HOW", NULL, OPT_WORD(struct record_options, rec.fields),
	  WORDS([REC_FIELDS_AUTO] = "auto", [REC_FIELDS_NATIVE] = "native",
		[REC_FIELDS_KERNEL] = "kernel") },
	{ "--user-stacks[=HOW]", "record user stacks, by unwind tables (cfi) or frame pointers "
	  "(fp); cfi is the default with -p, -G, -u, a COMMAND or a probe in a program",
	  OPT_FN(take_user_stacks), WORDS([BY_CFI] = "cfi", [BY_FP] = "fp") },
	{ "--no-user-stacks", "do not record user stacks", OPT_FN(take_no_user_stacks) },
	{ "--waker-stacks", "with selected tasks: user stacks of their wakers, too",
	  OPT_FLAG(struct record_options, rec.waker_stacks) },
	{ "--no-symbols", "do not add symbols of user functions to the recording",
	  OPT_OFF(struct record_options, rec.symbols) },
	{ "--no-cache", "do not use or keep tables and symbols on disk",
	  OPT_OFF(struct record_options, cache) },
	{ "--memory SIZE", "kernel memory for the next four (1/64 of all memory)",
	  OPT_SIZE(struct record_options, rec.memory, 1 << 20, 1ull << 40) },
	{ "--unwind-memory SIZE", "limit of the unwind tables (32M to 256M)",
	  OPT_SIZE(struct record_options, rec.table_budget, 1 << 20, 1ull << 30) },
	{ "--stack-map-bits N", "log2 of the stacks the map holds, 10-22 (up to 16)",
	  OPT_NUMBER(struct record_options, rec.stack_map_bits, 10, 22) },
	{ "--stack-pool SIZE", "memory of the stack map for frames (160 bytes a stack)",
	  OPT_SIZE(struct record_options, rec.stack_pool, 64 << 10, 32ull << 30) },
	{ "--buffer-size SIZE", "size of each CPU's ring buffer (256K to 8M)",
	  OPT_FN(take_buffer),
	  .expects = "a size of at most 1G" },
	{ "--backend HOW", "%s; auto: ftrace if BPF is refused",
	  OPT_WORD(struct record_options, backend),
	  WORDS([BACKEND_AUTO] = "auto", [BACKEND_BPF] = "bpf", [BACKEND_FTRACE] = "ftrace") },
	{ "--fsync", "call fsync(2) after every write",
	  OPT_FLAG(struct record_options, rec.fsync) },
	{ "--live", "show hot functions, stacks or pairs while recording",
	  OPT_FLAG(struct record_options, live) },
	{ "-q, --quiet", "print errors only, no status line and no summary",
	  OPT_FLAG(struct record_options, quiet) },
	{ "-v, --verbose", "print memory, times of start and end, left out events",
	  OPT_FLAG(struct record_options, verbose) },
	HELP_OPTION
};
/* clang-format on */

/* If several presets have the event, it is recorded if any of their filters matches. */
static int add_preset_event(struct record_options *o, const struct preset_event *pe)
{
	struct event_option *e = o->events, *end = o->events + o->nr_events;
	char *any_of = NULL;

	while (e < end && strcmp(e->spec, pe->spec))
		e++;
	if (e == o->events + RECORD_MAX_EVENT_OPTIONS)
		return too_many_events();
	if (e == end) {
		*e = (struct event_option){ .spec = pe->spec,
					    .filter = pe->filter,
					    .optional = pe->optional };
		o->nr_events++;
		return 0;
	}
	if (e->filter && pe->filter && strcmp(e->filter, pe->filter) &&
	    asprintf(&any_of, "(%s) || (%s)", e->filter, pe->filter) < 0) {
		log_err(-ENOMEM, "join the filters of '%s'", pe->spec);
		return CMD_FAILURE;
	}
	if (any_of || !pe->filter)
		e->filter = any_of;
	free(e->any_of);
	e->any_of = any_of;
	e->optional = e->optional && pe->optional;
	return 0;
}

static int add_presets(struct record_options *o)
{
	const struct preset_event *e;
	unsigned int i;
	int code = 0;

	o->nr_given = o->nr_events;
	for (i = 0; i < o->nr_presets; i++) {
		for (e = o->presets[i]->events; e->spec && !code; e++)
			code = add_preset_event(o, e);
		o->rec.include_self |= o->presets[i]->include_self;
		if (!o->user_stacks_given && o->presets[i]->user_stacks)
			o->rec.user_stacks = true;
	}
	return code;
}

/* Not a pipe, and not our standard output, which the view writes to, too. */
static bool is_file(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-") || !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6))
		return false;
	return stat(path, &st) || S_ISREG(st.st_mode);
}

int record_options__parse(int argc, char **argv, struct record_options *o)
{
	int err = options__parse(&cmd_record, argc, argv, o);

	if (err)
		return err;
	o->rec.backend = o->backend == BACKEND_FTRACE ? REC_BACKEND_FTRACE : REC_BACKEND_BPF;
	o->rec.command_only = o->rec.command && !o->all;
	o->rec.delay_ns = o->delay_ms * 1000000;
	if (o->rec.nr_pids && (o->all || o->rec.command))
		return ui__usage_error("record", "-p excludes -a and a COMMAND");
	if (o->live && !is_file(o->rec.output))
		return ui__usage_error("record", "--live reads the recording while it grows: -o "
						 "must be a file");
	if (!o->user_stacks_given)
		o->rec.user_stacks =
			o->rec.command || o->rec.nr_pids || o->nr_cgroups || o->rec.nr_uids;
	err = add_presets(o);
	if (err)
		return err;
	if (!o->nr_events && !o->rec.sample_hz)
		o->rec.sample_hz = DEFAULT_HZ;
	return 0;
}
