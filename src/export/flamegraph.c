// SPDX-License-Identifier: GPL-2.0-only
/* The tree of frames with their weights, and its folded text. */
#include "flamegraph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "flamegraph_tree.h"
#include "seeded_hash.h"
#include "strbuf.h"

/* ---- names and nodes ------------------------------------------------------------------------- */

static uint64_t name_hash(const struct flamegraph *f, const char *name, const char *where)
{
	uint64_t h = seeded_hash__bytes(f->seed, name, strlen(name));

	return seeded_hash__u64(f->seed, h, seeded_hash__bytes(f->seed, where, strlen(where)));
}

static bool name_equals(const struct flame_name *n, const struct flame_frame *frame,
			const char *where)
{
	return n->kind == frame->kind && !strcmp(n->name, frame->name) && !strcmp(n->where, where);
}

static int name_number(struct flamegraph *f, const struct flame_frame *frame, uint32_t *ret_name)
{
	const char *where = frame->where ?: "";
	uint64_t hash = name_hash(f, frame->name, where) + frame->kind;
	_cleanup_free_ char *name = NULL, *place = NULL;
	uint32_t i;

	index__for_each(&f->name_index, hash, i) {
		if (name_equals(&f->names[i], frame, where)) {
			*ret_name = i;
			return 0;
		}
	}
	name = strdup(frame->name);
	place = strdup(where);
	if (!name || !place || array__grow(&f->names, f->nr_names, &f->max_names) ||
	    index__add(&f->name_index, hash, f->nr_names))
		return -ENOMEM;
	f->name_bytes += strlen(name) + strlen(place);
	*ret_name = f->nr_names++;
	f->names[*ret_name] = (struct flame_name){ .name = take_ptr(name),
						   .where = take_ptr(place),
						   .kind = frame->kind };
	return 0;
}

static int node_number(struct flamegraph *f, uint32_t parent, uint32_t name, uint32_t *ret_node)
{
	uint64_t hash = seeded_hash__u64(f->seed, f->seed, (uint64_t)parent << 32 | name);
	uint32_t i;

	index__for_each(&f->node_index, hash, i) {
		if (f->nodes[i].parent == parent && f->nodes[i].name == name) {
			*ret_node = i;
			return 0;
		}
	}
	if (array__grow(&f->nodes, f->nr_nodes, &f->max_nodes) ||
	    index__add(&f->node_index, hash, f->nr_nodes))
		return -ENOMEM;
	i = f->nr_nodes++;
	f->nodes[i] = (struct flame_node){
		.name = name, .parent = parent, .child = FLAME_NONE, .sibling = FLAME_NONE
	};
	if (parent != FLAME_NONE) {
		f->nodes[i].sibling = f->nodes[parent].child;
		f->nodes[parent].child = i;
	}
	*ret_node = i;
	return 0;
}

int flamegraph__child(struct flamegraph *f, uint32_t parent, const struct flame_frame *frame,
		      uint32_t *ret_node)
{
	uint32_t name = 0;
	int err = name_number(f, frame, &name);

	return err ?: node_number(f, parent, name, ret_node);
}

/* ---- the tree -------------------------------------------------------------------------------- */

uint64_t flamegraph__memory(const struct flamegraph *f)
{
	return (uint64_t)f->max_names * sizeof(*f->names) + f->name_bytes +
	       (uint64_t)f->max_nodes * sizeof(*f->nodes) + index__memory(&f->name_index) +
	       index__memory(&f->node_index);
}

int flamegraph__new(struct flamegraph **ret_flame)
{
	static const struct flame_frame all = { .name = "all", .kind = FLAME_ROOT };
	_cleanup_(flamegraph__freep) struct flamegraph *f = calloc(1, sizeof(*f));
	uint32_t root;
	int err;

	if (!f)
		return -ENOMEM;
	f->seed = seeded_hash__seed();
	err = flamegraph__child(f, FLAME_NONE, &all, &root);
	if (!err)
		*ret_flame = take_ptr(f);
	return err;
}

void flamegraph__free(struct flamegraph *f)
{
	uint32_t i;

	if (!f)
		return;
	for (i = 0; i < f->nr_names; i++) {
		free(f->names[i].name);
		free(f->names[i].where);
	}
	free(f->names);
	free(f->nodes);
	index__free(&f->name_index);
	index__free(&f->node_index);
	free(f);
}

int flamegraph__add(struct flamegraph *f, const struct flame_frame *frames, unsigned int nr,
		    uint64_t weight)
{
	uint32_t node = 0;
	unsigned int i;
	int err;

	if (!nr)
		return -EINVAL;
	for (i = 0; i < nr; i++)
		if (!frames[i].name || frames[i].kind <= FLAME_ROOT ||
		    frames[i].kind > FLAME_INLINED)
			return -EINVAL;
	if (weight > UINT64_MAX - f->nodes[0].weight)
		return -EOVERFLOW;
	if (!weight)
		return 0;
	/* First all nodes, then the weights: on -ENOMEM no weight was added. */
	for (i = 0; i < nr; i++) {
		err = flamegraph__child(f, node, &frames[i], &node);
		if (err)
			return err;
		f->nodes[node].change = frames[i].change;
		f->has_changes |= frames[i].change.known;
	}
	f->nodes[node].self += weight;
	for (; node != FLAME_NONE; node = f->nodes[node].parent)
		f->nodes[node].weight += weight;
	return 0;
}

