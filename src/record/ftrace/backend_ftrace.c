// SPDX-License-Identifier: GPL-2.0-only
/* Events from ftrace: an instance of our own, for machines without BPF. */
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
#include "record/kernel/grace.h"
#include "record/kernel/percpu.h"
#include "record/kernel/tracefs.h"
#include "record/meta.h"
#include "record/opts.h"
#include "record/select/rec_event.h"
#include "trace/write/writer.h"

#define RENAME_TRIGGER "events/task/task_rename/trigger"
#define BEGIN_TRIES 10000 /* of 100 us: a child in the middle of execve(2) */
#define LAST_TRIES 100 /* of 1 ms: a CPU that is in the middle of an event */
#define COOKIES_US 50000 /* for tasks to go back to user space, when no event comes any more */

struct ftrace_backend {
	struct backend base;
	const struct recorder_opts *opts;
	struct ftrace_page_format page;
	struct ftrace_kinds kinds;
	struct ftrace_instance *instance;
	struct ftrace_tasks *tasks;
	struct ftrace_users *users; /* NULL: no user stacks */
	struct ftrace_drain *drain;
	struct stk_writer *w;
	char trigger[48]; /* of a command's begin */
	unsigned int nr_cpus;
	bool armed, user_stacks;
	enum { FILTERS_NONE, FILTERS_SOME, FILTERS_ALL } filters; /* of the events */
	uint64_t lost;
	uint64_t looked, looking; /* when counters() began, last and the time before */
	struct backend_costs costs;
	struct ftrace_loss {
		uint64_t dropped; /* records that the ring had no room for */
		uint64_t lost; /* of these, events */
		uint64_t told; /* of these, in the recording's losses */
		uint64_t told_dropped; /* dropped at that time */
	} of_cpu[];
};

static struct ftrace_backend *of(const struct backend *b)
{
	return (struct ftrace_backend *)b;
}

static bool has_cookies(const struct ftrace_backend *b)
{
	return b->users && ftrace_users__has_cookies(b->users);
}

/* ---- whose events ---------------------------------------------------------------------------- */

static int select_thread(void *ctx, pid_t tid)
{
	struct ftrace_backend *b = ctx;
	char text[32];

	snprintf(text, sizeof(text), "%d\n", tid);
	return ftrace_instance__write(b->instance, "set_event_pid", text);
}

static int switch_on(struct ftrace_backend *b)
{
	int err;

	err = ftrace_instance__write(b->instance, "tracing_on", "1");
	b->armed = !err;
	return err;
}

/*
 * A command switches recording on itself, when execve(2) names it right after the point of no return.
 * Once: it may take other names later.
 */
static int hold(void *ctx, pid_t child)
{
	struct ftrace_backend *b = ctx;
	int err = b->opts->command_only ? select_thread(b, child) : 0;

	snprintf(b->trigger, sizeof(b->trigger), "traceon:1 if pid == %d", child);
	return err ?: ftrace_instance__write(b->instance, RENAME_TRIGGER, b->trigger);
}

static bool is_on(const struct ftrace_backend *b)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	return !ftrace_instance__read(b->instance, "tracing_on", &text, &len) && *text == '1';
}

/* It has begun, or is gone.  Its trigger is an event in the ring that may find no room: off with it. */
static int begun(void *ctx)
{
	struct ftrace_backend *b = ctx;
	char text[sizeof(b->trigger) + 1];
	unsigned int i;
	int err;

	for (i = 0; i < BEGIN_TRIES && !is_on(b); i++)
		usleep(100);
	snprintf(text, sizeof(text), "!%s", b->trigger);
	b->armed = true;
	err = ftrace_instance__write(b->instance, RENAME_TRIGGER, text);
	/* a child that has not come so far for want of a CPU is recorded all the same */
	return err ?: ftrace_instance__write(b->instance, "tracing_on", "1");
}

/* ---- start ----------------------------------------------------------------------------------- */

