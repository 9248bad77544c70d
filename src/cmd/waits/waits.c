// SPDX-License-Identifier: GPL-2.0-only
/* Options, selection and output shared by futex and offcpu. */
#include "waits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ui/frames.h"
#include "ui/need.h"

#define DEFAULT_TOP 20

int waits__options(struct waits *w, const struct cmd *cmd, int argc, char **argv)
{
	int code;

	w->top = WAITS_TOP_DEFAULT;
	code = reading__options(&w->rd, cmd, argc, argv);
	w->rd.only_events = true;
	return code;
}

void waits__free(struct waits *w)
{
	reading__free(&w->rd);
}

bool waits__selected(struct waits *w, const struct wait_task *task, uint64_t ts, unsigned int cpu)
{
	struct selection *s = &w->rd.sel;

	return selection__has_time(s, ts, ts) && (!s->cpu.nr || num_set__has(&s->cpu, cpu)) &&
	       selection__has_task(s, task->pid, task->tid) &&
	       selection__has_comm(s, task->comm, false);
}

uint32_t waits__top(const struct waits *w, uint32_t nr)
{
	uint64_t top = w->top != WAITS_TOP_DEFAULT ? w->top : w->rd.json ? 0 : DEFAULT_TOP;

	return top && top < nr ? top : nr;
}

void waits__need_wakers(const struct waits *w, const char *how, const char *unknown)
{
	static const char *const wakeups[] = { "sched:sched_waking", NULL };

	need__useful(&w->rd, wakeups, how, unknown);
}

void waits__note(struct waits *w, const char *key, uint64_t nr, const char *text)
{
	if (w->rd.json)
		json__u64(&w->out.json, key, nr);
	else if (nr && text)
		strbuf__printf(&w->out.b, "# %s %s\n", text__number(nr).s, text);
}

void waits__put_task(struct strbuf *b, const char *comm, uint32_t tid)
{
	strbuf__text(b, comm);
	strbuf__printf(b, "-%u", tid);
}

void waits__durations(struct out *o, const struct durations *d, int width)
{
	column__ns(o, "sum", width, d->sum);
	column__ns(o, "min", 0, d->min);
	column__ns(o, "p50", width, durations__percentile(d, 500));
	column__ns(o, "p99", width, durations__percentile(d, 990));
	column__ns(o, "max", 10, d->max);
	column__bool(o, "exact", durations__is_exact(d));
}

/* ---- stacks ---------------------------------------------------------------------------------- */

unsigned int waits__frames(struct waits *w, uint32_t kstack, enum wait_part part,
			   struct stk_frame *ret_frames)
{
	unsigned int first, nr = stack__frames(w->rd.reader, kstack, ret_frames);

	if (w->rd.names.full || !wait_part__frames(part, ret_frames, nr, &first, &nr))
		return nr;
	memmove(ret_frames, ret_frames + first, nr * sizeof(*ret_frames));
	return nr;
}

void waits__put_stacks(struct waits *w, const char *indent, uint32_t kstack, enum wait_part part,
		       uint32_t ustack)
{
	struct stk_frame frames[STK_MAX_DEPTH];

	frames__put(&w->rd.names, &w->out.b, indent, frames,
		    waits__frames(w, kstack, part, frames));
	stack__put(&w->rd.names, &w->out.b, indent, 0, ustack);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void waits__json_task(struct json *j, const struct wait_task *task)
{
	json__u64(j, "tid", task->tid);
	json__u64(j, "pid", task->pid);
	json__string(j, "comm", task->comm);
}

void waits__json_stacks(struct waits *w, uint32_t kstack, enum wait_part part, uint32_t ustack)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	struct json *j = &w->out.json;

	stack__json(&w->rd.names, j, kstack, ustack, false);
	if (!w->stacks)
		return;
	json__array(j, "frames");
	frames__json(&w->rd.names, j, frames, waits__frames(w, kstack, part, frames));
	frames__json(&w->rd.names, j, frames, stack__frames(w->rd.reader, ustack, frames));
	json__end(j);
}

void waits__json_end(struct waits *w, uint32_t ustack)
{
	struct stk_stack st;
	bool any = ustack && !stk_reader__stack(w->rd.reader, ustack, &st);

	json__string(&w->out.json, "ustack_end", any ? stk_stack_end_name(st.end) : NULL);
}
