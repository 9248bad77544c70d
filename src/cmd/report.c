// SPDX-License-Identifier: GPL-2.0-only
/* Where events come from: call stacks by frequency, or summed up as a tree. */
#include "reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/call_tree.h"
#include "analyze/stack_counts.h"
#include "cleanup.h"
#include "flames.h"
#include "frames.h"
#include "log.h"
#include "losses.h"

/* clang-format off */
static const char help[] =
	"Usage: stackonce report [OPTIONS] [FILE]\n"
	"Prints which call stacks events come from, most frequent first.\n"
	"\n"
	"  -i, --input FILE     the recording (default trace.stk, - is standard input)\n"
	"      --by LIST        a list for each event,comm,pid,tid,cpu (default event)\n"
	"      --top N          N stacks per list, 0: all (default 10)\n"
	"      --tree           a tree: below each function its callers\n"
	"      --callees        a tree: below each function what it calls\n"
	"      --min PERCENT    leave out branches below this (default 0.5)\n"
	"      --flamegraph FILE    an SVG picture with search and zoom, for a browser\n"
	"      --folded         \"group;caller;callee COUNT\" a line, for other tools\n"
	SELECT_HELP
	"      --kernel         kernel stacks only\n"
	"      --user           user stacks only\n"
	"      --inline         user functions that were inlined, and source lines\n"
	NAMES_HELP
	"      --json           one JSON object per stack, or per function of the tree\n"
	"  -h, --help           this text\n";
/* clang-format on */

enum {
	OPT_BY = OPT_OWN,
	OPT_TOP,
	OPT_TREE,
	OPT_CALLEES,
	OPT_MIN,
	OPT_KERNEL,
	OPT_USER,
	OPT_FLAMEGRAPH,
	OPT_FOLDED
};

static const struct option longopts[] = {
	READING_OPTIONS,
	SELECT_OPTIONS,
	NAMES_OPTIONS,
	INLINE_OPTION,
	{ "by", required_argument, NULL, OPT_BY },
	{ "top", required_argument, NULL, OPT_TOP },
	{ "tree", no_argument, NULL, OPT_TREE },
	{ "callees", no_argument, NULL, OPT_CALLEES },
	{ "min", required_argument, NULL, OPT_MIN },
	{ "kernel", no_argument, NULL, OPT_KERNEL },
	{ "user", no_argument, NULL, OPT_USER },
	{ "flamegraph", required_argument, NULL, OPT_FLAMEGRAPH },
	{ "folded", no_argument, NULL, OPT_FOLDED },
	{ 0 },
};

struct report {
	struct reading rd;
	struct out out;
	bool tree, callees, folded;
	const char *flamegraph; /* file of the picture; NULL: none */
	unsigned int by;
	unsigned int stacks; /* STACKS_...; 0: all */
	uint64_t top;
	uint64_t min; /* billionths of a percent */
	uint64_t total;
	struct stack_counts *counts;
	struct strbuf indent;
};

static void report__free(struct report *rp)
{
	stack_counts__free(rp->counts);
	strbuf__free(&rp->indent);
	reading__free(&rp->rd);
}

static int parse_by(struct report *rp, const char *list)
{
	static const char *const names[] = { "event", "comm", "pid", "tid", "cpu" };
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *name;
	unsigned int by = 0, i;

	while (copy && (name = strsep(&rest, ","))) {
		for (i = 0; i < ARRAY_SIZE(names) && strcmp(names[i], name); i++)
			;
		if (i == ARRAY_SIZE(names))
			return cmd__usage_error(rp->rd.command,
						"--by wants some of event,comm,pid,tid,cpu: '%s'",
						list);
		by |= 1u << i;
	}
	rp->by = by;
	return CMD_OK;
}

