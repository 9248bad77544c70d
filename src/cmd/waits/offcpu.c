// SPDX-License-Identifier: GPL-2.0-only
/* Why tasks do not run: for how long, in what state, from where, and who ends it. */
#include "offcpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"

/* clang-format off */
static const char help[] =
	"Usage: stackonce offcpu [OPTIONS] [FILE]\n"
	"Prints where tasks leave the CPU, how long they are blocked, then wait to run.\n"
	"Record with 'stackonce record --preset offcpu'.\n"
	"\n"
	"  -i, --input FILE     the recording (default trace.stk, - is standard input)\n"
	"      --by WHAT        a line for each stack (default), state, comm, pid or tid\n"
	"      --top N          N lines, 0: all (default 20; with --json all)\n"
	"      --state LIST     only some of sleep,disk,stopped,traced,idle,parked,\n"
	"                       preempted,new\n"
	"      --min SECONDS    leave out times off CPU that are shorter\n"
	"      --stacks         whole stacks, and those of the wakers\n"
	"      --flamegraph OUT.svg  a picture of the stacks by time off CPU\n"
	"      --force          even where OUT.svg is a recording\n"
	"      --time A,B       times off CPU that began between these times, in seconds;\n"
	"                       either may be left out: 12.5, or ,13\n"
	"      --pid LIST       of these processes or threads\n"
	"      --tid LIST       of these threads\n"
	"      --comm GLOB      of tasks of this name\n"
	"      --cpu LIST       that left these CPUs: 0-3,8\n"
	"      --event GLOB     read only these events\n"
	NAMES_HELP
	"      --json           one JSON object per line, open time, and for the sums\n"
	"  -h, --help           this text\n";
/* clang-format on */

enum { OPT_BY = OPT_WAITS_OWN, OPT_STATE, OPT_MIN };

static const struct option longopts[] = {
	WAITS_OPTIONS,
	{ "by", required_argument, NULL, OPT_BY },
	{ "state", required_argument, NULL, OPT_STATE },
	{ "min", required_argument, NULL, OPT_MIN },
	{ 0 },
};

static const char *const states[SWITCH_NR_STATES] = {
	[SWITCH_PREEMPTED] = "preempted", [SWITCH_SLEEP] = "sleep",   [SWITCH_DISK] = "disk",
	[SWITCH_STOPPED] = "stopped",	  [SWITCH_TRACED] = "traced", [SWITCH_IDLE] = "idle",
	[SWITCH_PARKED] = "parked",	  [SWITCH_NEW] = "new",
};

const char *offcpu__state(enum switch_state state)
{
	return states[state];
}

static void offcpu__free(struct offcpu *oc)
{
	offcpu_analysis__free(oc->analysis);
	waits__free(&oc->w);
}

static int parse_states(struct offcpu *oc, const char *list)
{
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *name;
	unsigned int i;

	while (copy && (name = strsep(&rest, ","))) {
		for (i = 0; i < ARRAY_SIZE(states) && strcmp(states[i], name); i++)
			;
		if (i == ARRAY_SIZE(states))
			return cmd__usage_error(oc->w.rd.command, "--state does not know '%s'", name);
		oc->states[i] = true;
	}
	oc->has_states = true;
	return CMD_OK;
}

static int parse_by(struct offcpu *oc, const char *arg)
{
	static const char *const names[] = { [OFFCPU_BY_STACK] = "stack",
					     [OFFCPU_BY_STATE] = "state",
					     [OFFCPU_BY_COMM] = "comm",
					     [OFFCPU_BY_PID] = "pid",
					     [OFFCPU_BY_TID] = "tid" };
	unsigned int by;
	int code = cmd__one_of(oc->w.rd.command, "--by", arg, names, ARRAY_SIZE(names), &by);

	if (!code)
		oc->opts.by = by;
	return code;
}

static int take_option(void *ctx, int c, const char *arg)
{
	struct offcpu *oc = ctx;

	switch (c) {
	case OPT_BY:
		return parse_by(oc, arg);
	case OPT_STATE:
		return parse_states(oc, arg);
	case OPT_MIN:
		if (parse__seconds(arg, &oc->opts.min))
			return cmd__usage_error(oc->w.rd.command, "--min wants seconds: '%s'", arg);
		return CMD_OK;
	default:
		return waits__option(&oc->w, c, arg);
	}
}

static bool selected(void *ctx, const struct wait_task *task, uint64_t ts, unsigned int cpu,
		     enum switch_state state)
{
	const struct offcpu *oc = ctx;

	return (!oc->has_states || oc->states[state]) && waits__selected(&oc->w, task, ts, cpu);
}

static int draw(struct offcpu *oc)
{
	static const struct flame_text text = { .title = "Time off CPU",
						.subtitle = "blocked and waiting to run",
						.unit = "ns" };
	_cleanup_(flamegraph__freep) struct flamegraph *flame = NULL;
	int err = flamegraph__new(&flame);
	uint32_t i, k;

	for (i = 0; i < oc->result->nr_groups && !err; i++) {
		const struct offcpu_group *g = &oc->result->groups[i];

		for (k = 0; k < g->nr_stacks && !err; k++)
			err = flames__add(flame, oc->w.rd.reader, &oc->w.rd.names, g->task.comm,
					  g->stacks[k].kstack, g->stacks[k].ustack,
					  g->stacks[k].time.blocked + g->stacks[k].time.queued);
	}
	if (err) {
		log_err(err, "draw the flame graph");
		return CMD_FAILURE;
	}
	return flames__write(flame, &oc->w.rd, &text);
}

static int read_events(struct offcpu *oc)
{
	const struct stk_event *e;
	int err;

	oc->opts.select = selected;
	oc->opts.ctx = oc;
	err = offcpu_analysis__new(oc->w.rd.reader, &oc->opts, &oc->analysis);
	while (!err && reading__next(&oc->w.rd, &oc->w.out, NULL, NULL, &e))
		err = offcpu_analysis__add(oc->analysis, e);
	if (!err)
		err = offcpu_analysis__finish(oc->analysis, &oc->result);
	return err ? log_err(err, "add up the times") : 0;
}

int cmd_offcpu(int argc, char **argv)
{
	_cleanup_(offcpu__free) struct offcpu oc = { .w.rd.command = argv[0] };
	int code, finished;

	code = waits__options(&oc.w, argc, argv, longopts, take_option, &oc);
	if (code)
		return code;
	if (oc.w.rd.help)
		return cmd__print(help);
	code = reading__open(&oc.w.rd, STK_WANT_EVENTS | STK_WANT_FIELDS);
	if (code)
		return code;
	out__open(&oc.w.out, true);
	if (read_events(&oc))
		code = CMD_FAILURE;
	else if (oc.w.rd.flamegraph)
		code = draw(&oc);
	else if (oc.w.rd.json)
		offcpu__put_json(&oc);
	else
		offcpu__put_text(&oc);
	finished = reading__finish(&oc.w.rd);
	return out__close(&oc.w.out, code ?: finished);
}
