// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Reads the tables of a recording in file order. */
#include "reader.h"

#include "cleanup.h"
#include "entry_names.h"
#include "frame.h"

static const char *get_string(struct stk_reader *r, struct bytes_cur *c)
{
	uint64_t n = bytes_get_max(c, STK_MAX_STRING);
	const uint8_t *p = bytes_get(c, n);
	char *s = p ? arena__string(&r->strings, p, n) : NULL;

	if (!s)
		c->bad = true;
	return s;
}

const char **rd_meta_value(struct stk_reader *r, const uint8_t *key, size_t len)
{
	size_t off = r->keys.keys.len;
	int64_t i;

	bytes_put(&r->keys.keys, key, len);
	i = dict__intern(&r->keys, off);
	if (i == (int64_t)r->nr_meta) {
		char *name = NULL;

		if (i < RD_MAX_META && budget__take(&r->budget, 2 * len)) /* taken by keys */
			name = arena__string(&r->strings, key, len);
		if (!name || rd_reserve(&r->budget, &r->meta, &r->cap_meta, i, sizeof(*r->meta)))
			return NULL;
		r->meta[r->nr_meta++] = (struct rd_meta){ .key = name };
	}
	return i >= 0 && i < (int64_t)r->nr_meta ? &r->meta[i].value : NULL;
}

static int take_meta(struct stk_reader *r, struct bytes_cur *c)
{
	while (bytes_left(c)) {
		uint64_t len = bytes_get_max(c, STK_MAX_STRING);
		const uint8_t *key = bytes_get(c, len);
		const char *value = get_string(r, c), **at;

		if (c->bad)
			break;
		at = rd_meta_value(r, key, strnlen((const char *)key, len));
		if (!at)
			return -EBADMSG;
		*at = value;
	}
	return 0;
}

static bool continues(const struct rd_meta_part *p, const uint8_t *key, size_t key_len,
		      uint64_t len, uint64_t at)
{
	return p->value && p->len == len && p->got == at && strlen(p->key) == key_len &&
	       !memcmp(p->key, key, key_len);
}

/* A value of which a part was lost with a bad block stays unknown. */
static int take_meta_part(struct stk_reader *r, struct bytes_cur *c)
{
	uint64_t key_len = bytes_get_max(c, STK_MAX_STRING);
	const uint8_t *key = bytes_get(c, key_len);
	uint64_t len = bytes_get_max(c, STK_MAX_META), at = bytes_get_max(c, len);
	uint64_t n = bytes_left(c);
	struct rd_meta_part *p = &r->part;
	const char **value;

	if (c->bad || !n || n > len - at)
		return -EBADMSG;
	if (!at) {
		*p = (struct rd_meta_part){ .key = arena__string(&r->strings, key, key_len),
					    .value = arena__alloc(&r->strings, len + 1),
					    .len = len };
		if (!p->key || !p->value)
			return -ENOMEM;
	} else if (!continues(p, key, key_len, len, at)) {
		p->value = NULL;
		return -EBADMSG;
	}
	memcpy(p->value + at, bytes_get(c, n), n);
	p->got += n;
	if (p->got < len)
		return 0;
	value = rd_meta_value(r, key, strlen(p->key));
	if (!value)
		return -EBADMSG;
	p->value[len] = '\0';
	*value = take_ptr(p->value);
	return 0;
}

/* ---- event types, tasks ---------------------------------------------------------------------- */

static struct stk_layout *get_layout(struct stk_reader *r, struct bytes_cur *c)
{
	uint32_t id = bytes_get_max(c, UINT32_MAX), nr = bytes_get_max(c, STK_MAX_COLUMNS);
	struct stk_layout *l;

