// SPDX-License-Identifier: GPL-2.0-only
/* Parses the options of the reading commands and runs the loop over events. */
#include "reading.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "event_list.h"
#include "log.h"
#include "need.h"
#include "output/output.h"
#include "standard_input.h"
#include "text.h"

#define DEFAULT_FILE "trace.stk"
#define FOLLOW_NS 200000000 /* interval at which a growing file is polled */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	interrupted = 1;
}

int reading__take_path(void *into, const struct opt *o, const char *arg)
{
	struct reading *rd = into;

	return array__append(&rd->paths, &rd->nr_paths, arg);
}

int reading__take_debug_dir(void *into, const struct opt *o, const char *arg)
{
	struct reading *rd = into;

	return user_names__add_debug_dir(&rd->names, arg) ? CMD_FAILURE : CMD_OK;
}

/* The default path, and what messages call several recordings. */
static int choose_paths(struct reading *rd)
{
	rd->is_default = !rd->nr_paths;
	if (rd->is_default &&
	    reading__take_path(rd, NULL,
			       rd->only_files ? DEFAULT_FILE : standard_input__or(DEFAULT_FILE))) {
		log_err(-ENOMEM, "remember the recording");
		return CMD_FAILURE;
	}
	rd->path = rd->paths[0];
	if (rd->nr_paths > 1 &&
	    asprintf(&rd->several, "%s and %u more", rd->path, rd->nr_paths - 1) < 0) {
		log_err(-ENOMEM, "remember the recordings");
		return CMD_FAILURE;
	}
	rd->path = rd->several ?: rd->path;
	return CMD_OK;
}

int reading__options(struct reading *rd, const struct cmd *cmd, int argc, char **argv)
{
	unsigned int i;
	int code;

	rd->command = cmd->name;
	code = options__parse(cmd, argc, argv, rd);
	if (code)
		return code;
	if (rd->names.inlines && rd->names.no_symbols)
		return ui__usage_error(
			rd->command,
			"--inline reads files, --no-symbols forbids that: give one of them");
	if (rd->only_one && rd->nr_paths > 1)
		return ui__usage_error(rd->command, "give one recording, not '%s' and '%s'",
				       rd->paths[0], rd->paths[1]);
	code = choose_paths(rd);
	if (code)
		return code;
	selection__complete(&rd->sel);
	for (i = 0; i < rd->sel.nr_times; i++)
		if (rd->follow && time_span__has(&rd->sel.times[i], TIME_PERCENT))
			return ui__usage_error(rd->command,
					       "--follow excludes percentages in --time: the end "
					       "of the recording is unknown");
	return CMD_OK;
}

void reading__choose(struct reading *rd, unsigned int i)
{
	rd->path = rd->paths[0] = rd->paths[i];
	rd->nr_paths = 1;
}

/* Checks the output before reading: a file that must not be replaced is refused at once. */
static int open_picture(struct reading *rd)
{
	const struct output_opts opts = {
		.path = rd->flamegraph,
		.inputs = rd->paths,
		.nr_inputs = rd->nr_paths,
		.force = rd->force,
	};

	return rd->flamegraph ? output__open(&opts, &rd->picture) : 0;
}

static const char *shown_function(void *ctx, const char *sym)
{
	return user_names__function(ctx, sym);
}

static int check_boots(const struct reading *rd)
{
	unsigned int nr = stk_reader__nr_boots(rd->reader);

	if (!rd->one_boot || nr == 1)
		return CMD_OK;
	log_err(0,
		"the recordings are of %u boots, in which the same thread ids mean different tasks: "
		"give %s those of one boot at a time",
		nr, rd->command);
	return CMD_FAILURE;
}

static void select_events(struct reading *rd);

