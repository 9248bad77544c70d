// SPDX-License-Identifier: GPL-2.0-only
/* Flame graphs and folded stacks. */
#include <errno.h>
#include <inttypes.h>

#include "cleanup.h"
#include "log.h"
#include "losses.h"
#include "report.h"
#include "ui/flames.h"

static int add_flames(struct report *rp, struct flamegraph *f, const struct stack_group *g)
{
	_cleanup_(strbuf__free) struct strbuf label = { 0 };
	struct stk_frame frames[STACK_PAIR_FRAMES];
	unsigned int i, nr;
	int err;

	report__put_label(rp, g, &label);
	err = strbuf__failed(&label) ? -ENOMEM : 0;
	for (i = 0; i < g->nr_stacks && !err; i++) {
		const struct stack_count *s = &g->stacks[i];

		nr = stack_fold__frames(rp->fold, (struct stack_pair){ s->kstack, s->ustack },
					frames);
		err = flames__add_frames(f, rp->rd.reader, &rp->rd.names, label.s, frames, nr,
					 s->amount);
	}
	return err;
}

static int write_flames(struct report *rp, const struct flamegraph *f)
{
	_cleanup_(strbuf__free) struct strbuf subtitle = { 0 }, title = { 0 };
	uint64_t lost = losses__all(rp->rd.reader);
	struct stk_totals t;

	stk_reader__totals(rp->rd.reader, &t);
	strbuf__printf(&title, "%s by call stack", rp->weight_name ?: "Events");
	strbuf__printf(&subtitle, "%s, %s", rp->rd.path, text__ns(t.last_ts - t.first_ts).s);
	if (rp->rd.sel.any)
		strbuf__printf(&subtitle, ", selected from %" PRIu64 " events", t.events);
	if (lost)
		strbuf__printf(&subtitle, ", %" PRIu64 " lost", lost);
	if (strbuf__failed(&subtitle) || strbuf__failed(&title))
		return log_err(-ENOMEM, "draw the flame graph");
	return flames__write(f, &rp->rd,
			     &(struct flame_text){ .title = title.s,
						   .subtitle = subtitle.s,
						   .unit = rp->weight_is_ns ? "ns" :
							   rp->weight_name  ?:
									      "events" });
}

int report__put_flames(struct report *rp, const struct stack_group *groups, unsigned int nr)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = NULL;
	unsigned int i;
	int err = flamegraph__new(&f);

	for (i = 0; i < nr && !err; i++)
		err = add_flames(rp, f, &groups[i]);
	if (err == -EOVERFLOW) {
		log_err(0, "'%s': a sum exceeds 2^64: select fewer events", rp->weight_name);
		return err;
	}
	if (err)
		return log_err(err, "sum up the stacks");
	if (rp->folded)
		flamegraph__folded(f, &rp->out.b);
	return rp->rd.flamegraph ? write_flames(rp, f) : 0;
}