static int check_events(struct ftrace_backend *b)
{
	const struct rec_events *l = b->opts->events;
	unsigned int i, nr = 0, filtered = 0;

	for (i = 0; i < l->nr; i++) {
		if (l->v[i].kind != STK_KIND_TRACEPOINT && l->v[i].kind != STK_KIND_SYSCALL)
			return log_err(-EOPNOTSUPP,
				       "%s:%s: the ftrace backend records tracepoints only",
				       l->v[i].system, l->v[i].name);
		nr += !!l->v[i].desc.common_type;
		filtered += !!*l->v[i].filter;
	}
	if (filtered)
		b->filters = filtered == nr ? FILTERS_ALL : FILTERS_SOME;
	return 0;
}

/* What the kernel has against a filter. */
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
	log_err(*why ? 0 : err, "filter '%s' of %s:%s: %s", e->filter, e->system, e->name,
		*why ? why : "refused");
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
	return err ? log_err(err, "switch %s:%s on", e->system, e->name) : 0;
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

	return err ? log_err(err, "ftrace's option '%s'", name) : 0;
}

/* Everybody but us, or those who will be selected, and their children. */
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
	return err ? log_err(err, "leave our own events out") : 0;
}

/* Not every architecture has them. */
static int set_user_stacks(struct ftrace_backend *b)
{
	int err = ftrace_instance__option(b->instance, "userstacktrace", true);

	b->user_stacks = !err;
	if (err == -ENOENT && !b->opts->user_stacks_must) {
		log_warn("this kernel's ftrace takes no user stacks");
		return 0;
	}
	return err ? log_err(err, "ftrace's option 'userstacktrace'") : 0;
}

static int set_up(struct ftrace_backend *b)
{
	const struct recorder_opts *o = b->opts;
	char kb[32];
	int err;

	err = ftrace_instance__write(b->instance, "trace_clock", rec_clock__name(o->clock));
	if (err)
		return log_err(err, "ftrace's clock '%s'", rec_clock__name(o->clock));
	snprintf(kb, sizeof(kb), "%llu", (unsigned long long)o->buffer_size / 1024);
	err = ftrace_instance__write(b->instance, "buffer_size_kb", kb);
	if (err)
		return log_err(err, "rings of %s KiB", kb);
	/* a full ring takes no more, and counts that, rather than to overwrite what is there */
	err = set_option(b, "overwrite", false);
	if (!err && (o->kernel_stacks || o->user_stacks) && b->kinds.of[FTRACE_STACK_ID].known)
		err = set_option(b, "stackmap", true);
	if (!err && o->kernel_stacks)
		err = set_option(b, "stacktrace", true);
	if (!err && o->user_stacks)
		err = set_user_stacks(b);
	return err ?: set_tasks(b);
}

static int load_formats(struct ftrace_backend *b)
{
	_cleanup_free_ char *text = NULL;
	int err;

	err = tracefs__file("events/header_page", &text);
	err = err ?: ftrace_page_format__parse(text, &b->page);
	err = err ?: ftrace_kinds__load(&b->kinds);
	return err ? log_err(err, "the formats of ftrace's ring") : 0;
}

static int open_all(struct ftrace_backend *b)
{
	uint64_t start = rec_clock__ns(REC_CLOCK_MONO);
	int err;

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
	err = ftrace_tasks__new(&b->page, b->nr_cpus, rec_clock__name(b->opts->clock), &b->tasks);
	if (err)
		return log_err(err, "the names of tasks");
	b->costs.load_ns = rec_clock__ns(REC_CLOCK_MONO) - start;
	return enable_events(b);
}

static void ftrace_free(struct backend *base)
{
	struct ftrace_backend *b = of(base);

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
		return log_err(nr_cpus, "count the CPUs");
	b = calloc(1, sizeof(*b) + nr_cpus * sizeof(*b->of_cpu));
	if (!b)
		return log_err(-ENOMEM, "the ftrace backend");
	b->opts = opts;
	b->base.ops = &backend_ftrace;
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
	b->costs.map_bytes = (uint64_t)b->nr_cpus * opts->buffer_size;
	*ret_backend = &b->base;
	return 0;
}