/* What is asked for must go together. */
static int check_options(const struct report *rp)
{
	if ((rp->folded || rp->flamegraph) && (rp->tree || rp->rd.json))
		return cmd__usage_error(rp->rd.command,
					"--%s goes neither with --json nor with a tree",
					rp->folded ? "folded" : "flamegraph");
	if (rp->folded && rp->flamegraph && !strcmp(rp->flamegraph, "-"))
		return cmd__usage_error(rp->rd.command,
					"--folded and --flamegraph - both want stdout");
	return CMD_OK;
}

static int take_option(void *ctx, int c, const char *arg)
{
	struct report *rp = ctx;

	switch (c) {
	case OPT_BY:
		return parse_by(rp, arg);
	case OPT_TOP:
		return cmd__number(rp->rd.command, "--top", arg, 0, UINT32_MAX, &rp->top);
	case OPT_MIN:
		if (parse__seconds(arg, &rp->min) || rp->min > 100000000000)
			return cmd__usage_error(rp->rd.command, "--min wants a percentage: '%s'",
						arg);
		return CMD_OK;
	case OPT_CALLEES:
		rp->callees = true;
		rp->tree = true;
		return CMD_OK;
	case OPT_TREE:
		rp->tree = true;
		return CMD_OK;
	case OPT_KERNEL:
		rp->stacks |= STACKS_KERNEL;
		return CMD_OK;
	case OPT_USER:
		rp->stacks |= STACKS_USER;
		return CMD_OK;
	case OPT_FLAMEGRAPH:
		rp->flamegraph = arg;
		return CMD_OK;
	case OPT_FOLDED:
		rp->folded = true;
		return CMD_OK;
	default:
		return reading__option(&rp->rd, c, arg);
	}
}

static int parse_options(struct report *rp, int argc, char **argv)
{
	int code = reading__options(&rp->rd, argc, argv, "i:h", longopts, take_option, rp);

	if (code || rp->rd.help)
		return code;
	return check_options(rp) ?: reading__file(&rp->rd, argc, argv);
}

/* ---- the head of a list --------------------------------------------------------------------- */

static void put_event_name(struct strbuf *b, const struct stk_event_type *t,
			   void (*put)(struct strbuf *b, const char *s, size_t n))
{
	_cleanup_free_ char *name = NULL;

	if (asprintf(&name, "%s:%s", stk_event_type__system(t), stk_event_type__name(t)) >= 0)
		put(b, name, strlen(name));
	else
		b->failed = true;
}

/* What tells the group apart, as text: "sched:sched_switch comm bash pid 12". */
static void put_group(struct report *rp, const struct stack_group *g)
{
	struct strbuf *b = &rp->out.b;
	size_t start = b->len;

	if (g->type)
		put_event_name(b, g->type, out__safe);
	if (rp->by & BY_COMM) {
		strbuf__puts(b, b->len > start ? " comm " : "comm ");
		out__safe(b, g->comm, strlen(g->comm));
	}
	if (rp->by & BY_PID)
		strbuf__printf(b, "%spid %u", b->len > start ? " " : "", g->pid);
	if (rp->by & BY_TID)
		strbuf__printf(b, "%stid %u", b->len > start ? " " : "", g->tid);
	if (rp->by & BY_CPU)
		strbuf__printf(b, "%scpu %u", b->len > start ? " " : "", g->cpu);
}

/* The same as JSON members, each with a comma behind. */
static void put_group_json(struct report *rp, const struct stack_group *g)
{
	struct strbuf *b = &rp->out.b;

	if (g->type) {
		strbuf__puts(b, "\"event\":");
		put_event_name(b, g->type, out__json);
		strbuf__putc(b, ',');
	}
	if (rp->by & BY_COMM) {
		strbuf__puts(b, "\"comm\":");
		out__json(b, g->comm, strlen(g->comm));
		strbuf__putc(b, ',');
	}
	if (rp->by & BY_PID)
		strbuf__printf(b, "\"pid\":%u,", g->pid);
	if (rp->by & BY_TID)
		strbuf__printf(b, "\"tid\":%u,", g->tid);
	if (rp->by & BY_CPU)
		strbuf__printf(b, "\"cpu\":%u,", g->cpu);
}

