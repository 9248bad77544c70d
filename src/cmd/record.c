// SPDX-License-Identifier: GPL-2.0-only
/* stackonce record: the options of a recording. */
#include "cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/types.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "events/filter.h"
#include "log.h"
#include "presets.h"
#include "record/event.h"
#include "record/feature_table.h"
#include "record/filter_features.h"
#include "record/kernel_names.h"
#include "record/recorder.h"
#include "record/stop.h"
#include "record/target.h"
#include "record/tracefs.h"

#define DEFAULT_HZ 99
#define MAX_EVENT_OPTIONS 1024
#define MAX_PRESETS 16
#define MAX_PIDS 4096
/* Exit codes of a command that could not be run, as shells have them. */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

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

struct options {
	struct recorder_opts rec;
	struct event_option {
		const char *spec, *filter;
		char *any_of; /* filter made of several */
		bool optional; /* left out where this kernel does not have it */
	} events[MAX_EVENT_OPTIONS];
	unsigned int nr_events, nr_given; /* those given with -e come first */
	const struct preset *presets[MAX_PRESETS];
	unsigned int nr_presets;
	pid_t pids[MAX_PIDS];
	bool all, quiet, verbose, freq_given, user_stacks_given;
	bool backend_given; /* else it is chosen */
	bool user_cfi_given;
};

static int usage(const char *what, const char *value, int err)
{
	return cmd__usage_error("record", "%s '%s': %s", what, value,
				err == -ERANGE ? "out of range" :
				err == -ENOMEM ? "out of memory" :
						 "not understood");
}