static int ftrace_set_writer(struct backend *base, struct stk_writer *w)
{
	struct ftrace_backend *b = of(base);
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
		.ring_bytes = b->opts->buffer_size,
	};
	int err = 0;

	b->w = w;
	if (b->user_stacks)
		err = ftrace_users__new(&uo, &b->users);
	if (!err && has_cookies(b))
		err = stk_writer__meta(w, "stacks.late", "yes");
	if (err)
		return log_err(err, "user stacks");
	o.users = b->users;
	err = ftrace_drain__new(&o, &b->drain);
	return err ? log_err(err, "open the rings") : 0;
}

/* ---- while recording ------------------------------------------------------------------------- */

static unsigned int ftrace_nr_cpus(const struct backend *b)
{
	return of(b)->nr_cpus;
}

static uint64_t ftrace_ring_size(const struct backend *b)
{
	return of(b)->opts->buffer_size;
}

static int ftrace_arm(struct backend *base)
{
	struct ftrace_backend *b = of(base);

	b->looking = rec_clock__ns(b->opts->clock);
	return b->opts->command ? 0 : switch_on(b); /* a command does it itself, see hold() */
}

static int ftrace_disarm(struct backend *base)
{
	struct ftrace_backend *b = of(base);
	int err;

	/* the stacks of the last events come when their tasks go back to user space */
	if (has_cookies(b) && !ftrace_instance__write(b->instance, "events/enable", "0"))
		usleep(COOKIES_US);
	b->armed = false;
	err = ftrace_instance__write(b->instance, "tracing_on", "0");
	grace__wait(); /* events that saw it on are in their ring */
	return err;
}

/* The row of what the rings had no room for: with several events nobody knows whose that was. */
static unsigned int lost_row(const struct ftrace_backend *b)
{
	return b->opts->events->nr - 1;
}

/*
 * A ring counts each record that it had no room for: events, and stacks of events that it has.  Of
 * the latter we know.  Events with a filter are tried out elsewhere and copied into the ring; for
 * one that found no room there the kernel tries its stacks all the same.
 */
static uint64_t lost_events(const struct ftrace_backend *b, unsigned int cpu, uint64_t dropped)
{
	uint64_t tries = 1, others = ftrace_drain__lost_stacks(b->drain, cpu);

	if (b->filters == FILTERS_ALL) {
		tries += b->opts->kernel_stacks || has_cookies(b);
		tries += b->user_stacks && !has_cookies(b);
		dropped += ftrace_drain__orphans(b->drain, cpu);
	}
	return (dropped - MIN(dropped, others) + tries - 1) / tries;
}

static int ftrace_counters(struct backend *base, uint64_t (*ret_counters)[STK_NR_COUNTERS])
{
	struct ftrace_backend *b = of(base);
	struct ftrace_ring_stats s;
	unsigned int cpu;
	int err;

	b->looked = b->looking;
	b->looking = rec_clock__ns(b->opts->clock);
	memset(ret_counters, 0, b->opts->events->nr * sizeof(*ret_counters));
	for (cpu = 0; cpu < b->nr_cpus; cpu++) {
		err = ftrace_instance__ring_stats(b->instance, cpu, &s);
		if (err)
			return err;
		b->of_cpu[cpu].dropped = s.dropped + s.overrun;
	}
	return 0;
}