	l = arena__alloc(&r->strings, offsetof(struct stk_layout, col) + nr * sizeof(l->col[0]));
	if (!l) {
		c->bad = true;
		return NULL;
	}
	l->id = id;
	l->nr = nr;
	l->fixed = STK_RECORD_HEAD;
	for (uint32_t i = 0; i < nr && !c->bad; i++) {
		l->col[i].offset = l->fixed + bytes_get_max(c, STK_MAX_RECORD - l->fixed);
		l->col[i].size = bytes_get_max(c, STK_MAX_RECORD - l->col[i].offset);
		l->fixed = l->col[i].offset + l->col[i].size;
		if (!l->col[i].size)
			c->bad = true;
	}
	return l;
}

static int take_types(struct stk_reader *r, struct bytes_cur *c)
{
	while (bytes_left(c)) {
		uint64_t index = bytes_get_varint(c);
		struct stk_event_type *t;

		if (c->bad || index != r->nr_types)
			return -EBADMSG;
		t = arena__zalloc(&r->strings, sizeof(*t));
		if (!t || rd_reserve(&r->budget, &r->types, &r->cap_types, r->nr_types,
				     sizeof(*r->types)))
			return -ENOMEM;
		t->index = index;
		t->shown = t;
		t->kind = bytes_get_max(c, INT32_MAX);
		t->system = get_string(r, c);
		t->name = get_string(r, c);
		t->filter = get_string(r, c);
		t->format = get_string(r, c);
		t->layout = get_layout(r, c);
		if (c->bad)
			return -EBADMSG;
		if (!budget__take(&r->budget, BUDGET_FORMAT * strlen(t->format)))
			return -ENOMEM;
		r->types[r->nr_types++] = t;
	}
	return 0;
}

int rd_skip_numbers(struct stk_reader *r, uint64_t number, void *array, size_t *cap, size_t *nr,
		    size_t size)
{
	if (number < *nr || number - *nr > RD_MAX_SKIPPED - r->skipped)
		return -EBADMSG;
	r->skipped += number - *nr;
	do {
		if (rd_reserve(&r->budget, array, cap, *nr, size))
			return -ENOMEM;
		memset(*(char **)array + *nr * size, 0, size);
	} while ((*nr)++ < number);
	(*nr)--;
	return 0;
}

static int take_tasks(struct stk_reader *r, struct bytes_cur *c)
{
	while (bytes_left(c)) {
		uint64_t number = bytes_get_varint(c);
		uint32_t tid = bytes_get_max(c, UINT32_MAX), tgid = bytes_get_max(c, UINT32_MAX);
		const char *comm = get_string(r, c);
		size_t known = r->nr_tasks;
		int err;

		if (c->bad)
			break;
		err = rd_skip_numbers(r, number, &r->tasks, &r->cap_tasks, &r->nr_tasks,
				      sizeof(*r->tasks));
		if (err)
			return err;
		for (; known < number; known++)
			r->tasks[known].comm = r->tasks[0].comm;
		r->tasks[number] = (struct rd_task){ .tid = tid, .tgid = tgid, .comm = comm };
		r->nr_tasks = number + 1;
	}
	return 0;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

int64_t rd_intern_node(struct stk_reader *r, uint32_t parent, uint64_t frame)
{
	const struct rd_node_info *up = &r->info[parent];
	struct rd_node_info info = { .depth = up->depth,
				     .levels = up->levels + 1,
				     .end = up->end,
				     .symbol_blocks = r->symbol_blocks };
	int64_t node;

	if (FRAME_IS_MARKER(frame)) {
		if (FRAME_MARKER_KIND(frame) == FRAME_END && !up->levels)
			info.end = MIN(FRAME_MARKER_VALUE(frame), (unsigned int)UINT8_MAX);
	} else {
		info.depth++;
	}
	if (info.depth > STK_MAX_DEPTH || info.levels > 2 * STK_MAX_DEPTH)
		return 0;
	/* first the room: each node of the tree has its info */
	if (rd_reserve(&r->budget, &r->info, &r->cap_info, r->nr_info, sizeof(*r->info)))
		return -ENOMEM;
	node = tree__child(&r->tree, parent, frame);
	if (node == (int64_t)r->nr_info)
		r->info[r->nr_info++] = info;
	return node;
}

static int take_nodes(struct stk_reader *r, struct bytes_cur *c)
{
	uint64_t first = bytes_get_max(c, UINT32_MAX), count = bytes_get_varint(c), frame = 0;
	struct bytes_cur parents, rest;
	int err;

	if (c->bad || !first || count > bytes_left(c) / 2)
		return -EBADMSG;
	parents = *c;
	for (uint64_t i = 0; i < count; i++)
		bytes_get_varint(&parents);
	rest = parents;
	for (uint64_t i = 0; i < count; i++)
		bytes_get_varint(&rest);
	if (rest.bad || bytes_left(&rest))
		return -EBADMSG;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t number = first + i, up = bytes_get_max(&parents, number);
		int64_t node = 0;

		frame += bytes_get_svarint(c);
		if (c->bad || parents.bad)
			return -EBADMSG;
		up = up ? number - up : 0;
		if (!up || (up < r->nr_node_map && r->node_map[up]))
			node = rd_intern_node(r, up ? r->node_map[up] : 0, frame);
		if (node < 0)
			return node;
		err = rd_skip_numbers(r, number, &r->node_map, &r->cap_node_map, &r->nr_node_map,
				      sizeof(*r->node_map));
		if (err)
			return err;
		r->node_map[number] = node;
		r->nr_node_map = number + 1;
	}
	return 0;
}

