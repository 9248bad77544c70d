// SPDX-License-Identifier: GPL-2.0-only
/* stackonce lifecycle: follows processes from fork to free. */
#include "lifecycle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "ui/need.h"
#include "ui/presets.h"

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct lifecycle_cmd, rd, A_RECORDING),
	{ "--top N", "print the first N ended processes by --sort, 0: all (default 20)",
	  OPT_NUMBER(struct lifecycle_cmd, top, 0, UINT32_MAX) },
	{ "--sort KEY", "%s (default zombie): longest first, or earliest exit first",
	  OPT_WORD(struct lifecycle_cmd, sort),
	  WORDS([SORT_ZOMBIE] = "zombie", [SORT_LIFETIME] = "lifetime",
		[SORT_TEARDOWN] = "teardown", [SORT_FREE] = "free", [SORT_TIME] = "time") },
	{ "--tree", "print all processes, each below its parent",
	  OPT_FLAG(struct lifecycle_cmd, tree) },
	{ "--threads", "include threads", OPT_FLAG(struct lifecycle_cmd, threads) },
	PID_OPTION("print each step in the lifecycle of these processes"),
	COMM_OPTION("only processes with these names, separated by commas"),
	TIME_OPTION("only processes that lived"),
	EVENT_OPTION("read only these events"),
	{ "--stacks", "print the full stacks of the zombies' parents and of steps",
	  OPT_FLAG(struct lifecycle_cmd, stacks) },
	FULL_FILES_OPTION,
	NAMES_OPTIONS,
	JSON_OPTION("print one JSON object per process, per step and for the summary"),
	HELP_OPTION
};
/* clang-format on */

const char *const span_names[NR_SPANS] = { "lifetime", "teardown", "zombie", "reap_to_free" };

struct life_span life_span(const struct life *l, unsigned int which)
{
	return which == SPAN_LIFETIME ? life__lifetime(l) :
	       which == SPAN_TEARDOWN ? life__teardown(l) :
	       which == SPAN_ZOMBIE   ? life__zombie(l) :
					life__unfreed(l);
}

struct life_span life_time_in_state(const struct lifecycle_cmd *c, const struct life *l)
{
	struct life_time since = l->state == LIFE_ZOMBIE ? l->zombie :
				 l->state == LIFE_REAPED ? l->reaped :
							   l->exit;
	uint64_t end = lifecycle__end_ts(c->l);

	if (!since.to)
		return (struct life_span){ 0 };
	since.to = MIN(since.to, end);
	return (struct life_span){ end - since.to,
				   since.from ? end - MIN(since.from, end) : LIFE_EVER, true };
}

struct life_span life_span_so_far(const struct lifecycle_cmd *c, const struct life *l,
				  unsigned int which)
{
	struct life_span s = life_span(l, which);

	if ((l->state == LIFE_ZOMBIE && which == SPAN_ZOMBIE) ||
	    (l->state == LIFE_REAPED && which == SPAN_UNFREED)) {
		s = life_time_in_state(c, l);
		s.max = LIFE_EVER;
	}
	return s;
}

bool life_is_overdue(const struct lifecycle_cmd *c, const struct life *l)
{
	return l->state == LIFE_REAPED && lifecycle__end_ts(c->l) - l->reaped.to > LIFE_LEAK_NS;
}

bool life_is_leak(const struct lifecycle_cmd *c, const struct life *l)
{
	return life_is_overdue(c, l) && lifecycle__has_all_frees(c->l);
}

/* ---- options --------------------------------------------------------------------------------- */

static int parse_options(struct lifecycle_cmd *c, int argc, char **argv)
{
	int code = reading__options(&c->rd, &cmd_lifecycle, argc, argv);

	/* Processes are selected and not events: a part of a lifecycle would give wrong results. */
	c->rd.only_events = true;
	c->steps = c->rd.sel.pid.nr;
	if (!code && c->tree && c->steps)
		return ui__usage_error(argv[0], "--tree and --pid exclude each other");
	return code;
}

/* ---- kept processes -------------------------------------------------------------------------- */

static bool selected(struct lifecycle_cmd *c, const struct life *l)
{
	struct selection *sel = &c->rd.sel;
	uint64_t last = l->state == LIFE_FREED || l->state == LIFE_GONE ? life_last(l) : UINT64_MAX;

	if (!selection__has_time(sel, l->born.from, last))
		return false;
	if (sel->pid.nr && !num_set__has(&sel->pid, l->self.pid))
		return false;
	return selection__has_comm(sel, l->self.comm, false);
}

static uint64_t key_of(const struct lifecycle_cmd *c, const struct life *l)
{
	static const unsigned int spans[] = { [SORT_ZOMBIE] = SPAN_ZOMBIE,
					      [SORT_LIFETIME] = SPAN_LIFETIME,
					      [SORT_TEARDOWN] = SPAN_TEARDOWN,
					      [SORT_FREE] = SPAN_UNFREED };

	if (c->sort == SORT_TIME)
		return UINT64_MAX - l->exit.to;
	/* The lower bound of an interval. */
	return life_span_so_far(c, l, spans[c->sort]).min;
}