int reading__open(struct reading *rd, unsigned int want)
{
	struct stk_reader_opts opts = {
		.size = sizeof(opts),
		.want = rd->sel.has_filter ? want | STK_WANT_FIELDS : want,
		.follow = rd->follow,
		.log = ui__log,
	};
	struct sigaction sa = { .sa_handler = on_interrupt };
	int err;

	if (rd->is_default && strcmp(rd->path, "-") && access(rd->path, F_OK)) {
		log_err(0,
			"there is no '%s' here: give FILE, or record one with 'stackonce record'",
			rd->path);
		return CMD_FAILURE;
	}
	/* The reader logs every failure but -ENOMEM. */
	err = stk_reader__open_many(rd->paths, rd->nr_paths, &opts, &rd->reader);
	if (err == -ENOMEM)
		log_err(err, "read '%s'", rd->path);
	if (err || check_boots(rd) || open_picture(rd))
		return CMD_FAILURE;
	rd->filter_names = (struct event_filter_opts){ shown_function, &rd->names };
	err = selection__start(&rd->sel, rd->reader, &rd->filter_names);
	if (err) {
		log_err(err, "select events of '%s'", rd->path);
		return CMD_FAILURE;
	}
	select_events(rd);
	rd->live = stk_reader__is_live(rd->reader);
	user_names__start(&rd->names, rd->reader);
	if (rd->follow) {
		sigaction(SIGINT, &sa, NULL);
		sigaction(SIGTERM, &sa, NULL);
	}
	return CMD_OK;
}

char *event__full_name(const struct stk_event_type *t)
{
	char *name;

	if (asprintf(&name, "%s:%s", stk_event_type__system(t), stk_event_type__name(t)) < 0)
		return NULL;
	return name;
}

/* Lines "GIVEN<tab>PATH", of which a hostile recording may have any number. */
#define MAX_PROBE_PATHS 1024
#define MAX_PROBE_LINE (2 * PATH_MAX)

/* The event's name with the path as it was given to record. */
static int matches_given(const struct stk_reader *r, const char *glob,
			 const struct stk_event_type *t)
{
	const char *line = stk_reader__meta(r, "probe.paths"), *name = stk_event_type__name(t);
	unsigned int i;
	int got = 0;

	for (i = 0; i < MAX_PROBE_PATHS && line && *line && !got; i++) {
		size_t len = strnlen(line, MAX_PROBE_LINE), given_len;
		const char *end = memchr(line, '\n', len);

		if (!end && len == MAX_PROBE_LINE)
			break;
		len = end ? (size_t)(end - line) : len;
		given_len = strcspn(line, "\t\n");
		if (given_len < len && !strncmp(name, line + given_len + 1, len - given_len - 1) &&
		    name[len - given_len - 1] == ':') {
			_cleanup_free_ char *given = NULL;

			if (asprintf(&given, "%s:%.*s%s", stk_event_type__system(t), (int)given_len,
				     line, name + len - given_len - 1) < 0)
				given = NULL;
			got = given ? glob__matches(glob, given) : -ENOMEM;
		}
		line += len + (line[len] == '\n');
	}
	return got;
}

int event__matches(const struct stk_reader *r, const char *list, const struct stk_event_type *t)
{
	_cleanup_free_ char *copy = strdup(list), *full = event__full_name(t);
	char *rest = copy, *item;
	int got = copy && full ? 0 : -ENOMEM;

	while (!got && (item = event_list__next(&rest))) {
		/* "sched" means all events of that system, as in record */
		if (!strcmp(item, stk_event_type__system(t)))
			return 1;
		got = glob__matches(item, full)				   ?:
			      glob__matches(item, stk_event_type__name(t)) ?:
			      matches_given(r, item, t);
	}
	return got;
}

bool reading__selected(struct reading *rd, const struct stk_event *e)
{
	return !rd->sel.any || selection__has(&rd->sel, e);
}

bool reading__loss_selected(struct reading *rd, const struct stk_loss *loss)
{
	struct selection *sel = &rd->sel;

	if (!selection__has_time(sel, loss->first_ts, loss->last_ts))
		return false;
	if (sel->cpu.nr && loss->cpu != STK_ANY_CPU && !num_set__has(&sel->cpu, loss->cpu))
		return false;
	return !loss->type || selection__has_type(sel, loss->type);
}

/* ---- selection ------------------------------------------------------------------------------- */

static bool cpu_may_be_selected(void *ctx, uint32_t cpu)
{
	const struct reading *rd = ctx;

	return rd->only_events || !rd->sel.cpu.nr || num_set__has(&rd->sel.cpu, cpu);
}

static bool may_be_selected(void *ctx, const struct stk_event *e)
{
	struct reading *rd = ctx;

	return rd->only_events ? selection__has_type(&rd->sel, stk_event__type(e)) :
				 selection__may_have(&rd->sel, e);
}

