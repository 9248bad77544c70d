// SPDX-License-Identifier: GPL-2.0-only
/* Prints both recordings and the rows, as text and as JSON. */
#include "diff.h"

#include <stdio.h>

#include "cleanup.h"
#include "losses.h"
#include "ui/column.h"
#include "ui/frames.h"

#define MARK '*'

/* ---- shared ---------------------------------------------------------------------------------- */

static double value_of(const struct diff_cmd *c, const struct ratio *r)
{
	double v = r->by > 0 ? r->sum / r->by : 0;

	return c->per == DIFF_PER_EVENT ? 100 * v : v;
}

static double scaled(const struct diff_cmd *c, double v)
{
	return c->per == DIFF_PER_EVENT ? 100 * v : v;
}

/* "+12.34%", "new" or "gone"; in JSON null if it is new. */
static void put_percent(struct out *o, const char *name, int width, double a, double b)
{
	char text[64] = "new";

	if (o->json.depth && a > 0) {
		json__real(&o->json, name, 100 * (b - a) / a, 2);
		return;
	} else if (o->json.depth) {
		json__null(&o->json, name);
		return;
	}
	if (o->heads)
		snprintf(text, sizeof(text), "%s", name);
	else if (!b && a)
		snprintf(text, sizeof(text), "gone");
	else if (a && b / a >= 10)
		snprintf(text, sizeof(text), "x%.4g", b / a);
	else if (a)
		snprintf(text, sizeof(text), "%+.2f%%", 100 * (b - a) / a);
	strbuf__printf(&o->b, "%*s", width, text);
}

/* The columns of a row. */
static void put_columns(struct diff_cmd *c, const struct diff_row *r)
{
	double a = value_of(c, &r->ratio[0]), b = value_of(c, &r->ratio[1]);
	struct out *o = &c->out;

	column__real(o, "a", 11, a);
	column__real(o, "b", 12, b);
	column__change(o, "change", 12, scaled(c, r->verdict.change));
	if (diff__is_judged(c->diff))
		column__real(o, "noise", 11, scaled(c, r->verdict.noise));
	put_percent(o, "percent", 11, a, b);
}

/* Rows to print: the largest changes, without --all those that are no noise. */
static bool is_shown(const struct diff_cmd *c, const struct diff_row *r)
{
	return c->r[0].all || r->significant || !diff__is_judged(c->diff);
}

/* The events that were counted, or the pairs. */
static uint64_t counted(const struct diff_reading *r)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < r->side.nr_types; i++)
		sum += series__sum(&r->side.types[i]);
	return r->is_latency ? r->l.res.counts.paired : sum;
}

static const char *const by_names[] = { "stack", "function", "self" };

/* ---- text ------------------------------------------------------------------------------------ */

static void put_recording(struct diff_cmd *c, unsigned int i)
{
	const struct diff_reading *r = &c->r[i];
	uint64_t lost = losses__all(r->l.rd.reader);
	struct strbuf *b = &c->out.b;

	strbuf__printf(b, "# %c  ", i ? 'b' : 'a');
	strbuf__text(b, r->l.rd.path);
	strbuf__printf(b, ": %s %s in %s", text__number(counted(r)).s,
		       r->is_latency ? "pairs" : "events",
		       text__ns(r->side.any ? r->side.to - r->side.from : 0).s);
	if (lost)
		strbuf__printf(b, ", %s lost (see stackonce info)", text__number(lost).s);
	strbuf__putc(b, '\n');
}

static void put_unit(struct diff_cmd *c)
{
	struct strbuf *b = &c->out.b;

	strbuf__puts(b, "# ");
	if (c->r[0].l.query.preset) {
		strbuf__printf(b, "Times of the preset %s", c->r[0].l.query.preset->name);
	} else if (c->r[0].is_latency) {
		strbuf__puts(b, "Times from ");
		strbuf__text(b, c->r[0].l.query.start);
		strbuf__puts(b, " to ");
		strbuf__text(b, c->r[0].l.query.end);
	} else if (c->per == DIFF_PER_SECOND) {
		strbuf__puts(b, "Events per second");
	} else if (c->per == DIFF_PER_EVENT) {
		strbuf__puts(b, "Percent of the events of the same type");
	} else {
		strbuf__puts(b, "Events per ");
		strbuf__text(b, c->r[0].per);
	}
	strbuf__puts(b, ", largest change first.\n");
}

