// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The writer's tables: what is new since the last group, and what was written already. */
#include "writer_priv.h"

#include "array.h"
#include "cleanup.h"
#include "file_table.h"
#include "frame.h"
#include "log.h"

#define TABLE_SPLIT (4u << 20) /* a table block is closed when it gets this big */
#define NODE_SPLIT (256u << 10) /* entries of a NODES or STACKS block */
#define MAX_TASKS (128u << 10) /* kept in memory; a machine may start any number of tasks */

/* ---- metadata, types, tasks, symbols, files -------------------------------------------------- */

int wr_close_table(struct stk_writer *w, uint16_t type, struct bytes_buf *payload)
{
	int err;

	if (payload->failed)
		return wr_fail(w, -ENOMEM);
	if (!payload->len)
		return 0;
	err = encoder__block(w->enc, type, 0, payload->p, payload->len, &w->group);
	payload->len = 0;
	return err ? wr_fail(w, err) : 0;
}

/* A value that is longer than a string, in blocks of its own. */
static int put_meta_parts(struct stk_writer *w, const char *key, size_t nk, const char *value,
			  size_t nv)
{
	struct bytes_buf *b = &w->scratch;
	int err = wr_close_table(w, STK_BLOCK_META, &w->meta);
	size_t at, n;

	for (at = 0; at < nv && !err; at += n) {
		n = MIN(nv - at, (size_t)TABLE_SPLIT);
		b->len = 0;
		bytes_put_string(b, key, nk);
		bytes_put_varint(b, nv);
		bytes_put_varint(b, at);
		bytes_put(b, value + at, n);
		err = wr_close_table(w, STK_BLOCK_META_PART, b);
	}
	return err;
}

int stk_writer__meta_left_out(struct stk_writer *w, const char *key, const char *why)
{
	struct strbuf *b = &w->left_out;

	strbuf__printf(b, "%s%s (%s)", b->len ? ", " : "", key, why);
	return strbuf__failed(b) ? wr_fail(w, -ENOMEM) :
				   stk_writer__meta(w, "metadata.left_out", b->s);
}

int stk_writer__meta(struct stk_writer *w, const char *key, const char *value)
{
	size_t nk = strlen(key), nv = strlen(value);

	if (w->err)
		return w->err;
	if (nk > STK_MAX_STRING)
		return -E2BIG;
	if (nv > STK_MAX_META)
		return stk_writer__meta_left_out(w, key, "longer than 256 MiB");
	if (nv > STK_MAX_STRING)
		return put_meta_parts(w, key, nk, value, nv);
	bytes_put_string(&w->meta, key, nk);
	bytes_put_string(&w->meta, value, nv);
	if (w->meta.len < TABLE_SPLIT)
		return 0;
	return wr_close_table(w, STK_BLOCK_META, &w->meta);
}

/* A copy of what a table of columns uses of its space. */
static void *copy_used(const void *table, size_t used)
{
	void *copy = malloc(used);

	return copy ? memcpy(copy, table, used) : NULL;
}

static int add_event_type(struct stk_writer *w, const char *format)
{
	struct stk_layout layout;
	struct record_key key;
	struct batch_type t;

	if (array__grow(&w->event_types, w->nr_types, &w->cap_event_types) ||
	    array__grow(&w->handed_in, w->nr_types, &w->cap_handed_in) ||
	    array__grow(&w->in_file, w->nr_types, &w->cap_in_file))
		return -ENOMEM;
	stk_layout__from_format(format, &layout);
	record_key__set(&key, &layout, NULL, 0);
	t.layout = copy_used(&layout, stk_layout__size(&layout));
	t.key = copy_used(&key, record_key__size(&key));
	if (!t.layout || !t.key) {
		free(t.layout);
		free(t.key);
		return -ENOMEM;
	}
	w->handed_in[w->nr_types] = w->in_file[w->nr_types] = 0;
	w->event_types[w->nr_types++] = t;
	return 0;
}