/*
 * Lets the reader leave out what the options do not select, as far as it can know that.  If that
 * is all of it, events can be counted without being read one by one.
 */
static void select_events(struct reading *rd)
{
	struct selection *sel = &rd->sel;
	struct stk_select select = { .size = sizeof(select),
				     .to = UINT64_MAX,
				     .cpu = cpu_may_be_selected,
				     .event = may_be_selected,
				     .ctx = rd };
	bool has_times = sel->nr_times && !rd->only_events;

	rd->by_count = !sel->any || rd->every;
	/* While following, events that are not selected are returned: Ctrl-C must be seen. */
	if (rd->by_count || rd->follow)
		return;
	if (has_times && selection__times(sel, &select.from, &select.to))
		rd->by_count = sel->nr_times == 1 && !sel->has_filter;
	else
		rd->by_count = !has_times && !sel->has_filter;
	stk_reader__select(rd->reader, &select);
}

static bool is_wanted(struct reading *rd, const struct stk_event *e)
{
	if (rd->every || !rd->sel.any)
		return true;
	return rd->only_events ? selection__has_event(&rd->sel, e) : selection__has(&rd->sel, e);
}

/* At the first event, when event types and metadata are known; false: its options are wrong. */
static bool begin(struct reading *rd)
{
	struct stk_totals t;

	rd->begun = true;
	/* The first event that is returned need not be the first one of the recording. */
	stk_reader__totals(rd->reader, &t);
	if (need__filters(rd, false) ||
	    selection__find_times(&rd->sel, rd->paths, rd->nr_paths, t.first_ts))
		rd->code = CMD_FAILURE;
	return !rd->code;
}

/* What the reader returned, unless it is not known whether events are selected. */
static int check_selection(const struct reading *rd, int n)
{
	return n >= 0 && rd->sel.error ? rd->sel.error : n;
}

int reading__next_selected(struct reading *rd, const struct stk_event **ret_event)
{
	struct stk_totals t;
	int n;

	while ((n = check_selection(rd, stk_reader__next(rd->reader, ret_event))) == 1) {
		if (!rd->begun && !begin(rd))
			return -ECANCELED;
		if (is_wanted(rd, *ret_event))
			return 1;
		if (interrupted) /* while following a recording that grows faster than this reads */
			return -EAGAIN;
	}
	/* The reader has left out all events: the options must be checked nevertheless. */
	stk_reader__totals(rd->reader, &t);
	if (!n && !rd->begun && t.last_ts && !begin(rd))
		return -ECANCELED;
	return n;
}

static int next_counted(struct reading *rd, const struct stk_event **ret_event, uint64_t *ret_count)
{
	if (rd->by_count)
		return check_selection(rd,
				       stk_reader__next_counted(rd->reader, ret_event, ret_count));
	*ret_count = 1;
	return reading__next_selected(rd, ret_event);
}

/* Which times were selected, if the user did not say it in those of the recording's clock. */
static void put_notes(struct reading *rd, struct out *o)
{
	_cleanup_(strbuf__free) struct strbuf times = { 0 };

	if (rd->json || rd->no_notes || rd->flamegraph)
		return;
	selection__put_times(&rd->sel, &times);
	if (times.len)
		strbuf__printf(&o->b, "#%s\n", times.s);
}

/* ---- the loop -------------------------------------------------------------------------------- */

void reading__end(struct reading *rd, int err)
{
	rd->at_end = true;
	rd->error = err;
	if (rd->follow) /* the recorder has ended, or the rest is damaged */
		rd->live = false;
	if (!err)
		return;
	if (err == -ENOBUFS || err == -ENOMEM)
		log_err(err, "read '%s'", rd->path);
	else
		log_err(err == -EBADMSG ? 0 : err, "'%s' is damaged: the rest cannot be read",
			rd->path);
	rd->code = CMD_FAILURE;
}

static int next(struct reading *rd, struct out *o, void (*idle)(void *ctx), void *ctx,
		const struct stk_event **ret_event, uint64_t *ret_count)
{
	const struct timespec pause = { .tv_nsec = FOLLOW_NS };
	int n;

	while (!interrupted && !out__drain(o)) {
		bool has_begun = rd->begun;

		n = ret_count ? next_counted(rd, ret_event, ret_count) :
				reading__next_selected(rd, ret_event);
		if (n == -ECANCELED)
			return 0;
		if (!has_begun && rd->begun)
			put_notes(rd, o);
		if (n == 1)
			return 1;
		if (n != -EAGAIN || !rd->follow) {
			reading__end(rd, n);
			return 0;
		}
		if (idle)
			idle(ctx);
		if (!out__flush(o))
			nanosleep(&pause, NULL);
	}
	return 0;
}