static void put_judgement(struct diff_cmd *c, bool judged)
{
	const struct side *a = &c->r[0].side, *b = &c->r[1].side;
	struct strbuf *out = &c->out.b;

	if (!judged) {
		strbuf__printf(
			out,
			"# Too short to judge noise: a has %u bins of %s, b %u; %u are needed "
			"(--bin).\n",
			side__nr_bins(a), text__ns(a->bin_ns).s, side__nr_bins(b), JUDGE_MIN_BINS);
		return;
	}
	strbuf__printf(out, "# Noise is judged by %u and %u bins of ", side__nr_bins(a),
		       side__nr_bins(b));
	strbuf__puts(out, text__ns(a->bin_ns).s);
	if (a->bin_ns != b->bin_ns)
		strbuf__printf(out, " and %s", text__ns(b->bin_ns).s);
	strbuf__printf(out, "; %c is more than noise.\n", MARK);
}

static void put_names(struct diff_cmd *c)
{
	const struct same_code *code = diff__code(c->diff);
	struct strbuf *b = &c->out.b;
	const char *path;
	unsigned int nr = same_code__by_name(code, &path);

	if (!same_code__same_kernel(code))
		strbuf__puts(b, "# The kernels differ, or may: kernel functions are compared by "
				"name.\n");
	if (!nr)
		return;
	strbuf__puts(b, "# ");
	strbuf__text(b, path);
	if (nr > 1)
		strbuf__printf(b, " and %s differ", text__count(nr - 1, "more file").s);
	else
		strbuf__puts(b, " differs");
	strbuf__printf(b, ", or may: functions in %s are compared by name.\n",
		       nr > 1 ? "them" : "it");
}

static void put_event(struct strbuf *b, const struct stk_event_type *t)
{
	strbuf__text(b, stk_event_type__system(t));
	strbuf__putc(b, ':');
	strbuf__text(b, stk_event_type__name(t));
}

static void put_row(struct diff_cmd *c, const struct diff_row *r)
{
	struct user_names *names = &c->r[r->side].l.rd.names;
	struct strbuf *b = &c->out.b;

	strbuf__putc(b, r->significant ? MARK : ' ');
	out__paint(&c->out, OUT_NUMBER);
	put_columns(c, r);
	out__paint(&c->out, OUT_PLAIN);
	strbuf__puts(b, "  ");
	if (c->r[0].by != DIFF_BY_STACK && r->no_frame)
		strbuf__puts(b, "no stack");
	else if (c->r[0].by != DIFF_BY_STACK)
		frame__function(names, b, &r->frame);
	if (c->r[0].by != DIFF_BY_STACK && diff__nr_types(c->diff) > 1)
		strbuf__puts(b, " of ");
	if (c->r[0].by == DIFF_BY_STACK || diff__nr_types(c->diff) > 1)
		put_event(b, r->type);
	if (c->r[0].by == DIFF_BY_STACK && !r->kstack && !r->ustack)
		strbuf__puts(b, ", no stack");
	strbuf__putc(b, '\n');
	if (c->r[0].by == DIFF_BY_STACK)
		stack__put(names, b, "            ", r->kstack, r->ustack);
}

static void put_heads(struct diff_cmd *c)
{
	out__paint(&c->out, OUT_HEAD);
	strbuf__puts(&c->out.b, "\n ");
	c->out.heads = true;
	put_columns(c, &(struct diff_row){ 0 });
	c->out.heads = false;
	strbuf__printf(&c->out.b, "  %s\n", c->r[0].by == DIFF_BY_STACK ? "stack" : "function");
	out__paint(&c->out, OUT_PLAIN);
}