uint64_t flamegraph__total(const struct flamegraph *f)
{
	return f->nodes[0].weight;
}

int flamegraph__by_name(const struct flamegraph *f, uint32_t a, uint32_t b)
{
	const struct flame_name *x = &f->names[f->nodes[a].name], *y = &f->names[f->nodes[b].name];
	int d = strcmp(x->name, y->name) ?: strcmp(x->where, y->where);

	return d ?: (int)x->kind - (int)y->kind;
}

struct order {
	const struct flamegraph *f;
	flame_cmp_fn cmp;
};

static int cmp_nodes(const void *pa, const void *pb, void *ctx)
{
	const struct order *o = ctx;

	return o->cmp(o->f, *(const uint32_t *)pa, *(const uint32_t *)pb);
}

uint32_t flamegraph__children(const struct flamegraph *f, uint32_t node, flame_cmp_fn cmp,
			      uint32_t *ret_nodes)
{
	struct order o = { .f = f, .cmp = cmp };
	uint32_t nr = 0, i;

	for (i = f->nodes[node].child; i != FLAME_NONE; i = f->nodes[i].sibling)
		ret_nodes[nr++] = i;
	if (nr > 1)
		qsort_r(ret_nodes, nr, sizeof(*ret_nodes), cmp_nodes, &o);
	return nr;
}

/* ---- folded ---------------------------------------------------------------------------------- */

static void put_folded_name(struct strbuf *b, const struct flame_name *n)
{
	const char *s = n->name;
	size_t len;

	for (;; s++) {
		len = strcspn(s, ";");
		strbuf__safe(b, s, len);
		s += len;
		if (!*s)
			break;
		strbuf__puts(b, "\\x3b");
	}
	strbuf__puts(b, n->kind == FLAME_KERNEL ? "_[k]" : n->kind == FLAME_INLINED ? "_[i]" : "");
}

/* Merges frames that have the same text, since two files may have functions of the same name. */
static int merge_written(const struct flamegraph *f, struct flamegraph *ret_merged)
{
	_cleanup_free_ uint32_t *to = calloc(f->nr_nodes, sizeof(*to));
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	struct flame_frame frame = { .kind = FLAME_USER };
	uint32_t i;
	int err;

	if (!to)
		return -ENOMEM;
	for (i = 1; i < f->nr_nodes; i++) {
		strbuf__reset(&text);
		put_folded_name(&text, &f->names[f->nodes[i].name]);
		frame.name = text.s ?: "";
		err = strbuf__failed(&text) ?
			      -ENOMEM :
			      flamegraph__child(ret_merged, to[f->nodes[i].parent], &frame, &to[i]);
		if (err)
			return err;
		ret_merged->nodes[to[i]].self += f->nodes[i].self;
	}
	return 0;
}

struct folded_step {
	uint32_t node;
	size_t path; /* length of its callers' text */
};

static int put_folded(const struct flamegraph *f, struct strbuf *out)
{
	_cleanup_free_ struct folded_step *todo = calloc(f->nr_nodes, sizeof(*todo));
	_cleanup_free_ uint32_t *children = calloc(f->nr_nodes, sizeof(*children));
	_cleanup_(strbuf__free) struct strbuf path = { 0 };
	uint32_t nr_todo = 1, nr;

	if (!todo || !children)
		return -ENOMEM;
	while (nr_todo) {
		struct folded_step s = todo[--nr_todo];

		path.len = s.path;
		if (s.node) {
			strbuf__puts(&path, f->nodes[s.node].parent ? ";" : "");
			strbuf__puts(&path, f->names[f->nodes[s.node].name].name);
		}
		if (f->nodes[s.node].self) {
			strbuf__add(out, path.s, path.len);
			strbuf__putc(out, ' ');
			strbuf__u64(out, f->nodes[s.node].self);
			strbuf__putc(out, '\n');
		}
		nr = flamegraph__children(f, s.node, flamegraph__by_name, children);
		while (nr)
			todo[nr_todo++] = (struct folded_step){ children[--nr], path.len };
	}
	return strbuf__failed(&path) ? -ENOMEM : 0;
}

void flamegraph__folded(const struct flamegraph *f, struct strbuf *out)
{
	_cleanup_(flamegraph__freep) struct flamegraph *merged = NULL;

	if (flamegraph__new(&merged) || merge_written(f, merged) || put_folded(merged, out))
		out->failed = true;
}
