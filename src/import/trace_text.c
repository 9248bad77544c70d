// SPDX-License-Identifier: GPL-2.0-only
/* Parses the lines of a trace text. */
#include "trace_text.h"

#include <string.h>

#include "event_flags.h"

#define COMM_COLUMNS 16 /* comm is printed as %16s */
#define MAX_COMM 15 /* TASK_COMM_LEN without its NUL */

static const struct letter {
	char c;
	uint8_t flags;
} irq_letters[] = {
	{ '.', 0 },
	{ 'd', EVENT_FLAG_IRQS_OFF },
	{ 'D', EVENT_FLAG_IRQS_OFF | EVENT_FLAG_BH_OFF },
	{ 'b', EVENT_FLAG_BH_OFF },
	{ 'X', 0 },
	{ 0, 0 },
}, resched_letters[] = {
	{ '.', 0 },
	{ 'N', EVENT_FLAG_NEED_RESCHED | EVENT_FLAG_PREEMPT_RESCHED },
	{ 'n', EVENT_FLAG_NEED_RESCHED },
	{ 'p', EVENT_FLAG_PREEMPT_RESCHED },
	{ 'l', EVENT_FLAG_NEED_RESCHED_LAZY },
	{ 'b', EVENT_FLAG_NEED_RESCHED | EVENT_FLAG_NEED_RESCHED_LAZY },
	{ 'L', EVENT_FLAG_NEED_RESCHED_LAZY | EVENT_FLAG_PREEMPT_RESCHED },
	{ 'B',
	  EVENT_FLAG_NEED_RESCHED | EVENT_FLAG_NEED_RESCHED_LAZY | EVENT_FLAG_PREEMPT_RESCHED },
	{ 0, 0 },
}, context_letters[] = {
	{ '.', 0 },
	{ 'h', EVENT_FLAG_HARDIRQ },
	{ 's', EVENT_FLAG_SOFTIRQ },
	{ 'H', EVENT_FLAG_HARDIRQ | EVENT_FLAG_SOFTIRQ },
	{ 'z', EVENT_FLAG_NMI },
	{ 'Z', EVENT_FLAG_NMI | EVENT_FLAG_HARDIRQ },
	{ 0, 0 },
};

static bool add_letter(const struct letter *table, char c, uint8_t *flags)
{
	for (; table->c; table++) {
		if (table->c == c) {
			*flags |= table->flags;
			return true;
		}
	}
	return false;
}

