// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the stacks of events.  A stack is rendered once and its text kept, as most events have a
 * stack that occurred before.
 */
#include "script.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "ui/frames.h"

/* ---- rendering ------------------------------------------------------------------------------- */

/*
 * " => FRAME".  ftrace puts a second blank before a user frame with its offset, where a guess has
 * its mark.
 */
static void render_frame(struct script *s, struct strbuf *b, const struct stk_frame *f)
{
	struct user_names *names = &s->rd.names;
	bool is_hash = s->ids && f->kind == STK_FRAME_USER;
	bool is_offset = is_hash || frame__is_full(names, f);
	const struct name_line *lines;
	unsigned int nr = is_hash ? 0 : user_names__lines(names, f, &lines), i;

	for (i = 0; i + 1 < nr; i++) {
		strbuf__puts(b, " => ");
		frame__inlined(b, &lines[i]);
	}
	strbuf__puts(b, is_offset && !f->guessed ? " =>  " : " => ");
	if (is_hash)
		frame__hash(names, b, f);
	else
		frame__text(names, b, f);
	if (nr)
		frame__source(b, &lines[nr - 1]);
	strbuf__putc(b, '\n');
}

/* How an incomplete stack ends.  A fallback is complete, and its guesses are marked. */
static const char *end_text(enum stk_stack_end end)
{
	switch (end) {
	case STK_END_COMPLETE:
	case STK_END_FALLBACK:
		return NULL;
	case STK_END_NO_TABLE:
		return "no unwind table";
	case STK_END_UNREADABLE:
		return "memory not readable";
	default:
		return stk_stack_end_name(end);
	}
}

static void render_stack(struct script *s, struct strbuf *b, uint32_t number)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	unsigned int n = stack__frames(s->rd.reader, number, frames), i;
	const char *end = NULL;
	struct stk_stack st;

	out__paint(&s->out, OUT_DIM);
	for (i = 0; i < n; i++)
		render_frame(s, b, &frames[i]);
	if (!stk_reader__stack(s->rd.reader, number, &st))
		end = stack__omitted(s->rd.reader, number) ?: end_text(st.end);
	if (end) {
		strbuf__puts(b, " => <");
		strbuf__puts(b, end);
		strbuf__puts(b, ">\n");
	}
	out__paint(&s->out, OUT_PLAIN);
}

/* ---- rendered stacks ------------------------------------------------------------------------- */

/* The entry of a stack; NULL when out of memory. */
static struct script_stack *stack_slot(struct script *s, uint32_t number)
{
	return array__reach(&s->stacks, number, &s->nr_stacks) ? NULL : &s->stacks[number];
}

static void put_stack(struct script *s, uint32_t number)
{
	struct script_stack *st = stack_slot(s, number);
	size_t start;

	if (!st) {
		render_stack(s, &s->out.b, number);
		return;
	}
	if (!st->seen) {
		if (s->stack_text.len >= STACK_TEXT_MAX) {
			memset(s->stacks, 0, s->nr_stacks * sizeof(*s->stacks));
			strbuf__reset(&s->stack_text);
		}
		start = s->stack_text.len;
		render_stack(s, &s->stack_text, number);
		s->out.b.failed |= strbuf__failed(&s->stack_text);
		st->at = start;
		st->len = s->stack_text.len - start;
		st->seen = true;
	}
	if (st->len)
		strbuf__add(&s->out.b, s->stack_text.s + st->at, st->len);
}

/* Stack numbers are dense: a number above the last is invalid. */
static bool is_stack(const struct script *s, uint32_t number)
{
	return number && number <= stk_reader__nr_stacks(s->rd.reader);
}

static void put_under(struct script *s, const char *title, uint32_t kstack, uint32_t ustack)
{
	uint32_t number = kstack ?: ustack;

	if (!is_stack(s, number))
		return;
	if (s->ids || ustack)
		strbuf__puts(&s->out.b, title);
	if (s->ids)
		stack__put_ids(s->rd.reader, &s->out.b, kstack, ustack);
	if (s->ids || ustack)
		strbuf__putc(&s->out.b, '\n');
	put_stack(s, number);
}

void script__kernel_stack(struct script *s, const struct stk_event *e)
{
	put_under(s, "<stack trace>", stk_event__kstack(e), 0);
}

void script__user_stack(struct script *s, const struct stk_event *e)
{
	put_under(s, "<user stack trace>", 0, stk_event__ustack(e));
}

/* ---- lines before an event ------------------------------------------------------------------- */

static void put_file(struct script *s, uint32_t number)
{
	struct stk_file file;

	if (array__reach(&s->mapped, number, &s->nr_mapped)) {
		s->out.b.failed = true;
		return;
	}
	if (s->mapped[number] || stk_reader__file(s->rd.reader, number, &file))
		return;
	s->mapped[number] = true;
	file__map_line(&s->out.b, &file);
	strbuf__putc(&s->out.b, '\n');
}

void script__put_files(struct script *s, const struct stk_event *e)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	uint32_t number = stk_event__ustack(e);
	unsigned int n, i;

	/* A rendered stack was printed before, and its files before it. */
	if (!is_stack(s, number) || (number < s->nr_stacks && s->stacks[number].seen))
		return;
	n = stack__frames(s->rd.reader, number, frames);
	for (i = 0; i < n; i++)
		if (frames[i].kind == STK_FRAME_USER && frames[i].file)
			put_file(s, frames[i].file);
}

static void put_new_stack(struct script *s, uint32_t number)
{
	struct json *j = &s->out.json;
	struct script_stack *slot;
	struct stk_stack st;

	if (!is_stack(s, number) || stk_reader__stack(s->rd.reader, number, &st))
		return;
	slot = stack_slot(s, number);
	if (!slot || slot->seen)
		return;
	slot->seen = true;
	json__record(j, "stack");
	json__u64(j, "id", st.id);
	json__u64(j, "depth", st.depth);
	json__string(j, "end", stk_stack_end_name(st.end));
	stack__json_frames(&s->rd.names, j, "frames", number, 0);
	json__end(j);
}

void script__put_new_stacks(struct script *s, const struct stk_event *e)
{
	put_new_stack(s, stk_event__kstack(e));
	put_new_stack(s, stk_event__ustack(e));
}

void script__free_stacks(struct script *s)
{
	free(s->stacks);
	free(s->mapped);
	strbuf__free(&s->stack_text);
}
