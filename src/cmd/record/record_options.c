// SPDX-License-Identifier: GPL-2.0-only
/* stackonce record: the options of a recording. */
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/types.h>

#include "cleanup.h"
#include "ui/presets.h"
#include "ui/ui.h"
#include "wire.h"

#define DEFAULT_HZ 99

static const char help[] =
	"Usage: stackonce record [OPTIONS] [-a | -p PID,... | [--] COMMAND [ARGS]]\n"
	"Records events with their call stacks; timer samples unless -e is given.\n\n"
	"  -e, --event EVENT       'sched:sched_switch', 'sched:*', 'sched'\n"
	"      --filter EXPR       of the -e before it, in the kernel's filter syntax\n"
	"      --preset NAME[,NAME]  the events for a question, see 'list --presets'\n"
	"  -F, --freq HZ           timer samples so often on every CPU\n"
	"      --idle              keep timer samples of idle CPUs\n"
	"  -a, --all-cpus          everybody's events, also with a COMMAND\n"
	"      --include-self      and stackonce's own\n"
	"  -p, --pid PID[,PID]     only these processes, their threads and children\n"
	"  -o, --output FILE       (trace.stk); an old one becomes FILE.old; - is stdout\n"
	"      --force             also if it is no recording\n"
	"  -d, --duration SECONDS  stop after so long\n"
	"  -k, --clock CLOCK       mono, boot or tai\n"
	"      --max-depth N       frames kept of a stack (127)\n"
	"      --no-kernel-stacks  without the kernel's\n"
	"      --kernel-unwind HOW  orc (our own walk, faster), kernel, or auto\n"
	"      --user-stacks[=HOW] also the programs', by unwind tables (cfi) or frame\n"
	"                          pointers (fp); cfi is the default with -p, a COMMAND\n"
	"                          or a probe in a program\n"
	"      --no-user-stacks    not these\n"
	"      --no-symbols        do not put the programs' symbols into the recording\n"
	"      --unwind-memory SIZE  kernel memory for unwind tables (256M)\n"
	"      --stack-map-bits N  log2 of the distinct stacks the map holds, 10-22 (16)\n"
	"      --stack-pool SIZE   its memory for frames (160 bytes for each)\n"
	"      --buffer-size SIZE  of each CPU's ring (8M)\n"
	"      --backend HOW       bpf, ftrace, or auto: ftrace where BPF is refused\n"
	"      --fsync             after every write\n"
	"  -q, --quiet             no status line, only errors\n"
	"  -v, --verbose           load time and kernel memory\n";

enum {
	OPT_FILTER = 256,
	OPT_PRESET,
	OPT_IDLE,
	OPT_INCLUDE_SELF,
	OPT_MAX_DEPTH,
	OPT_NO_KERNEL_STACKS,
	OPT_KERNEL_UNWIND,
	OPT_MAP_BITS,
	OPT_POOL,
	OPT_BUFFER,
	OPT_FSYNC,
	OPT_USER_STACKS,
	OPT_NO_USER_STACKS,
	OPT_NO_SYMBOLS,
	OPT_UNWIND_MEMORY,
	OPT_BACKEND,
	OPT_FORCE,
};

static const struct option longopts[] = {
	{ "event", required_argument, NULL, 'e' },
	{ "filter", required_argument, NULL, OPT_FILTER },
	{ "preset", required_argument, NULL, OPT_PRESET },
	{ "freq", required_argument, NULL, 'F' },
	{ "idle", no_argument, NULL, OPT_IDLE },
	{ "all-cpus", no_argument, NULL, 'a' },
	{ "include-self", no_argument, NULL, OPT_INCLUDE_SELF },
	{ "pid", required_argument, NULL, 'p' },
	{ "output", required_argument, NULL, 'o' },
	{ "duration", required_argument, NULL, 'd' },
	{ "clock", required_argument, NULL, 'k' },
	{ "max-depth", required_argument, NULL, OPT_MAX_DEPTH },
	{ "no-kernel-stacks", no_argument, NULL, OPT_NO_KERNEL_STACKS },
	{ "kernel-unwind", required_argument, NULL, OPT_KERNEL_UNWIND },
	{ "user-stacks", optional_argument, NULL, OPT_USER_STACKS },
	{ "no-user-stacks", no_argument, NULL, OPT_NO_USER_STACKS },
	{ "no-symbols", no_argument, NULL, OPT_NO_SYMBOLS },
	{ "unwind-memory", required_argument, NULL, OPT_UNWIND_MEMORY },
	{ "stack-map-bits", required_argument, NULL, OPT_MAP_BITS },
	{ "stack-pool", required_argument, NULL, OPT_POOL },
	{ "buffer-size", required_argument, NULL, OPT_BUFFER },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "fsync", no_argument, NULL, OPT_FSYNC },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static int usage(const char *what, const char *value, int err)
{
	return cmd__usage_error("record", "%s '%s': %s", what, value,
				err == -ERANGE ? "out of range" :
				err == -ENOMEM ? "out of memory" :
						 "not understood");
}

