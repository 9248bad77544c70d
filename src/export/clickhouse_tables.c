// SPDX-License-Identifier: GPL-2.0-only
/* The tables that every recording has: what it is, its counters, losses, files and stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "clickhouse_priv.h"
#include "names/user_names.h"
#include "string_table.h"

void ch_put_insert(struct strbuf *b, const char *table, const struct ch_column *columns)
{
	strbuf__puts(b, "INSERT INTO ");
	ch_put_name(b, table);
	for (const struct ch_column *c = columns; c->name; c++)
		strbuf__printf(b, "%s`%s`", c == columns ? " (" : ", ", c->name);
	strbuf__puts(b, ") FORMAT TabSeparated\n");
}

/* ---- values ---------------------------------------------------------------------------------- */

static void put_text(struct strbuf *b, const char *s)
{
	ch_tab(b);
	ch_put_text(b, s ?: "");
}

static void put_number(struct strbuf *b, uint64_t v)
{
	ch_tab(b);
	strbuf__u64(b, v);
}

static void put_known(struct strbuf *b, bool known, uint64_t v)
{
	if (known)
		put_number(b, v);
	else
		strbuf__puts(b, "\t\\N");
}

static void put_meta(struct ch_export *c, const char *key)
{
	put_text(&c->b, stk_reader__meta(c->src->reader, key));
}

static void put_id(struct strbuf *b, const struct stk_file *f, enum stk_file_id kind)
{
	ch_tab(b);
	for (unsigned int i = 0; f->id_kind == kind && i < f->id_len; i++)
		strbuf__hex(b, f->id[i], 2);
}

/* To the end of what is selected: then all tables are complete. */
static int read_all(struct ch_export *c)
{
	const struct stk_event *e;
	int got;

	while ((got = ch_next(c, &e)) > 0)
		;
	return got;
}

/* ---- recordings ------------------------------------------------------------------------------ */

static const struct ch_column recording_columns[] = {
	{ "recording", "UUID", "ZSTD" },
	{ "host", "String", "ZSTD" },
	{ "boot_id", "String", "ZSTD" },
	{ "kernel_release", "String", "ZSTD" },
	{ "kernel_build_id", "String", "ZSTD" },
	{ "machine", "String", "ZSTD" },
	{ "clock", "String", "ZSTD" },
	{ "to_wall_ns", "Int64", "ZSTD" },
	{ "started", "DateTime('UTC')", "ZSTD" },
	{ "first_ts", "UInt64", "ZSTD" },
	{ "last_ts", "UInt64", "ZSTD" },
	{ "events", "UInt64", "ZSTD" },
	{ "bytes", "UInt64", "ZSTD" },
	{ "is_complete", "UInt8", "ZSTD" },
	{ "recorder", "String", "ZSTD" },
	{ "cmdline", "String", "ZSTD" },
	{ 0 },
};

static int put_recording(struct ch_export *c)
{
	struct strbuf *b = &c->b;
	struct stk_totals t;
	int err = read_all(c);

	if (err)
		return err;
	stk_reader__totals(c->src->reader, &t);
	strbuf__puts(b, c->recording);
	put_text(b, c->host);
	put_meta(c, "boot_id");
	put_meta(c, "kernel.release");
	put_meta(c, "kernel.build_id");
	put_meta(c, "machine");
	put_meta(c, "clock");
	ch_tab(b);
	strbuf__s64(b, c->to_wall);
	ch_tab(b);
	ch_put_time(b, t.start_wall_ns);
	put_number(b, t.first_ts);
	put_number(b, t.last_ts);
	put_number(b, t.events);
	put_number(b, t.bytes);
	put_number(b, t.clean_end && !t.bad_blocks);
	put_meta(c, "recorder");
	put_meta(c, "cmdline");
	return ch_end_row(c);
}

/* ---- event types and losses ------------------------------------------------------------------ */

static const struct ch_column type_columns[] = {
	{ "recording", "UUID", "ZSTD" },  { "nr", "UInt32", "ZSTD" },
	{ "host", "String", "ZSTD" },	  { "event", "String", "ZSTD" },
	{ "filter", "String", "ZSTD" },	  { "happened", "UInt64", "ZSTD" },
	{ "recorded", "UInt64", "ZSTD" }, { "filtered", "UInt64", "ZSTD" },
	{ "lost", "UInt64", "ZSTD" },	  { 0 },
};

