// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints losses where they happened, as the kernel's trace file does (print_trace_line() in
 * kernel/trace/trace.c): "CPU:1 [LOST 34 EVENTS]" before the first event after the loss.  Samples
 * that were not taken are not lost: "CPU:any [SKIPPED 3 SAMPLES]".
 */
#include "script.h"

#include <inttypes.h>

#include "cleanup.h"
#include "losses.h"

static void put_line(struct strbuf *b, const struct stk_loss *loss)
{
	bool skipped = loss_is_skipped(loss);

	if (loss->cpu == STK_ANY_CPU)
		strbuf__puts(b, "CPU:any");
	else
		strbuf__printf(b, "CPU:%" PRIu32, loss->cpu);
	if (loss->count)
		strbuf__printf(b, " [%s %" PRIu64 " %s]\n", skipped ? "SKIPPED" : "LOST",
			       loss->count, skipped ? "SAMPLES" : "EVENTS");
	else
		strbuf__puts(b, " [LOST EVENTS]\n");
}

static void put_json(struct json *j, const struct stk_loss *loss)
{
	_cleanup_free_ char *name = loss->type ? event__full_name(loss->type) : NULL;

	j->out->failed |= loss->type && !name;
	json__record(j, "loss");
	json__u64(j, "ts", loss->first_ts);
	json__maybe(j, "end_ts", loss->last_ts != UINT64_MAX, loss->last_ts);
	json__maybe(j, "cpu", loss->cpu != STK_ANY_CPU, loss->cpu);
	json__string(j, "event", name);
	json__maybe(j, "count", loss->count, loss->count);
	json__bool(j, "skipped", loss_is_skipped(loss));
	json__end(j);
}

void script__losses(struct script *s, uint64_t until)
{
	struct stk_loss loss;
	int n = 0;

	while (!out__drain(&s->out) &&
	       (n = stk_reader__next_loss(s->rd.reader, until, &loss)) == 1) {
		if (!reading__loss_selected(&s->rd, &loss))
			continue;
		if (s->rd.json)
			put_json(&s->out.json, &loss);
		else
			put_line(&s->out.b, &loss);
	}
	if (n < 0 && s->rd.at_end && !s->rd.error) /* else the next event returns it */
		reading__end(&s->rd, n);
}