/* a is printed before b. */
static bool is_before(const struct kept *a, const struct kept *b)
{
	if (a->key != b->key)
		return a->key > b->key;
	return a->life.self.id != b->life.self.id ? a->life.self.id < b->life.self.id :
						    a->life.tid < b->life.tid;
}

int kept__compare(const void *a, const void *b)
{
	return is_before(a, b) ? -1 : is_before(b, a);
}

static void swap(struct kept *a, struct kept *b)
{
	struct kept t = *a;

	*a = *b;
	*b = t;
}

static void sift_up(struct kept *v, size_t i)
{
	for (; i && is_before(&v[(i - 1) / 2], &v[i]); i = (i - 1) / 2)
		swap(&v[(i - 1) / 2], &v[i]);
}

static void sift_down(struct kept *v, size_t nr)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < nr) {
		if (child + 1 < nr && is_before(&v[child], &v[child + 1]))
			child++;
		if (!is_before(&v[i], &v[child]))
			return;
		swap(&v[i], &v[child]);
		i = child;
	}
}

static int add_kept(struct kept **v, size_t *nr, size_t *cap, const struct kept *k)
{
	if (array__grow(v, *nr, cap))
		return -ENOMEM;
	(*v)[(*nr)++] = *k;
	return 0;
}

static int keep(struct lifecycle_cmd *c, const struct life *l, bool ended)
{
	struct kept k = { .life = *l, .key = key_of(c, l) };
	bool full = ended && !c->tree && c->top && c->nr_ended == c->top;
	int err;

	if (full && !is_before(&k, &c->ended[0]))
		return 0;
	err = full ? 0 : stk_reader__charge(c->rd.reader, sizeof(k) + strlen(l->exec), 0);
	if (err)
		return err;
	k.life.exec = strdup(l->exec);
	if (!k.life.exec)
		return -ENOMEM;
	if (full) {
		free((char *)c->ended[0].life.exec);
		c->ended[0] = k;
		sift_down(c->ended, c->nr_ended);
		return 0;
	}
	err = ended ? add_kept(&c->ended, &c->nr_ended, &c->cap_ended, &k) :
		      add_kept(&c->remaining, &c->nr_remaining, &c->cap_remaining, &k);
	if (err)
		free((char *)k.life.exec);
	else if (ended && !c->tree)
		sift_up(c->ended, c->nr_ended - 1);
	return err;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static void count_fate(struct lifecycle_totals *t, const struct life *l)
{
	t->ended++;
	t->uncertain += l->uncertain;
	t->signals += l->how == LIFE_HOW_SIGNAL;
	t->unknown += l->how == LIFE_HOW_UNKNOWN;
	t->status_0 += l->how == LIFE_HOW_EXIT && !l->code;
	t->status_other += l->how == LIFE_HOW_EXIT && l->code;
}

static int count(struct lifecycle_cmd *c, const struct life *l)
{
	struct lifecycle_totals *t = l->is_thread ? &c->thread_totals : &c->processes;
	unsigned int i;
	int err = 0;

	t->alive += l->state == LIFE_ALIVE;
	t->exiting += l->state == LIFE_EXITING;
	t->zombies += l->state == LIFE_ZOMBIE;
	t->unfreed += l->state == LIFE_REAPED;
	t->overdue += life_is_overdue(c, l);
	t->freed += l->state == LIFE_FREED;
	t->gone += l->state == LIFE_GONE;
	t->reaped += l->reaped.to && l->reaped.from == l->reaped.to;
	t->reaped_unseen += l->reaped.from < l->reaped.to;
	if (l->exit.to)
		count_fate(t, l);
	for (i = 0; !err && i < NR_SPANS; i++) {
		struct life_span s = life_span(l, i);

		if (s.any && s.min == s.max)
			err = durations__add(&t->spans[i].known, s.min);
		else
			t->spans[i].between += s.any;
	}
	return err;
}

static void on_life(void *ctx, const struct life *l)
{
	struct lifecycle_cmd *c = ctx;
	bool ended = l->state == LIFE_FREED || l->state == LIFE_GONE;

	c->nr_lives++;
	c->nr_of_pid += num_set__has(&c->rd.sel.pid, l->self.pid);
	if (c->err || !selected(c, l))
		return;
	c->err = count(c, l);
	/* Only the tree prints processes that are alive. */
	if (!c->err && (c->tree || l->state != LIFE_ALIVE))
		c->err = keep(c, l, ended || c->tree);
}

static void on_step(void *ctx, const struct life_step *s)
{
	struct lifecycle_cmd *c = ctx;

	struct selection *sel = &c->rd.sel;

	if (!num_set__has(&sel->pid, s->self.pid) || !selection__has_time(sel, s->ts, s->ts) ||
	    !selection__has_comm(sel, s->self.comm, false))
		return;
	if (c->rd.json)
		lifecycle__json_step(c, s);
	else
		lifecycle__text_step(c, s);
}

/* ---- the run --------------------------------------------------------------------------------- */

static void put_json(struct lifecycle_cmd *c)
{
	size_t i;

	if (c->tree)
		c->err = lifecycle__walk(c, lifecycle__json_life);
	for (i = 0; !c->tree && i < c->nr_ended && !out__drain(&c->out); i++)
		lifecycle__json_life(c, &c->ended[i].life, -1);
	for (i = 0; i < c->nr_remaining && !out__drain(&c->out); i++)
		lifecycle__json_life(c, &c->remaining[i].life, -1);
	lifecycle__json_summary(c);
}

static void put_steps_end(struct lifecycle_cmd *c)
{
	size_t i;

	strbuf__putc(&c->out.b, '\n');
	for (i = 0; i < c->nr_ended; i++)
		lifecycle__text_life(c, &c->ended[i].life);
	for (i = 0; i < c->nr_remaining; i++)
		lifecycle__text_remaining(c, &c->remaining[i].life);
}

/* Whether the recording can have an answer. */
static int check(struct lifecycle_cmd *c)
{
	/* the report lists which of them are missing, and what is unknown for that reason */
	static const char *const events[] = { "sched:sched_process_*", NULL };

	if (need__events(&c->rd, events, "-a --preset lifecycle"))
		return CMD_FAILURE;
	if (!c->nr_lives)
		need__all_tasks(&c->rd, preset__find("lifecycle"));
	if (c->rd.code || !c->steps || c->nr_of_pid)
		return CMD_OK;
	log_err(0,
		"'%s' has no process with an id of --pid; 'stackonce lifecycle --tree %s' lists "
		"those it has",
		c->rd.path, c->rd.paths[0]);
	return CMD_FAILURE;
}

static void put(struct lifecycle_cmd *c)
{
	if (!c->tree && c->nr_ended)
		qsort(c->ended, c->nr_ended, sizeof(*c->ended), kept__compare);
	if (c->rd.json)
		put_json(c);
	else if (c->steps)
		put_steps_end(c);
	else if (c->tree)
		lifecycle__text_tree(c);
	else
		lifecycle__text(c);
}

static int run_lifecycle(struct lifecycle_cmd *c)
{
	const struct lifecycle_opts opts = { .process = on_life,
					     .thread = c->threads ? on_life : NULL,
					     .step = c->steps ? on_step : NULL,
					     .ctx = c };
	const struct stk_event *e;
	int err, code = CMD_OK;

	out__open(&c->out, true);
	err = lifecycle__new(c->rd.reader, &opts, &c->l);
	while (!err && !c->err && reading__next(&c->rd, &c->out, NULL, NULL, &e)) {
		c->first_ts = c->first_ts ?: stk_event__ts(e);
		err = lifecycle__add(c->l, e);
	}
	err = err ?: lifecycle__finish(c->l);
	err = err ?: c->err;
	if (!err)
		code = check(c);
	if (!err && !code)
		put(c);
	err = err ?: c->err;
	if (err)
		log_err(err, "print process lifecycles");
	return out__close(&c->out, err ? CMD_FAILURE : reading__finish(&c->rd) ?: code);
}

static void lifecycle_cmd__free(struct lifecycle_cmd *c)
{
	unsigned int i;
	size_t k;

	for (k = 0; k < c->nr_ended; k++)
		free((char *)c->ended[k].life.exec);
	for (k = 0; k < c->nr_remaining; k++)
		free((char *)c->remaining[k].life.exec);
	free(c->ended);
	free(c->remaining);
	for (i = 0; i < NR_SPANS; i++) {
		durations__clear(&c->processes.spans[i].known);
		durations__clear(&c->thread_totals.spans[i].known);
	}
	lifecycle__free(c->l);
	reading__free(&c->rd);
}

static int run(int argc, char **argv)
{
	_cleanup_(lifecycle_cmd__free) struct lifecycle_cmd c = { .rd.one_boot = true, .top = 20 };
	int code;

	code = parse_options(&c, argc, argv) ?:
		       reading__open(&c.rd, STK_WANT_EVENTS | STK_WANT_FIELDS);
	return code ?: run_lifecycle(&c);
}

const struct cmd cmd_lifecycle = {
	.name = "lifecycle",
	.summary = "process lifecycles from fork to free: exits, zombies, leaks",
	.run = run,
	.options = options,
	.text = "Prints process lifecycles from fork to free: exits, unreaped zombies, leaks, and\n"
		"how long each phase takes.\n"
		"Record with: stackonce record -a --preset lifecycle\n",
};