static void put_rows(struct diff_cmd *c)
{
	uint32_t nr, i, shown = 0, more = 0, noise = 0;
	const struct diff_row *rows = diff__rows(c->diff, &nr);
	struct strbuf *b = &c->out.b;

	for (i = 0; i < nr && !out__drain(&c->out); i++) {
		if (!is_shown(c, &rows[i])) {
			noise++;
		} else if (c->r[0].top && shown >= c->r[0].top) {
			more++;
		} else {
			if (!shown++)
				put_heads(c);
			put_row(c, &rows[i]);
		}
	}
	if (more)
		strbuf__printf(b, "%s more: --top 0 prints all\n", text__number(more).s);
	if (noise && !shown)
		strbuf__puts(b, "No change is more than noise.\n");
	if (noise)
		strbuf__printf(b, "%s%s that may be noise: --all prints them\n",
			       text__number(noise).s, noise == 1 ? " change" : " changes");
	if (!nr)
		strbuf__puts(b, "There are no events to compare.\n");
}

static void put_recording_json(struct diff_cmd *c, unsigned int i)
{
	const struct diff_reading *r = &c->r[i];
	struct json *j = &c->out.json;

	json__record(j, "recording");
	json__string(j, "side", i ? "b" : "a");
	json__string(j, "file", r->l.rd.path);
	json__u64(j, "events", counted(r));
	json__u64(j, "lost", losses__all(r->l.rd.reader));
	json__real(j, "seconds", side__seconds(&r->side), 9);
	json__u64(j, "bins", side__nr_bins(&r->side));
	json__u64(j, "bin_ns", r->side.bin_ns);
	json__end(j);
}

void diff__put_recordings(struct diff_cmd *c, bool judged)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (c->r[0].l.rd.json)
			put_recording_json(c, i);
		else
			put_recording(c, i);
	}
	if (c->r[0].l.rd.json)
		return;
	put_unit(c);
	put_judgement(c, judged);
}

void diff__put_text(struct diff_cmd *c)
{
	diff__put_recordings(c, diff__is_judged(c->diff));
	put_names(c);
	put_rows(c);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_row_json(struct diff_cmd *c, const struct diff_row *r)
{
	struct user_names *names = &c->r[r->side].l.rd.names;
	_cleanup_free_ char *event = event__full_name(r->type);
	bool by_stack = c->r[0].by == DIFF_BY_STACK;
	struct json *j = &c->out.json;

	c->out.b.failed |= !event;
	json__record(j, by_stack ? "stack" : "function");
	json__string(j, "event", event);
	put_columns(c, r);
	json__u64(j, "count_a", r->ratio[0].sum);
	json__u64(j, "count_b", r->ratio[1].sum);
	if (diff__is_judged(c->diff)) {
		json__real(j, "p", r->verdict.p, 9);
		json__real(j, "q", r->q, 9);
		json__bool(j, "rare", r->rare);
	}
	json__bool(j, "significant", r->significant);
	json__string(j, "side", r->side ? "b" : "a");
	if (by_stack)
		stack__json(names, j, r->kstack, r->ustack, true);
	else
		frame__json_function(names, j, &r->frame);
	json__end(j);
}

static void put_summary_json(struct diff_cmd *c)
{
	const struct same_code *code = diff__code(c->diff);
	struct json *j = &c->out.json;
	const char *path;
	uint32_t nr;

	diff__rows(c->diff, &nr);
	json__record(j, "summary");
	json__string(j, "by", by_names[c->r[0].by]);
	json__string(j, "per", c->r[0].per ?: "second");
	json__bool(j, "judged", diff__is_judged(c->diff));
	json__u64(j, "rows", nr);
	json__u64(j, "significant", diff__nr_significant(c->diff));
	json__bool(j, "same_kernel", same_code__same_kernel(code));
	json__u64(j, "files_by_name", same_code__by_name(code, &path));
	json__end(j);
}

void diff__put_json(struct diff_cmd *c)
{
	uint32_t nr, i, shown = 0;
	const struct diff_row *rows = diff__rows(c->diff, &nr);

	diff__put_recordings(c, diff__is_judged(c->diff));
	put_summary_json(c);
	for (i = 0; i < nr && !out__drain(&c->out); i++) {
		if (!is_shown(c, &rows[i]) || (c->r[0].top && shown >= c->r[0].top))
			continue;
		put_row_json(c, &rows[i]);
		shown++;
	}
}
