// SPDX-License-Identifier: GPL-2.0-only
/* The ftrace backend: records events in an ftrace instance, for machines without BPF. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "ftrace_drain.h"
#include "log.h"
#include "record/backend.h"
#include "record/ftrace/patched/ftrace_users.h"
#include "record/ftrace/ring/ftrace_instance.h"
#include "record/ftrace/ring/ftrace_tasks.h"
#include "record/kernel/percpu.h"
#include "record/kernel/tracefs.h"
#include "record/memory.h"
#include "record/meta.h"
#include "record/opts.h"
#include "record/select/rec_event.h"
#include "text.h"
#include "trace/write/writer.h"
#include "wire.h"

#define RENAME_TRIGGER "events/task/task_rename/trigger"
#define BEGIN_TRIES 10000 /* of 100 us: for a child in execve(2) */
#define LAST_TRIES 100 /* of 1 ms: for a CPU that is writing an event */
#define COOKIES_US 50000 /* for tasks to return to user space after the last event */

struct ftrace_backend {
	struct backend base;
	const struct recorder_opts *opts;
	const char *clock; /* of ftrace */
	struct memory_plan memory;
	struct ftrace_page_format page;
	struct ftrace_kinds kinds;
	struct ftrace_instance *instance;
	struct ftrace_tasks *tasks;
	struct ftrace_users *users; /* NULL: no user stacks */
	struct ftrace_drain *drain;
	struct stk_writer *w;
	char trigger[48]; /* that starts tracing at the execve(2) of the command */
	unsigned int nr_cpus;
	bool armed, user_stacks;
	enum { FILTERS_NONE, FILTERS_SOME, FILTERS_ALL } filters; /* how many events have one */
	uint64_t lost;
	uint64_t previous_ts, counters_ts; /* when the last two calls of counters() began */
	struct backend_costs costs;
	struct ftrace_loss {
		uint64_t dropped; /* records for which the ring had no room */
		uint64_t lost; /* of these, events */
		uint64_t written; /* of these, in the losses of the recording */
		uint64_t written_dropped; /* value of `dropped` at that time */
	} per_cpu[];
};

static struct ftrace_backend *to_ftrace_backend(const struct backend *b)
{
	return (struct ftrace_backend *)b;
}

static bool has_cookies(const struct ftrace_backend *b)
{
	return b->users && ftrace_users__has_cookies(b->users);
}

/* ---- task selection -------------------------------------------------------------------------- */

static int select_thread(void *ctx, pid_t tid)
{
	struct ftrace_backend *b = ctx;
	char text[32];

	snprintf(text, sizeof(text), "%d\n", tid);
	return ftrace_instance__write(b->instance, "set_event_pid", text);
}

static int start_tracing(struct ftrace_backend *b)
{
	int err;

	err = ftrace_instance__write(b->instance, "tracing_on", "1");
	b->armed = !err;
	return err;
}

/*
 * A command starts tracing itself, when execve(2) renames it right after the point of no return.
 * The trigger fires once, because the command may be renamed later.
 */
static int hold(void *ctx, pid_t child)
{
	struct ftrace_backend *b = ctx;
	int err = b->opts->command_only ? select_thread(b, child) : 0;

	if (b->opts->delay_ns)
		return err; /* it runs before recording starts */
	snprintf(b->trigger, sizeof(b->trigger), "traceon:1 if common_pid == %d", child);
	return err ?: ftrace_instance__write(b->instance, RENAME_TRIGGER, b->trigger);
}

static bool is_on(const struct ftrace_backend *b)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	return !ftrace_instance__read(b->instance, "tracing_on", &text, &len) && *text == '1';
}

/*
 * Waits until the command has started tracing or does not exist any more, and removes the trigger,
 * which writes an event into the ring and may find no room there.
 */
static int begun(void *ctx)
{
	struct ftrace_backend *b = ctx;
	char text[sizeof(b->trigger) + 1];
	unsigned int i;
	int err;

	if (b->opts->delay_ns)
		return 0;
	for (i = 0; i < BEGIN_TRIES && !is_on(b); i++)
		usleep(100);
	snprintf(text, sizeof(text), "!%s", b->trigger);
	b->armed = true;
	err = ftrace_instance__write(b->instance, RENAME_TRIGGER, text);
	/* also record a child that has not been scheduled until now */
	return err ?: ftrace_instance__write(b->instance, "tracing_on", "1");
}

/* ---- start ----------------------------------------------------------------------------------- */

