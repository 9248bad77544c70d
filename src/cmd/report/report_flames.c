// SPDX-License-Identifier: GPL-2.0-only
/* Flame graphs and folded stacks. */
#include <errno.h>
#include <inttypes.h>

#include "cleanup.h"
#include "export/flame_stacks.h"
#include "log.h"
#include "losses.h"
#include "report.h"
#include "ui/flames.h"

static int write_flames(struct report *rp, const struct flamegraph *f)
{
	_cleanup_(strbuf__free) struct strbuf subtitle = { 0 }, title = { 0 };
	uint64_t lost = losses__all(rp->rd.reader);
	struct stk_totals t;

	stk_reader__totals(rp->rd.reader, &t);
	strbuf__printf(&title, "%s by call stack", rp->c.weight_name ?: "Events");
	strbuf__printf(&subtitle, "%s, %s", rp->rd.path, text__ns(t.last_ts - t.first_ts).s);
	if (rp->rd.sel.any)
		strbuf__printf(&subtitle, ", selected from %s", text__count(t.events, "event").s);
	if (lost)
		strbuf__printf(&subtitle, ", %" PRIu64 " lost", lost);
	if (strbuf__failed(&subtitle) || strbuf__failed(&title))
		return log_err(-ENOMEM, "draw the flame graph");
	return flames__write(f, &rp->rd,
			     &(struct flame_text){ .title = title.s,
						   .subtitle = subtitle.s,
						   .unit = rp->c.weight_is_ns ? "ns" :
							   rp->c.weight_name  ?:
										"events" });
}

int report__put_flames(struct report *rp)
{
	_cleanup_(flamegraph__freep) struct flamegraph *f = NULL;
	struct export_stacks stacks;
	int err = flamegraph__new(&f);

	if (err)
		return log_err(err, "sum up the stacks");
	counting__stacks(&rp->c, &stacks);
	err = flame_stacks__add_all(f, &stacks);
	if (err)
		return err;
	if (rp->folded)
		flamegraph__folded(f, &rp->out.b);
	return rp->rd.flamegraph ? write_flames(rp, f) : 0;
}