static void put_head(struct report *rp, const struct stack_group *g)
{
	struct strbuf *b = &rp->out.b;
	unsigned int nr = g->nr_stacks, i;

	strbuf__puts(b, out__colour(&rp->out, OUT_HEAD));
	put_group(rp, g);
	strbuf__puts(b, out__colour(&rp->out, OUT_PLAIN));
	strbuf__puts(b, "  ");
	out__number(b, g->count, 0);
	strbuf__puts(b, g->count == 1 ? " event (" : " events (");
	out__percent(b, g->count, rp->total, 0);
	strbuf__puts(b, "%), ");
	for (i = 0; i < g->nr_stacks && (g->stacks[i].kstack || g->stacks[i].ustack); i++)
		;
	/* One of them may be those without a stack. */
	nr -= i < g->nr_stacks;
	out__number(b, nr, 0);
	strbuf__puts(b, nr == 1 ? " stack\n" : " stacks\n");
}

/* ---- stacks --------------------------------------------------------------------------------- */

/* The functions of these stacks, innermost first: callers go on from the kernel into the program. */
static int add_frames(void *ctx, const struct stack_count *s, struct call_stack *ret_stack)
{
	static const char unknown[] = "?";
	const uint32_t stacks[] = { s->kstack, s->ustack };
	struct stk_frame frames[STK_MAX_DEPTH];
	const struct name_line *lines;
	struct report *rp = ctx;
	unsigned int i, k, l, n, nr;
	int err = 0;

	for (k = 0; k < ARRAY_SIZE(stacks); k++) {
		n = stack__frames(rp->rd.reader, stacks[k], frames);
		for (i = 0; i < n && !err; i++) {
			nr = names__lines(&rp->rd.names, &frames[i], &lines);
			for (l = 0; l + 1 < nr && !err; l++)
				err = call_stack__add(ret_stack, &frames[i],
						      lines[l].function ?: unknown);
			if (!err)
				err = call_stack__add(ret_stack, &frames[i], NULL);
		}
	}
	return err;
}

/* "stack_id 1 (truncated)" */
static void put_stack_id(struct report *rp, const char *what, uint32_t number)
{
	struct strbuf *b = &rp->out.b;
	struct stk_stack st;

	if (!number || stk_reader__stack(rp->rd.reader, number, &st))
		return;
	strbuf__printf(b, "%s%u", what, st.id);
	if (st.end != STK_END_COMPLETE)
		strbuf__printf(b, " (%s)", stk_stack_end_name(st.end));
}

static void put_frames(struct report *rp, uint32_t stack)
{
	static const char indent[] = "                       ";
	struct stk_frame frames[STK_MAX_DEPTH];
	struct names *names = &rp->rd.names;
	struct strbuf *b = &rp->out.b;
	const struct name_line *lines;
	unsigned int n = stack__frames(rp->rd.reader, stack, frames), i, l, nr;

	for (i = 0; i < n; i++) {
		nr = names__lines(names, &frames[i], &lines);
		for (l = 0; l + 1 < nr; l++) {
			strbuf__puts(b, indent);
			frame__inlined(b, &lines[l]);
			strbuf__putc(b, '\n');
		}
		strbuf__puts(b, indent);
		frame__text(names, b, &frames[i]);
		if (nr)
			frame__source(b, " at ", &lines[nr - 1]);
		strbuf__putc(b, '\n');
	}
}

static void put_stack(struct report *rp, const struct stack_group *g, const struct stack_count *s)
{
	struct strbuf *b = &rp->out.b;
	size_t len;

	strbuf__puts(b, out__colour(&rp->out, OUT_NUMBER));
	out__number(b, s->count, 12);
	out__percent(b, s->count, g->count, 8);
	strbuf__puts(b, "%");
	strbuf__puts(b, out__colour(&rp->out, OUT_PLAIN));
	len = b->len;
	put_stack_id(rp, "  stack_id ", s->kstack);
	put_stack_id(rp, b->len > len ? ", user " : "  user stack_id ", s->ustack);
	strbuf__puts(b, b->len > len ? "\n" : "  no stack\n");
	put_frames(rp, s->kstack);
	put_frames(rp, s->ustack);
}

