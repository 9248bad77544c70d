// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints one event as text.  This is the hot path of script: task names, event names and stacks are
 * rendered once and kept; the rest is written directly to the output buffer.
 */
#include "script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "clock.h"
#include "event_flags.h"
#include "log.h"
#include "ui/frames.h"

/* ---- state kept between events --------------------------------------------------------------- */

void script__start(struct script *s)
{
	kernel_text__init(&s->text, s->rd.reader, &s->print);
	s->print.long_size = 8;
}

void script__free(struct script *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_types; i++) {
		ev_format__free(s->types[i].format);
		free(s->types[i].fields);
		strbuf__free(&s->types[i].label);
		free(s->types[i].full_name);
	}
	for (i = 0; i < s->nr_columns; i++)
		free(s->columns[i].name);
	kernel_text__clear(&s->text);
	free(s->columns);
	free(s->types);
	free(s->tasks);
	script__free_stacks(s);
	strbuf__free(&s->scratch);
	reading__free(&s->rd);
}

/* Metadata precedes the first event, and later metadata may replace it. */
static void learn_clock(struct script *s)
{
	const char *hz = stk_reader__meta(s->rd.reader, "kernel.hz");
	const char *clock = stk_reader__meta(s->rd.reader, "clock");
	uint64_t v;

	if (!hz || parse__u64(hz, 1, 1000000, &v))
		return;
	s->print.hz = v;
	s->jiffies_known = clock && !strcmp(clock, "mono");
}

/* INITIAL_JIFFIES: the kernel's jiffies start five minutes before they overflow 32 bits. */
static uint64_t jiffies_at(uint64_t ts, uint32_t hz)
{
	return (uint32_t)(-300 * (int64_t)hz) + ts / 1000000000 * hz +
	       ts % 1000000000 * hz / 1000000000;
}

static void init_type(struct script *s, struct script_type *st, const struct stk_event_type *t)
{
	const char *system = stk_event_type__system(t), *name = stk_event_type__name(t);
	const char *format = stk_event_type__format(t);
	unsigned int i;
	int err = 0;

	st->seen = true;
	learn_clock(s);
	/* The parser logs failures; the event is then printed without its fields. */
	if (*format)
		err = ev_format__parse(format, strlen(format), &st->format);
	strbuf__puts(&st->label, out__colour(&s->out, OUT_HEAD));
	/* The entry and the return of a function have the same name. */
	if (stk_event_type__kind(t) >= STK_KIND_FUNCTION &&
	    stk_event_type__kind(t) <= STK_KIND_USDT) {
		strbuf__safe(&st->label, system, strlen(system));
		strbuf__putc(&st->label, ':');
	}
	strbuf__safe(&st->label, name, strlen(name));
	strbuf__putc(&st->label, ':');
	strbuf__puts(&st->label, out__colour(&s->out, OUT_PLAIN));
	strbuf__putc(&st->label, ' ');
	st->full_name = event__full_name(t);
	st->fields = calloc(s->nr_columns ?: 1, sizeof(*st->fields));
	if (err == -ENOMEM || strbuf__failed(&st->label) || !st->full_name || !st->fields)
		s->out.b.failed = true;
	for (i = 0; st->fields && st->format && i < s->nr_columns; i++)
		if (s->columns[i].kind == COL_FIELD)
			st->fields[i] = ev_format__find(st->format, s->columns[i].name);
}

struct script_type *script__type(struct script *s, const struct stk_event *e)
{
	const struct stk_event_type *t = stk_event__type(e);
	unsigned int i = stk_event_type__index(t);

	if (array__reach(&s->types, i, &s->nr_types)) {
		s->out.b.failed = true;
		return NULL;
	}
	if (!s->types[i].seen)
		init_type(s, &s->types[i], t);
	return &s->types[i];
}

/* "%16s-%-7d " */
static void put_task(struct strbuf *b, const char *comm, uint32_t tid)
{
	size_t start = b->len, len;

	strbuf__text(b, comm);
	len = b->len - start;
	if (len < 16 && !strbuf__grow(b, 16)) {
		memmove(b->s + start + 16 - len, b->s + start, len);
		memset(b->s + start, ' ', 16 - len);
		b->len = start + 16;
	}
	strbuf__putc(b, '-');
	start = b->len;
	strbuf__u64(b, tid);
	if (b->len - start < 7)
		strbuf__pad(b, ' ', 7 - (b->len - start));
	strbuf__putc(b, ' ');
}

static void put_task_cached(struct script *s, const char *comm, uint32_t tid)
{
	struct script_task *t;
	size_t start = s->out.b.len, len;

	if (!s->tasks)
		s->tasks = calloc(TASK_SLOTS, sizeof(*s->tasks));
	if (!s->tasks) {
		put_task(&s->out.b, comm, tid);
		return;
	}
	t = &s->tasks[(tid ^ (uintptr_t)comm >> 4) % TASK_SLOTS];
	if (t->len && t->comm == comm && t->tid == tid) {
		strbuf__add(&s->out.b, t->text, t->len);
		return;
	}
	put_task(&s->out.b, comm, tid);
	len = s->out.b.len - start;
	if (s->out.b.failed || len > TASK_TEXT)
		return;
	memcpy(t->text, s->out.b.s + start, len);
	t->comm = comm;
	t->tid = tid;
	t->len = len;
}