#define COUNTER(c, number, name, listed) +stk_reader__counter(r, t, STK_C_##c)

static int put_types(struct ch_export *c)
{
	struct stk_reader *r = c->src->reader;
	struct strbuf *b = &c->b;
	int err = read_all(c);

	for (unsigned int i = 0; !err && i < stk_reader__nr_types(r); i++) {
		const struct stk_event_type *t = stk_reader__type(r, i);
		_cleanup_free_ char *name = ch_table_of(t);

		if (!name)
			return -ENOMEM;
		strbuf__puts(b, c->recording);
		put_number(b, i);
		put_text(b, c->host);
		put_text(b, name);
		put_text(b, stk_event_type__filter(t));
		put_number(b, stk_reader__counter(r, t, STK_C_HAPPENED));
		put_number(b, stk_reader__counter(r, t, STK_C_RECORDED));
		put_number(b, 0 STK_COUNTERS_FILTERED(COUNTER));
		put_number(b, 0 STK_COUNTERS_LOST(COUNTER));
		err = ch_end_row(c);
	}
	return err;
}

static const struct ch_column loss_columns[] = {
	{ "recording", "UUID", "ZSTD" },
	{ "nr", "UInt32", "ZSTD" },
	{ "host", "String", "ZSTD" },
	{ "event", "String", "ZSTD" },
	{ "cpu", "Nullable(UInt32)", "ZSTD" },
	{ "first_ts", "UInt64", "ZSTD" },
	{ "last_ts", "Nullable(UInt64)", "ZSTD" },
	{ "count", "Nullable(UInt64)", "ZSTD" },
	{ 0 },
};