static void put_stack_json(struct report *rp, const struct stack_group *g,
			   const struct stack_count *s)
{
	struct strbuf *b = &rp->out.b;

	strbuf__putc(b, '{');
	put_group_json(rp, g);
	strbuf__printf(b, "\"count\":%" PRIu64 ",\"percent\":", s->count);
	out__percent(b, s->count, g->count, 0);
	strbuf__puts(b, ",\"stack\":");
	stack__json_id(rp->rd.reader, b, s->kstack);
	strbuf__puts(b, ",\"ustack\":");
	stack__json_id(rp->rd.reader, b, s->ustack);
	strbuf__puts(b, ",\"frames\":");
	stack__json_frames(&rp->rd.names, b, s->kstack, s->ustack);
	strbuf__puts(b, "}\n");
}

static void put_stacks(struct report *rp, const struct stack_group *g)
{
	unsigned int n = rp->top ? MIN(rp->top, g->nr_stacks) : g->nr_stacks, i;
	uint64_t rest = 0;

	if (!rp->rd.json)
		put_head(rp, g);
	for (i = 0; i < n && !out__drain(&rp->out); i++) {
		if (rp->rd.json)
			put_stack_json(rp, g, &g->stacks[i]);
		else
			put_stack(rp, g, &g->stacks[i]);
	}
	for (; i < g->nr_stacks; i++)
		rest += g->stacks[i].count;
	if (rest && !rp->rd.json) {
		out__number(&rp->out.b, rest, 12);
		out__percent(&rp->out.b, rest, g->count, 8);
		strbuf__printf(&rp->out.b, "%%  in %u more\n", g->nr_stacks - n);
	}
	if (!rp->rd.json)
		strbuf__putc(&rp->out.b, '\n');
}

/* ---- trees ---------------------------------------------------------------------------------- */

static bool too_small(const struct report *rp, const struct stack_group *g, const struct call_node *n)
{
	return (double)n->count * 100e9 < (double)rp->min * g->count;
}

static void put_function(struct report *rp, const struct call_frame *f)
{
	struct strbuf *b = &rp->out.b;

	if (f->inlined) {
		out__safe(b, f->inlined, strlen(f->inlined));
		strbuf__puts(b, " (inlined)");
		frame__module(b, &f->frame);
	} else {
		frame__function(&rp->rd.names, b, &f->frame);
	}
}

static void put_function_json(struct report *rp, const struct call_frame *f)
{
	struct strbuf *b = &rp->out.b;

	if (f->inlined) {
		strbuf__puts(b, "\"inlined\":");
		out__json(b, f->inlined, strlen(f->inlined));
		strbuf__putc(b, ',');
	}
	frame__json_function(&rp->rd.names, b, &f->frame);
}

static void put_tree_json(struct report *rp, const struct stack_group *g,
			  const struct call_node *node, unsigned int depth)
{
	struct strbuf *b = &rp->out.b;
	unsigned int i;

	for (i = 0; i < node->nr_children && !out__drain(&rp->out); i++) {
		const struct call_node *n = node->children[i];

		if (too_small(rp, g, n))
			break;
		strbuf__putc(b, '{');
		put_group_json(rp, g);
		strbuf__printf(b,
			       "\"depth\":%u,\"count\":%" PRIu64 ",\"self\":%" PRIu64 ",\"percent\":",
			       depth, n->count, n->self);
		out__percent(b, n->count, g->count, 0);
		strbuf__printf(b, ",\"ip\":\"0x%" PRIx64 "\",", n->key.start);
		put_function_json(rp, &n->frame);
		strbuf__puts(b, "}\n");
		put_tree_json(rp, g, n, depth + 1);
	}
}

