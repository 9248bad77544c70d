// SPDX-License-Identifier: GPL-2.0-only
/* Drives a backend and the writer from the start of a recording to its end. */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "cleanup.h"
#include "clock.h"
#include "clock_steps.h"
#include "full_tables.h"
#include "log.h"
#include "losses.h"
#include "meta.h"
#include "output/output.h"
#include "phases.h"
#include "record/select/rec_event.h"
#include "stop.h"
#include "strbuf.h"
#include "symbols/ksyms.h"
#include "target.h"
#include "text.h"
#include "trace/write/writer.h"

#define ROUND_NS 200000000ull /* a round ends at least this often */
#define ROUND_BYTES (8u << 20) /* or when so many bytes are pending */
#define STATUS_NS 500000000ull
#define ACCOUNTING_NS 500000000ull
#define NAP_MIN_US 1000
#define NAP_MAX_US 50000
#define NAP_DELAY_MS 200
#define STACK_BUDGET (256u << 20) /* bytes for merging stacks; more are written whole */

struct recorder {
	const struct recorder_opts *opts;
	struct backend *backend;
	const struct backend_ops *ops;
	struct target *target;
	struct output *output;
	struct stk_writer *w;
	struct clock_steps *steps;
	uint64_t (*counters)[STK_NR_COUNTERS];
	uint64_t round_start, last_accounting, last_status, status_events;
	int nice; /* before the recording */
	uint64_t start_cpu_ns; /* CPU time of this process before the recording */
};

/* After the first signal the recording is still written; a second one abandons it. */
static bool give_up(void *ctx)
{
	return stop__count() > 1;
}

static int open_writer(struct recorder *r)
{
	const struct recorder_opts *o = r->opts;
	struct stk_writer_opts wo = {
		.nr_cpus = r->ops->nr_cpus(r->backend),
		.stack_budget = STACK_BUDGET,
		.fsync = o->fsync,
		.give_up = give_up,
	};
	struct output_opts oo = {
		.path = o->output,
		.mode = 0600,
		.force = o->force,
		.recording = true,
	};
	unsigned int i;
	int err;

	err = output__open(&oo, &r->output);
	if (err)
		return err;
	err = stk_writer__new(fcntl(output__fd(r->output), F_DUPFD_CLOEXEC, 3), &wo, &r->w);
	if (err)
		return err;
	err = meta__write(r->w, o, r->ops->memory(r->backend));
	for (i = 0; i < o->events->nr && err >= 0; i++) {
		const struct rec_event *e = &o->events->v[i];

		err = stk_writer__type(r->w, e->kind, e->system, e->name, e->filter, e->format);
	}
	return err < 0 ? err : 0;
}

static int open_target(struct recorder *r)
{
	const struct target_selection *sel = &r->backend->selection;
	const struct recorder_opts *o = r->opts;
	struct target_command command = {
		.argv = o->command,
		.stdout_taken = !strcmp(o->output, "-"),
	};

	if (o->command)
		return target__command(sel, &command, &r->target);
	if (o->nr_pids)
		return target__pids(sel, o->pids, o->nr_pids, &r->target);
	return target__system(&r->target);
}

static int prepare(struct recorder *r)
{
	int err;

	r->counters = calloc(MAX(r->opts->events->nr, 1u), sizeof(*r->counters));
	if (!r->counters || clock_steps__new(r->opts->clock, &r->opts->clock_offset, &r->steps))
		return log_err(-ENOMEM, "allocate the counters");
	err = r->ops->open(r->opts, &r->backend);
	if (!err && ksyms__wait(r->opts->syms))
		err = log_err(ksyms__wait(r->opts->syms), "load the kernel's symbols");
	rec_events__forget_types(r->opts->events);
	err = err ?: open_target(r);
	phases__part(r->opts->phases, "command or tasks");
	err = err ?: open_writer(r);
	phases__part(r->opts->phases, "file and metadata");
	return err ?: r->ops->set_writer(r->backend, r->w);
}