static int check_events(struct ftrace_backend *b)
{
	const struct rec_events *l = b->opts->events;
	unsigned int i, nr = 0, filtered = 0;

	for (i = 0; i < l->nr; i++) {
		if (l->v[i].kind != STK_KIND_TRACEPOINT && l->v[i].kind != STK_KIND_SYSCALL)
			return log_why(-EOPNOTSUPP,
				       "record %s:%s: the ftrace backend records tracepoints only",
				       l->v[i].system, l->v[i].name);
		nr += !!l->v[i].desc.common_type;
		filtered += !!*l->v[i].filter;
	}
	if (filtered)
		b->filters = filtered == nr ? FILTERS_ALL : FILTERS_SOME;
	return 0;
}

/* Logs the kernel's reason for refusing a filter. */
static int filter_refused(const struct ftrace_backend *b, const struct rec_event *e, int err)
{
	_cleanup_free_ char *text = NULL;
	const char *why = "";
	size_t len;

	if (!ftrace_instance__read(b->instance, "error_log", &text, &len)) {
		text[strcspn(text, "\n")] = '\0';
		why = strrchr(text, ':');
		why = why ? why + 1 + strspn(why + 1, " ") : "";
	}
	log_err(*why ? 0 : err, "set filter '%s' of %s:%s: %s", e->filter, e->system, e->name,
		*why ? why : "the kernel refuses it");
	return err;
}

static int enable_event(struct ftrace_backend *b, const struct rec_event *e)
{
	char path[512];
	int err;

	if (*e->filter) {
		snprintf(path, sizeof(path), "events/%s/%s/filter", e->system, e->name);
		err = ftrace_instance__write(b->instance, path, e->filter);
		if (err)
			return filter_refused(b, e, err);
	}
	snprintf(path, sizeof(path), "events/%s/%s/enable", e->system, e->name);
	err = ftrace_instance__write(b->instance, path, "1");
	return err ? log_err(err, "enable %s:%s", e->system, e->name) : 0;
}

static int enable_events(struct ftrace_backend *b)
{
	const struct rec_events *l = b->opts->events;
	uint64_t start = rec_clock__ns(REC_CLOCK_MONO);
	unsigned int i;
	int err = 0;

	for (i = 0; i < l->nr && !err; i++)
		if (l->v[i].desc.common_type)
			err = enable_event(b, &l->v[i]);
	b->costs.attach_ns = rec_clock__ns(REC_CLOCK_MONO) - start;
	return err;
}

static int set_option(struct ftrace_backend *b, const char *name, bool on)
{
	int err = ftrace_instance__option(b->instance, name, on);

	return err ? log_err(err, "set the ftrace option '%s'", name) : 0;
}

/* Records all tasks but the recorder, or the selected tasks and their children. */
static int set_tasks(struct ftrace_backend *b)
{
	const struct recorder_opts *o = b->opts;
	char text[32];
	int err;

	if (recorder_opts__selects_tasks(o))
		return set_option(b, "event-fork", true);
	if (o->include_self)
		return 0;
	snprintf(text, sizeof(text), "%d\n", getpid());
	err = ftrace_instance__write(b->instance, "set_event_notrace_pid", text);
	return err ? log_err(err, "exclude the recorder's own events") : 0;
}

/* Events of other CPUs are not written.  The mask is words of 32 bits, the highest CPUs first. */
static int set_cpus(struct ftrace_backend *b)
{
	const struct recorder_opts *o = b->opts;
	char mask[WIRE_MAX_CPUS / 32 * 9 + 1] = "";
	unsigned int word = (b->nr_cpus + 31) / 32, bits, i;
	size_t len = 0;
	int err;

	if (!o->cpus)
		return 0;
	while (word-- > 0) {
		for (bits = i = 0; i < 32; i++)
			bits |= (unsigned int)recorder_opts__has_cpu(o, word * 32 + i) << i;
		len += snprintf(mask + len, sizeof(mask) - len, word ? "%08x," : "%08x", bits);
	}
	err = ftrace_instance__write(b->instance, "tracing_cpumask", mask);
	return err ? log_err(err, "limit ftrace to CPUs, mask %s", mask) : 0;
}

/* ftrace does not support user stacks on every architecture. */
static int set_user_stacks(struct ftrace_backend *b)
{
	int err = ftrace_instance__option(b->instance, "userstacktrace", true);

	b->user_stacks = !err;
	if (err == -ENOENT && !b->opts->user_stacks_required) {
		log_warn("user stacks are not recorded: ftrace of this kernel does not support "
			 "them");
		return 0;
	}
	return err ? log_err(err, "set the ftrace option 'userstacktrace'") : 0;
}

