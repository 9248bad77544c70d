// SPDX-License-Identifier: GPL-2.0-only
/* stackonce offcpu: times, states, stacks and wakers of tasks off the CPU. */
#include "offcpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "ui/need.h"

static const char *const states[] = {
	[SWITCH_PREEMPTED] = "preempted", [SWITCH_SLEEP] = "sleep",   [SWITCH_DISK] = "disk",
	[SWITCH_STOPPED] = "stopped",	  [SWITCH_TRACED] = "traced", [SWITCH_IDLE] = "idle",
	[SWITCH_PARKED] = "parked",	  [SWITCH_NEW] = "new",	      [SWITCH_NR_STATES] = NULL,
};

static int take_states(void *into, const struct opt *o, const char *list)
{
	struct offcpu *oc = into;
	unsigned int more;
	int err = opt__words(o, list, &more);

	if (!err)
		oc->states |= more;
	return err;
}

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct offcpu, w.rd, A_RECORDING),
	{ "--by WHAT", "one line per %s (default stack)", OPT_WORD(struct offcpu, opts.by),
	  WORDS([OFFCPU_BY_STACK] = "stack", [OFFCPU_BY_STATE] = "state",
		[OFFCPU_BY_COMM] = "comm", [OFFCPU_BY_PID] = "pid", [OFFCPU_BY_TID] = "tid") },
	{ "--state LIST", "only times in these states: %s", OPT_FN(take_states), WORDS_OF(states) },
	{ "--min SECONDS", "leave out shorter times off CPU",
	  OPT_SECONDS(struct offcpu, opts.min, UINT64_MAX) },
	WAITS_OPTIONS("print the full stacks, and those of the wakers",
		      "write a flame graph of the stacks, by time off CPU",
		      "only times off CPU that began"),
	JSON_OPTION("print one JSON object per line, per open time and for the sums"),
	HELP_OPTION
};
/* clang-format on */

const char *offcpu__state(enum switch_state state)
{
	return states[state];
}

static void offcpu__free(struct offcpu *oc)
{
	offcpu_analysis__free(oc->analysis);
	waits__free(&oc->w);
}

static bool selected(void *ctx, const struct wait_task *task, uint64_t ts, unsigned int cpu,
		     enum switch_state state)
{
	struct offcpu *oc = ctx;

	return (!oc->states || oc->states >> state & 1) && waits__selected(&oc->w, task, ts, cpu);
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

	/* A picture shows the interrupts: beside each other, on top of the task's frames. */
	oc->opts.full = oc->w.rd.names.full || oc->w.rd.flamegraph;
	oc->opts.select = selected;
	oc->opts.ctx = oc;
	err = offcpu_analysis__new(oc->w.rd.reader, &oc->opts, &oc->analysis);
	while (!err && reading__next(&oc->w.rd, &oc->w.out, NULL, NULL, &e))
		err = offcpu_analysis__add(oc->analysis, e);
	if (!err)
		err = offcpu_analysis__finish(oc->analysis, &oc->result);
	return err ? log_err(err, "sum up the times off CPU") : 0;
}

/* Which switches make a pair follows from what record selected. */
static int check_targets(const struct offcpu *oc)
{
	static const char *const keys[] = { "target", "selected.cgroups", "selected.uids", NULL };

	if (reading__agree(&oc->w.rd, keys))
		return CMD_OK;
	log_err(0,
		"the recordings are of different tasks (-p, -G, -u, COMMAND): give offcpu one at "
		"a time");
	return CMD_FAILURE;
}

static int check_events(struct offcpu *oc)
{
	static const char *const switches[] = { "sched:sched_switch", NULL };

	if (need__events(&oc->w.rd, switches, "--preset offcpu"))
		return CMD_FAILURE;
	waits__need_wakers(&oc->w, "--preset offcpu",
			   "wakers are unknown, and time on a run queue counts as blocked");
	return CMD_OK;
}

static int run(int argc, char **argv)
{
	_cleanup_(offcpu__free) struct offcpu oc = { .w.rd.one_boot = true };
	int code, finished;

	code = waits__options(&oc.w, &cmd_offcpu, argc, argv)			  ?:
		       reading__open(&oc.w.rd, STK_WANT_EVENTS | STK_WANT_FIELDS) ?:
		       check_targets(&oc);
	if (code)
		return code;
	out__open(&oc.w.out, true);
	if (read_events(&oc) || check_events(&oc))
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

const struct cmd cmd_offcpu = {
	.name = "offcpu",
	.summary = "off-CPU times of tasks by stack and state, with their wakers",
	.run = run,
	.options = options,
	.text = "Prints where tasks leave the CPU, how long they are blocked, and how long they\n"
		"then wait to run.\n"
		"Record with 'stackonce record --preset offcpu'.\n",
};