int stk_writer__type(struct stk_writer *w, enum stk_event_kind kind, const char *system,
		     const char *name, const char *filter, const char *format)
{
	const char *strings[4] = { system, name, filter ? filter : "", format ? format : "" };
	uint32_t end = STK_RECORD_HEAD;
	const struct stk_layout *l;
	int err;

	if (w->err)
		return w->err;
	for (int i = 0; i < 4; i++)
		if (strlen(strings[i]) > STK_MAX_STRING)
			return -E2BIG;
	err = add_event_type(w, strings[3]);
	if (err)
		return wr_fail(w, err);
	l = w->event_types[w->nr_types - 1].layout;
	bytes_put_varint(&w->types, w->nr_types - 1);
	bytes_put_varint(&w->types, kind);
	for (int i = 0; i < 4; i++)
		bytes_put_string(&w->types, strings[i], strlen(strings[i]));
	bytes_put_varint(&w->types, l->id);
	bytes_put_varint(&w->types, l->nr);
	for (uint32_t i = 0; i < l->nr; i++) {
		bytes_put_varint(&w->types, l->col[i].offset - end);
		bytes_put_varint(&w->types, l->col[i].size);
		end = l->col[i].offset + l->col[i].size;
	}
	if (w->types.len >= TABLE_SPLIT) {
		err = wr_close_table(w, STK_BLOCK_TYPES, &w->types);
		if (err)
			return err;
	}
	return w->nr_types - 1;
}

static int put_task(struct stk_writer *w, uint32_t number, const uint32_t *ids, const char *comm,
		    size_t len)
{
	bytes_put_varint(&w->tasks, number);
	bytes_put_varint(&w->tasks, ids[0]);
	bytes_put_varint(&w->tasks, ids[1]);
	bytes_put_string(&w->tasks, comm, len);
	if (w->tasks.len < TABLE_SPLIT)
		return 0;
	return wr_close_table(w, STK_BLOCK_TASKS, &w->tasks);
}

int stk_writer__task(struct stk_writer *w, uint32_t tid, uint32_t tgid, const char *comm,
		     size_t len, uint32_t *ret_task)
{
	struct dict *d = &w->task_dict;
	uint32_t ids[2] = { tid, tgid }, known;
	size_t off;
	int64_t nr;
	int err = 0;

	if (w->err)
		return w->err;
	if (d->nr == MAX_TASKS) { /* tasks that live on get another number */
		w->task_base += d->nr;
		err = dict__reset(d, 1024);
		if (err)
			return wr_fail(w, err);
	}
	known = d->nr;
	off = d->keys.len;
	len = strnlen(comm, MIN(len, STK_MAX_STRING));
	bytes_put(&d->keys, ids, sizeof(ids));
	bytes_put(&d->keys, comm, len);
	nr = dict__intern(d, off);
	if (nr < 0)
		return wr_fail(w, nr);
	if ((uint64_t)w->task_base + nr > UINT32_MAX)
		return wr_fail(w, log_why(-EOVERFLOW, "too many tasks"));
	if (nr == known)
		err = put_task(w, w->task_base + nr, ids, comm, len);
	if (err)
		return err;
	*ret_task = w->task_base + nr;
	return 0;
}

int stk_writer__symbol(struct stk_writer *w, uint64_t start, uint64_t size, const char *name,
		       const char *module)
{
	size_t nn = strlen(name), nm = module ? strlen(module) : 0;

	if (w->err)
		return w->err;
	if (nn > STK_MAX_STRING || nm > STK_MAX_STRING)
		return -E2BIG;
	if (!w->symbols.len)
		w->prev_symbol = 0;
	bytes_put_svarint(&w->symbols, start - w->prev_symbol);
	bytes_put_varint(&w->symbols, size);
	bytes_put_string(&w->symbols, name, nn);
	bytes_put_string(&w->symbols, module, nm);
	w->prev_symbol = start;
	if (w->symbols.len < TABLE_SPLIT)
		return 0;
	return wr_close_table(w, STK_BLOCK_SYMBOLS, &w->symbols);
}

int stk_writer__file(struct stk_writer *w, const struct stk_file *file, uint32_t *ret_number)
{
	uint32_t number = file->number ? file->number : w->nr_files + 1;
	int err;

	if (w->err)
		return w->err;
	if (file->number > w->nr_files)
		return -EINVAL;
	if (number > STK_MAX_FILES)
		return -EOVERFLOW;
	err = file_table__put(&w->files, number, file);
	if (err)
		return err;
	if (!file->number)
		w->nr_files++;
	if (w->files.len >= TABLE_SPLIT) {
		err = wr_close_table(w, STK_BLOCK_FILES, &w->files);
		if (err)
			return err;
	}
	*ret_number = number;
	return 0;
}