static int set_up(struct ftrace_backend *b)
{
	const struct recorder_opts *o = b->opts;
	char kb[32];
	int err;

	err = ftrace_instance__write(b->instance, "trace_clock", b->clock);
	if (err)
		return log_err(err, "set the ftrace clock '%s'", b->clock);
	snprintf(kb, sizeof(kb), "%llu", (unsigned long long)b->memory.ring / 1024);
	err = ftrace_instance__write(b->instance, "buffer_size_kb", kb);
	if (err)
		return log_err(err, "set the ring size to %s KiB", kb);
	/* a full ring drops and counts new events instead of overwriting old ones */
	err = set_option(b, "overwrite", false);
	if (!err && (o->kernel_stacks || o->user_stacks) && b->kinds.of[FTRACE_STACK_ID].known)
		err = set_option(b, "stackmap", true);
	if (!err && o->kernel_stacks)
		err = set_option(b, "stacktrace", true);
	if (!err && o->user_stacks)
		err = set_user_stacks(b);
	err = err ?: set_cpus(b);
	return err ?: set_tasks(b);
}

static int load_formats(struct ftrace_backend *b)
{
	_cleanup_free_ char *text = NULL;
	int err;

	err = tracefs__file("events/header_page", &text);
	err = err ?: ftrace_page_format__parse(text, &b->page);
	b->page.clock_offset = b->opts->clock_offset.ns;
	err = err ?: ftrace_kinds__load(&b->kinds);
	return err ? log_err(err, "read the formats of the ftrace ring") : 0;
}

/* The kernel allocates all but the rings. */
static void plan_memory(struct ftrace_backend *b)
{
	struct memory_machine m;

	memory_machine__read(&m);
	memory_plan__make(b->opts, &m, &b->memory);
	b->memory.stack_map = b->memory.tables = 0;
	memory_plan__log(&b->memory);
}

static int open_all(struct ftrace_backend *b)
{
	uint64_t start = rec_clock__ns(REC_CLOCK_MONO);
	int err;

	plan_memory(b);
	err = check_events(b);
	if (!err)
		err = load_formats(b);
	if (err)
		return err;
	err = ftrace_instance__new("", &b->instance);
	if (!err)
		err = set_up(b);
	if (err)
		return err;
	err = ftrace_tasks__new(&b->page, b->nr_cpus, b->clock, &b->tasks);
	if (err)
		return log_err(err, "follow the names of tasks");
	b->costs.load_ns = rec_clock__ns(REC_CLOCK_MONO) - start;
	return enable_events(b);
}

static void ftrace_free(struct backend *base)
{
	struct ftrace_backend *b = to_ftrace_backend(base);

	if (!b)
		return;
	if (b->armed)
		ftrace_instance__write(b->instance, "tracing_on", "0");
	ftrace_drain__free(b->drain);
	ftrace_users__free(b->users);
	ftrace_tasks__free(b->tasks);
	ftrace_instance__free(b->instance);
	free(b);
}

static int ftrace_open(const struct recorder_opts *opts, struct backend **ret_backend)
{
	int nr_cpus = percpu__nr_cpus(), err;
	struct ftrace_backend *b;

	if (nr_cpus < 0)
		return nr_cpus;
	b = calloc(1, sizeof(*b) + nr_cpus * sizeof(*b->per_cpu));
	if (!b)
		return log_err(-ENOMEM, "allocate the ftrace backend");
	b->opts = opts;
	b->base.ops = &backend_ftrace;
	b->clock = rec_clock__name(rec_clock__base(opts->clock));
	b->nr_cpus = nr_cpus;
	b->costs.irq_flag = true;
	b->base.selection = (struct target_selection){
		.ctx = b,
		.select = select_thread,
		.hold = hold,
		.begun = begun,
	};
	err = open_all(b);
	if (err) {
		ftrace_free(&b->base);
		return err;
	}
	b->costs.map_bytes = b->nr_cpus * b->memory.ring;
	*ret_backend = &b->base;
	return 0;
}

static int ftrace_set_writer(struct backend *base, struct stk_writer *w)
{
	struct ftrace_backend *b = to_ftrace_backend(base);
	struct ftrace_users_opts uo = {
		.rec = b->opts,
		.instance = b->instance,
		.kinds = &b->kinds,
		.tasks = b->tasks,
		.w = w,
	};
	struct ftrace_drain_opts o = {
		.rec = b->opts,
		.instance = b->instance,
		.page = &b->page,
		.kinds = &b->kinds,
		.tasks = b->tasks,
		.w = w,
		.nr_cpus = b->nr_cpus,
		.ring_bytes = b->memory.ring,
	};
	int err = 0;

	b->w = w;
	if (b->user_stacks)
		err = ftrace_users__new(&uo, &b->users);
	if (!err && has_cookies(b))
		err = stk_writer__meta(w, "stacks.late", "yes");
	if (err)
		return log_err(err, "prepare user stacks");
	o.users = b->users;
	err = ftrace_drain__new(&o, &b->drain);
	return err ? log_err(err, "open the rings") : 0;
}

