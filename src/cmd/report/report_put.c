// SPDX-License-Identifier: GPL-2.0-only
/* Prints a group of events as a list of stacks, and what lists, profiles and trees share. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "ui/column.h"
#include "ui/frames.h"

#define MARKS 30 /* of the longest bar of a histogram */

/* ---- headings -------------------------------------------------------------------------------- */

void report__put_head(struct report *rp, const struct stack_group *g)
{
	struct strbuf *b = &rp->out.b;
	unsigned int nr = g->nr_stacks, i;

	out__paint(&rp->out, OUT_HEAD);
	report__put_key(rp, g);
	out__paint(&rp->out, OUT_PLAIN);
	for (i = 0; i < g->nr_stacks && (g->stacks[i].kstack || g->stacks[i].ustack); i++)
		;
	/* The entry for events without a stack is no stack. */
	nr -= i < g->nr_stacks;
	if (rp->c.weight_name) {
		strbuf__printf(b, "  %s ", counting__how(&rp->c));
		strbuf__text(b, rp->c.weight_name);
		strbuf__printf(b, " %s", report__weight(rp, g->amount).s);
		if (counting__has_shares(&rp->c)) {
			strbuf__puts(b, " (");
			out__percent(b, g->amount, rp->total_weight, 0);
			strbuf__puts(b, "%)");
		}
		strbuf__putc(b, ',');
	}
	strbuf__printf(b, "%s%s", rp->c.weight_name ? " " : "  ", text__count(g->count, "event").s);
	if (!rp->c.weight_name)
		strbuf__printf(b, " (%.2f%%)", rp->total ? 100.0 * g->count / rp->total : 0.0);
	strbuf__printf(b, ", %s\n", text__count(nr, "stack").s);
}

/* ---- functions ------------------------------------------------------------------------------- */

bool report__too_small(const struct report *rp, const struct stack_group *g, uint64_t weight)
{
	return counting__has_shares(&rp->c) && (double)weight * 100e9 < (double)rp->min * g->amount;
}

static int add_text(struct report *rp, struct call_stack *s, const struct stk_frame *f,
		    const char *text)
{
	const char *kept = string_table__keep(&rp->texts, text);

	return kept ? call_stack__add(s, &(struct call_frame){ .frame = *f, .text = kept }) :
		      -ENOMEM;
}

static int add_library(struct report *rp, struct call_stack *s, const struct stk_frame *f)
{
	const char *name = f->kind == STK_FRAME_KERNEL ? "[kernel]" : "[unknown]";

	return add_text(rp, s, f, stack_fold__is_made(f) ? f->sym : f->mod ?: name);
}

/* Source lines of the functions at a frame, innermost first; the last one is the frame's own. */
static int add_lines(struct report *rp, struct call_stack *s, const struct stk_frame *f)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	const struct name_line *lines;
	unsigned int nr = user_names__lines(&rp->rd.names, f, &lines), i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		if (!lines[i].source)
			continue;
		strbuf__reset(&text);
		strbuf__puts(&text, lines[i].source);
		if (lines[i].line)
			strbuf__printf(&text, ":%u", lines[i].line);
		err = strbuf__failed(&text) ? -ENOMEM : add_text(rp, s, f, text.s);
	}
	if (!err && (!nr || !lines[nr - 1].source))
		err = call_stack__add(s, &(struct call_frame){ .frame = *f });
	return err;
}

static int add_functions(struct report *rp, struct call_stack *s, const struct stk_frame *f)
{
	const struct name_line *lines;
	unsigned int nr = user_names__lines(&rp->rd.names, f, &lines), i;
	int err = 0;

	for (i = 0; i + 1 < nr && !err; i++)
		err = call_stack__add(s,
				      &(struct call_frame){ .frame = *f,
							    .inlined = lines[i].function ?: "?" });
	return err ?: call_stack__add(s, &(struct call_frame){ .frame = *f });
}

