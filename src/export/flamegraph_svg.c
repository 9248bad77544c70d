// SPDX-License-Identifier: GPL-2.0-only
/*
 * The picture: callers above, callees below, the heaviest first.  Each frame is a <g> with its
 * weight, a title that viewers show as a tooltip, a box and, if it fits, a name.  Frames are in the
 * order of a tree walk, from which flamegraph.js rebuilds the tree.
 */
#include "flamegraph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "flamegraph_tree.h"
#include "strbuf.h"
#include "text.h"

/* Lengths in pixels; flamegraph.js reads them from the picture. */
#define WIDTH 1200
#define PAD 10
#define TOP 96 /* of the root's box */
#define ROW 18 /* a box and the gap below it */
#define BOX 17
#define CHAR_HUNDREDTHS 723 /* of a character of the 12 px font */

#define SHADES 8
#define NAME_MAX_SHOWN 400 /* bytes of a name */
#define FRAMES_BYTES 1800000 /* for all frames */
#define FRAME_BYTES 150 /* of a frame without its texts */

static const char script[] =
#include "flamegraph_script.inc"
	;

static const struct {
	const char *key, *label;
	unsigned int hue, hue_step, saturation, light; /* light enough for black text on it */
} looks[] = {
	[FLAME_ROOT] = { "r", "", 0, 0, 0, 80 },
	[FLAME_GROUP] = { "g", "group", 0, 0, 0, 82 },
	[FLAME_KERNEL] = { "k", "kernel", 22, 3, 90, 66 },
	[FLAME_USER] = { "u", "user", 200, 2, 72, 70 },
	[FLAME_INLINED] = { "i", "user, inlined", 148, 3, 45, 70 },
};

/* Of a difference: the more something changed, the darker. */
enum trend { TREND_NOISE, TREND_MORE, TREND_LESS, NR_TRENDS };
static const struct {
	const char *key, *label;
	unsigned int hue, saturation, light, step;
} trends[NR_TRENDS] = {
	[TREND_NOISE] = { "n", "no change, or noise", 0, 0, 88, 0 },
	[TREND_MORE] = { "m", "more", 4, 90, 89, 4 },
	[TREND_LESS] = { "l", "less", 214, 85, 89, 4 },
};

/* ---- text ------------------------------------------------------------------------------------ */

/* XML does not allow U+FFFE and U+FFFF. */
static bool is_nonchar(const char *s)
{
	return (unsigned char)s[0] == 0xef && (unsigned char)s[1] == 0xbf &&
	       ((unsigned char)s[2] == 0xbe || (unsigned char)s[2] == 0xbf);
}

/* Escapes text from strbuf__safe() for XML. */
static void put_escaped(struct strbuf *b, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		switch (s[i]) {
		case '&':
			strbuf__puts(b, "&amp;");
			break;
		case '<':
			strbuf__puts(b, "&lt;");
			break;
		case '>':
			strbuf__puts(b, "&gt;");
			break;
		case '"':
			strbuf__puts(b, "&quot;");
			break;
		default:
			if (len - i >= 3 && is_nonchar(s + i)) {
				strbuf__puts(b, "\\xef\\xbf\\x");
				strbuf__hex(b, (unsigned char)s[i + 2], 2);
				i += 2;
			} else {
				strbuf__putc(b, s[i]);
			}
		}
	}
}

