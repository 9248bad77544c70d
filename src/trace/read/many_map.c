// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Finds by content what a member's event types, frames and stacks are in the whole. */
#include "many.h"

#include "array.h"
#include "cleanup.h"
#include "frame.h"

/*
 * Frames of other kernels than the first member's have addresses of their own in the whole, from a
 * range in which no kernel has code: before the direct mapping on x86-64, in it on arm64.
 */
#define ALIAS_BASE 0xffff800000000000ULL
#define IS_ALIAS(frame) ((frame) >> 31 == ALIAS_BASE >> 31)

static const char *meta_of(const struct rd_member *m, const char *key)
{
	return stk_reader__meta(m->r, key) ?: "";
}

/* Extends *array to include index i; new elements are 0. */
static int reach(struct rd_member *m, uint32_t **array, size_t *cap, size_t i)
{
	while (*cap <= i) {
		size_t was = *cap;
		int err = rd_reserve(&m->whole->budget, array, cap, was, sizeof(**array));

		if (err)
			return err;
		memset(*array + was, 0, (*cap - was) * sizeof(**array));
	}
	return 0;
}

static void put_text(struct bytes_buf *b, const char *s)
{
	bytes_put(b, s, strlen(s) + 1);
}

/* ---- boots and kernels ----------------------------------------------------------------------- */

static uint32_t boot_of(struct rd_many *many, const struct rd_member *m)
{
	const char *id = meta_of(m, "boot_id");

	for (uint32_t i = 0; i < m->nr && *id; i++)
		if (!strcmp(meta_of(&many->members[i], "boot_id"), id))
			return many->members[i].boot;
	return many->nr_boots++;
}

static uint32_t kernel_of(struct rd_many *many, const struct rd_member *m)
{
	struct rd_kernel *k, new = {
		.build = meta_of(m, "kernel.build_id"),
		.text = strtoull(meta_of(m, "kernel.text"), NULL, 0),
		.boot = m->boot,
		.first = many->nr_kernels,
	};

	for (k = many->kernels; k < many->kernels + many->nr_kernels; k++) {
		if (k->boot == new.boot && k->text == new.text && !strcmp(k->build, new.build))
			return k - many->kernels;
		if (!*new.build || strcmp(k->build, new.build) != 0 || new.has_peers)
			continue;
		new.first = k->first;
		new.has_peers = many->kernels[k->first].has_peers = true;
	}
	*k = new;
	return many->nr_kernels++;
}

int rd_many__identify(struct rd_member *m)
{
	struct rd_many *many = m->whole->many;

	m->boot = boot_of(many, m);
	m->kernel = kernel_of(many, m);
	return 0;
}

/* ---- event types ----------------------------------------------------------------------------- */

/* The format without the line of the ID, which each boot assigns anew. */
static void put_format(struct bytes_buf *b, const char *format)
{
	const char *id = strstr(format, "\nID:"), *rest = id ? strchr(id + 1, '\n') : NULL;

	if (rest) {
		bytes_put(b, format, id - format);
		format = rest;
	}
	put_text(b, format);
}

/* The number in the dictionary; n types of a member that are alike stay n types. */
static int64_t type_key(struct rd_many *many, const struct stk_event_type *t, uint32_t alike)
{
	struct bytes_buf *b = &many->types.keys;
	size_t off = b->len;

	bytes_put(b, &alike, sizeof(alike));
	bytes_put(b, &t->kind, sizeof(t->kind));
	put_text(b, t->system);
	put_text(b, t->name);
	put_text(b, t->filter);
	put_format(b, t->format);
	return dict__intern(&many->types, off);
}

static int add_type(struct stk_reader *whole, const struct stk_event_type *t)
{
	struct stk_event_type *own = arena__zalloc(&whole->strings, sizeof(*own));

	if (!own || rd_reserve(&whole->budget, &whole->types, &whole->cap_types, whole->nr_types,
			       sizeof(*whole->types)))
		return -ENOMEM;
	*own = *t;
	memset(own->counters, 0, sizeof(own->counters));
	own->index = whole->nr_types;
	own->shown = own;
	whole->types[whole->nr_types++] = own;
	return 0;
}