/* A chain of only children stands in one column; where it forks, the branches are indented. */
static void put_tree(struct report *rp, const struct stack_group *g, const struct call_node *node)
{
	struct strbuf *b = &rp->out.b;
	size_t indent = rp->indent.len;
	unsigned int i, nr = 0;

	while (nr < node->nr_children && !too_small(rp, g, node->children[nr]))
		nr++;
	for (i = 0; i < nr && !out__drain(&rp->out); i++) {
		const struct call_node *n = node->children[i];
		bool top = !indent;

		strbuf__add(b, rp->indent.s ?: "", indent);
		strbuf__puts(b, top ? "" : i + 1 < nr ? "|-- " : "`-- ");
		strbuf__puts(b, out__colour(&rp->out, OUT_NUMBER));
		out__percent(b, n->count, g->count, 6);
		strbuf__puts(b, "% ");
		strbuf__puts(b, out__colour(&rp->out, OUT_PLAIN));
		put_function(rp, &n->frame);
		strbuf__putc(b, '\n');
		strbuf__puts(&rp->indent, top	     ? "        " :
					  i + 1 < nr ? "|           " :
						       "            ");
		while (n->nr_children == 1 && n->children[0]->count == n->count) {
			n = n->children[0];
			strbuf__add(b, rp->indent.s ?: "", rp->indent.len);
			put_function(rp, &n->frame);
			strbuf__putc(b, '\n');
		}
		put_tree(rp, g, n);
		rp->indent.len = indent;
	}
}

static int put_group_tree(struct report *rp, const struct stack_group *g)
{
	_cleanup_(call_tree__freep) struct call_tree *tree = NULL;
	int err;

	err = call_tree__new(g, !rp->callees, add_frames, rp, &tree);
	if (err)
		return log_err(err, "sum up the stacks");
	if (rp->rd.json) {
		put_tree_json(rp, g, call_tree__root(tree), 0);
		return 0;
	}
	put_head(rp, g);
	put_tree(rp, g, call_tree__root(tree));
	if (call_tree__root(tree)->self) {
		out__percent(&rp->out.b, call_tree__root(tree)->self, g->count, 6);
		strbuf__puts(&rp->out.b, "% no stack\n");
	}
	strbuf__putc(&rp->out.b, '\n');
	return 0;
}

/* Events of all types that happened and are not in the recording for want of room or time. */
static uint64_t sum_lost(const struct stk_reader *r)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < stk_reader__nr_types(r); i++)
		sum += losses__of(r, stk_reader__type(r, i), true);
	return sum;
}

/* What the shares below are of, and whether something is missing. */
static void put_title(struct report *rp)
{
	struct strbuf *b = &rp->out.b;
	struct stk_totals t;
	uint64_t lost;

	stk_reader__totals(rp->rd.reader, &t);
	lost = sum_lost(rp->rd.reader);
	strbuf__puts(b, "# ");
	out__number(b, rp->total, 0);
	if (rp->rd.sel.any) {
		strbuf__puts(b, " of ");
		out__number(b, t.events, 0);
	}
	strbuf__printf(b, " events, recorded in %.3f s", (double)(t.last_ts - t.first_ts) / 1e9);
	if (lost) {
		strbuf__puts(b, ", ");
		out__number(b, lost, 0);
		strbuf__puts(b, " lost (see stackonce info)");
	}
	strbuf__puts(b, "\n\n");
}

/* ---- flame graphs --------------------------------------------------------------------------- */

/* The frame below a group's stacks: "bash", "sched:sched_switch bash pid 12". */
static void put_label(struct strbuf *b, unsigned int by, const struct stack_group *g)
{
	if (g->type)
		strbuf__printf(b, " %s:%s", stk_event_type__system(g->type),
			       stk_event_type__name(g->type));
	if (by & BY_COMM)
		strbuf__printf(b, " %s", g->comm);
	if (by & BY_PID)
		strbuf__printf(b, " pid %u", g->pid);
	if (by & BY_TID)
		strbuf__printf(b, " tid %u", g->tid);
	if (by & BY_CPU)
		strbuf__printf(b, " cpu %u", g->cpu);
}