/* ---- while recording ------------------------------------------------------------------------- */

static unsigned int ftrace_nr_cpus(const struct backend *b)
{
	return to_ftrace_backend(b)->nr_cpus;
}

static uint64_t ftrace_ring_size(const struct backend *b)
{
	return to_ftrace_backend(b)->memory.ring;
}

static const struct memory_plan *ftrace_memory(const struct backend *b)
{
	return &to_ftrace_backend(b)->memory;
}

static int ftrace_arm(struct backend *base)
{
	struct ftrace_backend *b = to_ftrace_backend(base);

	b->counters_ts = recorder_opts__now(b->opts);
	/* a command does it itself, see hold() */
	return b->opts->command && !b->opts->delay_ns ? 0 : start_tracing(b);
}

static int ftrace_disarm(struct backend *base)
{
	struct ftrace_backend *b = to_ftrace_backend(base);
	int err;

	/* the stacks of the last events arrive when their tasks return to user space */
	if (has_cookies(b) && !ftrace_instance__write(b->instance, "events/enable", "0"))
		usleep(COOKIES_US);
	b->armed = false;
	err = ftrace_instance__write(b->instance, "tracing_on", "0");
	return err ?: ftrace_instance__wait(b->instance);
}

/* The row of events for which the rings had no room; with several events their type is unknown. */
static unsigned int lost_row(const struct ftrace_backend *b)
{
	return b->opts->events->nr - 1;
}

/*
 * Computes the lost events of a CPU.  A ring counts each record for which it had no room: events,
 * and stacks of events that it contains, whose number is known: those that events lack, but for the
 * orphans, which arrived after their events had been written.  The kernel builds an event with a
 * filter elsewhere and copies it into the ring; if there is no room for it, the kernel tries to
 * write its stacks nevertheless: these are orphans, too.
 */
static uint64_t lost_events(const struct ftrace_backend *b, unsigned int cpu, uint64_t dropped)
{
	uint64_t tries = 1, others = ftrace_drain__lost_stacks(b->drain, cpu);

	if (b->filters == FILTERS_ALL) {
		tries += b->opts->kernel_stacks || has_cookies(b);
		tries += b->user_stacks && !has_cookies(b);
	}
	if (b->filters != FILTERS_SOME)
		dropped += ftrace_drain__orphans(b->drain, cpu);
	return (dropped - MIN(dropped, others) + tries - 1) / tries;
}

static int ftrace_counters(struct backend *base, uint64_t (*ret_counters)[STK_NR_COUNTERS])
{
	struct ftrace_backend *b = to_ftrace_backend(base);
	struct ftrace_ring_stats s;
	unsigned int cpu;
	int err;

	b->previous_ts = b->counters_ts;
	b->counters_ts = recorder_opts__now(b->opts);
	memset(ret_counters, 0, b->opts->events->nr * sizeof(*ret_counters));
	for (cpu = 0; cpu < b->nr_cpus; cpu++) {
		err = ftrace_instance__ring_stats(b->instance, cpu, &s);
		if (err)
			return err;
		b->per_cpu[cpu].dropped = s.dropped + s.overrun;
	}
	return 0;
}

static void ftrace_add_ends(struct backend *base, uint64_t (*counters)[STK_NR_COUNTERS])
{
	struct ftrace_backend *b = to_ftrace_backend(base);
	unsigned int i;

	/*
	 * all events before have been read by now, so it is known which of the records were stacks
	 */
	b->lost = 0;
	for (i = 0; i < b->nr_cpus; i++) {
		b->per_cpu[i].lost = lost_events(b, i, b->per_cpu[i].dropped);
		b->lost += b->per_cpu[i].lost;
	}
	counters[lost_row(b)][STK_C_LOST_RING] = b->lost;
	ftrace_drain__add_counters(b->drain, counters);
	for (i = 0; i < b->opts->events->nr; i++)
		counters[i][STK_C_HAPPENED] =
			counters[i][STK_C_RECORDED] + counters[i][STK_C_LOST_RING];
}

/*
 * A ring says how many records it dropped, but not when: the range of a loss is the time between
 * two calls of counters().  Its count is unknown if some of the records may have been stacks.
 */