static int parse_pids(struct record_options *o, const char *arg)
{
	_cleanup_free_ char *copy = strdup(arg);
	char *one, *rest = copy;
	uint64_t pid;
	int err;

	if (!copy)
		return -ENOMEM;
	while ((one = strsep(&rest, ","))) {
		err = parse__u64(one, 1, WIRE_PID_WORDS * 64ull - 1, &pid);
		if (err)
			return err;
		if (o->rec.nr_pids == RECORD_MAX_PIDS)
			return -ERANGE;
		o->pids[o->rec.nr_pids++] = pid;
	}
	o->rec.pids = o->pids;
	return 0;
}

/* A ring is a power of two of at least a page. */
static int parse_buffer(const char *arg, uint64_t *ret_size)
{
	uint64_t size, rounded = sysconf(_SC_PAGESIZE);
	int err;

	err = parse__size(arg, 1, 1ull << 30, &size);
	if (err)
		return err;
	while (rounded < size)
		rounded *= 2;
	*ret_size = rounded;
	return 0;
}

static int parse_user_stacks(struct record_options *o, const char *how)
{
	if (how && strcmp(how, "cfi") && strcmp(how, "fp"))
		return cmd__usage_error("record", "--user-stacks '%s': cfi or fp", how);
	o->user_stacks_given = true;
	o->rec.user_stacks = o->rec.user_stacks_must = true;
	o->rec.user_fp_only = how && !strcmp(how, "fp");
	o->user_cfi_given = how && !o->rec.user_fp_only;
	return 0;
}

static int parse_kernel_unwind(struct record_options *o, const char *how)
{
	static const char *const names[] = {
		[REC_UNWIND_AUTO] = "auto",
		[REC_UNWIND_ORC] = "orc",
		[REC_UNWIND_KERNEL] = "kernel",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(how, names[i]))
			continue;
		o->rec.kernel_unwind = i;
		return 0;
	}
	return cmd__usage_error("record", "--kernel-unwind '%s': orc, kernel or auto", how);
}

static int parse_backend(struct record_options *o, const char *name)
{
	o->backend_given = strcmp(name, "auto");
	o->rec.backend = strcmp(name, "ftrace") ? REC_BACKEND_BPF : REC_BACKEND_FTRACE;
	if (o->backend_given && strcmp(name, "bpf") && strcmp(name, "ftrace"))
		return cmd__usage_error("record", "--backend '%s': bpf, ftrace or auto", name);
	return 0;
}

static int parse_presets(struct record_options *o, const char *names)
{
	_cleanup_free_ char *copy = strdup(names);
	char *one, *rest = copy;
	unsigned int i;

	if (!copy)
		return usage("preset", names, -ENOMEM);
	while ((one = strsep(&rest, ","))) {
		const struct preset *p = preset__find(one);

		if (!p)
			return cmd__usage_error(
				"record", "there is no preset '%s', see 'stackonce list --presets'",
				one);
		for (i = 0; i < o->nr_presets && o->presets[i] != p; i++)
			;
		if (i == RECORD_MAX_PRESETS)
			return cmd__usage_error("record", "more than %d presets", RECORD_MAX_PRESETS);
		o->presets[i] = p;
		o->nr_presets = MAX(o->nr_presets, i + 1);
	}
	return 0;
}

static int parse_number(int c, const char *arg, struct recorder_opts *rec)
{
	uint64_t v;
	int err;

	switch (c) {
	case 'F':
		err = parse__u64(arg, 1, 100000, &v);
		rec->sample_hz = err ? 0 : v;
		return err;
	case 'd':
		return parse__seconds(arg, &rec->duration_ns);
	case OPT_MAX_DEPTH:
		err = parse__u64(arg, 1, WIRE_MAX_FRAMES, &v);
		rec->max_depth = err ? 0 : v;
		return err;
	case OPT_MAP_BITS:
		err = parse__u64(arg, 10, 22, &v);
		rec->stack_map_bits = err ? 0 : v;
		return err;
	case OPT_UNWIND_MEMORY:
		return parse__size(arg, 1 << 20, 1ull << 30, &rec->table_budget);
	case OPT_POOL:
		return parse__size(arg, 64 << 10, 32ull << 30, &rec->stack_pool);
	default:
		return parse_buffer(arg, &rec->buffer_size);
	}
}

