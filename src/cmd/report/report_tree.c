// SPDX-License-Identifier: GPL-2.0-only
/* Prints a group of events as a tree of functions. */
#include "analyze/stacks/call_tree.h"
#include "cleanup.h"
#include "log.h"
#include "report.h"

static void put_tree_json(struct report *rp, const struct stack_group *g,
			  const struct call_node *node, unsigned int depth)
{
	struct json *j = &rp->out.json;
	unsigned int i;

	if (depth >= rp->depth)
		return;
	for (i = 0; i < node->nr_children && !out__drain(&rp->out); i++) {
		const struct call_node *n = node->children[i];

		if (report__too_small(rp, g, n->weight))
			break;
		json__record(j, "function");
		report__put_key(rp, g);
		json__u64(j, "depth", depth);
		if (rp->c.weight_name) {
			json__u64(j, "weight", n->weight);
			json__u64(j, "self_weight", n->self_weight);
		}
		json__u64(j, "count", n->count);
		json__u64(j, "self", n->self);
		if (counting__has_shares(&rp->c))
			out__percent(json__value(j, "percent"), n->weight, g->amount, 0);
		report__json_function(rp, &n->frame, &n->key, n->guesses);
		json__end(j);
		put_tree_json(rp, g, n, depth + 1);
	}
}

/* "12.34% ", or the weight if it has no share. */
static void put_share(struct report *rp, const struct stack_group *g, uint64_t weight)
{
	if (!counting__has_shares(&rp->c)) {
		strbuf__printf(&rp->out.b, "%7s ", report__weight(rp, weight).s);
		return;
	}
	out__percent(&rp->out.b, weight, g->amount, 6);
	strbuf__puts(&rp->out.b, "% ");
}

static void put_name(struct report *rp, const struct call_node *n)
{
	report__put_function(rp, &n->frame, n->guesses, n->count);
	strbuf__putc(&rp->out.b, '\n');
}

/* A chain of only children is printed in one column; branches are indented. */
static void put_tree(struct report *rp, const struct stack_group *g, const struct call_node *node,
		     unsigned int depth)
{
	struct strbuf *b = &rp->out.b;
	size_t indent = rp->indent.len;
	unsigned int i, nr = 0, below;

	while (depth < rp->depth && nr < node->nr_children &&
	       !report__too_small(rp, g, node->children[nr]->weight))
		nr++;
	for (i = 0; i < nr && !out__drain(&rp->out); i++) {
		const struct call_node *n = node->children[i];
		bool top = !indent;

		strbuf__add(b, rp->indent.s ?: "", indent);
		strbuf__puts(b, top ? "" : i + 1 < nr ? "|-- " : "`-- ");
		out__paint(&rp->out, OUT_NUMBER);
		put_share(rp, g, n->weight);
		out__paint(&rp->out, OUT_PLAIN);
		put_name(rp, n);
		strbuf__puts(&rp->indent, top	     ? "        " :
					  i + 1 < nr ? "|           " :
						       "            ");
		for (below = depth + 1;
		     below < rp->depth && n->nr_children == 1 && n->children[0]->count == n->count;
		     below++) {
			n = n->children[0];
			strbuf__add(b, rp->indent.s ?: "", rp->indent.len);
			put_name(rp, n);
		}
		put_tree(rp, g, n, below);
		rp->indent.len = indent;
	}
}

int report__put_tree(struct report *rp, const struct stack_group *g)
{
	_cleanup_(call_tree__freep) struct call_tree *tree = NULL;
	const struct call_node *root;
	int err;

	err = call_tree__new(rp->rd.reader, g, !rp->callees, report__frames, rp, &tree);
	if (err)
		return log_err(err, "sum up the stacks");
	root = call_tree__root(tree);
	if (rp->rd.json) {
		put_tree_json(rp, g, root, 0);
		return 0;
	}
	put_tree(rp, g, root, 0);
	if (root->self) {
		put_share(rp, g, root->self_weight);
		strbuf__puts(&rp->out.b, "no stack\n");
	}
	strbuf__putc(&rp->out.b, '\n');
	return 0;
}