int rd_add_stack(struct stk_reader *r, struct rd_stack s, uint32_t *ret_number)
{
	uint32_t number = r->nr_stacks;

	if (number == UINT32_MAX ||
	    rd_reserve(&r->budget, &r->stacks, &r->cap_stacks, number, sizeof(*r->stacks)))
		return -ENOMEM;
	if (!r->info[s.node].first_stack)
		r->info[s.node].first_stack = number;
	s.alias_of = r->info[s.node].first_stack;
	r->totals.duplicates += s.alias_of != number;
	r->stacks[r->nr_stacks++] = s;
	*ret_number = number;
	return 0;
}

static int take_stacks(struct stk_reader *r, struct bytes_cur *c)
{
	uint64_t first = bytes_get_max(c, UINT32_MAX), count = bytes_get_varint(c);
	uint32_t generation = bytes_get_max(c, UINT32_MAX);
	uint64_t flags = bytes_get_varint(c);
	bool imported = flags & 1;

	if (c->bad || !first || count > bytes_left(c))
		return -EBADMSG;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t file_node = bytes_get_varint(c), number = first + i;
		struct rd_stack s = { .generation = generation, .is_imported = imported };
		uint32_t own = 0;
		int err;

		if (imported) {
			s.id = bytes_get_max(c, UINT32_MAX);
			s.refs = bytes_get_varint(c);
		}
		if (c->bad)
			return -EBADMSG;
		err = rd_skip_numbers(r, number, &r->stack_map, &r->cap_stack_map, &r->nr_stack_map,
				      sizeof(*r->stack_map));
		if (err)
			return err;
		r->nr_stack_map = number + 1;
		s.node = file_node < r->nr_node_map ? r->node_map[file_node] : 0;
		if (file_node && !s.node)
			continue; /* its nodes were lost with a bad block */
		if (!imported) {
			own = r->info[s.node].first_stack;
			s.id = r->nr_stacks;
		}
		err = own ? 0 : rd_add_stack(r, s, &own);
		if (err)
			return err;
		r->stack_map[number] = own;
	}
	return 0;
}

/* Resolves placeholders.  One whose stack was lost with a bad block stays a placeholder. */
static int take_aliases(struct stk_reader *r, struct bytes_cur *c)
{
	while (bytes_left(c)) {
		uint64_t number = bytes_get_varint(c), is = bytes_get_varint(c);

		if (c->bad)
			break;
		if (number < r->nr_stack_map && is < r->nr_stack_map && r->stack_map[is])
			r->stack_map[number] = r->stack_map[is];
	}
	return 0;
}

/* ---- symbols, rounds, accounting ------------------------------------------------------------- */