/*
 * The counters were read before the rings were emptied, so every event that they count as recorded
 * is in the file.  A ring that fills as fast as it is emptied still holds some: these are
 * subtracted, as if they had not happened yet.
 */
static int write_accounting(struct recorder *r, bool last)
{
	unsigned int i;

	for (i = 0; i < r->opts->events->nr && !last; i++) {
		uint64_t *c = r->counters[i], recorded = c[STK_C_RECORDED];
		uint64_t waiting = recorded - MIN(recorded, stk_writer__in_file(r->w, i));

		c[STK_C_RECORDED] -= waiting;
		c[STK_C_HAPPENED] -= waiting;
	}
	return stk_writer__accounting(r->w, (const uint64_t(*)[STK_NR_COUNTERS])r->counters,
				      r->opts->events->nr);
}

static uint64_t lost_so_far(struct recorder *r)
{
	uint64_t lost = 0;
	unsigned int i;

	for (i = 0; i < r->opts->events->nr; i++)
		lost += losses__sum(r->counters[i]);
	return lost;
}

/* The share of stacks, of kernel and user, that needed no stack of their own in the file. */
static double merged_percent(const struct recorder *r, uint64_t stacks)
{
	uint64_t all = 0;
	unsigned int i;

	for (i = 0; i < r->opts->events->nr; i++) {
		const uint64_t *c = r->counters[i];

		all += c[STK_C_STACK_HIT] + c[STK_C_STACK_NEW] +
		       counters_sum(STK_COUNTERS_FELL, c) +
		       counters_sum(STK_COUNTERS_USTACK_WAY, c);
	}
	/* the counters are older than the stacks: there may be fewer */
	return all ? 100.0 * (all - MIN(all, stacks)) / all : 0.0;
}

static void show_status(struct recorder *r, uint64_t now)
{
	struct stk_writer_stats ws;
	double seconds = (now - r->last_status) / 1e9;
	char line[200];

	stk_writer__stats(r->w, &ws);
	snprintf(line, sizeof(line),
		 "%.0f events/s, %llu in all, %s, dedup %.1f %%, %.1f bytes/event, "
		 "lost %llu",
		 (ws.events - r->status_events) / seconds, (unsigned long long)ws.events,
		 text__count(ws.stacks, "stack").s, merged_percent(r, ws.stacks),
		 ws.events ? (double)ws.bytes / ws.events : 0.0,
		 (unsigned long long)lost_so_far(r));
	r->opts->status(r->opts->status_ctx, line);
	r->last_status = now;
	r->status_events = ws.events;
}

/* Reads counters, rings and losses; ends: the round ends after it. */
static int drain_rings(struct recorder *r, bool ends, bool last)
{
	int err = ends ? r->ops->counters(r->backend, r->counters) : 0;

	if (err)
		return log_err(err, "read the counters");
	err = r->ops->drain(r->backend, last);
	if (err)
		return log_err(err, "read events from the rings");
	if (ends)
		r->ops->add_ends(r->backend, r->counters);
	err = r->ops->losses(r->backend, ends);
	return err ? log_err(err, "read the losses") : 0;
}

/* Empties the rings once, and ends the round when that is due. */
static int poll_once(struct recorder *r, bool last)
{
	uint64_t start = recorder_opts__now(r->opts);
	uint64_t now = rec_clock__ns(REC_CLOCK_MONO);
	bool ends = last || now - r->round_start >= ROUND_NS ||
		    stk_writer__pending(r->w) >= ROUND_BYTES;
	struct backend_stats ds;
	int err = drain_rings(r, ends, last);

	if (err || !ends)
		return err;
	r->ops->stats(r->backend, &ds);
	now = rec_clock__ns(REC_CLOCK_MONO);
	r->round_start = now;
	err = stk_writer__end_round(r->w, MIN(start, ds.horizon), clock_ns(CLOCK_REALTIME));
	r->ops->end_round(r->backend);
	if (!err && (last || now - r->last_accounting >= ACCOUNTING_NS)) {
		r->last_accounting = now;
		err = clock_steps__check(r->steps, r->w, start);
		err = err ?: write_accounting(r, last && ds.horizon == UINT64_MAX);
	}
	if (!err && r->opts->status && now - r->last_status >= STATUS_NS)
		show_status(r, now);
	return err;
}