static int map_type(struct rd_member *m, struct stk_event_type *t)
{
	struct stk_reader *whole = m->whole;
	uint64_t len = strlen(t->system) + strlen(t->name) + strlen(t->filter) + strlen(t->format);
	uint32_t alike = 0;
	int64_t index;
	int err = 0;

	do {
		if (!budget__take(&whole->budget, len) || !budget__work(&whole->budget, len))
			return -ENOBUFS;
		index = type_key(whole->many, t, alike++);
		if (index < 0)
			return index;
		if (index == (int64_t)whole->nr_types)
			err = add_type(whole, t);
		if (!err)
			err = reach(m, &m->own_type, &m->nr_own_type, index);
		if (err)
			return err;
	} while (m->own_type[index]);
	t->shown = whole->types[index];
	m->own_type[index] = t->index + 1;
	return 0;
}

const struct stk_event_type *rd_many__own_type(const struct rd_member *m,
					       const struct stk_event_type *t)
{
	uint32_t own = t->index < m->nr_own_type ? m->own_type[t->index] : 0;

	return own ? m->r->types[own - 1] : NULL;
}

/* ---- kernel frames --------------------------------------------------------------------------- */

static int64_t function_of(struct rd_many *many, uint32_t build, const struct rd_symbol *s,
			   uint64_t offset)
{
	struct bytes_buf *b = &many->functions.keys;
	size_t off = b->len;

	bytes_put(b, &build, sizeof(build));
	bytes_put(b, &s->size, sizeof(s->size));
	bytes_put(b, &offset, sizeof(offset));
	put_text(b, s->name);
	put_text(b, s->module ?: "");
	return dict__intern(&many->functions, off);
}

/*
 * The place of a function in a kernel, which is the first one that it was given; with kernel ANY
 * that in the first kernel.
 */
#define ANY_KERNEL UINT32_MAX
static int place_of(struct stk_reader *whole, uint32_t function, uint32_t kernel,
		    const struct rd_place *new, struct rd_place *ret_place)
{
	struct rd_many *many = whole->many;
	uint32_t known = many->places.nr;
	int64_t n;
	int err = rd_reserve(&whole->budget, &many->place_of, &many->cap_place_of, known,
			     sizeof(*many->place_of));

	if (err)
		return err;
	n = tree__child(&many->places, function, kernel);
	if (n < 0)
		return n;
	if (n == known)
		many->place_of[n] = *new;
	*ret_place = many->place_of[n];
	return 0;
}

/* Code of modules and BPF programs is elsewhere in each boot: the function identifies it. */
static int find_by_name(struct rd_member *m, const struct rd_symbol *s, struct rd_place *p)
{
	struct rd_many *many = m->whole->many;
	struct rd_place here = *p, first = *p;
	uint64_t len = 64 + strlen(s->name) + strlen(s->module ?: "");
	int64_t function;
	int err;

	if (!budget__take(&m->whole->budget, len) || !budget__work(&m->whole->budget, len))
		return -ENOBUFS;
	function = function_of(many, many->kernels[p->kernel].first, s, p->addr - s->start);
	if (function < 0)
		return function;
	err = place_of(m->whole, function, p->kernel, p, &here);
	/* two functions of one kernel that look the same are not the same */
	if (err || here.addr != p->addr)
		return err;
	err = place_of(m->whole, function, ANY_KERNEL, p, &first);
	if (!err)
		*p = first;
	return err;
}

/* The same code in the first kernel of the build; blocks: as for rd_resolve(). */
static int find_place(struct rd_member *m, uint32_t blocks, struct rd_place *p)
{
	const struct rd_many *many = m->whole->many;
	const struct rd_kernel *k = &many->kernels[p->kernel], *first = &many->kernels[k->first];
	struct stk_frame f = { .ip = p->addr, .exact = true };
	const struct rd_symbol *s;

	if (!k->has_peers)
		return 0;
	s = rd_resolve(m->r, &f, blocks);
	if (!s)
		return 0;
	if (s->module || !k->text || !first->text)
		return find_by_name(m, s, p);
	p->addr += first->text - k->text;
	p->kernel = k->first;
	return 0;
}