/* A file precedes what refers to it. */
static int put_files(struct stk_writer *w)
{
	int err = wr_close_table(w, STK_BLOCK_FILES, &w->files);

	err = err ?: wr_close_table(w, STK_BLOCK_USER_SYMBOLS, &w->user_symbols);
	return err ?: wr_close_table(w, STK_BLOCK_REPLACED, &w->replaced);
}

int stk_writer__replaced(struct stk_writer *w, const struct stk_writer_replaced *r)
{
	struct stk_writer_replaced *prev = &w->prev_replaced;

	if (w->err)
		return w->err;
	if (!r->file || r->file > w->nr_files || !r->by || r->by > w->nr_files)
		return -EINVAL;
	if (!w->replaced.len)
		*prev = (struct stk_writer_replaced){ 0 };
	bytes_put_svarint(&w->replaced, (int64_t)r->file - prev->file);
	bytes_put_svarint(&w->replaced, r->offset - prev->offset);
	bytes_put_svarint(&w->replaced, r->ts - prev->ts);
	bytes_put_varint(&w->replaced, r->by);
	*prev = *r;
	return w->replaced.len < TABLE_SPLIT ? 0 : put_files(w);
}

int stk_writer__user_symbols(struct stk_writer *w, uint32_t file,
			     const struct stk_user_symbol *symbols, size_t nr)
{
	int err;

	if (w->err)
		return w->err;
	if (!file || file > w->nr_files)
		return -EINVAL;
	err = file_table__put_symbols(&w->user_symbols, file, symbols, nr);
	if (err)
		return err;
	return w->user_symbols.len < TABLE_SPLIT ? 0 : put_files(w);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Symbols come first: a reader resolves a node with the symbols it has read so far. */
static int put_nodes(struct stk_writer *w)
{
	struct tree *t = &w->tree;
	struct bytes_buf *b = &w->scratch;
	int err = wr_close_table(w, STK_BLOCK_SYMBOLS, &w->symbols);

	if (!err)
		err = put_files(w);
	while (!err && w->nodes_written < t->nr) {
		uint32_t first = w->nodes_written, n = MIN(t->nr - first, NODE_SPLIT);
		uint64_t prev = 0;

		b->len = 0;
		bytes_put_varint(b, (uint64_t)w->node_base + first);
		bytes_put_varint(b, n);
		for (uint32_t i = first; i < first + n; i++) {
			bytes_put_svarint(b, t->nodes[i].frame - prev);
			prev = t->nodes[i].frame;
		}
		for (uint32_t i = first; i < first + n; i++) {
			uint32_t parent = t->nodes[i].parent;

			bytes_put_varint(b, parent ? i - parent : 0);
		}
		err = wr_close_table(w, STK_BLOCK_NODES, b);
		if (!err)
			w->nodes_written += n;
	}
	return err;
}

static int put_stacks(struct stk_writer *w)
{
	struct bytes_buf *b = &w->scratch;
	uint32_t done = 0, n;
	int err;

	while (done < w->nr_stacks) {
		const struct wr_stack *s = &w->stacks[done];

		for (n = 1; done + n < w->nr_stacks && n < NODE_SPLIT; n++)
			if (s[n].imported != s->imported || s[n].generation != s->generation)
				break;
		b->len = 0;
		bytes_put_varint(b, w->first_stack + done);
		bytes_put_varint(b, n);
		bytes_put_varint(b, s->generation);
		bytes_put_varint(b, s->imported);
		for (uint32_t i = 0; i < n; i++) {
			bytes_put_varint(b, s[i].node);
			if (!s->imported)
				continue;
			bytes_put_varint(b, s[i].id);
			bytes_put_varint(b, s[i].refs);
		}
		err = wr_close_table(w, STK_BLOCK_STACKS, b);
		if (err)
			return err;
		done += n;
	}
	w->first_stack += w->nr_stacks;
	w->nr_stacks = 0;
	return 0;
}

/* Writes the tree's nodes and starts an empty one. */
static int restart_tree(struct stk_writer *w)
{
	int err = put_nodes(w);

	if (!err)
		err = put_stacks(w);
	if (err)
		return err;
	w->node_base += w->tree.nr - 1;
	tree__clear(&w->tree);
	w->nodes_written = 1;
	if (w->cap_node_stack)
		memset(w->node_stack, 0, w->cap_node_stack * sizeof(*w->node_stack));
	return 0;
}

static int add_path(struct stk_writer *w, const uint64_t *frames, unsigned int nr,
		    uint32_t *ret_node)
{
	unsigned int depth = 0;
	int64_t node = 0;
	int err;

	for (unsigned int i = 0; i < nr; i++) {
		if (FRAME_IS_USER(frames[i]) && FRAME_FILE(frames[i]) > w->nr_files)
			return -EINVAL;
		depth += !FRAME_IS_MARKER(frames[i]);
	}
	if (depth > STK_MAX_DEPTH || nr > 2 * STK_MAX_DEPTH)
		return -E2BIG;
	if (w->stack_budget && tree__memory(&w->tree) > w->stack_budget) {
		err = restart_tree(w);
		if (err)
			return err;
	}
	for (unsigned int i = nr; i-- > 0;) {
		node = tree__child(&w->tree, node, frames[i]);
		if (node < 0)
			return wr_fail(w, node);
	}
	if ((uint64_t)w->node_base + w->tree.nr > UINT32_MAX)
		return wr_fail(w, log_why(-EOVERFLOW, "too many caller tree nodes"));
	w->stats.nodes = w->node_base + w->tree.nr - 1;
	*ret_node = node;
	return 0;
}

static int add_stack(struct stk_writer *w, struct wr_stack s, uint32_t *ret_number)
{
	if (array__grow(&w->stacks, w->nr_stacks, &w->cap_stacks))
		return wr_fail(w, -ENOMEM);
	if ((uint64_t)w->first_stack + w->nr_stacks >= UINT32_MAX)
		return wr_fail(w, log_why(-EOVERFLOW, "too many stacks"));
	s.node = s.node ? w->node_base + s.node : 0;
	s.generation = w->generation;
	w->stacks[w->nr_stacks++] = s;
	w->stats.stacks++;
	*ret_number = w->first_stack + w->nr_stacks - 1;
	return 0;
}

int stk_writer__stack(struct stk_writer *w, const uint64_t *frames, unsigned int nr,
		      uint32_t *ret_number)
{
	uint32_t node, *known;
	int err;

	if (w->err)
		return w->err;
	err = add_path(w, frames, nr, &node);
	if (err)
		return err;
	if (array__reach(&w->node_stack, node, &w->cap_node_stack))
		return wr_fail(w, -ENOMEM);
	known = node ? &w->node_stack[node] : &w->empty_stack;
	if (!*known) {
		err = add_stack(w, (struct wr_stack){ .node = node }, known);
		if (err)
			return err;
	}
	*ret_number = *known;
	return 0;
}

int stk_writer__stack_imported(struct stk_writer *w, const uint64_t *frames, unsigned int nr,
			       uint32_t id, uint64_t refs, uint32_t *ret_number)
{
	struct wr_stack s = { .imported = true, .id = id, .refs = refs };
	int err;

	if (w->err)
		return w->err;
	err = add_path(w, frames, nr, &s.node);
	return err ?: add_stack(w, s, ret_number);
}

int stk_writer__stack_alias(struct stk_writer *w, uint32_t number, uint32_t is)
{
	if (w->err)
		return w->err;
	bytes_put_varint(&w->aliases, number);
	bytes_put_varint(&w->aliases, is);
	return 0;
}

int stk_writer__generation(struct stk_writer *w, uint32_t generation)
{
	w->generation = generation;
	return w->err;
}

int wr_close_tables(struct stk_writer *w)
{
	int err = wr_close_table(w, STK_BLOCK_META, &w->meta);

	err = err ?: wr_close_table(w, STK_BLOCK_TYPES, &w->types);
	err = err ?: wr_close_table(w, STK_BLOCK_TASKS, &w->tasks);
	err = err ?: put_nodes(w);
	err = err ?: put_stacks(w);
	err = err ?: wr_close_table(w, STK_BLOCK_ALIASES, &w->aliases);
	return err;
}