/* ---- the columns ----------------------------------------------------------------------------- */

void script__flags(const struct stk_event *e, char text[static 5])
{
	unsigned int flags = stk_event__flags(e), preempt = stk_event__preempt_count(e);
	bool no_irqflag = stk_event__marks(e) & STK_MARK_NO_IRQFLAG;
	bool need = flags & EVENT_FLAG_NEED_RESCHED, lazy = flags & EVENT_FLAG_NEED_RESCHED_LAZY;
	bool hard = flags & EVENT_FLAG_HARDIRQ;

	if (flags & EVENT_FLAG_BH_OFF)
		text[0] = flags & EVENT_FLAG_IRQS_OFF ? 'D' : 'b';
	else
		text[0] = flags & EVENT_FLAG_IRQS_OFF ? 'd' : no_irqflag ? 'X' : '.';
	if (flags & EVENT_FLAG_PREEMPT_RESCHED)
		text[1] = need && lazy ? 'B' : need ? 'N' : lazy ? 'L' : 'p';
	else
		text[1] = need && lazy ? 'b' : need ? 'n' : lazy ? 'l' : '.';
	if (flags & EVENT_FLAG_NMI)
		text[2] = hard ? 'Z' : 'z';
	else if (flags & EVENT_FLAG_SOFTIRQ)
		text[2] = hard ? 'H' : 's';
	else
		text[2] = hard ? 'h' : '.';
	text[3] = preempt & 0xf ? "0123456789abcdef"[preempt & 0xf] : '.';
	text[4] = preempt & 0xf0 ? "0123456789abcdef"[preempt >> 4 & 0xf] : '.';
}

static void put_padded(struct strbuf *b, uint64_t v, int width, char pad)
{
	char digits[20];
	int i = sizeof(digits);

	do {
		digits[--i] = '0' + v % 10;
		v /= 10;
	} while (v);
	for (; (int)sizeof(digits) - i < width && i > 0;)
		digits[--i] = pad;
	strbuf__add(b, digits + i, sizeof(digits) - i);
}

void script__time(const struct script *s, struct strbuf *b, uint64_t ts, int width)
{
	uint64_t us;

	if (s->ns) {
		put_padded(b, ts / 1000000000, width, ' ');
		strbuf__putc(b, '.');
		put_padded(b, ts % 1000000000, 9, '0');
		return;
	}
	us = ns_to_us(ts);
	put_padded(b, us / 1000000, width, ' ');
	strbuf__putc(b, '.');
	put_padded(b, us % 1000000, 6, '0');
}

void script__fields(struct script *s, struct strbuf *b, struct script_type *t,
		    const struct stk_event *e)
{
	const void *rec;
	size_t len;

	if (stk_event__marks(e) & STK_MARK_NO_FIELDS) {
		strbuf__puts(b, "<fields missing>");
		return;
	}
	if (!t->format)
		return;
	rec = stk_event__record(e, &len);
	if (s->jiffies_known)
		s->print.jiffies = jiffies_at(stk_event__ts(e), s->print.hz);
	strbuf__reset(&s->scratch);
	ev_format__print(t->format, &s->print, rec, len, &s->scratch);
	t->uncompiled += !ev_format__compiled(t->format);
	b->failed |= s->scratch.failed;
	strbuf__safe(b, s->scratch.s ?: "", s->scratch.len);
	if (stk_event__marks(e) & STK_MARK_CUT)
		strbuf__puts(b, " <cut>");
}

void script__warn_uncompiled(struct script *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_types; i++)
		if (s->types[i].uncompiled)
			log_warn("%" PRIu64
				 " events of \"%s\" are printed field by field: their print "
				 "fmt is not supported",
				 s->types[i].uncompiled, s->types[i].full_name ?: "");
}

void script__line(struct script *s, const struct stk_event *e)
{
	struct script_type *t = script__type(s, e);
	struct strbuf *b = &s->out.b;
	char flags[5];

	if (!t)
		return;
	if (s->ids && !s->no_stacks)
		script__put_files(s, e);
	if (stk_reader__nr_boots(s->rd.reader) > 1) {
		strbuf__text(b, stk_event__host(e));
		strbuf__putc(b, ' ');
	}
	put_task_cached(s, event_comm(e), stk_event__tid(e));
	strbuf__putc(b, '[');
	put_padded(b, stk_event__cpu(e), 3, '0');
	strbuf__add(b, "] ", 2);
	script__flags(e, flags);
	strbuf__add(b, flags, sizeof(flags));
	strbuf__putc(b, ' ');
	script__time(s, b, stk_event__ts(e), 5);
	strbuf__add(b, ": ", 2);
	strbuf__add(b, t->label.s, t->label.len);
	script__fields(s, b, t, e);
	strbuf__putc(b, '\n');
	if (!s->no_stacks) {
		script__kernel_stack(s, e);
		script__user_stack(s, e);
	}
}