int report__frames(void *ctx, const struct stack_count *s, struct call_stack *ret_stack)
{
	struct stk_frame frames[STACK_PAIR_FRAMES];
	struct report *rp = ctx;
	unsigned int nr, i;
	int err = 0;

	nr = stack_fold__frames(rp->c.fold, (struct stack_pair){ s->kstack, s->ustack }, frames);
	for (i = 0; i < nr && !err; i++)
		err = rp->flat && rp->unit == UNIT_LIBRARY ?
			      add_library(rp, ret_stack, &frames[i]) :
		      rp->flat && rp->unit == UNIT_LINE ? add_lines(rp, ret_stack, &frames[i]) :
							  add_functions(rp, ret_stack, &frames[i]);
	return err;
}

void report__put_function(struct report *rp, const struct call_frame *f, uint64_t guesses,
			  uint64_t count)
{
	struct strbuf *b = &rp->out.b;

	frame__guesses(b, guesses, count);
	if (f->text) {
		strbuf__text(b, f->text);
	} else if (f->inlined) {
		strbuf__text(b, f->inlined);
		strbuf__puts(b, " (inlined)");
		frame__module(&rp->rd.names, b, &f->frame);
	} else {
		frame__function(&rp->rd.names, b, &f->frame);
	}
}

void report__json_function(struct report *rp, const struct call_frame *f,
			   const struct call_key *key, uint64_t guesses)
{
	struct json *j = &rp->out.json;

	if (f->text) {
		json__string(j, rp->unit == UNIT_LINE ? "source_line" : "library", f->text);
	} else {
		json__printf(j, "ip", "0x%" PRIx64, key->start);
		if (f->inlined)
			json__string(j, "inlined", f->inlined);
		frame__json_function(&rp->rd.names, j, &f->frame);
	}
	if (guesses)
		json__u64(j, "guesses", guesses);
}

/* ---- histograms ------------------------------------------------------------------------------ */

/* Bin 0 holds 0, bin i values from 2^(i-1) to 2^i - 1. */
#define NR_BINS 65

static uint64_t bin_from(unsigned int i)
{
	return i ? 1ull << (i - 1) : 0;
}

static uint64_t bin_to(unsigned int i)
{
	return i ? (bin_from(i) - 1) + bin_from(i) : 0;
}

/* The first and last bin that is not empty; false: all are. */
static bool fill_bins(const struct durations *d, uint64_t *ret_bins, unsigned int *ret_first,
		      unsigned int *ret_last)
{
	unsigned int i;

	*ret_first = NR_BINS;
	for (i = 0; i < NR_BINS; i++) {
		ret_bins[i] = durations__between(d, bin_from(i), bin_to(i));
		if (!ret_bins[i])
			continue;
		*ret_first = MIN(*ret_first, i);
		*ret_last = i;
	}
	return *ret_first < NR_BINS;
}

static void put_histogram(struct report *rp, const struct weight *w)
{
	unsigned int first, last, i;
	struct strbuf *b = &rp->out.b;
	uint64_t bins[NR_BINS], most = 0;
	size_t width = 16; /* of the largest number */

	if (!w->values || !fill_bins(w->values, bins, &first, &last))
		return;
	for (i = first; i <= last; i++) {
		most = MAX(most, bins[i]);
		width = MAX(width, strlen(report__weight(rp, bin_to(i)).s));
	}
	for (i = first; i <= last; i++) {
		strbuf__printf(b, "%*s ..", (int)width + 2, report__weight(rp, bin_from(i)).s);
		strbuf__printf(b, "%*s", (int)width, report__weight(rp, bin_to(i)).s);
		strbuf__printf(b, "%10s", text__number(bins[i]).s);
		if (bins[i])
			strbuf__puts(b, "  ");
		/* A bin that is not empty has at least one mark. */
		strbuf__pad(b, '#', bins[i] ? MAX(bins[i] * MARKS / most, 1) : 0);
		strbuf__putc(b, '\n');
	}
}