static int sleep_us(struct recorder *r, unsigned int us)
{
	uint64_t now = rec_clock__ns(REC_CLOCK_MONO), end = now + us * 1000ull;
	struct pollfd pfd = { .fd = r->ops->file_event_fd(r->backend), .events = POLLIN };
	int err = 0;

	if (pfd.fd < 0) {
		usleep(us);
		return 0;
	}
	while (now < end && !err) {
		struct timespec left = { .tv_nsec = end - now };

		if (ppoll(&pfd, 1, &left, NULL) <= 0)
			return 0;
		err = r->ops->take_file_events(r->backend);
		now = rec_clock__ns(REC_CLOCK_MONO);
	}
	return err;
}

/* Sleeps for a shorter time the fuller the rings were at the last drain. */
static int nap(struct recorder *r, unsigned int *us)
{
	struct backend_stats ds;
	uint64_t size = r->ops->ring_size(r->backend);

	r->ops->stats(r->backend, &ds);
	if (ds.fullest > size / 4)
		*us = MAX(*us / 4, (unsigned int)NAP_MIN_US);
	else if (ds.fullest < size / 8)
		*us = MIN(*us * 2, (unsigned int)NAP_MAX_US);
	return ds.fullest < size / 2 ? sleep_us(r, *us) : 0;
}

/* Whether a signal ends the recording; the first one only goes to the command, if there is one. */
static bool stopped(struct recorder *r)
{
	unsigned int stops = stop__count();
	int sig = stop__take_forward();

	if (stops > 1 || !r->opts->command)
		return stops;
	if (sig)
		target__signal(r->target, sig);
	return false;
}

static int loop(struct recorder *r)
{
	uint64_t end = UINT64_MAX;
	unsigned int us = NAP_MIN_US;
	int err = 0;

	if (r->opts->duration_ns)
		end = rec_clock__ns(REC_CLOCK_MONO) + r->opts->duration_ns;
	while (!err && !target__ended(r->target) && !stopped(r) &&
	       rec_clock__ns(REC_CLOCK_MONO) < end) {
		err = nap(r, &us);
		if (!err)
			err = poll_once(r, false);
	}
	return err;
}

/*
 * Writes which tasks are selected.  Without it readers cannot know which tasks appear only in
 * events of the selected ones.
 */
static int write_target(struct recorder *r)
{
	const struct recorder_opts *o = r->opts;
	struct strbuf b = { 0 };
	unsigned int i;
	int err;

	for (i = 0; i < o->nr_pids; i++)
		strbuf__printf(&b, "%s%d", i ? "," : "", o->pids[i]);
	if (!o->nr_pids && o->command && o->command_only)
		strbuf__printf(&b, "%d", target__child(r->target));
	else if (!o->nr_pids)
		strbuf__puts(&b, recorder_opts__limits_tasks(o) ? "selected" : "all");
	err = strbuf__failed(&b) ? -ENOMEM : stk_writer__meta(r->w, "target", b.s);
	strbuf__free(&b);
	return err;
}

/*
 * Empties the rings while the list of tasks is read.  The round must not end before the list is in
 * the file: readers need it before the first event.
 */
static int drain_meanwhile(void *ctx)
{
	struct recorder *r = ctx;

	return drain_rings(r, false, false);
}

static int write_tasks(struct recorder *r, const char *when)
{
	return meta__tasks(r->w, r->opts, when, drain_meanwhile, r);
}