static int add_flames(struct report *rp, struct flamegraph *f, const struct stack_group *g)
{
	_cleanup_(strbuf__free) struct strbuf label = { 0 };
	unsigned int i;
	int err;

	put_label(&label, rp->by, g);
	err = strbuf__failed(&label) ? -ENOMEM : 0;
	for (i = 0; i < g->nr_stacks && !err; i++)
		err = flames__add(f, rp->rd.reader, &rp->rd.names, label.len ? label.s + 1 : NULL,
				  g->stacks[i].kstack, g->stacks[i].ustack, g->stacks[i].count);
	return err;
}

static int write_flames(struct report *rp, const struct flamegraph *f)
{
	_cleanup_(strbuf__free) struct strbuf subtitle = { 0 };
	uint64_t lost = sum_lost(rp->rd.reader);
	struct stk_totals t;

	stk_reader__totals(rp->rd.reader, &t);
	strbuf__printf(&subtitle, "%s, %.3f s", rp->rd.path, (double)(t.last_ts - t.first_ts) / 1e9);
	if (rp->rd.sel.any)
		strbuf__printf(&subtitle, ", selected from %" PRIu64 " events", t.events);
	if (lost)
		strbuf__printf(&subtitle, ", %" PRIu64 " lost", lost);
	if (strbuf__failed(&subtitle))
		return log_err(-ENOMEM, "draw the flame graph");
	return flames__write(f, rp->flamegraph,
			     &(struct flame_text){ .title = "Where events come from",
						   .subtitle = subtitle.s,
						   .unit = "events" });
}

static int put_flames(struct report *rp, const struct stack_group *groups, unsigned int nr)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = NULL;
	unsigned int i;
	int err = flamegraph__new(&f);

	for (i = 0; i < nr && !err; i++)
		err = add_flames(rp, f, &groups[i]);
	if (err)
		return log_err(err, "sum up the stacks");
	if (rp->folded)
		flamegraph__folded(f, &rp->out.b);
	return rp->flamegraph ? write_flames(rp, f) : 0;
}

static int put_report(struct report *rp)
{
	const struct stack_group *groups;
	unsigned int nr, i;
	int err;

	err = stack_counts__finish(rp->counts, rp->rd.reader, &groups, &nr);
	if (err)
		return log_err(err, "sort the stacks");
	if (rp->folded || rp->flamegraph)
		return put_flames(rp, groups, nr);
	for (i = 0; i < nr; i++)
		rp->total += groups[i].count;
	if (nr && !rp->rd.json)
		put_title(rp);
	if (!nr && !rp->rd.json)
		strbuf__puts(&rp->out.b, rp->rd.sel.any ? "No events were selected.\n" :
							  "The recording has no events.\n");
	for (i = 0; i < nr && !err && !out__drain(&rp->out); i++) {
		if (rp->tree)
			err = put_group_tree(rp, &groups[i]);
		else
			put_stacks(rp, &groups[i]);
	}
	return err;
}

int cmd_report(int argc, char **argv)
{
	_cleanup_(report__free) struct report rp = {
		.rd.command = argv[0], .by = BY_EVENT, .top = 10, .min = 500000000
	};
	const struct stk_event *e;
	int code, err;

	code = parse_options(&rp, argc, argv);
	if (code)
		return code;
	if (rp.rd.help)
		return cmd__print(help);
	code = reading__open(&rp.rd, STK_WANT_EVENTS);
	if (code)
		return code;
	out__open(&rp.out, true);
	err = stack_counts__new(rp.by, rp.stacks ?: STACKS_KERNEL | STACKS_USER, &rp.counts);
	while (!err && reading__next(&rp.rd, &rp.out, NULL, NULL, &e))
		err = stack_counts__add(rp.counts, e);
	if (err)
		log_err(err, "count the stacks");
	else
		err = put_report(&rp);
	return out__close(&rp.out, err ? CMD_FAILURE : reading__finish(&rp.rd));
}