int reading__next(struct reading *rd, struct out *o, void (*idle)(void *ctx), void *ctx,
		  const struct stk_event **ret_event)
{
	return next(rd, o, idle, ctx, ret_event, NULL);
}

int reading__next_counted(struct reading *rd, struct out *o, void (*idle)(void *ctx), void *ctx,
			  const struct stk_event **ret_event, uint64_t *ret_count)
{
	return next(rd, o, idle, ctx, ret_event, ret_count);
}

bool reading__is_live(const struct reading *rd)
{
	return rd->live || stk_reader__is_live(rd->reader);
}

bool reading__agree(const struct reading *rd, const char *const *keys)
{
	const struct stk_reader *first = stk_reader__member(rd->reader, 0), *other;
	unsigned int i, k;

	for (i = 1; (other = stk_reader__member(rd->reader, i)); i++)
		for (k = 0; keys[k]; k++)
			if (strcmp(stk_reader__meta(first, keys[k]) ?: "",
				   stk_reader__meta(other, keys[k]) ?: "") != 0)
				return false;
	return true;
}

/* Lines "EVENT COUNT FROM TO", times in ns; a hostile recording may have any number. */
#define MAX_UNVERIFIED 32

static void warn_unverified(const struct reading *rd, const char *key, const char *what,
			    const char *why)
{
	const char *line = stk_reader__meta(rd->reader, key);
	uint64_t count, from, to;
	char event[200];
	unsigned int i;

	for (i = 0; i < MAX_UNVERIFIED && line && *line; i++) {
		if (sscanf(line, "%199s %" SCNu64 " %" SCNu64 " %" SCNu64, event, &count, &from,
			   &to) == 4)
			log_warn("'%s': %s of %s from %" PRIu64 ".%09" PRIu64 " to %" PRIu64
				 ".%09" PRIu64 " are not verified, %" PRIu64 " in all: %s",
				 rd->path, what, event, from / 1000000000, from % 1000000000,
				 to / 1000000000, to % 1000000000, count, why);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
}

static void warn_unclean(const struct reading *rd, unsigned int i)
{
	const struct stk_reader *r = stk_reader__member(rd->reader, i);
	struct stk_totals t;

	stk_reader__totals(r, &t);
	if (t.clean_end)
		return;
	if (stk_reader__is_live(r) || (rd->live && rd->nr_paths == 1))
		log_warn("'%s' is being recorded: events not written yet are missing",
			 rd->paths[i]);
	else
		log_warn("'%s' ended abruptly: the last events may be missing", rd->paths[i]);
}

int reading__finish(struct reading *rd)
{
	struct stk_totals t;
	unsigned int i;

	stk_reader__totals(rd->reader, &t);
	if (t.bad_blocks) {
		log_err(0, "'%s': skipped %s", rd->path,
			text__count(t.bad_blocks, "damaged block").s);
		rd->code = CMD_FAILURE;
	}
	if (rd->sel.error && !rd->code) {
		log_err(rd->sel.error, "select from '%s'", rd->path);
		rd->code = CMD_FAILURE;
	}
	for (i = 0; rd->at_end && !t.clean_end && !rd->code && i < rd->nr_paths; i++)
		warn_unclean(rd, i);
	if (rd->at_end && (need__selected(rd) || need__filters(rd, true)))
		rd->code = CMD_FAILURE;
	warn_unverified(rd, "kernel_unwind.unverified", "kernel stacks",
			"a stack walked in that time differed from the kernel's");
	warn_unverified(rd, "fields.unverified", "fields",
			"a record filled in that time differed from the kernel's");
	user_names__finish(&rd->names);
	return rd->code;
}

void reading__free(struct reading *rd)
{
	stk_reader__free(rd->reader);
	output__free(rd->picture);
	user_names__free(&rd->names);
	selection__clear(&rd->sel);
	free(rd->paths);
	free(rd->several);
}