static int take_symbols(struct stk_reader *r, struct bytes_cur *c)
{
	uint64_t start = 0;

	while (bytes_left(c)) {
		struct rd_symbol s = { .seq = r->symbol_seq++, .block = r->symbol_blocks };

		start += bytes_get_svarint(c);
		s.start = start;
		s.size = bytes_get_varint(c);
		s.name = get_string(r, c);
		s.module = get_string(r, c);
		if (c->bad)
			break;
		if (!*s.module)
			s.module = NULL;
		s.irq_entry = interrupt_entry_name(s.name);
		rd_symbols_follow(r, r->nr_symbols, &s);
		if (rd_reserve(&r->budget, &r->symbols, &r->cap_symbols, r->nr_symbols, sizeof(s)))
			return -ENOMEM;
		r->symbols[r->nr_symbols++] = s;
	}
	r->symbol_blocks++;
	return 0;
}

static int take_round(struct stk_reader *r, struct bytes_cur *c)
{
	uint64_t v[4]; /* round, end_ts, events, wall_ns */
	const uint8_t *p = bytes_get(c, sizeof(v));

	if (!p)
		return -EBADMSG;
	memcpy(v, p, sizeof(v));
	r->totals.last_wall_ns = v[3];
	rd_merge__round(r, v[1]);
	return rd_losses__round(r, v[1]);
}

static int take_accounting(struct stk_reader *r, struct bytes_cur *c)
{
	uint64_t nr = bytes_get_varint(c);

	if (c->bad || !nr || nr > bytes_left(c) + 1)
		return -EBADMSG;
	while (bytes_left(c)) {
		uint64_t index = bytes_get_varint(c);

		for (uint64_t i = 0; i < nr && !c->bad; i++) {
			uint64_t v = bytes_get_varint(c);

			if (!c->bad && index < r->nr_types && i < STK_NR_COUNTERS)
				r->types[index]->counters[i] = v;
		}
	}
	return 0;
}

static void count_change(struct stk_reader *r, uint16_t type)
{
	struct rd_changes *c = &r->changes;

	c->meta += type == STK_BLOCK_META || type == STK_BLOCK_META_PART || type == STK_BLOCK_END;
	c->files += type == STK_BLOCK_FILES || type == STK_BLOCK_USER_SYMBOLS;
	c->counters += type == STK_BLOCK_ACCOUNTING;
}

int rd_table(struct stk_reader *r, const struct stk_block_header *h, struct bytes_cur c)
{
	int err = 0;

	count_change(r, h->type);
	switch (h->type) {
	case STK_BLOCK_META:
		err = take_meta(r, &c);
		break;
	case STK_BLOCK_META_PART:
		err = take_meta_part(r, &c);
		break;
	case STK_BLOCK_TYPES:
		err = take_types(r, &c);
		break;
	case STK_BLOCK_TASKS:
		err = take_tasks(r, &c);
		break;
	case STK_BLOCK_NODES:
		err = take_nodes(r, &c);
		break;
	case STK_BLOCK_STACKS:
		err = take_stacks(r, &c);
		break;
	case STK_BLOCK_SYMBOLS:
		err = take_symbols(r, &c);
		break;
	case STK_BLOCK_FILES:
		err = rd_take_files(r, &c);
		break;
	case STK_BLOCK_USER_SYMBOLS:
		err = rd_take_user_symbols(r, &c);
		break;
	case STK_BLOCK_ALIASES:
		err = take_aliases(r, &c);
		break;
	case STK_BLOCK_REPLACED:
		err = rd_take_replaced(r, &c);
		break;
	case STK_BLOCK_ROUND:
		err = take_round(r, &c);
		break;
	case STK_BLOCK_ACCOUNTING:
		err = take_accounting(r, &c);
		break;
	case STK_BLOCK_END:
		err = take_meta(r, &c);
		r->totals.clean_end = true;
		r->end = 1;
		break;
	}
	return err ?: c.bad ? -EBADMSG : 0;
}