static int parse_clock(const char *s, enum rec_clock *ret_clock)
{
	static const struct {
		const char *name;
		enum rec_clock clock;
	} clocks[] = {
		{ "mono", REC_CLOCK_MONO },
		{ "monotonic", REC_CLOCK_MONO },
		{ "CLOCK_MONOTONIC", REC_CLOCK_MONO },
		{ "boot", REC_CLOCK_BOOT },
		{ "boottime", REC_CLOCK_BOOT },
		{ "CLOCK_BOOTTIME", REC_CLOCK_BOOT },
		{ "tai", REC_CLOCK_TAI },
		{ "CLOCK_TAI", REC_CLOCK_TAI },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		if (!strcmp(s, clocks[i].name)) {
			*ret_clock = clocks[i].clock;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_pids(struct options *o, const char *arg)
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
		if (o->rec.nr_pids == MAX_PIDS)
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

static int parse_user_stacks(struct options *o, const char *how)
{
	if (how && strcmp(how, "cfi") && strcmp(how, "fp"))
		return cmd__usage_error("record", "--user-stacks '%s': cfi or fp", how);
	o->user_stacks_given = true;
	o->rec.user_stacks = o->rec.user_stacks_must = true;
	o->rec.user_fp_only = how && !strcmp(how, "fp");
	o->user_cfi_given = how && !o->rec.user_fp_only;
	return 0;
}

static int parse_backend(struct options *o, const char *name)
{
	o->backend_given = strcmp(name, "auto");
	o->rec.backend = strcmp(name, "ftrace") ? REC_BACKEND_BPF : REC_BACKEND_FTRACE;
	if (o->backend_given && strcmp(name, "bpf") && strcmp(name, "ftrace"))
		return cmd__usage_error("record", "--backend '%s': bpf, ftrace or auto", name);
	return 0;
}

static int parse_presets(struct options *o, const char *names)
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
		if (i == MAX_PRESETS)
			return cmd__usage_error("record", "more than %d presets", MAX_PRESETS);
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

static int parse_option(struct options *o, int c, char *arg, const char *word)
{
	int err;

	switch (c) {
	case 'e':
		if (o->nr_events == MAX_EVENT_OPTIONS)
			return cmd__usage_error("record", "more than %d -e", MAX_EVENT_OPTIONS);
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
		err = parse_clock(arg, &o->rec.clock);
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
static int add_preset_event(struct options *o, const struct preset_event *pe)
{
	struct event_option *e = o->events, *end = o->events + o->nr_events;
	char *any_of = NULL;

	while (e < end && strcmp(e->spec, pe->spec))
		e++;
	if (e == o->events + MAX_EVENT_OPTIONS)
		return cmd__usage_error("record", "more than %d -e", MAX_EVENT_OPTIONS);
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

static int add_presets(struct options *o)
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

static int parse_options(int argc, char **argv, struct options *o)
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

/* Settles which backend it is; 0, or the exit code after a message. */
static int choose_backend(struct options *o)
{
	const char *missing = features__missing_capability(), *refused = missing;

	if (o->rec.backend == REC_BACKEND_BPF && !refused && !o->backend_given)
		refused = features__bpf_refused();
	if (!o->backend_given && refused && tracefs__may_record() == 0) {
		if (!o->quiet)
			fprintf(stderr, "stackonce: BPF is refused here (%s): recording by ftrace\n",
				refused);
		o->rec.backend = REC_BACKEND_FTRACE;
	}
	if (o->rec.backend == REC_BACKEND_BPF && missing) {
		log_err(0, "recording needs %s; run as root, or see 'stackonce doctor'", missing);
		return CMD_FAILURE;
	}
	if (o->rec.backend == REC_BACKEND_BPF)
		return 0;
	if (tracefs__may_record()) {
		log_err(tracefs__may_record(), "ftrace: instances cannot be made in tracefs");
		return CMD_FAILURE;
	}
	if (o->user_cfi_given) {
		log_err(0, "unwind tables need BPF, not ftrace: --user-stacks=fp");
		return CMD_FAILURE;
	}
	if (o->rec.sample_hz) {
		log_err(0, "timer samples need BPF, not ftrace: name events with -e");
		return CMD_FAILURE;
	}
	return 0;
}

static bool has_tracepoint(const char *name, char **all, size_t nr)
{
	size_t i;

	for (i = 0; i < nr && strcmp(all[i], name); i++)
		;
	return i < nr;
}

/* Takes optional events off the list that this kernel does not have. */
static int drop_optional(struct options *o)
{
	unsigned int i, nr = 0;
	char **all;
	size_t nr_all;
	int err;

	err = tracefs__events(&all, &nr_all);
	if (err)
		return log_err(err, "read the list of tracepoints in tracefs");
	for (i = 0; i < o->nr_events; i++) {
		if (!o->events[i].optional || has_tracepoint(o->events[i].spec, all, nr_all))
			o->events[nr++] = o->events[i];
		else
			free(o->events[i].any_of);
	}
	o->nr_events = nr;
	tracefs__free_events(all, nr_all);
	return 0;
}

static int resolve_events(struct options *o, struct rec_events *events)
{
	_cleanup_(filter_features__clear) struct filter_features features = { 0 };
	bool probed = false;
	unsigned int i;
	int err;

	err = o->nr_presets ? drop_optional(o) : 0;
	if (err)
		return err;
	/* Presets' events first: a glob of -e then adds what is missing. */
	for (i = 0; i < o->nr_events; i++) {
		const struct event_option *e = &o->events[(o->nr_given + i) % o->nr_events];

		if (e->filter && !probed && !events->native) {
			filter_features__probe(o->rec.syms, &features);
			probed = true;
		}
		err = rec_events__add(events, e->spec, e->filter, &features);
		if (err)
			return err;
	}
	/* of a program's functions there is no other stack */
	for (i = 0; i < events->nr && !o->user_stacks_given; i++)
		o->rec.user_stacks = o->rec.user_stacks || events->v[i].desc.flags & DESC_USER;
	if (events->native && events->nr > 1)
		return rec_events__add_lost(events);
	if (!o->rec.sample_hz)
		return 0;
	o->rec.sample_event = events->nr;
	o->rec.sample_cycles = programs__has_cycles();
	return rec_events__add_sample(events, o->rec.sample_cycles ? "cycles" : "cpu-clock");
}

static void show_status(void *ctx, const char *line)
{
	fprintf(stderr, "\r\033[K%s", line);
	fflush(stderr);
}

static void report(const struct options *o, const struct rec_events *events,
		   const struct recorder_result *r)
{
	unsigned int i;

	if (o->rec.status)
		fputs("\r\033[K", stderr);
	for (i = 0; o->verbose && i < events->nr_left_out; i++)
		fprintf(stderr, "stackonce: left out %s: %s\n", events->left_out[i].name,
			events->left_out[i].why);
	if (events->nr_left_out && !o->verbose && !o->quiet)
		fprintf(stderr, "stackonce: %u events were left out, -v or 'info' lists them\n",
			events->nr_left_out);
	if (o->verbose)
		fprintf(stderr,
			"stackonce: loaded in %.0f ms, attached %u events in %.0f ms; kernel memory "
			"%.1f MiB, %.1f KiB an event\n",
			r->costs.load_ns / 1e6, events->nr, r->costs.attach_ns / 1e6,
			r->costs.map_bytes / 1048576.0,
			events->nr ? r->costs.prog_bytes / 1024.0 / events->nr : 0.0);
	if (!o->quiet)
		fprintf(stderr, "stackonce: %llu events, %llu stacks, %llu lost, %.1f KiB in %s\n",
			(unsigned long long)r->events, (unsigned long long)r->stacks,
			(unsigned long long)r->lost, r->bytes / 1024.0, o->rec.output);
	for (i = 0; i < o->nr_presets && !o->quiet && strcmp(o->rec.output, "-"); i++)
		fprintf(stderr, "stackonce: read it with 'stackonce %s %s'\n",
			o->presets[i]->answer, o->rec.output);
}

static int explain(const struct options *o, int err)
{
	const char *command = o->rec.command ? o->rec.command[0] : "";

	if (err <= -RECORDER_EXEC_FAILED) {
		err += RECORDER_EXEC_FAILED;
		/* of a file that is there it is what its first line or its header names */
		log_err(err, "cannot run '%s'%s", command,
			err == -ENOENT && !target__look_for(command) ? ", its interpreter" : "");
		return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	}
	return err == -EINTR && stop__signal() ? 128 + stop__signal() : CMD_FAILURE;
}

/* libbpf's messages, a verifier's log among them, are for -v; line by line. */
static int bpf_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	_cleanup_free_ char *text = NULL;
	char *line, *rest;
	int n;

	n = vasprintf(&text, fmt, ap);
	if (n < 0) {
		text = NULL;
		return 0;
	}
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (*line && level <= LIBBPF_WARN)
			log_debug("%s", line);
	return n;
}

int cmd_record(int argc, char **argv)
{
	static struct options o;
	struct rec_events events = { 0 };
	struct recorder_result result;
	struct kernel_names *names = NULL;
	int err;

	o.rec = (struct recorder_opts){
		.output = "trace.stk",
		.events = &events,
		.kernel_stacks = true,
		.symbols = true,
		.table_budget = 256 << 20,
		.max_depth = WIRE_MAX_FRAMES,
		.stack_map_bits = 16,
		.buffer_size = 8 << 20,
		.argc = argc,
		.argv = argv,
	};
	err = parse_options(argc, argv, &o);
	if (err)
		return err < 0 ? CMD_OK : err;
	cmd__set_log_level(o.verbose ? STK_LOG_DEBUG : o.quiet ? STK_LOG_ERROR : STK_LOG_WARN);
	libbpf_set_print(bpf_log);
	if (!o.quiet && isatty(STDERR_FILENO))
		o.rec.status = show_status;
	err = o.rec.command ? target__look_for(o.rec.command[0]) : 0;
	if (err)
		return explain(&o, err);
	stop__catch();
	err = choose_backend(&o);
	if (err)
		return err;
	events.native = o.rec.backend == REC_BACKEND_FTRACE;
	if (!features__initial_pids()) {
		log_err(0, "no recording in a PID namespace: its process ids are not those of the "
			   "kernel's events; use the host's");
		return CMD_FAILURE;
	}
	err = kernel_names__new(&names);
	if (!err) {
		o.rec.syms = events.syms = kernel_names__syms(names);
		err = resolve_events(&o, &events);
	}
	if (!err)
		err = recorder__run(&o.rec, &result);
	if (err)
		err = explain(&o, err);
	else
		report(&o, &events, &result);
	rec_events__clear(&events);
	kernel_names__free(names);
	return err ? err : result.exit_status;
}
