// SPDX-License-Identifier: GPL-2.0-only
/* stackonce record: chooses the backend, resolves the events, records and prints a summary. */
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "events/filter.h"
#include "log.h"
#include "record/kernel/feature_table.h"
#include "record/kernel/filter_features.h"
#include "record/cache/cache_dir.h"
#include "record/kernel/kernel_names.h"
#include "record/kernel/tracefs.h"
#include "record/phases.h"
#include "record/select/rec_event.h"
#include "record/stop.h"
#include "record/target.h"
#include "record_live.h"
#include "text.h"
#include "ui/ui.h"

/* Exit codes if COMMAND cannot be run, as in shells. */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

/* Chooses the backend: 0, or the exit code after a message. */
static int choose_backend(struct record_options *o)
{
	_cleanup_free_ char *missing = features__missing_capabilities();
	const char *refused = missing;

	if (o->rec.backend == REC_BACKEND_BPF && !refused && o->backend == BACKEND_AUTO)
		refused = features__bpf_refused();
	if (o->backend == BACKEND_AUTO && refused && tracefs__may_record() == 0) {
		if (!o->quiet)
			fprintf(stderr,
				"stackonce: BPF is refused here (%s): recording with ftrace\n",
				refused);
		o->rec.backend = REC_BACKEND_FTRACE;
	}
	if (o->rec.backend == REC_BACKEND_BPF && missing) {
		log_err(0, "recording needs %s: run as root, or see 'stackonce doctor'", missing);
		return CMD_FAILURE;
	}
	if (o->rec.backend == REC_BACKEND_BPF)
		return 0;
	if (tracefs__may_record()) {
		log_err(tracefs__may_record(),
			"recording with ftrace creates an instance in tracefs: run as root");
		return CMD_FAILURE;
	}
	if (o->user_cfi_given) {
		log_err(0, "unwind tables need BPF: with ftrace, use --user-stacks=fp");
		return CMD_FAILURE;
	}
	if (o->rec.kernel_unwind == REC_UNWIND_ORC) {
		log_err(0, "ORC unwinding needs BPF: with ftrace, use --kernel-unwind kernel");
		return CMD_FAILURE;
	}
	if (o->rec.fields == REC_FIELDS_NATIVE) {
		log_err(0, "--fields native needs BPF: the kernel fills the records of ftrace");
		return CMD_FAILURE;
	}
	if (o->nr_cgroups || o->rec.nr_uids) {
		log_err(0, "%s needs BPF: ftrace selects tasks by their ids only, with -p",
			o->nr_cgroups ? "--cgroup" : "--uid");
		return CMD_FAILURE;
	}
	if (o->rec.sample_hz) {
		log_err(0, "timer samples need BPF: with ftrace, give events with -e");
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

/* Removes optional events that this kernel lacks. */
static int drop_optional(struct record_options *o)
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

static int resolve_events(struct record_options *o, struct rec_events *events)
{
	_cleanup_(filter_features__clear) struct filter_features features = { 0 };
	bool probed = false;
	unsigned int i;
	int err;

	err = o->nr_presets ? drop_optional(o) : 0;
	if (err)
		return err;
	/* The events of presets come first: a glob of -e then adds the missing ones. */
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
	/* Events of a program's functions need the user stack. */
	for (i = 0; i < events->nr && !o->user_stacks_given; i++)
		o->rec.user_stacks = o->rec.user_stacks || events->v[i].desc.flags & DESC_USER;
	if (events->native && events->nr > 1)
		return rec_events__add_lost(events);
	if (!o->rec.sample_hz)
		return 0;
	o->rec.sample_event = events->nr;
	o->rec.sample_cycles = features__cycles();
	return rec_events__add_sample(events, o->rec.sample_cycles ? "cycles" : "cpu-clock");
}

/* The answer to these is incomplete or empty. */
static void warn_selected(const struct record_options *o)
{
	bool by_id = recorder_opts__selects_tasks(&o->rec);
	unsigned int i;

	for (i = 0; i < o->nr_presets && (by_id || o->nr_cgroups || o->rec.nr_uids); i++)
		if (o->presets[i]->needs_all)
			log_warn("preset '%s' needs %s: %s, but %s", o->presets[i]->name,
				 by_id ? "-a" : "all tasks", o->presets[i]->needs_all,
				 o->rec.nr_pids ? "-p limits the recording to some tasks" :
				 by_id		? "a COMMAND limits the recording to its tasks" :
				 o->nr_cgroups	? "-G limits the recording to some tasks" :
						  "-u limits the recording to some tasks");
}

static void note_call_graph(const struct record_options *o)
{
	fprintf(stderr, "stackonce: -g and --call-graph have no effect: %s\n",
		!o->rec.kernel_stacks ? "--no-kernel-stacks and --user-stacks decide" :
		o->rec.user_stacks    ? "stacks of kernel and programs are recorded without them" :
					"kernel stacks are recorded without them, stacks of "
					"programs with --user-stacks");
}

static void show_status(void *ctx, const char *line)
{
	fprintf(stderr, "\r\033[K%s", line);
	fflush(stderr);
}

static void print_summary(const struct record_options *o, const struct rec_events *events,
			  const struct recorder_result *r)
{
	unsigned int i;

	if (o->rec.status == show_status)
		fputs("\r\033[K", stderr);
	for (i = 0; o->verbose && i < events->nr_left_out; i++)
		fprintf(stderr, "stackonce: left out %s: %s\n", events->left_out[i].name,
			events->left_out[i].why);
	if (events->nr_left_out && !o->verbose && !o->quiet)
		fprintf(stderr, "stackonce: left out %s; see -v or 'info'\n",
			text__count(events->nr_left_out, "event").s);
	if (o->verbose)
		fprintf(stderr,
			"stackonce: loaded in %.0f ms (%u instructions verified), attached %s "
			"in %.0f ms; kernel memory %s, programs %s per event type\n",
			r->costs.load_ns / 1e6, r->costs.verified,
			text__count(events->nr, "event").s, r->costs.attach_ns / 1e6,
			text__bytes(r->costs.map_bytes).s,
			text__bytes(r->costs.prog_bytes / MAX(events->nr, 1u)).s);
	if (!o->quiet)
		fprintf(stderr, "stackonce: %s, %s, %s lost, %s in %s\n",
			text__count(r->events, "event").s, text__count(r->stacks, "stack").s,
			text__number(r->lost).s, text__bytes(r->bytes).s, o->rec.output);
	for (i = 0; i < o->nr_presets && !o->quiet && strcmp(o->rec.output, "-"); i++)
		fprintf(stderr, "stackonce: read it with 'stackonce %s %s'\n",
			o->presets[i]->answer, o->rec.output);
}

static int report_failure(const struct record_options *o, int err)
{
	const char *command = o->rec.command ? o->rec.command[0] : "";

	if (err <= -RECORDER_EXEC_FAILED) {
		err += RECORDER_EXEC_FAILED;
		/* If the file exists, ENOENT is for the interpreter that it names. */
		log_err(err, "cannot run '%s'%s", command,
			err != -ENOENT				      ? "" :
			!target__find_command(command)		      ? ", its interpreter" :
			strchr(command, ':') && !strchr(command, '/') ? " (-e records an event)" :
									"");
		return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	}
	return err == -EINTR && stop__signal() ? 128 + stop__signal() : CMD_FAILURE;
}

/* libbpf's messages, including verifier logs, are printed with -v, line by line. */
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

static int run(int argc, char **argv)
{
	static struct record_options o;
	struct rec_events events = { 0 };
	struct recorder_result result;
	struct live_viewer viewer = { .go_fd = -1 };
	struct phases phases;
	struct kernel_names *names = NULL;
	int err;

	o.rec = (struct recorder_opts){
		.output = "trace.stk",
		.events = &events,
		.kernel_stacks = true,
		.symbols = true,
		.max_depth = WIRE_MAX_FRAMES,
		.argc = argc,
		.argv = argv,
		.phases = &phases,
	};
	o.cache = true;
	phases__begin(&phases, "start");
	err = record_options__parse(argc, argv, &o);
	if (err)
		return err;
	ui__set_log_level(o.verbose ? STK_LOG_DEBUG : o.quiet ? STK_LOG_ERROR : STK_LOG_WARN);
	libbpf_set_print(bpf_log);
	warn_selected(&o);
	if (o.call_graph && !o.quiet)
		note_call_graph(&o);
	rec_clock__offset(o.rec.clock, &o.rec.clock_offset);
	if (!o.quiet && isatty(STDERR_FILENO))
		o.rec.status = show_status;
	err = o.rec.command ? target__find_command(o.rec.command[0]) : 0;
	if (err)
		return report_failure(&o, err);
	if (o.live && live_viewer__new(o.rec.output, o.presets, o.nr_presets, &viewer))
		return CMD_FAILURE;
	if (o.live) {
		o.rec.status = live_viewer__status;
		o.rec.status_ctx = &viewer;
	}
	stop__catch();
	err = choose_backend(&o) ?: record_select__open(&o);
	if (err)
		return err;
	phases__part(&phases, "options");
	events.native = o.rec.backend == REC_BACKEND_FTRACE;
	if (!features__initial_pids()) {
		log_err(0, "cannot record in a PID namespace: PIDs would not match the kernel's; "
			   "run stackonce in the initial PID namespace");
		return CMD_FAILURE;
	}
	o.rec.cache = o.cache ? cache_dir__open(CACHE_DIR_BYTES) : NULL;
	err = kernel_names__new(o.rec.cache, &names);
	phases__part(&phases, "symbols of the kernel");
	if (!err) {
		o.rec.syms = events.syms = kernel_names__syms(names);
		err = resolve_events(&o, &events);
		phases__part(&phases, "events and their formats");
	}
	if (!err)
		err = recorder__run(&o.rec, &result);
	live_viewer__finish(&viewer, !err);
	if (err)
		err = report_failure(&o, err);
	else
		print_summary(&o, &events, &result);
	rec_events__clear(&events);
	record_select__close(&o);
	kernel_names__free(names);
	cache_dir__free(o.rec.cache);
	return err ? err : result.exit_status;
}

const struct cmd cmd_record = {
	.name = "record",
	.summary = "record events with their call stacks",
	.run = run,
	.options = record_options,
	.usage = "[OPTIONS] [-a | -p PID,... | [--] COMMAND [ARGS]]",
	.text = "Records events with their call stacks; without -e, timer samples.\n",
};
