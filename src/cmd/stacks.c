// SPDX-License-Identifier: GPL-2.0-only
/* Prints the stacks of a recording. */
#include "ui/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "ui/frames.h"
#include "ui/stack_refs.h"

#define ANY_ID UINT64_MAX

struct stacks {
	struct reading rd;
	struct out out;
	bool kernel, user;
	uint64_t top, id; /* --id, or ANY_ID */
	struct stack_refs refs; /* from the events */
	uint32_t printed; /* stack numbers up to here are done */
	uint8_t *selected; /* by stack number: it was printed, as one of its events was selected */
	uint32_t nr_selected;
	bool any; /* something was printed */
	int err; /* of put_new() */
};

/* clang-format off */
static const struct opt options[] = {
	READING_OPTIONS(struct stacks, rd, A_RECORDING),
	{ "--top N", "print only the N stacks with the most references, most first",
	  OPT_NUMBER(struct stacks, top, 1, UINT32_MAX) },
	{ "--id N", "print only this stack", OPT_NUMBER(struct stacks, id, 0, UINT32_MAX),
	  .expects = "a stack id" },
	SELECT_OPTIONS("count only events", "count only these events, separated by commas"),
	{ "--kernel", "print only kernel stacks", OPT_FLAG(struct stacks, kernel) },
	{ "--user", "print only user stacks", OPT_FLAG(struct stacks, user) },
	FULL_FILES_OPTION,
	INLINE_OPTION,
	NAMES_OPTIONS,
	FOLLOW_OPTION("print new stacks while the recording is in progress"),
	JSON_OPTION("one JSON object per stack"),
	HELP_OPTION
};
/* clang-format on */

struct row {
	struct stk_stack st;
	uint64_t refs;
	bool user;
};

static void stacks__free(struct stacks *s)
{
	free(s->refs.v);
	free(s->selected);
	reading__free(&s->rd);
}

static int parse_options(struct stacks *s, int argc, char **argv)
{
	int code = reading__options(&s->rd, &cmd_stacks, argc, argv);

	if (!code && s->rd.follow && s->top)
		return ui__usage_error(argv[0],
				       "--top needs the whole recording: it excludes --follow");
	return code;
}

static void put_text(struct stacks *s, const struct row *row)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	struct strbuf *b = &s->out.b;
	unsigned int n, i;
	char indent[16];

	n = stack__frames(s->rd.reader, row->st.number, frames);
	strbuf__printf(b, "%sstack_id %u%s [ref %" PRIu64 ", depth %u",
		       out__colour(&s->out, OUT_HEAD), row->st.id, out__colour(&s->out, OUT_PLAIN),
		       row->refs, row->st.depth);
	if (row->user)
		strbuf__puts(b, ", user");
	if (row->st.end != STK_END_COMPLETE)
		strbuf__printf(b, ", %s", stk_stack_end_name(row->st.end));
	strbuf__puts(b, "]\n");
	for (i = 0; i < n; i++) {
		snprintf(indent, sizeof(indent), "  [%u] ", i);
		frame__put(&s->rd.names, b, indent, &frames[i]);
	}
	strbuf__putc(b, '\n');
}

static void put_json(struct stacks *s, const struct row *row)
{
	struct json *j = &s->out.json;
	struct stk_stack first;

	json__record(j, "stack");
	json__u64(j, "id", row->st.id);
	json__string(j, "kind", row->user ? "user" : "kernel");
	json__u64(j, "refs", row->refs);
	json__u64(j, "depth", row->st.depth);
	json__string(j, "end", stk_stack_end_name(row->st.end));
	if (row->st.alias_of != row->st.number &&
	    !stk_reader__stack(s->rd.reader, row->st.alias_of, &first))
		json__u64(j, "alias_of", first.id);
	stack__json_frames(&s->rd.names, j, "frames", row->st.number, 0);
	json__end(j);
}

static void put_row(struct stacks *s, const struct row *row)
{
	s->any = true;
	if (s->rd.json)
		put_json(s, row);
	else
		put_text(s, row);
}

/* An import keeps the ids and references of its map, which may have duplicate stacks. */
static bool is_import(const struct stacks *s)
{
	return stk_reader__meta(s->rd.reader, "source");
}