static int parse_option(struct record_options *o, int c, char *arg, const char *word)
{
	int err;

	switch (c) {
	case 'e':
		if (o->nr_events == RECORD_MAX_EVENT_OPTIONS)
			return cmd__usage_error("record", "more than %d -e",
						RECORD_MAX_EVENT_OPTIONS);
		o->events[o->nr_events++].spec = arg;
		return 0;
	case OPT_FILTER:
		if (!o->nr_events || o->events[o->nr_events - 1].filter)
			return cmd__usage_error("record", "--filter follows the -e it is for");
		o->events[o->nr_events - 1].filter = arg;
		return 0;
	case OPT_PRESET:
		return parse_presets(o, arg);
	case 'p':
		err = parse_pids(o, arg);
		return err ? usage("process id", arg, err) : 0;
	case 'k':
		err = rec_clock__parse(arg, &o->rec.clock);
		return err ? usage("clock", arg, err) : 0;
	case 'o':
		o->rec.output = arg;
		return 0;
	case 'a':
		o->all = true;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case OPT_IDLE:
		o->rec.keep_idle = true;
		return 0;
	case OPT_INCLUDE_SELF:
		o->rec.include_self = true;
		return 0;
	case OPT_NO_KERNEL_STACKS:
		o->rec.kernel_stacks = false;
		return 0;
	case OPT_KERNEL_UNWIND:
		return parse_kernel_unwind(o, arg);
	case OPT_FORCE:
		o->rec.force = true;
		return 0;
	case OPT_FSYNC:
		o->rec.fsync = true;
		return 0;
	case OPT_USER_STACKS:
		return parse_user_stacks(o, arg);
	case OPT_NO_USER_STACKS:
		o->user_stacks_given = true;
		o->rec.user_stacks = false;
		return 0;
	case OPT_BACKEND:
		return parse_backend(o, arg);
	case OPT_NO_SYMBOLS:
		o->rec.symbols = false;
		return 0;
	default:
		err = parse_number(c, arg, &o->rec);
		return err ? usage(word, arg, err) : 0;
	}
}

/* An event that several want is recorded where the filter of any of them says so. */
static int add_preset_event(struct record_options *o, const struct preset_event *pe)
{
	struct event_option *e = o->events, *end = o->events + o->nr_events;
	char *any_of = NULL;

	while (e < end && strcmp(e->spec, pe->spec))
		e++;
	if (e == o->events + RECORD_MAX_EVENT_OPTIONS)
		return cmd__usage_error("record", "more than %d -e", RECORD_MAX_EVENT_OPTIONS);
	if (e == end) {
		*e = (struct event_option){ .spec = pe->spec,
					    .filter = pe->filter,
					    .optional = pe->optional };
		o->nr_events++;
		return 0;
	}
	if (e->filter && pe->filter && strcmp(e->filter, pe->filter) &&
	    asprintf(&any_of, "(%s) || (%s)", e->filter, pe->filter) < 0)
		return usage("filter", pe->filter, -ENOMEM);
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

int record_options__parse(int argc, char **argv, struct record_options *o)
{
	int c, err;

	while ((c = cmd__getopt(argc, argv, "+e:F:ap:o:d:k:qvh", longopts)) != -1) {
		const struct option *l = longopts;

		if (c == 'h')
			return cmd__print(help) == CMD_OK ? -1 : CMD_FAILURE;
		if (c == '?')
			return CMD_USAGE;
		while (l->name && l->val != c)
			l++;
		err = parse_option(o, c, optarg, l->name);
		if (err)
			return err;
	}
	if (optind < argc)
		o->rec.command = &argv[optind];
	o->rec.command_only = o->rec.command && !o->all;
	if (o->rec.nr_pids && (o->all || o->rec.command))
		return cmd__usage_error("record", "-p goes neither with -a nor with a COMMAND");
	if (!o->user_stacks_given)
		o->rec.user_stacks = o->rec.command || o->rec.nr_pids;
	err = add_presets(o);
	if (err)
		return err;
	if (!o->nr_events && !o->rec.sample_hz)
		o->rec.sample_hz = DEFAULT_HZ;
	return 0;
}