static bool continues_char(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/*
 * Bytes of safe text that fit into max columns: all, or as many as leave room for an ellipsis.
 * East Asian characters are wide.
 */
static size_t fit(const char *s, size_t len, size_t max)
{
	size_t columns = 0, cut = 0, i;

	for (i = 0; i < len; i++) {
		if (continues_char(s[i]))
			continue;
		if (columns < max)
			cut = i; /* the text before it leaves room for the ellipsis */
		columns += (unsigned char)s[i] >= 0xe1 ? 2 : 1;
		if (columns > max)
			return cut;
	}
	return len;
}

static void put_fitted(struct strbuf *b, const char *s, size_t len, size_t max)
{
	size_t n = fit(s, len, max);

	put_escaped(b, s, n);
	if (n < len)
		strbuf__puts(b, "\xe2\x80\xa6");
}

static void put_text(struct strbuf *b, const char *s, size_t max_columns)
{
	_cleanup_(strbuf__free) struct strbuf safe = { 0 };

	strbuf__safe(&safe, s ?: "", strlen(s ?: ""));
	b->failed |= safe.failed;
	put_fitted(b, safe.s ?: "", safe.len, max_columns);
}

static void put_weight(struct strbuf *b, uint64_t weight, const char *unit)
{
	if (!strcmp(unit, "ns")) {
		strbuf__puts(b, text__ns(weight).s);
		return;
	}
	strbuf__puts(b, text__number(weight).s);
	strbuf__putc(b, ' ');
	put_text(b, unit, 40);
}

static void put_percent(struct strbuf *b, uint64_t part, uint64_t whole)
{
	uint64_t p = whole ? ((unsigned __int128)part * 10000 + whole / 2) / whole : 0;

	strbuf__printf(b, "%" PRIu64 ".%02u%%", p / 100, (unsigned int)(p % 100));
}

static void put_hundredths(struct strbuf *b, uint64_t v)
{
	strbuf__u64(b, v / 100);
	if (v % 100)
		strbuf__printf(b, ".%02u", (unsigned int)(v % 100));
}

/* ---- choosing frames ------------------------------------------------------------------------- */

struct picture {
	const struct flamegraph *f;
	const char *unit;
	struct strbuf *out;
	struct strbuf safe; /* the current name */
	uint64_t least; /* lighter frames are left out */
	uint64_t largest_left_out;
	uint32_t nr_left_out;
	unsigned int rows;
	bool has[ARRAY_SIZE(looks)];
	bool has_trend[NR_TRENDS];
};

struct flame_cost {
	uint64_t weight;
	uint32_t bytes;
};

static int cmp_costs(const void *pa, const void *pb)
{
	const struct flame_cost *a = pa, *b = pb;

	return a->weight < b->weight ? 1 : -(a->weight > b->weight);
}

/* "NAME [WHERE]" without line breaks, limited to a readable length. */
static void safe_name(struct strbuf *ret_safe, const struct flame_name *n)
{
	bool bare = n->where[0] == '[';
	size_t len;

	strbuf__reset(ret_safe);
	strbuf__safe(ret_safe, n->name, strlen(n->name));
	len = fit(ret_safe->s ?: "", ret_safe->len, NAME_MAX_SHOWN);
	if (len < ret_safe->len) {
		ret_safe->len = len;
		strbuf__puts(ret_safe, "\xe2\x80\xa6");
	}
	if (!n->where[0])
		return;
	strbuf__puts(ret_safe, bare ? " " : " [");
	strbuf__safe(ret_safe, n->where, strnlen(n->where, NAME_MAX_SHOWN));
	strbuf__puts(ret_safe, bare ? "" : "]");
}

/* Bytes of a frame's texts, by name: the title, and the part of it in the box. */
static uint32_t *name_costs(struct picture *p)
{
	uint32_t *costs = calloc(p->f->nr_names, sizeof(*costs)), i;
	_cleanup_(strbuf__free) struct strbuf xml = { 0 };

	for (i = 0; costs && i < p->f->nr_names; i++) {
		strbuf__reset(&xml);
		safe_name(&p->safe, &p->f->names[i]);
		put_escaped(&xml, p->safe.s ?: "", p->safe.len);
		costs[i] = FRAME_BYTES + xml.len + MIN(xml.len, 40);
	}
	if (xml.failed || p->safe.failed) {
		free(costs);
		return NULL;
	}
	return costs;
}

/*
 * Chooses the heaviest frames that fit.  Frames of equal weight are all kept or all left out, so
 * that names do not matter.
 */
static int choose_least(struct picture *p)
{
	const struct flamegraph *f = p->f;
	_cleanup_free_ struct flame_cost *costs = calloc(f->nr_nodes, sizeof(*costs));
	_cleanup_free_ uint32_t *names = name_costs(p);
	uint64_t sum = 0;
	uint32_t i;

	if (!costs || !names)
		return -ENOMEM;
	for (i = 0; i < f->nr_nodes; i++)
		costs[i] = (struct flame_cost){ f->nodes[i].weight, names[f->nodes[i].name] };
	qsort(costs, f->nr_nodes, sizeof(*costs), cmp_costs);
	for (i = 0; i < f->nr_nodes && sum + costs[i].bytes <= FRAMES_BYTES; i++)
		sum += costs[i].bytes;
	if (i == f->nr_nodes)
		return 0;
	p->largest_left_out = costs[i].weight;
	p->least = costs[i].weight + 1;
	for (; i && costs[i - 1].weight < p->least; i--)
		;
	p->nr_left_out = f->nr_nodes - i;
	return 0;
}

static int by_weight(const struct flamegraph *f, uint32_t a, uint32_t b)
{
	uint64_t x = f->nodes[a].weight, y = f->nodes[b].weight;

	return x < y ? 1 : x > y ? -1 : flamegraph__by_name(f, a, b);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static unsigned int shade(const char *name)
{
	uint32_t h = 2166136261u; /* FNV-1a: the same picture on every machine */

	while (*name)
		h = (h ^ (unsigned char)*name++) * 16777619u;
	return (h ^ h >> 15) % SHADES;
}

static enum trend trend_of(const struct flame_node *n)
{
	if (!n->change.known || !n->change.significant || n->weight == n->change.before)
		return TREND_NOISE;
	return n->weight > n->change.before ? TREND_MORE : TREND_LESS;
}

/* By the part of the larger weight that the change is. */
static unsigned int trend_shade(const struct flame_node *n)
{
	double a = n->change.before, b = n->weight;

	return a > b ? (a - b) / a * (SHADES - 1) : b > 0 ? (b - a) / b * (SHADES - 1) : 0;
}

struct step {
	uint32_t node, depth;
	uint64_t at; /* weight of everything left of it */
};

static uint64_t to_hundredths(const struct picture *p, uint64_t weight)
{
	return (unsigned __int128)weight * ((WIDTH - 2 * PAD) * 100) / p->f->nodes[0].weight;
}

/* "; before 12 events, +20.00%" */
static void put_change(struct picture *p, const struct flame_node *n)
{
	double a = n->change.before, b = n->weight;

	if (!n->change.known)
		return;
	strbuf__puts(p->out, "; before ");
	put_weight(p->out, n->change.before, p->unit);
	if (n->change.before)
		strbuf__printf(p->out, ", %+.2f%%", 100 * (b - a) / a);
	if (!n->change.significant)
		strbuf__puts(p->out, ", may be noise");
}

static void put_title(struct picture *p, const struct flame_node *n)
{
	uint64_t total = p->f->nodes[0].weight;
	struct strbuf *b = p->out;

	strbuf__puts(b, "<title>");
	safe_name(&p->safe, &p->f->names[n->name]);
	put_escaped(b, p->safe.s ?: "", p->safe.len);
	strbuf__putc(b, '\n');
	put_weight(b, n->weight, p->unit);
	strbuf__puts(b, ", ");
	put_percent(b, n->weight, total);
	if (n->self && n->self < n->weight) {
		strbuf__puts(b, "; self ");
		put_percent(b, n->self, total);
	}
	put_change(p, n);
	strbuf__puts(b, "</title>");
}

static void put_class(struct picture *p, const struct flame_node *n)
{
	const struct flame_name *name = &p->f->names[n->name];
	enum trend trend = trend_of(n);

	if (p->f->has_changes)
		strbuf__printf(p->out, "%s%u", trends[trend].key,
			       trend == TREND_NOISE ? 0 : trend_shade(n));
	else
		strbuf__printf(p->out, "%s%u", looks[name->kind].key, shade(name->name));
}

static void put_frame(struct picture *p, const struct step *s)
{
	const struct flame_node *n = &p->f->nodes[s->node];
	const struct flame_name *name = &p->f->names[n->name];
	uint64_t x = to_hundredths(p, s->at) + PAD * 100;
	uint64_t width = to_hundredths(p, s->at + n->weight) + PAD * 100 - x;
	uint64_t columns = width > 600 ? (width - 600) / CHAR_HUNDREDTHS : 0;
	unsigned int y = TOP + s->depth * ROW;
	struct strbuf *b = p->out;

	strbuf__puts(b, "<g class=\"");
	put_class(p, n);
	strbuf__printf(b, "\" data-w=\"%" PRIu64 "\">", n->weight);
	put_title(p, n);
	strbuf__puts(b, "<rect x=\"");
	put_hundredths(b, x);
	strbuf__printf(b, "\" y=\"%u\" width=\"", y);
	put_hundredths(b, width > 200 ? width - 60 : width * 7 / 10);
	strbuf__printf(b, "\" height=\"%u\"/>", BOX);
	if (columns >= 3) {
		strbuf__puts(b, "<text x=\"");
		put_hundredths(b, x + 300);
		strbuf__printf(b, "\" y=\"%u\">", y + 13);
		strbuf__reset(&p->safe);
		strbuf__safe(&p->safe, name->name, strlen(name->name));
		put_fitted(b, p->safe.s ?: "", p->safe.len, columns);
		strbuf__puts(b, "</text>");
	}
	strbuf__puts(b, "</g>\n");
}

typedef void (*frame_fn)(struct picture *p, const struct step *s);

static void note_frame(struct picture *p, const struct step *s)
{
	p->rows = MAX(p->rows, s->depth + 1);
	p->has[p->f->names[p->f->nodes[s->node].name].kind] = true;
	p->has_trend[trend_of(&p->f->nodes[s->node])] = true;
}

/* Visits callers first, then their callees from left to right. */
static int walk(struct picture *p, frame_fn fn)
{
	const struct flamegraph *f = p->f;
	_cleanup_free_ struct step *todo = calloc(f->nr_nodes, sizeof(*todo));
	_cleanup_free_ uint32_t *children = calloc(f->nr_nodes, sizeof(*children));
	uint32_t nr_todo = 1, nr, i;

	if (!todo || !children)
		return -ENOMEM;
	while (nr_todo) {
		struct step s = todo[--nr_todo];
		uint64_t end = s.at;

		fn(p, &s);
		nr = flamegraph__children(f, s.node, by_weight, children);
		while (nr && f->nodes[children[nr - 1]].weight < p->least)
			nr--;
		for (i = 0; i < nr; i++)
			end += f->nodes[children[i]].weight;
		while (nr) {
			end -= f->nodes[children[--nr]].weight;
			todo[nr_todo++] = (struct step){ children[nr], s.depth + 1, end };
		}
	}
	return 0;
}

/* ---- the page -------------------------------------------------------------------------------- */

static void put_style(struct strbuf *b, bool has_changes)
{
	unsigned int kind, i;

	strbuf__puts(b, "<style>\n"
			"text{font:12px \"DejaVu Sans Mono\",Menlo,Consolas,monospace;"
			"fill:#111;white-space:pre}\n"
			".frames text{pointer-events:none}\n"
			".page{fill:#fff}\n"
			".title{font-size:16px;font-weight:bold}\n"
			".dim{fill:#555}\n");
	for (kind = 0; kind < NR_TRENDS && has_changes; kind++)
		for (i = 0; i < SHADES; i++)
			strbuf__printf(b, ".%s%u{fill:hsl(%u,%u%%,%u%%)}\n", trends[kind].key, i,
				       trends[kind].hue, trends[kind].saturation,
				       trends[kind].light - i * trends[kind].step);
	for (kind = 0; kind < ARRAY_SIZE(looks) && !has_changes; kind++)
		for (i = 0; i < SHADES; i++)
			strbuf__printf(b, ".%s%u{fill:hsl(%u,%u%%,%u%%)}\n", looks[kind].key, i,
				       looks[kind].hue + i * looks[kind].hue_step,
				       looks[kind].saturation,
				       looks[kind].light + i * 5 % SHADES * (kind ? 1 : 0));
	strbuf__puts(b, "</style>\n");
}

static void put_legend_entry(struct strbuf *b, const char *key, const char *label, unsigned int *x)
{
	strbuf__printf(b,
		       "<rect class=\"%s3\" x=\"%u\" y=\"55\" width=\"12\" height=\"12\"/>"
		       "<text x=\"%u\" y=\"65\">%s</text>",
		       key, *x, *x + 17, label);
	*x += 17 + strlen(label) * CHAR_HUNDREDTHS / 100 + 18;
}

static void put_legend(struct picture *p)
{
	unsigned int i, x = PAD;

	strbuf__puts(p->out, "<g class=\"legend\">");
	for (i = 0; i < NR_TRENDS && p->f->has_changes; i++)
		if (p->has_trend[i])
			put_legend_entry(p->out, trends[i].key, trends[i].label, &x);
	for (i = FLAME_GROUP; i < ARRAY_SIZE(looks) && !p->f->has_changes; i++)
		if (p->has[i])
			put_legend_entry(p->out, looks[i].key, looks[i].label, &x);
	strbuf__puts(p->out, "</g>\n");
}

static void put_subtitle(struct picture *p, const char *subtitle)
{
	struct strbuf *b = p->out;

	strbuf__printf(b, "<text class=\"subtitle dim\" x=\"%u\" y=\"44\">", PAD);
	if (subtitle && *subtitle) {
		put_text(b, subtitle, 120);
		strbuf__puts(b, ", ");
	}
	put_weight(b, p->f->nodes[0].weight, p->unit);
	if (p->nr_left_out) {
		strbuf__puts(b, "; not drawn: ");
		strbuf__puts(b, text__number(p->nr_left_out).s);
		strbuf__puts(b, " frames of at most ");
		put_weight(b, p->largest_left_out, p->unit);
	}
	strbuf__puts(b, "</text>\n");
}

static void put_head(struct picture *p, const struct flame_text *text)
{
	unsigned int height = TOP + p->rows * ROW + PAD;
	struct strbuf *b = p->out;

	strbuf__printf(b,
		       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		       "viewBox=\"0 0 %u %u\">\n<title>",
		       WIDTH, height, WIDTH, height);
	put_text(b, text->title, NAME_MAX_SHOWN);
	strbuf__puts(b, "</title>\n");
	put_style(b, p->f->has_changes);
	strbuf__puts(b, "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
	strbuf__printf(b, "<text class=\"title\" x=\"%u\" y=\"25\">", PAD);
	put_text(b, text->title, 80);
	strbuf__puts(b, "</text>\n");
	put_subtitle(p, text->subtitle);
	put_legend(p);
	strbuf__printf(b, "<text class=\"details\" x=\"%u\" y=\"86\"></text>\n", PAD);
}

static int put_svg(struct picture *p, const struct flame_text *text)
{
	int err = choose_least(p) ?: walk(p, note_frame);

	if (err)
		return err;
	put_head(p, text);
	strbuf__puts(p->out, "<g class=\"frames\">\n");
	if (p->f->nodes[0].weight)
		err = walk(p, put_frame);
	strbuf__puts(p->out, "</g>\n<script><![CDATA[\n");
	strbuf__puts(p->out, script);
	strbuf__puts(p->out, "]]></script>\n</svg>\n");
	return err;
}

void flamegraph__svg(const struct flamegraph *f, const struct flame_text *text, struct strbuf *out)
{
	struct picture p = { .f = f, .unit = text->unit ?: "", .out = out };

	if (put_svg(&p, text) || p.safe.failed)
		out->failed = true;
	strbuf__free(&p.safe);
}
