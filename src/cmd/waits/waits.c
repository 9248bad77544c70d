// SPDX-License-Identifier: GPL-2.0-only
/* Parses the options that futex and offcpu share and runs their loop over the events. */
#include "waits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ui/frames.h"

#define DEFAULT_TOP 20

int waits__options(struct waits *w, const struct cmd *cmd, int argc, char **argv)
{
	int code;

	w->top = WAITS_TOP_DEFAULT;
	code = reading__options(&w->rd, cmd, argc, argv);
	w->which = w->rd.sel;
	w->rd.sel = (struct selection){ .any = w->which.event, .event = w->which.event };
	return code;
}

void waits__free(struct waits *w)
{
	num_set__free(&w->which.pid);
	num_set__free(&w->which.tid);
	num_set__free(&w->which.cpu);
	reading__free(&w->rd);
}

bool waits__selected(const struct waits *w, const struct wait_task *task, uint64_t ts,
		     unsigned int cpu)
{
	const struct selection *s = &w->which;

	if (s->has_time && (ts < s->from || ts > s->to))
		return false;
	if (s->cpu.nr && !num_set__has(&s->cpu, cpu))
		return false;
	if (s->tid.nr && !num_set__has(&s->tid, task->tid))
		return false;
	if (s->pid.nr && !num_set__has(&s->pid, task->pid) && !num_set__has(&s->pid, task->tid))
		return false;
	return !s->comm || glob__matches(s->comm, task->comm);
}

uint32_t waits__top(const struct waits *w, uint32_t nr)
{
	uint64_t top = w->top != WAITS_TOP_DEFAULT ? w->top : w->rd.json ? 0 : DEFAULT_TOP;

	return top && top < nr ? top : nr;
}

void waits__note(struct waits *w, uint64_t nr, const char *text)
{
	if (!nr)
		return;
	strbuf__puts(&w->out.b, "# ");
	out__number(&w->out.b, nr, 0);
	strbuf__putc(&w->out.b, ' ');
	strbuf__puts(&w->out.b, text);
	strbuf__putc(&w->out.b, '\n');
}

void waits__put_stack(struct waits *w, const char *indent, uint32_t kstack, uint32_t ustack)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	struct strbuf *b = &w->out.b;
	unsigned int n = stack__frames(w->rd.reader, kstack, frames), i;

	for (i = 0; i < n; i++) {
		strbuf__puts(b, indent);
		frame__text(&w->rd.names, b, &frames[i]);
		strbuf__putc(b, '\n');
	}
	n = stack__frames(w->rd.reader, ustack, frames);
	for (i = 0; i < n; i++) {
		strbuf__puts(b, indent);
		frame__in_file(&w->rd.names, b, &frames[i], false);
		strbuf__putc(b, '\n');
	}
}

void waits__put_task(struct strbuf *b, const char *comm, uint32_t tid)
{
	out__safe(b, comm, strlen(comm));
	strbuf__printf(b, "-%u", tid);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void put_key(struct strbuf *b, const char *key)
{
	strbuf__puts(b, ",\"");
	strbuf__puts(b, key);
	strbuf__puts(b, "\":");
}

void waits__json_u64(struct strbuf *b, const char *key, uint64_t v)
{
	put_key(b, key);
	strbuf__u64(b, v);
}

void waits__json_string(struct strbuf *b, const char *key, const char *s)
{
	put_key(b, key);
	if (s)
		out__json(b, s, strlen(s));
	else
		strbuf__puts(b, "null");
}

void waits__json_stack(struct waits *w, const char *key, uint32_t number)
{
	put_key(&w->out.b, key);
	stack__json_id(w->rd.reader, &w->out.b, number);
}

void waits__json_task(struct strbuf *b, const struct wait_task *task)
{
	waits__json_u64(b, "tid", task->tid);
	waits__json_u64(b, "pid", task->pid);
	waits__json_string(b, "comm", task->comm);
}

void waits__json_frames(struct waits *w, uint32_t kstack, uint32_t ustack)
{
	if (!w->stacks)
		return;
	strbuf__puts(&w->out.b, ",\"frames\":");
	stack__json_frames(&w->rd.names, &w->out.b, kstack, ustack);
}

void waits__json_end(struct waits *w, const char *key, uint32_t number)
{
	struct stk_stack st;
	bool any = number && !stk_reader__stack(w->rd.reader, number, &st);

	waits__json_string(&w->out.b, key, any ? stk_stack_end_name(st.end) : NULL);
}

void waits__json_durations(struct strbuf *b, const struct durations *d)
{
	waits__json_u64(b, "sum_ns", d->sum > UINT64_MAX ? UINT64_MAX : (uint64_t)d->sum);
	waits__json_u64(b, "min_ns", d->min);
	waits__json_u64(b, "p50_ns", durations__percentile(d, 500));
	waits__json_u64(b, "p99_ns", durations__percentile(d, 990));
	waits__json_u64(b, "max_ns", d->max);
	strbuf__puts(b, durations__is_exact(d) ? ",\"exact\":true" : ",\"exact\":false");
}