static int ftrace_losses(struct backend *base, bool counted)
{
	struct ftrace_backend *b = to_ftrace_backend(base);
	uint64_t now = recorder_opts__now(b->opts);
	bool exact = !b->filters && !has_cookies(b);
	unsigned int cpu;
	int err = 0;

	for (cpu = 0; counted && cpu < b->nr_cpus && !err; cpu++) {
		struct ftrace_loss *l = &b->per_cpu[cpu];
		struct stk_writer_loss loss = {
			.event = b->opts->events->nr == 1 ? 0 : STK_WRITER_ANY,
			.cpu = cpu,
			.first_ts = b->previous_ts,
			.last_ts = now,
			.count = exact ? l->lost - MIN(l->written, l->lost) : 0,
		};

		if (l->dropped == l->written_dropped || (exact && !loss.count))
			continue;
		err = stk_writer__loss(b->w, &loss);
		l->written = MAX(l->written, l->lost);
		l->written_dropped = l->dropped;
	}
	return err;
}

static int is_empty(const struct ftrace_backend *b)
{
	struct ftrace_ring_stats s;
	unsigned int cpu;
	int err;

	for (cpu = 0; cpu < b->nr_cpus; cpu++) {
		err = ftrace_instance__ring_stats(b->instance, cpu, &s);
		if (err || s.entries)
			return err;
	}
	return 1;
}

static int ftrace_drain(struct backend *base, bool last)
{
	struct ftrace_backend *b = to_ftrace_backend(base);
	int empty = 0, tries, err = 0;

	if (!last)
		return ftrace_drain__run(b->drain, false);
	for (tries = 0; !empty && !err && tries < LAST_TRIES; tries++) {
		if (tries)
			usleep(1000);
		err = ftrace_drain__run(b->drain, false);
		empty = err ?: is_empty(b);
	}
	return empty < 0 ? empty : err ?: ftrace_drain__run(b->drain, true);
}

static void ftrace_stats(const struct backend *b, struct backend_stats *ret_stats)
{
	ftrace_drain__stats(to_ftrace_backend(b)->drain, ret_stats);
}

static void ftrace_end_round(struct backend *b)
{
	ftrace_drain__end_round(to_ftrace_backend(b)->drain);
}

static int ftrace_task_event_fd(const struct backend *b)
{
	return ftrace_tasks__fd(to_ftrace_backend(b)->tasks);
}

static int ftrace_take_task_events(struct backend *b)
{
	struct ftrace_backend *f = to_ftrace_backend(b);
	int err = ftrace_tasks__poll(f->tasks, recorder_opts__now(f->opts));

	return err ? log_err(err, "read task events") : 0;
}

/* ---- end ------------------------------------------------------------------------------------- */

static int ftrace_finish(struct backend *base)
{
	struct ftrace_backend *b = to_ftrace_backend(base);
	struct backend_stats ds;
	int err = 0;

	ftrace_drain__stats(b->drain, &ds);
	if (ds.unresolved)
		log_warn("the kernel's stack map lacks %s of events",
			 text__count(ds.unresolved, "stack").s);
	if (b->lost && b->filters)
		log_warn("events with a filter were lost: their exact number is unknown");
	else if (b->lost && has_cookies(b))
		log_warn("some of the events counted as lost were user stacks: their number is "
			 "unknown");
	if (b->users)
		err = ftrace_users__finish(b->users);
	if (err)
		return log_err(err, "write the symbols of user stacks");
	return stk_writer__meta(b->w, "ftrace.stack_map",
				b->kinds.of[FTRACE_STACK_ID].known ? "yes" : "no");
}

static void ftrace_costs(const struct backend *b, struct backend_costs *ret_costs)
{
	*ret_costs = to_ftrace_backend(b)->costs;
}

const struct backend_ops backend_ftrace = {
	.open = ftrace_open,
	.free = ftrace_free,
	.nr_cpus = ftrace_nr_cpus,
	.ring_size = ftrace_ring_size,
	.memory = ftrace_memory,
	.set_writer = ftrace_set_writer,
	.arm = ftrace_arm,
	.disarm = ftrace_disarm,
	.counters = ftrace_counters,
	.add_ends = ftrace_add_ends,
	.drain = ftrace_drain,
	.losses = ftrace_losses,
	.stats = ftrace_stats,
	.end_round = ftrace_end_round,
	.file_event_fd = ftrace_task_event_fd,
	.take_file_events = ftrace_take_task_events,
	.finish = ftrace_finish,
	.costs = ftrace_costs,
};