/* Decided by the first frame or, for an empty stack, by how events refer to it. */
static bool is_user(struct stacks *s, uint32_t number)
{
	struct stk_frame first;

	if (stk_reader__frames(s->rd.reader, number, &first, 1) > 0)
		return first.kind == STK_FRAME_USER;
	return number < s->refs.nr && s->refs.v[number].user > s->refs.v[number].kernel;
}

/* False: the stack is not selected. */
static bool get_row(struct stacks *s, uint32_t number, struct row *ret_row)
{
	struct row row = { 0 };

	if (stk_reader__stack(s->rd.reader, number, &row.st))
		return false;
	if (row.st.alias_of != number && !is_import(s))
		return false;
	row.refs = row.st.refs && !s->rd.sel.any ? row.st.refs :
		   number < s->refs.nr ? s->refs.v[number].kernel + s->refs.v[number].user :
					 0;
	if (s->rd.sel.any && !row.refs)
		return false;
	row.user = is_user(s, number);
	if (s->id != ANY_ID && row.st.id != s->id)
		return false;
	if (row.user ? s->kernel && !s->user : s->user && !s->kernel)
		return false;
	*ret_row = row;
	return true;
}

/* A stack may be that of a selected event later: the reader knows stacks before their events. */
static void put_selected(struct stacks *s, uint32_t nr)
{
	uint32_t number;
	struct row row;

	if (array__reach(&s->selected, nr, &s->nr_selected)) {
		s->err = -ENOMEM;
		return;
	}
	for (number = 1; number <= nr && !out__drain(&s->out); number++) {
		if (s->selected[number] || !get_row(s, number, &row))
			continue;
		put_row(s, &row);
		s->selected[number] = 1;
	}
}

/* Prints the stacks that are not printed yet. */
static void put_new(void *ctx)
{
	struct stacks *s = ctx;
	uint32_t nr = stk_reader__nr_stacks(s->rd.reader);
	struct row row;

	if (s->rd.sel.any) {
		put_selected(s, nr);
		return;
	}
	for (; s->printed < nr && !out__drain(&s->out); s->printed++)
		if (get_row(s, s->printed + 1, &row))
			put_row(s, &row);
}

static int by_refs(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->refs != y->refs)
		return x->refs > y->refs ? -1 : 1;
	return x->st.number < y->st.number ? -1 : x->st.number > y->st.number;
}

static int put_top(struct stacks *s)
{
	uint32_t nr = stk_reader__nr_stacks(s->rd.reader), number;
	_cleanup_free_ struct row *rows = calloc(nr ?: 1, sizeof(*rows));
	size_t n = 0, i;

	if (!rows)
		return log_err(-ENOMEM, "sort the stacks");
	for (number = 1; number <= nr; number++)
		n += get_row(s, number, &rows[n]);
	qsort(rows, n, sizeof(*rows), by_refs);
	for (i = 0; i < n && i < s->top && !out__drain(&s->out); i++)
		put_row(s, &rows[i]);
	return 0;
}

static int read_stacks(struct stacks *s)
{
	const struct stk_event *e;
	uint64_t count;
	int err = 0;

	out__open(&s->out, !s->rd.follow);
	while (!err &&
	       reading__next_counted(&s->rd, &s->out, s->rd.follow ? put_new : NULL, s, &e, &count))
		err = stack_refs__add(&s->refs, s->rd.reader, e, count);
	if (err)
		log_err(err, "count the references");
	if (!is_import(s))
		stack_refs__fold(&s->refs, s->rd.reader);
	if (s->top)
		err = err ?: put_top(s);
	else
		put_new(s);
	if (s->err)
		err = log_err(s->err, "print the stacks");
	if (s->id != ANY_ID && !s->any && !err)
		err = log_why(-ENOENT,
			      "'%s' has no stack %" PRIu64
			      ": 'stackonce stacks' lists those it has",
			      s->rd.path, s->id);
	return out__close(&s->out, err ? CMD_FAILURE : reading__finish(&s->rd));
}

static int run(int argc, char **argv)
{
	_cleanup_(stacks__free) struct stacks s = { .id = ANY_ID };
	int code;

	code = parse_options(&s, argc, argv) ?: reading__open(&s.rd, STK_WANT_EVENTS);
	return code ?: read_stacks(&s);
}

const struct cmd cmd_stacks = {
	.name = "stacks",
	.summary = "print the stacks, by id",
	.run = run,
	.options = options,
	.text = "Prints the stacks of a recording: id, number of references by events, frames.\n",
	.notes = "If events are selected, stacks without a reference are left out.\n",
};
