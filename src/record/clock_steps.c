// SPDX-License-Identifier: GPL-2.0-only
/* Notices steps of the TAI clock. */
#include "clock_steps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "log.h"
#include "meta.h"
#include "strbuf.h"
#include "text.h"
#include "trace/write/writer.h"

#define MAX_STEPS 100 /* in the metadata, as a clock that is set all the time must not fill them */

struct clock_steps {
	struct rec_offset last;
	enum rec_clock clock;
	unsigned int nr;
	struct strbuf text;
};

int clock_steps__new(enum rec_clock clock, const struct rec_offset *offset,
		     struct clock_steps **ret_steps)
{
	struct clock_steps *s = NULL;

	if (rec_clock__base(clock) != clock) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return -ENOMEM;
		s->clock = clock;
		s->last = *offset;
	}
	*ret_steps = s;
	return 0;
}

void clock_steps__free(struct clock_steps *s)
{
	if (!s)
		return;
	strbuf__free(&s->text);
	free(s);
}

int clock_steps__check(struct clock_steps *s, struct stk_writer *w, uint64_t now)
{
	struct rec_offset offset;
	int64_t step;

	if (!s)
		return 0;
	rec_clock__offset(s->clock, &offset);
	step = offset.ns - s->last.ns;
	if ((uint64_t)llabs(step) <= offset.error + s->last.error)
		return 0;
	s->last = offset;
	log_warn("the clock '%s' was set %s by %s: the recording's times go on as before",
		 rec_clock__name(s->clock), step < 0 ? "back" : "forward", text__ns(llabs(step)).s);
	if (s->nr++ >= MAX_STEPS || strbuf__failed(&s->text))
		return 0;
	strbuf__printf(&s->text, "%s%" PRId64 " at %" PRIu64, s->text.len ? ", " : "", step, now);
	return meta__text(w, "clock.steps", &s->text);
}
