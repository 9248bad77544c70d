// SPDX-License-Identifier: GPL-2.0-only
/* Prints a group of events as a list of stacks or as a tree of functions. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/stacks/call_tree.h"
#include "cleanup.h"
#include "log.h"
#include "ui/column.h"
#include "ui/frames.h"

/* ---- headings -------------------------------------------------------------------------------- */

/* The key of a group: "sched:sched_switch comm bash pid 12", or JSON members. */
static void put_group(struct report *rp, const struct stack_group *g)
{
	const struct {
		unsigned int by;
		const char *name;
		uint32_t v;
	} numbers[] = { { BY_PID, "pid", g->pid },
			{ BY_TID, "tid", g->tid },
			{ BY_CPU, "cpu", g->cpu } };
	_cleanup_free_ char *event = g->type ? event__full_name(g->type) : NULL;
	struct json *j = &rp->out.json;
	struct strbuf *b = &rp->out.b;
	size_t start = b->len, i;

	b->failed |= g->type && !event;
	if (event && rp->rd.json)
		json__string(j, "event", event);
	else if (event)
		strbuf__text(b, event);
	if (rp->by & BY_COMM && rp->rd.json) {
		json__string(j, "comm", g->comm);
	} else if (rp->by & BY_COMM) {
		strbuf__puts(b, b->len > start ? " comm " : "comm ");
		strbuf__text(b, g->comm);
	}
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!(rp->by & numbers[i].by))
			continue;
		if (rp->rd.json)
			json__u64(j, numbers[i].name, numbers[i].v);
		else
			strbuf__printf(b, "%s%s %u", b->len > start ? " " : "", numbers[i].name,
				       numbers[i].v);
	}
}

static void put_head(struct report *rp, const struct stack_group *g)
{
	unsigned int nr = g->nr_stacks, i;

	out__paint(&rp->out, OUT_HEAD);
	put_group(rp, g);
	out__paint(&rp->out, OUT_PLAIN);
	for (i = 0; i < g->nr_stacks && (g->stacks[i].kstack || g->stacks[i].ustack); i++)
		;
	/* The entry for events without a stack is no stack. */
	nr -= i < g->nr_stacks;
	strbuf__printf(&rp->out.b, "  %s event%s (%.2f%%), %s stack%s\n", text__number(g->count).s,
		       g->count == 1 ? "" : "s", rp->total ? 100.0 * g->count / rp->total : 0.0,
		       text__number(nr).s, nr == 1 ? "" : "s");
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* The functions of these stacks, innermost first: kernel stack, then user stack. */
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
			nr = user_names__lines(&rp->rd.names, &frames[i], &lines);
			for (l = 0; l + 1 < nr && !err; l++)
				err = call_stack__add(ret_stack, &frames[i],
						      lines[l].function ?: unknown);
			if (!err)
				err = call_stack__add(ret_stack, &frames[i], NULL);
		}
	}
	return err;
}

/* The columns of a list of stacks. */
static void put_columns(struct out *o, const struct stack_group *g, const struct stack_count *s)
{
	column__number(o, "count", 12, s->count);
	column__percent(o, "percent", 9, s->count, g->count);
}

void report__put_columns(struct report *rp)
{
	rp->out.heads = true;
	put_columns(&rp->out, &(struct stack_group){ 0 }, &(struct stack_count){ 0 });
	rp->out.heads = false;
	strbuf__puts(&rp->out.b, "  stack\n");
}

static void put_stack(struct report *rp, const struct stack_group *g, const struct stack_count *s)
{
	struct strbuf *b = &rp->out.b;

	out__paint(&rp->out, OUT_NUMBER);
	put_columns(&rp->out, g, s);
	out__paint(&rp->out, OUT_PLAIN);
	strbuf__putc(b, ' ');
	if (!stack__put_ids(rp->rd.reader, b, s->kstack, s->ustack))
		strbuf__puts(b, " no stack");
	strbuf__putc(b, '\n');
	stack__put(&rp->rd.names, b, "                       ", s->kstack, s->ustack);
}

static void put_stack_json(struct report *rp, const struct stack_group *g,
			   const struct stack_count *s)
{

	json__record(&rp->out.json, "stack");
	put_group(rp, g);
	put_columns(&rp->out, g, s);
	stack__json(&rp->rd.names, &rp->out.json, s->kstack, s->ustack, true);
	json__end(&rp->out.json);
}

void report__put_stacks(struct report *rp, const struct stack_group *g)
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
		put_columns(&rp->out, g, &(struct stack_count){ .count = rest });
		strbuf__printf(&rp->out.b, "  in %u more\n", g->nr_stacks - n);
	}
	if (!rp->rd.json)
		strbuf__putc(&rp->out.b, '\n');
}

/* ---- trees ----------------------------------------------------------------------------------- */

static bool too_small(const struct report *rp, const struct stack_group *g,
		      const struct call_node *n)
{
	return (double)n->count * 100e9 < (double)rp->min * g->count;
}

static void put_function(struct report *rp, const struct call_node *n)
{
	const struct call_frame *f = &n->frame;
	struct strbuf *b = &rp->out.b;

	frame__guesses(b, n->guesses, n->count);
	if (f->inlined) {
		strbuf__text(b, f->inlined);
		strbuf__puts(b, " (inlined)");
		frame__module(&rp->rd.names, b, &f->frame);
	} else {
		frame__function(&rp->rd.names, b, &f->frame);
	}
}

static void put_tree_json(struct report *rp, const struct stack_group *g,
			  const struct call_node *node, unsigned int depth)
{
	struct json *j = &rp->out.json;
	unsigned int i;

	for (i = 0; i < node->nr_children && !out__drain(&rp->out); i++) {
		const struct call_node *n = node->children[i];

		if (too_small(rp, g, n))
			break;
		json__record(j, "function");
		put_group(rp, g);
		json__u64(j, "depth", depth);
		json__u64(j, "count", n->count);
		json__u64(j, "self", n->self);
		out__percent(json__value(j, "percent"), n->count, g->count, 0);
		json__printf(j, "ip", "0x%" PRIx64, n->key.start);
		if (n->frame.inlined)
			json__string(j, "inlined", n->frame.inlined);
		frame__json_function(&rp->rd.names, j, &n->frame.frame);
		if (n->guesses)
			json__u64(j, "guesses", n->guesses);
		json__end(j);
		put_tree_json(rp, g, n, depth + 1);
	}
}

/* A chain of only children is printed in one column; branches are indented. */
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
		out__paint(&rp->out, OUT_NUMBER);
		out__percent(b, n->count, g->count, 6);
		strbuf__puts(b, "% ");
		out__paint(&rp->out, OUT_PLAIN);
		put_function(rp, n);
		strbuf__putc(b, '\n');
		strbuf__puts(&rp->indent, top	     ? "        " :
					  i + 1 < nr ? "|           " :
						       "            ");
		while (n->nr_children == 1 && n->children[0]->count == n->count) {
			n = n->children[0];
			strbuf__add(b, rp->indent.s ?: "", rp->indent.len);
			put_function(rp, n);
			strbuf__putc(b, '\n');
		}
		put_tree(rp, g, n);
		rp->indent.len = indent;
	}
}

int report__put_tree(struct report *rp, const struct stack_group *g)
{
	_cleanup_(call_tree__freep) struct call_tree *tree = NULL;
	int err;

	err = call_tree__new(rp->rd.reader, g, !rp->callees, add_frames, rp, &tree);
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
