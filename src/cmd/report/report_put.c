// SPDX-License-Identifier: GPL-2.0-only
/* What the report command prints of a group of events: its stacks, or a tree of their functions. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/stacks/call_tree.h"
#include "cleanup.h"
#include "log.h"
#include "ui/frames.h"

/* ---- the head of a list --------------------------------------------------------------------- */

static void put_event_name(struct strbuf *b, const struct stk_event_type *t,
			   void (*put)(struct strbuf *b, const char *s, size_t n))
{
	_cleanup_free_ char *name = event__full_name(t);

	if (name)
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