static void ftrace_add_ends(struct backend *base, uint64_t (*counters)[STK_NR_COUNTERS])
{
	struct ftrace_backend *b = of(base);
	unsigned int i;

	/* which of the records were stacks is known now that the events before them were seen */
	b->lost = 0;
	for (i = 0; i < b->nr_cpus; i++) {
		b->of_cpu[i].lost = lost_events(b, i, b->of_cpu[i].dropped);
		b->lost += b->of_cpu[i].lost;
	}
	counters[lost_row(b)][STK_C_LOST_RING] = b->lost;
	ftrace_drain__add_counters(b->drain, counters);
	for (i = 0; i < b->opts->events->nr; i++)
		counters[i][STK_C_HAPPENED] =
			counters[i][STK_C_RECORDED] + counters[i][STK_C_LOST_RING];
}

/*
 * A ring says how many records it dropped, not when: between two looks.  Where it cannot be told which of
 * them were events, their number is unknown.
 */
static int ftrace_losses(struct backend *base, bool counted)
{
	struct ftrace_backend *b = of(base);
	uint64_t now = rec_clock__ns(b->opts->clock);
	bool exact = !b->filters && !has_cookies(b);
	unsigned int cpu;
	int err = 0;

	for (cpu = 0; counted && cpu < b->nr_cpus && !err; cpu++) {
		struct ftrace_loss *l = &b->of_cpu[cpu];
		struct stk_writer_loss loss = {
			.event = b->opts->events->nr == 1 ? 0 : STK_WRITER_ANY,
			.cpu = cpu,
			.first_ts = b->looked,
			.last_ts = now,
			.count = exact ? l->lost - MIN(l->told, l->lost) : 0,
		};

		if (l->dropped == l->told_dropped || (exact && !loss.count))
			continue;
		err = stk_writer__loss(b->w, &loss);
		l->told = MAX(l->told, l->lost);
		l->told_dropped = l->dropped;
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
	struct ftrace_backend *b = of(base);
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
	ftrace_drain__stats(of(b)->drain, ret_stats);
}

static void ftrace_end_round(struct backend *b)
{
	ftrace_drain__end_round(of(b)->drain);
}

static int ftrace_news_fd(const struct backend *b)
{
	return ftrace_tasks__fd(of(b)->tasks);
}

static int ftrace_take_news(struct backend *b)
{
	int err = ftrace_tasks__poll(of(b)->tasks);

	return err ? log_err(err, "tasks that are new") : 0;
}

/* ---- end ------------------------------------------------------------------------------------- */

static int ftrace_finish(struct backend *base)
{
	struct ftrace_backend *b = of(base);
	struct backend_stats ds;
	int err = 0;

	ftrace_drain__stats(b->drain, &ds);
	if (ds.unresolved)
		log_warn("%llu stacks were not found in the kernel's stack map",
			 (unsigned long long)ds.unresolved);
	if (b->lost && b->filters)
		log_warn("events with a filter were lost: how many is not known exactly");
	else if (b->lost && has_cookies(b))
		log_warn("of what is called lost some were user stacks: how many is not known");
	if (b->users)
		err = ftrace_users__finish(b->users);
	if (err)
		return log_err(err, "symbols of user stacks");
	return stk_writer__meta(b->w, "ftrace.stack_map",
				b->kinds.of[FTRACE_STACK_ID].known ? "yes" : "no");
}

static void ftrace_costs(const struct backend *b, struct backend_costs *ret_costs)
{
	*ret_costs = of(b)->costs;
}

const struct backend_ops backend_ftrace = {
	.open = ftrace_open,
	.free = ftrace_free,
	.nr_cpus = ftrace_nr_cpus,
	.ring_size = ftrace_ring_size,
	.set_writer = ftrace_set_writer,
	.arm = ftrace_arm,
	.disarm = ftrace_disarm,
	.counters = ftrace_counters,
	.add_ends = ftrace_add_ends,
	.drain = ftrace_drain,
	.losses = ftrace_losses,
	.stats = ftrace_stats,
	.end_round = ftrace_end_round,
	.news_fd = ftrace_news_fd,
	.take_news = ftrace_take_news,
	.finish = ftrace_finish,
	.costs = ftrace_costs,
};