static int put_losses(struct ch_export *c)
{
	struct strbuf *b = &c->b;
	struct stk_loss l;
	unsigned int nr = 0;
	int n = 0, err = read_all(c);

	while (!err && (n = stk_reader__next_loss(c->src->reader, UINT64_MAX, &l)) == 1) {
		_cleanup_free_ char *name = l.type ? ch_table_of(l.type) : strdup("");
		bool is_selected = !c->src->has_loss || c->src->has_loss(c->src->ctx, &l);

		nr++; /* whatever is selected */
		if (!name)
			return -ENOMEM;
		if (!is_selected)
			continue;
		strbuf__puts(b, c->recording);
		put_number(b, nr - 1);
		put_text(b, c->host);
		put_text(b, name);
		put_known(b, l.cpu != STK_ANY_CPU, l.cpu);
		put_number(b, l.first_ts);
		put_known(b, l.last_ts != UINT64_MAX, l.last_ts);
		put_known(b, l.count, l.count);
		err = ch_end_row(c);
	}
	return err ?: n;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const struct ch_column file_columns[] = {
	{ "path", "String", "ZSTD" },	{ "build_id", "String", "ZSTD" },
	{ "sha256", "String", "ZSTD" }, { "size", "UInt64", "ZSTD" },
	{ "kind", "String", "ZSTD" },	{ 0 },
};

static int put_files(struct ch_export *c)
{
	struct strbuf *b = &c->b;
	struct stk_file f;
	int err = read_all(c);

	for (uint32_t i = 1; !err && i <= stk_reader__nr_files(c->src->reader); i++) {
		if (stk_reader__file(c->src->reader, i, &f))
			continue;
		ch_put_text(b, f.path);
		put_id(b, &f, STK_ID_BUILD_ID);
		put_id(b, &f, STK_ID_CONTENT);
		put_number(b, f.size);
		put_text(b, file__kind(&f));
		err = ch_end_row(c);
	}
	return err;
}

/* ---- stacks and frames ----------------------------------------------------------------------- */

static const struct ch_column stack_columns[] = {
	{ "key", "UUID", "ZSTD" },	     { "kind", "String", "ZSTD" },
	{ "depth", "UInt16", "ZSTD" },	     { "ends", "String", "ZSTD" },
	{ "frames", "Array(UUID)", "ZSTD" }, { "functions", "Array(String)", "ZSTD" },
	{ "named", "UInt16", "ZSTD" },	     { 0 },
};

static const struct ch_column frame_columns[] = {
	{ "key", "UUID", "ZSTD" },	{ "kind", "String", "ZSTD" }, { "sym", "String", "ZSTD" },
	{ "off", "UInt64", "ZSTD" },	{ "mod", "String", "ZSTD" },  { "path", "String", "ZSTD" },
	{ "build", "String", "ZSTD" },	{ "ip", "UInt64", "ZSTD" },   { "exact", "UInt8", "ZSTD" },
	{ "guessed", "UInt8", "ZSTD" }, { "named", "UInt8", "ZSTD" }, { 0 },
};

struct walk {
	struct ch_export *c;
	bool *used; /* by stack number */
	uint32_t nr_used;
	struct string_table written; /* keys of the rows of the recording */
	struct stk_frame frames[STK_MAX_DEPTH];
	struct stack_key keys[STK_MAX_DEPTH];
	unsigned int nr;
};

static void walk__clear(struct walk *w)
{
	free(w->used);
	string_table__clear(&w->written);
}

/* 1: the key is new; 0: it is known. */
static int add_key(struct walk *w, const struct stack_key *key)
{
	uint32_t number;
	int got = string_table__number(&w->written, key, sizeof(*key), INDEX_NONE, &number);

	if (got > 0 && stk_reader__charge(w->c->src->reader, 4 * sizeof(*key), 0))
		return -ENOBUFS;
	return got;
}

static int use_stack(struct walk *w, uint32_t number)
{
	uint32_t had = w->nr_used;

	if (!number)
		return 0;
	if (array__reach(&w->used, number, &w->nr_used))
		return -ENOMEM;
	if (stk_reader__charge(w->c->src->reader, w->nr_used - had, 0))
		return -ENOBUFS;
	w->used[number] = true;
	return 0;
}

/* The stacks of the selected events. */
static int find_used(struct walk *w)
{
	const struct stk_event *e;
	int got, err = 0;

	while (!err && (got = ch_next(w->c, &e)) > 0)
		err = use_stack(w, stk_event__kstack(e)) ?: use_stack(w, stk_event__ustack(e));
	return err ?: got;
}

static int load_stack(struct walk *w, uint32_t number)
{
	int nr = ch_charge_keys(w->c, number) ?:
			 stk_reader__frames(w->c->src->reader, number, w->frames, STK_MAX_DEPTH);

	if (nr < 0)
		return nr;
	w->nr = MIN(nr, STK_MAX_DEPTH);
	for (unsigned int i = 0; i < w->nr; i++)
		w->keys[i] = stack_key__of_frame(&w->c->keys, &w->frames[i]);
	return 0;
}

static const char *frame_kind(const struct stk_frame *f)
{
	return f->kind == STK_FRAME_KERNEL ? "kernel" : f->kind == STK_FRAME_USER ? "user" : "";
}

/* The function, or where the frame is; what is the same on every host. */
static void put_function(const struct walk *w, const struct stk_frame *f)
{
	struct strbuf *b = &w->c->b;
	const char *sym = export_source__function(w->c->src, f);

	strbuf__putc(b, '\'');
	if (sym) {
		ch_put_escaped(b, sym, strlen(sym), '\'');
	} else if (f->kind == STK_FRAME_USER && f->file) {
		ch_put_escaped(b, f->mod ?: "", strlen(f->mod ?: ""), '\'');
		strbuf__puts(b, "+0x");
		strbuf__hex(b, f->ip, 0);
	} else {
		strbuf__puts(b, "[unknown]");
	}
	strbuf__putc(b, '\'');
}

static int put_stack(struct walk *w, uint32_t number)
{
	struct strbuf *b = &w->c->b;
	struct stack_key key;
	struct stk_stack s;
	unsigned int i, named = 0;
	int got = stk_reader__stack(w->c->src->reader, number, &s) ?: load_stack(w, number);

	if (got)
		return got;
	key = stack_key__of_frames(s.end, w->keys, w->nr);
	got = add_key(w, &key);
	if (got <= 0)
		return got;
	ch_put_key(b, &key);
	put_text(b, w->nr ? frame_kind(&w->frames[0]) : "");
	put_number(b, s.depth);
	put_text(b, stk_stack_end_name(s.end));
	strbuf__puts(b, "\t[");
	for (i = 0; i < w->nr; i++) {
		strbuf__puts(b, i ? ",'" : "'");
		ch_put_key(b, &w->keys[i]);
		strbuf__putc(b, '\'');
		named += !!w->frames[i].sym;
	}
	strbuf__puts(b, "]\t[");
	for (i = 0; i < w->nr; i++) {
		strbuf__puts(b, i ? "," : "");
		put_function(w, &w->frames[i]);
	}
	strbuf__putc(b, ']');
	put_number(b, named);
	return ch_end_row(w->c);
}

/* The build of the kernel or the file, and the place in it. */
static void put_place(const struct walk *w, const struct stk_frame *f)
{
	const struct stack_keys *keys = &w->c->keys;
	struct strbuf *b = &w->c->b;
	struct stk_file file;

	if (f->kind == STK_FRAME_USER && f->file &&
	    !stk_reader__file(w->c->src->reader, f->file, &file)) {
		put_text(b, file.path);
		put_id(b, &file, file.id_kind);
		put_number(b, file.kind == STK_FILE_JIT ? 0 : f->ip);
		return;
	}
	put_text(b, "");
	if (f->kind == STK_FRAME_KERNEL)
		put_meta(w->c, "kernel.build_id");
	else
		put_text(b, "");
	put_number(b, stack_keys__is_text(keys, f) ? f->ip - keys->text : 0);
}

static int put_frame(struct walk *w, unsigned int i)
{
	const struct stk_frame *f = &w->frames[i];
	struct strbuf *b = &w->c->b;
	int got = add_key(w, &w->keys[i]);

	if (got <= 0)
		return got;
	ch_put_key(b, &w->keys[i]);
	put_text(b, frame_kind(f));
	put_text(b, export_source__function(w->c->src, f));
	put_number(b, f->sym ? f->off : 0);
	put_text(b, f->mod);
	put_place(w, f);
	put_number(b, f->exact);
	put_number(b, f->guessed);
	put_number(b, !!f->sym);
	return ch_end_row(w->c);
}

static int put_frames(struct walk *w, uint32_t number)
{
	int err = load_stack(w, number);

	for (unsigned int i = 0; !err && i < w->nr; i++)
		err = put_frame(w, i);
	return err;
}

static int walk_stacks(struct ch_export *c, int (*put)(struct walk *w, uint32_t number))
{
	_cleanup_(walk__clear) struct walk w = { .c = c };
	int err = find_used(&w);

	for (uint32_t i = 1; !err && i < w.nr_used; i++)
		if (w.used[i])
			err = put(&w, i);
	return err;
}

static int put_all_stacks(struct ch_export *c)
{
	return walk_stacks(c, put_stack);
}

static int put_all_frames(struct ch_export *c)
{
	return walk_stacks(c, put_frames);
}

/* ---- the tables ------------------------------------------------------------------------------ */

static bool has_recording(const struct ch_export *c)
{
	return true;
}

static bool has_types(const struct ch_export *c)
{
	return stk_reader__nr_types(c->src->reader);
}

static bool has_losses(const struct ch_export *c)
{
	struct stk_loss l;

	return export_source__next_loss(c->src, UINT64_MAX, &l) != 0;
}

static bool has_files(const struct ch_export *c)
{
	return stk_reader__nr_files(c->src->reader);
}

static bool has_frames(const struct ch_export *c)
{
	return c->has_frames;
}

static bool has_stacks(const struct ch_export *c)
{
	return c->has_stacks;
}

const struct ch_table ch_tables[CH_NR_TABLES] = {
	{ "recordings", recording_columns, "events", "recording", put_recording, has_recording },
	{ "types", type_columns, "happened", "(recording, nr)", put_types, has_types },
	{ "losses", loss_columns, "", "(recording, nr)", put_losses, has_losses },
	{ "files", file_columns, "", "(path, build_id, sha256, size)", put_files, has_files },
	{ "frames", frame_columns, "named", "key", put_all_frames, has_frames },
	{ "stacks", stack_columns, "named", "key", put_all_stacks, has_stacks },
};