/* The frame in the whole of a kernel address; negative errno in *ret_err. */
static uint64_t map_kernel(struct rd_member *m, uint32_t blocks, uint64_t addr, int *ret_err)
{
	struct rd_place p = { .kernel = m->kernel, .addr = addr };
	int64_t n;

	*ret_err = find_place(m, blocks, &p);
	if (*ret_err || (!p.kernel && FRAME_IS_KERNEL(p.addr) && !IS_ALIAS(p.addr)))
		return p.addr;
	n = tree__child(&m->whole->many->aliases, p.kernel, p.addr);
	*ret_err = n < 0 ? n : n > INT32_MAX ? -ENOBUFS : 0;
	return ALIAS_BASE + n;
}

/* Each address is looked up once: events repeat them. */
int rd_many__place(struct rd_member *m, uint64_t addr, uint64_t *ret_place)
{
	struct rd_many *many = m->whole->many;
	uint32_t known = many->addresses.nr;
	int64_t n;
	int err = 0;

	if (!FRAME_IS_KERNEL(addr) ||
	    (!m->kernel && !many->kernels[0].has_peers && !IS_ALIAS(addr))) {
		*ret_place = addr;
		return 0;
	}
	err = rd_reserve(&m->whole->budget, &many->address_place, &many->cap_address_place, known,
			 sizeof(*many->address_place));
	if (err)
		return err;
	n = tree__child(&many->addresses, m->kernel, addr);
	if (n < 0)
		return n;
	if (n == known)
		many->address_place[n] = 0;
	if (!many->address_place[n]) {
		uint64_t place = map_kernel(m, m->r->symbol_blocks, addr, &err);

		if (err)
			return err;
		many->address_place[n] = place;
	}
	*ret_place = many->address_place[n];
	return 0;
}

static struct rd_place place_of_alias(const struct rd_many *many, uint64_t frame)
{
	uint64_t n = frame - ALIAS_BASE;

	if (!IS_ALIAS(frame) || n >= many->aliases.nr)
		return (struct rd_place){ .addr = frame };
	return (struct rd_place){ many->aliases.nodes[n].parent, many->aliases.nodes[n].frame };
}

void rd_many__place_symbol(struct stk_reader *whole, uint64_t place, struct stk_frame *ret_frame)
{
	const struct rd_many *many = whole->many;
	struct rd_place p = place_of_alias(many, place);
	struct stk_frame f = { .ip = p.addr, .kernel = p.kernel, .exact = true };

	for (uint32_t i = 0; i < many->nr && !f.sym; i++)
		if (many->members[i].kernel == p.kernel)
			rd_resolve(many->members[i].r, &f, many->members[i].r->symbol_blocks);
	*ret_frame = f;
}

const struct rd_symbol *rd_many__resolve(struct stk_reader *whole, uint32_t node,
					 struct stk_frame *f)
{
	const struct rd_many *many = whole->many;
	uint64_t frame = whole->tree.nodes[node].frame;
	struct rd_origin from = many->nodes[node];
	struct stk_reader *r = many->members[from.member].r;
	const struct rd_symbol *s;
	struct rd_place p;