static int arm(struct recorder *r)
{
	int err = r->ops->arm(r->backend);

	phases__part(r->opts->phases, "programs armed");
	if (err)
		return log_err(err, "start recording");
	err = write_tasks(r, "start");
	phases__part(r->opts->phases, "list of tasks");
	return err;
}

static int start_target(struct recorder *r)
{
	int err;

	if (r->opts->command && stop__count())
		return log_err(-EINTR, "start '%s'", r->opts->command[0]);
	err = target__start(r->target);
	return err ?: write_target(r);
}

/* Waits until the delay is over; false: the target ended before, or a signal ends the recording. */
static bool wait_delay(struct recorder *r)
{
	uint64_t now = rec_clock__ns(REC_CLOCK_MONO), end = now + r->opts->delay_ns;

	while (now < end) {
		if (target__ended(r->target) || stopped(r))
			return false;
		target__nap(r->target, MIN((end - now) / 1000000 + 1, (uint64_t)NAP_DELAY_MS));
		now = rec_clock__ns(REC_CLOCK_MONO);
	}
	return true;
}

/* The programs are not armed before: nothing happens in the recording's sense. */
static int start_delayed(struct recorder *r)
{
	int err = start_target(r);

	if (err)
		return err;
	if (wait_delay(r)) {
		phases__part(r->opts->phases, "command started, delay");
		return arm(r);
	}
	log_warn("nothing was recorded: %s before the delay of %llu ms was over (--delay)",
		 target__ended(r->target) ? "the processes ended" : "the recording was stopped",
		 (unsigned long long)r->opts->delay_ns / 1000000);
	return 0;
}

static int start(struct recorder *r)
{
	int err;

	if (r->opts->delay_ns)
		err = start_delayed(r);
	else
		err = arm(r) ?: start_target(r);
	return err ?: output__commit(r->output);
}

static int record(struct recorder *r)
{
	int err, disarmed;

	/* Rings must be emptied before they are full, however busy the CPUs are. */
	r->nice = getpriority(PRIO_PROCESS, 0);
	setpriority(PRIO_PROCESS, 0, -20);
	r->round_start = r->last_status = rec_clock__ns(REC_CLOCK_MONO);
	r->start_cpu_ns = meta__cpu_ns();
	err = start(r);
	phases__end(r->opts->phases, "command started, file named");
	if (!err)
		err = loop(r);
	phases__begin(r->opts->phases, "end");
	/* before disarming: events show what changes while the list is read */
	if (!err)
		err = write_tasks(r, "end");
	phases__part(r->opts->phases, "list of tasks");
	disarmed = r->ops->disarm(r->backend);
	phases__part(r->opts->phases, "programs disarmed");
	setpriority(PRIO_PROCESS, 0, r->nice);
	return err ?: disarmed;
}

static void fill_result(struct recorder *r, struct recorder_result *res)
{
	struct stk_writer_stats ws;

	stk_writer__stats(r->w, &ws);
	res->events = ws.events;
	res->stacks = ws.stacks;
	res->bytes = ws.bytes;
	res->lost = lost_so_far(r);
	res->nr_left_out = r->opts->events->nr_left_out;
	r->ops->costs(r->backend, &res->costs);
}

/* Says which timer samples are missing although no ring was full. */
static void warn_samples(const struct recorder *r)
{
	unsigned int i;

	for (i = 0; i < r->opts->events->nr; i++) {
		const uint64_t *c = r->counters[i];

		if (r->opts->events->v[i].kind != STK_KIND_SAMPLE)
			continue;
		if (c[STK_C_SAMPLE_THROTTLED])
			log_warn("timer samples were throttled %" PRIu64 " times, each until the "
				 "next tick of the CPU: lower -F, or raise the sysctl "
				 "kernel.perf_event_max_sample_rate",
				 c[STK_C_SAMPLE_THROTTLED]);
		if (c[STK_C_SAMPLE_MULTIPLEXED])
			log_warn("about %" PRIu64 " of %" PRIu64
				 " timer samples are missing: other "
				 "perf events used the cycle counter meanwhile",
				 c[STK_C_SAMPLE_MULTIPLEXED], c[STK_C_SAMPLE_EXPECTED]);
		if (c[STK_C_SAMPLE_SKIPPED] > r->ops->nr_cpus(r->backend) &&
		    c[STK_C_SAMPLE_SKIPPED] == c[STK_C_SAMPLE_EXPECTED])
			log_warn("no timer sample was taken: the perf event of the samples does "
				 "not count on this machine");
	}
}