static void json_histogram(struct report *rp, const struct weight *w)
{
	struct json *j = &rp->out.json;
	unsigned int first, last, i;
	uint64_t bins[NR_BINS];

	json__array(j, "histogram");
	if (w->values && fill_bins(w->values, bins, &first, &last)) {
		for (i = first; i <= last; i++) {
			json__array(j, NULL);
			json__u64(j, NULL, bin_from(i));
			json__u64(j, NULL, bin_to(i));
			json__u64(j, NULL, bins[i]);
			json__end(j);
		}
	}
	json__end(j);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* The columns of a list of stacks.  weight: of the entry; whole: of the group. */
static void put_columns(struct report *rp, uint64_t weight, uint64_t whole, uint64_t count)
{
	struct out *o = &rp->out;

	if (rp->c.weight_name && rp->c.weight_is_ns && !o->json.depth && !o->heads)
		strbuf__printf(&o->b, "%16s", text__ns(weight).s);
	else if (rp->c.weight_name)
		column__number(o, "weight", 16, weight);
	if (!rp->c.weight_name)
		column__number(o, "count", 12, count);
	if (counting__has_shares(&rp->c))
		column__percent(o, "percent", 9, weight, whole);
	if (rp->c.weight_name)
		column__number(o, "count", 10, count);
}

void report__put_columns(struct report *rp)
{
	rp->out.heads = true;
	put_columns(rp, 0, 0, 0);
	rp->out.heads = false;
	strbuf__puts(&rp->out.b, "  stack\n");
}

static void put_stack(struct report *rp, const struct stack_group *g, const struct stack_count *s)
{
	const char *omitted = stack__omitted(rp->rd.reader, s->ustack);
	static const char indent[] = "                       ";
	struct stk_frame frames[STACK_PAIR_FRAMES];
	struct strbuf *b = &rp->out.b;
	unsigned int nr;

	out__paint(&rp->out, OUT_NUMBER);
	put_columns(rp, s->amount, g->amount, s->count);
	out__paint(&rp->out, OUT_PLAIN);
	strbuf__putc(b, ' ');
	if (!stack__put_ids(rp->rd.reader, b, s->kstack, s->ustack))
		strbuf__puts(b, " no stack");
	strbuf__putc(b, '\n');
	nr = stack_fold__frames(rp->c.fold, (struct stack_pair){ s->kstack, s->ustack }, frames);
	frames__put(&rp->rd.names, b, indent, frames, nr);
	if (omitted)
		strbuf__printf(b, "%s<%s>\n", indent, omitted);
	if (rp->c.spec.weighed && rp->c.spec.how == WEIGH_HIST)
		put_histogram(rp, s->weight);
}

static void put_stack_json(struct report *rp, const struct stack_group *g,
			   const struct stack_count *s)
{
	struct stk_frame frames[STACK_PAIR_FRAMES];
	struct json *j = &rp->out.json;
	unsigned int nr;

	json__record(j, "stack");
	report__put_key(rp, g);
	put_columns(rp, s->amount, g->amount, s->count);
	stack__json(&rp->rd.names, j, s->kstack, s->ustack, false);
	nr = stack_fold__frames(rp->c.fold, (struct stack_pair){ s->kstack, s->ustack }, frames);
	json__array(j, "frames");
	frames__json(&rp->rd.names, j, frames, nr);
	json__end(j);
	if (rp->c.spec.weighed && rp->c.spec.how == WEIGH_HIST)
		json_histogram(rp, s->weight);
	json__end(j);
}

/* "in 5 more": what --top leaves out. */
static void put_rest(struct report *rp, const struct stack_group *g, unsigned int first)
{
	uint64_t count = 0, weight = 0;
	unsigned int i;

	for (i = first; i < g->nr_stacks; i++) {
		count += g->stacks[i].count;
		if (__builtin_add_overflow(weight, g->stacks[i].amount, &weight))
			weight = UINT64_MAX;
	}
	if (!count)
		return;
	if (counting__has_shares(&rp->c))
		put_columns(rp, weight, g->amount, count);
	else
		strbuf__printf(&rp->out.b, "%26s", text__number(count).s);
	strbuf__printf(&rp->out.b, "  in %u more\n", g->nr_stacks - first);
}

void report__put_stacks(struct report *rp, const struct stack_group *g)
{
	uint64_t top = rp->top == UINT64_MAX ? STACKS_TOP : rp->top ?: UINT64_MAX;
	unsigned int n = MIN(top, g->nr_stacks), i;

	for (i = 0; i < n && !out__drain(&rp->out); i++) {
		if (rp->rd.json)
			put_stack_json(rp, g, &g->stacks[i]);
		else
			put_stack(rp, g, &g->stacks[i]);
	}
	if (rp->rd.json)
		return;
	put_rest(rp, g, i);
	strbuf__putc(&rp->out.b, '\n');
}