	f->ip = r->tree.nodes[from.number].frame;
	s = rd_resolve(r, f, r->info[from.number].symbol_blocks);
	p = place_of_alias(many, frame);
	f->ip = p.addr;
	f->kernel = p.kernel;
	return s;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static int64_t add_node(struct rd_member *m, uint32_t node, uint32_t parent)
{
	struct stk_reader *whole = m->whole;
	struct rd_many *many = whole->many;
	uint64_t frame = m->r->tree.nodes[node].frame;
	uint32_t known = whole->nr_info;
	int64_t to, file;
	int err = 0;

	if (FRAME_IS_KERNEL(frame)) {
		frame = map_kernel(m, m->r->info[node].symbol_blocks, frame, &err);
	} else if (FRAME_IS_USER(frame) && FRAME_FILE(frame) && frame != FRAME_TRAMPOLINE) {
		file = rd_many__file(m, FRAME_FILE(frame));
		err = file < 0 ? file : 0;
		frame = FRAME_USER(file, FRAME_OFFSET(frame));
	}
	/* first the room: each node of the whole has its origin */
	if (!err)
		err = rd_reserve(&whole->budget, &many->nodes, &many->cap_nodes, known,
				 sizeof(*many->nodes));
	to = err ?: rd_intern_node(whole, parent, frame);
	if (to < known)
		return to ?: -EBADMSG;
	many->nodes[to] = (struct rd_origin){ m->nr, node };
	return to;
}

/* The node of the whole: those of all its callers, outermost first, and then itself. */
static int64_t map_node(struct rd_member *m, uint32_t node)
{
	uint32_t path[2 * STK_MAX_DEPTH + 1], nr = 0;
	int64_t to = 0;
	int err;

	err = reach(m, &m->nodes, &m->cap_nodes, m->r->nr_info);
	if (err)
		return err;
	for (; node && !m->nodes[node] && nr < ARRAY_SIZE(path);
	     node = m->r->tree.nodes[node].parent)
		path[nr++] = node;
	to = m->nodes[node];
	while (nr && to >= 0) {
		to = add_node(m, path[--nr], to);
		if (to > 0)
			m->nodes[path[nr]] = to;
	}
	return to;
}

/*
 * An imported stack is one of the same boot with the same frames and id, which has counted more
 * references since.
 */
static int add_import(struct rd_member *m, const struct rd_stack *s, uint32_t *ret_number)
{
	struct stk_reader *whole = m->whole;
	struct rd_many *many = whole->many;
	uint32_t known = many->imports.nr;
	int64_t n = tree__child(&many->imports, s->node, (uint64_t)m->boot << 32 | s->id);
	struct rd_stack *same;
	int err;

	if (n < 0)
		return n;
	err = reach(m, &many->import_of, &many->cap_import_of, n);
	if (!err && n == known)
		err = rd_add_stack(whole, *s, &many->import_of[n]);
	if (err)
		return err;
	*ret_number = many->import_of[n];
	same = &whole->stacks[*ret_number];
	same->refs = MAX(same->refs, s->refs);
	return 0;
}

static int map_stack(struct rd_member *m, uint32_t number)
{
	struct stk_reader *whole = m->whole;
	struct rd_stack s = m->r->stacks[number];
	int64_t node = map_node(m, s.node);
	uint32_t own;
	int err = 0;

	if (node < 0)
		return node;
	s.node = node;
	own = whole->info[node].first_stack;
	if (s.is_imported) {
		err = add_import(m, &s, &own);
	} else if (!own) {
		s.id = whole->nr_stacks;
		err = rd_add_stack(whole, s, &own);
	}
	m->stacks[number] = own;
	return err;
}

static int map_stacks(struct rd_member *m)
{
	int err = reach(m, &m->stacks, &m->cap_stacks, m->r->nr_stacks);

	while (!err && m->nr_stacks < m->r->nr_stacks) {
		err = map_stack(m, m->nr_stacks);
		m->nr_stacks += !err;
	}
	return err;
}

uint32_t rd_many__stack(struct rd_member *m, uint32_t number)
{
	if (number >= m->nr_stacks && map_stacks(m) && !m->whole->end)
		m->whole->end = -ENOMEM; /* the next call of stk_reader__next() says so */
	return number && number < m->nr_stacks ? m->stacks[number] : 0;
}

/* Where code was replaced, a stack may have become another name of a later one. */
static void follow_aliases(struct rd_member *m)
{
	for (uint32_t i = 1; i < m->nr_stacks && m->r->nr_replaced; i++) {
		struct rd_stack *to = &m->whole->stacks[m->stacks[i]];
		uint32_t of = m->stacks[m->r->stacks[i].alias_of];

		if (to->alias_of == m->stacks[i])
			to->alias_of = of;
	}
}

int rd_many__catch_up(struct rd_member *m)
{
	struct stk_reader *r = m->r;
	int64_t got = 0;

	if (m->nr_types < r->nr_types || m->nr_files < r->nr_files || m->nr_stacks < r->nr_stacks)
		rd_many__update_budget(m->whole);
	for (; m->nr_types < r->nr_types && got >= 0; m->nr_types += got >= 0)
		got = map_type(m, r->types[m->nr_types]);
	if (m->nr_files < r->nr_files)
		rd_look_ahead(r);
	for (; m->nr_files < r->nr_files && got >= 0; m->nr_files += got >= 0)
		if (m->nr_files && r->files[m->nr_files].f.number)
			got = rd_many__file(m, m->nr_files);
	if (got >= 0 && m->nr_stacks < r->nr_stacks)
		got = map_stacks(m);
	if (m->has_ended && got >= 0)
		follow_aliases(m);
	return got < 0 ? got : 0;
}