static int finish(struct recorder *r)
{
	struct backend_costs costs;
	struct backend_stats ds;
	int err;

	do {
		err = poll_once(r, true);
		r->ops->stats(r->backend, &ds);
	} while (!err && ds.horizon != UINT64_MAX);
	if (err)
		return err;
	phases__part(r->opts->phases, "rings emptied");
	target__ended(r->target);
	warn_samples(r);
	full_tables__warn((const uint64_t(*)[STK_NR_COUNTERS])r->counters, r->opts->events->nr);
	err = r->ops->finish(r->backend);
	phases__part(r->opts->phases, "symbols");
	r->ops->costs(r->backend, &costs);
	if (!err)
		err = meta__costs(r->w, &costs, r->start_cpu_ns);
	err = err ?: stk_writer__finish(r->w, "stopped", target__exit_status(r->target));
	phases__part(r->opts->phases, "file completed");
	return err;
}

/* Events that could not be written are losses; the file says so if there is room for that. */
static void account_failure(struct recorder *r)
{
	if (r->ops->counters(r->backend, r->counters))
		return;
	r->ops->add_ends(r->backend, r->counters);
	stk_writer__account_failure(r->w, (const uint64_t(*)[STK_NR_COUNTERS])r->counters,
				    r->opts->events->nr);
}

/* Waits for a command that outlives the recording; a second signal ends the wait. */
static int wait_command(struct recorder *r)
{
	while (!target__ended(r->target)) {
		if (stopped(r))
			return 128 + stop__signal();
		target__nap(r->target, 200);
	}
	return MAX(target__exit_status(r->target), 0);
}

/* The recording is complete, and readers need not wait for more. */
static void close_recording(struct recorder *r)
{
	stk_writer__free(r->w);
	r->w = NULL;
	output__free(r->output);
	r->output = NULL;
}

static void release(struct recorder *r)
{
	pid_t pid = r->target ? target__running(r->target) : 0;

	if (pid)
		log_err(0, "'%s' (process %d) continues without being recorded",
			r->opts->command[0], pid);
	close_recording(r);
	target__free(r->target);
	clock_steps__free(r->steps);
	free(r->counters);
}

int recorder__run(const struct recorder_opts *opts, struct recorder_result *ret_result)
{
	struct recorder r = {
		.opts = opts,
		.ops = opts->backend == REC_BACKEND_FTRACE ? &backend_ftrace : &backend_bpf,
	};
	struct recorder_result res = { 0 };
	int err;

	err = prepare(&r);
	if (!err) {
		err = record(&r);
		if (!err)
			err = finish(&r);
		if (err)
			account_failure(&r);
		fill_result(&r, &res);
	}
	/* the child of a command that was never started holds our descriptors open */
	if (err && r.target && !target__running(r.target)) {
		target__free(r.target);
		r.target = NULL;
	}
	/* detach before waiting, so that recorded tasks are no longer slowed down */
	r.ops->free(r.backend);
	r.backend = NULL;
	phases__part(opts->phases, "programs detached");
	close_recording(&r);
	phases__end(opts->phases, "file closed");
	if (!err && opts->command)
		res.exit_status = wait_command(&r);
	release(&r);
	if (!err)
		*ret_result = res;
	return err;
}