/* One hexadecimal digit, '.' is 0. */
static int count_digit(char c)
{
	if (c == '.')
		return 0;
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* "dNh2." (or four columns before Linux 5.19, which do not have migrate-disable) */
static bool parse_flags(const char *p, size_t n, struct trace_line *l)
{
	uint8_t flags = 0;
	int low, high = 0;

	if (n != 4 && n != 5)
		return false;
	low = count_digit(p[3]);
	if (n == 5)
		high = count_digit(p[4]);
	if (low < 0 || high < 0 || !add_letter(irq_letters, p[0], &flags) ||
	    !add_letter(resched_letters, p[1], &flags) ||
	    !add_letter(context_letters, p[2], &flags))
		return false;
	l->flags = flags;
	l->no_irqflag = p[0] == 'X';
	l->preempt_count = (uint8_t)(high << 4 | low);
	return true;
}

static const char *skip_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Decimal digits up to max; NULL when there are none or the number is larger. */
static const char *parse_u64(const char *p, const char *end, uint64_t max, uint64_t *ret_v)
{
	uint64_t v = 0;

	if (p == end || !is_digit(*p))
		return NULL;
	for (; p < end && is_digit(*p); p++) {
		if (v > (max - (uint64_t)(*p - '0')) / 10)
			return NULL;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	*ret_v = v;
	return p;
}

/* "21.585998:" */
static const char *parse_time(const char *p, const char *end, struct trace_line *l)
{
	uint64_t frac = 0, sec;
	const char *start;
	int digits;

	p = parse_u64(p, end, UINT64_MAX - 9, &sec);
	if (!p || p == end)
		return NULL;
	l->has_fraction = *p == '.';
	if (!l->has_fraction) {
		l->ts = sec;
		return *p == ':' ? p + 1 : NULL;
	}
	start = p + 1;
	p = parse_u64(start, end, 999999999, &frac);
	if (!p || p == end || *p != ':' || p - start > 9 || sec >= UINT64_MAX / 1000000000)
		return NULL;
	for (digits = (int)(p - start); digits < 9; digits++)
		frac *= 10;
	l->ts = sec * 1000000000 + frac;
	return p + 1;
}

/* "(  1234)" or "(-------)" */
static const char *parse_tgid(const char *p, const char *end, struct trace_line *l)
{
	uint64_t v = 0;

	p = skip_blank(p + 1, end);
	if (p < end && *p == '-') {
		while (p < end && *p == '-')
			p++;
	} else {
		p = parse_u64(p, end, INT32_MAX, &v);
	}
	p = p ? skip_blank(p, end) : NULL;
	if (!p || p == end || *p != ')')
		return NULL;
	l->tgid = (uint32_t)v;
	return p + 1;
}

/* The part after comm, from the dash on: "-PID [CPU] FLAGS TIME:". */
static const char *parse_context(const char *p, const char *end, struct trace_line *l)
{
	const char *word;
	uint64_t v;

	p = parse_u64(p + 1, end, INT32_MAX, &v);
	if (!p || p == end || (*p != ' ' && *p != '\t'))
		return NULL;
	l->tid = (uint32_t)v;
	l->tgid = 0;
	p = skip_blank(p, end);
	if (p < end && *p == '(') {
		p = parse_tgid(p, end, l);
		p = p ? skip_blank(p, end) : NULL;
	}
	if (!p || p == end || *p != '[')
		return NULL;
	p = parse_u64(p + 1, end, TRACE_TEXT_MAX_CPUS - 1, &v);
	if (!p || p == end || *p != ']')
		return NULL;
	l->cpu = (uint32_t)v;
	word = p = skip_blank(p + 1, end);
	l->flags = l->preempt_count = 0;
	l->no_irqflag = false;
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	if (parse_flags(word, (size_t)(p - word), l))
		word = skip_blank(p, end);
	return parse_time(word, end, l);
}

/*
 * Both comm and the event's text may contain a dash and digits.  The width of the comm column
 * decides where the text has kept it, or else the leftmost position that parses.
 */
static const char *parse_head(const char *p, const char *end, struct trace_line *l)
{
	const char *start = skip_blank(p, end), *rest = NULL, *dash = NULL;

	if (end - p > COMM_COLUMNS && p[COMM_COLUMNS] == '-' && start < p + COMM_COLUMNS &&
	    p + COMM_COLUMNS - start <= MAX_COMM) {
		dash = p + COMM_COLUMNS;
		rest = parse_context(dash, end, l);
	}
	if (!rest) {
		for (dash = start; dash < end && dash - start <= MAX_COMM; dash++) {
			if (*dash == '-' && (rest = parse_context(dash, end, l)))
				break;
		}
	}
	if (!rest)
		return NULL;
	l->comm = start;
	l->comm_len = (uint32_t)(dash - start);
	return rest;
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

static void parse_body(const char *p, const char *end, struct trace_line *l)
{
	static const char stack_id[] = "<stack_id ", stack[] = "<stack trace>";
	const size_t n = sizeof(stack_id) - 1;
	const char *q;

	p = skip_blank(p, end);
	if ((size_t)(end - p) > n && !memcmp(p, stack_id, n) && end[-1] == '>') {
		l->kind = TRACE_LINE_STACK_ID;
		q = parse_u64(p + n, end, UINT32_MAX, &l->stack_id);
		if (!q || q != end - 1)
			l->stack_id = UINT64_MAX;
		return;
	}
	l->kind = TRACE_LINE_EVENT;
	if ((size_t)(end - p) == sizeof(stack) - 1 && !memcmp(p, stack, sizeof(stack) - 1))
		l->kind = TRACE_LINE_STACK;
	for (q = p; q < end && is_name(*q) && q - p < 256; q++)
		;
	l->event = p;
	l->event_len = 0;
	if (q > p && q < end && *q == ':' && (q + 1 == end || q[1] == ' ')) {
		l->event_len = (uint32_t)(q - p);
		p = q + 1 + (q + 1 < end);
	}
	l->text = p;
	l->text_len = (uint32_t)(end - p);
}

/* Lines that the kernel prints between events. */
static void parse_other(const char *p, const char *end, struct trace_line *l)
{
	static const char entries[] = "# entries-in-buffer/entries-written: ";
	const size_t n = sizeof(entries) - 1;
	uint64_t cpu, kept, written;
	const char *q;

	l->kind = TRACE_LINE_OTHER;
	if (end - p >= 4 && !memcmp(p, " => ", 4)) {
		l->kind = TRACE_LINE_FRAME;
		l->text = p + 4;
		l->text_len = (uint32_t)(end - l->text);
		return;
	}
	if (skip_blank(p, end) == end || *p == '#')
		l->kind = TRACE_LINE_COMMENT;
	if ((size_t)(end - p) > n && !memcmp(p, entries, n)) {
		q = parse_u64(p + n, end, UINT64_MAX - 9, &kept);
		if (q && q < end && *q == '/' && parse_u64(q + 1, end, UINT64_MAX - 9, &written) &&
		    written > kept) {
			l->kind = TRACE_LINE_LOST;
			l->lost = written - kept;
			l->lost_cpu = TRACE_TEXT_OLDEST;
		}
		return;
	}
	if (end - p > 4 && !memcmp(p, "CPU:", 4)) { /* "CPU:1 [LOST 99 EVENTS]" */
		static const char lost[] = " [LOST ";

		if (end - p > 7 && !memcmp(p + 4, "any", 3)) { /* as printed by stackonce script */
			cpu = TRACE_TEXT_ANY_CPU;
			q = p + 7;
		} else {
			q = parse_u64(p + 4, end, TRACE_TEXT_ANY_CPU - 1, &cpu);
		}
		if (q && (size_t)(end - q) > sizeof(lost) - 1 &&
		    !memcmp(q, lost, sizeof(lost) - 1)) {
			l->kind = TRACE_LINE_LOST;
			l->lost_cpu = (uint32_t)cpu;
			/* "[LOST EVENTS]": the count is unknown */
			l->lost_unknown =
				!parse_u64(q + sizeof(lost) - 1, end, UINT64_MAX - 9, &l->lost);
			if (l->lost_unknown)
				l->lost = 1;
		}
	}
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* "0x" and up to 16 digits at *p, which moves behind them; false: there are none. */
static bool parse_hex(const char **p, const char *end, uint64_t *ret_v)
{
	const char *s = *p;
	uint64_t v = 0;

	if (end - s < 3 || s[0] != '0' || s[1] != 'x' || count_digit(s[2]) < 0 || s[2] == '.')
		return false;
	for (s += 2; s < end && *s != '.' && count_digit(*s) >= 0; s++) {
		if (v >> 60)
			return false;
		v = v << 4 | (unsigned int)count_digit(*s);
	}
	*p = s;
	*ret_v = v;
	return true;
}

/* " <ffffffff81000000>" at the end, which is then cut off: *ret_end. */
static bool parse_address(const char *start, const char *end, const char **ret_end, uint64_t *ret_v)
{
	const char *p = end;
	uint64_t v = 0;

	if (end - start < 4 || end[-1] != '>')
		return false;
	for (p = end - 1; p > start && p[-1] != '.' && count_digit(p[-1]) >= 0; p--)
		;
	if (end - 1 - p < 1 || end - 1 - p > 16 || p - start < 2 || p[-1] != '<' || p[-2] != ' ')
		return false;
	*ret_end = p - 2;
	for (; p < end - 1; p++)
		v = v << 4 | (unsigned int)count_digit(*p);
	*ret_v = v;
	return true;
}

/* "+0x12/0x34" from p to end. */
static bool parse_offset(const char *p, const char *end, struct trace_frame *f)
{
	uint64_t offset, size;

	if (p == end || *p++ != '+' || !parse_hex(&p, end, &offset) || p == end || *p++ != '/' ||
	    !parse_hex(&p, end, &size) || p != end)
		return false;
	f->has_offset = true;
	f->offset = offset;
	f->size = size;
	return true;
}

void trace_text__frame(const char *line, size_t len, struct trace_frame *ret_frame)
{
	const char *p = line, *end = line + len, *before, *plus, *mod = NULL;
	struct trace_frame f = { .name = line };
	uint64_t bare = 0;

	while (end > line && (end[-1] == ' ' || end[-1] == '\r'))
		end--;
	f.has_address = parse_address(line, end, &end, &f.address);
	/* an address without a symbol, and NULL */
	if ((parse_hex(&p, end, &bare) && p == end) || (end - line == 1 && *line == '0')) {
		f.has_address = true;
		f.address = bare;
		*ret_frame = f;
		return;
	}
	before = end;
	if (end > line && end[-1] == ']')
		mod = memrchr(line, '[', (size_t)(end - line));
	if (mod && mod > line && mod[-1] == ' ')
		before = mod - 1;
	plus = memrchr(line, '+', (size_t)(before - line));
	if (plus && parse_offset(plus, before, &f)) {
		if (before != end) {
			f.mod = mod + 1;
			f.mod_len = (uint32_t)(end - 1 - f.mod);
		}
		end = plus;
	}
	f.name_len = (uint32_t)(end - line);
	*ret_frame = f;
}

/* ---- lines ----------------------------------------------------------------------------------- */

void trace_text__init(struct trace_text *t, const char *text, size_t len)
{
	*t = (struct trace_text){ .p = text, .end = text + len };
}

bool trace_text__next(struct trace_text *t, struct trace_line *ret_line)
{
	struct trace_line l = { 0 };
	const char *nl, *stop, *rest;

	if (t->p == t->end)
		return false;
	nl = memchr(t->p, '\n', (size_t)(t->end - t->p));
	stop = nl ? nl : t->end;
	/* longer than any kernel line; lengths are 32 bits from here on */
	if (stop - t->p > INT32_MAX)
		stop = t->p + INT32_MAX;
	l.number = ++t->line;
	rest = parse_head(t->p, stop, &l);
	if (rest)
		parse_body(rest, stop, &l);
	else
		parse_other(t->p, stop, &l);
	t->p = nl ? nl + 1 : t->end;
	*ret_line = l;
	return true;
}
